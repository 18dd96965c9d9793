//! `x402/exact/eip155/eip3009`: H is the nonce of an EIP-3009 `TransferWithAuthorization`.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::{self, Type},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        eip155::{Payer, filled, timeout},
    },
};

pub(crate) static PAIRING: X402<Eip3009> = X402(Eip3009);

pub(crate) struct Eip3009;

const TRANSFER: Type<'static> = (
    "TransferWithAuthorization",
    &[("from", "address"), ("to", "address"), ("value", "uint256"), ("validAfter", "uint256"), ("validBefore", "uint256"), ("nonce", "bytes32")],
);

impl Scheme for Eip3009 {
    fn id(&self) -> &'static str {
        "x402/exact/eip155/eip3009"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let text = |name| option.get(name).and_then(Value::as_str);
        let extra = match option.get("extra") {
            None => &Object::new(),
            Some(extra) => extra.as_object().ok_or(Unserved::Other)?,
        };
        let absent_or = |name: &str, values: &[&str]| extra.get(name).is_none_or(|value| value.as_str().is_some_and(|text| values.contains(&text)));
        let ours = text("scheme") == Some("exact")
            && text("network").and_then(evm::chain_id).is_some()
            && absent_or("assetTransferMethod", &["eip3009"])
            && absent_or("paymentFlow", &["authorization", "upfront"]);
        if !ours {
            return Err(Unserved::Other);
        }
        let payable = filled(extra, "name").is_some()
            && filled(extra, "version").is_some()
            && evm::address(option, "asset").is_some()
            && evm::address(option, "payTo").is_some()
            && text("amount").is_some_and(evm::is_amount)
            && timeout(option).is_some();
        if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let payer = Payer::of(chosen.choice)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let member = |name: &str| option.get(name).and_then(Value::as_str).ok_or(OPTION_MALFORMED);
        let extra = |name: &str| option.get("extra").and_then(|extra| extra.get(name)).ok_or(OPTION_MALFORMED);
        let chain_id = evm::chain_id(member("network")?).ok_or(OPTION_MALFORMED)?;
        let valid_before = payer.now + timeout(option).ok_or(OPTION_MALFORMED)?;
        let domain = Object::new()
            .with("name", extra("name")?)
            .with("version", extra("version")?)
            .with("chainId", chain_id)
            .with("verifyingContract", member("asset")?);
        let authorization = Object::new()
            .with("from", payer.from)
            .with("to", member("payTo")?)
            .with("value", member("amount")?)
            .with("validAfter", "0")
            .with("validBefore", valid_before.to_string())
            .with("nonce", &**chosen.h);
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Transfer { domain, authorization })))
    }

    fn judge_envelope(&self, payment: &Value) -> Result<(), Refusal> {
        if payment.get("refused").is_some() { Err(PAYLOAD_MALFORMED) } else { Ok(()) }
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let authorization = payment.payload.get("authorization").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        let member = |name: &str| authorization.get(name).and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED);
        for (name, _) in TRANSFER.1 {
            member(name)?;
        }
        signature_of(payment.payload.get("signature"), 1)?;
        member("nonce")?.as_str().and_then(Hash::parse).ok_or(PAYLOAD_MALFORMED)
    }
}

struct Transfer {
    domain: Object,
    authorization: Object,
}

impl Payload for Transfer {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(evm::typed_data_request(self.domain.clone(), &[evm::DOMAIN, TRANSFER], self.authorization.clone()))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let signature = signature_of(Some(answer), 65)?;
        Ok(Object::new().with("signature", signature).with("authorization", self.authorization.clone()))
    }
}

/// A signature of `at_least` to 8,192 bytes in `0x` hex.
fn signature_of(value: Option<&Value>, at_least: usize) -> Result<&str, Refusal> {
    let text = value.and_then(Value::as_str).ok_or(SIGNATURE_MALFORMED)?;
    encoding::hex_len(text).filter(|len| (at_least..=8192).contains(len)).map(|_| text).ok_or(SIGNATURE_MALFORMED)
}
