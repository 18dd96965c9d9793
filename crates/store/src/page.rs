//! Pages of lists.

use std::fmt;

use lcp::encoding;

/// The most rows of a page.
pub const MAX_PAGE: u32 = 1000;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// Its rows.
    pub rows: Vec<T>,
    /// Where the next page starts; `None` if there is none.
    pub next: Option<Cursor>,
}

/// The place behind a row of a list. Rows that are added meanwhile move no row over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) at: i64,
    pub(crate) id: Box<str>,
}

impl Cursor {
    /// Reads a cursor's text; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = (text.len() <= 128).then(|| encoding::from_base64url(text)).flatten()?;
        let (at, id) = str::from_utf8(&bytes).ok()?.split_once(' ')?;
        let cursor = Self { at: at.parse().ok()?, id: id.into() };
        (cursor.to_string() == text).then_some(cursor)
    }

    /// Before every row of a list that runs from the greatest down.
    pub(crate) fn top() -> Self {
        Self { at: i64::MAX, id: "".into() }
    }
}

/// An opaque text of base64url characters.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoding::base64url(format!("{} {}", self.at, self.id).as_bytes()))
    }
}

impl<T> Page<T> {
    /// A page of that many rows at most, from one row more where there is one.
    pub(crate) fn of(mut rows: Vec<T>, limit: u32, place: impl FnOnce(&T) -> Cursor) -> Self {
        let limit = limit as usize;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = if has_more { rows.last().map(place) } else { None };
        Self { rows, next }
    }
}

/// A page's length within its bounds.
pub(crate) fn bounded(limit: u32) -> u32 {
    limit.clamp(1, MAX_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        let cursor = Cursor { at: -5, id: "mnd_1".into() };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        let text = |text: &str| encoding::base64url(text.as_bytes());
        for other in ["", "!", &text("5"), &text("x mnd_1"), &text("+5 mnd_1"), &text("99999999999999999999 a"), &"A".repeat(1 << 20)] {
            assert_eq!(Cursor::parse(other), None, "{other:.40}");
        }
    }
}
