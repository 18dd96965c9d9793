//! Checkouts: the protocol that takes the payment, and its reference.

use lcp::Object;

use crate::{Fault, fault::codes, payee::HttpsUrl, read::Field};

codes! {
    /// A protocol that takes a payment.
    pub enum Protocol {
        /// The Universal Commerce Protocol.
        Ucp = "ucp",
        /// The Agentic Commerce Protocol.
        Acp = "acp",
        /// HTTP 402 by x402.
        X402 = "x402",
        /// HTTP 402 by the Machine Payments Protocol.
        Mpp = "mpp",
        /// A card credential that the agent carries.
        Card = "card",
        /// A bill.
        Bill = "bill",
    }
}

/// A checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The protocol.
    pub protocol: Protocol,
    /// The checkout's id or URL, as it was given.
    pub reference: String,
    /// The reference, if it is an https URL. For x402 and MPP it is one.
    pub url: Option<HttpsUrl>,
}

impl Checkout {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["protocol", "reference"])?;
        let protocol = members.required("protocol")?.known(Protocol::parse, "Give \"ucp\", \"acp\", \"x402\", \"mpp\", \"card\" or \"bill\".")?;
        let reference = members.required("reference")?;
        let text = reference.text(2048)?;
        let is_resource = matches!(protocol, Protocol::X402 | Protocol::Mpp);
        let is_https = text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        let url = if is_resource || is_https { Some(reference.parsed(HttpsUrl::parse)?) } else { None };
        Ok(Self { protocol, reference: text.to_owned(), url })
    }

    /// `{"protocol", "reference"}`
    pub fn to_json(&self) -> Object {
        Object::new().with("protocol", self.protocol.as_str()).with("reference", self.reference.as_str())
    }
}
