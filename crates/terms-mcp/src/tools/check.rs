//! `atr_check`: reads the hash from a payment.

use lcp::Object;

use super::{ATR, Effect, Id, LANDED, Needs, PAIRING, Stop, Tool};
use crate::arguments::{Arguments, Kind, required};

pub(crate) const TOOL: Tool = Tool {
    id: Id::Check,
    name: "atr_check",
    title: "Check a payment's ATR hash",
    description: "For a payment held with its ATR, at any later time. Reads the hash from the payment as its pairing defines and compares it with the SHA-256 \
                  of the ATR's bytes. Returns atrHash when they are equal; a payment from which no hash is read is declined signed-not-bound. Nothing is fetched.",
    arguments: &[PAIRING, ATR, required("presented", Kind::Json, "The payment, as returned."), LANDED],
    effect: Effect::Reads { open_world: false },
    needs: Needs::Nothing,
    returns_atr: false,
};

pub(crate) fn call(arguments: &Arguments) -> Result<Object, Stop> {
    let (pairing, atr) = (arguments.pairing()?, arguments.bytes("atr")?);
    let h = terms::check(terms::pairing(pairing)?, &atr, arguments.json("presented")?, arguments.get("landed"))?;
    Ok(Object::new().with("atrHash", &h))
}
