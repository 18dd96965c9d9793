use sha2::{Digest, Sha256};

use super::Address;
use crate::{
    Refusal,
    wire::{
        evm::U256,
        protobuf::{Content, Message, put_bytes, put_uint},
    },
};

/// The bytes are no transaction of the form that is read here.
pub const TX_MALFORMED: Refusal = Refusal::new("tron/tx-malformed");
const SIGNATURE_MALFORMED: Refusal = Refusal::new("tron/signature-malformed");
const CONTRACTS: Refusal = Refusal::new("tron/contracts");
const NOT_TRIGGER: Refusal = Refusal::new("tron/not-trigger");
const RAW_NOT_CANONICAL: Refusal = Refusal::new("tron/raw-not-canonical");

/// A signature: r, s and the recovery id.
pub type Signature = [u8; 65];

const MAX_SIGNATURES: usize = 5;

/// A number of a transaction is below this.
const MAX_INT64: u64 = 1 << 63;

/// The contract type of a call, and its message's name.
const TRIGGER: u64 = 31;
const TRIGGER_URL: &[u8] = b"type.googleapis.com/protocol.TriggerSmartContract";

const TRANSFER: [u8; 4] = [0xA9, 0x05, 0x9C, 0xBB];
const TRANSFER_DATA: usize = 4 + 2 * 32;

/// A signed transaction.
pub struct Transaction<'a> {
    /// The bytes that are signed.
    pub raw: &'a [u8],
    /// 1 to 5 signatures.
    pub signatures: Vec<Signature>,
}

impl<'a> Transaction<'a> {
    /// Reads a transaction; its raw bytes are left unread.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut raws = Vec::new();
        let mut signatures = Vec::new();
        for field in Message::read(bytes).ok_or(TX_MALFORMED)?.fields() {
            match field {
                (1, Content::Bytes(raw)) => raws.push(raw),
                (2, Content::Bytes(signature)) => signatures.push(signature),
                _ => return Err(TX_MALFORMED),
            }
        }
        let [raw] = raws[..] else { return Err(TX_MALFORMED) };
        if !(1..=MAX_SIGNATURES).contains(&signatures.len()) {
            return Err(SIGNATURE_MALFORMED);
        }
        let signatures: Result<_, _> = signatures.into_iter().map(TryInto::try_into).collect();
        Ok(Self { raw, signatures: signatures.map_err(|_| SIGNATURE_MALFORMED)? })
    }
}

/// Raw bytes with one signature behind them.
pub fn signed(raw: &[u8], signature: &Signature) -> Vec<u8> {
    let mut transaction = Vec::new();
    put_bytes(&mut transaction, 1, raw);
    put_bytes(&mut transaction, 2, signature);
    transaction
}

/// What is signed: one call of a contract, and when it is valid. A member that is zero or empty is not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw<'a> {
    /// Bytes 6 and 7 of a recent block's number, big-endian.
    pub ref_block_bytes: &'a [u8],
    /// Bytes 8 to 15 of that block's id.
    pub ref_block_hash: &'a [u8],
    /// Unix milliseconds, below 2^63.
    pub expiration: u64,
    /// The memo.
    pub data: &'a [u8],
    /// The call.
    pub call: Call<'a>,
    /// Unix milliseconds, below 2^63.
    pub timestamp: u64,
    /// Most that may be burnt for it, in sun; below 2^63.
    pub fee_limit: u64,
}

/// A call of a contract, without a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call<'a> {
    /// The caller's address.
    pub owner: &'a [u8],
    /// The contract's address.
    pub contract: &'a [u8],
    /// The call data.
    pub data: &'a [u8],
}

