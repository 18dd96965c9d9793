//! The compact serialization of a JWS (RFC 7515 section 3.1), read without judging its signature.

use std::sync::Arc;

use crate::{Object, Value, encoding, json};

/// A compact JWS: three segments of canonical base64url, any of which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact<'a> {
    /// What the signature is over: header and payload as they are written, with the dot between them.
    pub signing_input: &'a str,
    /// The header's bytes.
    pub header: Vec<u8>,
    /// The payload's bytes.
    pub payload: Vec<u8>,
    /// The signature's bytes.
    pub signature: Vec<u8>,
}

impl<'a> Compact<'a> {
    /// Splits a token and decodes its segments.
    pub fn read(token: &'a str) -> Option<Self> {
        let (signing_input, signature) = token.rsplit_once('.')?;
        let (header, payload) = signing_input.split_once('.')?;
        Some(Self {
            signing_input,
            header: encoding::from_base64url(header)?,
            payload: encoding::from_base64url(payload)?,
            signature: encoding::from_base64url(signature)?,
        })
    }
}

/// Why a text of a token is not the JSON that it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// Not of the form.
    Malformed,
    /// Of the form, but nested deeper than [`json::MAX_DEPTH`].
    TooDeep,
}

/// The payload of a JWS, which must be a JSON object. Its header and its signature are not looked at, past their base64url.
///
/// ```
/// use lcp::jose::unverified_payload;
/// assert_eq!(unverified_payload(".e30.").unwrap().len(), 0);
/// assert!(unverified_payload("e30").is_err());
/// ```
pub fn unverified_payload(token: &str) -> Result<Object, TextFault> {
    object(&Compact::read(token).ok_or(TextFault::Malformed)?.payload)
}

/// The JSON object of a segment.
pub(super) fn object(bytes: &[u8]) -> Result<Object, TextFault> {
    match text(bytes, b'{')? {
        Value::Object(object) => Ok(Arc::unwrap_or_clone(object)),
        _ => Err(TextFault::Malformed),
    }
}

/// The JSON array of a disclosure.
pub(super) fn array(bytes: &[u8]) -> Result<Arc<[Value]>, TextFault> {
    match text(bytes, b'[')? {
        Value::Array(items) => Ok(items),
        _ => Err(TextFault::Malformed),
    }
}

/// A JSON text. One that nests too deep is of the form only if `opening` is its first byte behind white space.
fn text(bytes: &[u8], opening: u8) -> Result<Value, TextFault> {
    json::parse_bytes(bytes, json::MAX_DEPTH).map_err(|error| {
        let opens = bytes.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&opening);
        if error.is_too_deep() && opens { TextFault::TooDeep } else { TextFault::Malformed }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(payload: &str) -> String {
        format!("AA.{}.AAA", encoding::base64url(payload.as_bytes()))
    }

    #[test]
    fn three_canonical_segments() {
        let compact = Compact { signing_input: "AA.e30", header: vec![0], payload: b"{}".to_vec(), signature: vec![0, 0] };
        assert_eq!(Compact::read("AA.e30.AAA"), Some(compact));
        assert!(Compact::read("..").is_some());
        for other in
            ["", ".", "AA.e30", "AA.e30.AAA.", "AA.e30.AAA.AA", "A.e30.AAA", "AB.e30.AAA", "AA.e3+.AAA", "AA=.e30.AAA", " AA.e30.AAA", "ÄÄ.e30."]
        {
            assert_eq!(Compact::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_payload_is_an_object_of_bounded_depth() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(unverified_payload(&token("\t{\"a\":1,\"a\":2}\n")), Ok(Object::new().with("a", 2u32)));
        assert!(unverified_payload(&token(&nested(63))).is_ok());
        assert_eq!(unverified_payload(&token(&format!("\n {}", nested(64)))), Err(TextFault::TooDeep));
        let array = "[".repeat(65) + &"]".repeat(65);
        for other in ["", "[]", "{", "null", "\u{FEFF}{}", &array, &(nested(64) + ","), &nested(64).replace('}', "")] {
            assert_eq!(unverified_payload(&token(other)), Err(TextFault::Malformed), "{other}");
        }
    }
}
