//! Sealed records: each organization's chain, how records are linked, and which are still open.

use control::{
    Instant,
    ids::{AgentId, OrgId, RecordId, RequestId},
};
use lcp::jose::SigningKey;
use record::{Kind, Place, Record, Sealed, log::RightEdge};
use rusqlite::params;

use crate::{
    Cursor, Page, Reader, StoreError, Tx,
    page::bounded,
    sql::{Columns, Filters},
};

/// A sealed record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRow {
    /// The organization.
    pub org: OrgId,
    /// How many of its records were sealed before.
    pub seq: u64,
    /// The record's id.
    pub id: RecordId,
    /// What it tells of.
    pub kind: Kind,
    /// The agent that it is about.
    pub agent: Option<AgentId>,
    /// The request that it is about.
    pub request: Option<RequestId>,
    /// Text, hash and signature.
    pub sealed: Sealed,
    /// When it was sealed.
    pub sealed_at: Instant,
}

/// What a record is found by. It says of the record what the record says of itself.
#[derive(Clone, Debug)]
pub struct RecordMeta {
    /// Its id.
    pub id: RecordId,
    /// Its kind.
    pub kind: Kind,
    /// The agent that it is about.
    pub agent: Option<AgentId>,
    /// The request that it is about.
    pub request: Option<RequestId>,
    /// The records that it names as its parents.
    pub parents: Vec<RecordId>,
}

/// Which records a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordFilter<'a> {
    /// Those about this agent.
    pub agent: Option<&'a AgentId>,
    /// Those of this kind.
    pub kind: Option<Kind>,
    /// Those sealed from then on.
    pub from: Option<Instant>,
    /// Those sealed before then.
    pub to: Option<Instant>,
}

const RECORD: &str = "SELECT r.org, r.seq, r.id, r.kind, r.agent, r.request, r.text, r.hash, r.signature, r.kid, r.sealed_at FROM records r";

fn record(row: &Columns<'_>) -> rusqlite::Result<RecordRow> {
    Ok(RecordRow {
        org: row.id(0)?,
        seq: row.count(1)?,
        id: row.id(2)?,
        kind: row.parsed(3, Kind::parse)?,
        agent: row.opt_id(4)?,
        request: row.opt_id(5)?,
        sealed: row.sealed(6)?,
        sealed_at: row.at(10)?,
    })
}

