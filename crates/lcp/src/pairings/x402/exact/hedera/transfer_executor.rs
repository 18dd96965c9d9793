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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        x402::sample::{self, ATR, document, h, object, paid, parsed, request, with_option},
    };

    const ACCOUNT: &str = "hedera:mainnet:0.0.1234";
    const OPTION: &str = "{'scheme':'exact','network':'hedera:mainnet','amount':'5','asset':'0.0.0','payTo':'0.0.5005','maxTimeoutSeconds':60,
                          'extra':{'assetTransferMethod':'transferExecutor','executors':['0.0.8001','0.0.8002']}}";
    const ANSWER: &str = "{'payer':'0.0.9','executor':'0.0.8002','authorization':'0xAB'}";

    fn choice() -> Object {
        sample::choose(&PAIRING, ACCOUNT, &document(ATR, &[object(OPTION)]).into(), &Object::new()).unwrap()
    }

    fn refused(choice: &Object) -> String {
        sample::build(&PAIRING, ATR, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    fn payment() -> Object {
        let unsigned = sample::build(&PAIRING, ATR, &choice()).unwrap();
        paid(&*unsigned, &parsed(ANSWER)).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn an_offered_executor_is_authorized() {
        let unsigned = sample::build(&PAIRING, ATR, &choice()).unwrap();
        let expected = "{'kind':'hedera-executor','network':'hedera:mainnet','executors':['0.0.8001','0.0.8002'],'asset':'0.0.0','payTo':'0.0.5005',
                         'amount':'5','validBefore':1790000060}";
        assert_eq!(request(&*unsigned), parsed(expected));
        assert_eq!(payment().get("payload"), Some(&parsed(ANSWER)));
        assert_eq!(PAIRING.bound(&payment().into(), None), Ok(h()));
        let code = |name: &str, value: &str| paid(&*unsigned, &object(ANSWER).with(name, parsed(value)).into()).unwrap_err().code().to_owned();
        assert_eq!(code("executor", "'0.0.8003'"), "hedera/executor-not-offered");
        for name in ["payer", "executor", "authorization"] {
            assert_eq!(code(name, "5"), "x402/signature-malformed", "{name}");
            assert_eq!(code(name, "'0.0.01'"), "hedera/executor-malformed", "{name}");
        }
        assert_eq!(paid(&*unsigned, &parsed("[]")).unwrap_err(), SIGNATURE_MALFORMED);
        let of = |bytes: usize| paid(&*unsigned, &object(ANSWER).with("authorization", format!("0x{}", "ab".repeat(bytes))).into());
        assert!(of(4096).is_ok() && of(4097).is_err());
    }

    #[test]
    fn an_option_names_1_to_16_executors() {
        let with_extra = |extra: &str| refused(&with_option(&choice(), object(OPTION).with("extra", parsed(extra))));
        let of = |executors: &str| with_extra(&format!("{{'assetTransferMethod':'transferExecutor','executors':{executors}}}"));
        let many = |count| format!("[{}]", vec!["'0.0.1'"; count].join(","));
        assert_eq!((of(&many(1)), of(&many(16))), (String::new(), String::new()));
        for executors in ["null", "'0.0.1'", &many(0), &many(17), "['0.0.1',5]", "['x']"] {
            assert_eq!(of(executors), "hedera/option-malformed", "{executors}");
        }
        assert_eq!(with_extra("{'executors':['0.0.1']}"), "x402/option-not-this-pairing");
        assert_eq!(with_extra("{'assetTransferMethod':'x','executors':['0.0.1']}"), "hedera/option-malformed");
    }

    #[test]
    fn the_deadline_is_a_safe_integer() {
        let now = |now: u64| refused(&choice().with("now", now));
        assert_eq!((now(MAX_TIME - 60), now(MAX_TIME - 59)), (String::new(), "hedera/option-malformed".to_owned()));
        // The time is judged before the option is.
        let choice = choice().with("accepted", Object::new());
        assert_eq!(refused(&choice), "x402/option-not-in-document");
        assert_eq!(refused(&choice.with("now", "5")), "hedera/option-malformed");
    }

    #[test]
    fn h_is_echoed() {
        let code = |payment: Object| PAIRING.bound(&payment.into(), None).unwrap_err().code().to_owned();
        assert_eq!(code(payment().without("extensions")), "hedera/no-legal-context");
        assert_eq!(code(payment().without("extensions").with("payload", Object::new())), "hedera/executor-malformed");
        let payload = object(ANSWER).with("executor", "0.0.1");
        assert_eq!(PAIRING.bound(&payment().with("payload", payload).into(), None), Ok(h()));
    }
}
