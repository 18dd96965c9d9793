//! The members of an option, as many pairings read them.

use crate::{Object, Text, Value};

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
