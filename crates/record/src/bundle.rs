use std::fmt;

use lcp::{
    Hash, Object, Value, encoding,
    jose::{Jwk, Jwks},
    json,
};

use crate::{FORMAT, MAX_PARENTS, Sealed, digest_from_text, digest_text, time_from_text, time_text};

/// The longest bundle that is read, in bytes.
pub const MAX_BUNDLE: usize = 16 * 1024 * 1024;

/// The most children, evidence or receipts that a bundle holds.
const MAX_ITEMS: usize = 256;

/// The most keys that a bundle holds.
const MAX_BUNDLE_KEYS: usize = 64;

/// The most hashes of a proof: a log has at most 53 levels.
const MAX_PROOF: usize = 53;

const SEALED_MEMBERS: [&str; 14] =
    ["format", "kind", "sealed", "record", "jwks", "log", "previous", "parents", "children", "policy", "mandate", "evidence", "terms", "receipts"];

const OPEN_MEMBERS: [&str; 5] = ["format", "kind", "sealed", "seals_at", "record"];

/// A sealed record with all that its proof needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The record.
    pub record: Sealed,
    /// The keys that the bundle's signatures name. A reader trusts them only if it has them from elsewhere too.
    pub keys: Jwks,
    /// The proof that the record is in its organization's log.
    pub log: Option<Inclusion>,
    /// The record before it in its organization's chain.
    pub previous: Option<Sealed>,
    /// Records that it names as its parents.
    pub parents: Vec<Sealed>,
    /// Records that name it as a parent.
    pub children: Vec<Sealed>,
    /// The policy version it was decided under.
    pub policy: Option<Sealed>,
    /// The mandate's compact JWS.
    pub mandate: Option<String>,
    /// Evidence that it names by digest.
    pub evidence: Vec<Content>,
    /// The terms (the ATR) whose hash it names.
    pub terms: Option<Content>,
    /// Receipts that it names by digest.
    pub receipts: Vec<Content>,
}

/// Bytes that a record names by their SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The digest they are given under.
    pub digest: Hash,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A proof that a record is in its organization's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    /// The leaf's index, which is the record's `seq`.
    pub index: u64,
    /// The proof's hashes, from the leaf's side up.
    pub proof: Vec<Hash>,
    /// The signed checkpoint that the proof leads to.
    pub checkpoint: String,
}

/// What a bundle turned out to hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// A sealed record.
    Sealed(Box<Bundle>),
    /// A record that is still open: its text so far, and when it will be sealed at the latest, in Unix milliseconds.
    Open {
        /// The text so far.
        text: String,
        /// When it will be sealed at the latest, if that is known.
        seals_at: Option<i64>,
    },
}

/// Why a value is no bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer of what does not read.
    pub pointer: String,
    /// What it should be.
    pub sentence: &'static str,
}

/// The bundle of an open record: its text so far, and when it will be sealed at the latest, in Unix milliseconds.
pub fn open_bundle(text: &str, seals_at: Option<i64>) -> Object {
    Object::new()
        .with("format", FORMAT)
        .with("kind", "bundle")
        .with("sealed", false)
        .with_some("seals_at", seals_at.and_then(time_text))
        .with("record", Object::new().with("text", text))
}

impl Bundle {
    /// A bundle of the record alone, and the keys it needs.
    pub fn new(record: Sealed, keys: Jwks) -> Self {
        Self {
            record,
            keys,
            log: None,
            previous: None,
            parents: Vec::new(),
            children: Vec::new(),
            policy: None,
            mandate: None,
            evidence: Vec::new(),
            terms: None,
            receipts: Vec::new(),
        }
    }

