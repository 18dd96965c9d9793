use std::fmt;

use lcp::{
    encoding,
    jose::{PublicKey, SigningFailed, SigningKey},
};
use sha2::{Digest, Sha256};

/// The longest note that is read, in bytes.
pub const MAX_NOTE: usize = 64 * 1024;

/// The most signature lines that are read.
pub const MAX_SIGNATURES: usize = 32;

/// The signature type of plain Ed25519 in a key id.
const ED25519: u8 = 1;

const DASH: &str = "\u{2014} ";

/// A C2SP signed note: a text and signatures over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The text, with the newline that ends it.
    pub text: String,
    /// Its signature lines.
    pub signatures: Vec<NoteSignature>,
}

/// A signature line of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    /// The key's name.
    pub name: String,
    /// The key's id under that name.
    pub key_id: [u8; 4],
    /// The signature, of whatever algorithm.
    pub bytes: Vec<u8>,
}

/// Why a text is no signed note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteError {
    /// Longer than [`MAX_NOTE`].
    TooLong,
    /// A control character stands in it.
    ControlCharacter,
    /// It does not end in a blank line and signature lines.
    NoSignatures,
    /// More than [`MAX_SIGNATURES`] signature lines.
    TooManySignatures,
    /// A signature line does not read.
    BadSignatureLine,
}

impl Note {
    /// Reads a note; the signatures are another matter ([`Note::signed_by`]).
    pub fn read(note: &str) -> Result<Self, NoteError> {
        if note.len() > MAX_NOTE {
            return Err(NoteError::TooLong);
        }
        if note.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(NoteError::ControlCharacter);
        }
        let lines = note.strip_suffix('\n').ok_or(NoteError::NoSignatures)?;
        let (text, lines) = lines.rsplit_once("\n\n").ok_or(NoteError::NoSignatures)?;
        if lines.split('\n').count() > MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        let signatures = lines.split('\n').map(NoteSignature::read).collect::<Option<_>>().ok_or(NoteError::BadSignatureLine)?;
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Signs a text that ends in a newline. The key's name must be one ([`is_key_name`]).
    pub fn sign(text: &str, name: &str, key: &dyn SigningKey) -> Result<String, SigningFailed> {
        let signature = [&key_id(name, &key.public())[..], &key.sign(text.as_bytes())?].concat();
        Ok(format!("{text}\n{DASH}{name} {}\n", encoding::base64(&signature)))
    }

    /// Whether that key signed the text under that name. `None` if no signature line is that key's.
    pub fn signed_by(&self, name: &str, key: &PublicKey) -> Option<bool> {
        let id = key_id(name, key);
        let mut own = self.signatures.iter().filter(|signature| signature.name == name && signature.key_id == id).peekable();
        own.peek()?;
        Some(own.all(|own| own.bytes[..].try_into().is_ok_and(|bytes| key.verifies(self.text.as_bytes(), bytes))))
    }
}

impl NoteSignature {
    fn read(line: &str) -> Option<Self> {
        let (name, signature) = line.strip_prefix(DASH)?.split_once(' ')?;
        let signature = encoding::from_base64(signature)?;
        let (key_id, bytes) = signature.split_first_chunk()?;
        (is_key_name(name) && !bytes.is_empty()).then(|| Self { name: name.to_owned(), key_id: *key_id, bytes: bytes.to_vec() })
    }
}

/// Whether a text may name a key: not empty, no white space, no `+`.
pub fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c == '+' || c.is_whitespace() || c.is_control())
}

/// The key as verifiers of notes take it: name, key id in hex, type and key in base64, with `+` between.
pub fn verifier_key(name: &str, key: &PublicKey) -> String {
    let id = u32::from_be_bytes(key_id(name, key));
    format!("{name}+{id:08x}+{}", encoding::base64(&[&[ED25519][..], key.bytes()].concat()))
}

fn key_id(name: &str, key: &PublicKey) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::new().chain_update(name).chain_update([b'\n', ED25519]).chain_update(key.bytes()).finalize().into();
    let [a, b, c, d, ..] = digest;
    [a, b, c, d]
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the note is longer than {MAX_NOTE} bytes"),
            Self::ControlCharacter => f.write_str("a control character stands in the note"),
            Self::NoSignatures => f.write_str("the note does not end in a blank line and signature lines"),
            Self::TooManySignatures => write!(f, "the note has more than {MAX_SIGNATURES} signature lines"),
            Self::BadSignatureLine => f.write_str("a signature line of the note does not read"),
        }
    }
}

