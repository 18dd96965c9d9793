//! Protocol Buffers: the fields of a message, and messages of few fields written.

/// A field's number is below this.
const MAX_NUMBER: u64 = 1 << 29;

/// A message's fields in the order in which they stand, whatever their numbers.
pub(super) struct Message<'a>(Vec<(u64, Content<'a>)>);

/// What a field holds.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    Varint(u64),
    /// A string, bytes or a message.
    Bytes(&'a [u8]),
    /// 4 or 8 bytes; no rail reads a field of that type.
    Fixed,
}

impl<'a> Message<'a> {
    /// Reads all fields; `None` if the bytes are none, or hold a group.
    pub(super) fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            let number = Some(key >> 3).filter(|number| (1..MAX_NUMBER).contains(number))?;
            let content = match key & 7 {
                0 => Content::Varint(varint(&mut bytes)?),
                1 => take(&mut bytes, 8).map(|_| Content::Fixed)?,
                2 => {
                    let length = varint(&mut bytes)?.try_into().ok()?;
                    Content::Bytes(take(&mut bytes, length)?)
                }
                5 => take(&mut bytes, 4).map(|_| Content::Fixed)?,
                _ => return None,
            };
            fields.push((number, content));
        }
        Some(Self(fields))
    }

    /// Every field: its number and what it holds.
    pub(super) fn fields(&self) -> impl Iterator<Item = (u64, Content<'a>)> {
        self.0.iter().copied()
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.0.iter().any(|&(other, _)| other == number)
    }

    /// The bytes of every field, if all are bytes of this number.
    pub(super) fn only(&self, number: u64) -> Option<Vec<&'a [u8]>> {
        self.0.iter().map(|&(other, content)| if other == number { content.bytes() } else { None }).collect()
    }

    /// The content of a field that stands at most once; `Err` if it stands twice.
    fn single(&self, number: u64) -> Result<Option<Content<'a>>, Repeated> {
        let mut of_number = self.0.iter().filter(|&&(other, _)| other == number);
        match (of_number.next(), of_number.next()) {
            (_, Some(_)) => Err(Repeated),
            (first, None) => Ok(first.map(|&(_, content)| content)),
        }
    }

    /// The bytes of a field that stands once.
    pub(super) fn bytes(&self, number: u64) -> Option<&'a [u8]> {
        self.single(number).ok()??.bytes()
    }

    /// The bytes of a field that stands at most once; where it is absent, none.
    pub(super) fn bytes_or_none(&self, number: u64) -> Option<&'a [u8]> {
        self.single(number).ok()?.map_or(Some(&[]), Content::bytes)
    }

    /// The number, not negative, of an `int64` or `int32` field that stands at most once; where it is absent, 0.
    pub(super) fn count(&self, number: u64) -> Option<u64> {
        match self.single(number).ok()? {
            None => Some(0),
            Some(Content::Varint(value)) => Some(value).filter(|value| *value < 1 << 63),
            Some(_) => None,
        }
    }
}

impl<'a> Content<'a> {
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Varint(_) | Self::Fixed => None,
        }
    }
}

/// A field stands more than once.
struct Repeated;

/// Takes a varint below 2^64, of at most 10 bytes; it may have more bytes than it needs.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7F);
        if place == 9 && part > 1 {
            return None;
        }
        value |= part << (7 * place);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    message.push(value.to_le_bytes()[0]);
}

/// Writes a number, unless it is 0, which is the default.
pub(super) fn put_uint(message: &mut Vec<u8>, number: u64, value: u64) {
    if value > 0 {
        put_varint(message, number << 3);
        put_varint(message, value);
    }
}

