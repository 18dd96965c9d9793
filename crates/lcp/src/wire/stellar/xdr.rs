//! XDR (RFC 4506) by types: one reader takes a value of any type, and nothing but such a value.

use crate::wire::bytes::Reader;

/// A type.
pub(super) enum Type {
    /// So many bytes, a multiple of 4. Integers are among them.
    Fixed(usize),
    /// A length up to this, so many bytes, and zeros up to a multiple of 4.
    Bytes(u32),
    /// A number below this.
    Enum(u32),
    /// A flag, and the value if it is set.
    Optional(&'static Type),
    /// A count up to this, and so many values, each of which takes some bytes.
    List(&'static Type, u32),
    /// One value after the other.
    Struct(&'static [&'static Type]),
    /// A number, and the value of the type that it selects.
    Union(&'static [(u32, &'static Type)]),
    /// A value whose levels are counted: it may hold others of its kind.
    Nested(Nesting, &'static Type),
}

/// What nests.
#[derive(Clone, Copy)]
pub(super) enum Nesting {
    Values,
    Invocations,
}

/// The bytes of a value, and how many levels of one kind nest in them at most.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) levels: usize,
}

/// What is yet to be read.
enum Todo {
    Values(&'static Type, u32),
    Fields(&'static [&'static Type]),
    /// The end of a nested value.
    Leave(Nesting),
}

/// Takes the bytes of one value. Values in values are kept on a list, not on the stack, so that they may nest as deep as
/// they like.
pub(super) fn read<'a>(reader: &mut Reader<'a>, of: &'static Type) -> Option<Span<'a>> {
    let mut start = *reader;
    let (mut values, mut invocations, mut levels) = (0, 0, 0);
    let mut todo = vec![Todo::Values(of, 1)];
    while let Some(next) = todo.pop() {
        let of = match next {
            Todo::Values(_, 0) | Todo::Fields([]) => continue,
            Todo::Values(of, count) => {
                todo.push(Todo::Values(of, count - 1));
                of
            }
            Todo::Fields([of, rest @ ..]) => {
                todo.push(Todo::Fields(rest));
                of
            }
            Todo::Leave(Nesting::Values) => {
                values -= 1;
                continue;
            }
            Todo::Leave(Nesting::Invocations) => {
                invocations -= 1;
                continue;
            }
        };
        match of {
            Type::Fixed(count) => {
                reader.take(*count)?;
            }
            Type::Bytes(most) => {
                bytes(reader, *most)?;
            }
            Type::Enum(count) => {
                uint32(reader).filter(|number| number < count)?;
            }
            Type::Optional(of) => {
                if flag(reader)? {
                    todo.push(Todo::Values(of, 1));
                }
            }
            Type::List(of, most) => {
                let count = uint32(reader).filter(|count| count <= most)?;
                todo.push(Todo::Values(of, count));
            }
            Type::Struct(fields) => todo.push(Todo::Fields(fields)),
            Type::Union(arms) => {
                let selected = uint32(reader)?;
                let (_, of) = arms.iter().find(|(number, _)| *number == selected)?;
                todo.push(Todo::Values(of, 1));
            }
            Type::Nested(nesting, of) => {
                match nesting {
                    Nesting::Values => values += 1,
                    Nesting::Invocations => invocations += 1,
                }
                levels = levels.max(values).max(invocations);
                todo.push(Todo::Leave(*nesting));
                todo.push(Todo::Values(of, 1));
            }
        }
    }
    let bytes = start.take(start.left() - reader.left())?;
    Some(Span { bytes, levels })
}

pub(super) fn uint32(reader: &mut Reader<'_>) -> Option<u32> {
    reader.array().map(u32::from_be_bytes)
}