impl std::error::Error for NoteError {}

#[cfg(test)]
mod tests {
    use lcp::jose::Ed25519Key;
    use proptest::prelude::*;

    use super::*;

    fn key() -> Ed25519Key {
        Ed25519Key::from_seed(&[1; 32])
    }

    fn note() -> String {
        Note::sign("If you think\n\nof it\n", "example.com/a", &key()).unwrap()
    }

    #[test]
    fn the_example_of_the_go_module_verifies() {
        // From the documentation of golang.org/x/mod/sumdb/note.
        let source = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u{2014} PeterNeumann \
                      x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
        let note = Note::read(source).unwrap();
        let verifier = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let key = encoding::from_base64(&verifier[22..]).unwrap();
        let key = PublicKey::from_bytes(key[1..].try_into().unwrap()).unwrap();
        assert_eq!(verifier_key("PeterNeumann", &key), verifier);
        assert_eq!(note.signed_by("PeterNeumann", &key), Some(true));
        assert_eq!(note.signed_by("Peter", &key), None);
    }

    #[test]
    fn what_is_signed_reads_back() {
        let note = Note::read(&note()).unwrap();
        assert_eq!((&*note.text, note.signatures.len()), ("If you think\n\nof it\n", 1));
        assert_eq!(note.signed_by("example.com/a", &key().public()), Some(true));
        assert_eq!(note.signed_by("example.com/a", &Ed25519Key::from_seed(&[2; 32]).public()), None);
    }

    #[test]
    fn other_keys_signatures_are_left_alone() {
        let more = format!("{}\u{2014} other.example AAAAAAA=\n", note());
        assert_eq!(Note::read(&more).unwrap().signed_by("example.com/a", &key().public()), Some(true));
        // A second line of the same key that is not its signature spoils the first.
        let mut twice = Note::read(&more).unwrap();
        twice.signatures.push(NoteSignature { bytes: vec![0; 64], ..twice.signatures[0].clone() });
        assert_eq!(twice.signed_by("example.com/a", &key().public()), Some(false));
        twice.signatures[0].bytes.clear();
        assert_eq!(twice.signed_by("example.com/a", &key().public()), Some(false));
    }

    #[test]
    fn what_is_no_note_is_named() {
        for (source, error) in [
            ("", NoteError::NoSignatures),
            ("text\n", NoteError::NoSignatures),
            (note().trim_end(), NoteError::NoSignatures),
            ("text\n\n\n", NoteError::BadSignatureLine),
            ("text\n\n- a AAAAAAA=\n", NoteError::BadSignatureLine),
            ("text\n\n\u{2014} a AAAAAA==\n", NoteError::BadSignatureLine),
            ("text\n\n\u{2014} a+b AAAAAAA=\n", NoteError::BadSignatureLine),
            ("text\n\n\u{2014}  AAAAAAA=\n", NoteError::BadSignatureLine),
            ("text\n\n\u{2014} a AAAAAAA\n", NoteError::BadSignatureLine),
            ("te\txt\n\n\u{2014} a AAAAAAA=\n", NoteError::ControlCharacter),
            (&"a".repeat(MAX_NOTE + 1), NoteError::TooLong),
            (&format!("text\n\n{}", "\u{2014} a AAAAAAA=\n".repeat(MAX_SIGNATURES + 1)), NoteError::TooManySignatures),
        ] {
            assert_eq!(Note::read(source), Err(error), "{source:.60}");
        }
        assert!(is_key_name("a") && !is_key_name("") && !is_key_name("a b") && !is_key_name("a\u{A0}b") && !is_key_name("a+b"));
    }

    proptest! {
        #[test]
        fn a_changed_note_is_not_signed(place: prop::sample::Index, bit in 0..7) {
            let mut bytes = note().into_bytes();
            let place = place.index(bytes.len());
            bytes[place] ^= 1_u8 << bit;
            let signed = std::str::from_utf8(&bytes).ok().and_then(|source| Note::read(source).ok()?.signed_by("example.com/a", &key().public()));
            prop_assert_ne!(signed, Some(true));
        }
    }
}
