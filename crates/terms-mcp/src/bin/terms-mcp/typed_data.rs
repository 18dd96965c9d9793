//! The digest of EIP-712 typed data, strictly: nothing in the data goes unsigned, and nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use lcp::{Object, Value, encoding, json::MAX_DEPTH};
use sha3::{Digest, Keccak256};

/// Most struct types of typed data, and most members of one of them.
const MAX_TYPES: usize = 64;

/// Longest name of a type or a member, and longest text of a member's type.
const MAX_NAME: usize = 64;

const DOMAIN: &str = "EIP712Domain";

/// The domain's members, of which a domain that comes without its type has some, in this order.
const DOMAIN_MEMBERS: [(&str, &str); 5] =
    [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"), ("salt", "bytes32")];

type Word = [u8; 32];

/// The digest that is signed, of `typedData {domain, types, primaryType, message}`.
///
/// Integers are JSON numbers in the range that doubles name exactly, or decimal texts; bytes are `0x` hex; an address is
/// `0x` and 40 hex digits. A domain whose type is not among `types` has the standard one of its members. Fails, with a
/// sentence, on a type that is not defined, a member that is missing or that the type does not name, and a value that
/// does not fit its type.
pub(crate) fn digest(typed_data: &Value) -> Result<Word, String> {
    let [domain, types, primary, message] = members(typed_data, ["domain", "types", "primaryType", "message"])?;
    let domain = domain.as_object().ok_or("the domain is not an object")?;
    let types = Types::read(types.as_object().ok_or("types is not an object")?, domain)?;
    let primary = primary.as_str().filter(|&primary| primary != DOMAIN).ok_or("primaryType names no type of a message")?;
    let separator = types.hash_struct(DOMAIN, &domain.clone().into(), MAX_DEPTH).map_err(|error| format!("domain{error}"))?;
    let message = types.hash_struct(primary, message, MAX_DEPTH).map_err(|error| format!("message{error}"))?;
    Ok(keccak(&[&[0x19, 0x01], &separator, &message]))
}

/// The values of an object that has these members and no other.
pub(crate) fn members<'a, const N: usize>(value: &'a Value, names: [&str; N]) -> Result<[&'a Value; N], String> {
    let exactly = || format!("not an object of exactly {}", names.join(", "));
    let object = value.as_object().filter(|object| object.len() == N).ok_or_else(exactly)?;
    let values: Vec<&Value> = names.iter().filter_map(|name| object.get(name)).collect();
    values.try_into().map_err(|_| exactly())
}

fn keccak(parts: &[&[u8]]) -> Word {
    parts.iter().fold(Keccak256::new(), Digest::chain_update).finalize().into()
}

/// A member's type.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind<'a> {
    Address,
    Bool,
    Text,
    Bytes,
    /// `bytesN`: how many bytes.
    FixedBytes(usize),
    /// `uintN`: how many bytes.
    Unsigned(usize),
    /// `intN`: how many bytes.
    Signed(usize),
    Struct(&'a str),
    /// Of any length, or of this one.
    Array(Box<Kind<'a>>, Option<usize>),
}

struct Member<'a> {
    name: &'a str,
    text: &'a str,
    kind: Kind<'a>,
}

struct Struct<'a> {
    type_hash: Word,
    members: Vec<Member<'a>>,
}

/// The struct types, each with its members' types known and defined.
struct Types<'a>(BTreeMap<&'a str, Struct<'a>>);

impl<'a> Types<'a> {
    fn read(types: &'a Object, domain: &Object) -> Result<Self, String> {
        if types.len() > MAX_TYPES {
            return Err("more types than a wallet reads".to_owned());
        }
        let mut read = BTreeMap::new();
        if !types.has(DOMAIN) {
            let members = DOMAIN_MEMBERS.iter().filter(|(name, _)| domain.has(name));
            let members = members.map(|&(name, text)| Ok(Member { name, text, kind: Kind::parse(text)? })).collect::<Result<_, String>>()?;
            read.insert(DOMAIN, members);
        }
        for (name, listed) in types.iter() {
            let name = name.as_str().filter(|name| is_identifier(name)).ok_or("a type's name is not an identifier")?;
            if !matches!(Kind::parse(name), Ok(Kind::Struct(_))) {
                return Err(format!("types defines {name}, which is no struct"));
            }
            read.insert(name, read_members(listed).map_err(|error| format!("type {name}: {error}"))?);
        }
        let mut hashed = BTreeMap::new();
        for &name in read.keys() {
            hashed.insert(name, keccak(&[encode_type(&read, name)?.as_bytes()]));
        }
        let structs = read.into_iter().filter_map(|(name, members)| Some((name, Struct { type_hash: hashed.remove(name)?, members })));
        Ok(Self(structs.collect()))
    }

