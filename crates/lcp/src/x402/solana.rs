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
    inputs::{self, MAX_DECIMAL, Malformed},
    pairing::Buyer,
    solana::{self, Budget, INPUT_MALFORMED, MEMO_COUNT, message_request},
    wire::solana::{Address, Blockhash, Message, Signature, base58, memo, payment_channels::Opening},
};

pub(crate) const CHOICE_MALFORMED: Refusal = Refusal::new("x402/choice-malformed");
const MEMO_NOT_UTF8: Refusal = Refusal::new("svm/memo-not-utf8");
const MEMO_NOT_LCP: Refusal = Refusal::new("svm/memo-not-lcp");

/// Longest memo that a seller may ask for, in UTF-8 bytes.
const MAX_MEMO: usize = 256;

/// Whether an option is of a scheme on Solana, and passes the scheme's own test of its `extra`. If so, it must name an
/// amount of at least `least`.
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

/// A choice in the making: the payer, then what the buyer's inputs add.
pub(crate) struct Chosen<'a> {
    inputs: &'a Object,
    choice: Object,
}

impl<'a> Chosen<'a> {
    pub(crate) fn by(account: &Account, inputs: &'a Object) -> Result<Self, Refusal> {
        if !solana::is_key_text(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        Ok(Self { inputs, choice: Object::new().with("payer", account.address.as_str()) })
    }

    /// Keeps an input that must be there.
    pub(crate) fn needs<V: Into<Value>>(self, name: &str, read: fn(&'a Object, &str) -> Result<Option<V>, Malformed>) -> Result<Self, Refusal> {
        let value = read(self.inputs, name).ok().flatten().ok_or(INPUT_MISSING)?;
        Ok(self.with(name, value))
    }

    /// Keeps a number below 2^64 that tells this payment apart: the buyer's, or one drawn.
    pub(crate) fn drawn(self, name: &str, buyer: &Buyer<'_>) -> Result<Self, Refusal> {
        match uint64_input(self.inputs, name).map_err(|_| INPUT_MISSING)? {
            Some(given) => Ok(self.with(name, given)),
            None => {
                let mut bytes = [0; 8];
                (buyer.random)(&mut bytes);
                Ok(self.with(name, u64::from_be_bytes(bytes).to_string()))
            }
        }
    }

    /// Keeps the compute budget, whose members may be absent.
    pub(crate) fn budget(mut self) -> Result<Self, Refusal> {
        for (name, value) in Budget::members(self.inputs).map_err(|_| INPUT_MISSING)? {
            self.choice.set(name, value);
        }
        Ok(self)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.choice.set(name, value);
        self
    }

    pub(crate) fn done(self) -> Object {
        self.choice
    }
}

/// An input that is the decimal of a number below 2^64.
pub(crate) fn uint64_input<'a>(inputs: &'a Object, name: &str) -> Result<Option<&'a str>, Malformed> {
    inputs::member(inputs, name, |value| value.as_str().filter(|text| encoding::uint64(text).is_some()))
}

/// A choice's decimals, some of which it must have, before anything else of it is read.
pub(crate) fn judge_decimals(choice: &Object, needed: &[&str], optional: &[&str]) -> Result<(), Refusal> {
    let is_decimal = |value: &Value| value.as_str().is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
    let form =
        needed.iter().all(|name| choice.get(name).is_some_and(is_decimal)) && optional.iter().all(|name| choice.get(name).is_none_or(is_decimal));
    if form && Budget::judge_form(choice).is_ok() { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// Whether the choice holds a document and an option at all.
pub(crate) fn judge_order(choice: &Object) -> Result<(), Refusal> {
    let holds = |name| choice.get(name).is_some_and(|value| value.as_object().is_some());
    if holds("required") && holds("accepted") { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// A choice's number below 2^64.
pub(crate) fn number(choice: &Object, name: &str) -> Result<u64, Refusal> {
    choice.get(name).and_then(Value::as_str).and_then(encoding::uint64).ok_or(INPUT_MALFORMED)
}

/// A choice's slot, which the payment writes as a JSON number.
pub(crate) fn slot(choice: &Object, name: &str) -> Result<u64, Refusal> {
    number(choice, name).ok().filter(|&slot| slot < 1 << 53).ok_or(INPUT_MALFORMED)
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
                token_program: solana::token_program(choice, "tokenProgram")?,
                blockhash: solana::blockhash(choice, "recentBlockhash")?,
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

    /// How a channel for the payer is opened.
    pub(crate) fn opening(&self, payer: &Payer, deposit: u64) -> Result<Opening, Refusal> {
        let delay = self.extra.get("withdrawDelay").and_then(Value::as_safe_unsigned);
        Ok(Opening {
            deposit,
            grace_period: delay.and_then(|delay| u32::try_from(delay).ok()).ok_or(INPUT_MALFORMED)?,
            recipient: self.pay_to,
            token_program: solana::token_program(self.extra, "tokenProgram")
                .filter(|program| *program == payer.token_program)
                .ok_or(INPUT_MALFORMED)?,
        })
    }
}

/// H, which a message's one memo names. Another memo is refused, but for those that the scheme sets aside.
pub(crate) fn memo_hash<'a>(memos: impl IntoIterator<Item = &'a [u8]>, extra: &Object) -> Result<Hash, Refusal> {
    let mut memos = memos.into_iter();
    let (Some(memo), None) = (memos.next(), memos.next()) else { return Err(MEMO_COUNT) };
    let memo = std::str::from_utf8(memo).map_err(|_| MEMO_NOT_UTF8)?;
    let h = Hash::from_lcp_string(memo).ok_or(MEMO_NOT_LCP)?;
    solana::carried(memo, h, extra.get("memo"))
}

/// H, which the one memo of a message names.
pub(crate) fn only_memo_hash(message: &Message, accepted: &Object) -> Result<Hash, Refusal> {
    memo_hash(memo::written(message), extra(accepted).ok_or(OPTION_MALFORMED)?)
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
        Ok(message_request(&self.message).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let mut signature: Signature = [0; 64];
        let digits = answer.as_str().and_then(|text| text.strip_prefix("0x")).ok_or(SIGNATURE_MALFORMED)?;
        encoding::hex_into(digits, &mut signature).ok_or(SIGNATURE_MALFORMED)?;
        Ok(self.members.clone().with(self.name, transaction(&self.message, &self.payer, signature)?))
    }
}

/// Base64 of the transaction that one of its signers signed.
pub(crate) fn transaction(message: &Message, signer: &Address, signature: Signature) -> Result<String, Refusal> {
    let transaction = message.clone().signed(signer, signature).ok_or(INPUT_MALFORMED)?;
    Ok(encoding::base64(&transaction.encode()))
}
