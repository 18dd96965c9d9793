//! Stripe: what its charge and its subscription share.

use super::Offer;
use crate::{Object, Refusal, Text, Value};

const METADATA_MALFORMED: Refusal = Refusal::new("mpp/metadata-malformed");

/// Most entries of the metadata.
const MAX_ENTRIES: usize = 50;
/// Longest name of an entry, in UTF-16 code units.
const MAX_NAME: usize = 40;
/// Longest value of an entry, in UTF-16 code units.
const MAX_VALUE: usize = 500;

/// Holds an offer's metadata, if it has any, to Stripe's rules.
pub(crate) fn pays(offer: &Offer<'_>) -> Result<(), Refusal> {
    let metadata = offer.request.get("methodDetails").and_then(|details| details.get("metadata"));
    let is_right = |metadata: &Object| metadata.len() <= MAX_ENTRIES && metadata.iter().all(|(name, value)| is_entry(name, value));
    if metadata.is_none_or(|metadata| metadata.as_object().is_some_and(is_right)) { Ok(()) } else { Err(METADATA_MALFORMED) }
}

fn is_entry(name: &Text, value: &Value) -> bool {
    let is_name = (1..=MAX_NAME).contains(&name.utf16_len()) && name.as_str().is_some_and(|name| !name.contains(['[', ']']));
    is_name && value.as_text().is_some_and(|value| value.utf16_len() <= MAX_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Hash,
        mpp::{
            NO_SIGNED_PLACE,
            sample::{challenge, credential},
        },
        pairing::Pairing,
        registry,
    };

    /// What each of Stripe's pairings reads of a credential over these details.
    fn bound(details: impl Into<Value>) -> Refusal {
        let request = Object::new().with("methodDetails", details);
        let [charge, subscription] = ["charge", "subscription"].map(|intent| {
            let pairing: &dyn Pairing = registry::pairing(&format!("mpp/{intent}/stripe")).unwrap();
            pairing.bound(&credential(challenge(&Hash::of(b"abc"), intent, "stripe", request.clone())), None).unwrap_err()
        });
        assert_eq!(charge, subscription);
        charge
    }

    fn with(metadata: impl Into<Value>) -> Refusal {
        bound(Object::new().with("metadata", metadata))
    }

    #[test]
    fn metadata_is_held_to_the_rules() {
        let of = |name: &str, value: &str| with(Object::new().with(name, value));
        let many = |count: u32| (0..count).fold(Object::new(), |object, number| object.with(format!("k{number}"), ""));
        let emoji = |count: usize| "\u{1F600}".repeat(count);
        assert_eq!(bound(Object::new()), NO_SIGNED_PLACE);
        for right in [with(Object::new()), with(many(50)), of(&"n".repeat(40), &"v".repeat(500)), of(&emoji(20), &emoji(250))] {
            assert_eq!(right, NO_SIGNED_PLACE);
        }
        for wrong in [
            with(Value::Null),
            with("x"),
            with(Vec::new()),
            with(many(51)),
            with(Object::new().with("k", 5u32)),
            of("", "v"),
            of("a[b", "v"),
            of("a]", "v"),
            of(&"n".repeat(41), "v"),
            of(&emoji(21), "v"),
            of("k", &"v".repeat(501)),
            of("k", &emoji(251)),
        ] {
            assert_eq!(wrong, METADATA_MALFORMED);
        }
        assert_eq!(bound("x").code(), "mpp/request-malformed");
    }
}