/// A count as the database keeps it: chains end far below the bound.
pub(crate) fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Reader<'_> {
    /// One of the organization's sealed records.
    pub fn record(&self, org: &OrgId, id: &RecordId) -> Result<Option<RecordRow>, StoreError> {
        self.one(&format!("{RECORD} WHERE r.id = $1 AND r.org = $2"), [id.as_str(), org.as_str()], record)
    }

    /// The organization's sealed record of that place in its chain.
    fn record_at(&self, org: &OrgId, seq: u64) -> Result<Option<RecordRow>, StoreError> {
        self.one(&format!("{RECORD} WHERE r.org = $1 AND r.seq = $2"), params![org.as_str(), stored(seq)], record)
    }

    /// The record before that place in the organization's chain; `None` before the first.
    pub fn previous_record(&self, org: &OrgId, seq: u64) -> Result<Option<RecordRow>, StoreError> {
        seq.checked_sub(1).map_or(Ok(None), |seq| self.record_at(org, seq))
    }

    /// The organization's sealed records, the last sealed first.
    pub fn records(&self, org: &OrgId, filter: RecordFilter<'_>, cursor: Option<&Cursor>, limit: u32) -> Result<Page<RecordRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("r.org", org.as_str().to_owned());
        filters.maybe("r.agent", filter.agent.map(AgentId::as_str));
        filters.maybe("r.kind", filter.kind.map(Kind::as_str));
        if let Some(from) = filter.from {
            filters.compare("r.sealed_at", ">=", from.millis());
        }
        if let Some(to) = filter.to {
            filters.compare("r.sealed_at", "<", to.millis());
        }
        let (sql, params) = filters.last_first(RECORD, "r.seq", cursor, bounded(limit));
        let rows = self.all(&sql, params, record)?;
        Ok(Page::of(rows, bounded(limit), RecordRow::place))
    }

    /// The sealed records that this one names as its parents, in the order that it names them.
    pub fn record_parents(&self, org: &OrgId, seq: u64) -> Result<Vec<RecordRow>, StoreError> {
        let sql = format!("{RECORD} JOIN record_links l ON l.parent = r.id WHERE l.org = $1 AND l.child_seq = $2 AND r.org = $1 ORDER BY l.place");
        self.all(&sql, params![org.as_str(), stored(seq)], record)
    }

    /// The sealed records that name this one as a parent, the last sealed first.
    pub fn record_children(&self, org: &OrgId, id: &RecordId, cursor: Option<&Cursor>, limit: u32) -> Result<Page<RecordRow>, StoreError> {
        let select = format!("{RECORD} JOIN record_links l ON l.org = r.org AND l.child_seq = r.seq");
        let mut filters = Filters::default();
        filters.equal("l.org", org.as_str().to_owned()).equal("l.parent", id.as_str().to_owned());
        let (sql, params) = filters.last_first(&select, "l.child_seq", cursor, bounded(limit));
        let rows = self.all(&sql, params, record)?;
        Ok(Page::of(rows, bounded(limit), RecordRow::place))
    }

    /// The request that keeps a record of the organization open; `None` if the record is sealed, or there is none.
    pub fn open_record(&self, org: &OrgId, id: &RecordId) -> Result<Option<RequestId>, StoreError> {
        self.one("SELECT request FROM open_records WHERE id = $1 AND org = $2", [id.as_str(), org.as_str()], |row| row.id(0))
    }

    /// The end of the organization's chain: the next record's place, and the log's right edge.
    fn chain_end(&self, org: &OrgId) -> Result<(Place, RightEdge), StoreError> {
        let end = self.one("SELECT size, last_hash, edge FROM chains WHERE org = $1", [org.as_str()], |row| {
            Ok((row.count(0)?, row.hash(1)?, row.get::<Vec<u8>>(2)?))
        })?;
        let Some((size, hash, edge)) = end else { return Ok((Place::First, RightEdge::empty())) };
        let (hashes, rest) = edge.as_chunks::<32>();
        let edge = RightEdge::new(size, hashes.iter().map(|bytes| (*bytes).into()).collect()).filter(|_| rest.is_empty());
        match (size.checked_sub(1), edge) {
            (Some(seq), Some(edge)) => Ok((Place::After { seq, hash }, edge)),
            _ => Err(self.damaged(StoreError::Corrupt("the end of a chain of records does not read".into()))),
        }
    }
}

impl RecordRow {
    fn place(&self) -> Cursor {
        Cursor { at: stored(self.seq), id: "".into() }
    }
}

impl Tx<'_> {
    /// Says that a request's record is open.
    pub fn open_record_of(&mut self, org: &OrgId, id: &RecordId, request: &RequestId) -> Result<(), StoreError> {
        self.run("INSERT INTO open_records (id, org, request) VALUES ($1, $2, $3)", [id.as_str(), org.as_str(), request.as_str()]).map(drop)
    }

    /// Seals a record at the end of the organization's chain and appends it to its log; it is open no more.
    pub fn append_record(
        &mut self,
        org: &OrgId,
        record: &Record,
        sealed_at: Instant,
        key: &dyn SigningKey,
        meta: &RecordMeta,
    ) -> Result<Sealed, StoreError> {
        const INSERT: &str = "INSERT INTO records (org, seq, id, kind, agent, request, text, hash, signature, kid, sealed_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        const LINK: &str = "INSERT INTO record_links (org, child_seq, place, parent) VALUES ($1, $2, $3, $4)";
        const NODE: &str = "INSERT INTO log_nodes (org, level, place, hash) VALUES ($1, $2, $3, $4)";
        const END: &str = "INSERT INTO chains (org, size, last_hash, edge) VALUES ($1, $2, $3, $4)
            ON CONFLICT (org) DO UPDATE SET size = excluded.size, last_hash = excluded.last_hash, edge = excluded.edge";

        let (place, mut edge) = self.chain_end(org)?;
        let sealed = record.seal(place, sealed_at.millis(), key)?;
        let seq = stored(edge.size());
        self.run(
            INSERT,
            params![
                org.as_str(),
                seq,
                meta.id.as_str(),
                meta.kind.as_str(),
                meta.agent.as_ref().map(AgentId::as_str),
                meta.request.as_ref().map(RequestId::as_str),
                sealed.text,
                &sealed.hash.bytes()[..],
                &sealed.signature[..],
                sealed.kid,
                sealed_at.millis()
            ],
        )?;
        for (place, parent) in (0_i64..).zip(&meta.parents) {
            self.run(LINK, params![org.as_str(), seq, place, parent.as_str()])?;
        }
        for node in edge.append(record::log::leaf_hash(sealed.hash.bytes())) {
            self.run(NODE, params![org.as_str(), node.id.level, stored(node.id.index), &node.hash.bytes()[..]])?;
        }
        let hashes = edge.hashes().iter().flat_map(|hash| *hash.bytes()).collect::<Vec<u8>>();
        self.run(END, params![org.as_str(), stored(edge.size()), &sealed.hash.bytes()[..], hashes])?;
        self.run("DELETE FROM open_records WHERE id = $1", [meta.id.as_str()])?;
        Ok(sealed)
    }
}

