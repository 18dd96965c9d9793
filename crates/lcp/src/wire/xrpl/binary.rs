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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        encoding,
        wire::xrpl::{Transaction, account_id, channel, hash, hex},
    };

    /// Writes an object's fields.
    fn encode(object: &Object<'_>, to: &mut Vec<u8>) {
        for (code, content) in object.iter() {
            encode_code(code, to);
            match content {
                Content::Bytes(bytes) => {
                    if matches!(code.0, 7 | 8 | 19) {
                        encode_length(bytes.len(), to);
                    }
                    to.extend(*bytes);
                }
                Content::Object(object) => encode_member(object, to),
                Content::Array(members) => {
                    for (code, member) in members {
                        encode_code(*code, to);
                        encode_member(member, to);
                    }
                    encode_code(ARRAY_END, to);
                }
            }
        }
    }

    fn encode_member(object: &Object<'_>, to: &mut Vec<u8>) {
        encode(object, to);
        encode_code(OBJECT_END, to);
    }

    fn encode_code((kind, nth): Code, to: &mut Vec<u8>) {
        let half = |number: u8| if number < 16 { number } else { 0 };
        to.push(half(kind) << 4 | half(nth));
        to.extend([kind, nth].iter().filter(|number| **number >= 16));
    }

    fn encode_length(length: usize, to: &mut Vec<u8>) {
        let byte = |number: usize| u8::try_from(number).unwrap();
        match length {
            0..=192 => to.push(byte(length)),
            193..=12_480 => to.extend([byte(193 + ((length - 193) >> 8)), byte((length - 193) & 0xFF)]),
            _ => to.extend([byte(241 + ((length - 12_481) >> 16)), byte(((length - 12_481) >> 8) & 0xFF), byte((length - 12_481) & 0xFF)]),
        }
    }

    /// The bytes of one field.
    fn field(code: Code, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_code(code, &mut bytes);
        bytes.extend(value);
        bytes
    }

    fn reads(code: Code, value: &[u8]) -> bool {
        let bytes = field(code, value);
        let Some(object) = Object::read(&bytes) else { return false };
        let mut again = Vec::new();
        encode(&object, &mut again);
        assert_eq!(again, bytes);
        true
    }

    #[test]
    fn codes_are_in_their_shortest_form() {
        assert!(reads((2, 2), &[0; 4]) && reads((2, 27), &[0; 4]) && reads((16, 1), &[0]) && reads((16, 16), &[0]));
        for loose in [&[0x20, 2, 0, 0, 0, 0][..], &[0x00, 2, 2, 0, 0, 0, 0], &[0x01, 2, 0, 0], &[0x00, 16, 1, 0]] {
            assert_eq!(Object::read(loose), None, "{loose:?}");
        }
        // Fields that there are not, among them the ends of objects and arrays.
        for (code, value) in [((2, 45), &[0; 4][..]), ((2, 81), &[0; 4]), ((11, 1), &[0; 8]), ((14, 1), &[]), ((15, 1), &[]), ((20, 1), &[0; 12])] {
            assert!(!reads(code, value), "{code:?}");
        }
    }

    #[test]
    fn fields_stand_in_order_and_once() {
        let fields = [field((2, 2), &[0; 4]), field((2, 4), &[0; 4]), field((16, 1), &[0])];
        let read = |order: &[usize]| Object::read(&order.iter().flat_map(|&nth| fields[nth].clone()).collect::<Vec<_>>()).is_some();
        assert!(read(&[]) && read(&[0, 1, 2]) && read(&[0, 2]));
        assert!(!read(&[1, 0]) && !read(&[2, 0]) && !read(&[0, 0]));
    }

    #[test]
    fn amounts_are_normal() {
        const AMOUNT: Code = (6, 1);
        let head = |head: u64| head.to_be_bytes().to_vec();
        let drops = |drops: u64| head(drops | 1 << 62);
        assert!(reads(AMOUNT, &drops(0)) && reads(AMOUNT, &drops(MAX_DROPS)));
        assert!(!reads(AMOUNT, &drops(MAX_DROPS + 1)) && !reads(AMOUNT, &head(5)) && !reads(AMOUNT, &head(0)));
        assert!(reads(FEE_AMOUNT_DELTA, &head(5)) && reads(FEE_AMOUNT_DELTA, &drops(0)) && !reads(FEE_AMOUNT_DELTA, &head(0)));

        let issued = |mantissa: u64, exponent: i64, sign: u64| {
            let exponent = u64::try_from(exponent + 97).unwrap();
            [head(1 << 63 | sign << 62 | exponent << 54 | mantissa), vec![7; 40]].concat()
        };
        let (least, greatest) = (1_000_000_000_000_000, 9_999_999_999_999_999);
        for (mantissa, exponent) in [(least, -96), (greatest, 80)] {
            assert!(reads(AMOUNT, &issued(mantissa, exponent, 1)) && reads(AMOUNT, &issued(mantissa, exponent, 0)));
            assert!(!reads(FEE_AMOUNT_DELTA, &issued(mantissa, exponent, 1)));
        }
        for (mantissa, exponent) in [(least - 1, 0), (greatest + 1, 0), (least, -97), (least, 81), (0, 0)] {
            assert!(!reads(AMOUNT, &issued(mantissa, exponent, 1)), "{mantissa} {exponent}");
        }
        assert!(reads(AMOUNT, &[head(1 << 63), vec![7; 40]].concat()) && !reads(AMOUNT, &[head(3 << 62), vec![7; 40]].concat()));

        let of_issuance = |signs: u8, value: u64| [&[signs], &value.to_be_bytes()[..], &[7; 24]].concat();
        assert!(reads(AMOUNT, &of_issuance(0x60, 0)) && reads(AMOUNT, &of_issuance(0x60, (1 << 63) - 1)));
        for (signs, value) in [(0x20, 5), (0x61, 5), (0x60, 1 << 63)] {
            assert!(!reads(AMOUNT, &of_issuance(signs, value)));
        }
        assert!(!reads(FEE_AMOUNT_DELTA, &of_issuance(0x60, 5)));
    }

    #[test]
    fn numbers_are_normal() {
        let reads = |mantissa: i64, exponent: i32| reads((9, 1), &[&mantissa.to_be_bytes()[..], &exponent.to_be_bytes()].concat());
        assert!(reads(0, i32::MIN) && !reads(0, 0));
        let (least, cut) = (1_000_000_000_000_000_000, 922_337_203_685_477_581);
        for mantissa in [least, i64::MAX, cut, least - 1] {
            for sign in [1, -1] {
                assert!(reads(sign * mantissa, 32_768) && reads(sign * mantissa, -32_767));
                assert_eq!(reads(sign * mantissa, -32_768), mantissa >= least);
                assert!(!reads(sign * mantissa, 32_769) && !reads(sign * mantissa, -32_769));
            }
        }
        assert!(!reads(cut - 1, 0) && !reads(1, 0) && !reads(i64::MIN, 0));
    }

    #[test]
    fn paths_issues_bridges_and_lengths() {
        let step = |kinds: u8| [vec![kinds], vec![7; 20 * kinds.count_ones() as usize]].concat();
        let paths = |steps: &[&[u8]]| steps.concat();
        assert!(reads((18, 1), &paths(&[&step(0x31), &step(0x01), &[0xFF], &step(0x10), &[0]])));
        for refused in
            [&[0][..], &[0xFF], &paths(&[&step(1), &[0xFF, 0]]), &paths(&[&step(1)]), &paths(&[&step(0x40), &[0]]), &paths(&[&step(3), &[0]])]
        {
            assert!(!reads((18, 1), refused), "{refused:?}");
        }

        let no_account = [[0; 19].to_vec(), vec![1]].concat();
        let issuance = [vec![7; 20], no_account, vec![0; 4]].concat();
        assert!(reads((24, 3), &[0; 20]) && reads((24, 3), &[7; 40]) && reads((24, 3), &issuance));
        assert!(!reads((24, 3), &[7; 20]) && !reads((24, 3), &issuance[..40]) && !reads((24, 3), &[0; 40]));
        let door = |length: u8| [vec![length], vec![7; usize::from(length)]].concat();
        assert!(reads((25, 1), &[door(20), vec![0; 20], door(20), issuance].concat()));
        assert!(!reads((25, 1), &[door(19), vec![0; 20], door(20), vec![0; 20]].concat()));

        let variable = |length: usize| {
            let mut bytes = Vec::new();
            encode_length(length, &mut bytes);
            bytes.resize(bytes.len() + length, 7);
            bytes
        };
        for length in [0, 1, 192, 193, 448, 449, 12_480, 12_481, 918_744] {
            assert!(reads((7, 5), &variable(length)), "{length}");
        }
        assert!(!reads((7, 5), &[vec![255], vec![7; 300]].concat()) && !reads((7, 5), &[5, 7]));
        assert!(reads((19, 1), &variable(0)) && reads((19, 1), &variable(224)) && !reads((19, 1), &variable(31)));
        assert!(reads((8, 4), &variable(20)));
        for length in [0, 19, 21] {
            assert!(!reads((8, 4), &variable(length)));
        }
    }

    #[test]
    fn named_values_are_known() {
        assert!(reads(TRANSACTION_TYPE, &[0, 91]) && !reads(TRANSACTION_TYPE, &[0, 6]) && !reads(TRANSACTION_TYPE, &[0xFF, 0xFF]));
        assert!(reads(LEDGER_ENTRY_TYPE, &[0, 97]) && !reads(LEDGER_ENTRY_TYPE, &[0, 0]));
        assert!(reads(TRANSACTION_RESULT, &[100]) && !reads(TRANSACTION_RESULT, &[50]));
        let permission = |number: u32| reads(PERMISSION_VALUE, &number.to_be_bytes());
        assert!(permission(1) && permission(65_548) && !permission(0) && !permission(7) && !permission(65_536) && !permission(u32::MAX));
        // Only a change of the trusted servers is of no account.
        let account = |kind: u8, account: &[u8]| [field(TRANSACTION_TYPE, &[0, kind]), field(ACCOUNT, account)].concat();
        let full = [vec![20], vec![7; 20]].concat();
        assert!(Object::read(&account(102, &[0])).is_some() && Object::read(&account(102, &full)).is_none());
        assert!(Object::read(&account(101, &full)).is_some() && Object::read(&account(101, &[0])).is_none());
    }

    #[test]
    fn depth_is_bounded() {
        // Objects in objects, arrays of one object each.
        let objects = |depth: usize, inner: &[u8]| [&[0xEA].repeat(depth), inner, &[0xE1].repeat(depth)].concat();
        let arrays = |depth: usize, inner: &[u8]| [&[0xF9, 0xEA].repeat(depth), inner, &[0xE1, 0xF1].repeat(depth)].concat();
        let value = field((7, 13), &[1, 7]);
        let read = |bytes: &[u8]| Object::read(bytes).is_some();
        assert!(read(&objects(9, &value)) && !read(&objects(10, &value)) && read(&objects(10, &[])) && !read(&objects(11, &[])));
        assert!(read(&arrays(4, &value)) && !read(&arrays(5, &value)) && read(&arrays(5, &[])) && !read(&arrays(6, &[])));
        assert!(!read(&[0xEA].repeat(100_000)));
        // Ends that do not fit, and a member that is no object.
        for refused in [&[0xEA][..], &[0xEA, 0xF1], &[0xF9], &[0xF9, 0xE1], &[0xF9, 0x22, 0, 0, 0, 0, 0xF1], &[0xE1], &[0xF1]] {
            assert!(!read(refused), "{refused:?}");
        }
    }

    #[test]
    fn known_transactions_channels_and_claims() {
        // The example of the reference for serializing transactions, an OfferCreate.
        let blob = "120007220008000024001ABED82A2380BF2C2019001ABED764D55920AC9391400000000000000000000000000055534400000000000A20B3C85F482532A9578DBB3950B85CA06594D165400000037E11D60068400000000000000A732103EE83BB432547885C219634A1BC407A9DB0474145D69737D09CCDC63E1DEE7FE3744630440220143759437C04F7B61F012563AFE90D8DAFC46E86035E1D965A9CED282C97D4CE02204CFD241E86F17E011298FC1A39B63386C74306A5DE047E213B0F29EFA4571C2C8114DD76483FACDEE26E60D8A586BB58D09F27045C46";
        let blob = encoding::from_hex(&format!("0x{blob}")).unwrap();
        let transaction = Transaction::read(&blob).unwrap();
        assert!(!transaction.is_payment() && !transaction.is_multisigned() && transaction.network_id().is_none());
        assert_eq!(hex(&hash(&blob)), "73734B611DDA23D3F5F62E20A173B78AB8406AC5015094DA53F53D39B9EDB06C");
        let [account, payee] =
            ["rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD", "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe"].map(|address| account_id(address).unwrap());
        let id = channel::id(&account, &payee, 7);
        assert_eq!(hex(&id), "92ABF8261CCC54FB4A2F7A2349BCB7C2D839346CC3938C1F9686E5C8A18F827E");
        assert_eq!(hex(&channel::claim(&id, 258)), format!("434C4D00{}0000000000000102", hex(&id)));
    }

    proptest! {
        /// What is read is written as it was.
        #[test]
        fn round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..60), changed in 0..200usize, to: u8) {
            let check = |bytes: &[u8]| {
                if let Some(object) = Object::read(bytes) {
                    let mut again = Vec::new();
                    encode(&object, &mut again);
                    assert_eq!(again, bytes);
                }
            };
            check(&bytes);
            let memo = [vec![0xF9, 0xEA], field((7, 12), &[1, 7]), field((7, 13), &[2, 7, 7]), vec![0xE1, 0xF1]].concat();
            let mut object = [field((1, 2), &[0, 0]), field((6, 1), &[0x40, 0, 0, 0, 0, 0, 0, 9]), field((8, 1), &[&[20][..], &[7; 20]].concat()), memo].concat();
            check(&object);
            let place = changed % object.len();
            object[place] = to;
            check(&object);
        }
    }
}