    /// `hashStruct`; an error begins with the way to the value that it is about.
    fn hash_struct(&self, name: &str, value: &Value, levels: usize) -> Result<Word, String> {
        let levels = levels.checked_sub(1).ok_or(": nested too deep")?;
        let Struct { type_hash, members } = self.0.get(name).ok_or_else(|| format!(": no type {name}"))?;
        let object = value.as_object().ok_or_else(|| format!(": not a {name}"))?;
        let mut encoded = type_hash.to_vec();
        for member in members {
            let value = object.get(member.name).ok_or_else(|| format!(".{}: missing", member.name))?;
            let word = self.encode(&member.kind, value, levels).map_err(|error| format!(".{}{error}", member.name))?;
            encoded.extend(word);
        }
        if object.len() != members.len() {
            return Err(format!(": has members that {name} does not"));
        }
        Ok(keccak(&[&encoded]))
    }

    /// `encodeData` of one value.
    fn encode(&self, kind: &Kind<'_>, value: &Value, levels: usize) -> Result<Word, String> {
        let bytes = || value.as_str().and_then(encoding::from_hex);
        let plain = match kind {
            Kind::Struct(name) => return self.hash_struct(name, value, levels),
            Kind::Array(element, length) => {
                let levels = levels.checked_sub(1).ok_or(": nested too deep")?;
                let elements = value.as_array().filter(|elements| length.is_none_or(|length| elements.len() == length));
                let mut encoded = Vec::new();
                for (index, value) in elements.ok_or(": not an array of its length")?.iter().enumerate() {
                    encoded.extend(self.encode(element, value, levels).map_err(|error| format!("[{index}]{error}"))?);
                }
                Some(keccak(&[&encoded]))
            }
            Kind::Address => bytes().filter(|bytes| bytes.len() == 20).map(|bytes| right(&bytes)),
            Kind::Bool => match value {
                Value::Bool(value) => Some(right(&[u8::from(*value)])),
                _ => None,
            },
            Kind::Text => value.as_str().map(|text| keccak(&[text.as_bytes()])),
            Kind::Bytes => bytes().map(|bytes| keccak(&[&bytes])),
            Kind::FixedBytes(length) => bytes().filter(|bytes| bytes.len() == *length).map(|bytes| left(&bytes)),
            Kind::Unsigned(length) => integer(value, *length, false),
            Kind::Signed(length) => integer(value, *length, true),
        };
        plain.ok_or_else(|| format!(": not {kind}"))
    }
}

fn read_members(listed: &Value) -> Result<Vec<Member<'_>>, String> {
    let listed = listed.as_array().filter(|members| members.len() <= MAX_TYPES).ok_or("not a list of members, or too long")?;
    let mut names = BTreeSet::new();
    let read = |member| {
        let [name, text] = members(member, ["name", "type"])?;
        let name = name.as_str().filter(|name| is_identifier(name)).ok_or("a member's name is not an identifier")?;
        if !names.insert(name) {
            return Err(format!("has {name} twice"));
        }
        let text = text.as_str().ok_or("a member's type is no text")?;
        Ok(Member { name, text, kind: Kind::parse(text)? })
    };
    listed.iter().map(read).collect()
}