#[cfg(test)]
mod tests {
    use lcp::{
        Hash, Object,
        jose::{Ed25519Key, Jwk, Jwks},
    };
    use record::{
        Bundle, Chain, Inclusion, Link, Verdict,
        log::{Checkpoint, Rows, Tile, entry_bundle, hash_tile, leaf_hash, verify_inclusion},
    };

    use super::*;
    use crate::{
        Options, Store,
        testing::{Folder, agent, alone, at, bits, org, org_row, request},
    };

    const KINDS: [Kind; 3] = [Kind::Payment, Kind::Pause, Kind::Order];

    fn key() -> Ed25519Key {
        Ed25519Key::from_seed(&[1; 32])
    }

    fn id(number: u64) -> RecordId {
        RecordId::of(bits(number))
    }

    /// Appends a record of that number, whose parent is the one of half that number.
    fn append(tx: &mut Tx<'_>, number: u64) -> Result<Sealed, StoreError> {
        let parents = match tx.record(&org(), &id(number / 2))? {
            Some(parent) => vec![Link { id: parent.id.to_string(), hash: parent.sealed.hash }],
            None => Vec::new(),
        };
        let kind = KINDS[usize::try_from(number % 3).unwrap()];
        let record = Record::new(kind, id(number).as_str(), org().as_str(), &parents, Object::new().with("number", number.to_string()))?;
        let meta = RecordMeta {
            id: id(number),
            kind,
            agent: Some(agent(number % 2)),
            request: number.is_multiple_of(3).then(|| request(number).id),
            parents: parents.iter().map(|link| RecordId::parse(&link.id).unwrap()).collect(),
        };
        tx.append_record(&org(), &record, at(i64::try_from(number).unwrap()), &key(), &meta)
    }

    /// The bundle of a record, from what the store tells of it.
    fn bundle(reader: &Reader<'_>, id: &RecordId) -> Result<Bundle, StoreError> {
        let row = reader.record(&org(), id)?.unwrap();
        let size = reader.log_size(&org())?;
        let root = reader.log_root(&org(), size)?.unwrap();
        let checkpoint = Checkpoint { origin: format!("chancery.example/log/{}", org()), size, root }.sign(&key()).unwrap();
        let proof = reader.log_inclusion(&org(), row.seq, size)?.unwrap();
        let sealed = |rows: Vec<RecordRow>| rows.into_iter().map(|row| row.sealed).collect();
        let mut bundle = Bundle::new(row.sealed, Jwks::new(vec![Jwk::new(key_public())]).unwrap());
        bundle.log = Some(Inclusion { index: row.seq, proof, checkpoint });
        bundle.previous = reader.previous_record(&org(), row.seq)?.map(|row| row.sealed);
        bundle.parents = sealed(reader.record_parents(&org(), row.seq)?);
        bundle.children = sealed(reader.record_children(&org(), id, None, 256)?.rows);
        Ok(bundle)
    }

    fn key_public() -> lcp::jose::PublicKey {
        key().public()
    }

