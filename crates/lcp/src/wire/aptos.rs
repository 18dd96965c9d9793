//! Aptos transactions, as far as what they call.

use super::{bcs, bytes::Reader};
use crate::{Refusal, Text, encoding, json};

const TX_MALFORMED: Refusal = Refusal::new("aptos/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("aptos/tx-too-large");
const NOT_ENTRY_FUNCTION: Refusal = Refusal::new("aptos/not-entry-function");
const NOT_AN_X402_TRANSFER: Refusal = Refusal::new("aptos/not-an-x402-transfer");

/// Most bytes of a transaction.
pub const MAX_WIRE: usize = 1 << 16;

/// An account address.
pub type Address = [u8; 32];

/// The address of Aptos's own modules.
const FRAMEWORK: Address = {
    let mut address = [0; 32];
    address[31] = 1;
    address
};

/// The modules whose `transfer` moves a fungible asset.
const TRANSFER_MODULES: [&str; 2] = ["primary_fungible_store", "fungible_asset"];

/// The variant of a payload that calls an entry function.
const ENTRY_FUNCTION: u32 = 2;
/// The variant of a type that is a struct.
const STRUCT: u32 = 7;

/// A transaction that moves a fungible asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Who pays.
    pub sender: Address,
    /// What is moved: the metadata object, or for the module `fungible_asset` the sender's store.
    pub asset: Address,
    /// Who is paid, or the receiver's store.
    pub to: Address,
    /// In the asset's smallest unit.
    pub amount: u64,
    /// The chain.
    pub chain_id: u8,
}

impl Transfer {
    /// Reads a transaction from base64: of its BCS, or of JSON whose `transaction` lists the bytes of that. What stands
    /// behind the transaction, such as its signatures, is not read.
    pub fn read(text: &Text) -> Result<Self, Refusal> {
        if encoding::base64_size(text).is_some_and(|size| size > MAX_WIRE) {
            return Err(TX_TOO_LARGE);
        }
        let wire = text.as_str().and_then(encoding::from_base64).ok_or(TX_MALFORMED)?;
        Self::decode(listed(&wire).as_deref().unwrap_or(&wire))
    }

    /// Reads a raw transaction in BCS from the first byte on. It is refused at the first thing that a transfer does not have.
    pub fn decode(wire: &[u8]) -> Result<Self, Refusal> {
        let reader = &mut Reader::new(wire);
        let sender = reader.array().ok_or(TX_MALFORMED)?;
        let _sequence_number = bcs::uint64(reader).ok_or(TX_MALFORMED)?;
        if bcs::uleb(reader).ok_or(TX_MALFORMED)? != ENTRY_FUNCTION {
            return Err(NOT_ENTRY_FUNCTION);
        }

        let (address, module, function) = function(reader).ok_or(TX_MALFORMED)?;
        if address != FRAMEWORK || !TRANSFER_MODULES.contains(&module) || function != "transfer" {
            return Err(NOT_AN_X402_TRANSFER);
        }
        for one in [1, STRUCT] {
            if bcs::uleb(reader).ok_or(TX_MALFORMED)? != one {
                return Err(NOT_AN_X402_TRANSFER);
            }
        }
        self::function(reader).ok_or(TX_MALFORMED)?;
        let type_parameters = bcs::uleb(reader).ok_or(TX_MALFORMED)?;
        if type_parameters != 0 || bcs::uleb(reader).ok_or(TX_MALFORMED)? != 3 {
            return Err(NOT_AN_X402_TRANSFER);
        }
        let mut argument = || bcs::bytes(reader).ok_or(TX_MALFORMED);
        let (asset, to, amount) = (argument()?, argument()?, argument()?);
        let (Ok(asset), Ok(to), Ok(amount)) = (asset.try_into(), to.try_into(), amount.try_into()) else { return Err(NOT_AN_X402_TRANSFER) };

        // The most gas, its price, and when the transaction expires.
        reader.take(3 * 8).ok_or(TX_MALFORMED)?;
        Ok(Self { sender, asset, to, amount: u64::from_le_bytes(amount), chain_id: reader.byte().ok_or(TX_MALFORMED)? })
    }
}

/// An address, a module and a name in it: those of a function or of a struct.
fn function<'a>(reader: &mut Reader<'a>) -> Option<(Address, &'a str, &'a str)> {
    Some((reader.array()?, identifier(reader)?, identifier(reader)?))
}

/// A Move identifier.
fn identifier<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let name = bcs::text(reader)?;
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    (starts && name.len() <= 255 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')).then_some(name)
}

