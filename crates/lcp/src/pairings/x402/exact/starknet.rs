//! `x402/exact/starknet`: H's low 250 bits are the nonce of an execution from outside, and the payment echoes all of it.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::{
        evm::{self, U256},
        starknet::{
            Felt,
            outside_execution::{self, ANY_CALLER, OutsideExecution},
        },
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_PAYABLE_OPTION, Payment, SIGNATURE_MALFORMED, echoed_hash_of_any_link},
        option::{absent_or, amount, exact_on, timeout},
    },
};

pub(crate) static PAIRING: X402<Starknet> = X402(Starknet);

pub(crate) struct Starknet;

const NOT_PAYABLE: Refusal = Refusal::new("starknet/option-malformed");
const NETWORK_MALFORMED: Refusal = Refusal::new("starknet/network-malformed");
const FELT_MALFORMED: Refusal = Refusal::new("starknet/felt-malformed");
const CALLER_FORBIDDEN: Refusal = Refusal::new("starknet/caller-forbidden");
const TYPED_DATA_MALFORMED: Refusal = Refusal::new("starknet/typed-data-malformed");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("starknet/no-legal-context");
const NONCE_NOT_BOUND: Refusal = Refusal::new("starknet/nonce-not-bound");
const FELTS_MALFORMED: Refusal = Refusal::new("starknet/signature-malformed");

/// Most felts of a signature.
const MAX_SIGNATURE: usize = 32;

const FEE_PAYER: &str = "feePayer";

impl Scheme for Starknet {
    fn id(&self) -> &'static str {
        "x402/exact/starknet"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "starknet").ok_or(Unserved::Other)?;
        let extra = fees(option).ok_or(NOT_PAYABLE)?;
        if !absent_or(extra, "assetTransferMethod", &["default"]) || !absent_or(extra, "paymentFlow", &["authorization"]) {
            return Err(Unserved::Other);
        }
        if !matches!(network, "SN_MAIN" | "SN_SEPOLIA") {
            return Err(NETWORK_MALFORMED.into());
        }
        let places = Places::of(option)?;
        // The payment could be sent by anyone, and front-run.
        if places.fee_payer == Felt::ZERO || Some(places.fee_payer) == Felt::from_short_string(ANY_CALLER) {
            return Err(CALLER_FORBIDDEN.into());
        }
        if price(option).is_some() && timeout(option).is_some() { Ok(()) } else { Err(NOT_PAYABLE.into()) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        // Whether it is below the prime is judged at build.
        let digits = account.address.strip_prefix("0x").ok_or(NO_PAYABLE_OPTION)?;
        if !(1..=64).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(NO_PAYABLE_OPTION);
        }
        Ok(Object::new().with("from", account.address.as_str()).with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let from = Felt::of(chosen.choice, "from").ok_or(FELT_MALFORMED)?;
        let now = chosen.choice.get("now").and_then(Value::as_safe_unsigned).ok_or(NOT_PAYABLE)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let places = Places::of(option)?;
        if from == places.fee_payer {
            return Err(CALLER_FORBIDDEN);
        }
        // Both are below 2^53.
        let execute_before = now + timeout(option).ok_or(NOT_PAYABLE)?;
        if execute_before >= 1 << 53 {
            return Err(NOT_PAYABLE);
        }
        let (high, low) = price(option).ok_or(NOT_PAYABLE)?.halves();
        let execution = OutsideExecution {
            chain: exact_on(option, "starknet").ok_or(NETWORK_MALFORMED)?,
            caller: places.fee_payer,
            nonce: Felt::from_low_bits(*chosen.h.bytes()),
            execute_before,
            to: places.asset,
            selector: outside_execution::TRANSFER,
            calldata: vec![places.pay_to, low.into(), high.into()],
        };
        let typed_data = execution.typed_data().ok_or(NETWORK_MALFORMED)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { from, typed_data: typed_data.into() })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        Felt::of(payload, "from").ok_or(FELT_MALFORMED)?;
        let chain = exact_on(payment.accepted, "starknet").ok_or(NETWORK_MALFORMED)?;
        let typed_data = payload.get("outsideExecution").and_then(|execution| execution.get("typedData"));
        let nonce = typed_data.and_then(|typed_data| outside_execution::nonce(typed_data, chain)).ok_or(TYPED_DATA_MALFORMED)?;
        let h = echoed_hash_of_any_link(payment.whole).ok_or(NO_LEGAL_CONTEXT)?;
        if nonce == Felt::from_low_bits(*h.bytes()) { Ok(h) } else { Err(NONCE_NOT_BOUND) }
    }
}

