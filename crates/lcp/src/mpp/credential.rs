//! The buyer's credential: the challenge it answers, and the payment's payload.

use super::challenge::Challenge;
use crate::{Object, Refusal, Text, Value};

const CREDENTIAL_MALFORMED: Refusal = Refusal::new("mpp/credential-malformed");

/// Largest credential, as [`size`] counts it.
const MAX_SIZE: usize = 65_536;
/// How deep a credential may nest.
const MAX_DEPTH: usize = 16;

/// A credential of the form that every method shares.
pub(super) struct Credential<'a> {
    pub(super) challenge: Challenge<'a>,
    pub(super) payload: &'a Object,
}

impl<'a> Credential<'a> {
    /// Reads `{challenge, payload, [source]}`. Other members are let be, but `refused`.
    pub(super) fn read(payment: &'a Value) -> Result<Self, Refusal> {
        Self::of(payment).ok_or(CREDENTIAL_MALFORMED)
    }

    fn of(payment: &'a Value) -> Option<Self> {
        let members = payment.as_object().filter(|members| !members.has("refused"))?;
        let challenge = Challenge::read(members.get("challenge")?).filter(|challenge| challenge.id.is_some())?;
        let payload = members.get("payload")?.as_object()?;
        let source_is_text = members.get("source").is_none_or(|source| source.as_text().is_some());
        // The depth first: it bounds the recursion of the size.
        let bounded = payment.nests_within(MAX_DEPTH) && size(payment) <= MAX_SIZE;
        (source_is_text && bounded).then_some(Self { challenge, payload })
    }
}

/// A credential's size as its budget counts it: the UTF-16 code units of names and strings, with 3 for a name's
/// punctuation and 2 for a string's or a container's, and 8 for any other scalar.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.utf16_len() + 2,
        Value::Array(items) => 2 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 2 + members.iter().map(|(name, value)| name_size(name) + size(value)).sum::<usize>(),
    }
}

fn name_size(name: &Text) -> usize {
    name.utf16_len() + 3
}
