//! ERC-7710 delegations: what the two pairings that pay by redeeming one share. They serve the same options.

use super::{
    Enveloped, Order, Payload, Scheme, Unserved,
    document::{OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
    eip155::{Payer, Places, serves_exact},
    option::{amount, short},
};
use crate::{
    Object, Refusal, Value, encoding,
    pairing::{Choice, Unsigned},
    wire::evm::{self, delegation},
};

pub(crate) const PERMISSION_CONTEXT_MALFORMED: Refusal = Refusal::new("x402/permission-context-malformed");

const MEMBERS: [&str; 3] = ["delegationManager", "permissionContext", "delegator"];

/// Serves the options of scheme `exact` that are paid by a delegation.
pub(crate) fn serves(option: &Object) -> Result<(), Unserved> {
    serves_exact("erc7710", option)
}

/// The unsigned payment: the wallet is asked for a delegation whose salt is H.
pub(crate) fn build(scheme: &dyn Scheme, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
    Payer::of(chosen.choice)?;
    let order = Order::of(scheme, chosen.choice)?;
    let option = order.option()?;
    let places = Places::served(option)?;
    let request = Object::new()
        .with("kind", "erc7710")
        .with("chainId", places.chain_id)
        .with("token", places.asset)
        .with("payTo", places.pay_to)
        .with("amount", amount(option).ok_or(OPTION_MALFORMED)?)
        .with("salt", &**chosen.h);
    Ok(Box::new(Enveloped::new(&order, chosen.reference, Delegated { request: request.into() })))
}

struct Delegated {
    request: Value,
}

impl Payload for Delegated {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let member = |name| answer.get(name).and_then(Value::as_text).ok_or(SIGNATURE_MALFORMED);
        let [manager, context, delegator] = MEMBERS;
        let payload =
            Object::new().with(manager, member(manager)?.clone()).with(context, member(context)?.clone()).with(delegator, member(delegator)?.clone());
        if evm::address(&payload, manager).is_none() || evm::address(&payload, delegator).is_none() {
            return Err(PAYLOAD_MALFORMED);
        }
        let size = payload.get(context).and_then(Value::as_str).and_then(encoding::hex_len);
        if size.is_none_or(|size| size > delegation::MAX_CONTEXT) {
            return Err(PERMISSION_CONTEXT_MALFORMED);
        }
        Ok(payload)
    }
}

/// A payment's payload, whose members are strings within their bounds.
pub(crate) fn payload<'a>(payment: &Payment<'a>) -> Result<&'a Object, Refusal> {
    let payload = payment.payload()?;
    let [manager, context, delegator] = MEMBERS;
    let context = payload.get(context).and_then(Value::as_text).filter(|text| text.utf16_len() <= 2 + 2 * delegation::MAX_CONTEXT);
    if context.is_none() || [manager, delegator].into_iter().any(|name| short(payload, name).is_none()) {
        return Err(PAYLOAD_MALFORMED);
    }
    Ok(payload)
}
