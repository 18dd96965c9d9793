//! Mastercard's Verifiable Intent: the buyer's mandates as layered SD-JWTs. A checkout mandate commits to the merchant's
//! checkout JWT, whose payload holds the legal context.

use super::{SIGNATURE_MALFORMED, TOO_LARGE, advertised, choose, document, hash};
use crate::{
    Hash, Object, Refusal, Text, Value,
    jose::{SdJwt, SdJwtFault, TextFault, digest, unverified_payload},
    pairing::{Advertised, Buyer, Choice, Completed, Pairing, Unsigned},
};

const MALFORMED: Refusal = Refusal::new("card/vi-malformed");
const TYP: Refusal = Refusal::new("card/vi-typ");
const NO_CHECKOUT_MANDATE: Refusal = Refusal::new("card/vi-no-checkout-mandate");
const CHECKOUT_HASH_MISMATCH: Refusal = Refusal::new("card/vi-checkout-hash-mismatch");
const TRANSACTION_ID_MISMATCH: Refusal = Refusal::new("card/vi-transaction-id-mismatch");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("card/vi-legal-context-conflict");
const DISCLOSURE_UNREFERENCED: Refusal = Refusal::new("card/vi-disclosure-unreferenced");

/// Longest checkout JWT, in UTF-16 code units.
const MAX_CHECKOUT_JWT: usize = 16_384;
/// Longest SD-JWT, in UTF-16 code units.
const MAX_SD_JWT: usize = 65_536;
/// Most disclosures of an SD-JWT.
const MAX_DISCLOSURES: usize = 32;

const CHECKOUT_MANDATE: &str = "mandate.checkout.1";
const PAYMENT_MANDATE: &str = "mandate.payment.1";

/// What sets one pairing of Verifiable Intent apart.
pub(crate) struct VerifiableIntent {
    pub(crate) id: &'static str,
    /// The SD-JWTs that the wallet answers with.
    pub(crate) layers: &'static [&'static str],
    pub(crate) bound: fn(&Value) -> Result<Hash, Refusal>,
}

impl Pairing for VerifiableIntent {
    fn id(&self) -> &'static str {
        self.id
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        advertised(document, &checkout(document)?)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        choose(advertised, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let document = document(chosen)?;
        if hash(&checkout(document)?)? != **chosen.h {
            return Err(LEGAL_CONTEXT_CONFLICT);
        }
        let digest = document.as_str().map(digest).ok_or(MALFORMED)?;
        let mandate = Object::new().with("vct", CHECKOUT_MANDATE).with("checkout_jwt", document).with("checkout_hash", &*digest);
        let request = Object::new().with("kind", "vi-checkout-mandate").with("checkoutMandate", mandate).with("transactionId", digest);
        Ok(Box::new(Mandate { request: request.into(), layers: self.layers }))
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        (self.bound)(payment)
    }
}

struct Mandate {
    request: Value,
    layers: &'static [&'static str],
}

impl Unsigned for Mandate {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(Some(self.request.clone()))
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let mut signed = Object::new();
        for name in self.layers {
            let layer = answer.get(name).filter(|layer| layer.as_text().is_some_and(|text| text.utf16_len() > 0));
            signed.set(*name, layer.ok_or(SIGNATURE_MALFORMED)?);
        }
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}

/// The payload of a checkout JWT, whose signature is the merchant's affair.
fn checkout(jwt: &Value) -> Result<Value, Refusal> {
    let jwt = jwt.as_text().ok_or(MALFORMED)?;
    if jwt.utf16_len() > MAX_CHECKOUT_JWT {
        return Err(TOO_LARGE);
    }
    unverified_payload(jwt.as_str().ok_or(MALFORMED)?).map(Value::from).map_err(|fault| match fault {
        TextFault::Malformed => MALFORMED,
        TextFault::TooDeep => TOO_LARGE,
    })
}

