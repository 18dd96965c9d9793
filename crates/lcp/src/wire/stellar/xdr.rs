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
