//! The verifier against whole, changed, cut and forged bundles.

use crate::story::{ATR, EVIDENCE, ORG, ORIGIN, SEALED_AT, Story, key, mandate, object, payment, story, story_of, trusted};
use lcp::{
    Hash, Object, Value,
    jose::{Ed25519Key, Jwk, Jwks, Revocation, SigningKey, Validity},
    json,
};
use proptest::prelude::*;
use record::{
    Bundle, Content, Contents, Kind, MANDATE_TYP, Place, Record, Report, Sealed, Status, Verdict,
    log::{Checkpoint, NodeId, Plan, RightEdge, leaf_hash},
    open_bundle, sign_policy, verify, verify_bytes,
};

fn judge(bundle: &Bundle) -> Report {
    verify(&bundle.to_json().into(), Some(&trusted()))
}

/// The whole story's bundle, changed, judged under the trusted key.
fn changed(change: impl FnOnce(&mut Bundle)) -> Report {
    let mut bundle = story(9).bundle;
    change(&mut bundle);
    judge(&bundle)
}

fn names(report: &Report, status: Status) -> Vec<&str> {
    report.checks.iter().filter(|check| check.status == status).map(|check| check.name).collect()
}

#[track_caller]
fn assert_fails(report: &Report, names_expected: &[&str]) {
    assert_eq!(names(report, Status::Fail), names_expected, "\n{report}");
    assert_eq!(report.verdict, Verdict::Fails);
}

#[track_caller]
fn assert_skips(report: &Report, verdict: Verdict, names_expected: &[&str]) {
    assert_eq!(names(report, Status::Skip), names_expected, "\n{report}");
    assert_eq!((names(report, Status::Fail), report.verdict), (vec![], verdict), "\n{report}");
}

const NAMES: [&str; 17] = [
    "bundle",
    "canonical",
    "format",
    "hash",
    "signature",
    "key_trusted",
    "key_valid",
    "chain",
    "inclusion",
    "checkpoint",
    "parents",
    "children",
    "policy",
    "mandate",
    "evidence",
    "terms",
    "receipts",
];

