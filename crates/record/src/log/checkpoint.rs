use std::fmt;

use lcp::{
    Hash, encoding,
    jose::{SigningFailed, SigningKey},
};

use super::{MAX_SIZE, Note, NoteError, is_key_name};

/// A log's head: C2SP tlog-checkpoint without extension lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log's name: the place of its tiles without the scheme, whose last part is the organization's id.
    pub origin: String,
    /// The number of leaves.
    pub size: u64,
    /// The tree's root.
    pub root: Hash,
}

/// Why a text is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// Not a signed note.
    Note(NoteError),
    /// Not the three lines origin, size and root.
    NotThreeLines,
    /// The origin may not name a key, or could begin a JSON text.
    BadOrigin,
    /// The size is not a decimal in its one spelling, or passes [`MAX_SIZE`].
    BadSize,
    /// The root is not the base64 of 32 bytes.
    BadRoot,
}

impl Checkpoint {
    /// The signed note, by a key that has the origin as its name.
    pub fn sign(&self, key: &dyn SigningKey) -> Result<String, SigningFailed> {
        if !is_origin(&self.origin) {
            return Err(SigningFailed(CheckpointError::BadOrigin.to_string()));
        }
        let text = format!("{}\n{}\n{}\n", self.origin, self.size, encoding::base64(self.root.bytes()));
        Note::sign(&text, &self.origin, key)
    }

    /// Reads a checkpoint and its note; the signatures are another matter ([`Note::signed_by`]).
    pub fn read(note: &str) -> Result<(Self, Note), CheckpointError> {
        let note = Note::read(note).map_err(CheckpointError::Note)?;
        let mut lines = note.text.lines();
        let (Some(origin), Some(size), Some(root), None) = (lines.next(), lines.next(), lines.next(), lines.next()) else {
            return Err(CheckpointError::NotThreeLines);
        };
        if !is_origin(origin) {
            return Err(CheckpointError::BadOrigin);
        }
        let canonical = |size: &u64| *size <= MAX_SIZE;
        let size = (size.len() <= 16).then(|| size.parse().ok().filter(canonical).filter(|read: &u64| read.to_string() == size)).flatten();
        let size = size.ok_or(CheckpointError::BadSize)?;
        let root: Option<[u8; 32]> = encoding::from_base64(root).and_then(|bytes| bytes.try_into().ok());
        Ok((Self { origin: origin.to_owned(), size, root: root.ok_or(CheckpointError::BadRoot)?.into() }, note))
    }
}

/// Every text signed with these keys is told apart by its first character: a note's is never `{`.
fn is_origin(origin: &str) -> bool {
    is_key_name(origin) && !origin.starts_with('{')
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(error) => error.fmt(f),
            Self::NotThreeLines => f.write_str("the checkpoint is not the three lines origin, size and root"),
            Self::BadOrigin => f.write_str("the checkpoint's origin is empty, holds white space or a plus sign, or begins with a brace"),
            Self::BadSize => f.write_str("the checkpoint's size is not a decimal below 2^53 without leading zeros"),
            Self::BadRoot => f.write_str("the checkpoint's root is not the base64 of 32 bytes"),
        }
    }
}

impl std::error::Error for CheckpointError {}

#[cfg(test)]
mod tests {
    use lcp::jose::Ed25519Key;

    use super::*;

    fn key() -> Ed25519Key {
        Ed25519Key::from_seed(&[1; 32])
    }

    #[test]
    fn what_is_signed_reads_back() {
        let checkpoint = Checkpoint { origin: "example.com/log/org_1".into(), size: 20_852_163, root: Hash::of(b"root") };
        let (read, note) = Checkpoint::read(&checkpoint.sign(&key()).unwrap()).unwrap();
        assert_eq!(read, checkpoint);
        assert_eq!(note.text, format!("example.com/log/org_1\n20852163\n{}\n", encoding::base64(Hash::of(b"root").bytes())));
        assert_eq!(note.signed_by("example.com/log/org_1", &key().public()), Some(true));
        let odd = Checkpoint { origin: "a b".into(), ..checkpoint };
        assert_eq!(odd.sign(&key()), Err(SigningFailed(CheckpointError::BadOrigin.to_string())));
    }

    #[test]
    fn what_is_no_checkpoint_is_named() {
        let root = encoding::base64(&[0; 32]);
        let read = |text: String| Checkpoint::read(&Note::sign(&text, "a", &key()).unwrap()).map(|(checkpoint, _)| checkpoint.size);
        assert_eq!(read(format!("a\n0\n{root}\n")), Ok(0));
        assert_eq!(read(format!("a\n9007199254740991\n{root}\n")), Ok(MAX_SIZE));
        for size in ["9007199254740992", "01", "+1", "-1", "", "1.0", "99999999999999999999999"] {
            assert_eq!(read(format!("a\n{size}\n{root}\n")), Err(CheckpointError::BadSize), "{size}");
        }
        assert_eq!(read(format!("a\n1\n{root}\nmore\n")), Err(CheckpointError::NotThreeLines));
        assert_eq!(read("a\n1\n".into()), Err(CheckpointError::NotThreeLines));
        assert_eq!(read(format!("{{\n1\n{root}\n")), Err(CheckpointError::BadOrigin));
        assert_eq!(read(format!("\n1\n{root}\n")), Err(CheckpointError::BadOrigin));
        assert_eq!(read("a\n1\nAAAA\n".into()), Err(CheckpointError::BadRoot));
        assert_eq!(Checkpoint::read("a\n"), Err(CheckpointError::Note(NoteError::NoSignatures)));
    }
}
