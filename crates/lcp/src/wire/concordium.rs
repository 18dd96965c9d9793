//! Concordium: addresses, and the signed transactions of its wallets, which are JSON.

use sha2::{Digest, Sha256};

use super::{
    cbor::{self, Bounds, Data, Item, Same},
    solana::base58,
};
use crate::{Object, Refusal, Value, encoding, json};

/// The value is no signed transaction.
pub const TRANSACTION_MALFORMED: Refusal = Refusal::new("ccd/transaction-malformed");
const TOO_LARGE: Refusal = Refusal::new("ccd/too-large");
const NOT_V1: Refusal = Refusal::new("ccd/not-v1");
const ADDRESS_MALFORMED: Refusal = Refusal::new("ccd/address-malformed");
const PAYLOAD_KIND: Refusal = Refusal::new("ccd/payload-kind");
const NO_MEMO: Refusal = Refusal::new("ccd/no-memo");
const OPERATIONS_MALFORMED: Refusal = Refusal::new("ccd/operations-malformed");
const OPERATION_COUNT: Refusal = Refusal::new("ccd/operation-count");
const MEMO_NOT_CBOR_TEXT: Refusal = Refusal::new("ccd/memo-not-cbor-text");

/// Largest transaction in RFC 8785 form, in bytes.
pub const MAX_TRANSACTION: usize = 16_384;
/// Longest memo, in bytes.
pub const MAX_MEMO: usize = 256;
/// Most bytes of a token update's operations.
pub const MAX_OPERATIONS: usize = 4096;

const BOUNDS: Bounds = Bounds { indefinite: false, depth: 8, items: 256 };

/// The tag of bytes that are CBOR themselves.
const ENCODED: u64 = 24;

/// Whether the text is an account's address: base58check of a version byte 1 and 32 bytes.
pub fn is_address(text: &str) -> bool {
    base58::decode::<37>(text).is_some_and(|bytes| {
        let (address, checksum) = bytes.split_at(33);
        address.first() == Some(&1) && Sha256::digest(Sha256::digest(address)).starts_with(checksum)
    })
}

/// The memo of a signed transaction of version 1: a transfer's, or that of the one transfer of a token update.
pub fn memo(transaction: &Value) -> Result<Vec<u8>, Refusal> {
    let object = transaction.as_object().ok_or(TRANSACTION_MALFORMED)?;
    if json::canonical(transaction).ok_or(TRANSACTION_MALFORMED)?.len() > MAX_TRANSACTION {
        return Err(TOO_LARGE);
    }
    if object.get("version") != Some(&Value::Number(1.0)) {
        return Err(NOT_V1);
    }
    let member = |name| object.get(name).and_then(Value::as_object).ok_or(TRANSACTION_MALFORMED);
    let (header, payload) = (member("header")?, member("payload")?);
    header.get("expiry").and_then(Value::as_safe_unsigned).ok_or(TRANSACTION_MALFORMED)?;
    header.get("sender").and_then(Value::as_str).filter(|sender| is_address(sender)).ok_or(ADDRESS_MALFORMED)?;
    match payload.get("type").and_then(Value::as_str) {
        Some("transferWithMemo") => transfer_memo(&hex(payload, "memo")?),
        Some("tokenUpdate") => token_memo(&hex(payload, "operations")?),
        Some("transfer") => Err(NO_MEMO),
        _ => Err(PAYLOAD_KIND),
    }
}

/// A memo behind its length in two bytes.
fn transfer_memo(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (length, memo) = bytes.split_first_chunk().ok_or(TRANSACTION_MALFORMED)?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length > MAX_MEMO || memo.len() > MAX_MEMO {
        return Err(TOO_LARGE);
    }
    if length == memo.len() { Ok(memo.to_vec()) } else { Err(TRANSACTION_MALFORMED) }
}

