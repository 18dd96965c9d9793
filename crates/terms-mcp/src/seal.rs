//! The macs over what must come back unchanged: a chosen payment, a channel's opening, a channel's hold.
//!
//! A mac is an HMAC-SHA-256 under a key of this process, over a tag for its kind and the value's JSON text with members
//! sorted. That text is the same for every order of members and, among values that were read from JSON text without an
//! overflowing number, different for different values; a value with such a number is none that was sealed.

use std::sync::OnceLock;

use hmac::{Hmac, KeyInit as _, Mac as _};
use lcp::{Object, Value, encoding, json};
use sha2::Sha256;

/// A value that does not bear its mac: another process made it, or it was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    Chosen,
    Opening,
    Hold,
}

impl Unverified {
    /// The decline, in its JSON form.
    pub(crate) fn to_json(self) -> Object {
        let (code, detail) = match self {
            Self::Chosen => (
                "chosen-unverified",
                "The chosen payment is not one this server process returned, unchanged. Pass back chosen exactly as atr_confirm returned it.",
            ),
            Self::Opening => {
                ("opening-unverified", "The opening is not one this server process returned, unchanged, with this landed receipt and mac.")
            }
            Self::Hold => {
                ("hold-unverified", "The hold is not one this server process returned, unchanged. Pass back the latest hold exactly as returned.")
            }
        };
        Object::new().with("decline", Object::new().with("code", code).with("detail", detail))
    }
}

const MAC: &str = "mac";

/// The chosen payment with its mac.
pub fn chosen(chosen: &Object) -> Object {
    sealed("chosen", chosen)
}

/// The hold with its mac.
pub fn hold(hold: &Object) -> Object {
    sealed("hold", hold)
}

/// The mac of a channel's opening, with the receipt that is returned beside it.
pub fn opening(pairing: &str, signed: &Value, landed: Option<&Value>) -> String {
    encoding::hex(&mac("opening", &opening_value(pairing, signed, landed)).finalize().into_bytes())
}

/// The chosen payment without its mac, if that verifies.
pub(crate) fn verified_chosen(chosen: &Object) -> Result<Object, Unverified> {
    verified("chosen", chosen).ok_or(Unverified::Chosen)
}

/// The hold without its mac, if that verifies.
pub(crate) fn verified_hold(hold: &Object) -> Result<Object, Unverified> {
    verified("hold", hold).ok_or(Unverified::Hold)
}

/// Whether a mac is that of this opening, with this receipt.
pub(crate) fn verify_opening(pairing: &str, signed: &Value, landed: Option<&Value>, mac: &Value) -> Result<(), Unverified> {
    if bears("opening", &opening_value(pairing, signed, landed), mac) { Ok(()) } else { Err(Unverified::Opening) }
}

fn opening_value(pairing: &str, signed: &Value, landed: Option<&Value>) -> Value {
    Object::new().with("pairing", pairing).with("signed", signed).with_some("landed", landed).into()
}

fn sealed(kind: &str, value: &Object) -> Object {
    let value = value.without(MAC);
    let mac = mac(kind, &value.clone().into()).finalize().into_bytes();
    value.with(MAC, encoding::hex(&mac))
}

fn verified(kind: &str, value: &Object) -> Option<Object> {
    let whole = value.without(MAC);
    bears(kind, &whole.clone().into(), value.get(MAC)?).then_some(whole)
}

/// Compares in constant time. A mac is `0x` and 64 lower-case hex digits.
fn bears(kind: &str, value: &Value, claimed: &Value) -> bool {
    let digits = claimed.as_str().and_then(|text| text.strip_prefix("0x")).filter(|digits| !digits.bytes().any(|b| b.is_ascii_uppercase()));
    let mut bytes = [0; 32];
    digits.and_then(|digits| encoding::hex_into(digits, &mut bytes)).is_some() && is_finite(value) && mac(kind, value).verify_slice(&bytes).is_ok()
}