impl<'a> Raw<'a> {
    /// Reads raw bytes; any others than [`Raw::encode`] writes are refused.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let int64 = |value| if value < MAX_INT64 { Ok(value) } else { Err(TX_MALFORMED) };
        let mut raw = Self::default();
        let mut contracts = Vec::new();
        for field in Message::read(bytes).ok_or(TX_MALFORMED)?.fields() {
            match field {
                (1, Content::Bytes(bytes)) => raw.ref_block_bytes = bytes,
                (4, Content::Bytes(bytes)) => raw.ref_block_hash = bytes,
                (8, Content::Varint(value)) => raw.expiration = int64(value)?,
                (10, Content::Bytes(bytes)) => raw.data = bytes,
                (11, Content::Bytes(contract)) => contracts.push(contract),
                (14, Content::Varint(value)) => raw.timestamp = int64(value)?,
                (18, Content::Varint(value)) => raw.fee_limit = int64(value)?,
                _ => return Err(TX_MALFORMED),
            }
        }
        let [contract] = contracts[..] else { return Err(CONTRACTS) };
        raw.call = Call::decode(contract)?;
        // A field that stands twice, in another order, in a longer form or with a default is not written so.
        if raw.encode() == bytes { Ok(raw) } else { Err(RAW_NOT_CANONICAL) }
    }

    /// The bytes that are signed.
    pub fn encode(&self) -> Vec<u8> {
        let mut raw = Vec::new();
        put_some(&mut raw, 1, self.ref_block_bytes);
        put_some(&mut raw, 4, self.ref_block_hash);
        put_uint(&mut raw, 8, self.expiration);
        put_some(&mut raw, 10, self.data);
        put_bytes(&mut raw, 11, &self.call.encode());
        put_uint(&mut raw, 14, self.timestamp);
        put_uint(&mut raw, 18, self.fee_limit);
        raw
    }

    /// What a transaction of these raw bytes is known by, and what is signed.
    pub fn txid(raw: &[u8]) -> [u8; 32] {
        Sha256::digest(raw).into()
    }
}

impl<'a> Call<'a> {
    fn decode(contract: &'a [u8]) -> Result<Self, Refusal> {
        let mut kind = 0;
        let mut parameter: &[u8] = &[];
        for field in Message::read(contract).ok_or(TX_MALFORMED)?.fields() {
            match field {
                (1, Content::Varint(value)) => kind = value,
                (2, Content::Bytes(bytes)) => parameter = bytes,
                _ => return Err(TX_MALFORMED),
            }
        }
        if kind != TRIGGER {
            return Err(NOT_TRIGGER);
        }
        let mut url: &[u8] = &[];
        let mut value: &[u8] = &[];
        for field in Message::read(parameter).ok_or(TX_MALFORMED)?.fields() {
            match field {
                (1, Content::Bytes(bytes)) => url = bytes,
                (2, Content::Bytes(bytes)) => value = bytes,
                _ => return Err(TX_MALFORMED),
            }
        }
        if url != TRIGGER_URL {
            return Err(NOT_TRIGGER);
        }
        let mut call = Self::default();
        for field in Message::read(value).ok_or(TX_MALFORMED)?.fields() {
            match field {
                (1, Content::Bytes(bytes)) => call.owner = bytes,
                (2, Content::Bytes(bytes)) => call.contract = bytes,
                (4, Content::Bytes(bytes)) => call.data = bytes,
                _ => return Err(TX_MALFORMED),
            }
        }
        Ok(call)
    }

    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::new();
        put_some(&mut value, 1, self.owner);
        put_some(&mut value, 2, self.contract);
        put_some(&mut value, 4, self.data);
        let mut parameter = Vec::new();
        put_bytes(&mut parameter, 1, TRIGGER_URL);
        put_some(&mut parameter, 2, &value);
        let mut contract = Vec::new();
        put_uint(&mut contract, 1, TRIGGER);
        put_bytes(&mut contract, 2, &parameter);
        contract
    }

    /// Whether it is a TRC-20 transfer.
    pub fn is_transfer(&self) -> bool {
        self.data.len() == TRANSFER_DATA && self.data.starts_with(&TRANSFER)
    }
}

/// The call data of a TRC-20 transfer.
pub fn trc20_transfer(to: &Address, amount: &U256) -> Vec<u8> {
    [&TRANSFER[..], &to.word(), amount.bytes()].concat()
}

