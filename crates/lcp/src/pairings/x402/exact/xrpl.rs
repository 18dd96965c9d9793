//! `x402/exact/xrpl`: the payment's `InvoiceID` is the SHA-256 of the text that names H.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::is_decimal,
    pairing::{Buyer, Choice, Unsigned},
    wire::xrpl::{account_id, is_address_form},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, Payment, SIGNATURE_MALFORMED},
        judge_order,
        option::{absent_or, exact_on, extra, number, timeout},
    },
    xrpl::{self, CARRIER_MISMATCH, Number, Submission},
};

pub(crate) static PAIRING: X402<Xrpl> = X402(Xrpl);

pub(crate) struct Xrpl;

const CARRIER_NOT_LCP: Refusal = Refusal::new("xrpl/carrier-not-lcp");

/// The greatest number of drops that an option or a fee may be, and one.
const DROPS_END: u128 = 100_000_000_000_000_000;

/// Most digits of a value of an issued token.
const MAX_DIGITS: usize = 16;

/// The id of no account, and the one that stands for no account as issuer.
const ZERO: [u8; 20] = [0; 20];
const ONE: [u8; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// What an option asks for.
struct Offer<'a> {
    option: &'a Object,
    extra: &'a Object,
    network: u32,
    amount: Value,
}

impl<'a> Offer<'a> {
    fn of(option: &'a Object) -> Result<Self, Unserved> {
        let ours = || {
            let reference = exact_on(option, "xrpl")?;
            let network: u32 = reference.parse().ok().filter(|network: &u32| network.to_string() == reference)?;
            let extra = extra(option)?;
            let served = extra.get("areFeesSponsored") == Some(&Value::Bool(false))
                && absent_or(extra, "assetTransferMethod", &["sequence", "ticketSequence"])
                && extra.get("invoiceId").is_none_or(|id| id.as_text().is_some());
            served.then_some((network, extra))
        };
        let (network, extra) = ours().ok_or(Unserved::Other)?;
        let amount = amount(option, extra).filter(|_| timeout(option).is_some()).ok_or(OPTION_MALFORMED)?;
        Ok(Self { option, extra, network, amount })
    }

    /// The text that names H.
    fn carrier(&self) -> Option<&'a str> {
        self.extra.get("invoiceId").and_then(Value::as_str)
    }

    fn takes_tickets(&self) -> bool {
        self.extra.get("assetTransferMethod").and_then(Value::as_str) == Some("ticketSequence")
    }
}

/// The amount to pay: drops, or tokens of an issuer.
fn amount(option: &Object, extra: &Object) -> Option<Value> {
    let account = |object: &Object, name| object.get(name).and_then(Value::as_str).and_then(account_id).filter(|id| *id != ZERO);
    let asset = option.get("asset")?;
    let amount = option.get("amount")?;
    let payee = account(option, "payTo")?;
    if asset.as_text()? == "XRP" {
        drops(option, "amount")?;
        return Some(amount.clone());
    }
    let issuer = account(extra, "issuer")?;
    let payable = payee != ONE && issuer != ONE && amount.as_str().is_some_and(is_issued_value);
    payable.then(|| Object::new().with("currency", asset).with_some("issuer", extra.get("issuer")).with("value", amount).into())
}

/// A member that is a positive number of drops.
fn drops<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    number(object, name).filter(|drops| (1..DROPS_END).contains(drops))?;
    object.get(name).and_then(Value::as_str)
}

/// Whether the ledger holds a value of issued tokens exactly, written without zeros to spare: 16 digits of any from the 81st
/// decimal place up to 2^63.
fn is_issued_value(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let plain = is_decimal(whole, 19) && (whole == "0" || !whole.starts_with('0')) && whole.parse::<i64>().is_ok();
    let plain_fraction = fraction.is_none_or(|fraction| is_decimal(fraction, 80 + MAX_DIGITS) && !fraction.ends_with('0'));
    let digits = [whole, fraction.unwrap_or_default()].concat();
    let significant = digits.trim_start_matches('0');
    // The zeros before the first digit, the one of the whole part among them.
    let zeros = digits.len() - significant.len();
    let significant = significant.trim_end_matches('0');
    plain && plain_fraction && zeros <= 81 && (1..=MAX_DIGITS).contains(&significant.len())
}