    /// The bundle as it is handed out. Keys stand under their thumbprints and without limits in time, which a reader
    /// takes from the published set alone.
    pub fn to_json(&self) -> Object {
        let sealed = |records: &[Sealed]| records.iter().map(|record| record.to_json().into()).collect::<Vec<Value>>();
        let contents = |contents: &[Content]| contents.iter().map(|content| content.to_json().into()).collect::<Vec<Value>>();
        let terms = self.terms.as_ref().map(|atr| Object::new().with("hash", &atr.digest).with("atr", encoding::base64(&atr.bytes)));
        Object::new()
            .with("format", FORMAT)
            .with("kind", "bundle")
            .with("sealed", true)
            .with("record", self.record.to_json())
            .with("jwks", bare(&self.keys))
            .with_some("log", self.log.as_ref().map(Inclusion::to_json))
            .with_some("previous", self.previous.as_ref().map(Sealed::to_json))
            .with("parents", sealed(&self.parents))
            .with("children", sealed(&self.children))
            .with_some("policy", self.policy.as_ref().map(Sealed::to_json))
            .with_some("mandate", self.mandate.as_deref())
            .with("evidence", contents(&self.evidence))
            .with_some("terms", terms)
            .with("receipts", contents(&self.receipts))
    }
}

impl Contents {
    /// Reads a bundle: its shape and the encodings of its members. Whether it proves anything is [`crate::verify()`]'s
    /// to say. A member that the format does not name is a fault, since nothing would check it.
    pub fn read(value: &Value) -> Result<Self, Fault> {
        let bundle = Reader(value.as_object().ok_or(Fault::at("", "a bundle is a JSON object"))?);
        bundle.text("format").filter(|format| *format == FORMAT).ok_or(Fault::at("/format", "cannot verify: the format is not enruta/0.3"))?;
        bundle.text("kind").filter(|kind| *kind == "bundle").ok_or(Fault::at("/kind", "the kind is bundle"))?;
        match bundle.0.get("sealed") {
            Some(Value::Bool(true)) => bundle.sealed().map(Box::new).map(Self::Sealed),
            Some(Value::Bool(false)) => bundle.open(),
            _ => Err(Fault::at("/sealed", "true or false")),
        }
    }
}

/// A bundle's members.
struct Reader<'a>(&'a Object);

impl<'a> Reader<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn only(&self, known: &[&str]) -> Result<(), Fault> {
        match self.0.iter().find(|(name, _)| !known.iter().any(|known| *name == known)) {
            Some((name, _)) => Err(Fault { pointer: format!("/{}", name.as_str().unwrap_or("?")), sentence: "not a member of this format" }),
            None => Ok(()),
        }
    }

    fn open(&self) -> Result<Contents, Fault> {
        self.only(&OPEN_MEMBERS)?;
        let text = self.0.get("record").and_then(|record| record.get("text")).and_then(Value::as_str);
        let text = text.ok_or(Fault::at("/record", "an open record is an object with its text"))?.to_owned();
        let seals_at =
            self.0.get("seals_at").map(|at| at.as_str().and_then(time_from_text).ok_or(Fault::at("/seals_at", "a time in UTC with milliseconds")));
        Ok(Contents::Open { text, seals_at: seals_at.transpose()? })
    }

    fn sealed(&self) -> Result<Bundle, Fault> {
        self.only(&SEALED_MEMBERS)?;
        let mandate = match self.0.get("mandate") {
            None => None,
            Some(jws) => Some(jws.as_str().ok_or(Fault::at("/mandate", "a compact JWS"))?.to_owned()),
        };
        Ok(Bundle {
            record: self.one("record")?.ok_or(Fault::at("/record", SEALED))?,
            keys: self.keys()?,
            log: self.0.get("log").map(Inclusion::read).transpose()?,
            previous: self.one("previous")?,
            parents: self.list("parents", MAX_PARENTS, SEALED, Sealed::read)?,
            children: self.list("children", MAX_ITEMS, SEALED, Sealed::read)?,
            policy: self.one("policy")?,
            mandate,
            evidence: self.list("evidence", MAX_ITEMS, CONTENT, Content::read)?,
            terms: self.0.get("terms").map(|terms| Content::read_terms(terms).ok_or(Fault::at("/terms", TERMS))).transpose()?,
            receipts: self.list("receipts", MAX_ITEMS, CONTENT, Content::read)?,
        })
    }

    fn one(&self, name: &str) -> Result<Option<Sealed>, Fault> {
        self.0.get(name).map(|sealed| Sealed::read(sealed).ok_or(Fault::at(format!("/{name}"), SEALED))).transpose()
    }

    fn list<T>(&self, name: &str, most: usize, sentence: &'static str, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Fault> {
        let items = self.0.get(name).and_then(Value::as_array).filter(|items| items.len() <= most);
        let items = items.ok_or(Fault::at(format!("/{name}"), "an array, of no more items than the format allows"))?;
        items.iter().enumerate().map(|(place, item)| read(item).ok_or(Fault::at(format!("/{name}/{place}"), sentence))).collect()
    }

    /// Exactly the JWKs that this crate writes: anything more would stand in the bundle unchecked.
    fn keys(&self) -> Result<Jwks, Fault> {
        let set = self.0.get("jwks").ok_or(Fault::at("/jwks", KEYS))?;
        let keys = Jwks::read(set).ok().filter(|keys| keys.keys().len() <= MAX_BUNDLE_KEYS).ok_or(Fault::at("/jwks", KEYS))?;
        if json::same(set, &bare(&keys).into()) { Ok(keys) } else { Err(Fault::at("/jwks", KEYS)) }
    }
}

