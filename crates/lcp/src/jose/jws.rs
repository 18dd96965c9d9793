use std::fmt;

use super::{Compact, PublicKey, SigningFailed, SigningKey, signature_text};
use crate::{Object, Value, encoding, json};

/// The longest JWS that is read, in bytes.
pub const MAX_JWS: usize = 64 * 1024;

/// How deep a header may nest: members of objects of members.
const HEADER_DEPTH: usize = 8;

/// Headers by which a token would say how it is to be read or bring its own key. None is obeyed, so none is taken.
const REFUSED: [&str; 8] = ["crit", "b64", "jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256"];

/// A signature algorithm, by the name that `alg` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alg {
    /// `EdDSA` (RFC 8037), here always with Ed25519.
    EdDsa,
    /// `Ed25519` (RFC 9864).
    Ed25519,
}

impl Alg {
    /// The value of `alg`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Ed25519 => "Ed25519",
        }
    }
}

/// What a verifier asks of a header.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The algorithms it takes.
    pub algs: &'a [Alg],
    /// The exact `typ`, by which one kind of token cannot stand in for another.
    pub typ: &'a str,
}

/// What a token holds whose signature verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The protected header.
    pub header: Object,
    /// The name of the key that signed.
    pub kid: String,
    /// The payload's bytes.
    pub payload: Vec<u8>,
}

/// Why a token does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwsError {
    /// Longer than [`MAX_JWS`].
    TooLong,
    /// Not three parts of canonical base64url with a signature of 64 bytes.
    NotCompact,
    /// The header is not a JSON object.
    HeaderUnreadable,
    /// A header that is never obeyed.
    HeaderRefused(&'static str),
    /// `alg` is missing or none that the caller takes.
    AlgNotAllowed,
    /// `typ` is missing or not the one that the caller expects.
    OtherType,
    /// `kid` is missing or names no key the caller has.
    UnknownKey,
    /// The key did not make this signature over this header and payload.
    BadSignature,
}

/// A compact JWS of that type over the payload, with `alg` `EdDSA` and the key's thumbprint as `kid`.
pub fn sign(typ: &str, payload: &[u8], key: &dyn SigningKey) -> Result<String, SigningFailed> {
    let header = Object::new().with("alg", Alg::EdDsa.as_str()).with("kid", key.public().thumbprint()).with("typ", typ);
    let input = format!("{}.{}", encoding::base64url(json::write(&header.into()).as_bytes()), encoding::base64url(payload));
    let signature = key.sign(input.as_bytes())?;
    Ok(format!("{input}.{}", signature_text(&signature)))
}

/// Verifies a compact JWS; `key_of` gives the key of a `kid`.
///
/// ```
/// use lcp::jose::{Alg, Ed25519Key, Expected, JwsError, SigningKey, sign, verify};
/// let key = Ed25519Key::from_seed(&[1; 32]);
/// let token = sign("example+jwt", b"{}", &key).unwrap();
/// let expected = Expected { algs: &[Alg::EdDsa], typ: "example+jwt" };
/// assert_eq!(verify(&token, &expected, |_| Some(key.public())).unwrap().payload, b"{}");
/// assert_eq!(verify(&token, &Expected { typ: "other+jwt", ..expected }, |_| Some(key.public())), Err(JwsError::OtherType));
/// ```
pub fn verify(token: &str, expected: &Expected<'_>, key_of: impl FnOnce(&str) -> Option<PublicKey>) -> Result<Verified, JwsError> {
    if token.len() > MAX_JWS {
        return Err(JwsError::TooLong);
    }
    let compact = Compact::read(token).ok_or(JwsError::NotCompact)?;
    let signature = compact.signature.try_into().map_err(|_| JwsError::NotCompact)?;

    let header = json::parse_bytes(&compact.header, HEADER_DEPTH).map_err(|_| JwsError::HeaderUnreadable)?;
    let header = header.as_object().ok_or(JwsError::HeaderUnreadable)?;
    if let Some(name) = REFUSED.into_iter().find(|name| header.has(name)) {
        return Err(JwsError::HeaderRefused(name));
    }
    let text = |name| header.get(name).and_then(Value::as_str);
    if !expected.algs.iter().any(|alg| text("alg") == Some(alg.as_str())) {
        return Err(JwsError::AlgNotAllowed);
    }
    if text("typ") != Some(expected.typ) {
        return Err(JwsError::OtherType);
    }
    let kid = text("kid").ok_or(JwsError::UnknownKey)?;
    let key = key_of(kid).ok_or(JwsError::UnknownKey)?;
    if !key.verifies(compact.signing_input.as_bytes(), &signature) {
        return Err(JwsError::BadSignature);
    }
    Ok(Verified { header: header.clone(), kid: kid.to_owned(), payload: compact.payload })
}

impl JwsError {
    /// A stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooLong => "jws_too_long",
            Self::NotCompact => "jws_not_compact",
            Self::HeaderUnreadable => "jws_header_unreadable",
            Self::HeaderRefused(_) => "jws_header_refused",
            Self::AlgNotAllowed => "jws_alg_not_allowed",
            Self::OtherType => "jws_other_type",
            Self::UnknownKey => "jws_unknown_key",
            Self::BadSignature => "jws_bad_signature",
        }
    }
}

impl fmt::Display for JwsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the token is longer than {MAX_JWS} bytes"),
            Self::NotCompact => f.write_str("the token is not a compact JWS: header, payload and signature in unpadded base64url"),
            Self::HeaderUnreadable => f.write_str("the token's header is not a JSON object"),
            Self::HeaderRefused(name) => write!(f, "the token's header holds {name}, which is not taken from a token"),
            Self::AlgNotAllowed => f.write_str("the token's alg is not one that is taken here"),
            Self::OtherType => f.write_str("the token's typ says that it is another kind of token"),
            Self::UnknownKey => f.write_str("the token's kid names no key that is known here"),
            Self::BadSignature => f.write_str("the token's signature is not its key's over this header and payload"),
        }
    }
}

