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
