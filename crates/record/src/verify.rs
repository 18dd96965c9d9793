use std::collections::HashSet;

use lcp::{
    Hash, Object, Value,
    jose::{self, Alg, Expected, Jwk, Jwks},
    json::{self, MAX_DEPTH},
};

use crate::{
    Body, Bundle, Check, Content, Contents, Fault, Link, MANDATE_TYP, MAX_BUNDLE, Place, Report, Sealed, Status, Unfit, Unreadable, Verdict,
    canonical, digest_text,
    log::{Checkpoint, CheckpointError, Note, leaf_hash, verify_inclusion},
    mandate::disagreement,
    policy::Version,
    time_text,
};

/// Verifies a bundle as it came, in bytes.
pub fn verify_bytes(bundle: &[u8], trusted: Option<&Jwks>) -> Report {
    if bundle.len() > MAX_BUNDLE {
        return unreadable(&Fault::at("", "a bundle has at most 16 MiB"));
    }
    match json::parse_bytes(bundle, MAX_DEPTH) {
        Ok(bundle) => verify(&bundle, trusted),
        Err(_) => unreadable(&Fault::at("", "a bundle is a JSON object")),
    }
}

/// Verifies a bundle offline, by itself and the keys that the caller trusts. Without such keys the report can say that
/// a bundle agrees with itself, and no more.
///
/// Total and deterministic: any value gives a report of the same checks in the same order.
pub fn verify(bundle: &Value, trusted: Option<&Jwks>) -> Report {
    match Contents::read(bundle) {
        Ok(Contents::Sealed(bundle)) => Case::new(&bundle, trusted).report(),
        Ok(Contents::Open { seals_at, .. }) => open(seals_at),
        Err(fault) => unreadable(&fault),
    }
}

/// The first check's name: whether the bundle reads.
const BUNDLE: &str = "bundle";

/// A check and its name.
type Named<T> = (&'static str, fn(&T) -> Finding);

/// What a check found: why it holds, or why not.
type Finding = Result<String, Other>;

/// Why a check does not hold or was not made.
enum Other {
    Fail(String),
    Skip(String),
}

fn fail<T>(detail: impl Into<String>) -> Result<T, Other> {
    Err(Other::Fail(detail.into()))
}

fn skip<T>(detail: impl Into<String>) -> Result<T, Other> {
    Err(Other::Skip(detail.into()))
}

fn check(name: &'static str, finding: Finding) -> Check {
    let (status, detail) = match finding {
        Ok(detail) => (Status::Pass, detail),
        Err(Other::Fail(detail)) => (Status::Fail, detail),
        Err(Other::Skip(detail)) => (Status::Skip, detail),
    };
    Check { name, status, detail }
}

fn unreadable(fault: &Fault) -> Report {
    let rest = Case::CHECKS.iter().map(|(name, _)| check(name, skip("the bundle does not read")));
    Report::of(None, std::iter::once(check(BUNDLE, fail(fault.to_string()))).chain(rest).collect())
}

fn open(seals_at: Option<i64>) -> Report {
    let by = seals_at.and_then(time_text).map(|at| format!("; it seals by {at}")).unwrap_or_default();
    let names = std::iter::once(BUNDLE).chain(Case::CHECKS.iter().map(|(name, _)| *name));
    let checks = names.map(|name| check(name, skip(format!("the record is open{by}")))).collect();
    Report { verdict: Verdict::Open, ..Report::of(None, checks) }
}

/// A sealed bundle and what several checks read out of it.
struct Case<'a> {
    bundle: &'a Bundle,
    trusted: Option<&'a Jwks>,
    /// The SHA-256 of the record's text, whatever the bundle says.
    hash: Hash,
    body: Result<Body, NoBody>,
    checkpoint: Option<Result<(Checkpoint, Note), CheckpointError>>,
}

enum NoBody {
    Unfit(Unfit),
    Unreadable(Unreadable),
}

impl<'a> Case<'a> {
    /// The checks behind the first in their order, with their names.
    const CHECKS: [Named<Self>; 16] = [
        ("canonical", Self::canonical),
        ("format", Self::format),
        ("hash", Self::hash),
        ("signature", Self::signature),
        ("key_trusted", Self::key_trusted),
        ("key_valid", Self::key_valid),
        ("chain", Self::chain),
        ("inclusion", Self::inclusion),
        ("checkpoint", Self::checkpoint),
        ("parents", Self::parents),
        ("children", Self::children),
        ("policy", Self::policy),
        ("mandate", Self::mandate),
        ("evidence", Self::evidence),
        ("terms", Self::terms),
        ("receipts", Self::receipts),
    ];

