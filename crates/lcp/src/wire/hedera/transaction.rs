use super::{
    super::protobuf::{Message, put_bytes, put_sint, put_uint},
    EntityId,
    entity::number,
};
use crate::{Refusal, encoding::is_decimal};

/// The bytes are no transaction of the form that is read here.
pub const TX_MALFORMED: Refusal = Refusal::new("hedera/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("hedera/tx-too-large");
const DEPRECATED_FIELDS: Refusal = Refusal::new("hedera/deprecated-fields");
const LIST_INCONSISTENT: Refusal = Refusal::new("hedera/list-inconsistent");

/// Most bytes of a transaction, or of a list of them.
const MAX_TRANSACTION: usize = 8192;
/// Most transactions in a list.
const MAX_LIST: usize = 16;
/// Most bytes of a memo.
const MAX_MEMO: usize = 100;
const MAX_NANOS: u64 = 999_999_999;
/// Longest time, in seconds, for which a transaction may be valid.
const MAX_DURATION: u64 = 1_000_000;

/// The seconds for which a transfer that is written here is valid.
const DURATION: u64 = 120;

/// What names a transaction: who pays its fee, and from when it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionId {
    /// Who pays the fee.
    pub account: EntityId,
    /// Unix seconds.
    pub seconds: u64,
    /// Below 10^9.
    pub nanos: u64,
}

impl TransactionId {
    /// A transaction's name; `None` if the time is out of the ledger's bounds.
    pub fn new(account: EntityId, seconds: u64, nanos: u64) -> Option<Self> {
        (seconds < 1 << 63 && nanos <= MAX_NANOS).then_some(Self { account, seconds, nanos })
    }

    /// Reads `account@seconds.nanos`, where the fraction may lack zeros at its end.
    pub fn parse(text: &str) -> Option<Self> {
        let (account, time) = text.split_once('@')?;
        let (seconds, fraction) = time.split_once('.').filter(|(_, fraction)| is_decimal(fraction, 9))?;
        let nanos = format!("{fraction:0<9}").parse().ok()?;
        Some(Self { account: EntityId::parse(account)?, seconds: number(seconds)?, nanos })
    }

    fn encode(&self) -> Vec<u8> {
        let mut start = Vec::new();
        put_uint(&mut start, 1, self.seconds);
        put_uint(&mut start, 2, self.nanos);
        let mut message = Vec::new();
        put_bytes(&mut message, 1, &start);
        put_bytes(&mut message, 2, &self.account.encode());
        message
    }

    fn read(message: &[u8]) -> Option<Self> {
        let message = Message::read(message)?;
        let start = Message::read(message.bytes(1)?)?;
        Self::new(EntityId::read(message.bytes(2)?)?, start.count(1)?, start.count(2)?)
    }
}

/// A transfer of HBAR or of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// What names the transaction.
    pub id: TransactionId,
    /// The node that is to take it.
    pub node: EntityId,
    /// The most that may be paid as its fee, in tinybars.
    pub max_fee: u64,
    /// At most 100 bytes.
    pub memo: &'a str,
    /// The token; `None` for HBAR.
    pub token: Option<Token>,
    /// What each account receives, or gives where it is negative, in the token's least unit or in tinybars.
    pub amounts: Vec<(EntityId, i64)>,
}

/// A token that is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token.
    pub id: EntityId,
    /// The decimals that the token must have, if that is asked.
    pub decimals: Option<u32>,
}

impl Transfer<'_> {
    /// The transaction's body, which is what its signers sign.
    pub fn body(&self) -> Vec<u8> {
        let amounts = self.amounts.iter().map(|(account, amount)| {
            let mut message = Vec::new();
            put_bytes(&mut message, 1, &account.encode());
            put_sint(&mut message, 2, *amount);
            message
        });
        let mut transfers = Vec::new();
        let mut moved = Vec::new();
        match self.token {
            None => {
                amounts.for_each(|amount| put_bytes(&mut moved, 1, &amount));
                put_bytes(&mut transfers, 1, &moved);
            }
            Some(token) => {
                put_bytes(&mut moved, 1, &token.id.encode());
                amounts.for_each(|amount| put_bytes(&mut moved, 2, &amount));
                if let Some(decimals) = token.decimals {
                    let mut expected = Vec::new();
                    put_uint(&mut expected, 1, decimals.into());
                    put_bytes(&mut moved, 4, &expected);
                }
                put_bytes(&mut transfers, 2, &moved);
            }
        }
        let mut duration = Vec::new();
        put_uint(&mut duration, 1, DURATION);
        let mut body = Vec::new();
        put_bytes(&mut body, 1, &self.id.encode());
        put_bytes(&mut body, 2, &self.node.encode());
        put_uint(&mut body, 3, self.max_fee);
        put_bytes(&mut body, 4, &duration);
        put_bytes(&mut body, 6, self.memo.as_bytes());
        put_bytes(&mut body, 14, &transfers);
        body
    }
}

