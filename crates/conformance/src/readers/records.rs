//! The readers of records: bundles, and the texts of the log.

use lcp::{Hash, Value, json};
use record::{
    Body, Contents, Verdict, digest_from_text, digest_text,
    log::{Checkpoint, Note, Tile},
    time_from_text, time_text, verify, verify_bytes,
};

/// A bundle gets a report of every check, the same for its canonical text; nobody who trusts no key is told that it is
/// verified.
pub fn record_bundle(data: &[u8]) {
    let report = verify_bytes(data, None);
    assert!(report.verdict != Verdict::Verified, "{}", report.summary());
    assert_eq!(report.checks.len(), 17);
    let Ok(bundle) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    assert_eq!(verify(&bundle, None), report);
    let keys = match Contents::read(&bundle) {
        Ok(Contents::Sealed(sealed)) => {
            let again = Value::from(sealed.to_json());
            assert_eq!(verify(&again, None), report);
            sealed.keys
        }
        _ => return,
    };
    // Who trusts the bundle's own keys gets an answer too.
    let trusting = verify(&bundle, Some(&keys));
    assert_eq!(trusting.checks.len(), report.checks.len());
    assert!(trusting.verdict != Verdict::Verified || Body::read(&record_text(&bundle)).is_some());
}

fn record_text(bundle: &Value) -> String {
    bundle.get("record").and_then(|record| record.get("text")).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Tile paths, checkpoints, notes, digests and times have one spelling each.
pub fn log_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(tile) = Tile::parse(text) {
        assert_eq!(tile.to_string(), text);
        assert!(!tile.is_within(0) && tile.first().level <= 48);
    }
    if let Ok(note) = Note::read(text) {
        assert!(text.starts_with(&note.text) && note.text.ends_with('\n') && !note.signatures.is_empty());
    }
    if let Ok((checkpoint, note)) = Checkpoint::read(text) {
        assert!(note.text.starts_with(&format!("{}\n{}\n", checkpoint.origin, checkpoint.size)));
    }
    assert!(digest_from_text(text).is_none_or(|hash: Hash| digest_text(&hash) == text));
    assert!(time_from_text(text).is_none_or(|at| time_text(at).as_deref() == Some(text)));
}