    /// Every record verifies, and the chain is whole.
    fn is_sound(reader: &Reader<'_>, count: u64) -> Result<(), StoreError> {
        let trusted = Jwks::new(vec![Jwk::new(key_public())]).unwrap();
        let mut chain = Chain::new();
        for seq in 0..count {
            let row = reader.record_at(&org(), seq)?.unwrap();
            assert_eq!(chain.follow(&row.sealed.text), Ok(row.sealed.hash));
            let report = record::verify(&bundle(reader, &row.id)?.to_json().into(), Some(&trusted));
            assert_eq!(report.verdict, Verdict::Verified, "{report:?}");
            assert!(
                report
                    .checks
                    .iter()
                    .filter(|check| ["chain", "parents"].contains(&check.name))
                    .all(|check| seq < 2 || check.status.as_str() == "PASS")
            );
        }
        assert_eq!((chain.len(), reader.log_size(&org())?), (count, count));
        Ok(())
    }

    #[test]
    fn every_record_verifies() {
        alone(|tx| {
            for number in 1..=70 {
                append(tx, number).unwrap();
            }
            is_sound(tx, 70).unwrap();
            assert_eq!(tx.record(&OrgId::of(bits(2)), &id(1)), Ok(None));
            assert_eq!(tx.log_size(&OrgId::of(bits(2))), Ok(0));
        });
    }

    #[tokio::test]
    async fn a_chain_goes_on_after_refusals_and_a_crash() {
        let (folder, copy) = (Folder::new(), Folder::new());
        let store = folder.store().await;
        let append_one = |store: &Store, number: u64| {
            let store = store.clone();
            async move { store.write(move |tx| append(tx, number)).await }
        };
        for number in 1..=9 {
            append_one(&store, number).await.unwrap();
            let refused = store.write(move |tx| append(tx, 1000 + number).and(Err::<(), _>(StoreError::Busy))).await;
            assert_eq!(refused, Err(StoreError::Busy));
        }
        assert_eq!(append_one(&store, 9).await.unwrap_err().code(), "storage_error", "an id stands once");
        for name in ["store.db", "store.db-wal"] {
            std::fs::copy(folder.path(name), copy.path(name)).unwrap();
        }
        let opened = copy.open(&Options::default()).unwrap();
        for number in 10..=20 {
            append_one(&opened, number).await.unwrap();
        }
        opened.read(|reader| is_sound(reader, 20)).await.unwrap();
        store.read(|reader| is_sound(reader, 9)).await.unwrap();
    }

    #[test]
    fn lists_are_filtered_and_paged() {
        alone(|tx| {
            for number in 1..=30 {
                append(tx, number).unwrap();
            }
            let seqs = |tx: &Tx<'_>, filter: RecordFilter<'_>| {
                let page = tx.records(&org(), filter, None, 1000).unwrap();
                page.rows.iter().map(|row| row.seq).collect::<Vec<_>>()
            };
            let expected = |is_in: &dyn Fn(u64) -> bool| (1..=30).rev().filter(|number| is_in(*number)).map(|number| number - 1).collect::<Vec<_>>();
            let agent = agent(1);
            assert_eq!(seqs(tx, RecordFilter::default()), expected(&|_| true));
            assert_eq!(seqs(tx, RecordFilter { agent: Some(&agent), ..Default::default() }), expected(&|number| number % 2 == 1));
            assert_eq!(seqs(tx, RecordFilter { kind: Some(Kind::Pause), ..Default::default() }), expected(&|number| number % 3 == 1));
            let times = RecordFilter { from: Some(at(5)), to: Some(at(9)), agent: Some(&agent), ..Default::default() };
            assert_eq!(seqs(tx, times), [6, 4]);

            let (mut found, mut cursor) = (Vec::new(), None);
            for number in 31.. {
                let page = tx.records(&org(), RecordFilter::default(), cursor.as_ref(), 7).unwrap();
                found.extend(page.rows.iter().map(|row| row.seq));
                append(tx, number).unwrap();
                let Some(next) = page.next else { break };
                cursor = Cursor::parse(&next.to_string());
                assert!(cursor.is_some());
            }
            assert_eq!(found, expected(&|_| true), "what was appended meanwhile moves nothing");
        });
    }

