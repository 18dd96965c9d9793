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
