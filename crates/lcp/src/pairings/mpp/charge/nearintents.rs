//! `mpp/charge/nearintents`: a payment through NEAR Intents, named by the hash of its deposit. The buyer signs nothing that
//! has a place for H: the challenge's `externalId` names it, and the agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    account::is_network,
    mpp::{Method, Mpp, Offer, REQUEST_MALFORMED, challenge::EXPIRES_REQUIRED, credential::Credential},
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<NearIntents> = Mpp(NearIntents);

pub(crate) struct NearIntents;

const NOTHING_TO_SIGN: Refusal = Refusal::new("mpp/nothing-to-sign");
const NOT_HASH_CREDENTIAL: Refusal = Refusal::new("near/not-hash-credential");
const MEMO_NOT_LCP: Refusal = Refusal::new("near/memo-not-lcp");
const CARRIER_NOT_CHALLENGE: Refusal = Refusal::new("mpp/carrier-not-challenge");

/// The network that the buyer pays from.
fn origin<'a>(offer: &'a Offer<'_>) -> Option<&'a str> {
    offer.details().get("originNetwork").and_then(Value::as_str).filter(|network| is_network(network))
}

impl Method for NearIntents {
    fn id(&self) -> &'static str {
        "mpp/charge/nearintents"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        let external_id_is_text = offer.request.get("externalId").is_none_or(|id| id.as_text().is_some());
        if origin(offer).is_none() || !external_id_is_text {
            return Err(REQUEST_MALFORMED);
        }
        offer.expires.map(|_| ()).ok_or(EXPIRES_REQUIRED)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        origin(offer).map(str::to_owned)
    }

    fn choose(&self, _offer: &Offer<'_>, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new())
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(NOTHING_TO_SIGN)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        if credential.payload.get("type").and_then(Value::as_str) != Some("hash") {
            return Err(NOT_HASH_CREDENTIAL);
        }
        let named = offer.request.get("externalId").and_then(Value::as_str).and_then(Hash::from_lcp_string).ok_or(MEMO_NOT_LCP)?;
        if named == offer.h { Ok(named) } else { Err(CARRIER_NOT_CHALLENGE) }
    }
}
