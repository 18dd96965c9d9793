//! What the x402 pairings on Solana share.

use super::{
    Order, Payload, Unserved,
    document::{INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, SIGNATURE_MALFORMED},
    option::{amount, extra, names, timeout},
};
use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::MAX_DECIMAL,
    pairing::Buyer,
    solana::{self, Budget, Chosen, INPUT_MALFORMED, MEMO_COUNT},
    wire::solana::{Address, Blockhash, Message, base58, memo, payment_channels::Opening},
};

pub(crate) const CHOICE_MALFORMED: Refusal = Refusal::new("x402/choice-malformed");
const MEMO_NOT_UTF8: Refusal = Refusal::new("svm/memo-not-utf8");
const MEMO_NOT_LCP: Refusal = Refusal::new("svm/memo-not-lcp");

/// Longest memo that a seller may ask for, in UTF-8 bytes.
const MAX_MEMO: usize = 256;

/// Whether an option is of a scheme on Solana, and its `extra` passes the scheme's own test. If so, its amount must be
/// `least` or more.
pub(crate) fn serves(scheme: &str, option: &Object, least: u64, test: impl Fn(&Object) -> bool) -> Result<(), Unserved> {
    let ours = names(option, "scheme", scheme)
        && option.get("network").and_then(Value::as_str).is_some_and(is_network)
        && ["asset", "payTo"].iter().all(|name| Address::of(option, name).is_some())
        && extra(option).is_some_and(|extra| Address::of(extra, "feePayer").is_some() && has_short_memo(extra) && test(extra));
    if !ours {
        return Err(Unserved::Other);
    }
    let payable = price(option).is_some_and(|price| price >= least) && timeout(option).is_some();
    if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
}

/// `solana:` and the first 32 letters of a genesis hash.
fn is_network(text: &str) -> bool {
    text.strip_prefix("solana:").is_some_and(|genesis| genesis.len() == 32 && genesis.bytes().all(base58::is_letter))
}

fn has_short_memo(extra: &Object) -> bool {
    extra.get("memo").is_none_or(|memo| memo.as_text().is_some_and(|memo| memo.utf8_len() <= MAX_MEMO))
}

/// The option's amount, below 2^64, written without leading zeros.
pub(crate) fn price(option: &Object) -> Option<u64> {
    let text = amount(option)?;
    encoding::uint64(text).filter(|price| price.to_string() == text)
}

/// Starts a choice with its payer.
pub(crate) fn chosen<'a>(account: &Account, buyer: &Buyer<'a>) -> Result<Chosen<'a>, Refusal> {
    Chosen::by(account, buyer.inputs, INPUT_MISSING).ok_or(NO_PAYABLE_OPTION)
}

/// Whether the choice holds a document and an option at all.
pub(crate) fn judge_order(choice: &Object) -> Result<(), Refusal> {
    let holds = |name| choice.get(name).is_some_and(|value| value.as_object().is_some());
    if holds("required") && holds("accepted") { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// Whether these members of a choice have the form of a decimal, and the budget's price too, which is judged before the
/// rest of the choice. They may be absent.
pub(crate) fn judge_decimals(choice: &Object, names: &[&str]) -> Result<(), Refusal> {
    let is_decimal = |value: &Value| value.as_str().is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
    if !names.iter().all(|name| choice.get(name).is_none_or(is_decimal)) {
        return Err(CHOICE_MALFORMED);
    }
    Budget::judge_form(choice)
}

/// A choice's number below 2^64.
pub(crate) fn number(choice: &Object, name: &str) -> Result<u64, Refusal> {
    choice.get(name).and_then(Value::as_str).and_then(encoding::uint64).ok_or(INPUT_MALFORMED)
}

/// A choice's `openSlot`, which the payment writes as a JSON number.
pub(crate) fn open_slot(choice: &Object) -> Result<u64, Refusal> {
    number(choice, "openSlot").ok().filter(|&slot| slot < 1 << 53).ok_or(INPUT_MALFORMED)
}

/// What a choice says of the transaction, whatever it calls.
pub(crate) struct Payer {
    pub(crate) address: Address,
    pub(crate) token_program: Address,
    pub(crate) blockhash: Blockhash,
    pub(crate) budget: Budget,
}

impl Payer {
    /// Reads it; `limit` is the limit of compute units where the choice names none.
    pub(crate) fn of(choice: &Object, limit: u32) -> Result<Self, Refusal> {
        let read = || {
            Some(Self {
                address: Address::of(choice, "payer")?,
                token_program: solana::token_program(choice)?,
                blockhash: solana::recent_blockhash(choice)?,
                budget: Budget::of(choice, limit)?,
            })
        };
        read().ok_or(INPUT_MALFORMED)
    }
}

/// The addresses of an option that was served.
pub(crate) struct Places<'a> {
    pub(crate) extra: &'a Object,
    pub(crate) fee_payer: Address,
    /// The mint.
    pub(crate) asset: Address,
    pub(crate) pay_to: Address,
}

impl<'a> Places<'a> {
    /// The places of the order's option, whose memo must name H.
    pub(crate) fn carrying(h: Hash, order: &Order<'a>) -> Result<Self, Refusal> {
        let option = order.option()?;
        let extra = extra(option).ok_or(OPTION_MALFORMED)?;
        solana::judge_offered(h, extra.get("memo"))?;
        let address = |object, name| Address::of(object, name).ok_or(OPTION_MALFORMED);
        Ok(Self { extra, fee_payer: address(extra, "feePayer")?, asset: address(option, "asset")?, pay_to: address(option, "payTo")? })
    }

    /// How a channel for the payer is opened. The token's program must be the option's.
    pub(crate) fn opening(&self, payer: &Payer, deposit: u64) -> Result<Opening, Refusal> {
        let delay = self.extra.get("withdrawDelay").and_then(Value::as_safe_unsigned);
        if solana::token_program(self.extra) != Some(payer.token_program) {
            return Err(INPUT_MALFORMED);
        }
        Ok(Opening {
            deposit,
            grace_period: delay.and_then(|delay| u32::try_from(delay).ok()).ok_or(INPUT_MALFORMED)?,
            recipient: self.pay_to,
            token_program: payer.token_program,
        })
    }
}

/// H, which the one memo names. The caller sets aside the memos that its scheme adds.
pub(crate) fn memo_hash<'a>(memos: impl IntoIterator<Item = &'a [u8]>, accepted: &Object) -> Result<Hash, Refusal> {
    let mut memos = memos.into_iter();
    let (Some(memo), None) = (memos.next(), memos.next()) else { return Err(MEMO_COUNT) };
    let memo = std::str::from_utf8(memo).map_err(|_| MEMO_NOT_UTF8)?;
    let h = Hash::from_lcp_string(memo).ok_or(MEMO_NOT_LCP)?;
    solana::carried(memo, h, extra(accepted).and_then(|extra| extra.get("memo")))
}

/// H, which the one memo of a message names.
pub(crate) fn only_memo_hash(message: &Message, accepted: &Object) -> Result<Hash, Refusal> {
    memo_hash(memo::written(message), accepted)
}

/// A payload whose transaction the payer signs.
pub(crate) struct Signed {
    pub(crate) payer: Address,
    pub(crate) message: Message,
    /// The payload's members beside the transaction.
    pub(crate) members: Object,
    /// The name of the transaction's member.
    pub(crate) name: &'static str,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(solana::message_request(&self.message))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let signature = solana::hex_signature(answer).ok_or(SIGNATURE_MALFORMED)?;
        Ok(self.members.clone().with(self.name, solana::signed(&self.message, &self.payer, signature)?))
    }
}
