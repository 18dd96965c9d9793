//! `mpp/charge/card`: a card network's token, in which nothing the buyer signs has a place for H; the agreement is paid
//! first.

use crate::{
    Refusal,
    mpp::{Mpp, Offer, REQUEST_MALFORMED, signs_nothing::SignsNothing},
};

pub(crate) static PAIRING: Mpp<SignsNothing> = Mpp(SignsNothing { id: "mpp/charge/card", pays });

fn pays(offer: &Offer<'_>) -> Result<(), Refusal> {
    let external_id_is_text = offer.request.get("externalId").is_none_or(|id| id.as_text().is_some());
    if external_id_is_text { Ok(()) } else { Err(REQUEST_MALFORMED) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ConfirmedHash, Hash, Object, Value, json,
        mpp::{
            NO_SIGNED_PLACE,
            sample::{challenge, credential, encoded, opaque},
        },
        pairing::{Buyer, Choice, Pairing},
    };

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn card() -> Object {
        challenge(&h(), "charge", "card", Object::new().with("amount", "5").with("externalId", h().lcp_string()))
    }

    fn choose(challenges: &[Object]) -> Result<Object, Refusal> {
        let document = challenges.iter().cloned().map(Value::from).collect::<Vec<_>>().into();
        let buyer = Buyer { account: "any", inputs: &Object::new(), now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document)?, &buyer)
    }

    fn build(choice: &Object) -> Refusal {
        let chosen = Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        PAIRING.build(&chosen).err().unwrap()
    }

    fn bound(challenge: Object) -> Refusal {
        PAIRING.bound(&credential(challenge), None).unwrap_err()
    }

    #[test]
    fn chooses_the_first_challenge_a_card_pays() {
        let first = card().with("note", 1u32);
        let choice = choose(&[challenge(&h(), "charge", "stripe", Object::new()), first.clone(), card()]).unwrap();
        assert_eq!(choice, Object::new().with("now", 1_790_000_000u32).with("challenge", first));
        assert!(choose(&[card().without("expires")]).is_ok());
        for unpaid in [
            challenge(&h(), "session", "card", Object::new()),
            challenge(&h(), "charge", "card", Object::new().with("externalId", 1u32)),
            challenge(&h(), "charge", "card", Object::new().with("methodDetails", Value::Null)),
            card().with("expires", "soon"),
            card().with("request", "e30="),
            card().with("realm", json::parse(r#""\ud800""#, 0).unwrap()),
        ] {
            assert_eq!(choose(&[unpaid]).unwrap_err().code(), "mpp/no-payable-option");
        }
    }

    #[test]
    fn has_no_place_for_the_hash() {
        assert_eq!(build(&choose(&[card()]).unwrap()), NO_SIGNED_PLACE);
        assert_eq!(build(&Object::new().with("challenge", Object::new())), NO_SIGNED_PLACE);
        assert_eq!(build(&Object::new()).code(), "mpp/choice-malformed");
        assert_eq!(build(&Object::new().with("challenge", "x")).code(), "mpp/choice-malformed");
        assert_eq!(bound(card()), NO_SIGNED_PLACE);
        assert!(NO_SIGNED_PLACE.leaves_nothing_to_sign());
    }

    #[test]
    fn a_credential_is_refused_for_its_first_fault() {
        // Each line mends the fault of the one before.
        let broken = card()
            .with("realm", json::parse(r#""\ud800""#, 0).unwrap())
            .with("id", "x")
            .with("opaque", "x")
            .with("request", "x")
            .with("method", "evm")
            .with("expires", "soon");
        let mut challenge = broken;
        assert_eq!(bound(challenge.clone().with("realm", 1u32)).code(), "mpp/credential-malformed");
        for (code, name, value) in [
            ("mpp/challenge-malformed", "realm", card().get("realm").unwrap().clone()),
            ("mpp/id-not-ours", "id", card().get("id").unwrap().clone()),
            ("mpp/opaque-malformed", "opaque", encoded(opaque(&Hash::of(b"abd"))).into()),
            ("mpp/opaque-not-this-hash", "opaque", encoded(opaque(&h())).into()),
            ("mpp/request-malformed", "request", encoded(Object::new().with("methodDetails", 1u32)).into()),
            ("mpp/not-this-pairing", "method", "card".into()),
            ("mpp/expires-required", "expires", "2030-01-01T00:00:00Z".into()),
            ("mpp/request-malformed", "request", encoded(Object::new()).into()),
        ] {
            assert_eq!(bound(challenge.clone()).code(), code, "{name}");
            challenge.set(name, value);
        }
        assert_eq!(bound(challenge.clone()), NO_SIGNED_PLACE);
        assert_eq!(bound(challenge.without("opaque")).code(), "mpp/opaque-not-this-hash");
    }

    proptest! {
        /// Whatever stands in a challenge's members, a choice is one of the challenges, and a credential is refused.
        #[test]
        fn any_challenge_is_judged(
            edits in prop::collection::vec((prop::sample::select(MEMBERS), prop::option::of("\\PC{0,12}")), 0..3),
            inner in "(\\{\"(externalId|methodDetails)\":)?[\\[{\"0-9a-z:,}\\]]{0,12}\\}?",
            in_opaque: Option<bool>,
        ) {
            let mut edited = card();
            for (name, value) in edits {
                edited.set(name, value.map_or(Value::Null, Value::from));
            }
            if let Some(in_opaque) = in_opaque {
                edited.set(if in_opaque { "opaque" } else { "request" }, crate::encoding::base64url(inner.as_bytes()));
            }
            if let Ok(choice) = choose(&[edited.clone(), card()]) {
                let chosen = choice.get("challenge").unwrap();
                prop_assert!(*chosen == edited.clone().into() || *chosen == card().into());
            }
            prop_assert!(PAIRING.bound(&credential(edited), None).is_err());
        }
    }

    const MEMBERS: &[&str] = &["id", "realm", "method", "intent", "request", "opaque", "expires", "digest", "note"];
}
