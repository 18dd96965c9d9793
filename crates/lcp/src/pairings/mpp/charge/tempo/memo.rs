//! `mpp/charge/tempo/memo`: a signed Tempo transaction that the seller sends, in which a transfer's memo names the challenge.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    mpp::{
        Method, Mpp, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, ReadBack, Waiting},
        evm::{Payer, judge_type},
        tempo::{Charge, Mode, TX_MALFORMED},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::tempo::{Transaction, tip20},
};

pub(crate) static PAIRING: Mpp<Memo> = Mpp(Memo);

pub(crate) struct Memo;

impl Method for Memo {
    fn id(&self) -> &'static str {
        "mpp/charge/tempo/memo"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Mode::Pull).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::payable(offer, Mode::Pull).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Charge::choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Mode::Pull)?;
        let payload = |answer: &Value| {
            let transaction = answer.as_str().filter(|text| encoding::hex_len(text).is_some()).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(Object::new().with("type", "transaction").with("signature", transaction))
        };
        let step = OneStep { request: charge.request(chosen.choice, Mode::Pull)?, payload };
        let unsigned = Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), step);
        Ok(Box::new(ReadBack { pairing: &PAIRING, unsigned }))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let charge = Charge::payable(offer, Mode::Pull)?;
        judge_type(credential.payload, "transaction")?;
        let transaction = credential.payload.get("signature").and_then(Value::as_str).and_then(encoding::from_hex).ok_or(CREDENTIAL_MALFORMED)?;
        let transaction = Transaction::read(&transaction).filter(|transaction| transaction.is_on(charge.chain_id)).ok_or(TX_MALFORMED)?;
        let calls = transaction.calls.iter().filter(|call| call.to.is_some_and(|to| charge.is_token(to)));
        charge.bound(offer.h, calls.filter_map(|call| tip20::memo(call.data)))
    }
}