/// The SD-JWT in a member of a payment, of bounded length.
pub(crate) fn member<'a>(payment: &'a Value, name: &str) -> Result<&'a Text, Refusal> {
    let text = payment.get(name).and_then(Value::as_text).ok_or(MALFORMED)?;
    if text.utf16_len() <= MAX_SD_JWT { Ok(text) } else { Err(TOO_LARGE) }
}

/// Reads an SD-JWT.
pub(crate) fn sd_jwt(text: &Text) -> Result<SdJwt<'_>, Refusal> {
    SdJwt::read(text.as_str().ok_or(MALFORMED)?, MAX_DISCLOSURES).map_err(|fault| match fault {
        SdJwtFault::Malformed | SdJwtFault::HashUnsupported => MALFORMED,
        SdJwtFault::TooLarge => TOO_LARGE,
        SdJwtFault::Unreferenced => DISCLOSURE_UNREFERENCED,
    })
}

/// A layer in which the buyer, or the buyer's agent, delegates or mandates.
pub(crate) struct Layer<'a> {
    pub(crate) token: SdJwt<'a>,
}

impl<'a> Layer<'a> {
    /// Reads a layer of that `typ`, signed with ES256 by a key that it names if `names_key`. It discloses at least one
    /// mandate, has no key binding of its own, and delegates nothing that is not a disclosure.
    pub(crate) fn read(text: &'a Text, typ: &str, names_key: bool) -> Result<Self, Refusal> {
        let source = text.as_str().ok_or(MALFORMED)?;
        let disclosures = source.strip_suffix('~').ok_or(MALFORMED)?.split('~').count() - 1;
        if disclosures > MAX_DISCLOSURES {
            return Err(TOO_LARGE);
        }
        if disclosures == 0 {
            return Err(MALFORMED);
        }
        let token = sd_jwt(text)?;
        let header = |name| token.header.get(name).and_then(Value::as_str);
        let key_is_named = token.header.get("kid").is_some_and(|kid| kid.as_text().is_some());
        if header("alg") != Some("ES256") || header("typ") != Some(typ) || (names_key && !key_is_named) {
            return Err(TYP);
        }
        let delegated = token.payload.get("delegate_payload").and_then(Value::as_array).ok_or(MALFORMED)?;
        let is_disclosure = |entry: &Value| entry.as_object().is_some_and(|entry| entry.len() == 1 && entry.has("..."));
        if !token.payload.has("_sd_alg") || !delegated.iter().all(is_disclosure) {
            return Err(MALFORMED);
        }
        Ok(Self { token })
    }

    /// The disclosed mandates of that type.
    pub(crate) fn mandates(&self, vct: &str) -> impl Iterator<Item = &Object> {
        let delegated = self.token.claims.get("delegate_payload").and_then(Value::as_array).unwrap_or_default();
        delegated.iter().filter_map(Value::as_object).filter(move |mandate| mandate.get("vct").and_then(Value::as_str) == Some(vct))
    }

    /// The hash in the checkout JWT that this layer mandates. The one checkout mandate commits to it, and so does every
    /// payment mandate.
    pub(crate) fn hash(&self) -> Result<Hash, Refusal> {
        let mut mandates = self.mandates(CHECKOUT_MANDATE);
        let (Some(mandate), None) = (mandates.next(), mandates.next()) else { return Err(NO_CHECKOUT_MANDATE) };
        let jwt = mandate.get("checkout_jwt").ok_or(MALFORMED)?;
        let h = hash(&checkout(jwt)?)?;
        let digest = jwt.as_str().map(digest);
        if mandate.get("checkout_hash").and_then(Value::as_str) != digest.as_deref() {
            return Err(CHECKOUT_HASH_MISMATCH);
        }
        let pays = |payment: &Object| payment.get("transaction_id").and_then(Value::as_str) == digest.as_deref();
        if self.mandates(PAYMENT_MANDATE).all(pays) { Ok(h) } else { Err(TRANSACTION_ID_MISMATCH) }
    }

