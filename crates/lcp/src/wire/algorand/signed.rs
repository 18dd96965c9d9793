//! A signed transaction as both kinds of party read it, who must agree.
//!
//! One party reads it in Go, into a struct that a repeated member writes over, from any encoding that a value fits. The other
//! reads it in JavaScript, by the last of each member, from fewer encodings and fewer members. Each writes what it read in
//! canonical form before a signature is judged over it, so what they would write differently is refused.

use std::collections::BTreeMap;

use super::{
    msgpack::Node,
    schema::{Field, Form, Of, SIGNED, TRANSACTION},
};
use crate::{Refusal, Value, encoding};

const TXN_MALFORMED: Refusal = Refusal::new("avm/txn-malformed");
const NOT_AXFER: Refusal = Refusal::new("avm/not-axfer");

/// Longest base64 text of a signed transaction.
pub const MAX_TEXT: usize = 8192;
/// Longest note.
const MAX_NOTE: usize = 4096;

const AXFER: &str = "axfer";

/// The note of a transaction that transfers an asset; empty where it has none. The transaction is read from base64, as a
/// payment's member holds it, signed or not yet.
pub fn transfer_note(member: &Value) -> Result<Vec<u8>, Refusal> {
    let text = member.as_text().filter(|text| text.utf16_len() <= MAX_TEXT).and_then(|text| text.as_str());
    decode_note(&text.and_then(encoding::from_base64).ok_or(TXN_MALFORMED)?)
}

/// The same from msgpack.
pub fn decode_note(wire: &[u8]) -> Result<Vec<u8>, Refusal> {
    let node = Node::decode(wire).ok_or(TXN_MALFORMED)?;
    let written = go(&node).ok_or(TXN_MALFORMED)?;
    if written.kind() != Some(AXFER) {
        return Err(NOT_AXFER);
    }
    let read = javascript(&node).filter(|read| read.is_written_as(&written)).ok_or(TXN_MALFORMED)?;
    Ok(read.transaction_bytes("note").to_vec())
}

/// A transaction as it is read in Go: of a known type, with nothing set that belongs to another.
fn go(node: &Node<'_>) -> Option<Held> {
    let mut signed = Held::zero(Form::Object(SIGNED));
    signed.write_over(Form::Object(SIGNED), node)?;
    let kind = signed.kind()?;
    let own = TRANSACTION.iter().map(|field| field.of).find(|of| matches!(of, Of::Type(known) if *known == kind))?;
    let values = signed.member(SIGNED, "txn")?.values();
    let clean = TRANSACTION.iter().zip(values).all(|(field, value)| field.of == Of::All || field.of == own || value.is_unset(field.form));
    clean.then_some(signed)
}

/// An asset transfer as it is read in JavaScript.
fn javascript(node: &Node<'_>) -> Option<Held> {
    let signed = Held::read(Form::Object(SIGNED), node).filter(|_| has_plain_keys(node))?;
    let genesis_hash = last(last(node, "txn")?, "gh")?;
    let note = signed.transaction_bytes("note");
    (*genesis_hash != Node::Nil && note.len() <= MAX_NOTE).then_some(signed)
}

/// A value in a reader's hands.
#[derive(Clone, Debug)]
enum Held {
    Uint(u64),
    Flag(bool),
    /// Bytes or text, or none.
    Bytes(Option<Vec<u8>>),
    Fixed(Vec<u8>),
    List(Option<List>),
    Map(Option<BTreeMap<u64, Held>>),
    Object(Vec<Held>),
    Optional(Option<Box<Held>>),
}

/// A list, whose items stay behind it when a shorter one is written over it, until it grows again.
#[derive(Clone, Debug, Default)]
struct List {
    items: Vec<Held>,
    len: usize,
}

impl Held {
    fn zero(form: Form) -> Self {
        match form {
            Form::Uint(_) => Self::Uint(0),
            Form::Flag => Self::Flag(false),
            Form::Text | Form::Bytes => Self::Bytes(None),
            Form::Fixed(len) => Self::Fixed(vec![0; len]),
            Form::List(_) => Self::List(None),
            Form::Map(_) => Self::Map(None),
            Form::Object(fields) | Form::Tuple(fields) => Self::Object(fields.iter().map(|field| Self::zero(field.form)).collect()),
            Form::Optional(_) => Self::Optional(None),
        }
    }

