//! SD-JWT (RFC 9901): a JWT whose claims its holder discloses one by one. The claims are read as the RFC's section 7.1 says,
//! but for the signature and the times, which are the verifier's business.

use std::collections::{HashMap, HashSet};

use super::{
    Compact, TextFault,
    compact::{array, object},
};
use crate::{Hash, Object, Text, Value, encoding, json};

/// How many disclosures may stand inside one another.
const MAX_NESTED: usize = 16;

/// An SD-JWT, read but not verified.
#[derive(Clone, Debug, PartialEq)]
pub struct SdJwt<'a> {
    /// What the issuer's signature is over.
    pub signing_input: &'a str,
    /// The issuer's signature, as its bytes.
    pub signature: Vec<u8>,
    /// The JWT's header.
    pub header: Object,
    /// The JWT's payload, as signed.
    pub payload: Object,
    /// The payload with what is disclosed in its place.
    pub claims: Object,
}

/// Why a text is no SD-JWT that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdJwtFault {
    /// Not of the form, or a disclosure that must not stand where it is referred to.
    Malformed,
    /// Too many disclosures, or nested too deep.
    TooLarge,
    /// Digests by another hash than SHA-256.
    HashUnsupported,
    /// A disclosure to which nothing refers.
    Unreferenced,
}

/// The name of a text in `_sd`, `sd_hash` and `checkout_hash`: its SHA-256 as unpadded base64url, 43 characters.
pub fn digest(text: &str) -> String {
    encoding::base64url(Hash::of(text.as_bytes()).bytes())
}

impl<'a> SdJwt<'a> {
    /// Reads `<JWT>~<disclosure>~...~<key binding>` with at most so many disclosures. The key binding is empty, or is let be
    /// if it looks like a token. Whoever calls bounds the length.
    pub fn read(text: &'a str, max_disclosures: usize) -> Result<Self, SdJwtFault> {
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')) {
            return Err(SdJwtFault::Malformed);
        }
        let (text, key_binding) = text.rsplit_once('~').ok_or(SdJwtFault::Malformed)?;
        if !key_binding.is_empty() && !key_binding.contains('.') {
            return Err(SdJwtFault::Malformed);
        }
        let mut parts = text.split('~');
        let jwt = parts.next().ok_or(SdJwtFault::Malformed)?;
        if parts.clone().count() > max_disclosures {
            return Err(SdJwtFault::TooLarge);
        }

        let jwt = Compact::read(jwt).ok_or(SdJwtFault::Malformed)?;
        let (header, payload) = match (object(&jwt.header), object(&jwt.payload)) {
            (Ok(header), Ok(payload)) => (header, payload),
            (Err(TextFault::Malformed), _) | (_, Err(TextFault::Malformed)) => return Err(SdJwtFault::Malformed),
            _ => return Err(SdJwtFault::TooLarge),
        };
        if payload.get("_sd_alg").is_some_and(|alg| alg.as_str() != Some("sha-256")) {
            return Err(SdJwtFault::HashUnsupported);
        }

        let mut resolver = Resolver::default();
        for part in parts {
            let disclosure = Disclosure::read(part)?;
            if resolver.disclosures.insert(digest(part).into(), disclosure).is_some() {
                return Err(SdJwtFault::Malformed);
            }
        }
        let mut claims = resolver.object(&payload, 0, 0)?;
        claims.remove("_sd_alg");
        if !resolver.disclosures.is_empty() {
            return Err(SdJwtFault::Unreferenced);
        }
        Ok(Self { signing_input: jwt.signing_input, signature: jwt.signature, header, payload, claims })
    }
}

impl From<TextFault> for SdJwtFault {
    fn from(fault: TextFault) -> Self {
        match fault {
            TextFault::Malformed => Self::Malformed,
            TextFault::TooDeep => Self::TooLarge,
        }
    }
}

/// A claim, or an element of an array.
struct Disclosure {
    /// The claim's name; `None` for an element.
    name: Option<Text>,
    value: Value,
}

