//! The buyer's own values that a build needs.

use crate::{Object, Value, encoding};

/// Longest decimal an input may be, in digits.
pub const MAX_DECIMAL: usize = 78;

/// The member as a decimal of at most [`MAX_DECIMAL`] digits; `Err` if it is there in another form.
pub fn decimal<'a>(inputs: &'a Object, name: &str) -> Result<Option<&'a str>, Malformed> {
    member(inputs, name, |value| value.as_str().filter(|text| encoding::is_decimal(text, MAX_DECIMAL)))
}

/// The member as read by `form`; `Err` if it is there and `form` does not take it (`null` is there).
pub fn member<'a, T>(inputs: &'a Object, name: &str, form: impl FnOnce(&'a Value) -> Option<T>) -> Result<Option<T>, Malformed> {
    match inputs.get(name) {
        None => Ok(None),
        Some(value) => form(value).map(Some).ok_or(Malformed),
    }
}

/// An input is there, in another form than the build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