/// The memo of the one operation, which must be a transfer.
fn token_memo(operations: &[u8]) -> Result<Vec<u8>, Refusal> {
    if operations.len() > MAX_OPERATIONS {
        return Err(TOO_LARGE);
    }
    let operations = read(operations).ok_or(OPERATIONS_MALFORMED)?;
    let [operation] = operations.list().ok_or(OPERATIONS_MALFORMED)? else { return Err(OPERATION_COUNT) };
    let Some([(name, transfer)]) = operation.map() else { return Err(OPERATION_COUNT) };
    if name.text() != Some("transfer") {
        return Err(OPERATION_COUNT);
    }
    let transfer = transfer.map().ok_or(OPERATIONS_MALFORMED)?;
    let memo = transfer.iter().find(|(name, _)| name.text() == Some("memo")).map(|(_, memo)| memo);
    match memo.map(|memo| &memo.data) {
        None | Some(Data::Simple(23)) => Err(NO_MEMO),
        Some(Data::Bytes(bytes)) => Ok(bytes.to_vec()),
        Some(Data::Tag(ENCODED, memo)) => memo.bytes().map(<[u8]>::to_vec).ok_or(OPERATIONS_MALFORMED),
        Some(_) => Err(OPERATIONS_MALFORMED),
    }
}

/// The text of a memo that is CBOR text.
pub fn memo_text(memo: &[u8]) -> Result<String, Refusal> {
    let item = Some(memo).filter(|memo| memo.len() <= MAX_MEMO).and_then(read);
    item.as_ref().and_then(Item::text).map(str::to_owned).ok_or(MEMO_NOT_CBOR_TEXT)
}

/// A memo that is CBOR text of 24 to 255 bytes.
pub fn text_memo(text: &str) -> Option<Vec<u8>> {
    let length = u8::try_from(text.len()).ok().filter(|&length| length >= 24)?;
    Some([&[0x78, length], text.as_bytes()].concat())
}

/// A memo as token operations hold it: tagged as bytes that are CBOR.
pub fn token_form(memo: &[u8]) -> Option<Vec<u8>> {
    let length = u8::try_from(memo.len()).ok().filter(|&length| length >= 24)?;
    Some([&[0xD8, 0x18, 0x58, length], memo].concat())
}

/// CBOR in which no map repeats a key.
fn read(data: &[u8]) -> Option<Item<'_>> {
    Item::read(data, BOUNDS).filter(has_unique_keys)
}

fn has_unique_keys(item: &Item<'_>) -> bool {
    match &item.data {
        Data::List(items) => items.iter().all(has_unique_keys),
        Data::Map(entries) => {
            cbor::keys_are_unique(entries, Same::Written) && entries.iter().all(|(key, value)| has_unique_keys(key) && has_unique_keys(value))
        }
        Data::Tag(_, item) => has_unique_keys(item),
        _ => true,
    }
}