/// A signature of a body, with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// By an Ed25519 key.
    Ed25519([u8; 32], [u8; 64]),
    /// By a compressed key on secp256k1.
    Secp256k1([u8; 33], [u8; 64]),
}

/// A transaction of a body and its one signature.
pub fn signed(body: &[u8], signature: &Signature) -> Vec<u8> {
    let mut pair = Vec::new();
    match signature {
        Signature::Ed25519(key, signature) => {
            put_bytes(&mut pair, 1, key);
            put_bytes(&mut pair, 3, signature);
        }
        Signature::Secp256k1(key, signature) => {
            put_bytes(&mut pair, 1, key);
            put_bytes(&mut pair, 6, signature);
        }
    }
    let mut signatures = Vec::new();
    put_bytes(&mut signatures, 1, &pair);
    let mut signed = Vec::new();
    put_bytes(&mut signed, 1, body);
    put_bytes(&mut signed, 2, &signatures);
    let mut transaction = Vec::new();
    put_bytes(&mut transaction, 5, &signed);
    transaction
}

/// The memo of a transaction, or of a list that holds it once for each of several nodes.
pub fn memo(bytes: &[u8]) -> Result<&str, Refusal> {
    if bytes.len() > MAX_TRANSACTION {
        return Err(TX_TOO_LARGE);
    }
    let message = Message::read(bytes).ok_or(TX_MALFORMED)?;
    if !message.has(1) {
        return Body::of_transaction(&message).map(|body| body.memo);
    }
    let listed = message.only(1).filter(|listed| listed.len() <= MAX_LIST).ok_or(TX_MALFORMED)?;
    let bodies = listed.into_iter().map(|transaction| Body::of_transaction(&Message::read(transaction).ok_or(TX_MALFORMED)?));
    let bodies: Vec<_> = bodies.collect::<Result<_, _>>()?;
    let body = bodies.first().ok_or(TX_MALFORMED)?;
    if bodies.iter().all(|other| other == body) { Ok(body.memo) } else { Err(LIST_INCONSISTENT) }
}

/// What is read of a body.
#[derive(PartialEq, Eq)]
struct Body<'a> {
    id: TransactionId,
    memo: &'a str,
}

impl<'a> Body<'a> {
    /// Reads the body of a transaction, which must not use the fields that came before `signedTransactionBytes`.
    fn of_transaction(transaction: &Message<'a>) -> Result<Self, Refusal> {
        if (1..=4).any(|number| transaction.has(number)) {
            return Err(DEPRECATED_FIELDS);
        }
        let signed = transaction.bytes(5).and_then(Message::read).ok_or(TX_MALFORMED)?;
        signed.bytes(1).and_then(Self::read).ok_or(TX_MALFORMED)
    }

    fn read(body: &'a [u8]) -> Option<Self> {
        let body = Message::read(body)?;
        let id = TransactionId::read(body.bytes(1)?)?;
        let duration = Message::read(body.bytes_or_none(4)?)?;
        duration.count(1).filter(|seconds| *seconds <= MAX_DURATION)?;
        let memo = str::from_utf8(body.bytes_or_none(6)?).ok().filter(|memo| memo.len() <= MAX_MEMO)?;
        Some(Self { id, memo })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, encoding::from_hex, json};

    fn entity(text: &str) -> EntityId {
        EntityId::parse(text).unwrap()
    }

    /// What the official SDK made.
    fn cases() -> Vec<Value> {
        json::parse(include_str!("../../../tests/peers/hedera/cases.json"), 9).unwrap().as_array().unwrap().to_vec()
    }

