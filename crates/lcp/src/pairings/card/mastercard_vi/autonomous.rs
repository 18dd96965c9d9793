//! `card/mastercard-vi/autonomous`: the buyer's agent signs the checkout mandate, in the third layer of a Verifiable Intent,
//! under a key that the buyer's second layer delegates to; H is in the checkout JWT it commits to.
//!
//! The chain of keys is what the agent's authority rests on, so it is verified, from the agent up to the buyer's key in the
//! issuer's credential. Whether to trust the issuer is the network's affair.

use crate::{
    Hash, Object, Refusal, Text, Value,
    card::verifiable_intent::{Layer, VerifiableIntent, member, sd_jwt},
    jose::{P256Key, SdJwt},
};

const SD_HASH_MISMATCH: Refusal = Refusal::new("card/vi-sd-hash-mismatch");
const KEY_MALFORMED: Refusal = Refusal::new("card/vi-key-malformed");
const KID_MISMATCH: Refusal = Refusal::new("card/vi-kid-mismatch");
const SIGNATURE_INVALID: Refusal = Refusal::new("card/vi-signature-invalid");

pub(crate) static PAIRING: VerifiableIntent = VerifiableIntent { id: "card/mastercard-vi/autonomous", layers: &["l1", "l2", "l3b"], bound };

fn bound(payment: &Value) -> Result<Hash, Refusal> {
    let third = Layer::read(member(payment, "l3b")?, "kb-sd-jwt", true)?;
    let h = third.hash()?;

    let text = member(payment, "l2")?;
    judge_link(&third, text)?;
    let second = Layer::read(text, "kb-sd-jwt+kb", false)?;
    let mut open = second.mandates("mandate.checkout.open.1");
    let (Some(mandate), None) = (open.next(), open.next()) else { return Err(KEY_MALFORMED) };
    let agent = ConfirmationKey::of(mandate)?;
    let kid = agent.jwk.get("kid").filter(|kid| kid.as_text().is_some()).ok_or(KEY_MALFORMED)?;
    if third.token.header.get("kid") != Some(kid) {
        return Err(KID_MISMATCH);
    }
    agent.judge_signature(&third.token)?;

    let text = member(payment, "l1")?;
    judge_link(&second, text)?;
    ConfirmationKey::of(&sd_jwt(text)?.payload)?.judge_signature(&second.token)?;
    Ok(h)
}

fn judge_link(layer: &Layer<'_>, before: &Text) -> Result<(), Refusal> {
    if layer.follows(before) { Ok(()) } else { Err(SD_HASH_MISMATCH) }
}

/// The P-256 key in a `cnf` (RFC 7800), as a JWK.
struct ConfirmationKey<'a> {
    jwk: &'a Object,
    x: &'a str,
    y: &'a str,
}

impl<'a> ConfirmationKey<'a> {
    fn of(holder: &'a Object) -> Result<Self, Refusal> {
        let jwk = holder.get("cnf").and_then(|cnf| cnf.get("jwk")).and_then(Value::as_object).ok_or(KEY_MALFORMED)?;
        let text = |name| jwk.get(name).and_then(Value::as_str).ok_or(KEY_MALFORMED);
        if text("kty")? != "EC" || text("crv")? != "P-256" {
            return Err(KEY_MALFORMED);
        }
        Ok(Self { jwk, x: text("x")?, y: text("y")? })
    }

    fn judge_signature(&self, token: &SdJwt<'_>) -> Result<(), Refusal> {
        let key = P256Key::from_coordinates(self.x, self.y).ok_or(KEY_MALFORMED)?;
        if key.verifies(token.signing_input.as_bytes(), &token.signature) { Ok(()) } else { Err(SIGNATURE_INVALID) }
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::SigningKey;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        card::verifiable_intent::sample::{checkout_jwt, checkout_mandate, header, jwk, key, layer, legal_context, payment_mandate, signed},
        encoding,
        jose::sample::{claim, digests},
        pairing::Pairing,
    };

    const ISSUER: u8 = 3;
    const BUYER: u8 = 4;
    const AGENT: u8 = 5;
    const STRANGER: u8 = 6;

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn checkout() -> String {
        checkout_jwt(Object::new().with("legalContext", legal_context(&h())))
    }

    fn confirmation(jwk: impl Into<Value>) -> Object {
        Object::new().with("cnf", Object::new().with("jwk", jwk))
    }

    /// The issuer's credential, which names the buyer's key.
    fn l1(payload: Object) -> String {
        signed(Object::new().with("alg", "ES256").with("typ", "sd+jwt"), payload, &key(ISSUER)) + "~"
    }

    fn credential() -> String {
        l1(confirmation(jwk(&key(BUYER))))
    }

