use std::fmt;

use lcp::{
    Hash, Object, Value,
    jose::{SigningFailed, SigningKey},
};

use crate::{FORMAT, Kind, Sealed, Unfit, canonical, digest_from_text, digest_text, time_from_text, time_text};

/// The most records that a record may name as its parents.
pub const MAX_PARENTS: usize = 64;

/// The members that this crate writes; a caller's own may not have these names.
const OWN: [&str; 8] = ["format", "id", "kind", "org", "parents", "prev", "sealed_at", "seq"];

/// A record that is not sealed yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Record(Object);

/// Another record, by its id and the hash of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The record's id.
    pub id: String,
    /// The SHA-256 of its text.
    pub hash: Hash,
}

/// A record's place in its organization's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first: `seq` 0 and no `prev`.
    First,
    /// Behind the record of this `seq`, whose text has this hash.
    After {
        /// The `seq` of the record before it.
        seq: u64,
        /// The SHA-256 of that record's text, its `prev`.
        hash: Hash,
    },
}

/// What a sealed record says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// `rec_` and letters and digits.
    pub id: String,
    /// The organization, `org_` and letters and digits.
    pub org: String,
    /// What it tells of.
    pub kind: Kind,
    /// Its place in the chain.
    pub place: Place,
    /// The records it follows from.
    pub parents: Vec<Link>,
    /// When it was sealed by the sealer's clock, in Unix milliseconds.
    pub sealed_at: i64,
    /// All its members.
    pub members: Object,
}