impl Disclosure {
    /// Reads base64url of `[salt, name, value]` or `[salt, value]`.
    fn read(part: &str) -> Result<Self, SdJwtFault> {
        let bytes = encoding::from_base64url(part).ok_or(SdJwtFault::Malformed)?;
        match &*array(&bytes)? {
            [Value::String(_), Value::String(name), value] if name != "_sd" && name != "..." => {
                Ok(Self { name: Some(name.clone()), value: value.clone() })
            }
            [Value::String(_), value] => Ok(Self { name: None, value: value.clone() }),
            _ => Err(SdJwtFault::Malformed),
        }
    }
}

/// Puts disclosures in their places.
#[derive(Default)]
struct Resolver {
    /// By their digests; one that is put in its place is taken out.
    disclosures: HashMap<Text, Disclosure>,
    /// The digests met in `_sd`. None stands there twice, nor among those of elements, whether disclosed or not.
    of_claims: HashSet<Text>,
    /// The digests met in the places of elements.
    of_elements: HashSet<Text>,
}

impl Resolver {
    /// The value that stands inside so many arrays and objects and so many disclosures.
    fn value(&mut self, value: &Value, depth: usize, nested: usize) -> Result<Value, SdJwtFault> {
        match value {
            Value::Object(members) => self.object(members, depth, nested).map(Value::from),
            Value::Array(items) => self.array(items, depth, nested).map(Value::from),
            scalar => Ok(scalar.clone()),
        }
    }

    fn object(&mut self, object: &Object, depth: usize, nested: usize) -> Result<Object, SdJwtFault> {
        let inner = deeper(depth, json::MAX_DEPTH)?;
        let mut members = Vec::with_capacity(object.len());
        for (name, value) in object.iter().filter(|(name, _)| *name != "_sd") {
            members.push((name.clone(), self.value(value, inner, nested)?));
        }
        let Some(digests) = object.get("_sd") else { return Ok(Object::from_source(members)) };

        let mut disclosed = HashSet::new();
        for digest in digests.as_array().ok_or(SdJwtFault::Malformed)? {
            let digest = digest.as_text().filter(|digest| self.of_claims.insert((*digest).clone())).ok_or(SdJwtFault::Malformed)?;
            // The digest of an element says nothing here, as a decoy says nothing.
            let Some(name) = self.disclosures.get(digest).and_then(|disclosure| disclosure.name.clone()) else { continue };
            if object.iter().any(|(taken, _)| *taken == name) || !disclosed.insert(name.clone()) {
                return Err(SdJwtFault::Malformed);
            }
            let value = self.disclosed(digest, inner, nested)?;
            members.extend(value.map(|value| (name, value)));
        }
        Ok(Object::from_source(members))
    }

    fn array(&mut self, items: &[Value], depth: usize, nested: usize) -> Result<Vec<Value>, SdJwtFault> {
        let inner = deeper(depth, json::MAX_DEPTH)?;
        let mut resolved = Vec::with_capacity(items.len());
        for item in items {
            let Some(digest) = placeholder(item) else {
                resolved.push(self.value(item, inner, nested)?);
                continue;
            };
            let digest = digest.as_text().filter(|digest| self.of_elements.insert((*digest).clone())).ok_or(SdJwtFault::Malformed)?;
            if self.disclosures.get(digest).is_some_and(|disclosure| disclosure.name.is_some()) {
                return Err(SdJwtFault::Malformed);
            }
            // An element that is not disclosed is not there.
            resolved.extend(self.disclosed(digest, inner, nested)?);
        }
        Ok(resolved)
    }

    /// The value of the disclosure of that digest, if there is one left.
    fn disclosed(&mut self, digest: &Text, depth: usize, nested: usize) -> Result<Option<Value>, SdJwtFault> {
        let Some(disclosure) = self.disclosures.remove(digest) else { return Ok(None) };
        self.value(&disclosure.value, depth, deeper(nested, MAX_NESTED)?).map(Some)
    }
}

fn deeper(depth: usize, limit: usize) -> Result<usize, SdJwtFault> {
    if depth < limit { Ok(depth + 1) } else { Err(SdJwtFault::TooLarge) }
}

/// The digest of an element that may be disclosed: the element's place holds `{"...": digest}` and nothing beside it.
fn placeholder(item: &Value) -> Option<&Value> {
    let members = item.as_object().filter(|members| members.len() == 1)?;
    members.get("...")
}
