//! CBOR (RFC 8949), read strictly: one data item and nothing after it, each item with the bytes it stands in.
//!
//! Our own: hashes are over an item's exact bytes, and the public crates take trailing bytes and repeated keys.

use std::{borrow::Cow, collections::HashSet};

use super::bytes::Reader;

/// What a reader takes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Whether lengths may be indefinite.
    pub indefinite: bool,
    /// How many arrays, maps and tags an item may stand in.
    pub depth: usize,
    /// How many items there may be in all: values, keys, and what holds them.
    pub items: usize,
}

/// A data item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item<'a> {
    /// The bytes it stands in.
    pub raw: &'a [u8],
    /// What it holds.
    pub data: Data<'a>,
}

/// What an item holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Data<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// The integer -1 - n.
    Negative(u64),
    /// A byte string, its chunks joined.
    Bytes(Cow<'a, [u8]>),
    /// A text string, its chunks joined.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Item<'a>>),
    /// A map, its entries as written, repeated keys among them.
    Map(Vec<(Item<'a>, Item<'a>)>),
    /// A tagged item.
    Tag(u64, Box<Item<'a>>),
    /// A simple value: 20 is false, 21 true, 22 null, 23 undefined.
    Simple(u8),
    /// A float of any width.
    Float(f64),
}

impl<'a> Item<'a> {
    /// Reads data that are one item.
    pub fn read(data: &'a [u8], bounds: Bounds) -> Option<Self> {
        let mut decoder = Decoder { whole: data, reader: Reader::new(data), indefinite: bounds.indefinite, items: bounds.items };
        let item = decoder.item(bounds.depth)?;
        (decoder.reader.left() == 0).then_some(item)
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes, if it is a byte string.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn list(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a map.
    pub fn map(&self) -> Option<&[(Self, Self)]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// What makes two items the same key, whatever widths and chunks they are written in.
    fn identity(&self, rule: Same) -> Vec<u8> {
        let mut identity = Vec::new();
        self.append_identity(rule, &mut identity);
        identity
    }

    fn append_identity(&self, rule: Same, identity: &mut Vec<u8>) {
        let mut head = |kind: u8, number: u64| {
            identity.push(kind);
            identity.extend(number.to_be_bytes());
        };
        match &self.data {
            Data::Uint(number) => head(0, *number),
            Data::Negative(number) => head(1, *number),
            Data::Bytes(bytes) => {
                head(2, bytes.len() as u64);
                identity.extend(&**bytes);
            }
            Data::Text(text) => {
                let text = match rule {
                    Same::Written => text,
                    Same::Decoded => without_bom(text),
                };
                head(3, text.len() as u64);
                identity.extend(text.as_bytes());
            }
            Data::List(items) => {
                head(4, items.len() as u64);
                for item in items {
                    item.append_identity(rule, identity);
                }
            }
            Data::Map(entries) => {
                head(5, entries.len() as u64);
                let mut entries: Vec<_> = entries.iter().map(|(key, value)| [key.identity(rule), value.identity(rule)].concat()).collect();
                if rule == Same::Written {
                    entries.sort_unstable();
                }
                identity.extend(entries.concat());
            }
            Data::Tag(tag, item) => {
                head(6, *tag);
                item.append_identity(rule, identity);
            }
            Data::Simple(value) => head(7, (*value).into()),
            Data::Float(value) => match rule {
                Same::Written if value.is_nan() => head(8, f64::NAN.to_bits()),
                Same::Written => head(8, value.to_bits()),
                Same::Decoded => head(8, 0),
            },
        }
    }
}

/// When two keys are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// When they hold the same value; entries of a map in any order.
    Written,
    /// When a lenient decoder may take them for the same: one that drops a text's byte order mark, or a float's value.
    Decoded,
}

/// Whether no two entries of a map have the same key.
pub fn keys_are_unique(entries: &[(Item<'_>, Item<'_>)], rule: Same) -> bool {
    let mut seen = HashSet::new();
    entries.iter().all(|(key, _)| seen.insert(key.identity(rule)))
}

/// The text without the byte order mark that it may begin with.
pub fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{FEFF}').unwrap_or(text)
}

struct Decoder<'a> {
    whole: &'a [u8],
    reader: Reader<'a>,
    indefinite: bool,
    items: usize,
}

/// The head of an item.
struct Head {
    major: u8,
    /// The argument; `None` for an indefinite length, or the break that ends it.
    argument: Option<u64>,
    /// How many bytes the argument takes after the first.
    width: usize,
}

