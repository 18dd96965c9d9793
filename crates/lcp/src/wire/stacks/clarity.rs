//! Clarity values in their consensus form, and the types that the rules judge them by.

use super::super::bytes::Reader;

/// How deep a value may nest, itself among the levels.
const MAX_DEPTH: usize = 16;
/// The largest size of a value, as its type counts it.
const MAX_SIZE: u64 = 1 << 20;
/// Longest name of a contract in a value, and of anything else.
const MAX_NAME: usize = 128;
/// Longest name under which a transaction may call or publish a contract.
const MAX_CONTRACT_NAME: usize = 40;

/// The prefixes of values.
mod prefix {
    pub(super) const INT: u8 = 0;
    pub(super) const UINT: u8 = 1;
    pub(super) const BUFFER: u8 = 2;
    pub(super) const TRUE: u8 = 3;
    pub(super) const FALSE: u8 = 4;
    pub(super) const STANDARD_PRINCIPAL: u8 = 5;
    pub(super) const CONTRACT_PRINCIPAL: u8 = 6;
    pub(super) const OK: u8 = 7;
    pub(super) const ERR: u8 = 8;
    pub(super) const NONE: u8 = 9;
    pub(super) const SOME: u8 = 10;
    pub(super) const LIST: u8 = 11;
    pub(super) const TUPLE: u8 = 12;
    pub(super) const ASCII: u8 = 13;
    pub(super) const UTF8: u8 = 14;
}

/// The consensus form of `(some buffer)`, for a buffer of less than 2^32 bytes.
pub fn some_buffer(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(bytes.len()).ok()?.to_be_bytes();
    Some([&[prefix::SOME, prefix::BUFFER], &length[..], bytes].concat())
}

/// Reads past a value. A value has the one form, so its bytes stand for it.
pub(super) fn value<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let mut start = *reader;
    typed(reader, MAX_DEPTH)?;
    start.take(start.left() - reader.left())
}

/// Reads past a principal with its prefix.
pub(super) fn principal(reader: &mut Reader<'_>) -> Option<()> {
    match reader.byte()? {
        prefix::STANDARD_PRINCIPAL => address(reader),
        prefix::CONTRACT_PRINCIPAL => contract_principal(reader),
        _ => None,
    }
}

/// Reads past an optional principal.
pub(super) fn optional_principal(reader: &mut Reader<'_>) -> Option<()> {
    match reader.byte()? {
        prefix::NONE => Some(()),
        prefix::SOME => principal(reader),
        _ => None,
    }
}

/// Reads past an address: a version and a hash.
pub(super) fn address(reader: &mut Reader<'_>) -> Option<()> {
    reader.byte().filter(|&version| version < 32)?;
    reader.take(20).map(|_| ())
}

/// Reads the name that a transaction gives a contract.
pub(super) fn contract_name<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    name(reader).filter(|name| name.len() <= MAX_CONTRACT_NAME && names_contract(name))
}

/// Reads the name of a function, an asset, or a tuple's member.
pub(super) fn clarity_name<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    name(reader).filter(|name| is_clarity_name(name))
}

/// Whether a contract may be published under the name.
pub fn is_contract_name(name: &str) -> bool {
    name.len() <= MAX_NAME && starts_with_letter(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A contract's name, or the name of code that is run without being published.
fn names_contract(name: &str) -> bool {
    is_contract_name(name) || name == "__transient"
}

fn is_clarity_name(name: &str) -> bool {
    let is_symbol = matches!(name, "-" | "+" | "=" | "/" | "*" | "<" | ">" | "<=" | ">=");
    is_symbol
        || (starts_with_letter(name)
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'!' | b'?' | b'+' | b'<' | b'>' | b'=' | b'/' | b'*')))
}

fn starts_with_letter(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn name<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let length = reader.byte()?.into();
    std::str::from_utf8(reader.take(length).filter(|_| length <= MAX_NAME)?).ok()
}

fn contract_principal(reader: &mut Reader<'_>) -> Option<()> {
    address(reader)?;
    name(reader).filter(|name| names_contract(name)).map(|_| ())
}

/// A value's type, with the sizes that the rules give its values and itself.
struct Type<'a> {
    kind: Kind<'a>,
    size: u64,
    own: u64,
}

