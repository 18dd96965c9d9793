//! Runs a row on the gate's library.

use lcp::{DeclineCode, Declined, Hash, Object, Pairing, Value, encoding, json};
use terms::{Decline, Finished, Gate, Transact};

use crate::{
    row::{self, Row},
    world::World,
};

/// What the gate answered, and what the pairing itself read of H where the row records that.
pub struct Ran {
    /// The answer in the tools' wire form.
    pub answer: Value,
    /// The hash, or the refusal code, that the pairing's own reading of the payment gave.
    pub bound: Option<Value>,
}

/// The answer of the operation in the tools' wire form, below the macs.
pub async fn run(row: &Row, world: &World) -> Ran {
    let mut bound = None;
    let answer = match operation(row, world, &mut bound).await {
        Ok(answer) => answer,
        Err(Stop::Declined(decline)) => decline.to_json(),
        Err(Stop::Schema(argument)) => Object::new().with("schema_refused", argument),
    };
    Ran { answer: as_written(&answer.into()), bound }
}

/// The value that a caller reads from our text: an infinity crosses as null.
pub fn as_written(value: &Value) -> Value {
    json::parse(&json::write(value), 512).unwrap_or(Value::Null)
}

enum Stop {
    Declined(Box<Decline>),
    /// The argument cannot reach the library at all.
    Schema(&'static str),
}

impl From<Decline> for Stop {
    fn from(decline: Decline) -> Self {
        Self::Declined(Box::new(decline))
    }
}

impl From<Declined> for Stop {
    fn from(declined: Declined) -> Self {
        Decline::from(declined).into()
    }
}

async fn operation(row: &Row, world: &World, bound: &mut Option<Value>) -> Result<Object, Stop> {
    let gate = Gate::new(world.clone(), world.clone());
    let null = Value::Null;
    let argument = |name| row.argument(name).unwrap_or(&null);
    let atr = || row::bytes_of(argument("atr")).ok_or(Stop::Schema("atr"));
    let pairing = || terms::pairing(row.pairing_argument());
    let wallets = row.get("signer").unwrap_or(&null);
    let signer = world.wallet("signer", wallets);
    let agreement_signer = wallets.get("agreement").map(|agreement| world.wallet("agreement", agreement));
    let inputs = row.argument("inputs");
    let approved = row.argument("approved");

    match row.op() {
        "confirm" => {
            // An account that is no string is one that no pairing knows.
            let account = argument("account").as_str().unwrap_or_default();
            let confirmed = gate.confirm(pairing()?, argument("document"), account, inputs).await?;
            let chosen = confirmed.to_json();
            match (&confirmed.chosen.agreement, row.argument("receipt")) {
                (None, _) => Ok(chosen),
                (Some(_), None) => Ok(chosen.without("request")),
                (Some(_), Some(receipt)) if terms::is_receipt(receipt, &confirmed.h) => Ok(chosen),
                (Some(_), Some(_)) => Err(Declined::because(DeclineCode::AgreementFailed, "not a receipt").into()),
            }
        }
        "finish" => {
            let pairing = pairing()?;
            let finished = terms::finish(pairing, &atr()?, argument("chosen"), argument("signature"))?;
            if let Finished::Signed { signed, landed, .. } = &finished {
                *bound = Some(read_of(pairing, signed, landed.as_ref()));
            }
            Ok(finished.to_json())
        }
        "check" => {
            let (pairing, atr) = (pairing()?, atr()?);
            let landed = row.argument("landed");
            *bound = Some(read_of(pairing, argument("presented"), landed.filter(|landed| landed.as_object().is_some())));
            let h = terms::check(pairing, &atr, argument("presented"), landed)?;
            Ok(Object::new().with("atrHash", &h))
        }
        "open_channel" => {
            let (pairing, atr) = (pairing()?, atr()?);
            let landed = row.argument("landed");
            let hold = terms::open_channel(pairing, &atr, argument("signed"), landed)?;
            *bound = Some(read_of(pairing, argument("signed"), landed.filter(|landed| landed.as_object().is_some())));
            Ok(terms::held_json(&hold, None))
        }
        "record_charge" => Ok(terms::held_json(&terms::record_charge(&plain_hold(argument("hold")), argument("charged"))?, None)),
        "within" => {
            let hold = plain_hold(argument("hold"));
            Ok(gate.within(pairing()?, &hold, argument("document"), &signer, row.argument("refund"), inputs).await?.to_json())
        }
        "transact" => {
            let options = Transact { signer: &signer, agreement_signer: agreement_signer.as_ref(), inputs, approved, cancel: world.cancel() };
            Ok(gate.transact(pairing()?, argument("document"), options).await?.to_json())
        }
        "agree" => {
            let atr = atr()?;
            let url = terms::agreement_of(argument("chosen"))?;
            let payer = agreement_signer.as_ref().unwrap_or(&signer);
            let exchanged = gate.agree(&atr, url, payer, approved, inputs, world.cancel()).await?;
            Ok(exchanged.to_json(&Hash::of(&atr)))
        }
        _ => Err(Stop::Schema("op")),
    }
}

fn read_of(pairing: &dyn Pairing, payment: &Value, landed: Option<&Value>) -> Value {
    match pairing.bound(payment, landed) {
        Ok(h) => (&h).into(),
        Err(refusal) => refusal.code().into(),
    }
}

/// The hold with a long ATR written out.
fn plain_hold(hold: &Value) -> Value {
    match (hold.as_object(), hold.get("atr").and_then(row::repeated)) {
        (Some(object), Some((byte, count))) => object.clone().with("atr", encoding::base64(&vec![byte; count])).into(),
        _ => hold.clone(),
    }
}