/// The bytes that JSON lists as its `transaction`. The sender's address too may begin with a brace, so what is no such JSON is
/// a transaction itself.
fn listed(wire: &[u8]) -> Option<Vec<u8>> {
    if !wire.starts_with(b"{") {
        return None;
    }
    let value = json::parse_bytes(wire, json::MAX_DEPTH).ok()?;
    value.get("transaction")?.as_array()?.iter().map(|byte| byte.as_safe_unsigned()?.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Object, Value};

    /// What `peers/aptos/cases.py` made.
    fn cases() -> Vec<Value> {
        json::parse(include_str!("../../tests/peers/aptos/cases.json"), json::MAX_DEPTH).unwrap().as_array().unwrap().to_vec()
    }

    fn wire(case: &Value) -> Vec<u8> {
        encoding::from_hex(case.get("wire").unwrap().as_str().unwrap()).unwrap()
    }

    fn read(wire: &[u8]) -> Result<Transfer, Refusal> {
        Transfer::read(&encoding::base64(wire).into())
    }

    #[test]
    fn reads_transactions_of_the_sdk() {
        for case in cases() {
            let name = case.get("name").unwrap();
            let text = |name: &str| case.get(name).unwrap().as_str().unwrap();
            match read(&wire(&case)) {
                Err(refusal) => assert_eq!(case.get("refusal"), Some(&refusal.code().into()), "{name:?}"),
                Ok(transfer) => {
                    let addresses = [transfer.sender, transfer.asset, transfer.to].map(|address| encoding::hex(&address));
                    assert_eq!(addresses, ["sender", "asset", "to"].map(text), "{name:?}");
                    assert_eq!(transfer.amount.to_string(), text("amount"));
                    assert_eq!(case.get("chain").unwrap().as_safe_unsigned(), Some(transfer.chain_id.into()));
                }
            }
        }
    }

    #[test]
    fn reads_the_bytes_that_json_lists() {
        let wire = wire(&cases()[0]);
        let listed: Vec<Value> = wire.iter().map(|&byte| u32::from(byte).into()).collect();
        let listing = |list: Vec<Value>| json::write(&Object::new().with("transaction", list).into()).into_bytes();
        assert_eq!(read(&listing(listed.clone())), read(&wire));
        // What lists no bytes is a transaction itself, of a sender whose address begins with a brace.
        for odd in [256.0, -1.0, 0.5, f64::NAN] {
            let mut listed = listed.clone();
            listed[0] = Value::Number(odd);
            assert_eq!(read(&listing(listed)), Err(NOT_ENTRY_FUNCTION), "{odd}");
        }
        let mut braced = wire.clone();
        braced[0] = b'{';
        assert_eq!(read(&braced).unwrap().sender[0], b'{');
        assert_eq!(read(&listing(vec![])), Err(TX_MALFORMED));
    }

    #[test]
    fn is_bounded() {
        let mut wire = wire(&cases()[0]);
        wire.resize(MAX_WIRE, 0);
        assert!(read(&wire).is_ok());
        wire.push(0);
        assert_eq!(read(&wire), Err(TX_TOO_LARGE));
        assert_eq!(Transfer::read(&"!".repeat(87384).into()), Err(TX_TOO_LARGE));
        for text in ["", "AAAAA", "!!!!"] {
            assert_eq!(Transfer::read(&text.into()), Err(TX_MALFORMED));
        }
    }

    #[test]
    fn identifiers() {
        for (name, is_one) in [("a", true), ("_", true), ("A1_", true), ("1a", false), ("", false), ("a-b", false), ("é", false), ("a\n", false)] {
            let bytes = [&[u8::try_from(name.len()).unwrap()], name.as_bytes()].concat();
            assert_eq!(identifier(&mut Reader::new(&bytes)).is_some(), is_one, "{name}");
        }
        let long = |len: u8| [&[len | 0x80, len >> 7], "a".repeat(len.into()).as_bytes()].concat();
        assert!(identifier(&mut Reader::new(&long(255))).is_some());
        assert!(identifier(&mut Reader::new(&[&[0x80, 2], [b'a'; 256].as_slice()].concat())).is_none());
    }

    proptest! {
        /// What stands behind a transaction changes nothing, and what is cut off is missed.
        #[test]
        fn reads_a_prefix(case in 0..6usize, tail: Vec<u8>, cut: usize) {
            let wire = wire(&cases()[case]);
            let transfer = Transfer::decode(&wire).unwrap();
            prop_assert_eq!(Transfer::decode(&[&*wire, &tail].concat()).unwrap(), transfer);
            // The shortest of them takes 257 bytes.
            prop_assert_eq!(Transfer::decode(&wire[..cut % 257]), Err(TX_MALFORMED));
        }

        #[test]
        fn any_bytes(place: usize, bytes: Vec<u8>) {
            let mut wire = wire(&cases()[0]);
            let place = place % wire.len();
            let end = wire.len().min(place + bytes.len());
            wire.splice(place..end, bytes.iter().copied());
            let _ = (Transfer::decode(&wire), Transfer::decode(&bytes), read(&bytes));
        }
    }
}