impl Scheme for Xrpl {
    fn id(&self) -> &'static str {
        "x402/exact/xrpl"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        Offer::of(option).map(|_| ())
    }

    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        if !is_address_form(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        let offer = Offer::of(order.option()?)?;
        let number = if offer.takes_tickets() { "ticketSequence" } else { "sequence" };
        let chosen = xrpl::submission_inputs(buyer.inputs, &[number, "lastLedgerSequence"]).ok_or(INPUT_MISSING)?;
        Ok(chosen.with("account", account.address.as_str()))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        let account = choice.get("account").filter(|account| account.as_text().is_some()).ok_or(OPTION_MALFORMED)?;
        let fee = drops(choice, "fee").ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, choice)?;
        let offer = Offer::of(order.option()?)?;
        let carrier = chosen.h.lcp_string();
        if offer.carrier() != Some(&carrier) {
            return Err(CARRIER_MISMATCH);
        }
        let number = if offer.takes_tickets() {
            xrpl::uint32(choice, "ticketSequence").map(Number::Ticket)
        } else {
            xrpl::uint32(choice, "sequence").map(Number::Sequence)
        };
        let submission = Submission {
            fee,
            number: number.ok_or(OPTION_MALFORMED)?,
            last_ledger: xrpl::uint32(choice, "lastLedgerSequence").ok_or(OPTION_MALFORMED)?,
            network: offer.network,
        };
        let pay_to = offer.option.get("payTo").ok_or(OPTION_MALFORMED)?;
        let payment = xrpl::payment(account, pay_to, &offer.amount, Hash::of(carrier.as_bytes()).bytes())
            .with_some("DestinationTag", offer.extra.get("destinationTag"));
        let payload = Signed { request: xrpl::request(submission.write(payment)), network: offer.network };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        let offer = Offer::of(payment.accepted)?;
        let h = offer.carrier().and_then(Hash::from_lcp_string).ok_or(CARRIER_NOT_LCP)?;
        let blob = xrpl::blob(payload.get("signedTxBlob"))?;
        let invoice_id = xrpl::invoice_id(&xrpl::transaction(&blob, offer.network)?)?;
        if invoice_id == *Hash::of(h.lcp_string().as_bytes()).bytes() { Ok(h) } else { Err(CARRIER_MISMATCH) }
    }
}

