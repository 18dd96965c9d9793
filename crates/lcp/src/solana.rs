//! What the pairings on Solana share, whichever protocol they speak.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::{self, Malformed},
    pairing::Buyer,
    wire::solana::{Address, Blockhash, Instruction, Message, Signature, base58, compile, compute_budget, token},
};

/// What a build is given has another form than it needs.
pub(crate) const INPUT_MALFORMED: Refusal = Refusal::new("svm/input-malformed");
pub(crate) const PDA_NOT_FOUND: Refusal = Refusal::new("svm/pda-not-found");
pub(crate) const MEMO_COUNT: Refusal = Refusal::new("svm/memo-count");
const CARRIER_MISMATCH: Refusal = Refusal::new("svm/carrier-mismatch");
const CARRIER_NOT_CANONICAL: Refusal = Refusal::new("svm/carrier-not-canonical");
/// The price of compute units is the one member of a choice that is refused so; under MPP too it is in x402's namespace.
const CHOICE_MALFORMED: Refusal = Refusal::new("x402/choice-malformed");

const DECIMALS: &str = "decimals";
const TOKEN_PROGRAM: &str = "tokenProgram";
const RECENT_BLOCKHASH: &str = "recentBlockhash";
const UNIT_LIMIT: &str = "computeUnitLimit";
const UNIT_PRICE: &str = "computeUnitPrice";

/// The member as the text of a key or of a blockhash. That it is one is the build's to see.
pub(crate) fn key_text<'a>(object: &'a Object, name: &str) -> Result<Option<&'a str>, Malformed> {
    inputs::member(object, name, |value| value.as_str().filter(|text| is_key_text(text)))
}

/// Whether the text is as long as a key's, and of its letters.
pub(crate) fn is_key_text(text: &str) -> bool {
    (32..=44).contains(&text.len()) && text.bytes().all(base58::is_letter)
}

/// The member as a string that is not empty.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Result<Option<&'a Value>, Malformed> {
    inputs::member(object, name, |value| value.as_text().filter(|text| text.utf16_len() > 0).map(|_| value))
}

/// The member as a number that counts something.
fn uint<'a>(object: &'a Object, name: &str) -> Result<Option<&'a Value>, Malformed> {
    inputs::member(object, name, |value| value.as_safe_unsigned().map(|_| value))
}

/// The member as the decimal of a number below 2^64.
pub(crate) fn uint64<'a>(object: &'a Object, name: &str) -> Result<Option<&'a str>, Malformed> {
    inputs::member(object, name, |value| value.as_str().filter(|text| encoding::uint64(text).is_some()))
}

/// A choice in the making: the payer, then what the buyer's inputs add as they stand.
pub(crate) struct Chosen<'a> {
    inputs: &'a Object,
    choice: Object,
    /// What an input that is missing, or of another form, is refused with.
    missing: Refusal,
}

impl<'a> Chosen<'a> {
    /// Starts with the payer; `None` if the account's address is no key's text.
    pub(crate) fn by(account: &Account, inputs: &'a Object, missing: Refusal) -> Option<Self> {
        is_key_text(&account.address).then(|| Self { inputs, choice: Object::new().with("payer", account.address.as_str()), missing })
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.choice.set(name, value);
        self
    }

