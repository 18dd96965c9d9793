//! Cardano transactions, as far as their auxiliary data, and CIP-20 messages in it.

use blake2::{Blake2b256, Digest};

use super::cbor::{self, Bounds, Data, Item, Same};
use crate::{Refusal, Text, encoding};

const TX_MALFORMED: Refusal = Refusal::new("cardano/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("cardano/tx-too-large");
const AUX_MISSING: Refusal = Refusal::new("cardano/aux-missing");
const AUX_HASH_MISMATCH: Refusal = Refusal::new("cardano/aux-hash-mismatch");

/// Largest transaction, in bytes.
pub const MAX_WIRE: usize = 1 << 16;

const BOUNDS: Bounds = Bounds { indefinite: true, depth: 64, items: usize::MAX };

/// The tag of auxiliary data that may hold scripts.
const AUXILIARY: u64 = 259;
/// The metadata label of messages (CIP-20).
const MESSAGES: u64 = 674;

/// The keys of a transaction's body.
mod key {
    pub(super) const TTL: u64 = 3;
    pub(super) const AUXILIARY_DATA_HASH: u64 = 7;
}

/// The bytes of a transaction in base64, at most [`MAX_WIRE`].
pub fn from_base64(text: &Text) -> Result<Vec<u8>, Refusal> {
    if encoding::base64_size(text).is_some_and(|size| size > MAX_WIRE) {
        return Err(TX_TOO_LARGE);
    }
    text.as_str().and_then(encoding::from_base64).ok_or(TX_MALFORMED)
}

/// A transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction<'a> {
    /// The last slot in which it may be taken, if it names one.
    pub ttl: Option<u64>,
    /// What stands beside its body, which the body names by hash.
    pub auxiliary_data: Item<'a>,
}

impl<'a> Transaction<'a> {
    /// Reads a transaction: body, witnesses, whether its scripts are valid, auxiliary data. The body's other fields and
    /// the witnesses may be any CBOR.
    pub fn decode(wire: &'a [u8]) -> Result<Self, Refusal> {
        let Data::List(parts) = Item::read(wire, BOUNDS).ok_or(TX_MALFORMED)?.data else { return Err(TX_MALFORMED) };
        let [body, _, valid, auxiliary_data] = <[_; 4]>::try_from(parts).map_err(|_| TX_MALFORMED)?;
        let fields = body.map().filter(|fields| cbor::keys_are_unique(fields, Same::Written)).ok_or(TX_MALFORMED)?;
        let (mut ttl, mut hash) = (None, None);
        for (name, value) in fields {
            match (&name.data, &value.data) {
                (Data::Uint(key::TTL), Data::Uint(slot)) => ttl = Some(*slot),
                (Data::Uint(key::TTL), _) => return Err(TX_MALFORMED),
                (Data::Uint(key::AUXILIARY_DATA_HASH), _) => hash = Some(value),
                (Data::Uint(_), _) => {}
                _ => return Err(TX_MALFORMED),
            }
        }
        if !matches!(valid.data, Data::Simple(20 | 21)) {
            return Err(TX_MALFORMED);
        }
        let hash = hash.filter(|_| auxiliary_data.data != Data::Simple(22)).ok_or(AUX_MISSING)?;
        let hash = hash.bytes().filter(|hash| hash.len() == 32).ok_or(TX_MALFORMED)?;
        if *hash != *Blake2b256::digest(auxiliary_data.raw) {
            return Err(AUX_HASH_MISMATCH);
        }
        Ok(Self { ttl, auxiliary_data })
    }

    /// The lines of the one message (CIP-20), each an item of any kind.
    pub fn message(&self) -> Result<&[Item<'a>], NoMessage> {
        let labels = self.metadata().ok_or(NoMessage::None)?;
        let mut messages = labels.iter().filter(|(label, _)| label.data == Data::Uint(MESSAGES));
        let (_, message) = messages.next().ok_or(NoMessage::None)?;
        if messages.next().is_some() {
            return Err(NoMessage::Several);
        }
        let members = message.map().ok_or(NoMessage::None)?;
        if !cbor::keys_are_unique(members, Same::Decoded) {
            return Err(NoMessage::Several);
        }
        members.iter().find(|(name, _)| name.text() == Some("msg")).and_then(|(_, lines)| lines.list()).ok_or(NoMessage::None)
    }

    /// The metadata, in any of the three forms that auxiliary data have had.
    fn metadata(&self) -> Option<&[(Item<'a>, Item<'a>)]> {
        match &self.auxiliary_data.data {
            Data::Map(labels) => Some(labels),
            Data::List(parts) => parts.first()?.map(),
            Data::Tag(AUXILIARY, parts) => parts.map()?.iter().find_map(|(key, part)| part.map().filter(|_| key.data == Data::Uint(0))),
            _ => None,
        }
    }
}

/// Why there is not one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMessage {
    /// There is none.
    None,
    /// Decoders may differ in which one they find.
    Several,
}

