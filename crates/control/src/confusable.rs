//! Look-alike letters, by Unicode's security mechanisms (UTS #39).

use unicode_security::mixed_script::AugmentedScriptSet;

/// Whether a word of the text mixes scripts, as `pаypal` with a Cyrillic `а` does. Latin may stand beside the scripts
/// that Japanese, Chinese or Korean is written in.
pub fn mixes_scripts(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let mut whole = AugmentedScriptSet::default();
        let mut without_latin = AugmentedScriptSet::default();
        for c in word.chars() {
            whole.intersect_with(AugmentedScriptSet::for_char(c));
            if !is_latin(c) {
                without_latin.intersect_with(AugmentedScriptSet::for_char(c));
            }
        }
        let is_east_asian = without_latin.kore || without_latin.hanb || without_latin.jpan;
        whole.is_empty() && !is_east_asian
    })
}

/// Whether the text is written in another script than Latin, yet every letter of it looks like an ASCII one.
pub fn imitates_ascii(text: &str) -> bool {
    text.chars().any(|c| c.is_alphabetic() && !is_latin(c)) && skeleton(text).is_ascii()
}

/// What the text looks like: two texts with one skeleton are hard to tell apart.
pub fn skeleton(text: &str) -> String {
    unicode_security::skeleton(text).flat_map(char::to_lowercase).collect()
}

/// The text with each character that is not ASCII written as its code point, so that a reader sees which it is.
pub fn ascii_form(text: &str) -> String {
    use std::fmt::Write;
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if c.is_ascii() {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        }
        out
    })
}

/// Whether a letter may stand in a Latin word.
fn is_latin(c: char) -> bool {
    let mut set = AugmentedScriptSet::for_char('a');
    set.intersect_with(AugmentedScriptSet::for_char(c));
    !set.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_words() {
        for text in ["pаypal", "Αpple", "gооgle pay", "раypal", "shop-аbc"] {
            assert!(mixes_scripts(text), "{text}");
        }
        for text in ["", "PayPal 24", "Сбербанк Online", "café", "東京タワー", "LINE東京", "Naver네이버", "Ψ", "日本Aビル", "Ream & Rule", "l'Oréal"]
        {
            assert!(!mixes_scripts(text), "{text}");
        }
    }

    #[test]
    fn whole_words_that_imitate() {
        assert!(imitates_ascii("раураӏ")); // all Cyrillic
        assert!(imitates_ascii("сосо"));
        for text in ["", "paypal", "café", "yıldız", "яндекс", "東京", "123"] {
            assert!(!imitates_ascii(text), "{text}");
        }
    }

    #[test]
    fn skeletons() {
        for (a, b) in
            [("paypal.com", "paypa1.com"), ("paypal.com", "раураӏ.com"), ("shop", "sh0p"), ("modern", "rnodern"), ("paypal", "pay\u{200B}pal")]
        {
            assert_eq!(skeleton(a), skeleton(b), "{a} {b}");
        }
        assert_ne!(skeleton("shop.example"), skeleton("ship.example"));
    }

    #[test]
    fn ascii_forms() {
        assert_eq!(ascii_form("pаypal"), "p<U+0430>ypal");
    }
}