    /// Writes a value over this one, as Go's decoder does.
    fn write_over(&mut self, form: Form, node: &Node<'_>) -> Option<()> {
        if *node == Node::Nil {
            *self = Self::zero(form);
            return Some(());
        }
        match (form, self) {
            (Form::Uint(most), Self::Uint(held)) => match node {
                Node::Uint { value, .. } if *value <= most => *held = *value,
                _ => return None,
            },
            (Form::Flag, Self::Flag(held)) => match node {
                Node::Flag(value) => *held = *value,
                Node::Uint { value: value @ (0 | 1), width: 0 } => *held = *value == 1,
                _ => return None,
            },
            (Form::Text, Self::Bytes(held)) => *held = Some(text(node)?),
            (Form::Bytes, Self::Bytes(held)) => {
                *held = Some(match node.string() {
                    Some(bytes) => bytes.to_vec(),
                    None => items(node)?.into_iter().map(byte).collect::<Option<_>>()?,
                });
            }
            (Form::Fixed(len), Self::Fixed(held)) => match node.string() {
                Some(bytes) => held.iter_mut().zip(bytes).for_each(|(held, byte)| *held = *byte),
                None => {
                    for (held, item) in held.iter_mut().zip(items(node).filter(|items| items.len() <= len)?) {
                        *held = byte(item)?;
                    }
                }
            },
            (Form::List(form), Self::List(held)) => {
                let items = items(node)?;
                let list = held.get_or_insert_default();
                list.len = items.len();
                list.items.resize(list.items.len().max(list.len), Self::zero(*form));
                for (held, item) in list.items.iter_mut().zip(items) {
                    held.write_over(*form, item)?;
                }
            }
            (Form::Map(form), Self::Map(held)) => {
                let Node::Map(entries) = node else { return None };
                let map = held.get_or_insert_default();
                for (key, value) in entries {
                    let Node::Uint { value: key, .. } = key else { return None };
                    map.entry(*key).or_insert_with(|| Self::zero(*form)).write_over(*form, value)?;
                }
            }
            (Form::Object(fields) | Form::Tuple(fields), Self::Object(held)) => match node {
                Node::Map(entries) => {
                    for (key, value) in entries {
                        let name = text(key)?;
                        let (field, held) = fields.iter().zip(held.iter_mut()).find(|(field, _)| field.name.as_bytes() == name)?;
                        held.write_over(field.form, value)?;
                    }
                }
                Node::Array(values) if matches!(form, Form::Tuple(_)) && values.len() <= fields.len() => {
                    for ((field, held), value) in fields.iter().zip(held).zip(values) {
                        held.write_over(field.form, value)?;
                    }
                }
                _ => return None,
            },
            (Form::Optional(form), Self::Optional(held)) => {
                held.get_or_insert_with(|| Box::new(Self::zero(*form))).write_over(*form, node)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads a value, as JavaScript's decoder does. What it does not know stays zero.
    fn read(form: Form, node: &Node<'_>) -> Option<Self> {
        if *node == Node::Nil {
            return Some(Self::zero(form));
        }
        Some(match (form, node) {
            // The small numbers that are zero are left out when they are written, but not a big integer that is.
            (Form::Uint(0xFF), Node::Uint { value: 0, width: 8 }) => return None,
            (Form::Uint(most), Node::Uint { value, .. }) if *value <= most => Self::Uint(*value),
            (Form::Text, _) => Self::Bytes(Some(std::str::from_utf8(node.string()?).ok()?.into())),
            (Form::Bytes, _) => Self::Bytes(Some(node.string()?.to_vec())),
            (Form::Fixed(len), _) => Self::Fixed(node.string().filter(|bytes| bytes.len() == len)?.to_vec()),
            (Form::List(form), Node::Array(values)) => {
                let items: Vec<_> = values.iter().map(|value| Self::read(*form, value)).collect::<Option<_>>()?;
                Self::List(Some(List { len: items.len(), items }))
            }
            (Form::Object(fields) | Form::Tuple(fields), Node::Map(_)) => {
                let member = |field: &Field| match last(node, field.name) {
                    Some(value) if matches!(field.of, Of::All | Of::Type(AXFER)) => Self::read(field.form, value),
                    _ => Some(Self::zero(field.form)),
                };
                Self::Object(fields.iter().map(member).collect::<Option<_>>()?)
            }
            // An array has no member of any name.
            (Form::Tuple(_), Node::Array(_)) => Self::zero(form),
            _ => return None,
        })
    }

    /// Whether both are written the same in canonical form, which leaves out what is zero or empty.
    fn is_written_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Uint(one), Self::Uint(other)) => one == other,
            (Self::Flag(one), Self::Flag(other)) => one == other,
            (Self::Bytes(one), Self::Bytes(other)) => one.as_deref().unwrap_or_default() == other.as_deref().unwrap_or_default(),
            (Self::Fixed(one), Self::Fixed(other)) => one == other,
            (Self::List(one), Self::List(other)) => are_written_as(list(one.as_ref()), list(other.as_ref())),
            // No map and no optional value is read by both.
            (Self::Map(one), Self::Map(other)) => [one, other].into_iter().flatten().all(BTreeMap::is_empty),
            (Self::Object(one), Self::Object(other)) => are_written_as(one, other),
            (Self::Optional(one), Self::Optional(other)) => one.is_none() && other.is_none(),
            _ => false,
        }
    }