/// Auxiliary data that hold a message of two lines, each of at most 64 bytes, the most that metadata take.
pub fn message_of(lines: [&str; 2]) -> Option<Vec<u8>> {
    // Tag 259, {0: {674: {"msg": [..]}}}.
    let mut data = b"\xD9\x01\x03\xA1\x00\xA1\x19\x02\xA2\xA1\x63msg\x82".to_vec();
    for line in lines {
        match u8::try_from(line.len()).ok()? {
            length @ 0..24 => data.push(0x60 | length),
            length @ 24..=64 => data.extend([0x78, length]),
            _ => return None,
        }
        data.extend(line.as_bytes());
    }
    Some(data)
}

/// Whether the text looks like an address in bech32: a name of small letters and underscores, `1`, and at least six of
/// its letters. No checksum is asked for.
pub fn is_address(text: &str) -> bool {
    let is_data = |b: u8| matches!(b, b'0' | b'2'..=b'9') || (b.is_ascii_lowercase() && !matches!(b, b'b' | b'i' | b'o'));
    text.split_once('1').is_some_and(|(name, data)| {
        (1..=83).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && data.len() >= 6 && data.bytes().all(is_data)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, json};

    /// Transactions as pycardano writes them: the row, the bytes.
    fn made() -> Vec<(Value, Vec<u8>)> {
        let rows = json::lines(include_str!("../../tests/peers/cardano/transactions.jsonl"));
        rows.into_iter().map(|row| (row.clone(), bytes(&row, "transaction"))).collect()
    }

    fn text<'a>(row: &'a Value, name: &str) -> &'a str {
        row.get(name).and_then(Value::as_str).unwrap()
    }

    fn bytes(row: &Value, name: &str) -> Vec<u8> {
        encoding::from_hex(&format!("0x{}", text(row, name))).unwrap()
    }

    #[test]
    fn transactions_of_a_public_library() {
        for (row, wire) in made() {
            let transaction = Transaction::decode(&wire).unwrap();
            assert_eq!(transaction.ttl, row.get("ttl").and_then(Value::as_safe_unsigned));
            assert_eq!(transaction.auxiliary_data.raw, bytes(&row, "auxiliaryData"));
            let lines: Vec<_> = transaction.message().unwrap().iter().map(|line| line.text().unwrap()).collect();
            assert_eq!(lines, ["lcp:sha256:0x", text(&row, "h")]);
            if text(&row, "form") == "alonzo" {
                assert_eq!(message_of([lines[0], lines[1]]), Some(bytes(&row, "auxiliaryData")));
            }
            assert!(is_address(text(&row, "address")));
        }
    }

    #[test]
    fn refuses_other_bytes() {
        let (_, wire) = made().swap_remove(0);
        let refused = |wire: &[u8]| Transaction::decode(wire).unwrap_err().code().to_owned();
        assert_eq!(refused(&wire[..wire.len() - 1]), "cardano/tx-malformed");
        assert_eq!(refused(&[&wire[..], &[0]].concat()), "cardano/tx-malformed");
        let data = [&wire[..wire.len() - 1], b"x"].concat();
        assert_eq!(refused(&data), "cardano/aux-hash-mismatch");
        // Without its auxiliary data.
        let data = message_of(["lcp:sha256:0x", &"0".repeat(64)]).unwrap();
        assert_eq!(refused(&[&wire[..wire.len() - data.len()], &[0xF6]].concat()), "cardano/aux-missing");
        let of = |text: String| from_base64(&text.into()).unwrap_err().code().to_owned();
        assert_eq!(of("A".repeat(87_384)), "cardano/tx-too-large");
        assert_eq!(of("A".repeat(87_385)), "cardano/tx-malformed");
    }

    #[test]
    fn messages_fit_their_lines() {
        assert!(message_of([&"a".repeat(64), ""]).is_some());
        assert_eq!(message_of([&"a".repeat(65), ""]), None);
    }

    #[test]
    fn addresses() {
        for (text, is) in [
            ("addr1qqqqqq", true),
            ("addr_test1qqqqqq", true),
            (&format!("{}1qqqqqq", "a".repeat(83)), true),
            (&format!("{}1qqqqqq", "a".repeat(84)), false),
            ("addr1qqqqq", false),
            ("addr1qqqqqqb", false),
            ("addr1qqqqqq1", false),
            ("ad2r1qqqqqq", false),
            ("1qqqqqq", false),
            ("ADDR1QQQQQQ", false),
            ("addr", false),
        ] {
            assert_eq!(is_address(text), is, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_change_is_read_or_refused(row in 0..6usize, place: prop::sample::Index, byte: u8) {
            let (_, mut wire) = made().swap_remove(row);
            let place = place.index(wire.len());
            wire[place] = byte;
            if let Ok(transaction) = Transaction::decode(&wire) {
                let _ = transaction.message();
            }
        }
    }
}