/// `encodeType`: the type itself, then all that it refers to, by name.
fn encode_type(types: &BTreeMap<&str, Vec<Member<'_>>>, name: &str) -> Result<String, String> {
    let mut referred = BTreeSet::new();
    let mut unread = vec![name];
    while let Some(name) = unread.pop() {
        for member in types.get(name).ok_or_else(|| format!("the type {name} is not defined"))? {
            if let Kind::Struct(name) = member.kind.base()
                && referred.insert(*name)
            {
                unread.push(name);
            }
        }
    }
    referred.remove(name);
    let encode = |name: &str| {
        let members: Vec<String> = types.get(name).into_iter().flatten().map(|member| format!("{} {}", member.text, member.name)).collect();
        format!("{name}({})", members.join(","))
    };
    Ok(std::iter::once(name).chain(referred).map(encode).collect())
}

fn is_identifier(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
}

impl<'a> Kind<'a> {
    /// Reads a type's text. A name that is no elementary type's is a struct's, whether defined or not.
    fn parse(text: &'a str) -> Result<Self, String> {
        let unreadable = || format!("{text:?} is no type");
        if text.len() > MAX_NAME {
            return Err("a type's text is too long".to_owned());
        }
        let (base, mut dimensions) = text.split_at(text.find('[').unwrap_or(text.len()));
        let mut kind = Self::parse_base(base).ok_or_else(unreadable)?;
        while !dimensions.is_empty() {
            let (length, rest) = dimensions.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(unreadable)?;
            let length = if length.is_empty() { None } else { Some(count(length).ok_or_else(unreadable)?) };
            kind = Self::Array(Box::new(kind), length);
            dimensions = rest;
        }
        Ok(kind)
    }

    fn parse_base(base: &'a str) -> Option<Self> {
        let bytes_of_bits = |bits: &str| count(bits).filter(|bits| bits % 8 == 0 && *bits <= 256).map(|bits| bits / 8);
        let numbered = |prefix| base.strip_prefix(prefix).filter(|digits: &&str| digits.bytes().all(|b| b.is_ascii_digit()));
        match base {
            "address" => return Some(Self::Address),
            "bool" => return Some(Self::Bool),
            "string" => return Some(Self::Text),
            "bytes" => return Some(Self::Bytes),
            _ => {}
        }
        // `uint` and `int` have no canonical place in a type's encoding.
        if let Some(bits) = numbered("uint") {
            bytes_of_bits(bits).map(Self::Unsigned)
        } else if let Some(bits) = numbered("int") {
            bytes_of_bits(bits).map(Self::Signed)
        } else if let Some(length) = numbered("bytes") {
            count(length).filter(|length| *length <= 32).map(Self::FixedBytes)
        } else {
            Some(Self::Struct(base)).filter(|_| is_identifier(base))
        }
    }

    /// What the arrays hold in the end.
    fn base(&self) -> &Self {
        let mut kind = self;
        while let Self::Array(element, _) = kind {
            kind = element;
        }
        kind
    }
}

impl std::fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address => f.write_str("an address"),
            Self::Bool => f.write_str("a bool"),
            Self::Text => f.write_str("a string"),
            Self::Bytes => f.write_str("bytes in hex"),
            Self::FixedBytes(length) => write!(f, "{length} bytes in hex"),
            Self::Unsigned(length) => write!(f, "a decimal uint{}", length * 8),
            Self::Signed(length) => write!(f, "a decimal int{}", length * 8),
            Self::Struct(name) => write!(f, "a {name}"),
            Self::Array(..) => f.write_str("an array"),
        }
    }
}

/// A count of at least one, without leading zeros.
fn count(digits: &str) -> Option<usize> {
    let plain = encoding::is_decimal(digits, 9) && !digits.starts_with('0');
    Some(digits).filter(|_| plain)?.parse().ok()
}

/// At most 32 bytes at a word's start.
fn left(bytes: &[u8]) -> Word {
    let mut word = [0; 32];
    word.iter_mut().zip(bytes).for_each(|(place, &byte)| *place = byte);
    word
}

/// At most 32 bytes at a word's end.
fn right(bytes: &[u8]) -> Word {
    let mut word = [0; 32];
    word.iter_mut().rev().zip(bytes.iter().rev()).for_each(|(place, &byte)| *place = byte);
    word
}