    fn new(bundle: &'a Bundle, trusted: Option<&'a Jwks>) -> Self {
        let text = &bundle.record.text;
        let object = canonical::read(text).map_err(NoBody::Unfit);
        Self {
            bundle,
            trusted,
            hash: Hash::of(text.as_bytes()),
            body: object.and_then(|object| Body::of(&object).map_err(NoBody::Unreadable)),
            checkpoint: bundle.log.as_ref().map(|log| Checkpoint::read(&log.checkpoint)),
        }
    }

    fn report(&self) -> Report {
        let rest = Self::CHECKS.iter().map(|(name, make)| check(name, make(self)));
        let checks = std::iter::once(check(BUNDLE, Ok("every member reads".into()))).chain(rest).collect();
        Report::of(self.body.as_ref().ok().map(|body| body.id.clone()), checks)
    }

    fn body(&self) -> Result<&Body, Other> {
        self.body.as_ref().map_err(|_| Other::Skip("the record does not read".into()))
    }

    fn canonical(&self) -> Finding {
        match &self.body {
            Err(NoBody::Unfit(unfit)) => fail(unfit.to_string()),
            _ => Ok("the text is its own RFC 8785 form, and every number a safe integer".into()),
        }
    }

    fn format(&self) -> Finding {
        match &self.body {
            Ok(body) => Ok(format!("a {} record of {}", body.kind.as_str(), body.org)),
            Err(NoBody::Unreadable(unreadable)) => fail(unreadable.to_string()),
            Err(NoBody::Unfit(_)) => skip("the record does not read"),
        }
    }

    fn hash(&self) -> Finding {
        match self.bundle.record.check_hash() {
            Ok(()) => Ok(digest_text(&self.hash)),
            Err(fault) => fail(fault.to_string()),
        }
    }

    fn signature(&self) -> Finding {
        match self.bundle.record.check_signature(&self.bundle.keys) {
            Ok(()) => Ok(format!("Ed25519 over the text, by key {}", self.bundle.record.kid)),
            Err(fault) => fail(fault.to_string()),
        }
    }

    fn key_trusted(&self) -> Finding {
        let Some(trusted) = self.trusted else {
            return skip("no keys were given to trust: anybody could have made this bundle");
        };
        for jwk in self.bundle.keys.keys() {
            if trusted.get(&jwk.kid).is_none_or(|known| known.key != jwk.key) {
                return fail(format!("key {} is not among the trusted keys", jwk.kid));
            }
        }
        Ok("every key of the bundle is among the trusted keys".into())
    }

    fn key_valid(&self) -> Finding {
        let body = self.body()?;
        let Some(trusted) = self.trusted else { return skip("no keys were given to trust") };
        let Some(Jwk { kid, validity, .. }) = trusted.get(&self.bundle.record.kid) else { return skip("the key is not among the trusted keys") };
        // A time before 1970 is before any limit that a key can state.
        let at = u64::try_from(body.sealed_at.div_euclid(1000)).unwrap_or(0);
        if validity.not_before.is_some_and(|from| at < from) {
            return fail("the record was sealed before the key's signatures counted");
        }
        if validity.expires.is_some_and(|until| at >= until) {
            return fail("the record was sealed after the key's signatures counted");
        }
        match &validity.revoked {
            None => Ok("the key's signatures counted when the record was sealed".into()),
            Some(revoked) if at >= revoked.at => fail("the record was sealed after the key was revoked"),
            Some(revoked) if revoked.superseded => Ok("the record was sealed before the key was superseded".into()),
            // Who holds the key can claim any time. That the log held the record is another key's word.
            Some(_) => match self.checkpoint_key() {
                Ok(other) if !self.in_other_hands(other) => {
                    Ok(format!("the key was revoked later, and key {other} signed the log that holds the record"))
                }
                _ => fail(format!("key {kid} was revoked, and no other key signed the log: ask for a bundle with a newer checkpoint")),
            },
        }
    }

    /// Whether the trusted set says that this key was withdrawn because somebody else may have it.
    fn in_other_hands(&self, kid: &str) -> bool {
        self.trusted.and_then(|trusted| trusted.get(kid)?.validity.revoked.as_ref()).is_some_and(|revoked| !revoked.superseded)
    }