    /// Keeps an input that must be there.
    pub(crate) fn needs<V: Into<Value>>(self, name: &str, read: fn(&'a Object, &str) -> Result<Option<V>, Malformed>) -> Result<Self, Refusal> {
        match read(self.inputs, name) {
            Ok(Some(value)) => Ok(self.with(name, value)),
            _ => Err(self.missing),
        }
    }

    /// Keeps the token's decimals.
    pub(crate) fn decimals(self) -> Result<Self, Refusal> {
        self.needs(DECIMALS, uint)
    }

    /// Keeps the token's program.
    pub(crate) fn token_program(self) -> Result<Self, Refusal> {
        self.needs(TOKEN_PROGRAM, filled)
    }

    /// Keeps the blockhash of the transaction.
    pub(crate) fn recent_blockhash(self) -> Result<Self, Refusal> {
        self.needs(RECENT_BLOCKHASH, filled)
    }

    /// Keeps the number below 2^64 that tells this payment apart: the buyer's, or one drawn.
    pub(crate) fn drawn(self, name: &str, buyer: &Buyer<'_>) -> Result<Self, Refusal> {
        match uint64(self.inputs, name) {
            Ok(Some(given)) => Ok(self.with(name, given)),
            Ok(None) => {
                let mut bytes = [0; 8];
                (buyer.random)(&mut bytes);
                Ok(self.with(name, u64::from_be_bytes(bytes).to_string()))
            }
            Err(Malformed) => Err(self.missing),
        }
    }

    /// Keeps the compute budget's members, where they are given.
    pub(crate) fn budget(mut self) -> Result<Self, Refusal> {
        let (Ok(limit), Ok(price)) = (uint(self.inputs, UNIT_LIMIT), inputs::decimal(self.inputs, UNIT_PRICE)) else { return Err(self.missing) };
        self.choice = self.choice.with_some(UNIT_LIMIT, limit).with_some(UNIT_PRICE, price);
        Ok(self)
    }

    pub(crate) fn done(self) -> Object {
        self.choice
    }
}

/// The token's decimals in an object.
pub(crate) fn decimals(object: &Object) -> Option<u8> {
    object.get(DECIMALS).and_then(Value::as_safe_unsigned).and_then(|decimals| u8::try_from(decimals).ok())
}

/// The token's program in an object.
pub(crate) fn token_program(object: &Object) -> Option<Address> {
    object.get(TOKEN_PROGRAM).and_then(Value::as_str).and_then(token::program)
}

/// The blockhash in an object.
pub(crate) fn recent_blockhash(object: &Object) -> Option<Blockhash> {
    object.get(RECENT_BLOCKHASH).and_then(Value::as_str).and_then(base58::decode)
}

/// What the fee payer spends on a transaction's execution.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    limit: u32,
    price: u64,
}

impl Budget {
    /// Whether a choice's price has the form of a decimal, which is judged before the rest of the choice.
    pub(crate) fn judge_form(choice: &Object) -> Result<(), Refusal> {
        inputs::decimal(choice, UNIT_PRICE).map(|_| ()).map_err(|Malformed| CHOICE_MALFORMED)
    }

    /// The budget that an object's members name: a price of 1 micro-lamport and the limit given here where it names none.
    /// `None` if it names a limit from 2^32 or a price from 2^64.
    pub(crate) fn of(object: &Object, limit: u32) -> Option<Self> {
        let limit = match object.get(UNIT_LIMIT) {
            None | Some(Value::Null) => limit,
            Some(value) => u32::try_from(value.as_safe_unsigned()?).ok()?,
        };
        let price = match object.get(UNIT_PRICE) {
            None => 1,
            Some(value) => encoding::uint64(value.as_str()?)?,
        };
        Some(Self { limit, price })
    }

    /// The same, of inputs, where `null` names no limit.
    pub(crate) fn of_inputs(inputs: &Object, limit: u32) -> Option<Self> {
        Self::of(inputs, limit).filter(|_| uint(inputs, UNIT_LIMIT).is_ok())
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
pub(crate) fn message_request(message: &Message) -> Value {
    Object::new().with("kind", "solana-message").with("message", encoding::hex(&message.encode())).into()
}

/// What the wallet is asked to sign bytes with, as this signer.
pub(crate) fn raw_request(message: &[u8], signer: &str) -> Value {
    Object::new().with("kind", "ed25519-raw").with("message", encoding::hex(message)).with("signer", signer).into()
}

/// A signature in `0x` hex, as a message alone is answered.
pub(crate) fn hex_signature(answer: &Value) -> Option<Signature> {
    let mut signature = [0; 64];
    encoding::hex_into(answer.as_str()?.strip_prefix("0x")?, &mut signature)?;
    Some(signature)
}

/// Base64 of the transaction that one of its signers signed.
pub(crate) fn signed(message: &Message, signer: &Address, signature: Signature) -> Result<String, Refusal> {
    let transaction = message.clone().signed(signer, signature).ok_or(INPUT_MALFORMED)?;
    Ok(encoding::base64(&transaction.encode()))
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