/// Writes bytes, unless there are none.
fn put_some(message: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    if !bytes.is_empty() {
        put_bytes(message, number, bytes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, encoding, json};

    fn cases() -> Vec<Value> {
        json::parse(include_str!("../../../tests/peers/tron/cases.json"), 8).unwrap().as_array().unwrap().to_vec()
    }

    fn text<'a>(case: &'a Value, name: &str) -> &'a str {
        case.get(name).unwrap().as_str().unwrap()
    }

    /// As tronpy 0.6.2 writes them.
    #[test]
    fn the_library_writes_the_same_bytes() {
        for case in &cases() {
            let number = |name| text(case, name).parse::<u64>().unwrap();
            let address = |name| Address::parse(text(case, name)).unwrap();
            let [owner, contract] = ["owner", "contract"].map(address);
            let block = encoding::from_hex(text(case, "block")).unwrap();
            let call_data = trc20_transfer(&address("to"), &U256::from_decimal(text(case, "amount")).unwrap());
            let raw = Raw {
                ref_block_bytes: &number("number").to_be_bytes()[6..],
                ref_block_hash: &block[8..16],
                expiration: number("expiration"),
                data: text(case, "memo").as_bytes(),
                call: Call { owner: owner.bytes(), contract: contract.bytes(), data: &call_data },
                timestamp: number("timestamp"),
                fee_limit: number("feeLimit"),
            };
            let bytes = raw.encode();
            assert_eq!(encoding::bare_hex(&bytes), text(case, "raw"), "{}", text(case, "name"));
            assert_eq!(encoding::bare_hex(&Raw::txid(&bytes)), text(case, "txid"));
            let signature = encoding::from_bare_hex(text(case, "signature")).unwrap().try_into().unwrap();
            let transaction = signed(&bytes, &signature);
            assert_eq!(encoding::bare_hex(&transaction), text(case, "transaction"));

            let read = Transaction::read(&transaction).unwrap();
            assert_eq!((read.raw, read.signatures), (&bytes[..], vec![signature]));
            assert_eq!(Raw::decode(read.raw), Ok(raw.clone()));
            assert!(raw.call.is_transfer());
        }
    }

    fn plain() -> Vec<u8> {
        encoding::from_bare_hex(text(&cases()[0], "raw")).unwrap()
    }

    fn refused(raw: &[u8]) -> String {
        Raw::decode(raw).unwrap_err().code().to_owned()
    }

    #[test]
    fn raw_bytes_have_one_form() {
        let raw = plain();
        let limit = [0x90, 1, 0x80, 0xC2, 0xD7, 0x2F];
        assert!(raw.ends_with(&limit));
        let [before, longer] = [&raw[..raw.len() - 6], &[0x90, 1, 0x80, 0xC2, 0xD7, 0xAF, 0][..]];
        // Twice, a longer form, another order, a default.
        for changed in [[&raw[..], &limit].concat(), [before, longer].concat(), [&limit, before].concat(), [&raw[..], &[0x40, 0]].concat()] {
            assert_eq!(refused(&changed), "tron/raw-not-canonical");
        }
        // An unknown field, fields of other types, a number past 2^63, and what is no message.
        let past = [&[0x70][..], &[0xFF; 9], &[1]].concat();
        for more in [&[0x18, 1][..], &[0x52 - 2, 1], &[0x0D, 0, 0, 0, 0], &past, &[0x0B], &[0x0A, 9]] {
            assert_eq!(refused(&[&raw[..], more].concat()), "tron/tx-malformed", "{more:?}");
        }
        assert_eq!(refused(&[]), "tron/contracts");
        assert_eq!(refused(&[0x5A, 0, 0x5A, 0]), "tron/contracts");
        assert_eq!(refused(&[0x5A, 0]), "tron/not-trigger");
    }

    #[test]
    fn a_transaction_has_raw_bytes_once_and_up_to_five_signatures() {
        let code = |bytes: &[u8]| Transaction::read(bytes).err().map(|refusal| refusal.code().to_owned());
        let raw = [0x0A, 1, 7];
        let signature = [&[0x12, 65][..], &[1; 65]].concat();
        assert_eq!(code(&[&signature[..], &raw, &signature.repeat(4)].concat()), None);
        for (bytes, refusal) in [
            (raw.to_vec(), "tron/signature-malformed"),
            ([&raw[..], &signature.repeat(6)].concat(), "tron/signature-malformed"),
            ([&raw[..], &[0x12, 64], &[1; 64]].concat(), "tron/signature-malformed"),
            (signature.clone(), "tron/tx-malformed"),
            ([&raw[..], &raw, &signature].concat(), "tron/tx-malformed"),
            ([&raw[..], &signature, &[0x2A, 0]].concat(), "tron/tx-malformed"),
        ] {
            assert_eq!(code(&bytes).as_deref(), Some(refusal));
        }
    }

    proptest! {
        #[test]
        fn changed_bytes(at in 0..400usize, to: u8) {
            let mut bytes = plain();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            if let Ok(raw) = Raw::decode(&bytes) {
                prop_assert_eq!(raw.encode(), bytes);
            }
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Transaction::read(&bytes).is_ok(), Raw::decode(&bytes).is_ok());
        }
    }
}
