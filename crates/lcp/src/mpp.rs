//! MPP, the Machine Payments Protocol: what its pairings share.
//!
//! A seller answers with a list of challenges. One that carries H names it in its opaque and derives its id from it; the
//! buyer's credential echoes the challenge beside the payment's payload.

pub(crate) mod challenge;
pub(crate) mod credential;
pub(crate) mod signs_nothing;
pub(crate) mod stripe;

use crate::{
    Hash, Object, Refusal, Value,
    pairing::{Advertised, Buyer, Choice, Pairing, Unsigned},
};
use challenge::Challenge;
use credential::Credential;

pub(crate) const NOT_THIS_PAIRING: Refusal = Refusal::new("mpp/not-this-pairing");
pub(crate) const REQUEST_MALFORMED: Refusal = Refusal::new("mpp/request-malformed");
pub(crate) const CHOICE_MALFORMED: Refusal = Refusal::new("mpp/choice-malformed");
pub(crate) const NO_SIGNED_PLACE: Refusal = Refusal::new("mpp/no-signed-place");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("mpp/no-payable-option");

/// What sets one MPP pairing apart; [`Mpp`] makes a [`Pairing`] of it.
pub(crate) trait Method: Sync {
    /// The pairing's id, which names the intent and the method of its challenges: `mpp/<intent>/<method>`, and for a
    /// method with several ways to pay, the way.
    fn id(&self) -> &'static str;

    fn public_proof(&self) -> bool {
        true
    }

    /// Whether this pairing pays an offer of its intent and method. One that another pairing of them pays is
    /// [`NOT_THIS_PAIRING`].
    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal>;

    /// Whether the account can pay the offer, which most methods judge by its network.
    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool;

    /// The members of the choice beside `challenge`. The account can pay the offer.
    fn choose(&self, offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal>;

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal>;

    /// Reads H from the payload of a credential whose challenge is an offer of this pairing.
    fn bound(&self, offer: &Offer<'_>, payload: &Object, landed: Option<&Value>) -> Result<Hash, Refusal>;
}

/// A challenge that carries H and that a pairing pays.
pub(crate) struct Offer<'a> {
    pub(crate) challenge: Challenge<'a>,
    /// The challenge's decoded request.
    pub(crate) request: Object,
}

impl<'a> Offer<'a> {
    /// Judges a challenge for a pairing.
    fn of(method: &dyn Method, challenge: Challenge<'a>) -> Result<Self, Refusal> {
        challenge.judge_realm()?;
        challenge.carried()?;
        let request = challenge.request()?;
        let mut id = method.id().split('/').skip(1);
        if id.next() != challenge.intent.as_str() || id.next() != challenge.method.as_str() {
            return Err(NOT_THIS_PAIRING);
        }
        challenge.expires()?;
        if request.get("methodDetails").is_some_and(|details| details.as_object().is_none()) {
            return Err(REQUEST_MALFORMED);
        }
        let offer = Self { challenge, request };
        method.pays(&offer)?;
        Ok(offer)
    }
}

/// A [`Method`] as a [`Pairing`].
pub(crate) struct Mpp<M>(pub(crate) M);

impl<M: Method> Pairing for Mpp<M> {
    fn id(&self) -> &'static str {
        self.0.id()
    }

    fn public_proof(&self) -> bool {
        self.0.public_proof()
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        challenge::advertised(document)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let mut offers = advertised.options.iter().filter_map(|option| Offer::of(&self.0, Challenge::read(option)?).ok());
        let offer = offers.find(|offer| self.0.serves_account(offer, buyer.account)).ok_or(NO_PAYABLE_OPTION)?;
        Ok(self.0.choose(&offer, buyer)?.with("challenge", offer.challenge.whole))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        self.0.build(chosen)
    }

    fn bound(&self, payment: &Value, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let credential = Credential::read(payment)?;
        let offer = Offer::of(&self.0, credential.challenge)?;
        self.0.bound(&offer, credential.payload, landed)
    }
}

/// Challenges to test with.
#[cfg(test)]
pub(crate) mod sample {
    use crate::{Hash, Object, Value, encoding, json};

    pub(crate) const LINK: &str = "https://atr.seller.example/x";
    pub(crate) const AGREEMENT: &str = "https://agree.seller.example/a";

    /// A request or an opaque as a challenge writes it.
    pub(crate) fn encoded(object: Object) -> String {
        encoding::base64url(json::write(&object.into()).as_bytes())
    }

    pub(crate) fn opaque(h: &Hash) -> Object {
        Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", LINK).with("legalContextAgreementUrl", AGREEMENT)
    }

    /// The first challenge over H of an intent and method.
    pub(crate) fn challenge(h: &Hash, intent: &str, method: &str, request: Object) -> Object {
        Object::new()
            .with("id", encoding::base64url(h.bytes()) + ".0")
            .with("realm", "api.seller.example")
            .with("method", method)
            .with("intent", intent)
            .with("request", encoded(request))
            .with("opaque", encoded(opaque(h)))
            .with("expires", "2030-01-01T00:00:00Z")
    }

    pub(crate) fn credential(challenge: Object) -> Value {
        Object::new().with("challenge", challenge).with("payload", Object::new()).into()
    }
}