const BREAK: u8 = 0xFF;

impl<'a> Decoder<'a> {
    fn item(&mut self, depth: usize) -> Option<Item<'a>> {
        let start = self.at();
        let head = self.head()?;
        let data = self.data(&head, depth)?;
        Some(Item { raw: self.whole.get(start..self.at())?, data })
    }

    fn at(&self) -> usize {
        self.whole.len() - self.reader.left()
    }

    fn head(&mut self) -> Option<Head> {
        let first = self.reader.byte()?;
        let (major, info) = (first >> 5, first & 0x1F);
        let (argument, width) = match info {
            0..=23 => (Some(info.into()), 0),
            24 => (Some(self.reader.byte()?.into()), 1),
            25 => (Some(u16::from_be_bytes(self.reader.array()?).into()), 2),
            26 => (Some(u32::from_be_bytes(self.reader.array()?).into()), 4),
            27 => (Some(u64::from_be_bytes(self.reader.array()?)), 8),
            31 if self.indefinite => (None, 0),
            _ => return None,
        };
        Some(Head { major, argument, width })
    }

    fn data(&mut self, head: &Head, depth: usize) -> Option<Data<'a>> {
        self.items = self.items.checked_sub(1)?;
        Some(match head.major {
            0 => Data::Uint(head.argument?),
            1 => Data::Negative(head.argument?),
            2 => Data::Bytes(self.string(head)?),
            3 => Data::Text(match self.string(head)? {
                Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
                Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
            }),
            4 => Data::List(self.members(head, |decoder| decoder.item(depth.checked_sub(1)?))?),
            5 => Data::Map(self.members(head, |decoder| Some((decoder.item(depth.checked_sub(1)?)?, decoder.item(depth.checked_sub(1)?)?)))?),
            6 => Data::Tag(head.argument?, Box::new(self.item(depth.checked_sub(1)?)?)),
            _ => simple_or_float(head)?,
        })
    }

    /// A string of one definite length, or of chunks of its own kind.
    fn string(&mut self, head: &Head) -> Option<Cow<'a, [u8]>> {
        if let Some(length) = head.argument {
            return self.reader.take(length.try_into().ok()?).map(Cow::Borrowed);
        }
        let mut joined = Vec::new();
        while !self.at_break() {
            let chunk = self.head().filter(|chunk| chunk.major == head.major)?;
            joined.extend(self.reader.take(chunk.argument?.try_into().ok()?)?);
        }
        self.reader.byte()?;
        Some(Cow::Owned(joined))
    }

    /// The members of an array or a map.
    fn members<T>(&mut self, head: &Head, mut member: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut members = Vec::new();
        if let Some(count) = head.argument {
            // Each takes a byte at least, so a count past the end stops there.
            for _ in 0..count {
                members.push(member(self)?);
            }
        } else {
            while !self.at_break() {
                members.push(member(self)?);
            }
            self.reader.byte()?;
        }
        Some(members)
    }

    /// Whether the next byte ends an indefinite length.
    fn at_break(&self) -> bool {
        self.reader.clone().byte() == Some(BREAK)
    }
}

fn simple_or_float<'a>(head: &Head) -> Option<Data<'a>> {
    let argument = head.argument?;
    // The casts are exact: the argument has the width.
    #[allow(clippy::cast_possible_truncation)]
    Some(match head.width {
        0 => Data::Simple(argument as u8),
        // A value below 32 has no second form.
        1 if argument >= 32 => Data::Simple(argument as u8),
        2 => Data::Float(half(argument as u16)),
        4 => Data::Float(f32::from_bits(argument as u32).into()),
        8 => Data::Float(f64::from_bits(argument)),
        _ => return None,
    })
}

