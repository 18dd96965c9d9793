//! `x402/exact/stellar`: the first 8 bytes of H are the id of the subaccount that is paid, and the payment echoes all of H.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    stellar::{self, Charge},
    wire::stellar as wire,
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, Payment, SIGNATURE_MALFORMED, echoed_hash},
        judge_order,
        option::{exact_on, extra, number, timeout},
    },
};

pub(crate) static PAIRING: X402<Stellar> = X402(Stellar);

pub(crate) struct Stellar;

/// As many ledgers as there can be, in seconds.
const MAX_TIMEOUT: u64 = 5 * u32::MAX as u64;

/// What an option asks for, and for how long.
fn offer(option: &Object) -> Result<(Charge, u64), Unserved> {
    let text = |name| option.get(name).and_then(Value::as_str);
    let places = || {
        exact_on(option, "stellar")?;
        let network = wire::Network::parse(text("network")?)?;
        extra(option)?.get("areFeesSponsored").filter(|sponsored| **sponsored == Value::Bool(true))?;
        Some((network, stellar::contract(text("asset")?)?, stellar::payee(text("payTo")?)?))
    };
    let (network, asset, pay_to) = places().ok_or(Unserved::Other)?;
    let amount = number(option, "amount").and_then(|amount| i128::try_from(amount).ok()).filter(|&amount| amount > 0);
    let seconds = timeout(option).filter(|&seconds| seconds <= MAX_TIMEOUT);
    let (amount, seconds) = amount.zip(seconds).ok_or(OPTION_MALFORMED)?;
    Ok((Charge { network, asset, amount, pay_to }, seconds))
}

impl Scheme for Stellar {
    fn id(&self) -> &'static str {
        "x402/exact/stellar"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        offer(option).map(|_| ())
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        stellar::chosen(account, buyer.inputs, NO_PAYABLE_OPTION, INPUT_MISSING)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        let ledger = stellar::ledger(choice)?;
        let payer = stellar::payer(choice)?;
        let order = Order::of(self, choice)?;
        let (charge, seconds) = offer(order.option()?)?;
        charge.judge_carrier(**chosen.h)?;
        let envelope = stellar::envelope(choice.get("simulatedXdr"))?;
        let transaction = stellar::simulated(&envelope)?;
        let expiration = stellar::expiration(ledger, seconds)?;
        let unsigned = charge.unsigned(&transaction, payer, expiration, true)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed(unsigned))))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let h = echoed_hash(payment.whole)?;
        let payload = payment.payload()?;
        let (charge, _) = offer(payment.accepted)?;
        charge.judge_carrier(h)?;
        let envelope = stellar::envelope(payload.get("transaction"))?;
        charge.judge_payment(&stellar::transaction(&envelope)?)?;
        Ok(h)
    }
}

/// A payload whose transaction the payer's signature completes.
struct Signed(wire::Unsigned);

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(stellar::request(&self.0).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let signature = stellar::signature(answer).ok_or(SIGNATURE_MALFORMED)?;
        Ok(Object::new().with("transaction", stellar::signed(&self.0, &signature)?))
    }
}
