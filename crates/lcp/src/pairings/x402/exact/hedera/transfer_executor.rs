//! `x402/exact/hedera/transfer-executor`: an executor that the seller names moves the asset by the buyer's authorization. H
//! is only echoed in the payment's legal context, so an agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::hex_len,
    hedera::OPTION_MALFORMED,
    pairing::{Buyer, Choice, Unsigned},
    wire::hedera::EntityId,
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_PAYABLE_OPTION, Payment, SIGNATURE_MALFORMED, echoed_hash_of_any_link},
        hedera::{Method, serves},
        judge_order,
        option::{extra, timeout},
    },
};

pub(crate) static PAIRING: X402<TransferExecutor> = X402(TransferExecutor);

pub(crate) struct TransferExecutor;

const EXECUTOR_MALFORMED: Refusal = Refusal::new("hedera/executor-malformed");
const EXECUTOR_NOT_OFFERED: Refusal = Refusal::new("hedera/executor-not-offered");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("hedera/no-legal-context");

/// Most executors that an option may name.
const MAX_EXECUTORS: usize = 16;
/// Most bytes of an authorization.
const MAX_AUTHORIZATION: usize = 4096;
/// The greatest safe integer.
const MAX_TIME: u64 = (1 << 53) - 1;

impl Scheme for TransferExecutor {
    fn id(&self) -> &'static str {
        "x402/exact/hedera/transfer-executor"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(Method::TransferExecutor, option, |extra| executors(extra).is_some())
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        EntityId::parse(&account.address).ok_or(NO_PAYABLE_OPTION)?;
        Ok(Object::new().with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_order(chosen.choice)?;
        let now = chosen.choice.get("now").and_then(Value::as_safe_unsigned).ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        // Both are below 2^53.
        let valid_before = timeout(option).map(|timeout| now + timeout).filter(|time| *time <= MAX_TIME);
        let executors = extra(option).and_then(executors).ok_or(OPTION_MALFORMED)?;
        let request = Object::new()
            .with("kind", "hedera-executor")
            .with_some("network", option.get("network"))
            .with("executors", executors.to_vec())
            .with_some("asset", option.get("asset"))
            .with_some("payTo", option.get("payTo"))
            .with_some("amount", option.get("amount"))
            .with("validBefore", valid_before.ok_or(OPTION_MALFORMED)?);
        let payload = Authorized { request: request.into(), executors: executors.to_vec() };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        judge_form(payment.payload()?)?;
        echoed_hash_of_any_link(payment.whole).ok_or(NO_LEGAL_CONTEXT)
    }
}

/// The executors that an option's `extra` names.
fn executors(extra: &Object) -> Option<&[Value]> {
    let executors = extra.get("executors")?.as_array().filter(|executors| (1..=MAX_EXECUTORS).contains(&executors.len()))?;
    executors.iter().all(|executor| executor.as_str().and_then(EntityId::parse).is_some()).then_some(executors)
}

/// Whether a payload names a payer and an executor, and holds an authorization.
fn judge_form(payload: &Object) -> Result<(), Refusal> {
    let authorization = payload.get("authorization").and_then(Value::as_str).and_then(hex_len);
    let named = ["payer", "executor"].iter().all(|name| EntityId::of(payload, name).is_some());
    if named && authorization.is_some_and(|length| length <= MAX_AUTHORIZATION) { Ok(()) } else { Err(EXECUTOR_MALFORMED) }
}

/// An authorization that the wallet is asked for.
struct Authorized {
    request: Value,
    executors: Vec<Value>,
}

impl Payload for Authorized {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let member = |name| answer.get(name).filter(|value| value.as_text().is_some()).ok_or(SIGNATURE_MALFORMED);
        let (payer, executor, authorization) = (member("payer")?, member("executor")?, member("authorization")?);
        let payload = Object::new().with("payer", payer).with("executor", executor).with("authorization", authorization);
        judge_form(&payload)?;
        if self.executors.contains(executor) { Ok(payload) } else { Err(EXECUTOR_NOT_OFFERED) }
    }
}
