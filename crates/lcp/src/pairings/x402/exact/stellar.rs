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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, encoding,
        wire::stellar::{
            Address, Transaction,
            sample::{PAYER, SELLER, TOKEN, call, entry, envelope, invoke, simulated, transfer},
        },
        x402::solana::sample::{build, document, h, signed},
    };

    fn payee() -> Address {
        Address::Muxed { key: SELLER, id: u64::from_be_bytes(*h().bytes().first_chunk().unwrap()) }
    }

    fn option() -> Object {
        Object::new()
            .with("scheme", "exact")
            .with("network", "stellar:testnet")
            .with("amount", "1000")
            .with("asset", Address::Contract(TOKEN).to_string())
            .with("payTo", payee().to_string())
            .with("maxTimeoutSeconds", 61u32)
            .with("extra", Object::new().with("areFeesSponsored", true))
    }

    fn inputs(envelope: &[u8]) -> Object {
        Object::new().with("simulatedXdr", encoding::base64(envelope)).with("currentLedger", 1000u32)
    }

    fn choose(option: Object, address: &str, inputs: &Object) -> Result<Object, Refusal> {
        let buyer = Buyer { account: &format!("stellar:testnet:{address}"), inputs, now: 0, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document([option]))?, &buyer)
    }

    fn choice() -> Object {
        choose(option(), &Address::Account(PAYER).to_string(), &inputs(&simulated(payee()))).unwrap()
    }

    /// The choice with another option, which the document offers.
    fn with_option(option: Object) -> Object {
        choice().with("required", document([option.clone()])).with("accepted", option)
    }

    fn refused(choice: &Object) -> String {
        build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    fn payment() -> Value {
        signed(&*build(&PAIRING, &choice()).unwrap(), encoding::hex(&[3; 64]))
    }

    #[test]
    fn the_payers_entry_is_signed() {
        let unsigned = build(&PAIRING, &choice()).unwrap();
        let request = unsigned.request().unwrap().unwrap();
        assert_eq!(request.get("kind"), Some(&"stellar-auth".into()));
        // The entry ends 13 ledgers from now: 61 seconds.
        let preimage = encoding::from_hex(request.get("preimage").and_then(Value::as_str).unwrap()).unwrap();
        assert_eq!(preimage[44..48], 1013_u32.to_be_bytes());
        let payment = payment();
        let text = payment.get("payload").and_then(|payload| payload.get("transaction")).and_then(Value::as_str).unwrap();
        let envelope = encoding::from_base64(text).unwrap();
        let transaction = Transaction::read(&envelope).unwrap();
        assert_eq!(transaction.invocation.unwrap().transfer().unwrap().to, payee());
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        for answer in [Value::Null, "0x".into(), encoding::hex(&[3; 65]).into(), encoding::hex(&[3; 64])[2..].into()] {
            assert_eq!(unsigned.complete(&answer), Err(SIGNATURE_MALFORMED), "{answer:?}");
        }
    }

    #[test]
    fn an_account_and_inputs_are_needed() {
        let payer = Address::Account(PAYER).to_string();
        let good = inputs(&simulated(payee()));
        let kept = choose(option(), &payer, &good).unwrap().without("required").without("accepted");
        assert_eq!(kept.get("payer"), Some(&payer.as_str().into()));
        assert_eq!(kept.without("payer"), good);
        for address in [payee().to_string(), Address::Contract(TOKEN).to_string(), payer[..55].to_owned(), payer.to_lowercase()] {
            assert_eq!(choose(option(), &address, &good), Err(NO_PAYABLE_OPTION), "{address}");
        }
        for (name, value) in
            [("simulatedXdr", "".into()), ("simulatedXdr", 5u32.into()), ("currentLedger", "5".into()), ("currentLedger", Value::Null)]
        {
            assert_eq!(choose(option(), &payer, &good.clone().with(name, value)), Err(INPUT_MISSING));
            assert_eq!(choose(option(), &payer, &good.without(name)), Err(INPUT_MISSING));
        }
    }

    #[test]
    fn options_are_filtered() {
        let refused = |name: &str, value: Value| refused(&with_option(option().with(name, value)));
        for (name, value) in [
            ("scheme", "upto".into()),
            ("network", "stellar:futurenet".into()),
            ("asset", Address::Account(SELLER).to_string().into()),
            ("payTo", Address::Contract(TOKEN).to_string().into()),
            ("extra", Object::new().into()),
            ("extra", Object::new().with("areFeesSponsored", false).into()),
        ] {
            assert_eq!(refused(name, value), "x402/option-not-this-pairing", "{name}");
        }
        for (name, value) in [
            ("amount", "0".into()),
            ("amount", "01".into()),
            ("amount", (1u128 << 127).to_string().into()),
            ("maxTimeoutSeconds", 0u32.into()),
            ("maxTimeoutSeconds", (MAX_TIMEOUT + 1).into()),
        ] {
            assert_eq!(refused(name, value), "x402/option-malformed", "{name}");
        }
        assert_eq!(refused("payTo", Address::Account(SELLER).to_string().into()), "stellar/carrier-mismatch");
        assert_eq!(refused("payTo", Address::Muxed { key: SELLER, id: 1 }.to_string().into()), "stellar/carrier-mismatch");
        assert_eq!(refused("asset", Address::Contract([5; 32]).to_string().into()), "stellar/asset-mismatch");
        assert_eq!(refused("amount", "1001".into()), "stellar/amount-mismatch");
        assert_eq!(refused("network", "stellar:pubnet".into()), "");
        assert_eq!(refused("maxTimeoutSeconds", MAX_TIMEOUT.into()), "stellar/tx-malformed");
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let faults = [("required", Value::Null), ("currentLedger", Value::Null), ("payer", "x".into()), ("simulatedXdr", "AAAA".into())];
        for (nth, code) in ["x402/choice-malformed", "stellar/tx-malformed", "stellar/payer-mismatch", "stellar/tx-malformed"].iter().enumerate() {
            let choice = faults[nth..].iter().fold(choice(), |choice, (name, value)| choice.with(*name, value));
            assert_eq!(refused(&choice), *code, "{nth}");
        }
        assert_eq!(refused(&choice().with("currentLedger", u32::MAX)), "stellar/tx-malformed");
        assert_eq!(refused(&choice().with("payer", Address::Account(SELLER).to_string())), "stellar/payer-mismatch");
        assert_eq!(refused(&choice().with("simulatedXdr", "A".repeat(8196))), "stellar/tx-too-large");
    }

    #[test]
    fn only_the_transfer_that_is_asked_for_is_signed() {
        let payer = Address::Account(PAYER);
        let good = transfer(payee());
        let other = transfer(Address::Muxed { key: SELLER, id: 1 });
        let of = |call: &[u8], entries: &[Vec<u8>]| {
            let envelope = envelope(&[invoke(call, entries)]);
            let payment = payment().as_object().unwrap().clone();
            let paid = payment.with("payload", Object::new().with("transaction", encoding::base64(&envelope))).into();
            let bound = PAIRING.bound(&paid, None).err().map_or_else(String::new, |refusal| refusal.code().to_owned());
            [refused(&choice().with("simulatedXdr", encoding::base64(&envelope))), bound]
        };
        let both = |code: &str| [code.to_owned(), code.to_owned()];
        assert_eq!(of(&good, &[entry(1, payer, &good)]), both(""));
        assert_eq!(of(&good, &[entry(2, Address::Account(SELLER), &other), entry(2, payer, &good)]), both(""));
        assert_eq!(of(&good, &[]), both("stellar/no-address-auth"));
        assert_eq!(of(&good, &[entry(1, payer, &good), entry(2, payer, &good)]), both("stellar/no-address-auth"));
        assert_eq!(of(&good, &[entry(1, payer, &other)]), both("stellar/carrier-mismatch"));
        assert_eq!(of(&other, &[entry(1, payer, &good)]), both("stellar/not-one-transfer"));
        assert_eq!(of(&other, &[entry(1, payer, &other)]), both("stellar/carrier-mismatch"));
        let more = call(*b"transfer", payer, payee(), 1001);
        assert_eq!(of(&good, &[entry(1, payer, &more)]), both("stellar/not-one-transfer"));
        let burn = call(*b"burn____", payer, payee(), 1000);
        assert_eq!(of(&burn, &[entry(1, payer, &burn)]), both("stellar/not-one-transfer"));
        let to_account = transfer(Address::Account(SELLER));
        assert_eq!(of(&to_account, &[entry(1, payer, &to_account)]), ["stellar/carrier-mismatch", "stellar/no-carrier"]);
        // What a contract pays, no key signs.
        let contract = Address::Contract([9; 32]);
        let by_contract = call(*b"transfer", contract, payee(), 1000);
        assert_eq!(of(&by_contract, &[entry(1, contract, &by_contract)]), ["stellar/no-address-auth", ""]);
    }

    #[test]
    fn a_payment_is_refused_for_its_first_fault() {
        let bound = |payment: Object| PAIRING.bound(&payment.into(), None).unwrap_err().code().to_owned();
        let payment = payment().as_object().unwrap().clone();
        assert_eq!(bound(payment.without("extensions").without("payload")), "x402/no-legal-context");
        assert_eq!(bound(payment.clone().with("payload", Value::Null)), "x402/payload-malformed");
        let elsewhere = option().with("payTo", Address::Muxed { key: SELLER, id: 1 }.to_string());
        assert_eq!(bound(payment.clone().with("accepted", elsewhere).with("payload", Object::new())), "stellar/carrier-mismatch");
        assert_eq!(bound(payment.with("payload", Object::new())), "stellar/tx-malformed");
    }

    #[test]
    fn a_signed_transaction_may_be_too_large() {
        let payer = Address::Account(PAYER);
        let good = transfer(payee());
        let many: Vec<Vec<u8>> = std::iter::repeat_n(entry(1, Address::Account(SELLER), &good), 24).chain([entry(1, payer, &good)]).collect();
        let large = envelope(&[invoke(&good, &many)]);
        assert!(large.len() <= 6144 && large.len() + 136 > 6144, "{}", large.len());
        let unsigned = build(&PAIRING, &choice().with("simulatedXdr", encoding::base64(&large))).unwrap();
        assert_eq!(unsigned.complete(&encoding::hex(&[3; 64]).into()).unwrap_err().code(), "stellar/tx-too-large");
    }
}
