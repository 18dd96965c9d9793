//! What every refusal of the control plane promises: it says where, and never repeats what was sent.

use control::{Fault, FaultCode, Pointer, Refusal};
use lcp::{Text, Value};

/// Characters that no sentence of ours has: a text with one of them, and no other, tells where it comes from. The fuzzer learns
/// our sentences and writes them into its inputs.
const TELLING: [char; 5] = ['#', '@', '~', '{', '}'];

/// A card's number as it is printed on a card.
pub(super) const CARD: &str = "4242 4242 4242 4242";

/// A fault's place is in the document, or is a member that should be; its sentence is of our own words.
pub(super) fn fault(fault: &Fault, document: &Value) {
    let is_missing = matches!(fault.code, FaultCode::MissingMember);
    assert!(is_in(document, fault.pointer.as_str(), is_missing), "{fault}");
    assert!(!repeats(&fault.sentence, document), "{fault}");
}

/// The same of a refusal.
pub(super) fn refusal(refusal: &Refusal, document: &Value) {
    let place = refusal.pointer.as_ref().map_or("", Pointer::as_str);
    assert!(is_in(document, place, refusal.code == FaultCode::MissingMember.as_str()), "{refusal:?}");
    assert!(!repeats(&refusal.sentence, document), "{refusal:?}");
}

/// Whether a pointer leads to something, or at least to what its last step should be a member of.
fn is_in(document: &Value, pointer: &str, is_missing: bool) -> bool {
    let Some((first, rest)) =
        pointer.strip_prefix('/').map(|steps| steps.split_once('/').map_or((steps, ""), |(first, _)| (first, &steps[first.len()..])))
    else {
        return pointer.is_empty();
    };
    match document {
        Value::Array(items) => first.parse().ok().and_then(|index: usize| items.get(index)).is_some_and(|item| is_in(item, rest, is_missing)),
        Value::Object(object) => {
            let mut named = object.iter().filter(|(name, _)| shown(name).any(|shown| shown == first)).peekable();
            if named.peek().is_none() { is_missing && rest.is_empty() } else { named.any(|(_, value)| is_in(value, rest, is_missing)) }
        }
        _ => false,
    }
}

/// How a pointer may write a name: one that is no Unicode is left out, or its lone surrogates are.
fn shown(name: &Text) -> impl Iterator<Item = String> {
    let mended: String = char::decode_utf16(name.code_units()).filter_map(Result::ok).collect();
    let step = |name: &str| Pointer::root().member(name).as_str()[1..].to_owned();
    [step(name.as_str().unwrap_or_default()), step(&mended)].into_iter()
}

/// Whether a sentence holds a text or a name of a document.
pub(super) fn repeats(sentence: &str, document: &Value) -> bool {
    let is_held = |text: &Text| text.as_str().is_some_and(|text| text.contains(TELLING) && sentence.contains(text));
    match document {
        Value::String(text) => is_held(text),
        Value::Array(items) => items.iter().any(|item| repeats(sentence, item)),
        Value::Object(object) => object.iter().any(|(name, value)| is_held(name) || repeats(sentence, value)),
        _ => false,
    }
}

/// Whether a text holds a card's number as it is printed on a card, with nothing at its ends that could be a digit of it.
pub(super) fn holds_card(text: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| c.is_ascii() && !c.is_ascii_digit());
    text.match_indices(CARD).any(|(at, found)| is_end(text[..at].chars().next_back()) && is_end(text[at + found.len()..].chars().next()))
}
