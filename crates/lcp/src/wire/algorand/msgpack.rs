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
