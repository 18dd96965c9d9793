//! Sui transactions: what goes into a programmable transaction, and what its commands use.

use super::{bcs, bytes::Reader};
use crate::{Refusal, Text, encoding};

const TX_MALFORMED: Refusal = Refusal::new("sui/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("sui/tx-too-large");
const NOT_PROGRAMMABLE: Refusal = Refusal::new("sui/not-programmable");

/// Most bytes of a transaction.
pub const MAX_WIRE: usize = 1 << 17;

/// How deep a type may nest, itself counted.
const MAX_TYPE_DEPTH: usize = 15;

/// A programmable transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction<'a> {
    inputs: Vec<Input<'a>>,
    /// Places of inputs that commands use. They may lead past the inputs.
    used: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input<'a> {
    /// A value's own bytes.
    Pure(&'a [u8]),
    /// An object or funds.
    Other,
}

/// The bytes of a transaction from base64.
pub fn from_base64(text: &Text) -> Result<Vec<u8>, Refusal> {
    if encoding::base64_size(text).is_some_and(|size| size > MAX_WIRE) {
        return Err(TX_TOO_LARGE);
    }
    text.as_str().and_then(encoding::from_base64).ok_or(TX_MALFORMED)
}

impl<'a> Transaction<'a> {
    /// Reads transaction data of version 1, which must end with the bytes. A transaction of another kind is refused by the
    /// kind's first byte.
    pub fn decode(wire: &'a [u8]) -> Result<Self, Refusal> {
        match wire {
            [0, 0, rest @ ..] => Self::programmable(&mut Reader::new(rest)).ok_or(TX_MALFORMED),
            [0, _, ..] => Err(NOT_PROGRAMMABLE),
            _ => Err(TX_MALFORMED),
        }
    }

    /// The pure inputs that no command uses.
    pub fn unused(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut unused: Vec<_> = self.inputs.iter().copied().map(Some).collect();
        for &place in &self.used {
            if let Some(input) = unused.get_mut(usize::from(place)) {
                *input = None;
            }
        }
        unused.into_iter().filter_map(|input| match input {
            Some(Input::Pure(bytes)) => Some(bytes),
            _ => None,
        })
    }

    fn programmable(reader: &mut Reader<'a>) -> Option<Self> {
        let inputs = bcs::list(reader, input)?;
        let mut used = Vec::new();
        bcs::list(reader, |reader| command(reader, &mut used))?;
        address(reader)?; // the sender
        bcs::list(reader, object)?; // what gas is paid with
        address(reader)?; // its owner
        reader.take(2 * 8)?; // its price and budget
        expiration(reader)?;
        (reader.left() == 0).then_some(Self { inputs, used })
    }
}

fn input<'a>(reader: &mut Reader<'a>) -> Option<Input<'a>> {
    match reader.byte()? {
        0 => return bcs::bytes(reader).map(Input::Pure),
        1 => match reader.byte()? {
            // Owned or immutable, or received.
            0 | 2 => object(reader)?,
            // Shared: its id, the version at which it was, and whether it is changed.
            1 => {
                reader.take(32 + 8)?;
                bcs::flag(reader)?;
            }
            _ => return None,
        },
        2 => withdrawal(reader)?,
        _ => return None,
    }
    Some(Input::Other)
}

/// Funds withdrawn from an address: at most how much, of which coin, and whose.
fn withdrawal(reader: &mut Reader<'_>) -> Option<()> {
    variant(reader, 1)?;
    bcs::uint64(reader)?;
    variant(reader, 1)?;
    type_tag(reader)?;
    // The sender's, the sponsor's, or those that one address allows another.
    if variant(reader, 3)? == 2 {
        reader.take(2 * 32)?;
    }
    Some(())
}

fn command(reader: &mut Reader<'_>, used: &mut Vec<u16>) -> Option<()> {
    let mut argument = |reader: &mut Reader<'_>| {
        match reader.byte()? {
            // What gas is paid with.
            0 => {}
            1 => used.push(reader.array().map(u16::from_le_bytes)?),
            // A command's result, or one of several.
            2 => drop(reader.take(2)?),
            3 => drop(reader.take(4)?),
            _ => return None,
        }
        Some(())
    };
    match reader.byte()? {
        // Call a function: package, module, name, types.
        0 => {
            address(reader)?;
            bcs::text(reader)?;
            bcs::text(reader)?;
            bcs::list(reader, type_tag)?;
            bcs::list(reader, argument)?;
        }
        // Transfer objects to an address.
        1 => {
            bcs::list(reader, &mut argument)?;
            argument(reader)?;
        }
        // Split a coin, or merge coins into one.
        2 | 3 => {
            argument(reader)?;
            bcs::list(reader, argument)?;
        }
        // Publish modules with their dependencies.
        4 => modules(reader)?,
        // Make a vector, of a type if it is empty.
        5 => {
            bcs::option(reader, type_tag)?;
            bcs::list(reader, argument)?;
        }
        // Upgrade a package by a ticket.
        6 => {
            modules(reader)?;
            address(reader)?;
            argument(reader)?;
        }
        _ => return None,
    }
    Some(())
}