pub(super) fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match uint32(reader)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Bytes with their length before them, and zeros behind them.
pub(super) fn bytes<'a>(reader: &mut Reader<'a>, most: u32) -> Option<&'a [u8]> {
    let length = uint32(reader).filter(|&length| length <= most)?;
    let length = usize::try_from(length).ok()?;
    let bytes = reader.take(length)?;
    let padding = reader.take(length.next_multiple_of(4) - length)?;
    padding.iter().all(|&byte| byte == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::stellar::types::{AFTER_OPERATIONS, BEFORE_OPERATIONS, CREDENTIALS, HOST_FUNCTION, INVOCATION, OPERATION, VALUE};

    /// What a run of bytes makes of a type: each byte makes one decision, and none left over decides for the least.
    fn value(of: &Type, decisions: &mut impl Iterator<Item = u8>, to: &mut Vec<u8>) {
        let mut decide = |below: u32| u32::from(decisions.next().unwrap_or(0)) % below;
        match of {
            Type::Fixed(count) => to.extend((0..*count).map(|_| u8::try_from(decide(256)).unwrap())),
            Type::Bytes(most) => {
                let length = decide((*most).min(9) + 1);
                to.extend(length.to_be_bytes());
                to.extend((0..length).map(|_| u8::try_from(decide(256)).unwrap()));
                to.resize(to.len().next_multiple_of(4), 0);
            }
            Type::Enum(count) => to.extend(decide(*count).to_be_bytes()),
            Type::Optional(of) => {
                let set = decide(2);
                to.extend(set.to_be_bytes());
                if set == 1 {
                    value(of, decisions, to);
                }
            }
            Type::List(of, most) => {
                let count = decide((*most).min(3) + 1);
                to.extend(count.to_be_bytes());
                (0..count).for_each(|_| value(of, decisions, to));
            }
            Type::Struct(fields) => fields.iter().for_each(|of| value(of, decisions, to)),
            Type::Union(arms) => {
                let (number, of) = arms[usize::try_from(decide(u32::try_from(arms.len()).unwrap())).unwrap()];
                to.extend(number.to_be_bytes());
                value(of, decisions, to);
            }
            Type::Nested(_, of) => value(of, decisions, to),
        }
    }

    fn reads(of: &'static Type, bytes: &[u8]) -> Option<usize> {
        let mut reader = Reader::new(bytes);
        let span = read(&mut reader, of)?;
        assert_eq!(span.bytes, &bytes[..bytes.len() - reader.left()]);
        Some(span.bytes.len())
    }

    static TYPES: [&Type; 7] = [&VALUE, &HOST_FUNCTION, &INVOCATION, &CREDENTIALS, &OPERATION, &BEFORE_OPERATIONS, &AFTER_OPERATIONS];

    proptest! {
        /// A value is read to its end, whatever follows, and not without its end.
        #[test]
        fn values_are_read_whole(of in 0..TYPES.len(), decisions in proptest::collection::vec(any::<u8>(), 0..200), more: [u8; 4]) {
            let mut bytes = Vec::new();
            value(TYPES[of], &mut decisions.into_iter(), &mut bytes);
            prop_assert_eq!(reads(TYPES[of], &bytes), Some(bytes.len()));
            for cut in 0..bytes.len() {
                prop_assert_eq!(reads(TYPES[of], &bytes[..cut]), None);
            }
            let length = bytes.len();
            bytes.extend(more);
            prop_assert_eq!(reads(TYPES[of], &bytes), Some(length));
        }

        #[test]
        fn no_bytes_panic(of in 0..TYPES.len(), bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..200)) {
            reads(TYPES[of], &bytes);
        }
    }

    /// Values in 4-byte words.
    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_flags_and_padding_are_strict() {
        assert_eq!(reads(&VALUE, &words(&[0, 1])), Some(8));
        for refused in [
            // A flag of 2, an unknown value, an error of an unknown code, a list whose flag is 2.
            &words(&[0, 2])[..],
            &words(&[23]),
            &words(&[2, 1, 10]),
            &words(&[16, 2]),
            // Bytes padded with one, a symbol of 33, a list longer than what follows.
            b"\0\0\0\x0D\0\0\0\x01a\0\0\x01",
            &[&words(&[15, 33])[..], &[b'a'; 36]].concat(),
            &words(&[16, 1, u32::MAX, 1]),
        ] {
            assert_eq!(reads(&VALUE, refused), None, "{refused:?}");
        }
        assert_eq!(reads(&VALUE, b"\0\0\0\x0D\0\0\0\x01a\0\0\0"), Some(12));
        assert_eq!(reads(&VALUE, &[&words(&[15, 32])[..], &[b'\xFF'; 32]].concat()), Some(40));
    }

    #[test]
    fn levels_are_counted_by_kind() {
        let levels = |of: &'static Type, bytes: &[u8]| read(&mut Reader::new(bytes), of).unwrap().levels;
        let nested = |depth: usize, innermost: &[u32]| words(&[&[16, 1, 1].repeat(depth)[..], innermost].concat());
        assert_eq!(levels(&VALUE, &nested(0, &[1])), 0);
        assert_eq!(levels(&VALUE, &nested(500, &[1])), 500);
        // An absent list, an absent map, and an instance of an asset without storage are levels too.
        for innermost in [&[16, 0][..], &[17, 0], &[19, 1, 0]] {
            assert_eq!(levels(&VALUE, &nested(3, innermost)), 4);
        }
        // Of two siblings the deeper one counts.
        let siblings = [words(&[16, 1, 2]), nested(2, &[1]), nested(1, &[1])].concat();
        assert_eq!(levels(&VALUE, &siblings), 3);
        // Two invocations, the inner one with a value nested three deep; and with none.
        let call = |arguments: &[u8]| [words(&[0, 1]), vec![0; 32], words(&[0, 1]), arguments.to_vec()].concat();
        let tree = |arguments: &[u8]| [call(&words(&[1])), words(&[1]), call(arguments), words(&[0])].concat();
        assert_eq!(levels(&INVOCATION, &tree(&nested(3, &[1]))), 3);
        assert_eq!(levels(&INVOCATION, &tree(&words(&[1]))), 2);
    }
}
