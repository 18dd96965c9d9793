//! SCALE's compact integers, in their one shortest form.

use crate::wire::bytes::Reader;

/// Writes a compact integer.
pub fn put(bytes: &mut Vec<u8>, value: u128) {
    let shifted = value << 2;
    match value {
        0..0x40 => bytes.extend(&shifted.to_le_bytes()[..1]),
        0x40..0x4000 => bytes.extend(&(shifted | 1).to_le_bytes()[..2]),
        0x4000..0x4000_0000 => bytes.extend(&(shifted | 2).to_le_bytes()[..4]),
        _ => {
            let length = (u128::BITS - value.leading_zeros()).div_ceil(8);
            bytes.push(((length - 4) << 2 | 3).to_le_bytes()[0]);
            bytes.extend(value.to_le_bytes().iter().take(length as usize));
        }
    }
}

/// Reads a compact integer below 2^128; `None` if it is longer than it need be.
pub fn read(reader: &mut Reader<'_>) -> Option<u128> {
    let first = reader.byte()?;
    let (more, least) = match first & 3 {
        0 => return Some(u128::from(first >> 2)),
        1 => (1, 0x40),
        2 => (3, 0x4000),
        _ => {
            let length = usize::from(first >> 2) + 4;
            // A last byte of zero need not be there.
            let least = if length == 4 { 0x4000_0000 } else { 1 << (8 * (length - 1)).min(127) };
            let bytes = reader.take(length)?;
            return Some(little_endian(bytes.get(..length).filter(|_| length <= 16)?)).filter(|&value| value >= least);
        }
    };
    let rest = little_endian(reader.take(more)?);
    Some(rest << 6 | u128::from(first >> 2)).filter(|&value| value >= least)
}

/// At most 16 bytes.
fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding;

    fn read_all(bytes: &[u8]) -> Option<u128> {
        let mut reader = Reader::new(bytes);
        read(&mut reader).filter(|_| reader.left() == 0)
    }

    #[test]
    fn known_integers() {
        for (value, hex) in [
            (0, "0x00"),
            (63, "0xfc"),
            (64, "0x0101"),
            (16_383, "0xfdff"),
            (16_384, "0x02000100"),
            ((1 << 30) - 1, "0xfeffffff"),
            (1 << 30, "0x0300000040"),
            (u128::from(u32::MAX), "0x03ffffffff"),
            (1 << 32, "0x070000000001"),
            (u128::from(u64::MAX), "0x13ffffffffffffffff"),
            (u128::MAX, "0x33ffffffffffffffffffffffffffffffff"),
        ] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(encoding::hex(&bytes), hex, "{value}");
            assert_eq!(read_all(&bytes), Some(value));
        }
    }

    #[test]
    fn only_the_shortest_form() {
        for hex in [
            "0x",
            "0x01",
            "0xfd00",
            "0x02000000",
            "0xfeff0000",
            "0x03ffffff3f",
            "0x070000004000",
            "0x0700000000",
            "0x37ffffffffffffffffffffffffffffffff00",
            "0xff",
        ] {
            assert_eq!(read_all(&encoding::from_hex(hex).unwrap()), None, "{hex}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(value: u128, shift in 0..128u32) {
            let mut bytes = Vec::new();
            put(&mut bytes, value >> shift);
            prop_assert_eq!(read_all(&bytes), Some(value >> shift));
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Some(value) = read_all(&bytes) {
                let mut again = Vec::new();
                put(&mut again, value);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