    fn text<'a>(case: &'a Value, name: &str) -> &'a str {
        case.get(name).and_then(Value::as_str).unwrap()
    }

    fn bytes(case: &Value, name: &str) -> Vec<u8> {
        from_hex(text(case, name)).unwrap()
    }

    fn transfer(case: &Value) -> Transfer<'_> {
        let amounts = case.get("amounts").unwrap().as_array().unwrap().iter().map(|pair| {
            let [account, amount] = pair.as_array().unwrap() else { panic!() };
            (entity(account.as_str().unwrap()), amount.as_str().unwrap().parse().unwrap())
        });
        let number = |name| case.get(name).unwrap().as_safe_unsigned();
        Transfer {
            id: TransactionId::new(entity(text(case, "feePayer")), text(case, "seconds").parse().unwrap(), number("nanos").unwrap()).unwrap(),
            node: entity(text(case, "node")),
            max_fee: text(case, "maxFee").parse().unwrap(),
            memo: text(case, "memo"),
            token: case
                .get("token")
                .unwrap()
                .as_str()
                .map(|id| Token { id: entity(id), decimals: number("decimals").map(|n| n.try_into().unwrap()) }),
            amounts: amounts.collect(),
        }
    }

    fn signature(case: &Value) -> Signature {
        let (key, signature) = (bytes(case, "publicKey"), bytes(case, "signature").try_into().unwrap());
        match text(case, "type") {
            "ed25519" => Signature::Ed25519(key.try_into().unwrap(), signature),
            _ => Signature::Secp256k1(key.try_into().unwrap(), signature),
        }
    }

    #[test]
    fn bytes_are_those_of_the_sdk() {
        for case in cases() {
            let name = text(&case, "name");
            let body = transfer(&case).body();
            assert_eq!(body, bytes(&case, "body"), "{name}");
            let transaction = bytes(&case, "transaction");
            assert_eq!(signed(&body, &signature(&case)), transaction, "{name}");
            for written in [transaction, bytes(&case, "list")] {
                assert_eq!(memo(&written), Ok(text(&case, "memo")), "{name}");
            }
        }
    }

    #[test]
    fn an_id_has_one_text_but_for_zeros_at_its_end() {
        let id = |nanos| TransactionId { account: entity("0.0.5555"), seconds: 1_790_000_000, nanos };
        for (text, nanos) in [
            ("0.0.5555@1790000000.000000007", 7),
            ("0.0.5555@1790000000.5", 500_000_000),
            ("0.0.5555@1790000000.0", 0),
            ("0.0.5555@1790000000.999999999", 999_999_999),
        ] {
            assert_eq!(TransactionId::parse(text), Some(id(nanos)), "{text}");
        }
        for text in [
            "",
            "0.0.5555@1790000000",
            "0.0.5555@1790000000.",
            "0.0.5555@1790000000.0000000000",
            "0.0.5555@01790000000.0",
            "0.0.5555@.0",
            "0.0.5555@1790000000.-1",
            "0.0.5555@18446744073709551616.0",
            "0.0.05555@1790000000.0",
            "0.0.5555-1790000000-0",
            "0.0.5555@1790000000.0?scheduled",
        ] {
            assert_eq!(TransactionId::parse(text), None, "{text}");
        }
        assert!(TransactionId::new(entity("0.0.1"), u64::MAX >> 1, 999_999_999).is_some());
        assert!(TransactionId::new(entity("0.0.1"), 1 << 63, 0).is_none());
        assert!(TransactionId::new(entity("0.0.1"), 0, 1_000_000_000).is_none());
    }

    const MEMO: &str = "a memo";

    fn put(number: u64, content: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        put_bytes(&mut message, number, content);
        message
    }

    fn uint(number: u64, value: u64) -> Vec<u8> {
        let mut message = Vec::new();
        put_uint(&mut message, number, value);
        message
    }

    fn id() -> Vec<u8> {
        TransactionId { account: entity("0.0.7"), seconds: 5, nanos: 6 }.encode()
    }

    /// The transaction of a body whose parts are given.
    fn of(parts: &[Vec<u8>]) -> Vec<u8> {
        put(5, &put(1, &parts.concat()))
    }

    fn with_id(id: &[u8]) -> Vec<u8> {
        of(&[put(1, id), put(6, MEMO.as_bytes())])
    }

    fn plain() -> Vec<u8> {
        with_id(&id())
    }

    fn code(bytes: &[u8]) -> &'static str {
        match memo(bytes) {
            Ok(MEMO) => "",
            Ok(_) => "another memo",
            Err(refusal) => [TX_MALFORMED, TX_TOO_LARGE, DEPRECATED_FIELDS, LIST_INCONSISTENT]
                .iter()
                .position(|known| *known == refusal)
                .map_or("?", |place| ["malformed", "too large", "deprecated", "inconsistent"][place]),
        }
    }

    #[test]
    fn a_body_names_its_transaction_and_bounds_what_is_read() {
        let memo = put(6, MEMO.as_bytes());
        let duration = |seconds| put(4, &uint(1, seconds));
        for (parts, expected) in [
            (vec![put(1, &id()), memo.clone()], ""),
            (vec![memo.clone(), uint(3, 5), put(14, b"\xFF"), put(99, b"x"), put(1, &id())], ""),
            (vec![put(1, &id()), duration(1_000_000), memo.clone()], ""),
            (vec![put(1, &id()), duration(1_000_001), memo.clone()], "malformed"),
            (vec![put(1, &id()), put(4, b""), put(4, b""), memo.clone()], "malformed"),
            (vec![put(1, &id()), uint(4, 5), memo.clone()], "malformed"),
            (vec![put(1, &id())], "another memo"),
            (vec![put(1, &id()), memo.clone(), memo.clone()], "malformed"),
            (vec![put(1, &id()), uint(6, 5)], "malformed"),
            (vec![put(1, &id()), put(6, &[b'a'; 100])], "another memo"),
            (vec![put(1, &id()), put(6, &[b'a'; 101])], "malformed"),
            (vec![put(1, &id()), put(6, b"\xED\xA0\x80")], "malformed"),
            (vec![memo.clone()], "malformed"),
            (vec![put(1, &id()), put(1, &id()), memo.clone()], "malformed"),
            (vec![put(1, &id()), memo.clone(), vec![0x0B, 0x0C]], "malformed"),
        ] {
            assert_eq!(code(&of(&parts)), expected, "{parts:?}");
        }
    }

    #[test]
    fn an_id_is_read_strictly() {
        let start = [uint(1, 5), uint(2, 6)].concat();
        let account = uint(3, 7);
        let of = |start: &[u8], account: &[u8]| [put(1, start), put(2, account)].concat();
        for (id, expected) in [
            (of(&start, &account), ""),
            (of(b"", b""), ""),
            ([of(&start, &account), uint(3, 1), uint(4, 9), uint(4, 9)].concat(), ""),
            (of(&[uint(1, u64::MAX >> 1), uint(2, 999_999_999), put(9, b"x")].concat(), &[account.clone(), uint(9, 1)].concat()), ""),
            (of(&uint(2, 1_000_000_000), &account), "malformed"),
            (of(&uint(2, (1 << 32) + 5), &account), "malformed"),
            (of(&uint(1, 1 << 63), &account), "malformed"),
            (of(&start, &uint(3, u64::MAX)), "malformed"),
            (of(&start, &[account.clone(), account.clone()].concat()), "malformed"),
            (of(&start, &put(4, b"")), "malformed"),
            (put(1, &start), "malformed"),
            (put(2, &account), "malformed"),
            ([of(&start, &account), put(1, b"")].concat(), "malformed"),
        ] {
            assert_eq!(code(&with_id(&id)), expected, "{id:?}");
        }
    }

    #[test]
    fn a_transaction_holds_one_signed_body_and_no_deprecated_field() {
        let signed = put(1, &[put(1, &id()), put(6, MEMO.as_bytes())].concat());
        for (bytes, expected) in [
            (put(5, &signed), ""),
            ([put(5, &[signed.clone(), put(2, b"\xFF"), uint(2, 1)].concat()), uint(9, 1)].concat(), ""),
            (put(5, &[signed.clone(), signed.clone()].concat()), "malformed"),
            ([plain(), plain()].concat(), "malformed"),
            (put(5, &put(2, b"")), "malformed"),
            (uint(5, 1), "malformed"),
            (vec![], "malformed"),
            ([plain(), vec![0]].concat(), "malformed"),
            (plain()[1..].to_vec(), "malformed"),
            ([put(2, b""), plain()].concat(), "deprecated"),
            ([plain(), uint(3, 1)].concat(), "deprecated"),
            ([uint(4, 1), uint(5, 1)].concat(), "deprecated"),
            ([uint(2, 1), vec![0xFF]].concat(), "malformed"),
        ] {
            assert_eq!(code(&bytes), expected, "{bytes:?}");
        }
        let padded = |size: usize| [plain(), put(9, &vec![0; size - plain().len() - 3])].concat();
        assert_eq!((padded(8192).len(), code(&padded(8192))), (8192, ""));
        assert_eq!(code(&padded(8193)), "too large");
    }

    #[test]
    fn a_list_holds_one_transaction_for_several_nodes() {
        let another_node = of(&[put(1, &id()), put(2, b"\x18\x04"), put(6, MEMO.as_bytes())]);
        let another_id = with_id(&TransactionId { account: entity("0.0.7"), seconds: 5, nanos: 7 }.encode());
        let another_memo = of(&[put(1, &id()), put(6, b"x")]);
        let deprecated = [put(2, b""), plain()].concat();
        for (listed, expected) in [
            (vec![plain()], ""),
            (vec![plain(), another_node], ""),
            (vec![plain(); 16], ""),
            (vec![plain(); 17], "malformed"),
            (vec![plain(), another_id], "inconsistent"),
            (vec![plain(), another_memo.clone()], "inconsistent"),
            (vec![plain(), another_memo.clone(), b"\xFF".to_vec()], "malformed"),
            (vec![plain(), another_memo, deprecated], "deprecated"),
            (vec![plain(), vec![]], "malformed"),
            (vec![put(1, &plain())], "deprecated"),
        ] {
            let list: Vec<_> = listed.iter().flat_map(|transaction| put(1, transaction)).collect();
            assert_eq!(code(&list), expected, "{listed:?}");
            assert_eq!(code(&[list, put(9, b"")].concat()), "malformed");
        }
        assert_eq!(code(&[plain(), put(1, &plain())].concat()), "malformed");
        assert_eq!(code(&[put(1, &plain()), uint(1, 1)].concat()), "malformed");
    }

    fn entities() -> impl Strategy<Value = EntityId> {
        "(0|[1-9][0-9]{0,17})\\.(0|[1-9][0-9]{0,17})\\.(0|[1-9][0-9]{0,17})".prop_map(|text| entity(&text))
    }

    proptest! {
        #[test]
        fn the_memo_of_what_was_written(
            (account, node, token) in (entities(), entities(), prop::option::of(entities())),
            (seconds, nanos, max_fee) in (0..1_u64 << 63, 0..1_000_000_000_u64, any::<u64>()),
            text in "\\PC{0,25}",
            decimals: Option<u32>,
            amounts in prop::collection::vec((entities(), any::<i64>()), 0..9),
            count in 1..=16_usize,
        ) {
            let id = TransactionId::new(account, seconds, nanos).unwrap();
            prop_assert_eq!(TransactionId::parse(&format!("{account}@{seconds}.{nanos:09}")), Some(id).filter(|_| seconds < 10_u64.pow(19)));
            let transfer = Transfer { id, node, max_fee, memo: &text, token: token.map(|id| Token { id, decimals }), amounts };
            let transaction = signed(&transfer.body(), &Signature::Ed25519([7; 32], [8; 64]));
            prop_assert_eq!(memo(&transaction), Ok(&*text));
            let list = put(1, &transaction).repeat(count);
            let expected = if list.len() <= MAX_TRANSACTION { Ok(&*text) } else { Err(TX_TOO_LARGE) };
            prop_assert_eq!(memo(&list), expected);
        }

        #[test]
        fn is_total(place: prop::sample::Index, byte: u8, more: Vec<u8>) {
            let mut transaction = plain();
            let place = place.index(transaction.len());
            transaction[place] = byte;
            let _ = memo(&transaction);
            let _ = memo(&more);
        }
    }
}
