//! `card/mastercard-vi/immediate`: the buyer signs the checkout mandate itself, in the second layer of a Verifiable Intent; H
//! is in the checkout JWT it commits to.

use crate::{
    Hash, Refusal, Value,
    card::verifiable_intent::{Layer, VerifiableIntent, member},
};

pub(crate) static PAIRING: VerifiableIntent = VerifiableIntent { id: "card/mastercard-vi/immediate", layers: &["l2"], bound };

fn bound(payment: &Value) -> Result<Hash, Refusal> {
    Layer::read(member(payment, "l2")?, "kb-sd-jwt", false)?.hash()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, Object,
        card::verifiable_intent::sample::{
            AGREEMENT, LINK, checkout_jwt, checkout_mandate, header, key, layer, layer_of, legal_context, payment_mandate,
        },
        jose::{
            digest,
            sample::{claim, element, encoded, jwt, place},
        },
        pairing::{Buyer, Choice, Completed, Pairing, Unsigned},
    };

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn checkout() -> String {
        checkout_jwt(Object::new().with("checkout", "chk_1").with("legalContext", legal_context(&h())))
    }

    fn code<T>(result: Result<T, Refusal>) -> String {
        result.map_or_else(|refusal| refusal.code().to_owned(), |_| "ok".to_owned())
    }

    fn read(document: &Value) -> String {
        code(PAIRING.read(document))
    }

    fn build(choice: &Object, atr: &[u8]) -> Result<Box<dyn Unsigned>, Refusal> {
        PAIRING.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(atr), atr })
    }

    fn signed(l2: impl Into<Value>) -> Value {
        Object::new().with("l2", l2).into()
    }

    /// What a layer's bound comes to: the hash, or the code.
    fn bound(l2: impl Into<Value>) -> String {
        PAIRING.bound(&signed(l2), None).map_or_else(|refusal| refusal.code().to_owned(), |h| h.to_string())
    }

    fn mandates(mandates: &[Object]) -> String {
        layer(header("kb-sd-jwt"), mandates, "l1", &key(2))
    }

    fn good() -> String {
        mandates(&[checkout_mandate(&checkout()), payment_mandate(&digest(&checkout()))])
    }

    #[test]
    fn the_buyer_s_mandate_commits_to_the_checkout() {
        let read = PAIRING.read(&checkout().into()).unwrap();
        assert_eq!((read.h, &*read.link, read.agreement.as_deref()), (h(), LINK, Some(AGREEMENT)));
        let choose = |account| PAIRING.choose(&read, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () });
        let choice = choose("card:visa:a").unwrap();
        assert_eq!(choice, Object::new().with("doc", checkout()));
        assert_eq!(code(choose("card:visa")), "card/no-payable-option");

        let unsigned = build(&choice, b"abc").unwrap();
        let request = unsigned.request().unwrap().unwrap();
        assert_eq!(request.get("kind"), Some(&"vi-checkout-mandate".into()));
        assert_eq!(request.get("checkoutMandate"), Some(&checkout_mandate(&checkout()).into()));
        assert_eq!(request.get("transactionId"), Some(&digest(&checkout()).into()));
        let answer = Object::new().with("l1", 5u32).with("l2", good());
        assert_eq!(unsigned.complete(&answer.into()), Ok(Completed::Payment { signed: signed(good()), landed: None }));
        for answer in [Value::Null, good().into(), Object::new().into(), signed(""), signed(5u32)] {
            assert_eq!(code(unsigned.complete(&answer)), "card/signature-malformed");
        }
        assert_eq!(bound(good()), h().to_string());

        assert_eq!(code(build(&choice, b"abd").map(|_| ())), "card/vi-legal-context-conflict");
        assert_eq!(code(build(&Object::new(), b"abc").map(|_| ())), "card/choice-malformed");
        assert_eq!(code(build(&Object::new().with("doc", "x"), b"abc").map(|_| ())), "card/vi-malformed");
    }

    #[test]
    fn a_checkout_jwt_is_bounded_and_holds_a_legal_context() {
        for (document, expected) in [
            (Value::Null, "card/vi-malformed"),
            ("a.b.c".into(), "card/vi-malformed"),
            ("x".repeat(16_384).into(), "card/vi-malformed"),
            ("x".repeat(16_385).into(), "card/too-large"),
            (jwt(Object::new(), Object::new()).into(), "card/no-legal-context"),
            (jwt(Object::new(), Object::new().with("legalContext", Value::Null)).into(), "card/legal-context-malformed"),
            (jwt(Object::new(), Object::new().with("legalContext", legal_context(&h()))).into(), "ok"),
            (format!("AA.{}.", encoded(Object::new().with("legalContext", legal_context(&h())))).into(), "ok"),
        ] {
            assert_eq!(read(&document), expected, "{document:?}");
        }
        let deep = (0..64).fold(Value::Null, |inner, _| [inner].into());
        assert_eq!(read(&jwt(Object::new(), Object::new().with("a", deep)).into()), "card/too-large");
    }

    #[test]
    fn one_mandate_and_what_stands_beside_it() {
        let (jwt, mandate) = (checkout(), checkout_mandate(&checkout()));
        let other = |payload: Object| checkout_mandate(&checkout_jwt(payload));
        for (mandates, expected) in [
            (vec![], "card/vi-malformed"),
            (vec![payment_mandate(&digest(&jwt))], "card/vi-no-checkout-mandate"),
            (vec![mandate.clone(), mandate.clone()], "card/vi-no-checkout-mandate"),
            (vec![Object::new().with("inside", mandate.clone())], "card/vi-no-checkout-mandate"),
            (vec![mandate.clone().with("checkout_jwt", Value::Null)], "card/vi-malformed"),
            (vec![mandate.clone().with("checkout_jwt", "x")], "card/vi-malformed"),
            (vec![mandate.clone().with("checkout_hash", digest("x"))], "card/vi-checkout-hash-mismatch"),
            (vec![mandate.without("checkout_hash")], "card/vi-checkout-hash-mismatch"),
            (vec![other(Object::new()).with("checkout_hash", "x")], "card/no-legal-context"),
            (vec![other(Object::new().with("legalContext", legal_context(&h()).with("type", "x")))], "card/legal-context-malformed"),
            (vec![mandate.clone(), payment_mandate("x")], "card/vi-transaction-id-mismatch"),
            (
                vec![mandate.clone(), payment_mandate(&digest(&jwt)), Object::new().with("vct", "mandate.payment.1")],
                "card/vi-transaction-id-mismatch",
            ),
        ] {
            assert_eq!(bound(self::mandates(&mandates)), expected, "{mandates:?}");
        }
        // Where an agreement is paid is not read back.
        let legal_context = legal_context(&h()).with("legalContextAgreementUrl", "http://x/");
        assert_eq!(bound(mandates(&[other(Object::new().with("legalContext", legal_context))])), h().to_string());
        assert_eq!(bound(mandates(&[mandate, Object::new().with("vct", 5u32)])), h().to_string());
    }

    #[test]
    fn a_layer_is_one_typed_delegation() {
        let mandate = || vec![element(checkout_mandate(&checkout()))];
        let of = |header: Object, more: Object| bound(layer_of(header, &mandate(), &more, &key(2)));
        let with = |name: &str, value: Value| of(header("kb-sd-jwt"), Object::new().with(name, value));
        for other in [header("kb-sd-jwt+kb"), header("kb-sd-jwt").with("alg", "ES384"), header("kb-sd-jwt").without("typ"), Object::new()] {
            assert_eq!(of(other, Object::new()), "card/vi-typ");
        }
        for (name, value) in [("_sd_alg", Value::Null), ("_sd_alg", "sha-512".into()), ("_sd", Value::Null)] {
            assert_eq!(with(name, value), "card/vi-malformed");
        }
        assert_eq!(with("delegate_payload", Vec::new().into()), "card/vi-disclosure-unreferenced");
        let [disclosure] = &mandate()[..] else { panic!() };
        let at = place(disclosure);
        for beside in [Value::Null, "x".into(), Object::new().into(), Vec::new().into(), checkout_mandate(&checkout()).into()] {
            assert_eq!(with("delegate_payload", [at.clone(), beside].into()), "card/vi-malformed");
        }
        assert_eq!(with("delegate_payload", [at.clone(), Object::new().with("...", "hidden").into()].into()), h().to_string());
        assert_eq!(with("nonce", [at].into()), "card/vi-malformed", "a digest in two lists");
        let without = |name: &str| {
            let payload = Object::new().with("_sd_alg", "sha-256").with("delegate_payload", [place(disclosure)]);
            bound(format!("{}~{disclosure}~", jwt(header("kb-sd-jwt"), payload.without(name))))
        };
        assert_eq!((without("x"), without("_sd_alg")), (h().to_string(), "card/vi-malformed".to_owned()), "unsigned, too");

        let unreferenced = good() + &element(1u32) + "~";
        assert_eq!(bound(unreferenced), "card/vi-disclosure-unreferenced");
        let disclosed = |more: usize| (0..more).fold(good(), |text, number| text + &claim(number.to_string(), 1u32) + "~");
        assert_eq!(bound(disclosed(30)), "card/vi-disclosure-unreferenced");
        assert_eq!(bound(disclosed(31)), "card/too-large");
        for text in [good().trim_end_matches('~'), &(good() + "a.b"), &(good() + "~"), "", "~", "x~", "x~y~"] {
            assert_eq!(bound(text), "card/vi-malformed", "{text}");
        }
        for other in [Value::Null, 5u32.into(), [good().into()].into(), "x".repeat(65_536).into()] {
            assert_eq!(bound(other), "card/vi-malformed");
        }
        assert_eq!(bound("x".repeat(65_537)), "card/too-large");
    }
}