/// An integer of that many bytes, in two's complement.
fn integer(value: &Value, length: usize, signed: bool) -> Option<Word> {
    let text = match value {
        Value::Number(_) => value.as_safe_integer()?.to_string(),
        _ => value.as_str()?.to_owned(),
    };
    let (negative, digits) = text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits));
    let canonical = encoding::is_decimal(digits, 78) && (digits == "0" || !digits.starts_with('0')) && !(negative && (!signed || digits == "0"));
    let mut word = magnitude(Some(digits).filter(|_| canonical)?)?;
    if negative {
        negate(&mut word);
    }
    // What stands above its bytes, and for a signed integer its highest bit, says no more than the sign.
    let (above, own) = word.split_at_checked(32usize.checked_sub(length)?)?;
    let fill = if negative { 0xFF } else { 0 };
    let sign_stands = !signed || own.first().is_some_and(|byte| (byte & 0x80 != 0) == negative);
    (sign_stands && above.iter().all(|&byte| byte == fill)).then_some(word)
}

/// The number of at most 78 decimal digits, if it is below 2^256.
fn magnitude(digits: &str) -> Option<Word> {
    let mut word = [0u8; 32];
    for digit in digits.bytes() {
        let mut carry = u16::from(digit.checked_sub(b'0')?);
        for byte in word.iter_mut().rev() {
            let [high, low] = (u16::from(*byte) * 10 + carry).to_be_bytes();
            *byte = low;
            carry = u16::from(high);
        }
        if carry != 0 {
            return None;
        }
    }
    Some(word)
}