impl std::error::Error for JwsError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jose::Ed25519Key;

    const BOTH: Expected<'_> = Expected { algs: &[Alg::EdDsa, Alg::Ed25519], typ: "t" };

    fn key() -> Ed25519Key {
        Ed25519Key::from_seed(&[3; 32])
    }

    /// A token whose header is this text, truly signed.
    fn token(header: &str) -> String {
        let input = format!("{}.{}", encoding::base64url(header.as_bytes()), encoding::base64url(b"payload"));
        format!("{input}.{}", signature_text(&key().sign(input.as_bytes()).unwrap()))
    }

    fn judge(token: &str) -> Result<Verified, JwsError> {
        verify(token, &BOTH, |kid| (kid == "k").then(|| key().public()))
    }

    #[test]
    fn signs_as_rfc_8037_appendix_a_4() {
        let seed = encoding::from_base64url("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let key = Ed25519Key::from_seed(&seed.try_into().unwrap());
        let signature = key.sign(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc").unwrap();
        assert_eq!(signature_text(&signature), "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
    }

    #[test]
    fn the_header_decides() {
        assert_eq!(judge(&token(r#"{"alg":"Ed25519","typ":"t","kid":"k","more":1}"#)).unwrap().payload, b"payload");
        for (header, error) in [
            (r#"{"alg":"none","typ":"t","kid":"k"}"#, JwsError::AlgNotAllowed),
            (r#"{"alg":"eddsa","typ":"t","kid":"k"}"#, JwsError::AlgNotAllowed),
            (r#"{"alg":["EdDSA"],"typ":"t","kid":"k"}"#, JwsError::AlgNotAllowed),
            (r#"{"typ":"t","kid":"k"}"#, JwsError::AlgNotAllowed),
            (r#"{"alg":"EdDSA","kid":"k"}"#, JwsError::OtherType),
            (r#"{"alg":"EdDSA","typ":"T","kid":"k"}"#, JwsError::OtherType),
            (r#"{"alg":"EdDSA","typ":"t"}"#, JwsError::UnknownKey),
            (r#"{"alg":"EdDSA","typ":"t","kid":"K"}"#, JwsError::UnknownKey),
            (r#"{"alg":"EdDSA","typ":"t","kid":"k","crit":[]}"#, JwsError::HeaderRefused("crit")),
            (r#"{"alg":"EdDSA","typ":"t","kid":"k","b64":true}"#, JwsError::HeaderRefused("b64")),
            (r#"{"alg":"EdDSA","typ":"t","kid":"k","jwk":null}"#, JwsError::HeaderRefused("jwk")),
            (r#"{"alg":"EdDSA","typ":"t","kid":"k","x5t#S256":""}"#, JwsError::HeaderRefused("x5t#S256")),
            (r#"["EdDSA"]"#, JwsError::HeaderUnreadable),
            ("", JwsError::HeaderUnreadable),
        ] {
            assert_eq!(judge(&token(header)), Err(error), "{header}");
        }
    }

    #[test]
    fn the_last_of_two_algs_is_the_one_that_counts() {
        assert_eq!(judge(&token(r#"{"alg":"EdDSA","alg":"none","typ":"t","kid":"k"}"#)), Err(JwsError::AlgNotAllowed));
    }

    #[test]
    fn only_the_caller_s_algs_are_taken() {
        let old = Expected { algs: &[Alg::EdDsa], ..BOTH };
        let token = token(r#"{"alg":"Ed25519","typ":"t","kid":"k"}"#);
        assert_eq!(verify(&token, &old, |_| Some(key().public())), Err(JwsError::AlgNotAllowed));
    }

    #[test]
    fn one_spelling_is_read() {
        let good = token(r#"{"alg":"EdDSA","typ":"t","kid":"k"}"#);
        let parts: Vec<_> = good.split('.').collect();
        assert!(judge(&good).is_ok());
        for bad in [
            format!("{good}="),
            format!("{good}."),
            format!("{good}.{}", parts[2]),
            format!(" {good}"),
            format!("{}.{}", parts[0], parts[1]),
            format!("{}..{}", parts[0], parts[2]),
            // The payload's 7 bytes leave four bits unused in its last letter.
            format!("{}.{}R.{}", parts[0], &parts[1][..parts[1].len() - 1], parts[2]),
            String::new(),
            "..".into(),
        ] {
            assert!(judge(&bad).is_err(), "{bad}");
        }
        assert_eq!(judge(&format!("{}.{}.{}", parts[0], parts[1], &parts[2][1..])), Err(JwsError::NotCompact));
        assert_eq!(judge(&"a".repeat(MAX_JWS + 1)), Err(JwsError::TooLong));
    }

    proptest! {
        #[test]
        fn what_is_signed_verifies_and_what_is_changed_does_not(payload: Vec<u8>, place: prop::sample::Index, other: u8) {
            let token = sign("t", &payload, &key()).unwrap();
            let thumbprint = key().public().thumbprint();
            let judge = |token: &str| verify(token, &BOTH, |kid| (kid == thumbprint).then(|| key().public()));
            prop_assert_eq!(judge(&token).unwrap().payload, payload);
            let mut changed = token.clone().into_bytes();
            let place = place.index(changed.len());
            changed[place] = other & 0x7F;
            let changed = String::from_utf8(changed).unwrap();
            prop_assert_eq!(judge(&changed).is_ok(), changed == token);
        }
    }
}
