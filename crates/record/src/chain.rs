use std::fmt;

use lcp::Hash;

use crate::{Body, Place};

/// Follows an organization's sealed records in their order, and finds the first that is missing, moved or changed.
///
/// A cut tail is found by what the chain came to: [`Chain::len`] is below the size of a checkpoint, or the log of the
/// hashes has another root.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    last: Option<(String, Place)>,
}

/// Where a chain breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainBreak {
    /// The text is not a sealed record that is understood here.
    Unreadable,
    /// The record is of another organization than the one before it.
    OtherOrganization,
    /// The record's `seq` is not the next.
    OutOfOrder {
        /// The `seq` that would be next.
        expected: u64,
        /// The `seq` that the record has.
        found: u64,
    },
    /// The record's `prev` is not the hash of the record before it.
    OtherPast,
}

impl Chain {
    /// A chain from its first record on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next record's text and gives its hash, the log's next leaf.
    pub fn follow(&mut self, text: &str) -> Result<Hash, ChainBreak> {
        let body = Body::read(text).ok_or(ChainBreak::Unreadable)?;
        let expected = match &self.last {
            None => Place::First,
            Some((org, _)) if *org != body.org => return Err(ChainBreak::OtherOrganization),
            Some((_, next)) => *next,
        };
        let next = expected.seq().unwrap_or(u64::MAX);
        if body.seq() != next {
            return Err(ChainBreak::OutOfOrder { expected: next, found: body.seq() });
        }
        if body.place != expected {
            return Err(ChainBreak::OtherPast);
        }
        let hash = Hash::of(text.as_bytes());
        self.last = Some((body.org, Place::After { seq: next, hash }));
        Ok(hash)
    }

    /// How many records it followed.
    pub fn len(&self) -> u64 {
        self.last.as_ref().map_or(0, |(_, next)| next.seq().unwrap_or(u64::MAX))
    }

    /// Whether it followed none.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }
}

impl fmt::Display for ChainBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("not a sealed record that is understood here"),
            Self::OtherOrganization => f.write_str("a record of another organization"),
            Self::OutOfOrder { expected, found } => write!(f, "seq is {found} where {expected} is next"),
            Self::OtherPast => f.write_str("prev is not the hash of the record before it"),
        }
    }
}

impl std::error::Error for ChainBreak {}

#[cfg(test)]
mod tests {
    use lcp::{Object, jose::Ed25519Key};
    use proptest::prelude::*;

    use super::*;
    use crate::{Kind, Record};

    fn chain(org: &str, count: u64) -> Vec<String> {
        let key = Ed25519Key::from_seed(&[1; 32]);
        let mut place = Place::First;
        let mut texts = Vec::new();
        for seq in 0..count {
            let record = Record::new(Kind::Payment, &format!("rec_{seq}"), org, &[], Object::new()).unwrap();
            let sealed = record.seal(place, 0, &key).unwrap();
            place = Place::After { seq, hash: sealed.hash };
            texts.push(sealed.text);
        }
        texts
    }

    fn follow(texts: &[String]) -> Result<u64, ChainBreak> {
        let mut chain = Chain::new();
        for text in texts {
            assert_eq!(chain.follow(text)?, Hash::of(text.as_bytes()));
        }
        Ok(chain.len())
    }

    #[test]
    fn follows_what_is_whole() {
        assert_eq!(follow(&chain("org_1", 5)), Ok(5));
        assert_eq!(follow(&[]), Ok(0));
    }

    #[test]
    fn names_the_break() {
        let texts = chain("org_1", 4);
        assert_eq!(follow(&texts[1..]), Err(ChainBreak::OutOfOrder { expected: 0, found: 1 }));
        let mut other = texts.clone();
        other[1] = chain("org_2", 2)[1].clone();
        assert_eq!(follow(&other), Err(ChainBreak::OtherOrganization));
        let mut changed = texts.clone();
        changed[1] = changed[1].replace("rec_1", "rec_9");
        assert_eq!(follow(&changed), Err(ChainBreak::OtherPast), "found at the record behind it");
        changed.truncate(2);
        assert_eq!(follow(&changed), Ok(2), "the last is found by its signature and by the log");
        assert_eq!(follow(&["{}".into()]), Err(ChainBreak::Unreadable));
    }

    proptest! {
        #[test]
        fn a_dropped_or_moved_record_is_found(count in 2..12_usize, one: prop::sample::Index, other: prop::sample::Index) {
            let texts = chain("org_1", count as u64);
            let (one, other) = (one.index(count - 1), other.index(count));
            let mut dropped = texts.clone();
            dropped.remove(one);
            prop_assert!(follow(&dropped).is_err());
            let mut swapped = texts.clone();
            swapped.swap(one, other);
            prop_assert_eq!(follow(&swapped).is_err(), one != other);
            let mut doubled = texts.clone();
            doubled.insert(other, texts[other].clone());
            prop_assert!(follow(&doubled).is_err());
        }
    }
}
