//! `mpp/charge/tempo/push`: a Tempo transaction that the buyer sends; the memo that names the challenge is read from the
//! logs of its landing.

use crate::{
    Hash, Object, Refusal, Value,
    encoding::{is_decimal, plain_decimal},
    inputs::MAX_DECIMAL,
    mpp::{
        Method, Mpp, Offer,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, Payload, Waiting},
        evm::{Payer, bytes32, judge_type},
        tempo::{Charge, Mode, address},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::{evm::Word, tempo::tip20},
};

pub(crate) static PAIRING: Mpp<Push> = Mpp(Push);

pub(crate) struct Push;

const READ_FIRST: Refusal = Refusal::new("tempo/read-first");

impl Method for Push {
    fn id(&self) -> &'static str {
        "mpp/charge/tempo/push"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Mode::Push).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::payable(offer, Mode::Push).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Charge::choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Mode::Push)?;
        let sent = Sent { request: charge.request(chosen.choice, Mode::Push)? };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), sent)))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let charge = Charge::payable(offer, Mode::Push)?;
        judge_type(credential.payload, "hash")?;
        let logs = landed.and_then(|landed| landed.get("logs")).and_then(Value::as_array).ok_or(READ_FIRST)?;
        let memos: Vec<_> = logs.iter().filter_map(|log| memo(log, &charge)).collect();
        charge.bound(offer.h, memos.iter())
    }
}

/// The memo in a log of the token's transfers.
fn memo(log: &Value, charge: &Charge<'_>) -> Option<Word> {
    address(log.as_object()?, "address").filter(|token| charge.is_token(token))?;
    let [event, _, _, memo] = log.get("topics")?.as_array()? else { return None };
    let word = |topic: &Value| topic.as_str().and_then(Hash::parse).map(|word| *word.bytes());
    word(event).filter(|event| *event == tip20::TRANSFER_WITH_MEMO_TOPIC)?;
    word(memo)
}

/// A transaction that the wallet sends and names.
struct Sent {
    request: Value,
}

impl Payload for Sent {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let answer = answer.as_object().ok_or(CREDENTIAL_MALFORMED)?;
        let hash = answer.get("hash").filter(|_| bytes32(answer, "hash").is_some()).ok_or(CREDENTIAL_MALFORMED)?;
        let landed = match answer.get("landed").filter(|landed| !landed.is_null()) {
            None => None,
            Some(landed) => Some(receipt(landed).ok_or(CREDENTIAL_MALFORMED)?.into()),
        };
        Ok(Answered::Payload(Object::new().with("type", "hash").with("hash", hash), landed))
    }
}

/// A transaction's receipt, as far as it is held.
fn receipt(landed: &Value) -> Option<Object> {
    let text = |name| landed.get(name).and_then(Value::as_text);
    let block = text("blockNumber")?.as_str().filter(|block| is_decimal(block, MAX_DECIMAL))?;
    Some(
        Object::new()
            .with("transaction", text("transaction")?.clone())
            .with("blockNumber", plain_decimal(block))
            .with("logs", landed.get("logs").filter(|logs| logs.as_array().is_some())?),
    )
}
