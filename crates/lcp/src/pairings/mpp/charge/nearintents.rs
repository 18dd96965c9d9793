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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, challenge, credential, encoded, h, object, opaque, with_payload},
        pairing::Pairing,
    };

    fn request() -> Object {
        object("{'amount':'1005000','methodDetails':{'originNetwork':'eip155:42161','destinationNetwork':'near:mainnet'}}")
            .with("externalId", h().lcp_string())
    }

    fn offered(request: Object) -> Object {
        challenge(&h(), "charge", "nearintents", request)
    }

    fn choose(challenge: Object) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, "eip155:42161", challenge, "{}")
    }

    fn bound(challenge: Object, kind: &str) -> Result<Hash, String> {
        PAIRING.bound(&with_payload(&credential(challenge), "type", kind), None).map_err(|refusal| refusal.code().to_owned())
    }

    #[test]
    fn is_paid_from_the_origin() {
        assert_eq!(choose(offered(request())), Ok(Object::new().with("challenge", offered(request()))));
        for network in ["near:mainnet", "eip155", "eip155:", "EIP155:1", "a:1", "eip155:1:2"] {
            let elsewhere = request().with("methodDetails", Object::new().with("originNetwork", network));
            assert_eq!(choose(offered(elsewhere)).unwrap_err().code(), "mpp/no-payable-option", "{network}");
        }
        for odd in [offered(request().with("externalId", 5u32)), offered(request().without("methodDetails")), offered(request()).without("expires")] {
            assert_eq!(choose(odd).unwrap_err().code(), "mpp/no-payable-option");
        }
        assert!(choose(offered(request().without("externalId"))).is_ok());
    }

    #[test]
    fn leaves_nothing_to_sign() {
        for choice in [choose(offered(request())).unwrap(), Object::new()] {
            assert_eq!(sample::build(&PAIRING, &choice).err(), Some(NOTHING_TO_SIGN));
        }
        assert!(NOTHING_TO_SIGN.leaves_nothing_to_sign());
    }

    #[test]
    fn the_external_id_is_the_hash() {
        assert_eq!(bound(offered(request()), "hash"), Ok(h()));
        let with = |id: &str| offered(request().with("externalId", id));
        let other = Hash::of(b"abd");
        // Each line mends the fault of the one before.
        for (challenge, kind, code) in [
            (offered(request()).with("request", encoded(Object::new())).without("expires"), "x", "mpp/request-malformed"),
            (with("x").without("expires"), "x", "mpp/expires-required"),
            (with("x"), "x", "near/not-hash-credential"),
            (with("x"), "hash", "near/memo-not-lcp"),
            (with(&other.lcp_string()), "hash", "mpp/carrier-not-challenge"),
            (offered(request()).with("opaque", encoded(opaque(&other))), "hash", "mpp/opaque-not-this-hash"),
        ] {
            assert_eq!(bound(challenge, kind), Err(code.to_owned()));
        }
    }
}