    /// Whether nothing was ever written, where that shows, or but zero.
    fn is_unset(&self, form: Form) -> bool {
        match self {
            Self::Bytes(held) => held.is_none(),
            Self::List(held) => held.is_none(),
            _ => self.is_written_as(&Self::zero(form)),
        }
    }

    fn values(&self) -> &[Self] {
        match self {
            Self::Object(values) => values,
            _ => &[],
        }
    }

    fn member(&self, fields: &[Field], name: &str) -> Option<&Self> {
        fields.iter().zip(self.values()).find(|(field, _)| field.name == name).map(|(_, value)| value)
    }

    /// A member of the transaction that is signed.
    fn transaction_bytes(&self, name: &str) -> &[u8] {
        match self.member(SIGNED, "txn").and_then(|transaction| transaction.member(TRANSACTION, name)) {
            Some(Self::Bytes(Some(bytes))) => bytes,
            _ => &[],
        }
    }

    /// The transaction's type.
    fn kind(&self) -> Option<&str> {
        std::str::from_utf8(self.transaction_bytes("type")).ok()
    }
}

fn are_written_as(one: &[Held], other: &[Held]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_written_as(other))
}

fn list(held: Option<&List>) -> &[Held] {
    held.and_then(|list| list.items.get(..list.len)).unwrap_or_default()
}

/// Text in Go: a string, or its bytes in an array.
fn text(node: &Node<'_>) -> Option<Vec<u8>> {
    match node {
        Node::Array(values) => values.iter().map(byte).collect(),
        _ => node.string().map(<[u8]>::to_vec),
    }
}

/// A byte in Go.
fn byte(node: &Node<'_>) -> Option<u8> {
    match node {
        Node::Nil => Some(0),
        Node::Uint { value, .. } => u8::try_from(*value).ok(),
        _ => None,
    }
}

/// A list's items in Go, which takes a map for the list of its keys and values.
fn items<'n, 'a>(node: &'n Node<'a>) -> Option<Vec<&'n Node<'a>>> {
    match node {
        Node::Array(values) => Some(values.iter().collect()),
        Node::Map(entries) => Some(entries.iter().flat_map(|(key, value)| [key, value]).collect()),
        _ => None,
    }
}

/// The last member of that name.
fn last<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let Node::Map(entries) = node else { return None };
    entries.iter().rev().find(|(key, _)| key.string() == Some(name.as_bytes())).map(|(_, value)| value)
}

