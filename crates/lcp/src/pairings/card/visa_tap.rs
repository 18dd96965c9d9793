//! `card/visa-tap`: Visa's Trusted Agent Protocol. The agent's message signature for the payer covers a field `lcp-hash`,
//! whose one line is H.

use std::collections::HashMap;

use crate::{
    Hash, Object, Refusal, Value,
    card::{self, SIGNATURE_MALFORMED, TOO_LARGE},
    pairing::{Advertised, Buyer, Choice, Completed, Pairing, Unsigned},
    wire::structured_field::{Bare, Fault, Item, Member, dictionary},
};

const SIGNATURE_INPUT_MALFORMED: Refusal = Refusal::new("card/tap-signature-input-malformed");
const TAP_SIGNATURE_MALFORMED: Refusal = Refusal::new("card/tap-signature-malformed");
const NO_PAYER_SIGNATURE: Refusal = Refusal::new("card/tap-no-payer-signature");
const HASH_NOT_COVERED: Refusal = Refusal::new("card/tap-hash-not-covered");
const SIGNATURE_MISSING: Refusal = Refusal::new("card/tap-signature-missing");
const FIELD_MALFORMED: Refusal = Refusal::new("card/tap-field-malformed");
const FIELD_MISSING: Refusal = Refusal::new("card/tap-field-missing");
const FIELD_REPEATED: Refusal = Refusal::new("card/tap-field-repeated");

/// The field that carries H, and its name as a component of a signature.
const FIELD: &str = "lcp-hash";
/// The tag of the signature by which an agent pays.
const PAYER_TAG: &str = "agent-payer-auth";
/// Longest line of the field, in UTF-16 code units.
const MAX_LINE: usize = 256;

pub(crate) static PAIRING: VisaTap = VisaTap;

pub(crate) struct VisaTap;

impl Pairing for VisaTap {
    fn id(&self) -> &'static str {
        "card/visa-tap"
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

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        card::document(chosen)?;
        Ok(Box::new(Signatures { h: **chosen.h }))
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let inputs = members(payment, "signatureInput", SIGNATURE_INPUT_MALFORMED)?;
        let inputs: HashMap<_, _> =
            inputs.iter().map(|(label, member)| Some((label, Input::read(member)?))).collect::<Option<_>>().ok_or(SIGNATURE_INPUT_MALFORMED)?;
        let signatures = members(payment, "signature", TAP_SIGNATURE_MALFORMED)?;
        if !signatures.values().all(is_signature) {
            return Err(TAP_SIGNATURE_MALFORMED);
        }

        let payers: Vec<_> = inputs.iter().filter(|(_, input)| input.is_payer).collect();
        if payers.is_empty() {
            return Err(NO_PAYER_SIGNATURE);
        }
        if !payers.iter().all(|(_, input)| input.covers_hash) {
            return Err(HASH_NOT_COVERED);
        }
        if !payers.iter().any(|(label, _)| signatures.contains_key(**label)) {
            return Err(SIGNATURE_MISSING);
        }
        line(payment.get("lcpHash"))
    }
}

struct Signatures {
    h: Hash,
}

impl Unsigned for Signatures {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(Some(Object::new().with("kind", "tap-field").with("field", FIELD).with("value", &self.h).with("component", FIELD).into()))
    }

    /// Takes the two fields of the agent's signatures, and the lines of the field that carries H.
    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let text = |name| answer.get(name).filter(|value| value.as_text().is_some_and(|text| text.utf16_len() > 0)).ok_or(SIGNATURE_MALFORMED);
        let lines = answer.get("lcpHash").filter(|lines| lines.as_array().is_some()).ok_or(SIGNATURE_MALFORMED)?;
        let signed = Object::new().with("signatureInput", text("signatureInput")?).with("signature", text("signature")?).with("lcpHash", lines);
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}

/// The dictionary in a member of a payment.
fn members(payment: &Value, name: &str, malformed: Refusal) -> Result<HashMap<String, Member>, Refusal> {
    let text = payment.get(name).and_then(Value::as_text).ok_or_else(|| malformed.clone())?;
    dictionary(text).map_err(|fault| match fault {
        Fault::Malformed => malformed,
        Fault::TooLarge => TOO_LARGE,
    })
}

/// What is asked of a `Signature-Input` (RFC 9421 section 4.1).
struct Input {
    /// Whether the signature's tag says that an agent pays.
    is_payer: bool,
    /// Whether the signature covers the field that carries H, as it stands.
    covers_hash: bool,
}