/// A payload that is the transaction, signed by the wallet.
struct Signed {
    request: Value,
    network: u32,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        answer.as_text().ok_or(SIGNATURE_MALFORMED)?;
        xrpl::transaction(&xrpl::blob(Some(answer))?, self.network)?;
        Ok(Object::new().with("signedTxBlob", answer))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Pairing,
        x402::solana::sample::{build, document, h, signed},
    };

    const PAYER: &str = "rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD";
    const SELLER: &str = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe";
    const ISSUER: &str = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh";

    fn extra() -> Object {
        Object::new().with("areFeesSponsored", false).with("invoiceId", h().lcp_string())
    }

    fn option() -> Object {
        Object::new()
            .with("scheme", "exact")
            .with("network", "xrpl:1")
            .with("amount", "1500000")
            .with("asset", "XRP")
            .with("payTo", SELLER)
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", extra())
    }

    fn issued(amount: &str) -> Object {
        option().with("asset", "USD").with("amount", amount).with("extra", extra().with("issuer", ISSUER))
    }

    fn inputs() -> Object {
        Object::new().with("fee", "12").with("sequence", 7u32).with("lastLedgerSequence", 90u32)
    }

    fn choose(option: Object, address: &str, inputs: &Object) -> Result<Object, Refusal> {
        let network = option.get("network").and_then(Value::as_str).unwrap().to_owned();
        let buyer = Buyer { account: &format!("{network}:{address}"), inputs, now: 0, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document([option]))?, &buyer)
    }

    fn transaction(choice: &Object) -> Value {
        build(&PAIRING, choice).unwrap().request().unwrap().unwrap().get("txJson").unwrap().clone()
    }

    fn refused(choice: &Object) -> String {
        build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    /// The choice with another option, which the document offers.
    fn with_option(option: Object) -> Object {
        choose(self::option(), PAYER, &inputs()).unwrap().with("required", document([option.clone()])).with("accepted", option)
    }

    /// A blob of a kind, for an invoice, with more fields before it.
    fn blob(kind: u8, network: &str, invoice: Hash) -> String {
        let invoice = invoice.to_string()[2..].to_owned();
        format!("1200{kind:02X}{network}5011{invoice}8114{}", "07".repeat(20))
    }

    fn paying() -> String {
        blob(0, "", Hash::of(h().lcp_string().as_bytes()))
    }

    #[test]
    fn the_wallet_is_asked_for_a_payment() {
        let choice = choose(option(), PAYER, &inputs()).unwrap();
        let kept = choice.without("required").without("accepted").without("account");
        assert_eq!((kept, choice.get("account")), (inputs(), Some(&PAYER.into())));
        let expected = Object::new()
            .with("TransactionType", "Payment")
            .with("Flags", 0u32)
            .with("Account", PAYER)
            .with("Destination", SELLER)
            .with("Amount", "1500000")
            .with("InvoiceID", Hash::of(h().lcp_string().as_bytes()).to_string()[2..].to_uppercase())
            .with("Fee", "12")
            .with("Sequence", 7u32)
            .with("LastLedgerSequence", 90u32);
        assert_eq!(transaction(&choice), expected.into());
    }

    #[test]
    fn tokens_tickets_tags_and_networks() {
        let built = |option: Object, inputs: Object| transaction(&choose(option, PAYER, &inputs).unwrap());
        let tokens = built(issued("1.5"), inputs());
        let amount: Value = Object::new().with("currency", "USD").with("issuer", ISSUER).with("value", "1.5").into();
        assert_eq!((tokens.get("Amount"), tokens.get("SendMax")), (Some(&amount), Some(&amount)));

        let ticketed = option().with("extra", extra().with("assetTransferMethod", "ticketSequence"));
        let ticket = built(ticketed.clone(), inputs().with("ticketSequence", 5u32));
        assert_eq!((ticket.get("Sequence"), ticket.get("TicketSequence")), (Some(&0u32.into()), Some(&5u32.into())));
        assert_eq!(choose(ticketed, PAYER, &inputs()), Err(INPUT_MISSING));

        let tagged = built(option().with("extra", extra().with("destinationTag", "x")), inputs());
        assert_eq!(tagged.get("DestinationTag"), Some(&"x".into()));

        for (network, id) in [("xrpl:0", None), ("xrpl:1024", None), ("xrpl:1025", Some(1025u32)), ("xrpl:4294967295", Some(u32::MAX))] {
            let built = built(option().with("network", network), inputs());
            assert_eq!(built.get("NetworkID"), id.map(Value::from).as_ref(), "{network}");
        }
    }

    #[test]
    fn accounts_and_inputs_have_their_forms() {
        for address in ["r1", "XVLhHMPHU98es4dbozjVtdWzVrDjtV5AqEL4xcZj5whKbmc"] {
            assert_eq!(choose(option(), address, &inputs()), Err(NO_PAYABLE_OPTION), "{address}");
        }
        for (name, value) in [("fee", Value::from(12u32)), ("fee", "x".into()), ("sequence", "7".into()), ("lastLedgerSequence", Value::Null)] {
            assert_eq!(choose(option(), PAYER, &inputs().with(name, value)), Err(INPUT_MISSING), "{name}");
            assert_eq!(choose(option(), PAYER, &inputs().without(name)), Err(INPUT_MISSING), "{name}");
        }
        let good = choose(option(), PAYER, &inputs()).unwrap();
        for (name, value) in [
            ("fee", Value::from("0")),
            ("fee", "012".into()),
            ("fee", "100000000000000000".into()),
            ("account", Value::Null),
            ("sequence", (1u64 << 32).into()),
            ("lastLedgerSequence", "5".into()),
        ] {
            assert_eq!(refused(&good.clone().with(name, value)), "x402/option-malformed", "{name}");
        }
        assert_eq!(refused(&good.clone().with("required", Value::Null).with("fee", "x")), "x402/choice-malformed");
        let unnamed = with_option(option().with("extra", extra().without("invoiceId")));
        assert_eq!(refused(&unnamed.clone().with("sequence", "x")), "xrpl/carrier-mismatch");
        assert_eq!(refused(&unnamed.with("fee", "x")), "x402/option-malformed");
    }

    #[test]
    fn options_are_filtered() {
        let with = |name: &str, value: Value| refused(&with_option(option().with(name, value)));
        let with_extra = |name: &str, value: Value| refused(&with_option(option().with("extra", extra().with(name, value))));
        for network in ["xrpl:01", "xrpl:4294967296", "xrpl:-1", "xrpl:", "xrpl:mainnet"] {
            assert_eq!(with("network", network.into()), "x402/option-not-this-pairing", "{network}");
        }
        for (name, value) in [
            ("areFeesSponsored", Value::Bool(true)),
            ("assetTransferMethod", "ticket".into()),
            ("assetTransferMethod", Value::Null),
            ("invoiceId", 5u32.into()),
        ] {
            assert_eq!(with_extra(name, value), "x402/option-not-this-pairing", "{name}");
        }
        let zero = "rrrrrrrrrrrrrrrrrrrrrhoLvTp";
        for (name, value) in [
            ("amount", Value::from("0")),
            ("amount", "1.0".into()),
            ("amount", "100000000000000000".into()),
            ("asset", 5u32.into()),
            ("asset", "USD".into()),
            ("payTo", zero.into()),
            ("payTo", "x".into()),
            ("maxTimeoutSeconds", 0u32.into()),
        ] {
            assert_eq!(with(name, value), "x402/option-malformed", "{name}");
        }
        // Tokens are neither paid to nor issued by the account that stands for none.
        let one = "rrrrrrrrrrrrrrrrrrrrBZbvji";
        assert_eq!(with("payTo", one.into()), "");
        assert_eq!(refused(&with_option(issued("1").with("payTo", one))), "x402/option-malformed");
        assert_eq!(refused(&with_option(issued("1").with("extra", extra().with("issuer", one)))), "x402/option-malformed");
        for text in [h().to_string(), h().lcp_string() + " ", h().lcp_string().to_uppercase()] {
            assert_eq!(with_extra("invoiceId", text.into()), "xrpl/carrier-mismatch");
        }
    }

    #[test]
    fn values_of_tokens_are_exact() {
        let places = |zeros: usize, digits: &str| format!("0.{}{digits}", "0".repeat(zeros));
        for value in ["1", "0.1", "1234567890.123456", "9223372036854775000", "99999999999999990", &places(80, "12"), &places(80, "1234567890123456")]
        {
            assert!(is_issued_value(value), "{value}");
        }
        for value in [
            "",
            "0",
            "0.0",
            "01",
            "1.50",
            ".5",
            "5.",
            "-1",
            "1e3",
            "9223372036854776000",
            "12345678901234567",
            "1234567890.1234567",
            &places(81, "1"),
            &places(80, "12345678901234567"),
            "1.",
            "1.1.1",
        ] {
            assert!(!is_issued_value(value), "{value}");
        }
    }

    proptest! {
        /// A value is taken if a mantissa of 16 digits holds it.
        #[test]
        fn values_of_16_digits(mantissa in 1_000_000_000_000_000_u64..10_000_000_000_000_000, point in 1usize..16) {
            let digits = mantissa.to_string();
            let (whole, fraction) = digits.split_at(point);
            let fraction = fraction.trim_end_matches('0');
            let plain = if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
            prop_assert!(is_issued_value(&plain));
            let padded = format!("{whole}.{fraction}0");
            prop_assert!(!is_issued_value(&padded));
        }

        #[test]
        fn any_value(text in "\\PC{0,40}") {
            is_issued_value(&text);
        }
    }

    #[test]
    fn the_signed_payment_names_the_invoice() {
        let unsigned = build(&PAIRING, &choose(option(), PAYER, &inputs()).unwrap()).unwrap();
        let payment = signed(&*unsigned, paying().to_lowercase());
        assert_eq!(payment.get("payload").and_then(|payload| payload.get("signedTxBlob")), Some(&paying().to_lowercase().into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let code = |answer: Value| unsigned.complete(&answer).unwrap_err().code().to_owned();
        assert_eq!(code(Value::Null), "x402/signature-malformed");
        assert_eq!(code("x".into()), "xrpl/blob-malformed");
        assert_eq!(code("0".repeat(4098).into()), "xrpl/blob-too-large");
        assert_eq!(code(format!("0x{}", paying()).into()), "xrpl/blob-malformed");
        assert_eq!(code(blob(0, "2100000001", h()).into()), "xrpl/network-mismatch");
        assert_eq!(code((paying() + "F3F1").into()), "xrpl/multisigned");

        let bound = |blob: String, accepted: Object| {
            let payment = payment.as_object().unwrap().clone().with("accepted", accepted).with("payload", Object::new().with("signedTxBlob", blob));
            PAIRING.bound(&payment.into(), None).map_err(|refusal| refusal.code().to_owned())
        };
        let refused = |blob: String| bound(blob, option()).unwrap_err();
        assert_eq!(refused(blob(1, "", h())), "xrpl/not-payment");
        assert_eq!(refused(blob(0, "", h())), "xrpl/carrier-mismatch");
        assert_eq!(refused(format!("1200008114{}", "07".repeat(20))), "xrpl/no-invoice-id");
        let upper = format!("lcp:sha256:0x{}", h().to_string()[2..].to_uppercase());
        assert_eq!(bound(paying(), option().with("extra", extra().with("invoiceId", upper))), Ok(h()));
        assert_eq!(bound("x".to_owned(), option().with("extra", extra().with("invoiceId", "x"))).unwrap_err(), "xrpl/carrier-not-lcp");
        let sidechain = blob(0, "2100000401", Hash::of(h().lcp_string().as_bytes()));
        assert_eq!(bound(sidechain, option().with("network", "xrpl:1025")), Ok(h()));
        assert_eq!(bound(paying(), option().with("network", "xrpl:1025")).unwrap_err(), "xrpl/network-mismatch");
    }
}
