//! The attribution memo: 32 bytes in a transfer that name the challenge it pays.
//!
//! A tag and a version, then fingerprints of the realm, of the client (or zeros) and of the challenge's id.

use super::challenge::Challenge;
use crate::{
    Text,
    wire::evm::{Word, keccak},
};

const VERSION: u8 = 1;

/// The memos of one challenge, which differ in the client that they name.
pub(crate) struct Attribution {
    /// Tag, version and realm.
    head: [u8; 15],
    /// The challenge's id.
    tail: [u8; 7],
}

impl Attribution {
    /// `None` if the challenge has no id, or its realm or id is no Unicode text.
    pub(crate) fn of(challenge: &Challenge<'_>) -> Option<Self> {
        let mut head = [0; 15];
        head[..4].copy_from_slice(&fingerprint::<4>("mpp"));
        head[4] = VERSION;
        head[5..].copy_from_slice(&fingerprint::<10>(challenge.realm.as_str()?));
        Some(Self { head, tail: fingerprint(challenge.id.and_then(Text::as_str)?) })
    }

    /// The memo of a client.
    pub(crate) fn memo(&self, client: Option<&str>) -> Word {
        let mut memo = [0; 32];
        memo[..15].copy_from_slice(&self.head);
        memo[15..25].copy_from_slice(&client.map(fingerprint::<10>).unwrap_or_default());
        memo[25..].copy_from_slice(&self.tail);
        memo
    }

    /// Whether a memo names the challenge, for any client.
    pub(crate) fn is_in(&self, memo: &Word) -> bool {
        memo.starts_with(&self.head) && memo.ends_with(&self.tail)
    }
}

/// The first bytes of a text's Keccak-256.
fn fingerprint<const N: usize>(text: &str) -> [u8; N] {
    let digest = keccak(text.as_bytes());
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Object, Value,
        wire::tempo::peers::{cases, text, word},
    };

    fn challenge(realm: &str, id: &str) -> Value {
        let names = ["method", "intent", "request"];
        names.into_iter().fold(Object::new().with("realm", realm).with("id", id), |challenge, name| challenge.with(name, "")).into()
    }

    #[test]
    fn memos_are_those_of_the_library() {
        for case in cases("memos") {
            let challenge = challenge(text(&case, "realm"), text(&case, "id"));
            let attribution = Attribution::of(&Challenge::read(&challenge).unwrap()).unwrap();
            let memo = word(&case, "memo");
            assert_eq!(attribution.memo(case.get("client").and_then(Value::as_str)), memo);
            assert!(attribution.is_in(&memo) && attribution.is_in(&attribution.memo(Some("another"))));
        }
    }

    #[test]
    fn a_memo_names_one_challenge() {
        let of = |realm, id| Attribution::of(&Challenge::read(&challenge(realm, id)).unwrap()).unwrap();
        let memo = of("a", "1").memo(None);
        assert!(!of("b", "1").is_in(&memo) && !of("a", "2").is_in(&memo));
        for place in 0..32 {
            let mut changed = memo;
            changed[place] ^= 1;
            assert_eq!(of("a", "1").is_in(&changed), (15..25).contains(&place), "{place}");
        }
    }
}