fn modules(reader: &mut Reader<'_>) -> Option<()> {
    bcs::list(reader, bcs::bytes)?;
    bcs::list(reader, address)?;
    Some(())
}

fn expiration(reader: &mut Reader<'_>) -> Option<()> {
    match variant(reader, 4)? {
        0 => {}
        // An epoch.
        1 => drop(bcs::uint64(reader)?),
        // Bounds in epochs and in time, the chain, a nonce, and in the last variant who may propose it in an epoch.
        kind => {
            for _ in 0..4 {
                bcs::option(reader, bcs::uint64)?;
            }
            digest(reader)?;
            reader.take(4)?;
            if kind == 3 {
                bcs::option(reader, proposers)?;
            }
        }
    }
    Some(())
}

/// An epoch, and validators in it, in rising order.
fn proposers(reader: &mut Reader<'_>) -> Option<()> {
    bcs::uint64(reader)?;
    let validators = bcs::list(reader, |reader| reader.array().map(u32::from_le_bytes))?;
    (!validators.is_empty() && validators.is_sorted_by(|one, next| one < next)).then_some(())
}

/// A type's text. Sellers read a type as text and write it anew, so one that does not read back as itself is refused.
fn type_tag(reader: &mut Reader<'_>) -> Option<String> {
    type_within(reader, MAX_TYPE_DEPTH)
}

fn type_within(reader: &mut Reader<'_>, depth: usize) -> Option<String> {
    let inner = depth.checked_sub(1)?;
    let named = match reader.byte()? {
        0 => "bool",
        1 => "u8",
        2 => "u64",
        3 => "u128",
        4 => "address",
        5 => "signer",
        6 => {
            let item = type_within(reader, inner)?;
            return is_one_line(&item).then(|| format!("vector<{item}>"));
        }
        7 => return struct_within(reader, inner),
        8 => "u16",
        9 => "u32",
        10 => "u256",
        _ => return None,
    };
    Some(named.to_owned())
}

fn struct_within(reader: &mut Reader<'_>, depth: usize) -> Option<String> {
    let address = encoding::hex(address(reader)?);
    let (module, name) = (bcs::text(reader)?, bcs::text(reader)?);
    let parameters = bcs::list(reader, |reader| type_within(reader, depth))?;
    // A text is taken apart at `::` and at the first `<` behind the second of them.
    if module.is_empty() || module.contains(':') || name.is_empty() || name.contains('<') {
        return None;
    }
    if parameters.is_empty() {
        return Some(format!("{address}::{module}::{name}"));
    }
    let listed = parameters.join(", ");
    (is_one_line(&listed) && split(&listed).eq(&parameters)).then(|| format!("{address}::{module}::{name}<{listed}>"))
}

/// A list of types as a reader takes it apart: at each comma that is in as many `<` as `>`, without the white space around.
fn split(listed: &str) -> impl Iterator<Item = &str> {
    let mut open = 0i32;
    let parts = listed.split(move |letter| {
        open += i32::from(letter == '<') - i32::from(letter == '>');
        letter == ',' && open == 0
    });
    // ECMAScript's white space.
    parts.map(|part| part.trim_matches(|c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}')))
}

/// Whether a text has no line end, as what stands between `<` and `>` must.
fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}

/// The number of an enum's variant, of which there are `count`.
fn variant(reader: &mut Reader<'_>, count: u8) -> Option<u8> {
    reader.byte().filter(|&variant| variant < count)
}

/// An object's id, version and digest.
fn object(reader: &mut Reader<'_>) -> Option<()> {
    reader.take(32 + 8)?;
    digest(reader)
}

fn digest(reader: &mut Reader<'_>) -> Option<()> {
    (bcs::bytes(reader)?.len() == 32).then_some(())
}