    fn open(confirmation: Object) -> Object {
        confirmation.with("vct", "mandate.checkout.open.1")
    }

    fn agent() -> Object {
        jwk(&key(AGENT)).with("kid", "agent-1")
    }

    fn l2(mandates: &[Object], before: &str, key: &SigningKey) -> String {
        layer(header("kb-sd-jwt+kb"), mandates, before, key)
    }

    fn delegation() -> String {
        l2(&[open(confirmation(agent()))], &credential(), &key(BUYER))
    }

    fn l3b(before: &str, signer: u8) -> String {
        layer(header("kb-sd-jwt").with("kid", "agent-1"), &[checkout_mandate(&checkout())], before, &key(signer))
    }

    fn payment(l1: &str, l2: &str, l3b: &str) -> Value {
        Object::new().with("l1", l1).with("l2", l2).with("l3b", l3b).into()
    }

    fn good() -> Value {
        payment(&credential(), &delegation(), &l3b(&delegation(), AGENT))
    }

    fn bound(payment: &Value) -> String {
        PAIRING.bound(payment, None).map_or_else(|refusal| refusal.code().to_owned(), |h| h.to_string())
    }

    /// What comes of another second layer, under a third that follows it.
    fn with_l2(l2: &str) -> String {
        bound(&payment(&credential(), l2, &l3b(l2, AGENT)))
    }

    /// What comes of another credential, under layers that follow it.
    fn with_l1(l1: &str) -> String {
        let l2 = l2(&[open(confirmation(agent()))], l1, &key(BUYER));
        bound(&payment(l1, &l2, &l3b(&l2, AGENT)))
    }

    fn with_agent(jwk: impl Into<Value>) -> String {
        with_l2(&l2(&[open(confirmation(jwk))], &credential(), &key(BUYER)))
    }

    #[test]
    fn the_agent_s_authority_reaches_up_to_the_credential() {
        assert_eq!(bound(&good()), h().to_string());
        // Whoever issued the credential, and whatever else it says.
        let disclosed = claim("email", "a@buyer.example");
        let payload = confirmation(jwk(&key(BUYER))).with("_sd", digests(&[&disclosed])).with("exp", 1u32);
        assert_eq!(with_l1(&format!("{}{disclosed}~a.b", l1(payload))), h().to_string());
        let hidden = Object::new().with("vct", "mandate.payment.open.1");
        assert_eq!(with_l2(&l2(&[open(confirmation(agent())), hidden], &credential(), &key(BUYER))), h().to_string());
    }

    #[test]
    fn every_signature_is_verified() {
        let delegation = delegation();
        for stranger in [STRANGER, BUYER, ISSUER] {
            assert_eq!(bound(&payment(&credential(), &delegation, &l3b(&delegation, stranger))), "card/vi-signature-invalid");
        }
        for stranger in [STRANGER, AGENT, ISSUER] {
            assert_eq!(with_l2(&l2(&[open(confirmation(agent()))], &credential(), &key(stranger))), "card/vi-signature-invalid");
        }
        assert_eq!(with_agent(jwk(&key(STRANGER)).with("kid", "agent-1")), "card/vi-signature-invalid");
        assert_eq!(with_l1(&l1(confirmation(jwk(&key(STRANGER))))), "card/vi-signature-invalid");
        let third = l3b(&delegation, AGENT);
        let (jwt, disclosures) = third.split_once('~').unwrap();
        let (input, signature) = jwt.rsplit_once('.').unwrap();
        for other in [String::new(), encoding::base64url(&[0; 64]), signature.replace(&signature[..4], "AAAA"), format!("{signature}AAAA")] {
            assert_eq!(bound(&payment(&credential(), &delegation, &format!("{input}.{other}~{disclosures}"))), "card/vi-signature-invalid");
        }
    }

    #[test]
    fn every_layer_follows_the_one_before() {
        let (delegation, third) = (delegation(), l3b(&delegation(), AGENT));
        let another = l2(&[open(confirmation(agent()))], "another", &key(BUYER));
        assert_eq!(bound(&payment(&credential(), &another, &third)), "card/vi-sd-hash-mismatch");
        assert_eq!(with_l2(&another), "card/vi-sd-hash-mismatch");
        assert_eq!(bound(&payment(&(credential() + "a.b"), &delegation, &third)), "card/vi-sd-hash-mismatch");
        assert_eq!(bound(&payment("", &delegation, &third)), "card/vi-sd-hash-mismatch");
        let jwt_alone = delegation.split('~').next().unwrap();
        assert_eq!(bound(&payment(&credential(), &delegation, &l3b(jwt_alone, AGENT))), "card/vi-sd-hash-mismatch");
    }