#[test]
fn a_whole_bundle_passes_every_check() {
    let report = judge(&story(9).bundle);
    assert_eq!(names(&report, Status::Pass), NAMES, "\n{report}");
    assert_eq!((report.verdict, report.record_id.as_deref()), (Verdict::Verified, Some("rec_2")));
    assert_eq!(report.summary(), "The record verifies: 17 checks passed. Skipped: none.");
    let json = json::write(&report.to_json().into());
    assert!(json.starts_with(r#"{"record_id":"rec_2","verdict":"verified","summary":"The record verifies: 17 checks passed. Skipped: none.","checks":[{"name":"bundle","result":"PASS","#), "{json}");
}

#[test]
fn a_bundle_reads_as_written() {
    let bundle = story(9).bundle;
    assert_eq!(Contents::read(&bundle.to_json().into()), Ok(Contents::Sealed(Box::new(bundle))));
}

#[test]
fn without_trusted_keys_it_agrees_with_itself_and_no_more() {
    let report = verify(&story(9).bundle.to_json().into(), None);
    assert_skips(&report, Verdict::Incomplete, &["key_trusted", "key_valid"]);
}

#[test]
fn an_open_record_is_skipped_throughout() {
    let report = verify(&open_bundle("{}", Some(SEALED_AT)).into(), Some(&trusted()));
    assert_skips(&report, Verdict::Open, &NAMES);
    assert_eq!(report.checks[0].detail, "the record is open; it seals by 2026-11-30T12:00:00.000Z");
    assert_skips(&verify(&open_bundle("{}", None).into(), None), Verdict::Open, &NAMES);
    assert_fails(&verify(&open_bundle("{}", None).with("jwks", true).into(), None), &["bundle"]);
}

#[test]
fn every_changed_byte_is_found() {
    let bytes = json::canonical(&story(4).bundle.to_json().into()).unwrap().into_bytes();
    assert_eq!(verify_bytes(&bytes, None).verdict, Verdict::Incomplete);
    let found = |places: std::ops::Range<usize>| {
        for place in places {
            // One bit of each byte, and the bit that changes a letter's case.
            for bit in [place % 7, 5] {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                let report = verify_bytes(&changed, None);
                assert_eq!(
                    report.verdict,
                    Verdict::Fails,
                    "byte {place}, bit {bit}, in {:?}",
                    String::from_utf8_lossy(&changed[place.saturating_sub(30)..=place])
                );
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| found(0..bytes.len() / 2));
        scope.spawn(|| found(bytes.len() / 2..bytes.len()));
    });
}

#[test]
fn a_cut_bundle_is_no_bundle() {
    let bytes = json::canonical(&story(4).bundle.to_json().into()).unwrap().into_bytes();
    for end in (0..bytes.len()).step_by(97) {
        assert_fails(&verify_bytes(&bytes[..end], None), &["bundle"]);
    }
    assert_fails(&verify_bytes(&vec![b' '; record::MAX_BUNDLE + 1], None), &["bundle"]);
}

#[test]
fn what_is_left_out_is_said() {
    assert_skips(&changed(|bundle| bundle.log = None), Verdict::Incomplete, &["inclusion", "checkpoint"]);
    assert_skips(&changed(|bundle| bundle.previous = None), Verdict::Verified, &["chain"]);
    assert_skips(&changed(|bundle| bundle.parents.clear()), Verdict::Verified, &["parents"]);
    assert_skips(&changed(|bundle| bundle.children.clear()), Verdict::Verified, &["children"]);
    assert_skips(&changed(|bundle| bundle.policy = None), Verdict::Verified, &["policy"]);
    assert_skips(&changed(|bundle| bundle.mandate = None), Verdict::Verified, &["mandate"]);
    assert_skips(&changed(|bundle| bundle.evidence.clear()), Verdict::Verified, &["evidence"]);
    assert_skips(&changed(|bundle| bundle.terms = None), Verdict::Verified, &["terms"]);
    assert_skips(&changed(|bundle| bundle.receipts.clear()), Verdict::Verified, &["receipts"]);
}

#[test]
fn what_the_record_does_not_name_may_not_be_there() {
    let bare = story_of(9, &Object::new(), "").bundle;
    let plain = Bundle { log: bare.log.clone(), previous: bare.previous.clone(), ..Bundle::new(bare.record.clone(), trusted()) };
    assert_skips(&judge(&plain), Verdict::Verified, &["parents", "children", "policy", "mandate", "evidence", "terms", "receipts"]);
    assert_fails(&judge(&bare), &["policy", "mandate", "evidence", "terms", "receipts"]);
    let nulls =
        ["policy", "mandate", "evidence", "terms", "receipts"].into_iter().fold(Object::new(), |members, name| members.with(name, Value::Null));
    let nulls = story_of(9, &nulls, "").bundle;
    let nulls = Bundle { log: nulls.log.clone(), ..Bundle::new(nulls.record, trusted()) };
    assert_eq!(judge(&nulls).verdict, Verdict::Verified);
}

#[test]
fn what_is_swapped_is_found() {
    let whole = story(9);
    let record = |place: usize| whole.records[place].clone();
    assert_fails(&changed(|bundle| bundle.previous = Some(record(0))), &["chain"]);
    assert_fails(&changed(|bundle| bundle.previous = Some(record(4))), &["chain"]);
    assert_fails(&changed(|bundle| bundle.parents = vec![record(1)]), &["parents"]);
    assert_fails(&changed(|bundle| bundle.children = vec![record(4)]), &["children"]);
    assert_fails(&changed(|bundle| bundle.policy = Some(record(0))), &["policy"]);
    let newer = sign_policy(&object(r#"{"id":"pol_1","version":4}"#), &key()).unwrap();
    assert_fails(&changed(|bundle| bundle.policy = Some(newer)), &["policy"]);
    assert_fails(&changed(|bundle| bundle.mandate = Some(mandate(MANDATE_TYP, "6.00", &key()))), &["mandate"]);
    assert_fails(&changed(|bundle| bundle.evidence = vec![Content::of(*b"other")]), &["evidence"]);
    assert_fails(&changed(|bundle| bundle.evidence = vec![Content { digest: Hash::of(EVIDENCE), bytes: b"other".to_vec() }]), &["evidence"]);
    assert_fails(&changed(|bundle| bundle.terms = Some(Content::of(*b"other"))), &["terms"]);
    assert_fails(&changed(|bundle| bundle.terms = Some(Content { digest: Hash::of(ATR), bytes: b"other".to_vec() })), &["terms"]);
    assert_fails(&changed(|bundle| bundle.receipts = vec![Content::of(EVIDENCE)]), &["receipts"]);
    // The payment's bundle around another record of the same organization, truly sealed.
    let other = changed(|bundle| bundle.record = record(4));
    assert_fails(&other, &["chain", "inclusion", "parents", "children", "policy", "mandate", "evidence", "terms", "receipts"]);
}

#[test]
fn a_record_that_does_not_read_says_so_and_no_more() {
    let reseal = |text: String| {
        let signature = key().sign(text.as_bytes()).unwrap();
        changed(|bundle| bundle.record = Sealed { hash: Hash::of(text.as_bytes()), text, signature, kid: key().public().thumbprint() })
    };
    let text = story(9).bundle.record.text;
    let spaced = reseal(text.replacen(',', ", ", 1));
    assert_fails(&spaced, &["canonical"]);
    assert_eq!(names(&spaced, Status::Pass), ["bundle", "hash", "signature", "key_trusted"]);
    let newer = reseal(text.replace("enruta/0.3", "enruta/0.4"));
    assert_fails(&newer, &["format"]);
    assert_eq!(newer.checks[2].detail, "cannot verify: the format is not enruta/0.3");
    assert_fails(&reseal(text.replace(r#""kind":"payment""#, r#""kind":"prayer""#)), &["format"]);
    assert_fails(&reseal(text.replace(r#""status":"consumed""#, r#""status":0.5"#)), &["canonical"]);
}

#[test]
fn a_stranger_s_bundle_is_not_trusted() {
    let stranger = Ed25519Key::from_seed(&[9; 32]);
    let keys = Jwks::new(vec![Jwk::new(key().public()), Jwk::new(stranger.public())]).unwrap();
    assert_fails(&changed(|bundle| bundle.keys = keys), &["key_trusted"]);
    // The stranger's own key under our key's name.
    let named = Jwks::new(vec![Jwk { kid: key().public().thumbprint(), ..Jwk::new(stranger.public()) }]).unwrap();
    assert_fails(&verify(&story(9).bundle.to_json().into(), Some(&named)), &["key_trusted"]);
    assert_fails(&verify(&story(9).bundle.to_json().into(), Some(&Jwks::default())), &["key_trusted"]);
    // Our bundle, and the stranger's key alone.
    let theirs = changed(|bundle| bundle.keys = Jwks::new(vec![Jwk::new(stranger.public())]).unwrap());
    assert_fails(&theirs, &["signature", "key_trusted", "chain", "checkpoint", "parents", "children", "policy", "mandate"]);
    let forged = story(9).bundle.to_json();
    let mut set = forged.get("jwks").and_then(|set| set.get("keys")).and_then(Value::as_array).unwrap()[0].as_object().unwrap().clone();
    for (name, value) in [("nbf", Value::from(1u32)), ("d", "x".into()), ("kid", "a".into()), ("alg", "Ed25519".into())] {
        set.set(name, value);
        let forged = forged.clone().with("jwks", Object::new().with("keys", vec![Value::from(set.clone())]));
        assert_fails(&verify(&forged.into(), Some(&trusted())), &["bundle"]);
    }
}

#[test]
fn a_key_counts_in_its_time() {
    let seconds = u64::try_from(SEALED_AT / 1000).unwrap();
    let judged = |validity: Validity| {
        let trusted = Jwks::new(vec![Jwk { validity, ..Jwk::new(key().public()) }]).unwrap();
        verify(&story(9).bundle.to_json().into(), Some(&trusted))
    };
    let limits = |not_before, expires| judged(Validity { not_before, expires, revoked: None });
    assert_eq!(limits(Some(seconds), Some(seconds + 1)).verdict, Verdict::Verified);
    assert_fails(&limits(Some(seconds + 1), None), &["key_valid"]);
    assert_fails(&limits(None, Some(seconds)), &["key_valid"]);
    let revoked = |at, superseded| judged(Validity { revoked: Some(Revocation { at, superseded }), ..Validity::default() });
    assert_eq!(revoked(seconds + 1, true).verdict, Verdict::Verified);
    assert_fails(&revoked(seconds, true), &["key_valid"]);
    assert_fails(&revoked(seconds, false), &["key_valid", "checkpoint"]);
    assert_fails(&revoked(seconds + 1, false), &["key_valid", "checkpoint"]);
}

#[test]
fn a_record_of_a_stolen_key_counts_if_another_key_signed_the_log() {
    let newer = Ed25519Key::from_seed(&[2; 32]);
    let stolen = Revocation { at: u64::try_from(SEALED_AT / 1000).unwrap() + 1, superseded: false };
    let stolen = Jwk { validity: Validity { revoked: Some(stolen.clone()), ..Validity::default() }, ..Jwk::new(key().public()) };
    let trusted = Jwks::new(vec![stolen.clone(), Jwk::new(newer.public())]).unwrap();
    let Story { mut bundle, edge, .. } = story(9);
    bundle.keys = trusted.clone();
    assert_fails(&verify(&bundle.to_json().into(), Some(&trusted)), &["key_valid", "checkpoint"]);
    let checkpoint = Checkpoint { origin: ORIGIN.into(), size: 9, root: edge.root() };
    bundle.log.as_mut().unwrap().checkpoint = checkpoint.sign(&newer).unwrap();
    assert_eq!(verify(&bundle.to_json().into(), Some(&trusted)).verdict, Verdict::Verified);
    let both = Jwks::new(vec![stolen.clone(), Jwk { validity: stolen.validity.clone(), ..Jwk::new(newer.public()) }]).unwrap();
    assert_fails(&verify(&bundle.to_json().into(), Some(&both)), &["key_valid", "checkpoint"]);
    // The record's key stands, the checkpoint's does not.
    let log_key = Jwks::new(vec![Jwk::new(key().public()), Jwk { validity: stolen.validity, ..Jwk::new(newer.public()) }]).unwrap();
    assert_fails(&verify(&bundle.to_json().into(), Some(&log_key)), &["checkpoint"]);
}

#[test]
fn the_log_is_the_organization_s_own() {
    let with = |checkpoint: Checkpoint| changed(|bundle| bundle.log.as_mut().unwrap().checkpoint = checkpoint.sign(&key()).unwrap());
    let root = story(9).edge.root();
    assert_fails(&with(Checkpoint { origin: "chancery.test/log/org_other".into(), size: 9, root }), &["checkpoint"]);
    assert_fails(&with(Checkpoint { origin: format!("chancery.test/log/x{ORG}"), size: 9, root }), &["checkpoint"]);
    assert_eq!(with(Checkpoint { origin: ORG.into(), size: 9, root }).verdict, Verdict::Verified);
    assert_fails(&with(Checkpoint { origin: ORIGIN.into(), size: 8, root }), &["inclusion"]);
    assert_fails(&with(Checkpoint { origin: ORIGIN.into(), size: 2, root }), &["inclusion"]);
    assert_fails(&with(Checkpoint { origin: ORIGIN.into(), size: 9, root: Hash::of(b"") }), &["inclusion"]);
    assert_fails(&changed(|bundle| bundle.log.as_mut().unwrap().checkpoint.clear()), &["inclusion", "checkpoint"]);
    assert_fails(&changed(|bundle| bundle.log.as_mut().unwrap().index += 1), &["inclusion"]);
    assert_fails(&changed(|bundle| bundle.log.as_mut().unwrap().proof.swap(0, 1)), &["inclusion"]);
}

#[test]
fn the_mandate_is_the_one_that_was_decided() {
    let judged = |jws: String| judge(&story_of(9, &payment(&jws), &jws).bundle);
    assert_eq!(judged(mandate(MANDATE_TYP, "5.00", &key())).verdict, Verdict::Verified);
    assert_fails(&judged(mandate(MANDATE_TYP, "50.00", &key())), &["mandate"]);
    assert_fails(&judged(mandate("jwt", "5.00", &key())), &["mandate"]);
    assert_fails(&judged(mandate(MANDATE_TYP, "5.00", &Ed25519Key::from_seed(&[9; 32]))), &["mandate"]);
}

#[test]
fn the_first_record_has_none_before_it() {
    let Story { records, nodes, bundle, .. } = story(9);
    let plan = Plan::inclusion(0, 9).unwrap();
    let mut first = Bundle::new(records[0].clone(), trusted());
    first.log = bundle.log.map(|log| record::Inclusion { index: 0, proof: plan.proof(|id: NodeId| nodes.get(&id).copied()).unwrap(), ..log });
    assert_skips(&judge(&first), Verdict::Verified, &["parents", "children", "policy", "mandate", "evidence", "terms", "receipts"]);
    first.previous = Some(records[1].clone());
    assert_fails(&judge(&first), &["chain"]);
}

#[test]
fn a_dropped_record_leaves_another_root() {
    let Story { records, edge, .. } = story(9);
    for dropped in 0..records.len() {
        let mut shorter = RightEdge::empty();
        for (_, record) in records.iter().enumerate().filter(|(place, _)| *place != dropped) {
            shorter.append(leaf_hash(record.hash.bytes()));
        }
        assert_ne!(shorter.root(), edge.root());
    }
}

/// One member or item of a value, replaced or taken out: `path` chooses the way down.
fn mutate(value: &Value, path: &[prop::sample::Index], with: &Value) -> Value {
    let Some((step, rest)) = path.split_first() else { return with.clone() };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let place = step.index(items.len());
            let mut items = items.to_vec();
            items[place] = mutate(&items[place], rest, with);
            items.into()
        }
        Value::Object(members) if !members.is_empty() => {
            let (name, held) = members.iter().nth(step.index(members.len())).unwrap();
            members.as_ref().clone().with(name.clone(), mutate(held, rest, with)).into()
        }
        _ => with.clone(),
    }
}

proptest! {
    #[test]
    fn any_replaced_value_fails(
        path in proptest::collection::vec(any::<prop::sample::Index>(), 1..5),
        with in prop_oneof![Just("null"), Just("true"), Just("{}"), Just("[]"), Just("\"\""), Just("7"), Just("1e400"), Just("\"\\ud800\""), Just("[[{}]]")],
    ) {
        let bundle: Value = story(4).bundle.to_json().into();
        let mutated = mutate(&bundle, &path, &json::parse(with, 8).unwrap());
        let report = verify(&mutated, Some(&trusted()));
        prop_assert_eq!(report.checks.iter().map(|check| check.name).collect::<Vec<_>>(), NAMES);
        prop_assert_eq!(&report, &verify(&mutated, Some(&trusted())));
        // An emptied list leaves things out, which is said and is no fault.
        if with != "[]" && mutated != bundle {
            prop_assert_eq!(report.verdict, Verdict::Fails, "{}", json::write(&mutated));
        }
    }

    #[test]
    fn any_bytes_give_a_report(bytes: Vec<u8>) {
        assert_fails(&verify_bytes(&bytes, None), &["bundle"]);
    }
}

#[test]
fn a_record_may_be_sealed_first_in_any_kind() {
    for kind in Kind::ALL {
        let record = Record::new(kind, "rec_0", ORG, &[], Object::new()).unwrap();
        let report = judge(&Bundle::new(record.seal(Place::First, SEALED_AT, &key()).unwrap(), trusted()));
        assert_eq!((report.verdict, &*report.checks[2].detail), (Verdict::Incomplete, &*format!("a {} record of {ORG}", kind.as_str())));
    }
}