fn address<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    reader.take(32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, json};

    /// What `peers/sui/cases.mjs` made.
    fn cases() -> Value {
        json::parse(include_str!("../../tests/peers/sui/cases.json"), json::MAX_DEPTH).unwrap()
    }

    fn bytes(case: &Value, name: &str) -> Vec<u8> {
        encoding::from_hex(case.get(name).unwrap().as_str().unwrap()).unwrap()
    }

    fn built(name: &str) -> Vec<u8> {
        let cases = cases();
        let mut built = cases.get("built").unwrap().as_array().unwrap().iter();
        bytes(built.find(|case| case.get("name") == Some(&name.into())).unwrap(), "wire")
    }

    fn unused(wire: &[u8]) -> Result<Vec<String>, Refusal> {
        Ok(Transaction::decode(wire)?.unused().map(encoding::hex).collect())
    }

    #[test]
    fn reads_transactions_of_the_sdk() {
        for case in cases().get("built").unwrap().as_array().unwrap() {
            let expected: Vec<_> = case.get("unused").unwrap().as_array().unwrap().iter().map(|bytes| bytes.as_str().unwrap().to_owned()).collect();
            assert_eq!(unused(&bytes(case, "wire")), Ok(expected), "{:?}", case.get("name"));
        }
    }

    /// A type is taken just where the SDK writes a transaction with it as it read it.
    #[test]
    fn types_read_back_as_in_the_sdk() {
        let cases = cases();
        let types = cases.get("types").unwrap();
        let (before, after) = (bytes(types, "before"), bytes(types, "after"));
        for case in types.get("read").unwrap().as_array().unwrap() {
            let wire = [&*before, &bytes(case, "tag"), &after].concat();
            assert_eq!(Value::from(Transaction::decode(&wire).is_ok()), *case.get("readsBack").unwrap(), "{case:?}");
        }
        let nested = |depth: usize| [vec![6; depth - 1], vec![1]].concat();
        assert!(Transaction::decode(&[&*before, &nested(15), &after].concat()).is_ok());
        assert!(Transaction::decode(&[&*before, &nested(16), &after].concat()).is_err());
        assert!(Transaction::decode(&[&*before, &[11], &after].concat()).is_err());
    }

    #[test]
    fn a_list_of_types_is_taken_apart() {
        for (listed, parts) in [
            ("a", vec!["a"]),
            ("a, b", vec!["a", "b"]),
            ("a<b, c>, d", vec!["a<b, c>", "d"]),
            ("a>, b", vec!["a>, b"]),
            ("\u{FEFF}a\u{A0}, \u{85}b", vec!["a", "\u{85}b"]),
            ("", vec![""]),
        ] {
            assert_eq!(split(listed).collect::<Vec<_>>(), parts, "{listed}");
        }
    }

    #[test]
    fn only_programmable_transactions_of_version_1() {
        let wire = built("payment");
        let with = |place: usize, byte: u8| {
            let mut wire = wire.clone();
            wire[place] = byte;
            unused(&wire).unwrap_err()
        };
        assert_eq!(with(0, 1), TX_MALFORMED);
        for kind in [1, 5, 11, 0x80] {
            assert_eq!(with(1, kind), NOT_PROGRAMMABLE);
        }
        assert_eq!(unused(&[0]), Err(TX_MALFORMED));
        assert_eq!(unused(&[0, 1]), Err(NOT_PROGRAMMABLE));
        assert_eq!(unused(&[]), Err(TX_MALFORMED));
    }

    #[test]
    fn expirations() {
        let wire = built("no expiration");
        let expires = |bytes: &[u8]| unused(&[&wire[..wire.len() - 1], bytes].concat()).is_ok();
        let digest = [[32].as_slice(), &[9; 32]].concat();
        let during = |kind: u8, last: &[u8]| [&[kind, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], &*digest, &[7, 0, 0, 0], last].concat();
        let proposers = |indexes: &[u8]| {
            let list: Vec<u8> = indexes.iter().flat_map(|&index| [index, 0, 0, 0]).collect();
            [[1, 5, 0, 0, 0, 0, 0, 0, 0, u8::try_from(indexes.len()).unwrap()].as_slice(), &list].concat()
        };
        assert!(expires(&[0]) && expires(&[1, 0, 0, 0, 0, 0, 0, 0, 0]) && expires(&during(2, &[])));
        assert!(expires(&during(3, &[0])) && expires(&during(3, &proposers(&[1, 2, 9]))));
        for odd in [proposers(&[]), proposers(&[1, 1]), proposers(&[2, 1]), vec![2], vec![]] {
            assert!(!expires(&during(3, &odd)), "{odd:?}");
        }
        assert!(!expires(&[4]) && !expires(&[1, 0]) && !expires(&during(2, &[0])) && !expires(&during(2, &[])[..40]));
    }

    #[test]
    fn is_bounded() {
        let text = |len: usize| encoding::base64(&vec![0; len]).into();
        assert_eq!(from_base64(&text(MAX_WIRE)).unwrap().len(), MAX_WIRE);
        assert_eq!(from_base64(&text(MAX_WIRE + 1)), Err(TX_TOO_LARGE));
        assert_eq!(from_base64(&"AA".into()), Err(TX_MALFORMED));
    }

    proptest! {
        #[test]
        fn ends_with_the_bytes(cut: usize, tail in 1..3usize) {
            let wire = built("every command");
            prop_assert!(Transaction::decode(&wire[..cut % wire.len()]).is_err());
            prop_assert_eq!(unused(&[wire, vec![0; tail]].concat()), Err(TX_MALFORMED));
        }

        #[test]
        fn any_bytes(place: usize, byte: u8, bytes: Vec<u8>) {
            let mut wire = built("every command");
            let place = place % wire.len();
            wire[place] = byte;
            for wire in [wire, [&[0, 0], &*bytes].concat()] {
                if let Ok(transaction) = Transaction::decode(&wire) {
                    prop_assert!(transaction.unused().count() <= transaction.inputs.len());
                }
            }
        }
    }
}
