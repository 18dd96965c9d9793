use std::fmt;

use compact_str::CompactString;

/// A JSON string: any sequence of UTF-16 code units.
///
/// A string that is well-formed Unicode is held as `str`; one with a lone surrogate is held in the WTF-8 form, so two
/// texts are equal exactly when their code units are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// Up to 24 bytes stand in place: names of members rarely need a heap.
    Utf8(CompactString),
    /// INVARIANT: holds at least one encoded lone surrogate, and no encoded surrogate pair.
    Wtf8(Box<[u8]>),
}

impl Text {
    /// The text as Unicode, or `None` if it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Utf8(text) => Some(text),
            Repr::Wtf8(_) => None,
        }
    }

    /// The number of UTF-16 code units.
    pub fn utf16_len(&self) -> usize {
        match &self.0 {
            Repr::Utf8(text) if text.is_ascii() => text.len(),
            _ => self.code_units().count(),
        }
    }

    /// The length in UTF-8 bytes, a lone surrogate counted as the three bytes of U+FFFD, which stands for it there.
    pub fn utf8_len(&self) -> usize {
        self.wtf8().len()
    }

    /// The UTF-16 code units, in order.
    pub fn code_units(&self) -> impl Iterator<Item = u16> + '_ {
        CodePoints(self.wtf8()).flat_map(|point| {
            let (first, second) = if let Ok(unit) = u16::try_from(point) {
                (unit, None)
            } else {
                let [high, low] = surrogates(point);
                (high, Some(low))
            };
            std::iter::once(first).chain(second)
        })
    }

    /// Code points, where a lone surrogate is one.
    pub(super) fn code_points(&self) -> impl Iterator<Item = u32> + '_ {
        CodePoints(self.wtf8())
    }

    fn wtf8(&self) -> &[u8] {
        match &self.0 {
            Repr::Utf8(text) => text.as_bytes(),
            Repr::Wtf8(bytes) => bytes,
        }
    }

    /// Builds from bytes that are UTF-8 but for encoded surrogates, a pair of which never stands side by side.
    pub(super) fn from_wtf8(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => Self(Repr::Wtf8(error.into_bytes().into())),
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // both halves of the offset are below 0x400
fn surrogates(point: u32) -> [u16; 2] {
    let offset = point - 0x1_0000;
    [0xD800 | (offset >> 10) as u16, 0xDC00 | (offset & 0x3FF) as u16]
}

struct CodePoints<'a>(&'a [u8]);

impl Iterator for CodePoints<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        let (count, mut point) = match first {
            0..0x80 => (0, u32::from(first)),
            0x80..0xE0 => (1, u32::from(first & 0x1F)),
            0xE0..0xF0 => (2, u32::from(first & 0x0F)),
            _ => (3, u32::from(first & 0x07)),
        };
        let (tail, rest) = rest.split_at_checked(count)?;
        for byte in tail {
            point = point << 6 | u32::from(byte & 0x3F);
        }
        self.0 = rest;
        Some(point)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Repr::Utf8(text.into()))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Repr::Utf8(text.into()))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

/// The text as a JSON string literal.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        super::write::write_text(&mut out, self);
        f.write_str(&out)
    }
}

/// Orders by UTF-16 code units, the order RFC 8785 sorts members in.
impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.as_str(), other.as_str()) {
            (Some(a), Some(b)) if a.is_ascii() && b.is_ascii() => a.cmp(b),
            _ => self.code_units().cmp(other.code_units()),
        }
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_units_of_a_pair() {
        let text = Text::from("a\u{1F600}");
        assert_eq!(text.code_units().collect::<Vec<_>>(), [0x61, 0xD83D, 0xDE00]);
        assert_eq!(text.utf16_len(), 3);
        assert_eq!(text.utf8_len(), 5);
        assert_eq!(Text::from_wtf8(b"\xED\xA0\x80".to_vec()).utf8_len(), 3);
    }

    #[test]
    fn sorts_by_code_unit_not_by_code_point() {
        let [pair, single] = ["\u{1F600}", "\u{FB33}"].map(Text::from);
        assert!(pair < single);
    }
}