    #[test]
    fn children_and_parents() {
        alone(|tx| {
            for number in 1..=9 {
                append(tx, number).unwrap();
            }
            let page = tx.record_children(&org(), &id(4), None, 1).unwrap();
            assert_eq!(page.rows[0].id, id(9));
            let page = tx.record_children(&org(), &id(4), page.next.as_ref(), 1).unwrap();
            assert_eq!((&page.rows[0].id, &page.next), (&id(8), &None));
            assert_eq!(tx.record_parents(&org(), 8).unwrap()[0].id, id(4));
            assert_eq!(tx.record_parents(&org(), 0), Ok(vec![]));
        });
    }

    #[test]
    fn tiles_and_proofs_of_the_log() {
        alone(|tx| {
            let hashes: Vec<Hash> = (1..=600).map(|number| append(tx, number).unwrap().hash).collect();
            let leaves: Vec<Hash> = hashes.iter().map(|hash| leaf_hash(hash.bytes())).collect();
            let tile = |tx: &Tx<'_>, rows, index, width| tx.log_tile(&org(), &Tile { rows, index, width }).unwrap();
            assert_eq!(tile(tx, Rows::Hashes(0), 1, 256), Some(hash_tile(leaves[256..512].to_vec())));
            assert_eq!(tile(tx, Rows::Hashes(0), 2, 88), Some(hash_tile(leaves[512..].to_vec())));
            assert_eq!(tile(tx, Rows::Entries, 2, 88), Some(entry_bundle(hashes[512..].to_vec())));
            let root_of = |size| tx.log_root(&org(), size).unwrap();
            assert_eq!(tile(tx, Rows::Hashes(1), 0, 1), root_of(256).map(|root| root.bytes().to_vec()));
            for (rows, index, width) in [(Rows::Hashes(0), 2, 89), (Rows::Entries, 2, 256), (Rows::Hashes(1), 0, 3), (Rows::Hashes(6), u64::MAX, 1)] {
                assert_eq!(tile(tx, rows, index, width), None);
            }
            for (seq, size) in [(0, 1), (0, 600), (299, 512), (599, 600)] {
                let proof = tx.log_inclusion(&org(), seq, size).unwrap().unwrap();
                assert!(verify_inclusion(&leaves[usize::try_from(seq).unwrap()], seq, size, &proof, &root_of(size).unwrap()));
            }
            assert_eq!((tx.log_inclusion(&org(), 5, 601), tx.log_inclusion(&org(), 5, 5)), (Ok(None), Ok(None)));
            assert_eq!(tx.log_root(&org(), 601), Ok(None));
        });
    }

    #[test]
    fn a_record_is_open_until_it_is_sealed() {
        alone(|tx| {
            tx.insert_request(&request(3)).unwrap();
            tx.open_record_of(&org(), &id(3), &request(3).id).unwrap();
            assert_eq!(tx.open_record(&org(), &id(3)), Ok(Some(request(3).id)));
            assert_eq!(tx.open_record(&OrgId::of(bits(2)), &id(3)), Ok(None));
            append(tx, 3).unwrap();
            assert_eq!(tx.open_record(&org(), &id(3)), Ok(None));
            assert_eq!(tx.record(&org(), &id(3)).unwrap().unwrap().request, Some(request(3).id));
        });
    }

    #[tokio::test]
    async fn what_cannot_be_sealed_changes_nothing() {
        let folder = Folder::new();
        let store = folder.open(&Options::default()).unwrap();
        store.write(|tx| tx.insert_org(&org_row())).await.unwrap();
        let float = |tx: &mut Tx<'_>| {
            append(tx, 1)?;
            let record = Record::new(Kind::Payment, id(2).as_str(), org().as_str(), &[], Object::new().with("score", lcp::Value::Number(0.5)))?;
            let meta = RecordMeta { id: id(2), kind: Kind::Payment, agent: None, request: None, parents: vec![] };
            tx.append_record(&org(), &record, at(0), &key(), &meta)
        };
        let error = store.write(float).await.unwrap_err();
        assert_eq!(error.code(), "record_not_sealed");
        store.read(|reader| is_sound(reader, 0)).await.unwrap();
    }
}
