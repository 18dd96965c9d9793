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
