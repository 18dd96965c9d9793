//! `x402/exact/eip155/eip3009`: H is the nonce of an EIP-3009 `TransferWithAuthorization`.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::eip3009,
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, version_2},
        eip155::{Payer, Places, Signed, chain_id, is_payable, signature, token_domain},
        option::{absent_or, amount, extra, filled, names},
    },
};

pub(crate) static PAIRING: X402<Eip3009> = X402(Eip3009);

pub(crate) struct Eip3009;

impl Scheme for Eip3009 {
    fn id(&self) -> &'static str {
        "x402/exact/eip155/eip3009"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let extra = extra(option).ok_or(Unserved::Other)?;
        let ours = names(option, "scheme", "exact")
            && chain_id(option).is_some()
            && absent_or(extra, "assetTransferMethod", &["eip3009"])
            && absent_or(extra, "paymentFlow", &["authorization", "upfront"]);
        if !ours {
            return Err(Unserved::Other);
        }
        let payable = filled(extra, "name").is_some() && filled(extra, "version").is_some() && Places::of(option).is_some() && is_payable(option);
        if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let payer = Payer::of(chosen.choice)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let transfer = eip3009::Authorization {
            from: payer.from,
            to: Places::served(option)?.pay_to,
            value: amount(option).ok_or(OPTION_MALFORMED)?.to_owned(),
            valid_before: payer.deadline(option)?,
            nonce: *chosen.h.bytes(),
        };
        let request = transfer.request(eip3009::TRANSFER, token_domain(option)?);
        let members = Object::new().with("authorization", transfer.members());
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { request, members })))
    }

    fn judge_envelope(&self, payment: &Value) -> Result<(), Refusal> {
        if version_2(payment)?.has("refused") { Err(PAYLOAD_MALFORMED) } else { Ok(()) }
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        let authorization = payload.get("authorization").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        let member = |name: &str| authorization.get(name).and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED);
        for (name, _) in eip3009::TRANSFER.1 {
            member(name)?;
        }
        signature(payload.get("signature"), 1)?;
        member("nonce")?.as_str().and_then(Hash::parse).ok_or(PAYLOAD_MALFORMED)
    }
}
