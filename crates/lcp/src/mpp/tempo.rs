//! What the methods on Tempo share, and the charge: transfers in one transaction, the first of which bears a memo that names
//! the challenge.

use super::{
    INPUT_MALFORMED, INPUT_MISSING, NOT_THIS_PAIRING, Offer, REQUEST_MALFORMED,
    attribution::Attribution,
    challenge::EXPIRES_REQUIRED,
    evm::{
        Payer,
        charge::{MAX_SPLITS, SPLITS_MALFORMED, amount},
    },
};
use crate::{
    Hash, Object, Refusal, Value, encoding, inputs,
    pairing::Buyer,
    wire::{
        evm::{self, U256, Word},
        tempo::{Address, address_of, tip20},
    },
};

pub(crate) const TX_MALFORMED: Refusal = Refusal::new("tempo/tx-malformed");
const CARRIER_TAKEN: Refusal = Refusal::new("mpp/carrier-taken");
const MODES_PULL_ONLY: Refusal = Refusal::new("mpp/modes-pull-only");
const MEMO_NOT_BOUND: Refusal = Refusal::new("tempo/memo-not-bound");
const AMBIGUOUS: Refusal = Refusal::new("tempo/ambiguous");

/// The chain of a charge that names none.
const DEFAULT_CHAIN: u64 = 42_431;

/// Who sends the transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The seller, to whom the buyer gives it signed.
    Pull,
    /// The buyer.
    Push,
}

/// The chain that a request's details name, or the default where they name none.
pub(crate) fn chain_id(details: &Object, default: u64) -> Option<u64> {
    if details.has("chainId") { super::evm::chain_id(details) } else { Some(default) }
}

/// An address member, as bytes.
pub(crate) fn address(object: &Object, name: &str) -> Option<Address> {
    evm::address(object, name).and_then(address_of)
}

/// What a challenge charges.
pub(crate) struct Charge<'a> {
    pub(crate) chain_id: u64,
    /// The token, as written.
    token: &'a str,
    /// The memos that name the challenge.
    attribution: Attribution,
    expires: i64,
    transfers: Vec<Transfer>,
}

/// One transfer; the first is the recipient's, and has the memo of the charge.
struct Transfer {
    recipient: Address,
    amount: U256,
    memo: Option<Word>,
}

impl<'a> Charge<'a> {
    /// Reads the request of an offer that must be payable in a mode.
    pub(crate) fn payable(offer: &'a Offer<'_>, mode: Mode) -> Result<Self, Refusal> {
        let details = offer.details();
        let token = evm::address(&offer.request, "currency").ok_or(REQUEST_MALFORMED)?;
        let recipient = address(&offer.request, "recipient").ok_or(REQUEST_MALFORMED)?;
        let (_, amount) = amount(&offer.request).ok_or(REQUEST_MALFORMED)?;
        let chain_id = chain_id(details, DEFAULT_CHAIN).ok_or(REQUEST_MALFORMED)?;
        if amount == U256::from(0) {
            return Err(NOT_THIS_PAIRING);
        }
        if details.has("memo") {
            return Err(CARRIER_TAKEN);
        }
        let modes = modes(details)?;
        let splits = details.get("splits").map_or(Some(Vec::new()), read_splits).ok_or(SPLITS_MALFORMED)?;
        let rest = splits.iter().try_fold(amount, |rest, split| rest.checked_sub(split.amount)).filter(|rest| *rest > U256::from(0));
        let primary = Transfer { recipient, amount: rest.ok_or(INPUT_MALFORMED)?, memo: None };
        let expires = offer.expires.ok_or(EXPIRES_REQUIRED)?;
        if !modes.contains(&mode) {
            return Err(NOT_THIS_PAIRING);
        }
        let attribution = Attribution::of(&offer.challenge).ok_or(REQUEST_MALFORMED)?;
        Ok(Self { chain_id, token, attribution, expires, transfers: std::iter::once(primary).chain(splits).collect() })
    }

    pub(crate) fn network(&self) -> String {
        format!("eip155:{}", self.chain_id)
    }

    /// The members of a choice beside the challenge.
    pub(crate) fn choice(buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let client = inputs::member(buyer.inputs, "clientId", |value| value.as_text().filter(|text| text.utf16_len() > 0));
        Ok(Payer::members(buyer)?.with_some("clientId", client.map_err(|_| INPUT_MISSING)?.cloned()))
    }

    /// What the wallet is asked for a choice.
    pub(crate) fn request(&self, choice: &Object, mode: Mode) -> Result<Value, Refusal> {
        let client = inputs::member(choice, "clientId", Value::as_str).map_err(|_| INPUT_MALFORMED)?;
        let memo = self.attribution.memo(client);
        let calls = self.transfers.iter().enumerate().map(|(place, transfer)| {
            let memo = if place == 0 { Some(&memo) } else { transfer.memo.as_ref() };
            let data = tip20::transfer(&transfer.recipient, &transfer.amount, memo);
            Value::from(Object::new().with("to", self.token).with("data", encoding::hex(&data)))
        });
        let request = match calls.collect::<Vec<_>>().as_slice() {
            [call] => Object::new().with("kind", "tempo-call").with("call", call),
            calls => Object::new().with("kind", "tempo-calls").with("calls", calls.to_vec()),
        };
        let request = request.with("chainId", self.chain_id).with("validBefore", self.expires);
        Ok(request.with("broadcast", mode == Mode::Push).into())
    }

    /// Whether an address is the token's.
    pub(crate) fn is_token(&self, address: &Address) -> bool {
        address_of(self.token).as_ref() == Some(address)
    }

    /// H, if exactly one of the memos of the token's transfers names the challenge.
    pub(crate) fn bound<'m>(&self, h: Hash, memos: impl Iterator<Item = &'m Word>) -> Result<Hash, Refusal> {
        match memos.filter(|memo| self.attribution.is_in(memo)).count() {
            0 => Err(MEMO_NOT_BOUND),
            1 => Ok(h),
            _ => Err(AMBIGUOUS),
        }
    }
}

fn modes(details: &Object) -> Result<Vec<Mode>, Refusal> {
    let listed = match details.get("supportedModes") {
        None => vec![Mode::Pull, Mode::Push],
        Some(listed) => {
            let modes = listed.as_array().ok_or(REQUEST_MALFORMED)?.iter().map(|mode| match mode.as_str() {
                Some("pull") => Ok(Mode::Pull),
                Some("push") => Ok(Mode::Push),
                _ => Err(REQUEST_MALFORMED),
            });
            modes.collect::<Result<_, _>>()?
        }
    };
    // Fees that another pays are added after the buyer has signed.
    let sponsored = details.get("feePayer") == Some(&Value::Bool(true));
    let modes: Vec<_> = listed.into_iter().filter(|mode| !sponsored || *mode == Mode::Pull).collect();
    if modes.is_empty() { Err(MODES_PULL_ONLY) } else { Ok(modes) }
}

fn read_splits(splits: &Value) -> Option<Vec<Transfer>> {
    let splits = splits.as_array().filter(|splits| (1..=MAX_SPLITS).contains(&splits.len()))?;
    let split = |split: &Value| {
        let split = split.as_object()?;
        let memo = inputs::member(split, "memo", |memo| memo.as_str().and_then(Hash::parse)).ok()?;
        let (_, amount) = amount(split).filter(|(_, amount)| *amount > U256::from(0))?;
        Some(Transfer { recipient: address(split, "recipient")?, amount, memo: memo.map(|memo| *memo.bytes()) })
    };
    splits.iter().map(split).collect()
}
