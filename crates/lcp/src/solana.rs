//! What the pairings on Solana share, whichever protocol they speak.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    inputs::{self, Malformed},
    wire::solana::{Address, Blockhash, Instruction, Message, base58, compile, compute_budget, token},
};

/// What a build is given has another form than it needs.
pub(crate) const INPUT_MALFORMED: Refusal = Refusal::new("svm/input-malformed");
pub(crate) const PDA_NOT_FOUND: Refusal = Refusal::new("svm/pda-not-found");
pub(crate) const CARRIER_MISMATCH: Refusal = Refusal::new("svm/carrier-mismatch");
pub(crate) const MEMO_COUNT: Refusal = Refusal::new("svm/memo-count");
const CARRIER_NOT_CANONICAL: Refusal = Refusal::new("svm/carrier-not-canonical");

const UNIT_LIMIT: &str = "computeUnitLimit";
const UNIT_PRICE: &str = "computeUnitPrice";

/// The member as the text of a key, or of a blockhash. That it is one is the build's to see.
pub(crate) fn key_text<'a>(object: &'a Object, name: &str) -> Result<Option<&'a str>, Malformed> {
    inputs::member(object, name, |value| value.as_str().filter(|text| is_key_text(text)))
}

/// Whether the text is as long as a key's, and of its letters.
pub(crate) fn is_key_text(text: &str) -> bool {
    (32..=44).contains(&text.len()) && text.bytes().all(base58::is_letter)
}

/// The blockhash in an object's member.
pub(crate) fn blockhash(object: &Object, name: &str) -> Option<Blockhash> {
    object.get(name).and_then(Value::as_str).and_then(base58::decode)
}

/// The token program in an object's member.
pub(crate) fn token_program(object: &Object, name: &str) -> Option<Address> {
    object.get(name).and_then(Value::as_str).and_then(token::program)
}

/// The member if it is a string that is not empty, as inputs name a program or a blockhash.
pub(crate) fn filled(inputs: &Object, name: &str) -> Result<Option<Value>, Malformed> {
    let filled = inputs::member(inputs, name, |value| value.as_text().filter(|text| text.utf16_len() > 0))?;
    Ok(filled.map(|text| text.clone().into()))
}

/// What the fee payer spends on a transaction's execution.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    limit: u32,
    price: u64,
}

impl Budget {
    /// The members of the inputs that a choice keeps for [`Budget::of`], with their names.
    pub(crate) fn members(inputs: &Object) -> Result<impl Iterator<Item = (&'static str, Value)>, Malformed> {
        let limit = inputs::member(inputs, UNIT_LIMIT, |limit| limit.as_safe_unsigned().map(|_| limit.clone()))?;
        let price = inputs::decimal(inputs, UNIT_PRICE)?.map(Value::from);
        Ok([(UNIT_LIMIT, limit), (UNIT_PRICE, price)].into_iter().filter_map(|(name, value)| Some((name, value?))))
    }

    /// Whether a choice's price is of the form that [`Budget::members`] keeps.
    pub(crate) fn judge_form(choice: &Object) -> Result<(), Malformed> {
        inputs::decimal(choice, UNIT_PRICE).map(|_| ())
    }

    /// The budget of a choice: a price of 1 micro-lamport and the limit given, where it names none; `None` if it names a
    /// limit from 2^32 or a price from 2^64.
    pub(crate) fn of(choice: &Object, limit: u32) -> Option<Self> {
        let limit = match choice.get(UNIT_LIMIT) {
            None | Some(Value::Null) => limit,
            Some(value) => u32::try_from(value.as_safe_unsigned()?).ok()?,
        };
        let price = match choice.get(UNIT_PRICE) {
            None => 1,
            Some(value) => encoding::uint64(value.as_str()?)?,
        };
        Some(Self { limit, price })
    }
}

/// Compiles a transaction's message: its budget, then the calls.
pub(crate) fn compiled(
    fee_payer: Address,
    blockhash: Blockhash,
    budget: Budget,
    calls: impl IntoIterator<Item = Instruction>,
) -> Result<Message, Refusal> {
    let calls: Vec<_> = compute_budget::limit_and_price(budget.limit, budget.price).into_iter().chain(calls).collect();
    compile(fee_payer, blockhash, &calls).ok_or(INPUT_MALFORMED)
}

/// What the wallet is asked to sign a message with.
pub(crate) fn message_request(message: &Message) -> Object {
    Object::new().with("kind", "solana-message").with("message", encoding::hex(&message.encode()))
}

/// H, which a memo of this text names, if it is the very text that the seller offered.
pub(crate) fn carried(memo: &str, h: Hash, offered: Option<&Value>) -> Result<Hash, Refusal> {
    if memo != h.lcp_string() {
        return Err(CARRIER_NOT_CANONICAL);
    }
    judge_offered(h, offered)?;
    Ok(h)
}

/// Whether the seller's text is the one that names H.
pub(crate) fn judge_offered(h: Hash, offered: Option<&Value>) -> Result<(), Refusal> {
    if offered.and_then(Value::as_str) == Some(&h.lcp_string()) { Ok(()) } else { Err(CARRIER_MISMATCH) }
}
