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
