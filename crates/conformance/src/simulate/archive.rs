//! An organization's sealed records: one chain, one log, and the auditor that follows both.

use std::collections::{HashMap, VecDeque};

use control::{
    Instant,
    ids::{OrgId, RecordId},
};
use lcp::{
    Hash, Object,
    jose::{Ed25519Key, Jwk, Jwks, SigningKey},
};
use record::{
    Bundle, Chain, Inclusion, Kind, Link, Place, Record, Report, Sealed, Verdict,
    log::{Checkpoint, NodeId, Plan, RightEdge, leaf_hash, verify_consistency},
    verify,
};

use super::chance::Chance;

/// How many of the last records are kept whole, to be bundled.
const RECENT: usize = 64;

pub(super) struct Archive {
    org: OrgId,
    key: Ed25519Key,
    keys: Jwks,
    place: Place,
    edge: RightEdge,
    nodes: HashMap<NodeId, Hash>,
    /// The hash of every record's text, by its id: a record is sealed once.
    hashes: HashMap<RecordId, Hash>,
    recent: VecDeque<(u64, Kept)>,
    /// What the auditor has not followed yet.
    unaudited: Vec<Sealed>,
    audited: Audited,
}

/// A record and what its bundle takes.
struct Kept {
    sealed: Sealed,
    parents: Vec<RecordId>,
    papers: Papers,
}

/// What a payment's bundle holds beside the record.
#[derive(Clone, Default)]
pub(super) struct Papers {
    /// The signed policy that it names.
    pub(super) policy: Option<Sealed>,
    /// The mandate's compact JWS.
    pub(super) mandate: Option<String>,
}

/// What an auditor came to who took every record as it was published.
struct Audited {
    chain: Chain,
    edge: RightEdge,
    head: Checkpoint,
}

impl Archive {
    pub(super) fn new(org: OrgId, key: Ed25519Key) -> Option<Self> {
        let keys = Jwks::new(vec![Jwk::new(key.public())]).ok()?;
        let edge = RightEdge::empty();
        let head = Checkpoint { origin: format!("chancery.test/log/{org}"), size: 0, root: edge.root() };
        Some(Self {
            org,
            key,
            keys,
            place: Place::First,
            audited: Audited { chain: Chain::new(), edge: edge.clone(), head },
            edge,
            nodes: HashMap::new(),
            hashes: HashMap::new(),
            recent: VecDeque::new(),
            unaudited: Vec::new(),
        })
    }

    pub(super) fn key(&self) -> &Ed25519Key {
        &self.key
    }

    /// How many records are sealed.
    pub(super) fn len(&self) -> u64 {
        self.edge.size()
    }

    pub(super) fn has(&self, id: &RecordId) -> bool {
        self.hashes.contains_key(id)
    }

    /// Seals a record at the end of the chain and gives its text.
    pub(super) fn seal(
        &mut self,
        kind: Kind,
        id: &RecordId,
        parents: &[RecordId],
        members: Object,
        papers: Papers,
        at: Instant,
    ) -> Result<&str, String> {
        if self.has(id) {
            return Err(format!("{id} is sealed already"));
        }
        let link = |id: &RecordId| self.hashes.get(id).map(|hash| Link { id: id.to_string(), hash: *hash }).ok_or(format!("{id} is not sealed"));
        let links = parents.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let record = Record::new(kind, id.as_str(), self.org.as_str(), &links, members).map_err(|error| error.to_string())?;
        let sealed = record.seal(self.place, at.millis(), &self.key).map_err(|error| error.to_string())?;
        let seq = self.len();
        self.place = Place::After { seq, hash: sealed.hash };
        self.nodes.extend(self.edge.append(leaf_hash(sealed.hash.bytes())).into_iter().map(|node| (node.id, node.hash)));
        self.hashes.insert(id.clone(), sealed.hash);
        self.unaudited.push(sealed.clone());
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((seq, Kept { sealed, parents: parents.to_vec(), papers }));
        Ok(self.recent.back().map(|(_, kept)| kept.sealed.text.as_str()).unwrap_or_default())
    }

    fn head(&self) -> Checkpoint {
        Checkpoint { origin: self.audited.head.origin.clone(), size: self.edge.size(), root: self.edge.root() }
    }