enum Kind<'a> {
    /// Of what is not there, as in `none`.
    Unknown,
    Int,
    Uint,
    Bool,
    Principal,
    Buffer(u64),
    Ascii(u64),
    /// In characters.
    Utf8(u64),
    Optional(Box<Type<'a>>),
    Response(Box<[Type<'a>; 2]>),
    List(Box<Type<'a>>, u64),
    /// The members in the order of their names.
    Tuple(Vec<(&'a str, Type<'a>)>),
}

impl<'a> Type<'a> {
    /// The type, unless its values may be too large.
    fn new(kind: Kind<'a>) -> Option<Self> {
        let (size, own) = match &kind {
            Kind::Unknown | Kind::Bool => (1, 1),
            Kind::Int | Kind::Uint => (16, 1),
            Kind::Principal => (148, 1),
            Kind::Buffer(bytes) | Kind::Ascii(bytes) => (4 + bytes, 5),
            Kind::Utf8(characters) => (4 + 4 * characters, 5),
            Kind::Optional(inner) => (inner.size + 1, inner.own + 1),
            Kind::Response(sides) => {
                let [ok, err] = &**sides;
                (ok.size.max(err.size) + 1, ok.own + err.own + 1)
            }
            // No overflow: a size is at most 2^20, a length below 2^32.
            Kind::List(entry, length) => (entry.size * length + entry.own + 5, entry.own + 5),
            Kind::Tuple(members) => members.iter().fold((0, 0), |(size, own), (name, member)| {
                let named = name.len() as u64 + 2;
                (size + 2 * named + member.own + member.size, own + named + member.own)
            }),
        };
        (size <= MAX_SIZE).then_some(Self { kind, size, own })
    }

    fn response(ok: Self, err: Self) -> Option<Self> {
        Self::new(Kind::Response(Box::new([ok, err])))
    }

    /// The type of a list's entries after one more: the least that takes both.
    fn joined(self, other: Self) -> Option<Self> {
        let kind = match (self.kind, other.kind) {
            (Kind::Unknown, kind) | (kind, Kind::Unknown) => kind,
            (Kind::Int, Kind::Int) => Kind::Int,
            (Kind::Uint, Kind::Uint) => Kind::Uint,
            (Kind::Bool, Kind::Bool) => Kind::Bool,
            (Kind::Principal, Kind::Principal) => Kind::Principal,
            (Kind::Buffer(a), Kind::Buffer(b)) => Kind::Buffer(a.max(b)),
            (Kind::Ascii(a), Kind::Ascii(b)) => Kind::Ascii(a.max(b)),
            (Kind::Utf8(a), Kind::Utf8(b)) => Kind::Utf8(a.max(b)),
            (Kind::Optional(a), Kind::Optional(b)) => Kind::Optional(Box::new(a.joined(*b)?)),
            (Kind::Response(a), Kind::Response(b)) => {
                let ([ok_a, err_a], [ok_b, err_b]) = (*a, *b);
                Kind::Response(Box::new([ok_a.joined(ok_b)?, err_a.joined(err_b)?]))
            }
            (Kind::List(_, 0), list @ Kind::List(..)) | (list @ Kind::List(..), Kind::List(_, 0)) => list,
            (Kind::List(a, n), Kind::List(b, m)) => Kind::List(Box::new(a.joined(*b)?), n.max(m)),
            // The first tuple's members, all of which the second must have.
            (Kind::Tuple(a), Kind::Tuple(b)) => {
                let mut others = b.into_iter();
                let mut joined = |(name, member): (&'a str, Self)| {
                    let (_, other) = others.by_ref().find(|(other, _)| *other == name)?;
                    Some((name, member.joined(other)?))
                };
                Kind::Tuple(a.into_iter().map(&mut joined).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Self::new(kind)
    }
}

fn typed<'a>(reader: &mut Reader<'a>, depth: usize) -> Option<Type<'a>> {
    let depth = depth.checked_sub(1)?;
    let unknown = || Type::new(Kind::Unknown);
    let kind = match reader.byte()? {
        prefix::INT => reader.take(16).map(|_| Kind::Int)?,
        prefix::UINT => reader.take(16).map(|_| Kind::Uint)?,
        prefix::TRUE | prefix::FALSE => Kind::Bool,
        prefix::STANDARD_PRINCIPAL => address(reader).map(|()| Kind::Principal)?,
        prefix::CONTRACT_PRINCIPAL => contract_principal(reader).map(|()| Kind::Principal)?,
        prefix::OK => return Type::response(typed(reader, depth)?, unknown()?),
        prefix::ERR => return Type::response(unknown()?, typed(reader, depth)?),
        prefix::NONE => Kind::Optional(Box::new(unknown()?)),
        prefix::SOME => Kind::Optional(Box::new(typed(reader, depth)?)),
        prefix::LIST => {
            let length = count(reader)?;
            let mut entry = unknown()?;
            for _ in 0..length {
                entry = entry.joined(typed(reader, depth)?)?;
            }
            Kind::List(Box::new(entry), length.into())
        }
        prefix::TUPLE => {
            let mut members: Vec<(&str, _)> = Vec::new();
            for _ in 0..count(reader)? {
                let name = clarity_name(reader).filter(|name| members.last().is_none_or(|(before, _)| before < name))?;
                members.push((name, typed(reader, depth)?));
            }
            Some(members).filter(|members| !members.is_empty()).map(Kind::Tuple)?
        }
        prefix::BUFFER => Kind::Buffer(sized(reader)?.len() as u64),
        prefix::ASCII => {
            let text = sized(reader)?;
            let is_text = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
            text.iter().all(is_text).then_some(Kind::Ascii(text.len() as u64))?
        }
        prefix::UTF8 => Kind::Utf8(std::str::from_utf8(sized(reader)?).ok()?.chars().count() as u64),
        _ => return None,
    };
    Type::new(kind)
}

/// Reads a number of things, each of a byte at least.
pub(super) fn count(reader: &mut Reader<'_>) -> Option<u32> {
    reader.array().map(u32::from_be_bytes)
}

/// Reads bytes behind their number.
pub(super) fn sized<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = count(reader)?.try_into().ok()?;
    reader.take(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TRUE: &[u8] = &[prefix::TRUE];
    const NONE: &[u8] = &[prefix::NONE];

    fn uint() -> Vec<u8> {
        [&[prefix::UINT], &[7; 16][..]].concat()
    }

    fn with_length(prefix: u8, length: usize, content: &[u8]) -> Vec<u8> {
        [&[prefix], &u32::try_from(length).unwrap().to_be_bytes()[..], content].concat()
    }

    fn buffer(length: usize) -> Vec<u8> {
        with_length(prefix::BUFFER, length, &vec![7; length])
    }

    fn utf8(text: &str) -> Vec<u8> {
        with_length(prefix::UTF8, text.len(), text.as_bytes())
    }

    fn list<T: AsRef<[u8]>>(items: &[T]) -> Vec<u8> {
        with_length(prefix::LIST, items.len(), &items.iter().flat_map(AsRef::as_ref).copied().collect::<Vec<_>>())
    }

    fn tuple(members: &[(&str, &[u8])]) -> Vec<u8> {
        let members = members.iter().map(|(name, value)| [&[u8::try_from(name.len()).unwrap()], name.as_bytes(), value].concat());
        with_length(prefix::TUPLE, members.len(), &members.collect::<Vec<_>>().concat())
    }

    fn wrapped(prefix: u8, value: &[u8]) -> Vec<u8> {
        [&[prefix], value].concat()
    }

    fn is_value(bytes: &[u8]) -> bool {
        let mut reader = Reader::new(bytes);
        value(&mut reader) == Some(bytes)
    }

    #[test]
    fn lists_are_of_one_type() {
        let ok = wrapped(prefix::OK, TRUE);
        for items in [
            vec![uint(), uint()],
            vec![NONE.to_vec(), wrapped(prefix::SOME, &uint()), NONE.to_vec()],
            vec![ok.clone(), wrapped(prefix::ERR, &uint())],
            vec![],
            vec![list::<&[u8]>(&[]), list(&[uint()]), list::<&[u8]>(&[])],
            vec![buffer(1), buffer(3)],
            // The second tuple may have more.
            vec![tuple(&[("a", TRUE)]), tuple(&[("a", TRUE), ("b", TRUE)])],
        ] {
            assert!(is_value(&list(&items)), "{items:02x?}");
        }
        for items in [
            vec![uint(), TRUE.to_vec()],
            vec![ok, wrapped(prefix::OK, &uint())],
            vec![utf8("a"), with_length(prefix::ASCII, 1, b"a")],
            vec![tuple(&[("a", TRUE), ("b", TRUE)]), tuple(&[("a", TRUE)])],
        ] {
            assert!(!is_value(&list(&items)), "{items:02x?}");
        }
    }

    #[test]
    fn tuples_are_in_order() {
        assert!(is_value(&tuple(&[("B", TRUE), ("a", NONE), ("b-c", TRUE)])));
        for members in [&[][..], &[("b", TRUE), ("a", TRUE)], &[("a", TRUE), ("a", TRUE)], &[("1", TRUE)], &[("", TRUE)]] {
            assert!(!is_value(&tuple(members)), "{members:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for (some, is) in [(15, true), (16, false)] {
            assert_eq!(is_value(&[vec![prefix::SOME; some], NONE.to_vec()].concat()), is);
            assert_eq!(is_value(&[[prefix::LIST, 0, 0, 0, 1].repeat(some), TRUE.to_vec()].concat()), is);
        }
    }

    /// The longest first entry of a list whose other 1,000 are empty, as another implementation gave it.
    #[test]
    fn size_is_that_of_the_type() {
        let empty = list::<&[u8]>(&[]);
        let longest = |of: &dyn Fn(usize) -> Vec<u8>| {
            let is = |n: usize| is_value(&list(&[vec![of(n)], vec![empty.clone(); 1000]].concat()));
            (1..4000).take_while(|&n| is(n)).last()
        };
        let of = |value: Vec<u8>| move |n: usize| list(&vec![value.clone(); n]);
        assert_eq!(longest(&of(uint())), Some(65));
        assert_eq!(longest(&of([&[prefix::STANDARD_PRINCIPAL], &[0; 21][..]].concat())), Some(7));
        assert_eq!(longest(&of(TRUE.to_vec())), Some(1041));
        assert_eq!(longest(&of(NONE.to_vec())), Some(520));
        assert_eq!(longest(&of(wrapped(prefix::SOME, TRUE))), Some(520));
        assert_eq!(longest(&of(wrapped(prefix::OK, TRUE))), Some(519));
        assert_eq!(longest(&of(tuple(&[("a", TRUE)]))), Some(129));
        assert_eq!(longest(&|n| list(&[buffer(n)])), Some(1033));
        assert_eq!(longest(&|n| list(&[utf8(&"a".repeat(n))])), Some(258));
        assert_eq!(longest(&|n| list(&[utf8(&"é".repeat(n))])), Some(258));
        assert_eq!(longest(&|n| list(&[wrapped(prefix::SOME, &buffer(n))])), Some(1031));
        assert_eq!(longest(&|n| list(&[wrapped(prefix::OK, &buffer(n))])), Some(1030));
        assert_eq!(longest(&|n| list(&[tuple(&[("abc", &buffer(n)), ("z", TRUE)])])), Some(1001));
    }

    #[test]
    fn names() {
        for name in ["+", "<=", "a", "a!?+<>=/*-_"] {
            assert!(is_clarity_name(name), "{name}");
        }
        for name in ["", "==", "<>", "_a", "a.b", "1", "a\n", "é"] {
            assert!(!is_clarity_name(name), "{name}");
        }
        assert!(names_contract("__transient") && !is_contract_name("__transient"));
        assert!(is_contract_name(&"a".repeat(128)) && !is_contract_name(&"a".repeat(129)) && !is_contract_name("a!"));
    }

    proptest! {
        /// Whatever is read as a value is read past exactly.
        #[test]
        fn any_bytes(bytes in prop::collection::vec(prop_oneof![0..15u8, any::<u8>()], 0..80)) {
            let mut reader = Reader::new(&bytes);
            if let Some(value) = value(&mut reader) {
                prop_assert!(is_value(value));
                prop_assert_eq!(value.len() + reader.left(), bytes.len());
            }
        }

        #[test]
        fn buffers(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(is_value(&some_buffer(&bytes).unwrap()));
        }
    }
}
