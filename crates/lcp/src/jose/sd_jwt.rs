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
        if resolver.disclosures.values().any(|disclosure| !disclosure.in_place) {
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
    /// Whether it was put in its place.
    in_place: bool,
}

impl Disclosure {
    /// Reads base64url of `[salt, name, value]` or `[salt, value]`.
    fn read(part: &str) -> Result<Self, SdJwtFault> {
        let bytes = encoding::from_base64url(part).ok_or(SdJwtFault::Malformed)?;
        let (name, value) = match &*array(&bytes)? {
            [Value::String(_), Value::String(name), value] => (Some(name.clone()), value.clone()),
            [Value::String(_), value] => (None, value.clone()),
            _ => return Err(SdJwtFault::Malformed),
        };
        Ok(Self { name, value, in_place: false })
    }
}

/// Puts disclosures in their places.
#[derive(Default)]
struct Resolver {
    /// By their digests.
    disclosures: HashMap<Text, Disclosure>,
    /// The digests of claims that were met. None is met twice, whether it is disclosed or not.
    of_claims: HashSet<Text>,
    /// The digests of elements that were met, none twice either.
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
            let is_free = name != "_sd" && name != "..." && !object.iter().any(|(taken, _)| *taken == name);
            if !is_free || !disclosed.insert(name.clone()) {
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

    /// The value of the disclosure of that digest, if it is disclosed.
    fn disclosed(&mut self, digest: &Text, depth: usize, nested: usize) -> Result<Option<Value>, SdJwtFault> {
        let Some(disclosure) = self.disclosures.get_mut(digest) else { return Ok(None) };
        disclosure.in_place = true;
        let value = disclosure.value.clone();
        self.value(&value, depth, deeper(nested, MAX_NESTED)?).map(Some)
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

/// SD-JWTs to test with.
#[cfg(test)]
pub(crate) mod sample {
    use super::{Object, Text, Value, digest, encoding, json};

    pub(crate) fn encoded(value: impl Into<Value>) -> String {
        encoding::base64url(json::write(&value.into()).as_bytes())
    }

    /// A compact JWS without a signature.
    pub(crate) fn jwt(header: Object, payload: Object) -> String {
        format!("{}.{}.", encoded(header), encoded(payload))
    }

    /// The disclosure of an element.
    pub(crate) fn element(value: impl Into<Value>) -> String {
        encoded(["salt".into(), value.into()])
    }

    /// The disclosure of a claim.
    pub(crate) fn claim(name: impl Into<Text>, value: impl Into<Value>) -> String {
        encoded(["salt".into(), Value::String(name.into()), value.into()])
    }

    /// What stands in the place of an element.
    pub(crate) fn place(disclosure: &str) -> Value {
        Object::new().with("...", digest(disclosure)).into()
    }

    /// The digests of claims, as `_sd` lists them.
    pub(crate) fn digests(disclosures: &[&str]) -> Vec<Value> {
        disclosures.iter().map(|disclosure| digest(disclosure).into()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::{
        sample::{claim, digests, element, encoded, jwt, place},
        *,
    };

    fn token(payload: Object, disclosures: &[&str]) -> String {
        let jwt = jwt(Object::new().with("alg", "ES256"), payload) + "~";
        disclosures.iter().fold(jwt, |text, disclosure| text + disclosure + "~")
    }

    fn read(payload: Object, disclosures: &[&str]) -> Result<Object, SdJwtFault> {
        SdJwt::read(&token(payload, disclosures), 128).map(|token| token.claims)
    }

    fn json(source: &str) -> Value {
        json::parse(source, 128).unwrap()
    }

    #[test]
    fn claims_and_elements_take_their_places() {
        let (inner, name, first, third) = (claim("inner", 1u32), claim("name", "Ada"), element(1u32), element(3u32));
        let outer = claim("outer", Object::new().with("_sd", digests(&[&inner])).with("more", 2u32));
        let payload = Object::new()
            .with("_sd", digests(&["decoy", &outer, &name, "another"]))
            .with("_sd_alg", "sha-256")
            .with("list", [place(&first), 2u32.into(), place("hidden"), place(&third)]);
        let expected = r#"{"list":[1,2,3],"name":"Ada","outer":{"inner":1,"more":2}}"#;
        for disclosures in [[&inner, &name, &outer, &first, &third], [&third, &outer, &first, &inner, &name]] {
            let claims = read(payload.clone(), &disclosures.map(String::as_str)).unwrap();
            assert_eq!(json::write_sorted(&claims.into()), expected);
        }
        let claims = read(payload.clone(), &[&name]).unwrap();
        assert_eq!(json::write_sorted(&claims.into()), r#"{"list":[2],"name":"Ada"}"#);
        // What is inside a claim that is not disclosed is referred to by nothing.
        assert_eq!(read(payload, &[&inner]), Err(SdJwtFault::Unreferenced));
    }

    #[test]
    fn the_signed_parts_are_kept() {
        let header = Object::new().with("alg", "ES256");
        let payload = Object::new().with("_sd", digests(&[&claim("a", 1u32)]));
        let text = format!("{}AAAA~{}~", jwt(header.clone(), payload.clone()), claim("a", 1u32));
        let token = SdJwt::read(&text, 1).unwrap();
        assert_eq!(token.signing_input, text.split('~').next().unwrap().trim_end_matches(".AAAA"));
        assert_eq!((token.header, token.payload, token.signature), (header, payload, vec![0; 3]));
    }

    #[test]
    fn a_key_binding_is_let_be_if_it_looks_like_a_token() {
        let text = token(Object::new(), &[]);
        for binding in ["", ".", "a.b", "e30.e30.AA", "..."] {
            assert!(SdJwt::read(&format!("{text}{binding}"), 0).is_ok(), "{binding}");
        }
        for binding in ["abc", "a b.c", ".=", "\n", "é.", "~"] {
            assert_eq!(SdJwt::read(&format!("{text}{binding}"), 9), Err(SdJwtFault::Malformed), "{binding}");
        }
        assert_eq!(SdJwt::read(&text[..text.len() - 1], 0), Err(SdJwtFault::Malformed));
    }

    #[test]
    fn a_disclosure_is_used_once_where_it_belongs() {
        let (a, b) = (claim("a", 1u32), element(1u32));
        let listed = |digests: Vec<Value>| Object::new().with("_sd", digests);
        let placed = |items: Vec<Value>| Object::new().with("list", items);
        let twice = |disclosure: &str| vec![digest(disclosure).into(); 2];
        let malformed = Err(SdJwtFault::Malformed);
        assert_eq!(read(listed(digests(&[&a])), &[&a, &a]), malformed);
        assert_eq!(read(listed(twice(&a)), &[&a]), malformed);
        assert_eq!(read(listed(twice("decoy")), &[]), malformed);
        assert_eq!(read(placed(vec![place("decoy"); 2]), &[]), malformed);
        assert_eq!(read(listed(digests(&[&a])).with("nested", listed(digests(&[&a]))), &[&a]), malformed);
        assert_eq!(read(placed(vec![place(&a)]), &[&a]), malformed);
        assert_eq!(read(listed(digests(&[&a])).with("list", [place(&a)]), &[&a]), malformed);
        assert_eq!(read(Object::new().with("nested", listed(digests(&[&a]))).with("list", [place(&a)]), &[&a]), malformed);
        assert_eq!(read(listed(digests(&[&a])).with("a", 2u32), &[&a]), malformed);
        let same_name = encoded(["other".into(), "a".into(), 2u32.into()]);
        assert_eq!(read(listed(digests(&[&a, &same_name])), &[&a, &same_name]), malformed);
        // The name of another claim that is not disclosed is free; so is a digest of the other kind.
        assert!(read(listed(digests(&[&a, &same_name])), &[&a]).is_ok());
        assert!(read(listed(digests(&[&b])).with("list", [place(&b)]), &[&b]).is_ok());
        assert_eq!(read(listed(digests(&[&b])), &[&b]), Err(SdJwtFault::Unreferenced));
        assert_eq!(read(Object::new(), &[&a]), Err(SdJwtFault::Unreferenced));
        assert_eq!(read(Object::new(), &[&claim("_sd", 1u32)]), Err(SdJwtFault::Unreferenced));
    }

    #[test]
    fn forms() {
        let malformed = Err(SdJwtFault::Malformed);
        for sd in ["null", "5", r#""x""#, "{}", "[1]", "[null]", r#"[["x"]]"#] {
            assert_eq!(read(Object::new().with("_sd", json(sd)), &[]), malformed, "{sd}");
        }
        for item in [r#"{"...":1}"#, r#"{"...":null}"#, r#"{"...":["x"]}"#] {
            assert_eq!(read(Object::new().with("list", [json(item)]), &[]), malformed, "{item}");
        }
        // In no array, or beside another member, it is a member like any other.
        let kept = json(r#"{"...":1,"list":[{"...":1,"a":2},{}],"nested":{"...":"x"}}"#);
        assert_eq!(read(kept.as_object().unwrap().clone(), &[]).map(Value::from), Ok(kept));
        for disclosure in ["{}", "null", "[]", r#"["s"]"#, "[1,2]", r#"["s",1,2]"#, r#"["s","a",1,2]"#, r#"["s","_sd",[]]"#, r#"["s","...","x"]"#] {
            let disclosure = encoded(json(disclosure));
            let payload = Object::new().with("_sd", digests(&[&disclosure])).with("list", [place(&disclosure)]);
            assert_eq!(read(payload, &[&disclosure]), malformed, "{disclosure}");
        }
        for text in ["WyJzIiwx", "WyJzIiwxXQ=", "WyJzIiwxXR", "WyJzIiwxXQ.", ""] {
            assert_eq!(read(Object::new(), &[text]), malformed, "{text}");
        }
        for alg in [json("null"), "sha-512".into(), "SHA-256".into()] {
            assert_eq!(read(Object::new().with("_sd_alg", alg), &["x"]), Err(SdJwtFault::HashUnsupported));
        }
        for text in ["", "~", "~~", "a.b~", "e30.e30~", "e30.W10.~", "W10.e30.~", "e30.e31.~", "e30.e30.é~"] {
            assert_eq!(SdJwt::read(text, 9).map(|token| token.claims), malformed, "{text}");
        }
    }

    #[test]
    fn is_bounded_in_number_and_depth() {
        let many: Vec<_> = (0..33).map(|n: u32| claim(n.to_string(), n)).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let payload = Object::new().with("_sd", digests(&many));
        assert!(SdJwt::read(&token(payload.clone(), &many), 33).is_ok());
        assert_eq!(SdJwt::read(&token(payload, &many), 32), Err(SdJwtFault::TooLarge));
        assert_eq!(SdJwt::read("x~y~y~", 1), Err(SdJwtFault::TooLarge), "counted before the JWT is read");

        // Each disclosed inside the next.
        let chain = |links: usize| {
            let mut disclosures: Vec<String> = Vec::new();
            for _ in 0..links {
                let value: Value = disclosures.last().map_or(1u32.into(), |last| Object::new().with("_sd", digests(&[last])).into());
                disclosures.push(claim("a", value));
            }
            let payload = Object::new().with("_sd", digests(&[disclosures.last().unwrap()]));
            read(payload, &disclosures.iter().map(String::as_str).collect::<Vec<_>>()).map(|_| ())
        };
        assert_eq!((chain(16), chain(17)), (Ok(()), Err(SdJwtFault::TooLarge)));

        let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| [inner].into());
        // The payload and the list around the element are levels too.
        let disclosed = |levels: usize| {
            let element = element(nested(levels));
            read(Object::new().with("list", [place(&element)]), &[&element]).map(|_| ())
        };
        assert_eq!((disclosed(62), disclosed(63)), (Ok(()), Err(SdJwtFault::TooLarge)));
        assert_eq!(read(Object::new().with("a", nested(64)), &[]), Err(SdJwtFault::TooLarge));
        assert_eq!(read(Object::new(), &[&element(nested(64))]), Err(SdJwtFault::TooLarge));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from)
        ];
        scalar.prop_recursive(4, 24, 4, |inner| {
            let members = vec(("[a-z\\PC]{1,3}", inner.clone()), 0..4);
            let object = members.prop_map(|members| members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)));
            prop_oneof![vec(inner, 0..4).prop_map(Value::from), object.prop_map(Value::from)]
        })
    }

    /// Hides members and elements, as the bits say.
    fn hide(value: &Value, hidden: &mut dyn Iterator<Item = bool>, disclosures: &mut Vec<String>) -> Value {
        match value {
            Value::Array(items) => {
                let mut places = Vec::new();
                for item in items.iter() {
                    let item = hide(item, hidden, disclosures);
                    if hidden.next() == Some(true) {
                        // Its number is its salt: no two are alike.
                        disclosures.push(encoded([disclosures.len().to_string().into(), item]));
                        places.push(place(disclosures.last().unwrap()));
                    } else {
                        places.push(item);
                    }
                }
                places.into()
            }
            Value::Object(members) => {
                let (mut shown, mut listed) = (Object::new(), Vec::new());
                for (name, value) in members.iter() {
                    let value = hide(value, hidden, disclosures);
                    if hidden.next() == Some(true) {
                        disclosures.push(encoded([disclosures.len().to_string().into(), Value::String(name.clone()), value]));
                        listed.push(digest(disclosures.last().unwrap()).into());
                    } else {
                        shown.set(name.clone(), value);
                    }
                }
                if listed.is_empty() { shown } else { shown.with("_sd", listed) }.into()
            }
            scalar => scalar.clone(),
        }
    }

    proptest! {
        #[test]
        fn what_is_hidden_and_disclosed_is_read_back(value in any_json(), bits in vec(any::<bool>(), 1..16), shift: prop::sample::Index) {
            let claims = Object::new().with("claims", value);
            let mut disclosures = Vec::new();
            let payload = hide(&claims.clone().into(), &mut bits.into_iter().cycle(), &mut disclosures);
            let mut shown: Vec<_> = disclosures.iter().map(String::as_str).collect();
            if !shown.is_empty() {
                let places = shift.index(shown.len());
                shown.rotate_left(places);
            }
            let back = read(payload.as_object().unwrap().clone(), &shown).unwrap();
            prop_assert!(json::same(&back.into(), &claims.into()));
        }

        #[test]
        fn any_text_is_judged(text in "[A-Za-z0-9._~-]{0,40}", disclosures in vec("(W|eyJ)[A-Za-z0-9_-]{0,12}", 0..3), payload in "\\PC{0,20}") {
            let _ = SdJwt::read(&text, 2);
            let jwt = format!("e30.{}.~{}~", encoding::base64url(payload.as_bytes()), disclosures.join("~"));
            let _ = SdJwt::read(&jwt, 2);
        }
    }
}
