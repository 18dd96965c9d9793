//! JSON as the parties to a payment read it: strings are UTF-16 exact (a lone surrogate survives), numbers are IEEE
//! doubles as ECMAScript reads them, the last duplicate of a member wins, and members stand in ECMAScript property order.
//!
//! Own reader and writer: a general JSON crate refuses lone surrogates and `1e400`, and hides duplicates and depth.

mod read;
mod text;
mod value;
mod write;

pub use read::{ParseError, parse, parse_bytes, parse_bytes_unique, parse_members, parse_unique};
pub use text::Text;
pub use value::{Object, Value};
pub use write::{canonical, fits, same, write, write_sorted};

/// Lines of JSON, for tests.
#[cfg(test)]
pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| parse(line, MAX_DEPTH).unwrap_or_else(|error| panic!("{error:?}: {line}"))).collect()
}

/// How deep every JSON text that a pairing reads may nest (arrays and objects).
pub const MAX_DEPTH: usize = 64;
