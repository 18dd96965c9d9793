use lcp::{Hash, encoding};

const PREFIX: &str = "sha256:";

/// A SHA-256 digest as records write it: `sha256:` and 64 lower-case hex digits.
pub fn digest_text(hash: &Hash) -> String {
    format!("{PREFIX}{}", encoding::hex(hash.bytes()).trim_start_matches("0x"))
}

/// The digest that such a text names; no other spelling is read.
pub fn digest_from_text(text: &str) -> Option<Hash> {
    let digits = text.strip_prefix(PREFIX)?;
    let mut bytes = [0; 32];
    encoding::hex_into(digits, &mut bytes)?;
    (!digits.bytes().any(|digit| digit.is_ascii_uppercase())).then(|| bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest_text(&Hash::of(b"abc")), text);
        assert_eq!(digest_from_text(text), Some(Hash::of(b"abc")));
        for other in [&text[7..], &text[..70], &text.to_uppercase(), &text.replace('b', "B"), &format!("{text}0"), &text.replace(':', ":0x")] {
            assert_eq!(digest_from_text(other), None, "{other}");
        }
        assert_eq!(digest_text(&[0; 32].into()), format!("sha256:{}", "0".repeat(64)));
    }
}
