//! The members of an option, as many pairings read them.

use crate::{Object, Text, Value, encoding};

/// The network's reference, if the option is of scheme `exact` on a network of the namespace.
pub(crate) fn exact_on<'a>(option: &'a Object, namespace: &str) -> Option<&'a str> {
    let network = option.get("network").and_then(Value::as_str).filter(|_| names(option, "scheme", "exact"))?;
    network.strip_prefix(namespace)?.strip_prefix(':')
}

/// Whether `extra` asks for the one way in which most rails pay: no method of transfer, and an authorization.
pub(crate) fn is_plain(extra: &Object) -> bool {
    !extra.has("assetTransferMethod") && absent_or(extra, "paymentFlow", &["authorization"])
}

/// The number that a member writes in decimal, without leading zeros.
pub(crate) fn number(object: &Object, name: &str) -> Option<u128> {
    let text = object.get(name).and_then(Value::as_str)?;
    encoding::uint128(text).filter(|number| number.to_string() == text)
}

/// The option's amount, if it is positive and below 2^64.
pub(crate) fn uint64_amount(option: &Object) -> Option<u64> {
    number(option, "amount").and_then(|amount| amount.try_into().ok()).filter(|&amount| amount > 0)
}

/// The option's `extra`, if it is an object or absent.
pub(crate) fn extra(option: &Object) -> Option<&Object> {
    static NONE: Object = Object::new();
    option.get("extra").map_or(Some(&NONE), Value::as_object)
}

/// Whether a member is absent, or one of these strings.
pub(crate) fn absent_or(object: &Object, name: &str, values: &[&str]) -> bool {
    object.get(name).is_none_or(|value| value.as_str().is_some_and(|text| values.contains(&text)))
}

/// Whether a member is this string.
pub(crate) fn names(object: &Object, name: &str, value: &str) -> bool {
    object.get(name).and_then(Value::as_str) == Some(value)
}

/// The option's `amount`, a string.
pub(crate) fn amount(option: &Object) -> Option<&str> {
    option.get("amount").and_then(Value::as_str)
}

/// The option's `maxTimeoutSeconds`: a safe integer of at least 1.
pub(crate) fn timeout(option: &Object) -> Option<u64> {
    option.get("maxTimeoutSeconds").and_then(Value::as_safe_unsigned).filter(|&seconds| seconds >= 1)
}

/// A string member that is not empty.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Option<&'a Text> {
    object.get(name).and_then(Value::as_text).filter(|text| text.utf16_len() > 0)
}

/// A string member of at most 256 UTF-16 code units.
pub(crate) fn short<'a>(object: &'a Object, name: &str) -> Option<&'a Text> {
    object.get(name).and_then(Value::as_text).filter(|text| text.utf16_len() <= 256)
}