/// A half-precision float, from its bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 0x1F, f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => fraction * (-24_f64).exp2(),
        0x1F if fraction > 0.0 => f64::NAN,
        0x1F => f64::INFINITY,
        _ => (1024.0 + fraction) * (f64::from(exponent) - 25.0).exp2(),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Bounds = Bounds { indefinite: true, depth: 64, items: usize::MAX };
    const DEFINITE: Bounds = Bounds { indefinite: false, depth: 8, items: 256 };

    /// An item as it is to be written: the width of its head, and `None` for an indefinite one.
    #[derive(Clone, Debug)]
    enum Tree {
        Number(u8, u64, usize),
        String(bool, Vec<Vec<u8>>, Option<usize>),
        List(Vec<Tree>, Option<usize>),
        Map(Vec<(Tree, Tree)>, Option<usize>),
        Tag(u64, usize, Box<Tree>),
        Other(Vec<u8>),
    }

    /// A head of at least that width.
    fn head(major: u8, number: u64, width: usize) -> Vec<u8> {
        let least = match number {
            0..24 => 0,
            24..0x100 => 1,
            0x100..0x1_0000 => 2,
            0x1_0000..0x1_0000_0000 => 4,
            _ => 8,
        };
        let width = width.max(least);
        let info = [u8::try_from(number).unwrap_or(0), 24, 25, 0, 26, 0, 0, 0, 27][width];
        [&[major << 5 | info], &number.to_be_bytes()[8 - width..]].concat()
    }

    fn length(major: u8, number: usize, width: Option<usize>) -> Vec<u8> {
        width.map_or(vec![major << 5 | 31], |width| head(major, number as u64, width))
    }

    impl Tree {
        fn written(&self) -> Vec<u8> {
            let end = |width: &Option<usize>| if width.is_none() { vec![BREAK] } else { vec![] };
            match self {
                Self::Number(major, number, width) => head(*major, *number, *width),
                Self::String(text, chunks, None) => {
                    let major = 2 + u8::from(*text);
                    let chunks: Vec<_> = chunks.iter().map(|chunk| [head(major, chunk.len() as u64, 0), chunk.clone()].concat()).collect();
                    [length(major, 0, None), chunks.concat(), vec![BREAK]].concat()
                }
                Self::String(text, chunks, width) => {
                    let joined = chunks.concat();
                    [length(2 + u8::from(*text), joined.len(), *width), joined].concat()
                }
                Self::List(items, width) => {
                    let items: Vec<_> = items.iter().map(Self::written).collect();
                    [length(4, items.len(), *width), items.concat(), end(width)].concat()
                }
                Self::Map(entries, width) => {
                    let entries: Vec<_> = entries.iter().map(|(key, value)| [key.written(), value.written()].concat()).collect();
                    [length(5, entries.len(), *width), entries.concat(), end(width)].concat()
                }
                Self::Tag(tag, width, item) => [head(6, *tag, *width), item.written()].concat(),
                Self::Other(bytes) => bytes.clone(),
            }
        }

        fn holds(&self, item: &Item<'_>) -> bool {
            item.raw == self.written()
                && match (self, &item.data) {
                    (Self::Number(0, number, _), Data::Uint(read)) | (Self::Number(_, number, _), Data::Negative(read)) => number == read,
                    (Self::String(false, chunks, _), Data::Bytes(bytes)) => **bytes == chunks.concat(),
                    (Self::String(true, chunks, _), Data::Text(text)) => text.as_bytes() == chunks.concat(),
                    (Self::List(trees, _), Data::List(items)) => {
                        trees.len() == items.len() && trees.iter().zip(items).all(|(tree, item)| tree.holds(item))
                    }
                    (Self::Map(trees, _), Data::Map(entries)) => {
                        trees.len() == entries.len()
                            && trees.iter().zip(entries).all(|(tree, entry)| tree.0.holds(&entry.0) && tree.1.holds(&entry.1))
                    }
                    (Self::Tag(tag, _, tree), Data::Tag(read, item)) => tag == read && tree.holds(item),
                    (Self::Other(_), Data::Simple(_) | Data::Float(_)) => true,
                    _ => false,
                }
        }
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let width = prop::sample::select(vec![0, 1, 2, 4, 8]);
        let number = prop_oneof![any::<u64>(), 0..300_u64];
        let maybe = prop::option::of(width.clone());
        let chunks = prop::collection::vec("\\PC{0,9}".prop_map(String::into_bytes), 0..3);
        let other = prop_oneof![
            (0..24_u8).prop_map(|value| vec![0xE0 | value]),
            (32..=255_u8).prop_map(|value| vec![0xF8, value]),
            any::<[u8; 2]>().prop_map(|bits| [&[0xF9], &bits[..]].concat()),
            any::<[u8; 8]>().prop_map(|bits| [&[0xFB], &bits[..]].concat()),
        ];
        let leaf = prop_oneof![
            (0..2_u8, number.clone(), width.clone()).prop_map(|(major, number, width)| Tree::Number(major, number, width)),
            (any::<bool>(), chunks, maybe.clone()).prop_map(|(text, chunks, width)| Tree::String(text, chunks, width)),
            other.prop_map(Tree::Other),
        ];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            prop_oneof![
                (prop::collection::vec(inner.clone(), 0..5), maybe.clone()).prop_map(|(items, width)| Tree::List(items, width)),
                (prop::collection::vec((inner.clone(), inner.clone()), 0..4), maybe.clone()).prop_map(|(entries, width)| Tree::Map(entries, width)),
                (number.clone(), width.clone(), inner).prop_map(|(tag, width, item)| Tree::Tag(tag, width, Box::new(item))),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_was_written(tree in tree()) {
            let data = tree.written();
            let item = Item::read(&data, ALL).unwrap();
            prop_assert!(tree.holds(&item));
            let longer = [&data[..], &[0]].concat();
            prop_assert_eq!(Item::read(&longer, ALL), None);
            prop_assert_eq!(Item::read(&data[..data.len() - 1], ALL), None);
        }

        #[test]
        fn any_bytes(data in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(item) = Item::read(&data, ALL) {
                prop_assert_eq!(item.raw, &*data);
                for rule in [Same::Written, Same::Decoded] {
                    prop_assert_eq!(item.identity(rule), Item::read(item.raw, ALL).unwrap().identity(rule));
                }
            }
        }
    }

    fn same(a: &[u8], b: &[u8]) -> [bool; 2] {
        let [a, b] = [a, b].map(|data| Item::read(data, ALL).unwrap());
        [Same::Written, Same::Decoded].map(|rule| a.identity(rule) == b.identity(rule))
    }

    #[test]
    fn keys() {
        assert_eq!(same(b"\x01", b"\x18\x01"), [true, true]);
        assert_eq!(same(b"\x01", b"\x20"), [false, false]);
        assert_eq!(same(b"\x61a", b"\x41a"), [false, false]);
        assert_eq!(same(b"\x7f\x61a\x61b\xff", b"\x62ab"), [true, true]);
        assert_eq!(same(b"\x64\xef\xbb\xbfa", b"\x61a"), [false, true]);
        assert_eq!(same(b"\xf9\x3c\x00", b"\xf9\x40\x00"), [false, true]);
        assert_eq!(same(b"\xf9\x3c\x00", b"\xfb\x3f\xf0\0\0\0\0\0\0"), [true, true]);
        assert_eq!(same(b"\xf9\x00\x01", b"\xfb\x3e\x70\0\0\0\0\0\0"), [true, true]);
        assert_eq!(same(b"\xf9\x7c\x00", b"\xfa\x7f\x80\0\0"), [true, true]);
        assert_eq!(same(b"\xf9\x7e\x01", b"\xf9\xfe\x00"), [true, true]);
        assert_eq!(same(b"\xf9\x00\x00", b"\xf9\x80\x00"), [false, true]);
        assert_eq!(same(b"\xa2\x01\x01\x02\x02", b"\xa2\x02\x02\x01\x01"), [true, false]);
        assert_eq!(same(b"\xc1\x05", b"\xc2\x05"), [false, false]);
        assert_eq!(same(b"\x80", b"\x9f\xff"), [true, true]);
    }

    #[test]
    fn refuses_what_is_no_item() {
        for data in [
            &b""[..],
            b"\xff",
            b"\x1c",
            b"\x1f",
            b"\xdf\x00",
            b"\x81",
            b"\x81\xff",
            b"\xbf\x01\xff",
            b"\x5f\x61a\xff",
            b"\x7f\x7f\x61a\xff\xff",
            b"\x61\xff",
            b"\x63\xed\xa0\x80",
            b"\xf8\x1f",
            b"\xfb\x00",
            b"\x7b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x00\x00",
        ] {
            assert_eq!(Item::read(data, ALL), None, "{data:02x?}");
        }
    }

    #[test]
    fn bounds() {
        let nested = |lists: usize| [vec![0x81; lists], vec![0]].concat();
        assert!(Item::read(&nested(8), DEFINITE).is_some());
        assert_eq!(Item::read(&nested(9), DEFINITE), None);
        assert!(Item::read(&nested(64), ALL).is_some());
        assert_eq!(Item::read(&nested(65), ALL), None);
        let wide = |items: u8| [vec![0x98, items], vec![0; items.into()]].concat();
        assert!(Item::read(&wide(255), DEFINITE).is_some());
        assert_eq!(Item::read(&[&[0x81], &*wide(255)].concat(), DEFINITE), None);
        for data in [&b"\x9f\xff"[..], b"\xbf\xff", b"\x7f\xff", b"\x5f\xff"] {
            assert!(Item::read(data, ALL).is_some());
            assert_eq!(Item::read(data, DEFINITE), None);
        }
    }
}
