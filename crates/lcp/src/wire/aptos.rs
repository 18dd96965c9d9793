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