/// Why a record cannot be made or sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The member `id` or `org` has not its prefix before 1 to 64 letters and digits.
    BadId(&'static str),
    /// A member of the caller's has a name that is the record's own.
    OwnMember(&'static str),
    /// More than [`MAX_PARENTS`] parents.
    TooManyParents,
    /// It has no text that may be signed.
    Unfit(Unfit),
    /// The chain is as long as a safe integer can count.
    ChainFull,
    /// The time is none of the years 0 to 9999.
    BadTime,
    /// The key did not sign.
    Signing(SigningFailed),
}

/// Why a canonical text is not a sealed record that is understood here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Another format.
    Format,
    /// A kind that is not known.
    Kind,
    /// This member is missing or does not read.
    Member(&'static str),
}

impl Record {
    /// A record of that kind, id and organization, following from these parents, with the caller's own members.
    pub fn new(kind: Kind, id: &str, org: &str, parents: &[Link], members: Object) -> Result<Self, RecordError> {
        for (name, value, prefix) in [("id", id, "rec_"), ("org", org, "org_")] {
            if !is_id(value, prefix) {
                return Err(RecordError::BadId(name));
            }
        }
        if let Some(name) = OWN.into_iter().find(|name| members.has(name)) {
            return Err(RecordError::OwnMember(name));
        }
        if parents.len() > MAX_PARENTS {
            return Err(RecordError::TooManyParents);
        }
        let parents: Vec<Value> = parents.iter().map(|link| link.to_json().into()).collect();
        Ok(Self(members.with("format", FORMAT).with("kind", kind.as_str()).with("id", id).with("org", org).with("parents", parents)))
    }

    /// The text of the open record: as it will be sealed, without `seq`, `prev` and `sealed_at`.
    pub fn text(&self) -> Result<String, Unfit> {
        canonical::text(&self.0)
    }

    /// Seals the record at its place in the chain. `sealed_at` is in Unix milliseconds and stands in the text.
    pub fn seal(&self, place: Place, sealed_at: i64, key: &dyn SigningKey) -> Result<Sealed, RecordError> {
        let prev = match place {
            Place::First => None,
            Place::After { hash, .. } => Some(digest_text(&hash)),
        };
        let body = self
            .0
            .clone()
            .with("seq", place.seq().ok_or(RecordError::ChainFull)?)
            .with_some("prev", prev)
            .with("sealed_at", time_text(sealed_at).ok_or(RecordError::BadTime)?);
        Sealed::sign(canonical::text(&body).map_err(RecordError::Unfit)?, key).map_err(RecordError::Signing)
    }
}

impl Place {
    /// The number of records before it; `None` past the safe integers.
    pub fn seq(self) -> Option<u64> {
        match self {
            Self::First => Some(0),
            Self::After { seq, .. } => seq.checked_add(1).filter(|seq| *seq < 1 << 53),
        }
    }
}

impl Link {
    /// As it stands in a record's `parents`.
    pub fn to_json(&self) -> Object {
        Object::new().with("id", &*self.id).with("hash", digest_text(&self.hash))
    }

    fn read(value: &Value) -> Option<Self> {
        let id = value.get("id")?.as_str().filter(|id| is_id(id, "rec_"))?;
        Some(Self { id: id.to_owned(), hash: digest_from_text(value.get("hash")?.as_str()?)? })
    }
}

impl Body {
    /// Reads the members of a sealed record's canonical object.
    pub(crate) fn of(members: &Object) -> Result<Self, Unreadable> {
        let text = |name| members.get(name).and_then(Value::as_str);
        if text("format") != Some(FORMAT) {
            return Err(Unreadable::Format);
        }
        let kind = text("kind").and_then(Kind::parse).ok_or(Unreadable::Kind)?;
        let id = |name, prefix| text(name).filter(|id| is_id(id, prefix)).map(str::to_owned).ok_or(Unreadable::Member(name));
        let parents = members.get("parents").and_then(Value::as_array).filter(|parents| parents.len() <= MAX_PARENTS);
        let parents = parents.and_then(|parents| parents.iter().map(Link::read).collect::<Option<_>>());
        let seq = members.get("seq").and_then(Value::as_safe_unsigned).ok_or(Unreadable::Member("seq"))?;
        let place = match (seq.checked_sub(1), members.get("prev")) {
            (None, None) => Some(Place::First),
            (Some(seq), Some(prev)) => prev.as_str().and_then(digest_from_text).map(|hash| Place::After { seq, hash }),
            _ => None,
        };
        Ok(Self {
            id: id("id", "rec_")?,
            org: id("org", "org_")?,
            kind,
            place: place.ok_or(Unreadable::Member("prev"))?,
            parents: parents.ok_or(Unreadable::Member("parents"))?,
            sealed_at: text("sealed_at").and_then(time_from_text).ok_or(Unreadable::Member("sealed_at"))?,
            members: members.clone(),
        })
    }

    /// Reads a sealed record's text; the signature is another matter.
    pub fn read(text: &str) -> Option<Self> {
        Self::of(&canonical::read(text).ok()?).ok()
    }

    /// The number of records before it in the chain.
    pub fn seq(&self) -> u64 {
        match self.place {
            Place::First => 0,
            Place::After { seq, .. } => seq.saturating_add(1),
        }
    }
}

fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| (1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadId(name) => write!(f, "the record's {name} is its prefix and 1 to 64 letters and digits"),
            Self::OwnMember(name) => write!(f, "{name} is the record's own member: give yours another name"),
            Self::TooManyParents => write!(f, "a record has at most {MAX_PARENTS} parents"),
            Self::Unfit(unfit) => unfit.fmt(f),
            Self::ChainFull => f.write_str("the chain is full"),
            Self::BadTime => f.write_str("the time of sealing is in the years 0 to 9999"),
            Self::Signing(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format => write!(f, "cannot verify: the format is not {FORMAT}"),
            Self::Kind => f.write_str("cannot verify: the kind of record is not known here"),
            Self::Member(name) => write!(f, "cannot verify: the record's {name} is missing or does not read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use lcp::jose::Ed25519Key;

    use super::*;

    const AT: i64 = 1_796_040_000_000;

    fn key() -> Ed25519Key {
        Ed25519Key::from_seed(&[1; 32])
    }

    fn record(members: Object) -> Result<Record, RecordError> {
        Record::new(Kind::Payment, "rec_1", "org_1", &[], members)
    }

    #[test]
    fn the_text_is_the_one_the_page_shows() {
        let parent = Link { id: "rec_0".into(), hash: Hash::of(b"abc") };
        let record = Record::new(Kind::Pause, "rec_1", "org_1", &[parent], Object::new().with("agent_id", "agt_1")).unwrap();
        let abc = digest_text(&Hash::of(b"abc"));
        let head = format!(
            r#"{{"agent_id":"agt_1","format":"enruta/0.3","id":"rec_1","kind":"pause","org":"org_1","parents":[{{"hash":"{abc}","id":"rec_0"}}]"#
        );
        assert_eq!(record.text().unwrap(), format!("{head}}}"));
        let sealed = record.seal(Place::After { seq: 4, hash: Hash::of(b"abc") }, AT, &key()).unwrap();
        assert_eq!(sealed.text, format!(r#"{head},"prev":"{abc}","sealed_at":"2026-11-30T12:00:00.000Z","seq":5}}"#));
        assert_eq!(sealed.hash, Hash::of(sealed.text.as_bytes()));
        assert!(key().public().verifies(sealed.text.as_bytes(), &sealed.signature));
        let first = record.seal(Place::First, AT, &key()).unwrap();
        assert_eq!(first.text, format!(r#"{head},"sealed_at":"2026-11-30T12:00:00.000Z","seq":0}}"#));
    }

    #[test]
    fn a_sealed_text_reads_back() {
        let place = Place::After { seq: 4, hash: Hash::of(b"abc") };
        let body = Body::read(&record(Object::new()).unwrap().seal(place, AT, &key()).unwrap().text).unwrap();
        assert_eq!((&*body.id, &*body.org, body.kind, body.place, body.seq(), body.sealed_at), ("rec_1", "org_1", Kind::Payment, place, 5, AT));
    }

    #[test]
    fn what_cannot_be_sealed_is_named() {
        let own = |name: &'static str| record(Object::new().with(name, "x"));
        for name in OWN {
            assert_eq!(own(name), Err(RecordError::OwnMember(name)));
        }
        assert_eq!(Record::new(Kind::Payment, "pr_1", "org_1", &[], Object::new()), Err(RecordError::BadId("id")));
        assert_eq!(Record::new(Kind::Payment, "rec_1", "org_a/b", &[], Object::new()), Err(RecordError::BadId("org")));
        let link = Link { id: "rec_0".into(), hash: Hash::of(b"") };
        assert_eq!(Record::new(Kind::Order, "rec_1", "org_1", &vec![link; 65], Object::new()), Err(RecordError::TooManyParents));
        let float = record(Object::new().with("score", Value::Number(0.5))).unwrap();
        assert_eq!(float.seal(Place::First, AT, &key()), Err(RecordError::Unfit(Unfit::Number("/score".into()))));
        let sound = record(Object::new()).unwrap();
        assert_eq!(sound.seal(Place::First, i64::MAX, &key()), Err(RecordError::BadTime));
        let full = Place::After { seq: (1 << 53) - 1, hash: Hash::of(b"") };
        assert_eq!(sound.seal(full, AT, &key()), Err(RecordError::ChainFull));
    }

    #[test]
    fn a_key_that_does_not_sign_stops_the_seal() {
        struct Away;
        impl SigningKey for Away {
            fn public(&self) -> lcp::jose::PublicKey {
                key().public()
            }
            fn sign(&self, _: &[u8]) -> Result<lcp::jose::Signature, SigningFailed> {
                Err(SigningFailed("no answer".into()))
            }
        }
        let failed = record(Object::new()).unwrap().seal(Place::First, AT, &Away);
        assert_eq!(failed, Err(RecordError::Signing(SigningFailed("no answer".into()))));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let text = record(Object::new()).unwrap().seal(Place::First, AT, &key()).unwrap().text;
        let read = |from: &str, to: &str| Body::of(&canonical::read(&text.replace(from, to)).unwrap()).unwrap_err();
        assert_eq!(read("enruta/0.3", "enruta/0.4"), Unreadable::Format);
        assert_eq!(read(r#""payment""#, r#""Payment""#), Unreadable::Kind);
        assert_eq!(read(r#""seq":0"#, r#""seq":1"#), Unreadable::Member("prev"));
        assert_eq!(read(r#""seq":0"#, r#""seq":"0""#), Unreadable::Member("seq"));
        assert_eq!(read("12:00:00.000Z", "12:00:00Z"), Unreadable::Member("sealed_at"));
        assert_eq!(read("org_1", "org-1"), Unreadable::Member("org"));
        assert_eq!(read("[]", "[{}]"), Unreadable::Member("parents"));
    }
}
