//! `card/seller-reference`: an ordinary card payment, in which nothing the buyer signs has a place for H; the agreement is
//! paid first.

use crate::{
    Hash, Object, Refusal, Value, card,
    pairing::{Advertised, Buyer, Choice, Pairing, Unsigned},
};

pub(crate) static PAIRING: SellerReference = SellerReference;

pub(crate) struct SellerReference;

impl Pairing for SellerReference {
    fn id(&self) -> &'static str {
        "card/seller-reference"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        card::advertised(document, document)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        card::choose(advertised, buyer)
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(card::NO_SIGNED_PLACE)
    }

    fn bound(&self, _payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(card::NO_SIGNED_PLACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfirmedHash;

    fn legal_context() -> Object {
        Object::new()
            .with("type", "sha256")
            .with("value", &Hash::of(b"abc"))
            .with("legalContextUrl", "https://atr.seller.example/x")
            .with("legalContextAgreementUrl", "https://agree.seller.example/a")
    }

    fn document(legal_context: impl Into<Value>) -> Value {
        Object::new().with("total", "12.00").with("legalContext", legal_context).into()
    }

    fn choose(document: &Value, account: &str) -> Result<Object, Refusal> {
        PAIRING.choose(&PAIRING.read(document)?, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () })
    }

    #[test]
    fn the_shown_document_is_the_choice_of_any_account() {
        let shown = document(legal_context());
        let read = PAIRING.read(&shown).unwrap();
        assert_eq!((read.h, &*read.link), (Hash::of(b"abc"), "https://atr.seller.example/x"));
        assert_eq!(read.agreement.as_deref(), Some("https://agree.seller.example/a"));
        assert_eq!(choose(&shown, "xyz:1:a"), Ok(Object::new().with("doc", &shown)));
        assert_eq!(choose(&shown, "xyz:1").unwrap_err().code(), "card/no-payable-option");
    }

    #[test]
    fn every_fault_of_a_legal_context_has_one_code() {
        for absent in [Value::Null, "x".into(), [document(legal_context())].into(), Object::new().into()] {
            assert_eq!(PAIRING.read(&absent).unwrap_err().code(), "card/no-legal-context");
        }
        let long = format!("https://atr.seller.example/{}", "a".repeat(2048));
        for malformed in [
            Value::Null,
            legal_context().with("type", "sha512").into(),
            legal_context().with("legalContextUrl", "http://atr.seller.example/x").into(),
            legal_context().with("legalContextUrl", long).into(),
            legal_context().with("legalContextAgreementUrl", "http://agree.seller.example/a").into(),
        ] {
            assert_eq!(PAIRING.read(&document(malformed)).unwrap_err().code(), "card/legal-context-malformed");
        }
    }

    #[test]
    fn has_no_place_for_the_hash() {
        let choice = Object::new();
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        assert_eq!(PAIRING.build(&chosen).err(), Some(card::NO_SIGNED_PLACE));
        assert_eq!(PAIRING.bound(&document(legal_context()), None), Err(card::NO_SIGNED_PLACE));
        assert!(card::NO_SIGNED_PLACE.leaves_nothing_to_sign());
    }
}