/// The bytes that a member holds in hex without a prefix.
fn hex(object: &Object, name: &str) -> Result<Vec<u8>, Refusal> {
    let digits = object.get(name).and_then(Value::as_str).ok_or(TRANSACTION_MALFORMED)?;
    let mut bytes = vec![0; digits.len() / 2];
    encoding::hex_into(digits, &mut bytes).ok_or(TRANSACTION_MALFORMED)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Object;

    const ADDRESS: &str = "3JqaGkNwBTgTMm5G6XAc4gbhLUPxvSmQPbaJGBvwLVgXA6D9o1";

    /// What cbor2 writes.
    fn made() -> Value {
        json::lines(include_str!("../../tests/peers/concordium/memos.jsonl")).swap_remove(0)
    }

    fn text<'a>(value: &'a Value, name: &str) -> &'a str {
        value.get(name).and_then(Value::as_str).unwrap()
    }

    fn bytes(digits: &str) -> Vec<u8> {
        encoding::from_hex(&format!("0x{digits}")).unwrap()
    }

    fn transaction(payload: Object) -> Object {
        let header = Object::new().with("sender", ADDRESS).with("expiry", 1_790_000_060_u64);
        Object::new().with("version", 1u32).with("header", header).with("payload", payload)
    }

    fn transfer(memo: &str) -> Object {
        Object::new().with("type", "transferWithMemo").with("memo", memo)
    }

    fn update(operations: &str) -> Object {
        Object::new().with("type", "tokenUpdate").with("operations", operations)
    }

    fn read(transaction: Object) -> Result<Vec<u8>, String> {
        memo(&transaction.into()).map_err(|refusal| refusal.code().to_owned())
    }

    #[test]
    fn memos_of_a_public_library() {
        let made = made();
        let written = bytes(text(&made, "memo"));
        assert_eq!(text_memo(text(&made, "text")), Some(written.clone()));
        assert_eq!(text_memo(&"a".repeat(24)), Some(bytes(text(&made, "short"))));
        assert_eq!(token_form(&written), Some(bytes(text(&made, "tokenForm"))));
        assert_eq!(memo_text(&written).as_deref(), Ok(text(&made, "text")));
        assert_eq!(read(transaction(transfer(&format!("004f{}", text(&made, "memo"))))), Ok(written.clone()));
        for operations in made.get("operations").unwrap().as_array().unwrap() {
            assert_eq!(read(transaction(update(operations.as_str().unwrap()))), Ok(written.clone()));
        }
    }

    /// What Concordium's own SDK signs, and what it reads of it.
    #[test]
    fn transactions_of_the_sdk() {
        let sdk = json::parse(include_str!("../../tests/peers/concordium/transactions.json"), json::MAX_DEPTH).unwrap();
        let list = |name: &str| sdk.get(name).unwrap().as_array().unwrap();
        for case in list("made") {
            match memo(case.get("transaction").unwrap()) {
                Err(refusal) => assert_eq!(case.get("refusal"), Some(&refusal.code().into()), "{case:?}"),
                Ok(memo) => {
                    assert_eq!(memo, bytes(text(case, "memo")));
                    assert_eq!(memo_text(&memo).as_deref(), Ok(text(case, "text")));
                    assert_eq!(text_memo(text(case, "text")), Some(memo));
                }
            }
        }
        for case in list("addresses") {
            assert_eq!(case.get("isAddress"), Some(&is_address(text(case, "text")).into()), "{case:?}");
        }
        let written = text_memo(text(&sdk, "text")).unwrap();
        assert_eq!(written, bytes(text(&sdk, "memo")));
        assert_eq!(token_form(&written), Some(bytes(text(&sdk, "tokenForm"))));
    }

    #[test]
    fn refusals() {
        let payload = || transfer("000100");
        let refused = |transaction| read(transaction).unwrap_err();
        assert_eq!(read(transaction(payload())), Ok(vec![0]));
        let whole = transaction(payload());
        let header = |name, value: Value| whole.clone().with("header", whole.get("header").unwrap().as_object().unwrap().clone().with(name, value));
        for (code, transaction) in [
            ("ccd/not-v1", whole.clone().with("version", 2u32)),
            ("ccd/transaction-malformed", whole.without("payload")),
            ("ccd/transaction-malformed", header("expiry", Value::Null)),
            ("ccd/address-malformed", header("sender", ADDRESS.replace('3', "4").into())),
            ("ccd/too-large", whole.clone().with("p", "a".repeat(MAX_TRANSACTION))),
            ("ccd/no-memo", transaction(Object::new().with("type", "transfer"))),
            ("ccd/payload-kind", transaction(Object::new().with("type", "update"))),
            ("ccd/transaction-malformed", transaction(transfer("00"))),
            ("ccd/transaction-malformed", transaction(transfer("000200"))),
            ("ccd/too-large", transaction(transfer("0101"))),
            ("ccd/transaction-malformed", transaction(update("0x80"))),
            ("ccd/too-large", transaction(update(&"00".repeat(MAX_OPERATIONS + 1)))),
            ("ccd/operations-malformed", transaction(update("a0"))),
            ("ccd/operation-count", transaction(update("80"))),
            // [{"transfer": {}}], twice the same key, and [{"a": 1}].
            ("ccd/no-memo", transaction(update("81a1687472616e73666572a0"))),
            ("ccd/operations-malformed", transaction(update("81a1687472616e73666572a201010101"))),
            ("ccd/operation-count", transaction(update("81a1616101"))),
        ] {
            assert_eq!(refused(transaction), code);
        }
        assert_eq!(memo(&Value::Null).unwrap_err(), TRANSACTION_MALFORMED);
    }

    #[test]
    fn addresses() {
        assert!(is_address(ADDRESS));
        for text in [&ADDRESS[1..], &ADDRESS.replace('J', "K"), &"1".repeat(50), ""] {
            assert!(!is_address(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_operations(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (token_memo(&bytes), transfer_memo(&bytes), memo_text(&bytes));
        }

        #[test]
        fn texts_come_back(text in "[ -~]{24,200}") {
            prop_assert_eq!(memo_text(&text_memo(&text).unwrap()), Ok(text));
        }
    }
}
