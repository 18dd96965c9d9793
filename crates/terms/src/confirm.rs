use std::time::Duration;

use lcp::{
    ConfirmedHash, DeclineCode, Declined, Hash, Object, Pairing, Refusal, Value, link,
    pairing::{Buyer, Choice},
    refusal::namespace,
};

use crate::{Decline, Env, Fetch, FetchFailed, Gate, MAX_ATR, Request, Response, fetch, inputs_of};

/// What is to be paid, as chosen from the seller's document. It crosses to the agent and back as JSON, unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The pairing's id.
    pub pairing: String,
    /// The pairing's own choice.
    pub choice: Object,
    /// 32 characters drawn for this payment.
    pub reference: Value,
    /// The agreement URL, where an agreement is paid first.
    pub agreement: Option<String>,
}

impl Chosen {
    /// The JSON form: `{pairing, choice, ref[, agreement]}`.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("pairing", self.pairing.as_str())
            .with("choice", self.choice.clone())
            .with("ref", &self.reference)
            .with_some("agreement", self.agreement.as_deref())
    }
}

/// A confirmed payment: the served bytes hash to the advertised H, and the request is built over the computed one.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// What is to be paid.
    pub chosen: Chosen,
    /// What the wallet is to sign; `None` where there is nothing for the buyer to sign.
    pub request: Option<Value>,
    /// The ATR's bytes as served.
    pub atr: Vec<u8>,
    /// H of those bytes.
    pub h: ConfirmedHash,
}

impl<F: Fetch, E: Env> Gate<F, E> {
    /// Fetches the ATR that a payment request advertises and confirms its hash; builds the request to sign.
    ///
    /// `account` is the payer, CAIP-10. `inputs` are the buyer's own values that the pairing's build needs. Account and
    /// inputs are judged before anything is fetched.
    pub async fn confirm(&self, pairing: &dyn Pairing, document: &Value, account: &str, inputs: Option<&Value>) -> Result<Confirmed, Decline> {
        let namespace = namespace(pairing.id());
        let inputs = inputs_of(inputs, namespace)?;
        let advertised = pairing.read(document).map_err(|refusal| Declined::refused(DeclineCode::OfferUnreadable, &refusal))?;
        let buyer = Buyer { account, inputs: &inputs, now: self.env.now(), random: &|bytes| self.env.random(bytes) };
        let reference = self.draw_reference();
        let choice = pairing.choose(&advertised, &buyer).map_err(|refusal| Declined::refused(DeclineCode::NoPayableOption, &refusal))?;
        https_or_decline(&advertised.link, namespace)?;

        let atr = self.fetch_atr(&advertised.link).await?;
        let h = ConfirmedHash::compare(&advertised.h, &atr)
            .ok_or_else(|| Declined::because(DeclineCode::HashMismatch, "The bytes the link served do not hash to the advertised ATR hash."))?;

        let agreement = advertised.agreement.filter(|_| !pairing.public_proof());
        if !pairing.public_proof() && agreement.is_none() {
            return Err(Decline::because(
                DeclineCode::AgreementNotOffered,
                "This pairing needs an agreement payment first, and the offer names no agreement URL.",
            ));
        }
        let chosen = Chosen { pairing: pairing.id().to_owned(), choice, reference, agreement };
        let request = match request_of(pairing, &Choice { choice: &chosen.choice, reference: &chosen.reference, h: &h, atr: &atr }) {
            Ok(request) => request,
            Err(refusal) if refusal.leaves_nothing_to_sign() => None,
            Err(refusal) => return Err(Declined::refused(DeclineCode::OfferUnreadable, &refusal).into()),
        };
        Ok(Confirmed { chosen, request, atr, h })
    }

    async fn fetch_atr(&self, link: &str) -> Result<Vec<u8>, Declined> {
        let unfetchable = |sentence: &str| Declined::because(DeclineCode::AtrUnfetchable, sentence);
        let failed = |_: FetchFailed| unfetchable("The ATR could not be fetched from its link.");
        let request = Request { url: link, headers: &[fetch::IDENTITY], deadline: Duration::from_secs(10), body_bound: MAX_ATR };
        let response = self.fetch.get(request).await.map_err(failed)?;
        if response.status != 200 {
            return Err(unfetchable(&format!("The link answered with status {}.", response.status)));
        }
        if !response.is_identity() {
            return Err(unfetchable("The link answered with a content coding other than identity."));
        }
        match response.read(MAX_ATR).await.map_err(failed)? {
            Some(atr) => Ok(atr),
            None => Err(Declined::because(DeclineCode::AtrTooLarge, "The ATR is larger than 1048576 bytes.")),
        }
    }
}

/// What the wallet is to sign for a choice.
pub(crate) fn request_of(pairing: &dyn Pairing, choice: &Choice<'_>) -> Result<Option<Value>, Refusal> {
    pairing.build(choice)?.request()
}

/// The gate's own check of a link, whoever read it.
pub(crate) fn https_or_decline(url: &str, namespace: &str) -> Result<(), Declined> {
    if link::is_https(url) {
        return Ok(());
    }
    let word = if link::is_other_scheme(url) { "link-not-https" } else { "legal-context-malformed" };
    Err(Declined::refused(DeclineCode::LinkNotHttps, &Refusal::of(namespace, word)))
}

/// Whether a value has the form of a recorded agreement's receipt for H: its `atrHash` is H in either case, `agreed` is
/// true, and `network` and `transaction` are strings.
pub fn is_receipt(value: &Value, h: &Hash) -> bool {
    let text = |name| value.get(name).is_some_and(|member| member.as_text().is_some());
    names_hash(value, h) && value.get("agreed") == Some(&Value::Bool(true)) && text("network") && text("transaction")
}

pub(crate) fn names_hash(receipt: &Value, h: &Hash) -> bool {
    receipt.get("atrHash").and_then(Value::as_str).and_then(Hash::parse) == Some(*h)
}

impl<B: crate::Body> Response<B> {
    /// Whether no content coding was applied: the header is absent, empty or exactly `identity`.
    pub(crate) fn is_identity(&self) -> bool {
        self.header("content-encoding").is_none_or(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    }

    /// Reads the body, or `None` once it says or shows that it is over the bound.
    pub(crate) async fn read(mut self, bound: usize) -> Result<Option<Vec<u8>>, FetchFailed> {
        // A length that is not plain digits says nothing; one too long for the type is over every bound.
        let claims_more = |length: String| {
            let digits = length.trim_start_matches('0');
            length.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty() && digits.parse::<usize>().map_or(true, |length| length > bound)
        };
        if self.header("content-length").is_some_and(claims_more) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = self.body.chunk().await? {
            if chunk.len() > bound - bytes.len() {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }
}