impl Input {
    /// Reads a list of components, which are strings. No parameter of a signature or a component is a byte sequence.
    fn read(member: &Member) -> Option<Self> {
        let Member::List(components, parameters) = member else { return None };
        let is_component = |item: &Item| matches!(item.bare, Bare::String(_));
        let mut values = components.iter().flat_map(|item| item.parameters.values()).chain(parameters.values());
        if !components.iter().all(is_component) || values.any(|value| matches!(value, Bare::Bytes(_))) {
            return None;
        }
        Some(Self {
            is_payer: parameters.get("tag") == Some(&Bare::String(PAYER_TAG.to_owned())),
            covers_hash: components.iter().any(|item| item.bare == Bare::String(FIELD.to_owned()) && item.parameters.is_empty()),
        })
    }
}

fn is_signature(member: &Member) -> bool {
    matches!(member, Member::Item(Item { bare: Bare::Bytes(_), .. }))
}

/// The hash in the one line of the field.
fn line(lines: Option<&Value>) -> Result<Hash, Refusal> {
    let line = match lines.and_then(Value::as_array).ok_or(FIELD_MALFORMED)? {
        [] => return Err(FIELD_MISSING),
        [line] => line.as_text().ok_or(FIELD_MALFORMED)?,
        _ => return Err(FIELD_REPEATED),
    };
    if line.utf16_len() > MAX_LINE {
        return Err(TOO_LARGE);
    }
    line.as_str().and_then(|line| Hash::parse(line.trim_matches([' ', '\t']))).ok_or(FIELD_MALFORMED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfirmedHash;

    const INPUT: &str = r#"a=("@path" "lcp-hash");tag="agent-payer-auth""#;
    const SIGNATURE: &str = "a=:AAAA:";

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn payment(input: impl Into<Value>, signature: impl Into<Value>, lines: impl Into<Value>) -> Value {
        Object::new().with("signatureInput", input).with("signature", signature).with("lcpHash", lines).into()
    }

    fn bound(payment: &Value) -> String {
        PAIRING.bound(payment, None).map_or_else(|refusal| refusal.code().to_owned(), |h| h.to_string())
    }

    fn with_input(input: &str) -> String {
        bound(&payment(input, "a=:AAAA:, b=:AAAA:", [(&h()).into()]))
    }

    fn with_lines(lines: impl Into<Value>) -> String {
        bound(&payment(INPUT, SIGNATURE, lines))
    }

    #[test]
    fn the_agent_adds_the_field_and_covers_it() {
        let choice = Object::new().with("doc", Value::Null);
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        let unsigned = PAIRING.build(&chosen).unwrap();
        let request = Object::new().with("kind", "tap-field").with("field", "lcp-hash").with("value", &h()).with("component", "lcp-hash");
        assert_eq!(unsigned.request(), Ok(Some(request.into())));
        let signed = payment(INPUT, SIGNATURE, [(&h()).into()]);
        let answer = signed.as_object().unwrap().clone();
        assert_eq!(unsigned.complete(&answer.clone().with("more", 1u32).into()), Ok(Completed::Payment { signed: signed.clone(), landed: None }));
        for name in ["signatureInput", "signature", "lcpHash"] {
            for value in [Value::Null, "".into(), 5u32.into(), Object::new().into()] {
                assert_eq!(unsigned.complete(&answer.clone().with(name, value).into()), Err(SIGNATURE_MALFORMED), "{name}");
            }
            assert_eq!(unsigned.complete(&answer.without(name).into()), Err(SIGNATURE_MALFORMED), "{name}");
        }
        assert_eq!(bound(&signed), h().to_string());
        let chosen = Choice { choice: &Object::new(), ..chosen };
        assert_eq!(PAIRING.build(&chosen).err().unwrap().code(), "card/choice-malformed");
    }

    #[test]
    fn every_payer_s_signature_covers_the_field() {
        for input in [
            r#"b=("lcp-hash");created=1;tag="agent-payer-auth""#,
            r#"x=("@path");tag="agent-browser-auth", b=("lcp-hash" "lcp-hash";sf);tag="agent-payer-auth""#,
            r#"z=("lcp-hash");tag="agent-payer-auth", b=("lcp-hash");tag="agent-payer-auth""#,
            r#"a=:AA:, a=("lcp-hash");tag="x";tag="agent-payer-auth""#,
        ] {
            assert_eq!(with_input(input), h().to_string(), "{input}");
        }
        for (input, code) in [
            ("", "card/tap-no-payer-signature"),
            (r#"a=("lcp-hash")"#, "card/tap-no-payer-signature"),
            (r#"a=("lcp-hash");tag=agent-payer-auth"#, "card/tap-no-payer-signature"),
            (r#"a=("lcp-hash";tag="agent-payer-auth")"#, "card/tap-no-payer-signature"),
            (r#"a=();tag="agent-payer-auth""#, "card/tap-hash-not-covered"),
            (r#"a=("lcp-hash";sf);tag="agent-payer-auth""#, "card/tap-hash-not-covered"),
            (r#"a=("LCP-Hash");tag="agent-payer-auth""#, "card/tap-hash-not-covered"),
            (r#"a=("lcp-hash");tag="agent-payer-auth", b=("@path");tag="agent-payer-auth""#, "card/tap-hash-not-covered"),
            (r#"z=("lcp-hash");tag="agent-payer-auth""#, "card/tap-signature-missing"),
            (r#"a=(lcp-hash);tag="agent-payer-auth""#, "card/tap-signature-input-malformed"),
            (r#"a=("lcp-hash");tag="agent-payer-auth";x=:AA:"#, "card/tap-signature-input-malformed"),
            (r#"a=("lcp-hash";x=:AA:);tag="agent-payer-auth""#, "card/tap-signature-input-malformed"),
            ("a", "card/tap-signature-input-malformed"),
            (&format!("{INPUT}, z=1"), "card/tap-signature-input-malformed"),
            (&" ".repeat(8193), "card/too-large"),
        ] {
            assert_eq!(with_input(input), code, "{input}");
        }
    }

    #[test]
    fn every_signature_is_a_byte_sequence() {
        let with_signature = |signature: Value| bound(&payment(INPUT, signature, [(&h()).into()]));
        for signature in ["a=::", "b=:AA:, a=:=:;p=:AA:"] {
            assert_eq!(with_signature(signature.into()), h().to_string(), "{signature}");
        }
        for signature in ["a", "a=1", "a=(:AA:)", "a=:AA:, b=x", "!", "a=:A-:"] {
            assert_eq!(with_signature(signature.into()), "card/tap-signature-malformed", "{signature}");
        }
        assert_eq!(with_signature(Value::Null), "card/tap-signature-malformed");
        assert_eq!(with_signature("".into()), "card/tap-signature-missing");
        assert_eq!(with_signature(vec!["a=::"; 17].join(",").into()), "card/too-large");
    }

    #[test]
    fn the_field_is_one_line() {
        for line in
            [h().to_string(), format!(" \t{}  ", h()), h().to_string().to_uppercase().replace("0X", "0x"), format!("{:<256}", h().to_string())]
        {
            assert_eq!(with_lines([line.as_str().into()]), h().to_string(), "{line}");
        }
        for line in [h().lcp_string(), String::new(), format!("{}\n", h()), format!("\u{A0}{}", h()), format!("\"{}\"", h()), "x".repeat(256)] {
            assert_eq!(with_lines([line.as_str().into()]), "card/tap-field-malformed", "{line}");
        }
        for (lines, code) in [
            (Value::Null, "card/tap-field-malformed"),
            ((&h()).into(), "card/tap-field-malformed"),
            ([Value::Null].into(), "card/tap-field-malformed"),
            (Vec::new().into(), "card/tap-field-missing"),
            ([Value::Null, Value::Null].into(), "card/tap-field-repeated"),
            (["x".repeat(257).into()].into(), "card/too-large"),
        ] {
            assert_eq!(with_lines(lines.clone()), code, "{lines:?}");
        }
    }

    #[test]
    fn the_first_fault_is_told() {
        for (payment, code) in [
            (Value::Null, "card/tap-signature-input-malformed"),
            (payment("!", "!", Value::Null), "card/tap-signature-input-malformed"),
            (payment(r#"a=("x")"#, "!", Value::Null), "card/tap-signature-malformed"),
            (payment(r#"a=("x")"#, "b=:AA:", Value::Null), "card/tap-no-payer-signature"),
            (payment(r#"a=("x");tag="agent-payer-auth""#, "b=:AA:", Value::Null), "card/tap-hash-not-covered"),
            (payment(INPUT, "b=:AA:", Value::Null), "card/tap-signature-missing"),
            (payment(INPUT, SIGNATURE, Value::Null), "card/tap-field-malformed"),
        ] {
            assert_eq!(bound(&payment), code);
        }
    }
}