    /// The auditor takes what was sealed since: signatures, chain, log, and that the log only grew. One changed, dropped or
    /// moved record must be noticed.
    pub(super) fn audit(&mut self, chance: &mut Chance) -> Result<(), String> {
        let batch = std::mem::take(&mut self.unaudited);
        // Damage is done near the end, so that little has to be followed twice.
        let place = batch.len().saturating_sub(2 + chance.index(6));
        let mut before = None;
        for (at, sealed) in batch.iter().enumerate() {
            if at == place {
                before = Some(self.audited.chain.clone());
            }
            sealed.check(&self.keys).map_err(|fault| fault.to_string())?;
            let hash = self.audited.chain.follow(&sealed.text).map_err(|at| at.to_string())?;
            self.audited.edge.append(leaf_hash(hash.bytes()));
        }
        let head = self.head();
        if self.audited.chain.len() != head.size || self.audited.edge.root() != head.root {
            return Err(format!("the log's head is not that of its {} records", self.audited.chain.len()));
        }
        let note = head.sign(&self.key).map_err(|error| error.to_string())?;
        let (read, note) = Checkpoint::read(&note).map_err(|error| format!("{error:?}"))?;
        if read != head || note.signed_by(&head.origin, &self.key.public()) != Some(true) {
            return Err("the checkpoint does not read back".to_owned());
        }
        let old = &self.audited.head;
        if old.size > 0 {
            let proof = Plan::consistency(old.size, head.size).and_then(|plan| plan.proof(|id| self.nodes.get(&id).copied()));
            if !proof.is_some_and(|proof| verify_consistency(old.size, &old.root, head.size, &head.root, &proof)) {
                return Err(format!("the log of {} records does not extend that of {}", head.size, old.size));
            }
        }
        self.audited.head = head;
        match before {
            Some(chain) => notices_damage(chain, batch.get(place..).unwrap_or_default(), &self.keys, chance),
            None => Ok(()),
        }
    }

    /// Makes the bundle of one of the last records and verifies it, whole and with one byte changed.
    pub(super) fn verify_one(&self, chance: &mut Chance) -> Result<(), String> {
        if self.recent.is_empty() {
            return Ok(());
        }
        let place = chance.index(self.recent.len());
        let Some((seq, kept)) = self.recent.get(place) else { return Ok(()) };
        let (head, text) = (self.head(), &kept.sealed.text);
        let proof = Plan::inclusion(*seq, head.size).and_then(|plan| plan.proof(|id| self.nodes.get(&id).copied())).ok_or("no inclusion proof")?;
        let mut bundle = Bundle::new(kept.sealed.clone(), self.keys.clone());
        bundle.log = Some(Inclusion { index: *seq, proof, checkpoint: head.sign(&self.key).map_err(|error| error.to_string())? });
        let recent = |wanted: &Hash| self.recent.iter().map(|(_, kept)| &kept.sealed).find(|sealed| sealed.hash == *wanted).cloned();
        bundle.previous = place.checked_sub(1).and_then(|place| self.recent.get(place)).map(|(_, kept)| kept.sealed.clone());
        bundle.parents = kept.parents.iter().filter_map(|id| self.hashes.get(id)).filter_map(recent).collect();
        bundle.policy.clone_from(&kept.papers.policy);
        bundle.mandate.clone_from(&kept.papers.mandate);
        let report = self.report(&bundle);
        if report.verdict != Verdict::Verified {
            return Err(format!("{report}\n{text}"));
        }
        let byte = chance.index(text.len());
        let Some(changed) = with_byte_changed(text, byte) else { return Ok(()) };
        bundle.record.text = changed;
        match self.report(&bundle).verdict {
            Verdict::Fails => Ok(()),
            verdict => Err(format!("byte {byte} of {} was changed and the verdict is {}", kept.sealed.hash, verdict.as_str())),
        }
    }

    fn report(&self, bundle: &Bundle) -> Report {
        verify(&bundle.to_json().into(), Some(&self.keys))
    }
}

/// The text with one byte changed, where what comes is still text.
fn with_byte_changed(text: &str, place: usize) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let byte = bytes.get_mut(place)?;
    *byte = if *byte == b'0' { b'1' } else { b'0' };
    String::from_utf8(bytes).ok()
}

/// A copy of the chain's end with one record dropped, moved or changed breaks somewhere. The last is never dropped: that is
/// told by the size of the log's head alone.
fn notices_damage(mut chain: Chain, end: &[Sealed], keys: &Jwks, chance: &mut Chance) -> Result<(), String> {
    let mut damaged = end.to_vec();
    let [first, _, ..] = damaged.as_mut_slice() else { return Ok(()) };
    let what = match chance.below(3) {
        0 => {
            damaged.remove(0);
            "dropped"
        }
        1 => {
            damaged.swap(0, 1);
            "moved"
        }
        _ => {
            let byte = chance.index(first.text.len());
            let Some(changed) = with_byte_changed(&first.text, byte) else { return Ok(()) };
            first.text = changed;
            "changed"
        }
    };
    let is_whole = damaged.iter().all(|sealed| sealed.check(keys).is_ok() && chain.follow(&sealed.text).is_ok());
    if is_whole { Err(format!("a record was {what}, {} before the end, and nothing tells", end.len())) } else { Ok(()) }
}