    /// Whether the layer names that text, the one before it, in its `sd_hash`.
    pub(crate) fn follows(&self, before: &Text) -> bool {
        let named = self.token.payload.get("sd_hash").and_then(Value::as_str);
        before.as_str().is_some_and(|before| named == Some(&*digest(before)))
    }
}

/// Tokens and layers to test with.
#[cfg(test)]
pub(crate) mod sample {
    use p256::ecdsa::{Signature, SigningKey, signature::Signer};

    use crate::{
        Hash, Object, Value, encoding,
        jose::{
            digest,
            sample::{digests, encoded, place},
        },
    };

    pub(crate) const LINK: &str = "https://atr.seller.example/x";
    pub(crate) const AGREEMENT: &str = "https://agree.seller.example/a";

    pub(crate) fn legal_context(h: &Hash) -> Object {
        Object::new().with("type", "sha256").with("value", h).with("legalContextUrl", LINK).with("legalContextAgreementUrl", AGREEMENT)
    }

    /// A key of a number's own.
    pub(crate) fn key(number: u8) -> SigningKey {
        SigningKey::from_slice(&[number; 32]).unwrap()
    }

    pub(crate) fn jwk(key: &SigningKey) -> Object {
        let point = key.verifying_key().to_sec1_point(false);
        let (x, y) = point.as_bytes()[1..].split_at(32);
        Object::new().with("kty", "EC").with("crv", "P-256").with("x", encoding::base64url(x)).with("y", encoding::base64url(y))
    }

    /// A compact JWS with ES256.
    pub(crate) fn signed(header: Object, payload: impl Into<Value>, key: &SigningKey) -> String {
        let input = format!("{}.{}", encoded(header), encoded(payload));
        let signature: Signature = key.sign(input.as_bytes());
        format!("{input}.{}", encoding::base64url(&signature.to_bytes()))
    }

    pub(crate) fn checkout_jwt(payload: Object) -> String {
        signed(Object::new().with("alg", "ES256"), payload, &key(1))
    }

    pub(crate) fn checkout_mandate(jwt: &str) -> Object {
        Object::new().with("vct", super::CHECKOUT_MANDATE).with("checkout_jwt", jwt).with("checkout_hash", digest(jwt))
    }

    pub(crate) fn payment_mandate(transaction_id: &str) -> Object {
        Object::new().with("vct", super::PAYMENT_MANDATE).with("transaction_id", transaction_id)
    }

    /// A layer's header.
    pub(crate) fn header(typ: &str) -> Object {
        Object::new().with("alg", "ES256").with("typ", typ)
    }

    /// A layer that discloses these mandates and follows the text before it.
    pub(crate) fn layer(header: Object, mandates: &[Object], before: &str, key: &SigningKey) -> String {
        let numbered = |(number, mandate): (usize, &Object)| encoded([number.to_string().into(), mandate.clone().into()]);
        layer_of(header, &mandates.iter().enumerate().map(numbered).collect::<Vec<_>>(), &Object::new().with("sd_hash", digest(before)), key)
    }

    /// A layer of these disclosures, whose payload has more members.
    pub(crate) fn layer_of(header: Object, disclosures: &[String], more: &Object, key: &SigningKey) -> String {
        let listed = digests(&disclosures.iter().map(String::as_str).collect::<Vec<_>>());
        let delegated: Vec<Value> = disclosures.iter().map(|disclosure| place(disclosure)).collect();
        let payload = Object::new().with("_sd_alg", "sha-256").with("_sd", listed).with("delegate_payload", delegated);
        let payload = more.iter().fold(payload, |payload, (name, value)| payload.with(name.clone(), value));
        let shown = disclosures.iter().fold(String::new(), |shown, disclosure| shown + disclosure + "~");
        format!("{}~{shown}", signed(header, payload, key))
    }
}
