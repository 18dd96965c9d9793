//! How many records one thread seals and logs in a second, and how long a verification takes.
//!
//! `cargo run --release -p record --example sealing [RECORDS]`

#![allow(clippy::unwrap_used)] // an example that cannot run fails by panicking

use std::{collections::HashMap, time::Instant};

use lcp::{
    Object, Value,
    jose::{Ed25519Key, Jwk, Jwks, SigningKey},
};
use record::{
    Bundle, Inclusion, Kind, Place, Record, Verdict,
    log::{Checkpoint, Plan, RightEdge, leaf_hash},
    verify,
};

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(20_000, |count| count.parse().unwrap());
    let key = Ed25519Key::from_seed(&[1; 32]);
    let members = Object::new()
        .with("purpose", "Socks, 2 pairs")
        .with("decision", Object::new().with("result", "allow").with("reasons", Vec::<Value>::new()))
        .with("amount", Object::new().with("value", "5.00").with("currency", "USD"));

    let start = Instant::now();
    let (mut place, mut edge, mut nodes, mut last) = (Place::First, RightEdge::empty(), HashMap::new(), None);
    for seq in 0..count {
        let record = Record::new(Kind::Payment, &format!("rec_{seq}"), "org_1", &[], members.clone()).unwrap();
        let sealed = record.seal(place, 1_796_040_000_000, &key).unwrap();
        place = Place::After { seq, hash: sealed.hash };
        nodes.extend(edge.append(leaf_hash(sealed.hash.bytes())).into_iter().map(|node| (node.id, node.hash)));
        last = Some(sealed);
    }
    #[allow(clippy::cast_precision_loss)] // a rate for people
    let rate = count as f64 / start.elapsed().as_secs_f64();
    println!("{count} records sealed, chained and logged: {rate:.0} a second");

    let index = count - 1;
    let keys = Jwks::new(vec![Jwk::new(key.public())]).unwrap();
    let mut bundle = Bundle::new(last.unwrap(), keys.clone());
    let start = Instant::now();
    let checkpoint = Checkpoint { origin: "chancery.test/log/org_1".into(), size: count, root: edge.root() };
    bundle.log = Some(Inclusion {
        index,
        proof: Plan::inclusion(index, count).unwrap().proof(|id| nodes.get(&id).copied()).unwrap(),
        checkpoint: checkpoint.sign(&key).unwrap(),
    });
    println!("checkpoint and inclusion proof: {:?}", start.elapsed());
    let bundle = bundle.to_json().into();
    let start = Instant::now();
    let report = verify(&bundle, Some(&keys));
    println!("verification: {:?}", start.elapsed());
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}