/// Whether every map's keys are strings and numbers, as JavaScript's decoder asks.
fn has_plain_keys(node: &Node<'_>) -> bool {
    match node {
        Node::Array(values) => values.iter().all(has_plain_keys),
        Node::Map(entries) => entries
            .iter()
            .all(|(key, value)| matches!(key, Node::Text(_) | Node::Bytes(_) | Node::Uint { .. } | Node::OtherNumber) && has_plain_keys(value)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::tests::{cases, list as listed, text as text_of},
        *,
    };

    /// Encodes a value that is written down here: `nil`, numbers, 'text', h'hex', [..] and {key: value}.
    fn wire(notation: &str) -> Vec<u8> {
        let mut rest = notation;
        let wire = value(&mut rest);
        assert_eq!(rest.trim(), "", "{notation}");
        wire
    }

    fn value(rest: &mut &str) -> Vec<u8> {
        fn word<'a>(rest: &mut &'a str, end: impl Fn(char) -> bool) -> &'a str {
            let (word, tail) = rest.split_at(rest.find(end).unwrap_or(rest.len()));
            *rest = tail;
            word
        }
        fn items(rest: &mut &str, head: u8, close: char) -> Vec<u8> {
            let mut items = Vec::new();
            let mut count = 0;
            loop {
                *rest = rest.trim_start_matches([' ', ',', ':']);
                if let Some(tail) = rest.strip_prefix(close) {
                    *rest = tail;
                    return [vec![head | if close == '}' { count / 2 } else { count }], items].concat();
                }
                items.extend(value(rest));
                count += 1;
            }
        }
        *rest = rest.trim_start();
        let (first, tail) = rest.split_at(1);
        match first {
            "'" => {
                *rest = tail;
                let text = word(rest, |c| c == '\'');
                *rest = &rest[1..];
                [vec![0xD9, u8::try_from(text.len()).unwrap()], text.as_bytes().to_vec()].concat()
            }
            "[" => {
                *rest = tail;
                items(rest, 0x90, ']')
            }
            "{" => {
                *rest = tail;
                items(rest, 0x80, '}')
            }
            _ => match word(rest, |c| ",:]} ".contains(c)) {
                "nil" => vec![0xC0],
                "true" => vec![0xC3],
                "false" => vec![0xC2],
                // A zero in eight bytes.
                "wide" => vec![0xCF, 0, 0, 0, 0, 0, 0, 0, 0],
                "key" => [vec![0xC4, 32], vec![7; 32]].concat(),
                "zeros" => [vec![0xC4, 32], vec![0; 32]].concat(),
                "signature" => [vec![0xC4, 64], vec![7; 64]].concat(),
                number => vec![0xD0, number.parse::<i8>().unwrap().cast_unsigned()],
            },
        }
    }

    const TRANSFER: &str = "'type': 'axfer', 'gh': key, 'snd': key, 'note': 'n', 'xaid': 5";

    fn code(transaction: &str, more: &str) -> String {
        match decode_note(&wire(&format!("{{'txn': {{{transaction}}} {more}}}"))) {
            Ok(note) => String::from_utf8(note).unwrap(),
            Err(refusal) => refusal.code().to_owned(),
        }
    }

    /// The note of a transfer with more members, or the refusal.
    fn with(members: &str) -> String {
        code(&format!("{TRANSFER}, {members}"), "")
    }

    /// The same with more beside the transaction.
    fn beside(members: &str) -> String {
        code(TRANSFER, &format!(", {members}"))
    }

    const MALFORMED: &str = "avm/txn-malformed";

    #[test]
    fn reads_transactions_of_the_sdk() {
        for case in listed(&cases(), "signed") {
            let name = text_of(case, "name");
            match transfer_note(case.get("wire").unwrap()) {
                Ok(note) => assert_eq!(note, text_of(case, "note").as_bytes(), "{name}"),
                Err(refusal) => assert_eq!(refusal.code(), text_of(case, "refusal"), "{name}"),
            }
        }
    }

    #[test]
    fn a_value_may_be_encoded_in_other_ways() {
        assert_eq!(with("'fee': wide, 'fv': 5, 'lv': nil, 'gen': nil, 'grp': zeros, 'lx': nil"), "n");
        assert_eq!(with("'gen': 'testnet'"), "n");
        // As one of the two does not read them.
        for odd in
            ["'note': [110]", "'gen': [110]", "'snd': [7]", "'snd': 'short'", "'fee': -1", "'fee': true", "'fee': '1'", "'gh': nil", "[103]: 5"]
        {
            assert_eq!(with(odd), MALFORMED, "{odd}");
        }
    }

    #[test]
    fn the_last_of_a_member_counts() {
        assert_eq!(with("'note': 'm'"), "m");
        assert_eq!(with("'note': nil"), "");
        assert_eq!(code(&format!("'snd': 'short', 'type': 'pay', {TRANSFER}"), ""), "n");
        // One reader writes the second over the first, the other drops the first.
        assert_eq!(beside(&format!("'txn': {{{TRANSFER}}}")), "n");
        assert_eq!(beside("'txn': {'type': 'axfer', 'gh': key}"), MALFORMED);
        assert_eq!(beside("'msig': {'v': 1}, 'msig': {'v': 2}"), "n");
        assert_eq!(beside("'msig': {'v': 1}, 'msig': {'thr': 2}"), MALFORMED);
        let subsig = "'subsig': [{'pk': key}]";
        assert_eq!(beside(&format!("'msig': {{{subsig}, 'subsig': [nil]}}")), "n");
        assert_eq!(beside(&format!("'msig': {{{subsig}, 'subsig': [{{}}]}}")), MALFORMED);
        // An item stays behind a list that was cut short.
        assert_eq!(beside(&format!("'msig': {{{subsig}, 'subsig': [], 'subsig': [{{}}]}}")), MALFORMED);
    }

    #[test]
    fn nothing_of_another_type_is_set() {
        for zero in [
            "'amt': 0",
            "'rcv': ''",
            "'rcv': [0, nil]",
            "'votekey': {}",
            "'apar': {'t': 0, 'un': []}",
            "'apar': [0]",
            "'nonpart': false",
            "'sp': {'pr': []}",
            "'hb': nil",
            "'apaa': nil",
        ] {
            assert_eq!(with(zero), "n", "{zero}");
        }
        for set in [
            "'amt': 1",
            "'rcv': 'x'",
            "'apar': {'t': 1}",
            "'apar': {'zz': 0}",
            "'nonpart': true",
            "'hb': {}",
            "'apaa': []",
            "'apap': ''",
            "'zz': nil",
            "'': 0",
        ] {
            assert_eq!(with(set), MALFORMED, "{set}");
            assert_eq!(
                code(&format!("'type': 'pay', {set}"), ""),
                if ["'amt': 1", "'rcv': 'x'"].contains(&set) { "avm/not-axfer" } else { MALFORMED }
            );
        }
    }

    #[test]
    fn another_type_is_refused_as_one_reader_reads_it() {
        assert_eq!(code("'type': [112, 97, 121], 'rcv': [7], 'note': {110: nil}", ""), "avm/not-axfer");
        assert_eq!(code("'type': 'appl', 'apaa': [[1], 'x'], 'apls': [1, 2], 'apbx': [{'i': 1}]", ""), "avm/not-axfer");
        assert_eq!(code("'type': 'hb', 'hb': {'prf': {'p': key}}", ""), "avm/not-axfer");
        assert_eq!(code("'type': 'stpf', 'sp': {'r': {0: {'p': {'w': 5}}}}", ""), "avm/not-axfer");
        for odd in ["'type': 'axfe'", "'type': ''", "'type': nil", "'fee': 1", "'type': 'pay', 'rcv': -1"] {
            assert_eq!(code(odd, ""), MALFORMED, "{odd}");
        }
    }

    #[test]
    fn what_signs_it_is_read_by_both() {
        for good in [
            "'sig': signature",
            "'sig': nil",
            "'sgnr': key",
            "'msig': {'subsig': [{'pk': key, 's': signature}], 'thr': 1, 'v': 1}",
            "'msig': []",
            "'lsig': {'l': 'x', 'arg': ['a', nil], 'sig': signature}",
            "'lsig': ['']",
            "'pqsig': {'sch': [0]}",
            "'lsig': {'pqsig': {}}",
        ] {
            assert_eq!(beside(good), "n", "{good}");
        }
        for odd in [
            "'sig': key",
            "'sig': [7]",
            "'sgnr': 'short'",
            "'msig': [1]",
            "'msig': {'v': wide}",
            "'msig': {'subsig': {}}",
            "'msig': {'zz': 0}",
            "'lsig': {'l': [1]}",
            "'lsig': {'arg': {}}",
            "'lsig': ['x']",
            "'pqsig': {'slt': 1}",
            "'lsig': {'pqsig': {'slt': 1}}",
            "'zz': 0",
        ] {
            assert_eq!(beside(odd), MALFORMED, "{odd}");
        }
        assert_eq!(decode_note(&wire("[]")).unwrap_err(), TXN_MALFORMED);
        assert_eq!(decode_note(&wire(&format!("{{{TRANSFER}}}"))).unwrap_err(), TXN_MALFORMED);
    }

    #[test]
    fn is_bounded() {
        let noted = |len: u16| {
            // A map of the same members, the note's last.
            let members = wire(&format!("{{{}}}", TRANSFER.replace("'note': 'n', ", "")));
            let note = [b"\xA4note\xC5".as_slice(), &len.to_be_bytes(), &vec![b'n'; len.into()]].concat();
            decode_note(&[b"\x81\xA3txn\x85".as_slice(), &members[1..], &note].concat())
        };
        assert_eq!(noted(4096).map(|note| note.len()), Ok(4096));
        assert_eq!(noted(4097), Err(TXN_MALFORMED));
        let long = "A".repeat(MAX_TEXT + 1);
        assert_eq!(transfer_note(&long.into()).unwrap_err(), TXN_MALFORMED);
    }

    proptest! {
        #[test]
        fn any_bytes(case in 0..17usize, place: usize, byte: u8, bytes: Vec<u8>) {
            let cases = cases();
            let case = &listed(&cases, "signed")[case % listed(&cases, "signed").len()];
            let mut wire = encoding::from_base64(text_of(case, "wire")).unwrap();
            let place = place % wire.len();
            wire[place] = byte;
            for wire in [wire, bytes] {
                if let Ok(note) = decode_note(&wire) {
                    prop_assert!(note.len() <= MAX_NOTE);
                }
            }
        }
    }
}
