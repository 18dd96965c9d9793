//! `mpp/session/lightning`: the buyer pays an invoice that the seller describes by H, and may spend from that deposit; what is
//! left is returned over an invoice of the buyer's. It is no proof to the public, so an agreement is paid first. Payments
//! inside the channel are not built here.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    lightning::{pay_request, preimage},
    mpp::{
        INPUT_MISSING, Method, Mpp, Offer,
        credential::{Credential, OneStep, Waiting},
        lightning::{Asked, payment_hash},
        session::action,
    },
    pairing::{Buyer, Channel, ChannelAct, ChannelRef, Choice, Unsigned},
    wire::bolt11::Invoice,
};

pub(crate) static PAIRING: Mpp<Lightning> = Mpp(Lightning);

pub(crate) struct Lightning;

const RETURN_INVOICE_MALFORMED: Refusal = Refusal::new("ln/return-invoice-malformed");
const NO_PAYMENT_IN_ACTION: Refusal = Refusal::new("ln/no-payment-in-action");

const RETURN_INVOICE: &str = "returnInvoice";

fn asked<'a>(offer: &'a Offer<'_>) -> Result<Asked<'a>, Refusal> {
    Asked::of(offer, &offer.request, "depositInvoice")
}

impl Method for Lightning {
    fn id(&self) -> &'static str {
        "mpp/session/lightning"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        asked(offer).map(drop)
    }

    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        asked(offer).is_ok_and(|asked| asked.serves_account(account))
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let invoice = buyer.inputs.get(RETURN_INVOICE).and_then(Value::as_text).filter(|text| text.utf16_len() > 0).ok_or(INPUT_MISSING)?;
        Ok(Object::new().with(RETURN_INVOICE, invoice.clone()))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let offer = Offer::kept(self, chosen)?;
        let asked = asked(&offer)?;
        asked.carried(&offer)?;
        offer.judge_h(chosen)?;
        let back = return_invoice(chosen.choice).ok_or(RETURN_INVOICE_MALFORMED)?.clone();
        let payload =
            move |answer: &Value| Ok(Object::new().with("action", "open").with("preimage", preimage(answer)?).with(RETURN_INVOICE, back.clone()));
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request: pay_request(asked.invoice), payload })))
    }

    /// Who pays an invoice has moved the money.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let h = asked(offer)?.carried(offer)?;
        if action(credential.payload) == Some("open") { Ok(h) } else { Err(NO_PAYMENT_IN_ACTION) }
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }
}

/// A choice's return invoice, whose amount must be left to who pays it.
fn return_invoice(choice: &Object) -> Option<&Value> {
    let invoice = choice.get(RETURN_INVOICE)?;
    Invoice::decode(invoice.as_text()?).is_ok_and(|decoded| decoded.amount.is_none()).then_some(invoice)
}

impl Channel for Lightning {
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal> {
        match action(Credential::read(payment)?.payload) {
            Some("open") => Ok(ChannelAct::Open),
            Some("close") => Ok(ChannelAct::Close),
            Some(_) => Ok(ChannelAct::Within),
            None => Err(NO_PAYMENT_IN_ACTION),
        }
    }

    /// The channel is named by the deposit's payment hash.
    fn reference(&self, payment: &Value, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let hash = payment_hash(&Credential::read(payment)?.challenge.request()?)?;
        Ok(ChannelRef { network: "lightning".to_owned(), channel: encoding::bare_hex(&hash) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        mpp::sample::{self, challenge, h, object, paid, parsed, request, with_payload},
        wire::bolt11::tests::{hash_field, invoice},
    };

    const PREIMAGE: &str = "abababababababababababababababababababababababababababababababab";

    fn invoice_over(prefix: &str, h: &Hash) -> String {
        invoice(prefix, 1_900_000_000, &[hash_field(b'p', &[1; 32]), hash_field(b'h', h.bytes())])
    }

    fn session(described: &Hash) -> Object {
        let request = Object::new().with("depositInvoice", invoice_over("lnbc1u", described)).with("paymentHash", "01".repeat(32));
        challenge(&h(), "session", "lightning", request)
    }

    fn choice(inputs: &Object) -> Result<Object, Refusal> {
        let buyer = Buyer { account: "lnbtc:000000000019d6689c085ae165831e93:x", inputs, now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[session(&h()).into()].into())?, &buyer)
    }

    fn returning(invoice: &str) -> Object {
        choice(&Object::new().with(RETURN_INVOICE, invoice)).unwrap()
    }

    fn opening() -> Value {
        paid(&*sample::build(&PAIRING, &returning(&invoice_over("lntb", &h()))).unwrap(), &PREIMAGE.into()).unwrap()
    }

    #[test]
    fn the_deposit_is_paid() {
        let back = invoice_over("lntb", &h());
        let unsigned = sample::build(&PAIRING, &returning(&back)).unwrap();
        let asked = Object::new().with("kind", "bolt11-pay").with("invoice", invoice_over("lnbc1u", &h()));
        assert_eq!(request(&*unsigned), asked.into());
        assert!(PAIRING.moves(&request(&*unsigned)));
        let payload = format!("{{'action':'open','preimage':'{PREIMAGE}','returnInvoice':'{back}'}}");
        assert_eq!(opening().get("payload"), Some(&parsed(&payload)));
        assert_eq!(PAIRING.bound(&opening(), None), Ok(h()));
        assert_eq!(paid(&*unsigned, &Value::Null).unwrap_err().code(), "ln/preimage-malformed");
    }

    #[test]
    fn the_return_invoice_leaves_the_amount_open() {
        for inputs in ["{}", "{'returnInvoice':''}", "{'returnInvoice':5}", "{'returnInvoice':null}"] {
            assert_eq!(choice(&object(inputs)).unwrap_err(), INPUT_MISSING, "{inputs}");
        }
        let code = |choice: Object| sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned());
        assert_eq!(code(returning(&invoice_over("lnbc", &h()).to_uppercase())), "");
        for back in [invoice_over("lnbc1u", &h()), invoice_over("lnbc0", &h()), "lnbc1".to_owned()] {
            assert_eq!(code(returning(&back)), "ln/return-invoice-malformed", "{back}");
        }
        let unreturned = returning("x").without(RETURN_INVOICE);
        assert_eq!(code(unreturned.clone()), "ln/return-invoice-malformed");
        assert_eq!(code(unreturned.with("challenge", session(&Hash::of(b"abd")))), "mpp/carrier-not-challenge");
    }

    #[test]
    fn opens_a_channel_that_nothing_is_paid_in_here() {
        let channel = PAIRING.channel().unwrap();
        assert!(channel.within().is_none());
        let named = ChannelRef { network: "lightning".to_owned(), channel: "01".repeat(32) };
        assert_eq!((channel.kind(&opening()), channel.reference(&opening(), None)), (Ok(ChannelAct::Open), Ok(named)));
        for (action, act) in [("close", ChannelAct::Close), ("topUp", ChannelAct::Within), ("bearer", ChannelAct::Within)] {
            let payment = with_payload(&opening(), "action", action);
            assert_eq!((channel.kind(&payment), PAIRING.bound(&payment, None)), (Ok(act), Err(NO_PAYMENT_IN_ACTION)), "{action}");
        }
        let payment = with_payload(&opening(), "action", Value::Null);
        assert_eq!((channel.kind(&payment), PAIRING.bound(&payment, None)), (Err(NO_PAYMENT_IN_ACTION), Err(NO_PAYMENT_IN_ACTION)));
    }
}