/// Whether every number is finite: one that is not is written as null, so no value that crossed has one.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_finite(),
        Value::Array(items) => items.iter().all(is_finite),
        Value::Object(object) => object.iter().all(|(_, value)| is_finite(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn mac(kind: &str, value: &Value) -> Hmac<Sha256> {
    // As long as a block of the hash, so that it is used as it is.
    static KEY: OnceLock<[u8; 64]> = OnceLock::new();
    let key = KEY.get_or_init(|| {
        let mut key = [0; 64];
        // Without randomness there is no mac: the call fails, and nothing is sealed.
        getrandom::fill(&mut key).unwrap_or_else(|error| panic!("no random bytes for the mac key: {error}"));
        key
    });
    let mut mac = Hmac::<Sha256>::new(key.into());
    mac.update(kind.as_bytes());
    mac.update(&[0]);
    mac.update(json::write_sorted(value).as_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(source: &str) -> Object {
        json::parse(source, 100).unwrap().as_object().unwrap().clone()
    }

    const CHOSEN: &str = r#"{"pairing":"x","choice":{"b":[1,{"c":null}],"a":"\ud800"},"ref":"r"}"#;

    #[test]
    fn verifies_in_any_order_and_number_spelling() {
        let sealed = chosen(&object(CHOSEN));
        assert_eq!(verified_chosen(&sealed), Ok(object(CHOSEN)));
        let mac = sealed.get(MAC).unwrap().as_str().unwrap().to_owned();
        assert!(mac.len() == 66 && mac.starts_with("0x"));
        let reordered = format!(r#"{{"ref":"r","mac":"{mac}","choice":{{"a":"\ud800","b":[1.0,{{"c":null}}]}},"pairing":"x"}}"#);
        assert!(verified_chosen(&object(&reordered)).is_ok());
        assert_eq!(chosen(&sealed), sealed, "a mac is not sealed into a mac");
    }

    #[test]
    fn any_change_fails() {
        let mac = chosen(&object(CHOSEN)).get(MAC).cloned().unwrap();
        let changed = [
            r#"{"pairing":"y","choice":{"b":[1,{"c":null}],"a":"\ud800"},"ref":"r"}"#,
            r#"{"pairing":"x","choice":{"b":[1,{"c":null}],"a":"\ud801"},"ref":"r"}"#,
            r#"{"pairing":"x","choice":{"b":[1,{}],"a":"\ud800"},"ref":"r"}"#,
            r#"{"pairing":"x","choice":{"b":[1,{"c":1e400}],"a":"\ud800"},"ref":"r"}"#,
            r#"{"pairing":"x","choice":{"b":[1,{"c":null}],"a":"\ud800"}}"#,
            r#"{"pairing":"x","choice":{"b":[1,{"c":null}],"a":"\ud800"},"ref":"r","more":null}"#,
        ];
        for source in changed {
            assert_eq!(verified_chosen(&object(source).with(MAC, &mac)), Err(Unverified::Chosen), "{source}");
        }
        assert_eq!(verified_hold(&object(CHOSEN).with(MAC, mac)), Err(Unverified::Hold), "a kind is not another");
    }

    #[test]
    fn a_mac_has_one_spelling() {
        let sealed = chosen(&object(CHOSEN));
        let mac = sealed.get(MAC).unwrap().as_str().unwrap().to_owned();
        let other = [
            mac.to_uppercase(),
            mac.to_uppercase().replace("0X", "0x"),
            mac[2..].to_owned(),
            format!("{mac}00"),
            mac[..64].to_owned(),
            String::new(),
        ];
        let other = other.into_iter().map(Value::from).chain([Value::Null, Value::from(1u32)]);
        for mac in other {
            assert_eq!(verified_chosen(&sealed.clone().with(MAC, &mac)), Err(Unverified::Chosen), "{mac:?}");
        }
        assert_eq!(verified_chosen(&sealed.without(MAC)), Err(Unverified::Chosen));
    }

    #[test]
    fn an_infinity_is_sealed_as_the_null_it_is_written_as() {
        let sealed = chosen(&object(r#"{"choice":[1e400]}"#));
        assert!(verified_chosen(&sealed).is_err());
        let crossed = object(&json::write(&sealed.into()));
        assert_eq!(verified_chosen(&crossed), Ok(object(r#"{"choice":[null]}"#)));
    }

    #[test]
    fn an_opening_is_sealed_with_its_pairing_and_receipt() {
        let signed = Value::from(object(r#"{"payload":{}}"#));
        let landed = Value::from(object(r#"{"log":1}"#));
        let mac = Value::from(opening("p", &signed, Some(&landed)));
        assert_eq!(verify_opening("p", &signed, Some(&landed), &mac), Ok(()));
        for (pairing, signed, landed) in
            [("q", &signed, Some(&landed)), ("p", &landed, Some(&landed)), ("p", &signed, Some(&signed)), ("p", &signed, None)]
        {
            assert_eq!(verify_opening(pairing, signed, landed, &mac), Err(Unverified::Opening));
        }
    }
}