/// The option's `extra`, which names who pays the fees.
fn fees(option: &Object) -> Option<&Object> {
    option.get("extra").and_then(Value::as_object)
}

/// The option's amount: positive, below 2^256, without leading zeros.
fn price(option: &Object) -> Option<U256> {
    amount(option).filter(|amount| evm::is_amount(amount)).and_then(U256::from_decimal)
}

/// The addresses of an option.
struct Places {
    asset: Felt,
    pay_to: Felt,
    fee_payer: Felt,
}

impl Places {
    fn of(option: &Object) -> Result<Self, Refusal> {
        let felt = |object, name| Felt::of(object, name).ok_or(FELT_MALFORMED);
        Ok(Self { asset: felt(option, "asset")?, pay_to: felt(option, "payTo")?, fee_payer: felt(fees(option).ok_or(NOT_PAYABLE)?, FEE_PAYER)? })
    }
}

/// A payload that waits for the account's signature over typed data.
struct Signed {
    from: Felt,
    typed_data: Value,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "starknet-snip12").with("typedData", &self.typed_data).with("account", self.from).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let felts = answer.as_array().filter(|felts| felts.iter().all(|felt| felt.as_text().is_some())).ok_or(SIGNATURE_MALFORMED)?;
        if !(1..=MAX_SIGNATURE).contains(&felts.len()) || felts.iter().any(|felt| felt.as_str().and_then(Felt::parse).is_none()) {
            return Err(FELTS_MALFORMED);
        }
        let execution = Object::new().with("typedData", &self.typed_data).with("signature", answer);
        Ok(Object::new().with("from", self.from).with("outsideExecution", execution))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, json, peers,
        x402::sample::{Sample, build, h, with_payload},
    };

    fn sample() -> Sample<'static> {
        let option = Object::new()
            .with("scheme", "exact")
            .with("network", "starknet:SN_SEPOLIA")
            .with("amount", "340282366920938463463374607431768211457")
            .with("asset", "0x0A")
            .with("payTo", "0x0b")
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", Object::new().with(FEE_PAYER, "0xc"));
        Sample { pairing: &PAIRING, option, account: "starknet:SN_SEPOLIA:0x0D", inputs: Object::new(), answer: ["0x0E".into(), "0xf".into()].into() }
    }

    #[test]
    fn the_execution_moves_the_amount_under_the_nonce_of_h() {
        let (request, payment) = sample().paid(&sample().choice()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(request.get("account"), Some(&"0xd".into()));
        let message = request.get("typedData").unwrap().get("message").unwrap();
        assert_eq!(message.get("Nonce"), Some(&Felt::from_low_bits(*h().bytes()).into()));
        assert_eq!(message.get("Execute Before"), Some(&"1790000060".into()));
        let call = &message.get("Calls").unwrap().as_array().unwrap()[0];
        assert_eq!(call.get("To"), Some(&"0xa".into()));
        assert_eq!(call.get("Calldata"), Some(&["0xb".into(), "0x1".into(), "0x1".into()].into()));
        let execution = payment.get("payload").unwrap().get("outsideExecution").unwrap();
        assert_eq!(execution.get("signature"), Some(&sample().answer));
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        sample().assert_order(&[
            ("from", "x".into(), "starknet/felt-malformed"),
            ("now", "5".into(), "starknet/option-malformed"),
            ("accepted", Value::Null, "x402/option-not-in-document"),
        ]);
        let choice = sample().choice();
        assert_eq!(sample().refused(&choice.clone().with("from", "0x0c")), "starknet/caller-forbidden");
        let latest = (1u64 << 53) - 61;
        assert!(sample().paid(&choice.clone().with("now", latest)).is_ok());
        assert_eq!(sample().refused(&choice.with("now", latest + 1)), "starknet/option-malformed");
    }

    #[test]
    fn the_fee_payer_is_one_account() {
        for (payer, code) in
            [("0x0", "starknet/caller-forbidden"), ("0x00414e595f43414c4c4552", "starknet/caller-forbidden"), ("1", "starknet/felt-malformed")]
        {
            let option = sample().option.with("extra", Object::new().with(FEE_PAYER, payer));
            let Err(Unserved::Refused(refusal)) = Starknet.serves(&option) else { panic!("{payer}") };
            assert_eq!(refusal.code(), code);
        }
    }

    #[test]
    fn a_signature_is_a_list_of_felts() {
        let code = |answer: Value| Sample { answer, ..sample() }.paid(&sample().choice()).err();
        let felts = |count| vec![Value::from("0x1"); count];
        assert_eq!(code(felts(32).into()), None);
        for answer in [felts(33), felts(0), vec!["1".into()]] {
            assert_eq!(code(answer.into()).as_deref(), Some("starknet/signature-malformed"));
        }
        for answer in ["0x1".into(), [Value::from(1u32)].into(), Value::Null] {
            assert_eq!(code(answer).as_deref(), Some("x402/signature-malformed"));
        }
    }

    /// starknet.js signs our typed data, reads in our payload, with a valid signature, what was asked for, and makes the same of
    /// it; starknet-py hashes it alike; and we read H in what either writes.
    #[test]
    fn the_libraries_pay_and_read() {
        let account = "0x534f5c5d4f3b8d5a2c1f1b5d2a0d0f7e4a6b7c8d9e0f1a2b3c4d5e6f708192a";
        let mut option = sample().option;
        option.set("payTo", "0x800000000000011000000000000000000000000000000000000000000000000");
        let on_main = |option: &Object| option.clone().with("network", "starknet:SN_MAIN").with("amount", "1");
        let cases = [("SN_SEPOLIA", option.clone()), ("SN_MAIN", on_main(&option))];
        let chosen = cases.map(|(chain, option)| Sample { option, account: &format!("starknet:{chain}:{account}"), ..sample() }.choice());
        let unsigned: Vec<_> = chosen.iter().map(|choice| build(&PAIRING, choice).unwrap()).collect();
        let python = json::lines(include_str!("../../../../tests/peers/starknet/hashes.jsonl"));
        let paid = peers::paid("starknet", &unsigned);
        assert_eq!(python.len(), paid.len());
        for ((choice, (payment, read)), python) in chosen.iter().zip(paid).zip(python) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let option = choice.get("accepted").unwrap();
            for name in ["network", "asset", "payTo", "amount"] {
                let felt = |value: &Value| value.as_str().and_then(Felt::parse).map_or(value.clone(), Value::from);
                assert_eq!(read.get(name).map(felt), option.get(name).map(felt), "{name}");
            }
            assert_eq!((read.get("caller"), read.get("from")), (Some(&"0xc".into()), Some(&account.into())));
            assert_eq!((read.get("nonce"), read.get("before")), (Some(&Felt::from_low_bits(*h().bytes()).into()), Some(&"1790000060".into())));
            assert_eq!((read.get("same"), read.get("hash")), (Some(&true.into()), python.get("hash")));
            let execution = payment.get("payload").unwrap().get("outsideExecution").unwrap().as_object().unwrap().clone();
            for typed_data in [read.get("made").unwrap(), python.get("typedData").unwrap()] {
                let execution = execution.clone().with("typedData", typed_data);
                assert_eq!(PAIRING.bound(&with_payload(&payment, "outsideExecution", execution), None), Ok(h()));
            }
        }
    }
}