    fn chain(&self) -> Finding {
        let body = self.body()?;
        match (body.place, &self.bundle.previous) {
            (Place::First, None) => Ok("the first record of its organization".into()),
            (Place::First, Some(_)) => fail("the first record of its organization has none before it"),
            (Place::After { .. }, None) => skip("the record before it is not in the bundle"),
            (Place::After { seq, hash }, Some(previous)) => {
                let before = self.sealed(previous, "the record before it")?;
                if before.org != body.org || before.seq() != seq {
                    return fail("the record before it has another organization or seq than the one this record follows");
                }
                if Hash::of(previous.text.as_bytes()) != hash {
                    return fail("prev is not the hash of the record before it");
                }
                Ok(format!("record {} follows {} at seq {}", body.id, before.id, body.seq()))
            }
        }
    }

    fn inclusion(&self) -> Finding {
        let body = self.body()?;
        let Some(log) = &self.bundle.log else { return skip("no proof from the log is in the bundle") };
        let Some(Ok((checkpoint, _))) = &self.checkpoint else { return fail("the checkpoint does not read") };
        if log.index != body.seq() {
            return fail("the leaf's index is not the record's seq");
        }
        if !verify_inclusion(&leaf_hash(self.hash.bytes()), log.index, checkpoint.size, &log.proof, &checkpoint.root) {
            return fail("the proof does not lead from the record's hash to the checkpoint's root");
        }
        Ok(format!("leaf {} of {}", log.index, checkpoint.size))
    }

    fn checkpoint(&self) -> Finding {
        let body = self.body()?;
        if self.bundle.log.is_none() {
            return skip("no checkpoint is in the bundle");
        }
        let kid = self.checkpoint_key()?;
        let Some(Ok((Checkpoint { origin, .. }, _))) = &self.checkpoint else { return fail("the checkpoint does not read") };
        if origin.rsplit('/').next() != Some(&*body.org) {
            return fail(format!("the log {origin} is not that of {}", body.org));
        }
        // A checkpoint states no time, so a revoked key may have signed it at any.
        if self.in_other_hands(kid) {
            return fail(format!("key {kid} was revoked: ask for a bundle with a newer checkpoint"));
        }
        Ok(format!("{origin} signed by key {kid}"))
    }

    /// The id of the bundle's key that signed the checkpoint.
    fn checkpoint_key(&self) -> Result<&str, Other> {
        match &self.checkpoint {
            None => skip("no checkpoint is in the bundle"),
            Some(Err(error)) => fail(error.to_string()),
            Some(Ok((checkpoint, note))) => {
                let judged = |jwk: &'a Jwk| Some((&*jwk.kid, note.signed_by(&checkpoint.origin, &jwk.key)?));
                match self.bundle.keys.keys().iter().filter_map(judged).min_by_key(|(_, signed)| *signed) {
                    None => fail("no key of the bundle signed the checkpoint"),
                    Some((kid, false)) => fail(format!("the checkpoint's signature is not that of key {kid}")),
                    Some((kid, true)) => Ok(kid),
                }
            }
        }
    }

    fn parents(&self) -> Finding {
        let body = self.body()?;
        let mut seen = HashSet::new();
        for parent in &self.bundle.parents {
            let read = self.sealed(parent, "a parent")?;
            if !body.parents.contains(&Link { id: read.id.clone(), hash: parent.hash }) {
                return fail(format!("{} is not a parent that the record names", read.id));
            }
            seen.insert(read.id);
        }
        let missing: Vec<_> = body.parents.iter().filter(|link| !seen.contains(&link.id)).map(|link| &*link.id).collect();
        match (body.parents.len(), missing.len()) {
            (0, _) => skip("the record names no parents"),
            (_, 0) => Ok(format!("all {} parents are as the record names them", seen.len())),
            _ => skip(format!("not in the bundle: {}", missing.join(", "))),
        }
    }

    fn children(&self) -> Finding {
        let body = self.body()?;
        let own = Link { id: body.id.clone(), hash: self.hash };
        for child in &self.bundle.children {
            let read = self.sealed(child, "a child")?;
            if !read.parents.contains(&own) {
                return fail(format!("{} does not name the record as its parent", read.id));
            }
        }
        match self.bundle.children.len() {
            0 => skip("no records that follow from this one are in the bundle"),
            count => Ok(format!("all {count} name the record as their parent")),
        }
    }

    fn policy(&self) -> Finding {
        let Some((named, signed)) = self.named("policy", self.bundle.policy.as_ref())? else { return skip("the record names no policy") };
        signed.check(&self.bundle.keys).or_else(|fault| fail(format!("the policy: {fault}")))?;
        let document = canonical::read(&signed.text).or_else(|unfit| fail(format!("the policy: {unfit}")))?;
        let Some(Version { id, version }) = Version::of(&document) else {
            return fail("the policy's document has no id and version, or is a record");
        };
        let same = named.get("id").and_then(Value::as_str) == Some(&id)
            && named.get("version").and_then(Value::as_safe_unsigned) == Some(version)
            && named.get("hash").and_then(Value::as_str) == Some(&digest_text(&signed.hash));
        if same { Ok(format!("version {version} of {id}, as the record names it")) } else { fail("the policy is another than the record names") }
    }

