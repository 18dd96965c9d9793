use std::{collections::HashSet, fmt};

use super::PublicKey;
use crate::{Object, Value, encoding};

/// The most keys a set may hold.
pub const MAX_KEYS: usize = 256;

/// Members that hold what only a key's owner may know (RFC 7518 section 6, RFC 7517 appendix A.3).
const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/// A public Ed25519 key as a set publishes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// The name it is published under.
    pub kid: String,
    /// The key.
    pub key: PublicKey,
    /// When its signatures count.
    pub validity: Validity,
}

/// When a key's signatures count: the parameters `nbf`, `exp` and `revoked` of `OpenID` Federation 1.0 section 8.7.2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// Not before this time, in seconds of the Unix epoch.
    pub not_before: Option<u64>,
    /// Not at or after this time, in seconds of the Unix epoch.
    pub expires: Option<u64>,
    /// That it was withdrawn.
    pub revoked: Option<Revocation>,
}

/// That a key was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// When, in seconds of the Unix epoch.
    pub at: u64,
    /// Whether another key merely took its place. For any other reason the key may be in other hands, and the times
    /// that its signatures claim are worth nothing.
    pub superseded: bool,
}

/// A set of public keys (RFC 7517 section 5). No two have one `kid`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jwks(Vec<Jwk>);

/// Why a value is no set of public keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwksError {
    /// Not an object with an array `keys` of objects.
    NotASet,
    /// More than [`MAX_KEYS`] keys.
    TooManyKeys,
    /// The key at this place holds a private or symmetric key. Whoever published it must withdraw it.
    PrivateKey(usize),
    /// The Ed25519 key at this place lacks the member, or the member does not read.
    BadMember(usize, &'static str),
    /// Two keys have this `kid`.
    DuplicateKid(String),
}

impl Jwk {
    /// A key under its own thumbprint, with no limit in time.
    pub fn new(key: PublicKey) -> Self {
        Self { kid: key.thumbprint(), key, validity: Validity::default() }
    }

    /// The key as a JWK.
    pub fn to_json(&self) -> Object {
        let revoked = self.validity.revoked.as_ref().map(|revoked| {
            let reason = if revoked.superseded { "superseded" } else { "compromised" };
            Object::new().with("revoked_at", revoked.at).with("reason", reason)
        });
        Object::new()
            .with("kty", "OKP")
            .with("crv", "Ed25519")
            .with("x", encoding::base64url(self.key.bytes()))
            .with("kid", &*self.kid)
            .with("alg", "EdDSA")
            .with("use", "sig")
            .with_some("nbf", self.validity.not_before)
            .with_some("exp", self.validity.expires)
            .with_some("revoked", revoked)
    }

    /// Reads the key at a place of a set; `None` if it is a key of another kind or for another use.
    fn read(place: usize, member: &Value) -> Result<Option<Self>, JwksError> {
        let jwk = member.as_object().ok_or(JwksError::NotASet)?;
        if PRIVATE.iter().any(|name| jwk.has(name)) {
            return Err(JwksError::PrivateKey(place));
        }
        let says = |name, allowed: &[&str]| jwk.get(name).is_none_or(|value| value.as_str().is_some_and(|text| allowed.contains(&text)));
        let ours = jwk.has("kty") && says("kty", &["OKP"]) && jwk.has("crv") && says("crv", &["Ed25519"]);
        if !(ours && says("use", &["sig"]) && says("alg", &["EdDSA", "Ed25519"])) {
            return Ok(None);
        }
        let bad = |name| JwksError::BadMember(place, name);
        let x = jwk.get("x").and_then(Value::as_str).filter(|x| x.len() == 43).and_then(encoding::from_base64url);
        let key = x.and_then(|x| PublicKey::from_bytes(&x.try_into().ok()?)).ok_or(bad("x"))?;
        let kid = jwk.get("kid").and_then(Value::as_str).filter(|kid| (1..=256).contains(&kid.len())).ok_or(bad("kid"))?;
        let seconds = |value: Option<&Value>, name| value.map(|value| value.as_safe_unsigned().ok_or(bad(name))).transpose();
        let revoked = match jwk.get("revoked") {
            None => None,
            Some(revoked) => {
                let at = revoked.get("revoked_at").and_then(Value::as_safe_unsigned).ok_or(bad("revoked"))?;
                Some(Revocation { at, superseded: revoked.get("reason").and_then(Value::as_str) == Some("superseded") })
            }
        };
        let validity = Validity { not_before: seconds(jwk.get("nbf"), "nbf")?, expires: seconds(jwk.get("exp"), "exp")?, revoked };
        Ok(Some(Self { kid: kid.to_owned(), key, validity }))
    }
}

impl Jwks {
    /// Reads a set's Ed25519 signature keys. Keys of other kinds are passed over; one private key refuses the set.
    ///
    /// ```
    /// use lcp::{json::parse, jose::{Jwks, JwksError}};
    /// let set = parse(r#"{"keys":[{"kty":"OKP","crv":"Ed25519","d":"x"}]}"#, 4).unwrap();
    /// assert_eq!(Jwks::read(&set), Err(JwksError::PrivateKey(0)));
    /// ```
    pub fn read(set: &Value) -> Result<Self, JwksError> {
        let members = set.get("keys").and_then(Value::as_array).ok_or(JwksError::NotASet)?;
        if members.len() > MAX_KEYS {
            return Err(JwksError::TooManyKeys);
        }
        let mut keys = Vec::new();
        for (place, member) in members.iter().enumerate() {
            keys.extend(Jwk::read(place, member)?);
        }
        Self::new(keys)
    }

