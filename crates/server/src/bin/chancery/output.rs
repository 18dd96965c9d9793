//! Standard output.

use std::{
    fmt,
    io::{self, Write},
};

/// Writes. A reader that went away, as `head` does, misses the rest and is no fault.
pub(crate) fn put(text: impl fmt::Display) {
    let mut out = io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// Writes a line.
pub(crate) fn put_line(text: impl fmt::Display) {
    put(format_args!("{text}\n"));
}

/// Text from elsewhere, which does not steer the terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_is_plain() {
        assert_eq!(plain("Mo\u{1b}[2J\ns"), "Mo\u{fffd}[2J\u{fffd}s");
    }
}
