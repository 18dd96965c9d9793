//! The ledger's binary format: an object's fields, in the order of their codes.

use super::fields::{
    ACCOUNT, ARRAY_END, FEE_AMOUNT_DELTA, LEDGER_ENTRY_TYPE, OBJECT_END, PERMISSION_VALUE, TRANSACTION_RESULT, TRANSACTION_TYPE, UNL_MODIFY,
    is_field, is_ledger_entry_type, is_permission, is_result, is_transaction_type,
};
use crate::wire::bytes::Reader;

/// A field's code: its type, and its number among the fields of that type.
pub type Code = (u8, u8);

/// How deep a field may stand; those of the transaction itself are at level 1.
const MAX_LEVEL: usize = 10;

/// Most drops there can be.
const MAX_DROPS: u64 = 100_000_000_000_000_000;

/// The fields of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object<'a>(Vec<(Code, Content<'a>)>);

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A value's bytes, without the length before them.
    Bytes(&'a [u8]),
    /// An object.
    Object(Object<'a>),
    /// Objects, each under a name.
    Array(Vec<(Code, Object<'a>)>),
}

impl<'a> Object<'a> {
    /// Reads an object that is all of the bytes.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut object = Self::default();
        while reader.left() > 0 {
            let code = code(&mut reader)?;
            object.take_field(code, &mut reader, 1)?;
        }
        Some(object)
    }

    /// Takes the fields of an object up to its end.
    fn take(reader: &mut Reader<'a>, level: usize) -> Option<Self> {
        let mut object = Self::default();
        loop {
            match code(reader)? {
                OBJECT_END => return Some(object),
                code => object.take_field(code, reader, level)?,
            }
        }
    }

    fn take_field(&mut self, code: Code, reader: &mut Reader<'a>, level: usize) -> Option<()> {
        let in_order = self.0.last().is_none_or(|(last, _)| *last < code);
        if level > MAX_LEVEL || !is_field(code) || !in_order {
            return None;
        }
        let content = match code.0 {
            14 => Content::Object(Self::take(reader, level + 1)?),
            15 => Content::Array(members(reader, level + 1)?),
            _ => Content::Bytes(self.value(code, reader)?),
        };
        self.0.push((code, content));
        Some(())
    }

    /// Takes the bytes of a field that is neither an object nor an array.
    fn value(&self, code: Code, reader: &mut Reader<'a>) -> Option<&'a [u8]> {
        let mut start = *reader;
        match code.0 {
            1 => {
                let number = reader.array().map(u16::from_be_bytes)?;
                let known = match code {
                    LEDGER_ENTRY_TYPE => is_ledger_entry_type(number),
                    TRANSACTION_TYPE => is_transaction_type(number),
                    _ => true,
                };
                known.then_some(())?;
            }
            2 => {
                reader.array().map(u32::from_be_bytes).filter(|&number| code != PERMISSION_VALUE || is_permission(number))?;
            }
            16 => {
                reader.byte().filter(|&number| code != TRANSACTION_RESULT || is_result(number))?;
            }
            10 => fixed(reader, 4)?,
            3 => fixed(reader, 8)?,
            4 => fixed(reader, 16)?,
            17 | 26 => fixed(reader, 20)?,
            21 => fixed(reader, 24)?,
            5 => fixed(reader, 32)?,
            6 => amount(reader, code)?,
            9 => number(reader)?,
            18 => paths(reader)?,
            24 => issue(reader)?,
            25 => bridge(reader)?,
            7 => return variable(reader),
            8 => {
                // A change of the servers that are trusted is of no account.
                let length = if code == ACCOUNT && self.is_unl_modify() { 0 } else { 20 };
                return variable(reader).filter(|account| account.len() == length);
            }
            19 => return variable(reader).filter(|hashes| hashes.len().is_multiple_of(32)),
            _ => return None,
        }
        start.take(start.left() - reader.left())
    }

    fn is_unl_modify(&self) -> bool {
        self.bytes(TRANSACTION_TYPE) == Some(&UNL_MODIFY.to_be_bytes()[..])
    }

    /// The fields, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Code, &Content<'a>)> {
        self.0.iter().map(|(code, content)| (*code, content))
    }

    /// The content of a field.
    pub fn get(&self, code: Code) -> Option<&Content<'a>> {
        self.0.iter().find(|(field, _)| *field == code).map(|(_, content)| content)
    }

    /// The bytes of a field that is a value.
    pub fn bytes(&self, code: Code) -> Option<&'a [u8]> {
        match self.get(code)? {
            Content::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The members of a field that is an array.
    pub fn array(&self, code: Code) -> Option<&[(Code, Object<'a>)]> {
        match self.get(code)? {
            Content::Array(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a field that has a fixed width.
    pub(super) fn fixed<const N: usize>(&self, code: Code) -> Option<[u8; N]> {
        self.bytes(code)?.try_into().ok()
    }
}

/// Takes the members of an array up to its end. They are objects.
fn members<'a>(reader: &mut Reader<'a>, level: usize) -> Option<Vec<(Code, Object<'a>)>> {
    let mut members = Vec::new();
    loop {
        match code(reader)? {
            ARRAY_END => return Some(members),
            code @ (14, _) if level <= MAX_LEVEL && is_field(code) => members.push((code, Object::take(reader, level + 1)?)),
            _ => return None,
        }
    }
}

/// Takes a field's code. A number below 16 is written in half a byte, never in a byte of its own.
fn code(reader: &mut Reader<'_>) -> Option<Code> {
    let byte = reader.byte()?;
    let mut part = |half: u8| if half == 0 { reader.byte().filter(|&byte| byte >= 16) } else { Some(half) };
    Some((part(byte >> 4)?, part(byte & 0x0F)?))
}

fn fixed(reader: &mut Reader<'_>, count: usize) -> Option<()> {
    reader.take(count).map(|_| ())
}

/// Takes bytes with their length before them, in one to three bytes.
fn variable<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let first = usize::from(reader.byte()?);
    let mut next = || reader.byte().map(usize::from);
    let length = match first {
        0..=192 => first,
        193..=240 => 193 + ((first - 193) << 8) + next()?,
        241..=254 => 12_481 + ((first - 241) << 16) + (next()? << 8) + next()?,
        _ => return None,
    };
    reader.take(length)
}

/// Takes an amount: drops, tokens of an issuer, or of an issuance (MPT).
fn amount(reader: &mut Reader<'_>, code: Code) -> Option<()> {
    const ISSUED: u64 = 1 << 63;
    const POSITIVE: u64 = 1 << 62;
    const OF_ISSUANCE: u64 = 1 << 61;
    let mut ahead = *reader;
    let head = ahead.array().map(u64::from_be_bytes)?;
    let is_delta = code == FEE_AMOUNT_DELTA;
    if head & ISSUED != 0 {
        let exponent = head << 2 >> 56;
        let mantissa = head << 10 >> 10;
        // As the ledger writes it: sixteen digits, times ten to the exponent less 97.
        let normal = (1_000_000_000_000_000..10_000_000_000_000_000).contains(&mantissa) && (1..=177).contains(&exponent);
        (!is_delta && (head == ISSUED || normal)).then_some(())?;
        // The head, a currency, the issuer.
        fixed(reader, 48)
    } else if head & OF_ISSUANCE != 0 {
        let signs = reader.byte()?;
        let value = reader.array().map(u64::from_be_bytes)?;
        (!is_delta && signs == 0x60 && value >> 63 == 0).then_some(())?;
        fixed(reader, 24)
    } else {
        let drops = head & !POSITIVE;
        let signed = head & POSITIVE != 0 || is_delta && drops != 0;
        (signed && drops <= MAX_DROPS).then_some(())?;
        fixed(reader, 8)
    }
}

/// Takes a number: a mantissa of 19 digits, and the exponent of ten. Where the mantissa's last digit does not fit, it is
/// dropped.
fn number(reader: &mut Reader<'_>) -> Option<()> {
    const LEAST: u64 = 1_000_000_000_000_000_000;
    /// The greatest mantissa of 64 bits without its last digit.
    const TENTH: u64 = i64::MAX.unsigned_abs() / 10;
    let mantissa = reader.array().map(i64::from_be_bytes)?.unsigned_abs();
    let exponent = reader.array().map(i32::from_be_bytes)?;
    let normal = match mantissa {
        0 => exponent == i32::MIN,
        LEAST..=0x7FFF_FFFF_FFFF_FFFF => (-32_768..=32_768).contains(&exponent),
        _ => mantissa > TENTH && mantissa < LEAST && (-32_767..=32_768).contains(&exponent),
    };
    normal.then_some(())
}

/// Takes paths: steps by account, currency or issuer.
fn paths(reader: &mut Reader<'_>) -> Option<()> {
    const PATH_END: u8 = 0xFF;
    const PATHS_END: u8 = 0x00;
    // Whether a step stands before: no path is empty.
    let mut begun = false;
    loop {
        match reader.byte()? {
            PATHS_END if begun => return Some(()),
            PATH_END if begun => begun = false,
            step if step != 0 && step & !0x31 == 0 => {
                for _ in 0..step.count_ones() {
                    fixed(reader, 20)?;
                }
                begun = true;
            }
            _ => return None,
        }
    }
}

/// Takes the kind of an amount: XRP, which is all zeros, a currency and its issuer, or an issuance.
fn issue(reader: &mut Reader<'_>) -> Option<()> {
    /// No account, which stands for the issuer of an issuance; its number follows.
    const NO_ACCOUNT: [u8; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let currency: [u8; 20] = reader.array()?;
    if currency != [0; 20] && reader.array()? == NO_ACCOUNT {
        fixed(reader, 4)?;
    }
    Some(())
}

/// Takes a bridge: the doors of both chains, each with what passes it.
fn bridge(reader: &mut Reader<'_>) -> Option<()> {
    for _ in 0..2 {
        variable(reader).filter(|door| door.len() == 20)?;
        issue(reader)?;
    }
    Some(())
}
