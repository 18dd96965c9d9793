//! Msgpack: a tree of what stands in a text, and the canonical form that Algorand signs.
//!
//! Own reader: that two readers of a transaction differ shows only in how each value is encoded, which crates hide.

use crate::wire::bytes::Reader;

/// How deep a text may nest.
const MAX_DEPTH: usize = 32;

/// A value, as it is encoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<'a> {
    Nil,
    Flag(bool),
    /// An integer that is not negative, and the bytes that it takes: none where its head holds it.
    Uint {
        value: u64,
        width: usize,
    },
    /// A negative integer or a float.
    OtherNumber,
    /// Text, which need not be UTF-8.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Array(Vec<Node<'a>>),
    /// Entries as they stand, a repeated key too.
    Map(Vec<(Node<'a>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Reads one value, which must end with the bytes. Extension types are refused.
    pub(super) fn decode(wire: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(wire);
        let node = Self::read(&mut reader, MAX_DEPTH)?;
        (reader.left() == 0).then_some(node)
    }

    /// What both kinds of byte strings hold.
    pub(super) fn string(&self) -> Option<&'a [u8]> {
        match self {
            Self::Text(bytes) | Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn read(reader: &mut Reader<'a>, depth: usize) -> Option<Self> {
        let head = reader.byte()?;
        Some(match head {
            0x00..=0x7F => Self::Uint { value: head.into(), width: 0 },
            0x80..=0x8F => Self::map(reader, usize::from(head & 0x0F), depth)?,
            0x90..=0x9F => Self::array(reader, usize::from(head & 0x0F), depth)?,
            0xA0..=0xBF => Self::Text(reader.take(usize::from(head & 0x1F))?),
            0xC0 => Self::Nil,
            0xC2 | 0xC3 => Self::Flag(head == 0xC3),
            0xC4..=0xC6 => Self::Bytes(sized(reader, head - 0xC4)?),
            0xCA => reader.take(4).map(|_| Self::OtherNumber)?,
            0xCB => reader.take(8).map(|_| Self::OtherNumber)?,
            0xCC..=0xCF => Self::Uint { value: uint(reader, head - 0xCC)?, width: 1 << (head - 0xCC) },
            0xD0..=0xD3 => {
                let width = 1 << (head - 0xD0);
                let value = uint(reader, head - 0xD0)?;
                if value >> (8 * width - 1) == 0 { Self::Uint { value, width } } else { Self::OtherNumber }
            }
            0xD9..=0xDB => Self::Text(sized(reader, head - 0xD9)?),
            0xDC | 0xDD => {
                let count = count(reader, head - 0xDB)?;
                Self::array(reader, count, depth)?
            }
            0xDE | 0xDF => {
                let count = count(reader, head - 0xDD)?;
                Self::map(reader, count, depth)?
            }
            0xE0..=0xFF => Self::OtherNumber,
            // Extension types, and the one head that has no meaning.
            0xC1 | 0xC7..=0xC9 | 0xD4..=0xD8 => return None,
        })
    }

    fn array(reader: &mut Reader<'a>, count: usize, depth: usize) -> Option<Self> {
        let inner = depth.checked_sub(1).filter(|_| count <= reader.left())?;
        (0..count).map(|_| Self::read(reader, inner)).collect::<Option<_>>().map(Self::Array)
    }

    fn map(reader: &mut Reader<'a>, count: usize, depth: usize) -> Option<Self> {
        let inner = depth.checked_sub(1).filter(|_| count <= reader.left())?;
        (0..count).map(|_| Some((Self::read(reader, inner)?, Self::read(reader, inner)?))).collect::<Option<_>>().map(Self::Map)
    }
}

/// An integer of `2^log_width` bytes.
fn uint(reader: &mut Reader<'_>, log_width: u8) -> Option<u64> {
    reader.take(1 << log_width).map(|bytes| bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

fn count(reader: &mut Reader<'_>, log_width: u8) -> Option<usize> {
    uint(reader, log_width)?.try_into().ok()
}

fn sized<'a>(reader: &mut Reader<'a>, log_width: u8) -> Option<&'a [u8]> {
    let count = count(reader, log_width)?;
    reader.take(count)
}

/// The members of an object in canonical form: each value in its shortest encoding, sorted by name, and what is zero or empty
/// left out.
#[derive(Default)]
pub(super) struct Members(Vec<(&'static str, Vec<u8>)>);

impl Members {
    pub(super) fn uint(&mut self, name: &'static str, value: u64) {
        let mut encoded = Vec::new();
        match value {
            0 => return,
            #[allow(clippy::cast_possible_truncation)] // by the arm's range
            1..=0x7F => encoded.push(value as u8),
            _ => {
                // The least of 1, 2, 4 and 8 bytes that hold the value.
                let log_width = (0..3u8).find(|log_width| value >> (8 << log_width) == 0).unwrap_or(3);
                encoded.push(0xCC + log_width);
                encoded.extend(&value.to_be_bytes()[8 - (1 << log_width)..]);
            }
        }
        self.0.push((name, encoded));
    }

    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            let mut encoded = Vec::new();
            write_text(&mut encoded, value);
            self.0.push((name, encoded));
        }
    }

    /// A byte string; one of zeros alone is left out too.
    pub(super) fn bytes(&mut self, name: &'static str, value: &[u8]) {
        if value.iter().any(|&byte| byte != 0) {
            self.all_bytes(name, value);
        }
    }

    /// A byte string, whatever it is.
    pub(super) fn all_bytes(&mut self, name: &'static str, value: &[u8]) {
        let mut encoded = Vec::new();
        write_bytes(&mut encoded, value);
        self.0.push((name, encoded));
    }

    /// A list of at most 15 byte strings.
    pub(super) fn list(&mut self, name: &'static str, values: &[[u8; 32]]) {
        let mut encoded = vec![];
        write_few(&mut encoded, 0x90, values.len());
        for value in values {
            write_bytes(&mut encoded, value);
        }
        self.0.push((name, encoded));
    }

    /// A value that is encoded already.
    pub(super) fn raw(&mut self, name: &'static str, encoded: Vec<u8>) {
        self.0.push((name, encoded));
    }

    /// The object, of at most 15 members.
    pub(super) fn encode(mut self) -> Vec<u8> {
        self.0.sort_unstable_by_key(|&(name, _)| name);
        let mut wire = Vec::new();
        write_few(&mut wire, 0x80, self.0.len());
        for (name, encoded) in self.0 {
            write_text(&mut wire, name);
            wire.extend(encoded);
        }
        wire
    }
}

/// The head of a map or an array of at most 15 items.
#[allow(clippy::cast_possible_truncation)] // as said
fn write_few(wire: &mut Vec<u8>, head: u8, count: usize) {
    debug_assert!(count < 16);
    wire.push(head | count as u8);
}

fn write_text(wire: &mut Vec<u8>, text: &str) {
    match u8::try_from(text.len()) {
        Ok(len @ 0..32) => wire.push(0xA0 | len),
        Ok(len) => wire.extend([0xD9, len]),
        Err(_) => write_long(wire, 0xDA, text.len()),
    }
    wire.extend(text.as_bytes());
}

fn write_bytes(wire: &mut Vec<u8>, bytes: &[u8]) {
    match u8::try_from(bytes.len()) {
        Ok(len) => wire.extend([0xC4, len]),
        Err(_) => write_long(wire, 0xC5, bytes.len()),
    }
    wire.extend(bytes);
}

/// The head, for a count of 16 bits, and the count of a string longer than 255 bytes.
#[allow(clippy::cast_possible_truncation)] // no string comes near 2^32 bytes
fn write_long(wire: &mut Vec<u8>, head: u8, len: usize) {
    if let Ok(len) = u16::try_from(len) {
        wire.push(head);
        wire.extend(len.to_be_bytes());
    } else {
        wire.push(head + 1);
        wire.extend((len as u32).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_encoding_is_told_apart() {
        let uint = |value, width| Some(Node::Uint { value, width });
        for (wire, node) in [
            ([0xC0].as_slice(), Some(Node::Nil)),
            (&[0xC2], Some(Node::Flag(false))),
            (&[0xC3], Some(Node::Flag(true))),
            (&[0x7F], uint(127, 0)),
            (&[0xCC, 0xFF], uint(255, 1)),
            (&[0xCD, 0, 5], uint(5, 2)),
            (&[0xCE, 0, 0, 1, 0], uint(256, 4)),
            (&[0xCF, 0xFF, 0, 0, 0, 0, 0, 0, 0], uint(0xFF << 56, 8)),
            (&[0xD0, 0x7F], uint(127, 1)),
            (&[0xD0, 0x80], Some(Node::OtherNumber)),
            (&[0xD3, 0, 0, 0, 0, 0, 0, 0, 1], uint(1, 8)),
            (&[0xD3, 0xFF, 0, 0, 0, 0, 0, 0, 0], Some(Node::OtherNumber)),
            (&[0xFF], Some(Node::OtherNumber)),
            (&[0xCA, 0, 0, 0, 0], Some(Node::OtherNumber)),
            (&[0xCB, 0, 0, 0, 0, 0, 0, 0, 0], Some(Node::OtherNumber)),
            (&[0xA1, b'a'], Some(Node::Text(b"a"))),
            (&[0xD9, 1, b'a'], Some(Node::Text(b"a"))),
            (&[0xDA, 0, 1, 0xFF], Some(Node::Text(b"\xff"))),
            (&[0xDB, 0, 0, 0, 0], Some(Node::Text(b""))),
            (&[0xC4, 1, 1], Some(Node::Bytes(b"\x01"))),
            (&[0xC5, 0, 0], Some(Node::Bytes(b""))),
            (&[0xC6, 0, 0, 0, 0], Some(Node::Bytes(b""))),
            (&[0x91, 0xC0], Some(Node::Array(vec![Node::Nil]))),
            (&[0xDC, 0, 1, 0xC0], Some(Node::Array(vec![Node::Nil]))),
            (&[0xDD, 0, 0, 0, 0], Some(Node::Array(vec![]))),
            (&[0x81, 0xC0, 0xC2], Some(Node::Map(vec![(Node::Nil, Node::Flag(false))]))),
            (&[0xDE, 0, 0], Some(Node::Map(vec![]))),
            (&[0xDF, 0, 0, 0, 1, 0xC0, 0xC0], Some(Node::Map(vec![(Node::Nil, Node::Nil)]))),
        ] {
            assert_eq!(Node::decode(wire), node, "{wire:02X?}");
        }
        for wire in [[].as_slice(), &[0xC1], &[0xD4, 1, 2], &[0xC7, 0, 1], &[0xC0, 0xC0], &[0xA2, b'a'], &[0x91], &[0x81, 0xC0]] {
            assert_eq!(Node::decode(wire), None, "{wire:02X?}");
        }
        // A count past the bytes is refused before room is made.
        assert_eq!(Node::decode(&[0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC0]), None);
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| [vec![0x91; depth], vec![0xC0]].concat();
        assert!(Node::decode(&nested(32)).is_some() && Node::decode(&nested(33)).is_none());
    }

    #[test]
    fn members_are_sorted_and_those_that_are_zero_left_out() {
        let mut members = Members::default();
        members.text("b", "x");
        members.uint("a", 1);
        members.uint("c", 0);
        members.bytes("d", &[0; 4]);
        members.bytes("e", &[]);
        members.text("f", "");
        members.all_bytes("g", &[0]);
        assert_eq!(members.encode(), b"\x83\xa1a\x01\xa1b\xa1x\xa1g\xc4\x01\x00");
        assert_eq!(Members::default().encode(), [0x80]);
    }

    proptest! {
        /// A value is written in its shortest encoding, and read as itself.
        #[test]
        fn round_trip(shift in 0..64u32, value: u64, len in prop_oneof![0..40usize, 250..260usize, 65_530..65_540usize]) {
            let value = value >> shift | 1;
            let (text, bytes) = ("x".repeat(len), vec![1; len]);
            let mut members = Members::default();
            members.uint("u", value);
            members.text("t", &text);
            members.bytes("b", &bytes);
            let wire = members.encode();
            let Some(Node::Map(entries)) = Node::decode(&wire) else { return Err(TestCaseError::fail("no map")) };
            for (name, node) in entries {
                match (name.string().unwrap(), node) {
                    (b"u", Node::Uint { value: read, width }) => {
                        prop_assert_eq!(read, value);
                        let least = [(0, 0x7F), (1, 0xFF), (2, 0xFFFF), (4, 0xFFFF_FFFF), (8, u64::MAX)];
                        prop_assert_eq!(least.into_iter().find(|&(_, most)| value <= most).map(|(width, _)| width), Some(width));
                    }
                    (b"t", Node::Text(read)) => prop_assert_eq!(read, text.as_bytes()),
                    (b"b", Node::Bytes(read)) => prop_assert_eq!(read, &bytes),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }

        #[test]
        fn any_bytes(bytes: Vec<u8>) {
            let _ = Node::decode(&bytes);
        }
    }
}
