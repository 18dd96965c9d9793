//! BCS, the binary canonical serialization of Move's networks, where each value has one form: counts as ULEB128 in the
//! shortest form, booleans and options 0 or 1. Integers are of fixed width, little-endian.
//!
//! Read here by hand, piece by piece: of a payment only what decides is read, and what another kind of it holds is not.

use super::bytes::Reader;

/// A count or the number of an enum's variant: ULEB128 below 2^32 in its shortest form.
pub fn uleb(reader: &mut Reader<'_>) -> Option<u32> {
    let mut value = 0u64;
    for place in 0..5 {
        let byte = reader.byte()?;
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            let shortest = byte != 0 || place == 0;
            return u32::try_from(value).ok().filter(|_| shortest);
        }
    }
    None
}

/// Bytes behind their count.
pub fn bytes<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let count = uleb(reader)?;
    reader.take(count.try_into().ok()?)
}

/// UTF-8 behind the count of its bytes.
pub fn text<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    std::str::from_utf8(bytes(reader)?).ok()
}

/// A boolean.
pub fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.byte()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// An item, or none.
pub fn option<'a, T>(reader: &mut Reader<'a>, item: impl FnOnce(&mut Reader<'a>) -> Option<T>) -> Option<Option<T>> {
    if flag(reader)? { item(reader).map(Some) } else { Some(None) }
}

/// Items behind their count. An item takes at least a byte.
pub fn list<'a, T>(reader: &mut Reader<'a>, mut item: impl FnMut(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
    let count = usize::try_from(uleb(reader)?).ok().filter(|&count| count <= reader.left())?;
    (0..count).map(|_| item(reader)).collect()
}

/// An integer.
pub fn uint64(reader: &mut Reader<'_>) -> Option<u64> {
    reader.array().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a, T>(bytes: &'a [u8], item: impl FnOnce(&mut Reader<'a>) -> Option<T>) -> Option<T> {
        item(&mut Reader::new(bytes))
    }

    #[test]
    fn counts_are_in_their_shortest_form() {
        for (bytes, value) in [
            ([0].as_slice(), Some(0)),
            (&[0x7F], Some(127)),
            (&[0x80, 1], Some(128)),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], Some(u32::MAX)),
            (&[0x80, 0], None),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], None),
            (&[0x82, 0x80, 0x80, 0x80, 0x80, 0], None),
            (&[0x80], None),
            (&[], None),
        ] {
            assert_eq!(read(bytes, uleb), value, "{bytes:?}");
        }
    }

    #[test]
    fn values_have_one_form() {
        assert_eq!(read(&[2, 5, 6, 7], bytes), Some([5, 6].as_slice()));
        assert_eq!(read(&[4, 5, 6, 7], bytes), None);
        assert_eq!((read(&[2, 0xC3, 0xA9], text), read(&[1, 0xFF], text)), (Some("é"), None));
        assert_eq!([[0], [1], [2]].map(|byte| read(&byte, flag)), [Some(false), Some(true), None]);
        assert_eq!((read(&[1, 9], |reader| option(reader, flag)), read(&[0], |reader| option(reader, flag))), (None, Some(None)));
        assert_eq!(read(&[2, 1, 0], |reader| list(reader, flag)), Some(vec![true, false]));
        // A count past the bytes is refused before room is made.
        assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1], |reader| list(reader, flag)), None);
        assert_eq!(read(&[1, 0, 0, 0, 0, 0, 0, 0x80], uint64), Some((1 << 63) + 1));
    }

    proptest! {
        /// A count that is read is the one form of its value.
        #[test]
        fn uleb_round_trip(value: u32, bytes in prop::collection::vec(any::<u8>(), 0..7)) {
            fn write(mut value: u32) -> Vec<u8> {
                let mut bytes = Vec::new();
                while value >= 0x80 {
                    bytes.push(value.to_le_bytes()[0] | 0x80);
                    value >>= 7;
                }
                bytes.push(value.to_le_bytes()[0]);
                bytes
            }
            prop_assert_eq!(read(&write(value), uleb), Some(value));
            let mut reader = Reader::new(&bytes);
            if let Some(value) = uleb(&mut reader) {
                prop_assert_eq!(&bytes[..bytes.len() - reader.left()], write(value));
            }
        }
    }
}
