//! The examples of docs/record.md are what this crate writes.

use lcp::{
    encoding,
    jose::{SigningKey, signature_text},
};
use record::{
    Kind, Place, Record, digest_text,
    log::{Checkpoint, RightEdge, leaf_hash, verifier_key},
};

use crate::story::{SEALED_AT, key, object};

const PAGE: &str = include_str!("../../../../docs/record.md");

#[test]
fn the_page_shows_what_is_sealed() {
    let record = Record::new(Kind::Pause, "rec_1", "org_1", &[], object(r#"{"agent_id":"agt_1","reason":"lost phone"}"#)).unwrap();
    let sealed = record.seal(Place::First, SEALED_AT, &key()).unwrap();
    let leaf = leaf_hash(sealed.hash.bytes());
    let mut edge = RightEdge::empty();
    edge.append(leaf);
    let origin = "chancery.example/log/org_1";
    let checkpoint = Checkpoint { origin: origin.into(), size: 1, root: edge.root() }.sign(&key()).unwrap();
    for shown in [
        encoding::base64url(key().public().bytes()),
        key().public().thumbprint(),
        sealed.text,
        digest_text(&sealed.hash),
        signature_text(&sealed.signature),
        encoding::hex(leaf.bytes()).trim_start_matches("0x").to_owned(),
        verifier_key(origin, &key().public()),
        checkpoint,
    ] {
        assert!(PAGE.contains(&shown), "the page does not show\n{shown}");
    }
}