fn negate(word: &mut Word) {
    let mut carry = true;
    for byte in word.iter_mut().rev() {
        (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use lcp::json::parse;
    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Value {
        parse(json, MAX_DEPTH).unwrap()
    }

    fn digest_of(json: &str) -> Result<String, String> {
        digest(&read(json)).map(|digest| encoding::hex(&digest))
    }

    // The example of EIP-712.
    pub(crate) const MAIL: &str = r#"{"domain":{"name":"Ether Mail","version":"1","chainId":1,"verifyingContract":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"},
        "types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],"Person":[{"name":"name","type":"string"},{"name":"wallet","type":"address"}],"Mail":[{"name":"from","type":"Person"},{"name":"to","type":"Person"},{"name":"contents","type":"string"}]},
        "primaryType":"Mail",
        "message":{"from":{"name":"Cow","wallet":"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},"to":{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},"contents":"Hello, Bob!"}}"#;

    // Every elementary type, at the ends of its range, and structs in arrays in structs; no domain type.
    const ZOO: &str = r#"{"domain":{"name":"Every type","version":"é","chainId":"9007199254740993","verifyingContract":"0x0000000000000000000000000000000000000001","salt":"0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"},
        "types":{"Zoo":[{"name":"u256","type":"uint256"},{"name":"u8","type":"uint8"},{"name":"i256","type":"int256"},{"name":"i8","type":"int8"},{"name":"i128","type":"int128"},{"name":"t","type":"bool"},{"name":"f","type":"bool"},{"name":"data","type":"bytes"},{"name":"none","type":"bytes"},{"name":"b1","type":"bytes1"},{"name":"b20","type":"bytes20"},{"name":"b32","type":"bytes32"},{"name":"text","type":"string"},{"name":"people","type":"address[]"},{"name":"triple","type":"uint16[3]"},{"name":"pairs","type":"int8[2][]"},{"name":"cages","type":"Cage[]"},{"name":"two","type":"Cage[2]"},{"name":"star","type":"Animal"}],
            "Cage":[{"name":"label","type":"string"},{"name":"animals","type":"Animal[]"}],"Animal":[{"name":"id","type":"bytes32"},{"name":"young","type":"Animal[]"}]},
        "primaryType":"Zoo",
        "message":{"u256":"115792089237316195423570985008687907853269984665640564039457584007913129639935","u8":255,"i256":"-57896044618658097711785492504343953926634992332820282019728792003956564819968","i8":-128,"i128":"170141183460469231731687303715884105727","t":true,"f":false,"data":"0xDEADbeef","none":"0x","b1":"0x7f","b20":"0xabababababababababababababababababababab","b32":"0x0000000000000000000000000000000000000000000000000000000000000001","text":"ü😀\n","people":["0x1111111111111111111111111111111111111111","0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"],"triple":[1,"2",65535],"pairs":[[-1,1],[127,-128]],
            "cages":[{"label":"","animals":[]},{"label":"b","animals":[{"id":"0x0202020202020202020202020202020202020202020202020202020202020202","young":[{"id":"0x0303030303030303030303030303030303030303030303030303030303030303","young":[]}]}]}],"two":[{"label":"x","animals":[]},{"label":"y","animals":[]}],"star":{"id":"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff","young":[]}}}"#;

    // The digests are what eth-account 0.14 computes; that of the mail stands in the EIP too.
    #[test]
    fn digests() {
        assert_eq!(digest_of(MAIL).unwrap(), "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2");
        assert_eq!(digest_of(ZOO).unwrap(), "0x32f221c6c199eccee9eb978a79dc0441a30378c21e6d03c510b294fec1a2e7bc");
        let empty = r#"{"domain":{"name":"x"},"types":{"Empty":[]},"primaryType":"Empty","message":{}}"#;
        assert_eq!(digest_of(empty).unwrap(), "0xdf772582f4cb0b2af13797325f56062aebd676a9690cfe9472e10b0ca9ac0a51");
        let unused = empty.replace("[]}", r#"[],"Unused":[{"name":"a","type":"bool"}]}"#);
        assert_eq!(digest_of(&unused), digest_of(empty));
    }

    #[test]
    fn the_encoding_of_a_type_lists_what_it_refers_to() {
        let types = read(ZOO);
        let types = types.get("types").and_then(Value::as_object).unwrap();
        let listed: BTreeMap<_, _> = types.iter().map(|(name, members)| (name.as_str().unwrap(), read_members(members).unwrap())).collect();
        assert_eq!(encode_type(&listed, "Cage").unwrap(), "Cage(string label,Animal[] animals)Animal(bytes32 id,Animal[] young)");
        assert_eq!(encode_type(&listed, "Animal").unwrap(), "Animal(bytes32 id,Animal[] young)");
    }

    #[test]
    fn nothing_in_the_data_goes_unsigned() {
        let change = |from: &str, to: &str| {
            assert!(MAIL.contains(from), "{from}");
            digest_of(&MAIL.replacen(from, to, 1)).unwrap_err()
        };
        assert_eq!(change(r#","contents":"Hello, Bob!""#, ""), "message.contents: missing");
        assert_eq!(change(r#""contents":"Hello, Bob!""#, r#""contents":"Hello, Bob!","more":1"#), "message: has members that Mail does not");
        assert_eq!(change(r#""name":"Cow""#, r#""name":"Cow","age":1"#), "message.from: has members that Person does not");
        assert_eq!(change(r#""name":"Cow","#, ""), "message.from.name: missing");
        assert_eq!(change(r#""version":"1""#, r#""version":"1","salt":"0x00""#), "domain: has members that EIP712Domain does not");
        assert_eq!(change(r#","version":"1""#, ""), "domain.version: missing");
        let members = "not an object of exactly domain, types, primaryType, message";
        assert_eq!(change(r#""domain""#, r#""more":1,"domain""#), members);
        assert_eq!(change(r#""domain""#, r#""domains""#), members);
        assert_eq!(digest_of("[]").unwrap_err(), members);
        assert_eq!(
            change(r#"{"name":"to","type":"Person"}"#, r#"{"name":"to","type":"Person","x":1}"#),
            "type Mail: not an object of exactly name, type"
        );
    }

    #[test]
    fn types_must_be_defined_once_and_readable() {
        let change = |from: &str, to: &str| {
            assert!(MAIL.contains(from), "{from}");
            digest_of(&MAIL.replacen(from, to, 1)).unwrap_err()
        };
        let retyped = |kind: &str| change(r#"{"name":"contents","type":"string"}"#, &format!(r#"{{"name":"contents","type":"{kind}"}}"#));
        assert_eq!(retyped("Letter"), "the type Letter is not defined");
        assert_eq!(retyped("Letter[2][]"), "the type Letter is not defined");
        for kind in [
            "",
            "uint",
            "int",
            "uint7",
            "uint0",
            "uint264",
            "uint08",
            "int512",
            "bytes0",
            "bytes33",
            "bytes032",
            "uint256 ",
            " string",
            "string[0]",
            "string[01]",
            "string[-1]",
            "string[",
            "string]",
            "string[]x",
            "string[1]]",
            "[]",
            "string[99999999999]",
            "a b",
            "é",
            "mapping(address)",
            "1a",
            "fixed128x18[",
        ] {
            assert_eq!(retyped(kind), format!("type Mail: {kind:?} is no type"), "{kind}");
        }
        assert_eq!(retyped(&"x".repeat(65)), "type Mail: a type's text is too long");
        assert_eq!(change(r#"{"name":"contents""#, r#"{"name":"to""#), "type Mail: has to twice");
        assert_eq!(change(r#"{"name":"contents""#, r#"{"name":"con tents""#), "type Mail: a member's name is not an identifier");
        assert_eq!(change(r#""Person":["#, r#""uint8":[],"Person":["#), "types defines uint8, which is no struct");
        assert_eq!(change(r#""Person":["#, r#""uint7":[],"Person":["#), "types defines uint7, which is no struct");
        assert_eq!(change(r#""Person":["#, r#""Per-son":[],"Person":["#), "a type's name is not an identifier");
        assert_eq!(change(r#""primaryType":"Mail""#, r#""primaryType":"Male""#), "message: no type Male");
        assert_eq!(change(r#""primaryType":"Mail""#, r#""primaryType":"EIP712Domain""#), "primaryType names no type of a message");
        let many = (0..62).map(|index| format!(r#""T{index}":[],"#)).collect::<Vec<_>>().concat();
        assert_eq!(change(r#""Person":["#, &format!(r#"{many}"Person":["#)), "more types than a wallet reads");
        let many = r#"{"name":"a","type":"bool"},"#.repeat(62);
        assert_eq!(change(r#""Mail":["#, &format!(r#""Mail":[{many}"#)), "type Mail: not a list of members, or too long");
    }

    #[test]
    fn a_value_must_fit_its_type() {
        let fits = |kind: &str, value: &str| {
            let json =
                format!(r#"{{"domain":{{}},"types":{{"T":[{{"name":"a","type":"{kind}"}}],"S":[]}},"primaryType":"T","message":{{"a":{value}}}}}"#);
            digest_of(&json)
        };
        for (kind, good) in [
            ("uint8", &["0", "255", r#""0""#, r#""255""#, "1e2", "-0"][..]),
            ("int8", &["-128", "127", r#""-128""#, r#""-1""#, "0"]),
            ("uint256", &["9007199254740991", r#""9007199254740992""#]),
            ("int16", &["-32768", "32767", "-129", "128"]),
            ("address", &[r#""0xABCDEFabcdef0000000000000000000000000000""#]),
            ("bytes2", &[r#""0xAbcD""#]),
            ("bytes", &[r#""0x""#]),
            ("bool[2]", &["[true,false]"]),
            ("bool[][1]", &["[[]]"]),
            ("S", &["{}"]),
        ] {
            for value in good {
                fits(kind, value).unwrap_or_else(|error| panic!("{kind} {value}: {error}"));
            }
        }
        for (kind, bad, why) in [
            (
                "uint8",
                &[
                    "256", "-1", "1.5", "1e400", r#""""#, r#""01""#, r#""-0""#, r#""-1""#, r#""+1""#, r#""0x1""#, r#"" 1""#, r#""1e2""#, "true",
                    "null", "[1]", "{}",
                ][..],
                "a decimal uint8",
            ),
            (
                "uint256",
                &["9007199254740992", r#""115792089237316195423570985008687907853269984665640564039457584007913129639936""#],
                "a decimal uint256",
            ),
            ("int8", &["128", "-129", r#""-256""#, r#""-300""#, r#""300""#, r#""-0""#], "a decimal int8"),
            (
                "int256",
                &[
                    r#""57896044618658097711785492504343953926634992332820282019728792003956564819968""#,
                    r#""-57896044618658097711785492504343953926634992332820282019728792003956564819969""#,
                    r#""-115792089237316195423570985008687907853269984665640564039457584007913129639935""#,
                ],
                "a decimal int256",
            ),
            (
                "address",
                &[r#""0xABCDEFabcdef000000000000000000000000000""#, r#""ABCDEFabcdef0000000000000000000000000000""#, "0", "null"],
                "an address",
            ),
            ("bytes2", &[r#""0xab""#, r#""0xabcdef""#, r#""abcd""#, r#""0xabcg""#, "171"], "2 bytes in hex"),
            ("bytes", &[r#""0xa""#, r#""""#, "null", "[1]"], "bytes in hex"),
            ("bool", &["0", r#""true""#, "null"], "a bool"),
            ("string", &["0", "null", r#""\ud800""#], "a string"),
            ("bool[2]", &["[true]", "[true,true,true]", "{}", "null"], "an array of its length"),
            ("S", &["null", "[]", r#""""#], "a S"),
        ] {
            for value in bad {
                assert_eq!(fits(kind, value), Err(format!("message.a: not {why}")), "{kind} {value}");
            }
        }
        assert_eq!(fits("bool[2][]", "[[true,false],[true,1]]"), Err("message.a[1][1]: not a bool".to_owned()));
    }

    #[test]
    fn depth_is_bounded() {
        let typed = |value: Value| {
            let types = read(r#"{"T":[{"name":"t","type":"T[]"}]}"#);
            Object::new().with("domain", Object::new()).with("types", types).with("primaryType", "T").with("message", value).into()
        };
        let nested = |levels| (0..levels).fold(Value::from(Object::new().with("t", vec![])), |inner, _| Object::new().with("t", vec![inner]).into());
        assert!(digest(&typed(nested(31))).is_ok());
        assert!(digest(&typed(nested(32))).unwrap_err().ends_with(": nested too deep"));
    }

    /// Any JSON, with the names that typed data has.
    fn json() -> impl Strategy<Value = Value> {
        let text = prop::sample::select(vec![
            "T",
            "S",
            "a",
            "b",
            "uint8",
            "int256",
            "bytes",
            "bytes4",
            "bool",
            "string",
            "address",
            "T[]",
            "S[2][]",
            "0x00",
            "-1",
            "EIP712Domain",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::Number),
            (-300i32..300).prop_map(|number| Value::Number(number.into())),
            text.prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        let name = prop::sample::select(vec!["domain", "types", "primaryType", "message", "name", "type", "T", "S", "a", "b", "EIP712Domain"]);
        leaf.prop_recursive(6, 64, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..6)
                    .prop_map(|members| members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)).into()),
            ]
        })
    }

    /// A list of members whose types are often readable.
    fn listed() -> impl Strategy<Value = Value> {
        let kind = prop::sample::select(vec!["uint8", "int16", "bytes", "bytes4", "bool", "string", "address", "S", "T[]", "S[2]", "int8[][2]"]);
        prop::collection::vec(("[a-d]", kind), 0..4).prop_map(|members| {
            let member = |(name, kind): (String, &str)| Value::from(Object::new().with("name", name).with("type", kind));
            members.into_iter().map(member).collect::<Vec<_>>().into()
        })
    }

    proptest! {
        #[test]
        fn any_json_is_judged_without_a_panic(value in json()) {
            let _ = digest(&value);
        }

        #[test]
        fn any_typed_data_is_judged_without_a_panic(t in listed(), s in listed(), domain in json(), message in json()) {
            let types = Object::new().with("T", t).with("S", s);
            let typed = Object::new().with("domain", domain).with("types", types).with("primaryType", "T").with("message", message);
            let _ = digest(&typed.into());
        }

        #[test]
        fn integers_are_two_s_complement(number in any::<i128>()) {
            let value = Value::from(number.to_string());
            let fill = if number < 0 { 0xFF } else { 0 };
            let expected = [[fill; 16], number.to_be_bytes()].concat();
            prop_assert_eq!(integer(&value, 32, true).map(|word| word.to_vec()), Some(expected.clone()));
            prop_assert_eq!(integer(&value, 16, true).map(|word| word.to_vec()), Some(expected.clone()));
            prop_assert_eq!(integer(&value, 8, true).is_some(), i64::try_from(number).is_ok());
            prop_assert_eq!(integer(&value, 16, false).map(|word| word.to_vec()), (number >= 0).then_some(expected));
        }
    }
}