    #[test]
    fn one_open_mandate_names_the_agent_s_key() {
        let mandate = open(confirmation(agent()));
        for mandates in
            [vec![mandate.clone(), mandate.clone()], vec![mandate.clone().with("vct", "mandate.checkout.1")], vec![mandate.without("cnf")]]
        {
            assert_eq!(with_l2(&l2(&mandates, &credential(), &key(BUYER))), "card/vi-key-malformed", "{mandates:?}");
        }
        for (name, other) in
            [("kty", "RSA"), ("kty", "ec"), ("crv", "P-384"), ("x", ""), ("y", "AA"), ("x", agent().get("y").and_then(Value::as_str).unwrap())]
        {
            assert_eq!(with_agent(agent().with(name, other)), "card/vi-key-malformed", "{name} {other}");
        }
        for name in ["kty", "crv", "x", "y", "kid"] {
            assert_eq!(with_agent(agent().without(name)), "card/vi-key-malformed", "{name}");
            assert_eq!(with_agent(agent().with(name, 5u32)), "card/vi-key-malformed", "{name}");
        }
        assert_eq!(with_agent(Value::Null), "card/vi-key-malformed");
        assert_eq!(with_agent(agent().with("kid", "agent-2")), "card/vi-kid-mismatch");
        assert_eq!(with_agent(agent().with("kid", "agent-2").with("x", "")), "card/vi-kid-mismatch");
        assert_eq!(with_agent(agent().with("use", "enc").with("d", "AA")), h().to_string(), "no other member is read");
    }

    #[test]
    fn the_credential_names_the_buyer_s_key_in_what_is_signed() {
        let disclosed = claim("cnf", Object::new().with("jwk", jwk(&key(BUYER))));
        let hidden = l1(Object::new().with("_sd", digests(&[&disclosed]))) + &disclosed + "~";
        assert_eq!(with_l1(&hidden), "card/vi-key-malformed");
        assert_eq!(with_l1(&l1(Object::new())), "card/vi-key-malformed");
        for (l1, expected) in [
            ("x", "card/vi-malformed"),
            ("x~", "card/vi-malformed"),
            (&credential()[..9], "card/vi-malformed"),
            (&format!("{}{disclosed}~", credential()), "card/vi-disclosure-unreferenced"),
        ] {
            assert_eq!(with_l1(l1), expected, "{l1}");
        }
    }

    #[test]
    fn the_first_fault_is_told_from_the_agent_up() {
        let set = |changes: &[(&str, Value)]| {
            let payment = good().as_object().unwrap().clone();
            bound(&changes.iter().fold(payment, |payment, (name, value)| payment.with(*name, value)).into())
        };
        let long = Value::from("x".repeat(65_537));
        let no_kid = layer(header("kb-sd-jwt"), &[checkout_mandate(&checkout())], &delegation(), &key(AGENT));
        let no_checkout = layer(header("kb-sd-jwt").with("kid", "agent-1"), &[payment_mandate("x")], &delegation(), &key(AGENT));
        assert_eq!(set(&[("l1", 1u32.into()), ("l2", long.clone()), ("l3b", "x".into())]), "card/vi-malformed");
        assert_eq!(set(&[("l2", 2u32.into()), ("l3b", no_kid.into())]), "card/vi-typ");
        assert_eq!(set(&[("l2", 2u32.into()), ("l3b", no_checkout.into())]), "card/vi-no-checkout-mandate");
        assert_eq!(set(&[("l1", long.clone()), ("l2", 2u32.into())]), "card/vi-malformed");
        assert_eq!(set(&[("l2", long.clone())]), "card/too-large");
        assert_eq!(set(&[("l1", long), ("l3b", l3b(&delegation(), STRANGER).into())]), "card/vi-signature-invalid");
        assert_eq!(set(&[("l1", 1u32.into())]), "card/vi-malformed");
        let typ = layer(header("kb-sd-jwt"), &[open(confirmation(agent()))], &credential(), &key(BUYER));
        assert_eq!(with_l2(&typ), "card/vi-typ");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_changed_byte_of_any_layer_is_noticed(layer in prop::sample::select(&["l1", "l2", "l3b"]), place: prop::sample::Index, other in "[A-Za-z0-9_.~-]") {
            let payment = good().as_object().unwrap().clone();
            let mut text = payment.get(layer).and_then(Value::as_str).unwrap().to_owned();
            let place = place.index(text.len());
            text.replace_range(place..=place, &other);
            let changed = Value::from(payment.clone().with(layer, text));
            prop_assert!(changed == payment.into() || bound(&changed).starts_with("card/"), "{}", bound(&changed));
        }
    }
}
