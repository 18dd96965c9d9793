//! Names of payees: compared without case, width and invisible characters.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::{CodePointMapData, props::GeneralCategory};

use crate::confusable;

/// A payee's name as given, and what it is compared by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    given: Box<str>,
    normal: Box<str>,
}

impl Name {
    /// The name; `None` if nothing is left of it once normalised.
    pub fn new(given: &str) -> Option<Self> {
        let normal = normalise(given);
        (!normal.is_empty()).then(|| Self { given: given.into(), normal: normal.into() })
    }

    /// As it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// What it is compared by: NFKC, lower case, no format characters, single spaces.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Whether a word of it mixes scripts, or imitates ASCII in another one.
    pub fn is_confusable(&self) -> bool {
        self.given.split(char::is_whitespace).any(|word| confusable::mixes_scripts(word) || confusable::imitates_ascii(word))
    }

    /// For people to see: a confusable name carries its ASCII form behind it.
    pub fn shown(&self) -> String {
        if self.is_confusable() { format!("{} ({})", self.given, confusable::ascii_form(&self.given)) } else { self.given.to_string() }
    }
}

/// NFKC and lower case, without format characters, every run of white space one space, none at the ends.
fn normalise(text: &str) -> String {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    let visible: String =
        nfkc.normalize(text).chars().filter(|c| categories.get(*c) != GeneralCategory::Format).flat_map(char::to_lowercase).collect();
    let words: Vec<_> = nfkc.normalize(&visible).split_whitespace().map(str::to_owned).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn compared_by_what_is_seen() {
        for name in ["Ream & Rule", "ream &  rule ", "ＲＥＡＭ & Rule", "Re\u{AD}am & Rule", "Ream\u{A0}&\u{2003}Rule", "\u{200B}Ream & Rule"] {
            assert_eq!(Name::new(name).unwrap().normal(), "ream & rule", "{name}");
        }
        for name in ["", " ", "\u{200B}\u{AD}", "\t\n"] {
            assert_eq!(Name::new(name), None);
        }
    }

    #[test]
    fn confusable_names_carry_their_ascii_form() {
        let name = Name::new("Pаypal Ltd").unwrap();
        assert!(name.is_confusable());
        assert_eq!(name.shown(), "Pаypal Ltd (P<U+0430>ypal Ltd)");
        assert_eq!(Name::new("Café du Nord").unwrap().shown(), "Café du Nord");
    }

    proptest! {
        #[test]
        fn normalising_is_idempotent(text in "\\PC{0,24}|[ a-zA-Zé\u{AD}\u{200B}İßﬁ]{0,24}") {
            let once = normalise(&text);
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