    fn mandate(&self) -> Finding {
        let Some((named, jws)) = self.named("mandate", self.bundle.mandate.as_ref())? else { return skip("the record names no mandate") };
        if named.get("digest").and_then(Value::as_str) != Some(&digest_text(&Hash::of(jws.as_bytes()))) {
            return fail("the mandate is another than the record names");
        }
        let expected = Expected { algs: &[Alg::EdDsa, Alg::Ed25519], typ: MANDATE_TYP };
        let verified = jose::verify(jws, &expected, |kid| Some(self.bundle.keys.get(kid)?.key)).or_else(|error| fail(error.to_string()))?;
        let claims = json::parse_bytes(&verified.payload, MAX_DEPTH).ok();
        let Some(claims) = claims.as_ref().and_then(Value::as_object) else { return fail("the mandate's claims are not a JSON object") };
        match disagreement(claims, named, self.body()?.members.get("policy")) {
            None => Ok(format!("signed by key {}, and its claims agree with the record", verified.kid)),
            Some(claim) => fail(format!("the mandate's claim {claim} is not what the record states")),
        }
    }

    fn evidence(&self) -> Finding {
        self.contents("evidence", &self.bundle.evidence)
    }

    fn receipts(&self) -> Finding {
        self.contents("receipts", &self.bundle.receipts)
    }

    fn terms(&self) -> Finding {
        let Some((named, atr)) = self.named("terms", self.bundle.terms.as_ref())? else { return skip("the record names no terms") };
        if !atr.is_sound() {
            return fail("the terms' bytes have another hash than the bundle says");
        }
        let same = named.get("hash").and_then(Value::as_str).and_then(Hash::parse) == Some(atr.digest);
        if same { Ok(format!("H is {}", atr.digest)) } else { fail("the terms are others than the record names") }
    }

    /// The object in which the record names something, and what the bundle holds of it. `None` if the record names
    /// none, which the bundle then may not hold; skipped if the bundle does not hold what the record names.
    fn named<'b, T>(&'b self, name: &str, held: Option<&'b T>) -> Result<Option<(&'b Object, &'b T)>, Other> {
        let named = self.body()?.members.get(name).filter(|named| !named.is_null());
        match (named.map(Value::as_object), held) {
            (None, None) => Ok(None),
            (None, Some(_)) => fail(format!("the record names no {name}, and the bundle holds one")),
            (Some(None), _) => fail(format!("the record's member {name} is not an object")),
            (Some(Some(_)), None) => skip(format!("the {name} is not in the bundle")),
            (Some(Some(named)), Some(held)) => Ok(Some((named, held))),
        }
    }

    /// Contents that the record names by their digests, in an array of objects with a member `digest`.
    fn contents(&self, name: &str, held: &[Content]) -> Finding {
        let named = match self.body()?.members.get(name) {
            None | Some(Value::Null) => &[],
            Some(named) => named.as_array().map_or_else(|| fail(format!("the record's member {name} is not an array")), Ok)?,
        };
        let digests: Option<HashSet<&str>> = named.iter().map(|item| item.get("digest")?.as_str()).collect();
        let Some(digests) = digests else { return fail(format!("an item of the record's {name} has no digest")) };
        let mut seen = HashSet::new();
        for content in held {
            let digest = digest_text(&content.digest);
            if !content.is_sound() {
                return fail(format!("what is given for {digest} has another digest"));
            }
            if !digests.contains(&*digest) {
                return fail(format!("the record names no {name} with the digest {digest}"));
            }
            seen.insert(digest);
        }
        match (digests.len(), seen.len()) {
            (0, _) => skip(format!("the record names no {name}")),
            (named, held) if named == held => Ok(format!("all {held} have the digests that the record names")),
            (named, held) => skip(format!("{held} of {named} are in the bundle, with the digests that the record names")),
        }
    }

    /// Another record of the bundle: hash and signature sound, and readable.
    fn sealed(&self, sealed: &Sealed, which: &str) -> Result<Body, Other> {
        sealed.check(&self.bundle.keys).or_else(|fault| fail(format!("{which}: {fault}")))?;
        Body::read(&sealed.text).map_or_else(|| fail(format!("{which} is not a sealed record that is understood here")), Ok)
    }
}