/// Writes an `sint64`, unless it is 0.
pub(super) fn put_sint(message: &mut Vec<u8>, number: u64, value: i64) {
    put_uint(message, number, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Writes a message, bytes or a string.
pub(super) fn put_bytes(message: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put_varint(message, number << 3 | 2);
    put_varint(message, bytes.len() as u64);
    message.extend(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Option<u64> {
        Message::read(bytes)?.count(1)
    }

    #[test]
    fn varints_stop_at_64_bits() {
        let of = |varint: &[u8]| Message::read(&[&[8], varint].concat()).map(|message| message.0.len());
        let nines = [0xFF; 9];
        assert_eq!(of(&[&nines[..], &[1]].concat()), Some(1));
        assert_eq!(of(&[&nines[..], &[2]].concat()), None);
        assert_eq!(of(&[&[0x80; 10][..], &[0]].concat()), None);
        assert_eq!(read(&[8, 0x85, 0x80, 0x80, 0]), Some(5));
        assert_eq!(read(&[0x88, 0x80, 0, 5]), Some(5));
        assert_eq!(read(&[8, 0x80]), None);
    }

    #[test]
    fn other_fields_are_passed_over() {
        let rest = [&[0xAD, 1, 1, 2, 3, 4][..], &[0xB1, 1, 1, 2, 3, 4, 5, 6, 7, 8], &[0xBA, 1, 1, 0xFF], &[0xC0, 1, 9]].concat();
        assert_eq!(read(&[&rest[..], &[8, 5]].concat()), Some(5));
        for cut in 1..rest.len() {
            let whole = [6, 16, 20].contains(&cut);
            assert_eq!(read(&rest[..cut]).is_some(), whole, "{cut}");
        }
        // Number 0, a number of 30 bits, the two ends of a group, a type that there is not.
        for refused in [&[0, 1][..], &[0x80, 0x80, 0x80, 0x80, 0x10, 1], &[0x0B], &[0x0C], &[0x0F, 0]] {
            assert!(Message::read(refused).is_none(), "{refused:?}");
        }
        assert!(Message::read(&[0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 1]).is_some());
    }

    #[test]
    fn a_field_that_is_read_stands_once_and_of_its_type() {
        assert_eq!(read(&[]), Some(0));
        for refused in [&[8, 1, 8, 1][..], &[9, 0, 0, 0, 0, 0, 0, 0, 0], &[0x0A, 0], &[0x0D, 0, 0, 0, 0]] {
            assert_eq!(read(refused), None, "{refused:?}");
        }
        let negative = [&[8][..], &[0xFF; 9], &[1]].concat();
        assert_eq!(read(&negative), None);
        let bytes = |message: &'static [u8]| Message::read(message).and_then(|message| message.bytes(1));
        assert_eq!(bytes(&[0x0A, 1, 7]), Some(&[7][..]));
        for refused in [&[][..], &[8, 1], &[0x0A, 0, 0x0A, 0]] {
            assert_eq!(bytes(refused), None);
        }
    }

    #[test]
    fn signs_alternate() {
        for (value, written) in [(-1, vec![8, 1]), (1, vec![8, 2]), (0, vec![]), (i64::MIN, [&[8][..], &[0xFF; 9], &[1]].concat())] {
            let mut message = Vec::new();
            put_sint(&mut message, 1, value);
            assert_eq!(message, written, "{value}");
        }
    }

    proptest! {
        #[test]
        fn reads_what_was_written(number in 1..MAX_NUMBER, value in 0..1_u64 << 63, bytes: Vec<u8>) {
            let mut message = Vec::new();
            put_uint(&mut message, number, value);
            put_bytes(&mut message, number % 9 + MAX_NUMBER - 9, &bytes);
            let read = Message::read(&message).unwrap();
            prop_assert_eq!(read.0.len(), 1 + usize::from(value > 0));
            if number < MAX_NUMBER - 9 {
                prop_assert_eq!(read.count(number), Some(value));
                prop_assert_eq!(read.bytes(number % 9 + MAX_NUMBER - 9), Some(&*bytes));
            }
        }

        #[test]
        fn is_total(bytes: Vec<u8>) {
            Message::read(&bytes);
        }
    }
}
