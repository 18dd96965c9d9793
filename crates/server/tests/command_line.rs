//! The commands that need no server: what they print, and the codes that they exit with.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, Instant},
};

use lcp::{
    Object, Value,
    jose::{Ed25519Key, Jwk, Jwks, SigningKey},
    json::{self, MAX_DEPTH},
};
use record::{
    Bundle, Inclusion, Kind, Place, Record,
    log::{Checkpoint, RightEdge, leaf_hash},
    open_bundle,
};
use server::temp_folder::TempFolder;

fn chancery(arguments: &[&str]) -> Output {
    plane::chancery().args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file of the folder with that text.
fn file(folder: &TempFolder, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// A bundle that verifies, and the keys to verify it with.
fn bundle() -> (String, String) {
    let key = Ed25519Key::from_seed(&[1; 32]);
    let members = Object::new().with("purpose", "Socks, 2 pairs");
    let sealed = Record::new(Kind::Payment, "rec_1", "org_1", &[], members).unwrap().seal(Place::First, 1_796_040_000_000, &key).unwrap();
    let mut edge = RightEdge::empty();
    edge.append(leaf_hash(sealed.hash.bytes()));
    let checkpoint = Checkpoint { origin: "pay.example/log/org_1".into(), size: 1, root: edge.root() };
    let keys = Jwks::new(vec![Jwk::new(key.public())]).unwrap();
    let mut bundle = Bundle::new(sealed, keys.clone());
    bundle.log = Some(Inclusion { index: 0, proof: Vec::new(), checkpoint: checkpoint.sign(&key).unwrap() });
    (json::write(&bundle.to_json().into()), json::write(&keys.to_json().into()))
}

#[test]
fn verify_exits_by_its_verdict() {
    let folder = TempFolder::new().unwrap();
    let (bundle, keys) = bundle();
    let other = Jwks::new(vec![Jwk::new(Ed25519Key::from_seed(&[2; 32]).public())]).unwrap();
    let good = file(&folder, "bundle.json", &bundle);
    let changed = file(&folder, "changed.json", &bundle.replace("2 pairs", "9 pairs"));
    let open = file(&folder, "open.json", &json::write(&open_bundle("{}", Some(1_796_040_000_000)).into()));
    let keys = file(&folder, "keys.json", &keys);
    let other = file(&folder, "other.json", &json::write(&other.to_json().into()));
    let private =
        file(&folder, "private.json", r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w","d":"AQ"}]}"#);
    let text_file = file(&folder, "text.json", "no JSON");
    let (keys, other, private) = (text(&keys), text(&other), text(&private));
    for (arguments, code, part) in [
        (&["verify", text(&good), "--keys", keys][..], 0, "The record verifies"),
        (&["verify", text(&changed), "--keys", keys], 1, "FAIL  hash"),
        (&["verify", text(&good), "--keys", other], 1, "FAIL  key_trusted"),
        (&["verify", text(&good)], 3, "SKIP  key_trusted"),
        (&["verify", text(&open), "--keys", keys], 3, "The record is open"),
        (&["verify", text(&text_file), "--keys", keys], 1, "FAIL  bundle"),
        (&["verify", "/nowhere/bundle.json", "--keys", keys], 2, ""),
        (&["verify", text(&good), "--keys", "/nowhere/keys.json"], 2, ""),
        (&["verify", text(&good), "--keys", text(&text_file)], 2, ""),
        (&["verify", text(&good), "--keys", private], 2, ""),
        (&["verify"], 2, ""),
    ] {
        let output = chancery(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert!(said(&output).contains(part), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr.is_empty(), code != 2, "{arguments:?}: {output:?}");
    }
    let output = chancery(&["verify", text(&good), "--keys", keys, "--json"]);
    let report = json::parse(&said(&output), MAX_DEPTH).unwrap();
    assert_eq!(report.get("verdict").and_then(Value::as_str), Some("verified"));
    assert_eq!(report.get("record_id").and_then(Value::as_str), Some("rec_1"));
}

#[test]
fn policy_check_names_the_member_at_fault() {
    let folder = TempFolder::new().unwrap();
    let good = file(&folder, "good.json", r#"{"currency":"USD","agents":"*","payees":{},"limits":{"per_payment":"100.00"}}"#);
    let bad = file(&folder, "bad.json", r#"{"currency":"USD","agents":"*","payees":{},"limits":{"per_payment":"100.001"}}"#);
    let no_json = file(&folder, "no_json.json", "{");
    for (path, code, part) in [
        (text(&good), 0, "a policy in USD, digest sha256:"),
        (text(&bad), 1, "/limits/per_payment: "),
        (text(&no_json), 1, "(not_json)"),
        ("/nowhere/policy.json", 2, ""),
    ] {
        let output = chancery(&["policy", "check", path]);
        assert_eq!(output.status.code(), Some(code), "{path}: {output:?}");
        assert!(said(&output).contains(part), "{path}: {output:?}");
    }
    assert!(said(&chancery(&["policy", "check", text(&bad)])).contains("(amount_precision)"));
}

#[test]
fn settings_that_are_not_known_are_refused_by_name() {
    let folder = TempFolder::new().unwrap();
    let settings = file(&folder, "chancery.toml", "lissten = \"127.0.0.1:1\"\n");
    let output = chancery(&["serve", "--config", text(&settings)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("lissten: there is no such setting"));
    let output = chancery(&["serve", "--data", text(folder.path()), "--listen", "0.0.0.0:0", "--config", "/dev/null"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("https"));
}

#[test]
fn help_and_mistakes() {
    let output = chancery(&["--help"]);
    assert!(output.status.success() && said(&output).contains("chancery demo"));
    let output = chancery(&["paint"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no such command: paint"));
}

#[test]
fn the_demo_tells_the_whole_story_and_ends() {
    let start = Instant::now();
    let output = chancery(&["demo"]);
    assert!(output.status.success(), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(30));
    let story = said(&output);
    let mut rest = story.as_str();
    for part in [
        "decision     allow",
        "decision     deny",
        "decision     clarify",
        "decision     allow",
        "decision     step_up",
        "pressed Approve",
        "get_decision returns",
    ]
    .iter()
    .chain(&[
        "decision     allow",
        "the mandate is consumed",
        "mandate_consumed",
        "seq 0",
        "verdict      verified",
        "FAIL",
        "verdict      fails",
        "chancery serve",
    ]) {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("no {part} in its place: {story}")).1;
    }
    // Neither colours nor secrets are for a file.
    assert!(!story.contains('\u{1b}') && !story.contains("enruta_") && !story.contains("tok_sandbox") && !story.contains("eyJ"));
}
