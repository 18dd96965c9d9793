//! An organization's first records, and the bundle of the one that tells of a payment.

use std::collections::HashMap;

use lcp::{
    Hash, Object, Value,
    jose::{self, Ed25519Key, Jwk, Jwks, SigningKey},
    json,
};
use record::{
    Bundle, Content, Inclusion, Kind, Link, MANDATE_TYP, Place, Record, Sealed, digest_text,
    log::{Checkpoint, NodeId, Plan, RightEdge, leaf_hash},
    sign_policy,
};

pub(crate) const ORG: &str = "org_01k8";
pub(crate) const ORIGIN: &str = "chancery.test/log/org_01k8";
pub(crate) const SEALED_AT: i64 = 1_796_040_000_000;
/// The payment's place among the records.
pub(crate) const PAYMENT: u64 = 2;

pub(crate) const EVIDENCE: &[u8] = b"{\"cart\":[\"socks\"]}";
pub(crate) const RECEIPT: &[u8] = b"{\"order\":\"ord_7\"}";
pub(crate) const ATR: &[u8] = b"Returns within 30 days.";

pub(crate) struct Story {
    pub(crate) records: Vec<Sealed>,
    pub(crate) nodes: HashMap<NodeId, Hash>,
    pub(crate) edge: RightEdge,
    pub(crate) bundle: Bundle,
}

pub(crate) fn key() -> Ed25519Key {
    Ed25519Key::from_seed(&[1; 32])
}

pub(crate) fn trusted() -> Jwks {
    Jwks::new(vec![Jwk::new(key().public())]).unwrap()
}

pub(crate) fn object(source: &str) -> Object {
    json::parse(source, 16).unwrap().as_object().unwrap().clone()
}

pub(crate) fn link(sealed: &Sealed) -> Link {
    Link { id: record::Body::read(&sealed.text).unwrap().id, hash: sealed.hash }
}

pub(crate) fn mandate(typ: &str, amount: &str, key: &Ed25519Key) -> String {
    let claims = format!(
        r#"{{"iss":"https://chancery.test","sub":"usr_1","mandate_id":"mnd_1","agent":"agt_1","amount":"{amount}","currency":"USD","payee":"shop.test","iat":1796039990,"exp":1796043600,"policy":{{"id":"pol_1","version":3}}}}"#
    );
    jose::sign(typ, claims.as_bytes(), key).unwrap()
}

pub(crate) fn policy() -> Sealed {
    sign_policy(&object(r#"{"id":"pol_1","version":3,"name":"Small things","limits":{"per_payment":"20.00"}}"#), &key()).unwrap()
}

/// The payment record's own members, over this mandate.
pub(crate) fn payment(mandate: &str) -> Object {
    let digest = |bytes: &[u8]| digest_text(&Hash::of(bytes));
    let of = |bytes: &[u8]| vec![Value::from(Object::new().with("type", "example").with("digest", digest(bytes)))];
    let named = Object::new()
        .with("id", "mnd_1")
        .with("digest", digest(mandate.as_bytes()))
        .with("amount", "5.00")
        .with("currency", "USD")
        .with("payee", "shop.test")
        .with("agent_id", "agt_1")
        .with("expires_at", "2026-11-30T13:00:00.000Z");
    object(r#"{"request":{"purpose":"Socks, 2 pairs \"warm\"\n€"},"decision":{"result":"allow","reasons":[]},"outcome":{"status":"consumed"}}"#)
        .with("policy", Object::new().with("id", "pol_1").with("version", 3u32).with("hash", digest_text(&policy().hash)))
        .with("mandate", named)
        .with("evidence", of(EVIDENCE))
        .with("terms", Object::new().with("hash", &Hash::of(ATR)))
        .with("receipts", of(RECEIPT))
}

/// Seals records behind one another, each made from those before it.
pub(crate) fn seal(count: u64, make: impl Fn(&[Sealed]) -> Record) -> Vec<Sealed> {
    let (mut records, mut place) = (Vec::new(), Place::First);
    for seq in 0..count {
        let sealed = make(&records).seal(place, SEALED_AT + i64::try_from(seq).unwrap(), &key()).unwrap();
        place = Place::After { seq, hash: sealed.hash };
        records.push(sealed);
    }
    records
}

/// The story in a log of that size, 4 records or more, with the payment's own members.
pub(crate) fn story_of(size: u64, payment: &Object, mandate: &str) -> Story {
    let records = seal(size, |before| {
        let id = format!("rec_{}", before.len());
        let (kind, parents, members) = match before.len() {
            0 => (Kind::Consent, vec![], object(r#"{"agent_id":"agt_1"}"#)),
            2 => (Kind::Payment, vec![link(&before[0])], payment.clone()),
            3 => (Kind::Order, vec![link(&before[2])], object(r#"{"order":{"id":"ord_7"}}"#)),
            _ => (Kind::Payment, vec![], object(r#"{"decision":{"result":"deny","reasons":["over_budget"]}}"#)),
        };
        Record::new(kind, &id, ORG, &parents, members).unwrap()
    });
    let (mut nodes, mut edge) = (HashMap::new(), RightEdge::empty());
    for record in &records {
        nodes.extend(edge.append(leaf_hash(record.hash.bytes())).into_iter().map(|node| (node.id, node.hash)));
    }
    let checkpoint = Checkpoint { origin: ORIGIN.into(), size, root: edge.root() };
    let log = Inclusion {
        index: PAYMENT,
        proof: Plan::inclusion(PAYMENT, size).unwrap().proof(|id| nodes.get(&id).copied()).unwrap(),
        checkpoint: checkpoint.sign(&key()).unwrap(),
    };
    let bundle = Bundle {
        log: Some(log),
        previous: Some(records[1].clone()),
        parents: vec![records[0].clone()],
        children: vec![records[3].clone()],
        policy: Some(policy()),
        mandate: Some(mandate.into()),
        evidence: vec![Content::of(EVIDENCE)],
        terms: Some(Content::of(ATR)),
        receipts: vec![Content::of(RECEIPT)],
        ..Bundle::new(records[2].clone(), trusted())
    };
    Story { records, nodes, edge, bundle }
}

pub(crate) fn story(size: u64) -> Story {
    let mandate = mandate(MANDATE_TYP, "5.00", &key());
    story_of(size, &payment(&mandate), &mandate)
}