const SEALED: &str = "an object of text, hash, signature and kid";
const CONTENT: &str = "an object of digest and base64 content";
const TERMS: &str = "an object of hash and base64 atr";
const KEYS: &str = "a JWK set of public Ed25519 keys, each with kty, crv, x, kid, alg and use, its kid its thumbprint";
const LOG: &str = "an object of index, proof and checkpoint, where proof is an array of base64 hashes";

/// The keys under their thumbprints, without limits in time.
fn bare(keys: &Jwks) -> Object {
    Object::new().with("keys", keys.keys().iter().map(|jwk| Jwk::new(jwk.key).to_json().into()).collect::<Vec<Value>>())
}

impl Content {
    /// Bytes under their own digest.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { digest: Hash::of(&bytes), bytes }
    }

    pub(crate) fn is_sound(&self) -> bool {
        Hash::of(&self.bytes) == self.digest
    }

    fn to_json(&self) -> Object {
        Object::new().with("digest", digest_text(&self.digest)).with("content", encoding::base64(&self.bytes))
    }

    fn read(value: &Value) -> Option<Self> {
        let content =
            Self { digest: digest_from_text(value.get("digest")?.as_str()?)?, bytes: encoding::from_base64(value.get("content")?.as_str()?)? };
        (value.as_object()?.len() == 2).then_some(content)
    }

    /// Terms name their hash H as everything else of the terms does: `0x` and hex.
    fn read_terms(value: &Value) -> Option<Self> {
        let hash = value.get("hash")?.as_str()?;
        let terms = Self { digest: Hash::parse(hash)?, bytes: encoding::from_base64(value.get("atr")?.as_str()?)? };
        (value.as_object()?.len() == 2 && terms.digest.to_string() == hash).then_some(terms)
    }
}

impl Inclusion {
    fn to_json(&self) -> Object {
        Object::new()
            .with("index", self.index)
            .with("proof", self.proof.iter().map(|hash| encoding::base64(hash.bytes()).into()).collect::<Vec<Value>>())
            .with("checkpoint", &*self.checkpoint)
    }

    fn read(value: &Value) -> Result<Self, Fault> {
        let read = || {
            let hash = |value: &Value| Some(Hash::from(<[u8; 32]>::try_from(encoding::from_base64(value.as_str()?)?).ok()?));
            let proof = value.get("proof")?.as_array().filter(|proof| proof.len() <= MAX_PROOF)?;
            (value.as_object()?.len() == 3).then_some(Self {
                index: value.get("index")?.as_safe_unsigned()?,
                proof: proof.iter().map(hash).collect::<Option<_>>()?,
                checkpoint: value.get("checkpoint")?.as_str()?.to_owned(),
            })
        };
        read().ok_or(Fault::at("/log", LOG))
    }
}

impl Fault {
    pub(crate) fn at(pointer: impl Into<String>, sentence: &'static str) -> Self {
        Self { pointer: pointer.into(), sentence }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.sentence)
    }
}

impl std::error::Error for Fault {}