    /// A set of these keys, no two of which may have one `kid`.
    pub fn new(keys: Vec<Jwk>) -> Result<Self, JwksError> {
        let mut seen = HashSet::new();
        match keys.iter().find(|jwk| !seen.insert(&jwk.kid)) {
            Some(jwk) => Err(JwksError::DuplicateKid(jwk.kid.clone())),
            None => Ok(Self(keys)),
        }
    }

    /// The key of that name.
    pub fn get(&self, kid: &str) -> Option<&Jwk> {
        self.0.iter().find(|jwk| jwk.kid == kid)
    }

    /// The keys, as they stand in the set.
    pub fn keys(&self) -> &[Jwk] {
        &self.0
    }

    /// The set as it is published.
    pub fn to_json(&self) -> Object {
        Object::new().with("keys", self.0.iter().map(|jwk| jwk.to_json().into()).collect::<Vec<Value>>())
    }
}

impl JwksError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotASet => "jwks_not_a_set",
            Self::TooManyKeys => "jwks_too_many_keys",
            Self::PrivateKey(_) => "jwks_private_key",
            Self::BadMember(..) => "jwks_bad_member",
            Self::DuplicateKid(_) => "jwks_duplicate_kid",
        }
    }
}

impl fmt::Display for JwksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASet => f.write_str("give a JWK set: an object whose member `keys` is an array of objects"),
            Self::TooManyKeys => write!(f, "give at most {MAX_KEYS} keys"),
            Self::PrivateKey(place) => write!(f, "/keys/{place} holds a private or symmetric key: publish only its public members, and replace it"),
            Self::BadMember(place, name) => {
                write!(f, "/keys/{place}/{name} is missing or does not read: give an Ed25519 public key as RFC 8037 writes it")
            }
            Self::DuplicateKid(kid) => write!(f, "two keys have the kid {kid:?}: give each its own"),
        }
    }
}

impl std::error::Error for JwksError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        jose::{Ed25519Key, SigningKey},
        json::parse,
    };

    /// The public key of RFC 8037 appendix A.2, with more members.
    fn set(more: &str) -> Value {
        let source = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"{more}}}]}}"#);
        parse(&source, 8).unwrap()
    }

    #[test]
    fn a_set_reads_as_written() {
        let key = Ed25519Key::from_seed(&[1; 32]).public();
        let validity = Validity { not_before: Some(1), expires: Some(9), revoked: Some(Revocation { at: 5, superseded: true }) };
        let jwks = Jwks::new(vec![Jwk::new(key), Jwk { kid: "b".into(), key, validity }]).unwrap();
        assert_eq!(Jwks::read(&jwks.to_json().into()), Ok(jwks.clone()));
        assert_eq!(jwks.get("b").unwrap().validity.expires, Some(9));
        assert_eq!(jwks.get("c"), None);
    }

    #[test]
    fn other_kinds_and_uses_are_passed_over() {
        assert_eq!(Jwks::read(&set("")).unwrap().keys().len(), 1);
        for more in [r#","use":"enc""#, r#","alg":"ECDH-ES""#, r#","kty":"EC""#, r#","crv":"X25519""#, r#","crv":null"#] {
            assert_eq!(Jwks::read(&set(more)).unwrap().keys().len(), 0, "{more}");
        }
    }

    #[test]
    fn no_private_key_of_any_kind_is_taken() {
        for more in [r#","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#, r#","d":null"#, r#","kty":"RSA","qi":"AQ""#, r#","kty":"oct","k":"AQ""#]
        {
            assert_eq!(Jwks::read(&set(more)), Err(JwksError::PrivateKey(0)), "{more}");
        }
    }

    #[test]
    fn what_does_not_read_is_named() {
        for (more, name) in [
            (r#","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp""#, "x"),
            (r#","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#, "x"),
            (r#","kid":"""#, "kid"),
            (r#","kid":1"#, "kid"),
            (r#","nbf":1.5"#, "nbf"),
            (r#","exp":"1""#, "exp"),
            (r#","revoked":true"#, "revoked"),
        ] {
            assert_eq!(Jwks::read(&set(more)), Err(JwksError::BadMember(0, name)), "{more}");
        }
        assert_eq!(Jwks::read(&Value::Null), Err(JwksError::NotASet));
        assert_eq!(Jwks::read(&parse(r#"{"keys":[1]}"#, 8).unwrap()), Err(JwksError::NotASet));
        let many = Object::new().with("keys", vec![Value::from(Object::new()); MAX_KEYS + 1]);
        assert_eq!(Jwks::read(&many.into()), Err(JwksError::TooManyKeys));
        let key = Jwk::new(Ed25519Key::from_seed(&[1; 32]).public());
        assert!(matches!(Jwks::new(vec![key.clone(), key]), Err(JwksError::DuplicateKid(_))));
    }
}
