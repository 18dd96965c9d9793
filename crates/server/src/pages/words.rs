//! Words of others: the agent's, the seller's. They are shown as plain text that changes nothing around it.

use std::fmt::Write;

use super::format::count;

/// Most marks that one letter may carry: more would draw over the lines around it.
const MAX_MARKS: usize = 4;

/// A text of others, with each character that would hide, reorder or overdraw text written as its code point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(String);

impl Words {
    /// The text as it may be shown.
    pub(super) fn new(text: &str) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut marks = 0;
        for c in text.chars() {
            marks = if is_mark(c) { marks + 1 } else { 0 };
            if (c.is_control() && c != '\n') || is_hidden(c) || marks > MAX_MARKS {
                // Writing to a String cannot fail.
                let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
            } else {
                shown.push(c);
            }
        }
        Self(shown)
    }

    /// The whole of it.
    pub(super) fn whole(&self) -> &str {
        &self.0
    }

    /// Its beginning, if it has more than that many characters.
    pub(super) fn beginning(&self, most: usize) -> Option<&str> {
        self.0.char_indices().nth(most).map(|(end, _)| {
            let cut = &self.0[..end];
            // At a word's end, where one is near.
            cut.rfind(' ').filter(|space| space + 40 > end).map_or(cut, |space| &cut[..space])
        })
    }

    /// How many characters it has: `1,440 characters`.
    pub(super) fn length(&self) -> String {
        count(self.0.chars().count() as u64, "character")
    }
}

impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters without a shape of their own, and those that reorder the text around them. The two joiners stay: words of
/// several scripts, and many emoji, are written with them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Marks that stack over or under a letter without bound.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

#[cfg(test)]
mod tests {
    use askama::Template;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_hides_or_reorders_is_written_out() {
        for (text, shown) in [
            ("pay \u{202E}moc.live", "pay ⟨U+202E⟩moc.live"),
            ("a\u{200B}b\u{FEFF}", "a⟨U+200B⟩b⟨U+FEFF⟩"),
            ("a\0\u{7}\u{9B}b", "a⟨U+0000⟩⟨U+0007⟩⟨U+009B⟩b"),
            ("\u{E0041}", "⟨U+E0041⟩"),
            ("two\nlines", "two\nlines"),
            ("نان و\u{200C}پنیر", "نان و\u{200C}پنیر"),
        ] {
            assert_eq!(Words::new(text).whole(), shown);
        }
        assert_eq!(Words::new(&format!("e{}", "\u{301}".repeat(6))).whole(), "e\u{301}\u{301}\u{301}\u{301}⟨U+0301⟩⟨U+0301⟩");
    }

    #[test]
    fn long_texts_have_a_beginning() {
        assert_eq!(Words::new(&"a".repeat(280)).beginning(280), None);
        assert_eq!(Words::new(&"é".repeat(281)).beginning(280), Some(&*"é".repeat(280)));
        let words = Words::new(&"paper ".repeat(60));
        assert!(words.beginning(280).unwrap().ends_with("paper"));
        assert_eq!(words.length(), "360 characters");
    }

    #[derive(Template)]
    #[template(source = "{{ words }}", ext = "html")]
    struct Alone {
        words: Words,
    }

    proptest! {
        #[test]
        fn never_markup(text in "\\PC{0,60}|[<>&\"'a ]{0,40}") {
            let html = Alone { words: Words::new(&text) }.render().unwrap();
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
        }

        #[test]
        fn nothing_hidden_is_left(text in prop::collection::vec(any::<char>(), 0..60)) {
            let words = Words::new(&text.iter().collect::<String>());
            prop_assert!(!words.whole().chars().any(|c| is_hidden(c) || (c.is_control() && c != '\n')));
        }
    }
}
