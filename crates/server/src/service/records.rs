//! Records: their texts, bundles and reports, and the log that they are in.

use control::{
    Instant,
    access::Role,
    ids::{AgentId, OrgId, RecordId, RequestId},
};
use lcp::{
    Object, Value,
    jose::{Jwks, SigningKey},
    json,
};
use record::{
    Bundle, Inclusion, Kind,
    log::{Checkpoint, Tile},
    open_bundle,
};
use store::{Reader, RecordFilter, RecordRow};

use super::{
    Inner, Service,
    query::{Asked, Query, known_filter, own_agent},
    save::record_of,
    shown_page, unreadable,
};
use crate::{Caller, Problem};

/// How many records of each kind of link a bundle carries.
const MAX_LINKED: u32 = 256;

/// A record that the caller may see: sealed, or open with the payment it tells of.
enum Seen {
    Sealed(Box<RecordRow>),
    Open { text: String, seals_at: Option<Instant> },
}

impl Service {
    /// A page of records, newest first: `agent_id`, `from` and `to` (the time of sealing, from on and before), `kind`, `cursor`,
    /// `limit`.
    pub async fn records(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        let asked = Asked::of(query, &["agent_id", "from", "to", "kind", "cursor", "limit"])?;
        let agent = own_agent(caller, asked.parsed("agent_id", "the id of an agent", AgentId::parse)?)?;
        let kind = asked.parsed("kind", "a kind of record, such as payment", Kind::parse)?;
        let (from, to) = (asked.instant("from")?, asked.instant("to")?);
        let (cursor, limit) = (asked.cursor()?, asked.limit()?);
        let org = caller.org.clone();
        self.read(move |_, reader, _| {
            known_filter(reader, &org, agent.as_ref())?;
            let filter = RecordFilter { agent: agent.as_ref(), kind, from, to };
            shown_page(&reader.records(&org, filter, cursor.as_ref(), limit)?, |row| Ok(listed(row)))
        })
        .await
    }

    /// The record's exact text: the bytes to verify. That of an open record is its text so far.
    pub async fn record_text(&self, caller: &Caller, id: &str) -> Result<String, Problem> {
        self.seen_record(caller, id, |_, _, seen| {
            Ok(match seen {
                Seen::Sealed(row) => row.sealed.text,
                Seen::Open { text, .. } => text,
            })
        })
        .await
    }

    /// The record's bundle: all that its proof needs.
    pub async fn record_bundle(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        self.seen_record(caller, id, |inner, reader, seen| inner.bundle(reader, &seen)).await
    }

    /// The verifier's report on a record.
    pub async fn verify_record(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        self.seen_record(caller, id, |inner, reader, seen| {
            let bundle = inner.bundle(reader, &seen)?;
            Ok(record::verify(&bundle.into(), Some(&inner.keys)).to_json())
        })
        .await
    }

    /// The verifier's report on a bundle that the caller holds.
    #[allow(clippy::unused_async)] // as the others of its kind
    pub async fn verify_bundle(&self, _: &Caller, bundle: &Value) -> Result<Object, Problem> {
        Ok(record::verify(bundle, Some(&self.inner.keys)).to_json())
    }

    /// A page of the records chained to a record: those that name it as a parent, oldest first; `cursor`, `limit`.
    pub async fn linked(&self, caller: &Caller, id: &str, query: &Query) -> Result<Object, Problem> {
        let asked = Asked::of(query, &["cursor", "limit"])?;
        let (cursor, limit) = (asked.cursor()?, asked.limit()?);
        let (org, record) = (caller.org.clone(), RecordId::parse(id).ok_or_else(Problem::not_found)?);
        self.seen_record(caller, id, move |_, reader, _| {
            shown_page(&reader.record_children(&org, &record, cursor.as_ref(), limit)?, |row| Ok(listed(row)))
        })
        .await
    }

    /// A record with its bundle and the records chained to it.
    pub async fn record_page(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let (org, record_id) = (caller.org.clone(), RecordId::parse(id).ok_or_else(Problem::not_found)?);
        self.seen_record(caller, id, move |inner, reader, seen| {
            let linked = reader.record_children(&org, &record_id, None, MAX_LINKED)?;
            let linked: Vec<Value> = linked.rows.iter().map(|row| listed(row).into()).collect();
            let (text, seals_at) = match &seen {
                Seen::Sealed(row) => (row.sealed.text.clone(), None),
                Seen::Open { text, seals_at } => (text.clone(), *seals_at),
            };
            let is_sealed = matches!(seen, Seen::Sealed(_));
            let summary = match (is_sealed, seals_at) {
                (true, _) => format!("Record {record_id} is sealed; {} records are chained to it.", linked.len()),
                (false, Some(at)) => format!("Record {record_id} is open and seals by {at}."),
                (false, None) => format!("Record {record_id} is open."),
            };
            Ok(Object::new()
                .with("record_id", record_id.as_str())
                .with("sealed", is_sealed)
                .with("seals_at", seals_at.map_or(Value::Null, Value::from))
                .with("record", json::parse(&text, json::MAX_DEPTH).map_err(|_| unreadable("record"))?)
                .with("bundle", inner.bundle(reader, &seen)?)
                .with("linked", linked)
                .with("summary", summary))
        })
        .await
    }

    /// The published keys, as a JWK set.
    #[allow(clippy::unused_async)] // as the others of its kind
    pub async fn jwks(&self) -> Result<Object, Problem> {
        Ok(self.inner.keys.to_json())
    }

    /// The signed head of the organization's log.
    pub async fn checkpoint(&self, caller: &Caller) -> Result<String, Problem> {
        let org = caller.org.clone();
        self.read(move |inner, reader, _| inner.checkpoint(reader, &org, reader.log_size(&org)?)).await
    }

    /// A tile of the organization's log, by its path below the origin.
    pub async fn tile(&self, caller: &Caller, path: &str) -> Result<Vec<u8>, Problem> {
        let tile = Tile::parse(path).ok_or_else(Problem::not_found)?;
        let org = caller.org.clone();
        self.read(move |_, reader, _| reader.log_tile(&org, &tile)?.ok_or_else(Problem::not_found)).await
    }

    async fn seen_record<T, F>(&self, caller: &Caller, id: &str, query: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Reader<'_>, Seen) -> Result<T, Problem> + Send + 'static,
    {
        let (caller, id) = (caller.clone(), RecordId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |inner, reader, now| {
            let seen = inner.seen_record(reader, &caller, &id, now)?;
            query(inner, reader, seen)
        })
        .await
    }
}

impl Inner {
    fn seen_record(&self, reader: &Reader<'_>, caller: &Caller, id: &RecordId, now: Instant) -> Result<Seen, Problem> {
        if let Some(row) = reader.record(&caller.org, id)? {
            let is_own = caller.role != Role::Agent || row.agent == caller.agent;
            return if is_own { Ok(Seen::Sealed(Box::new(row))) } else { Err(Problem::not_found()) };
        }
        let request: RequestId = reader.open_record(&caller.org, id)?.ok_or_else(Problem::not_found)?;
        let mut payment = self.seen(reader, caller, &request)?;
        payment.tick(now);
        let text = record_of(reader, &payment)?.text();
        Ok(Seen::Open { text: text.map_err(|_| unreadable("record"))?, seals_at: payment.due() })
    }

    fn bundle(&self, reader: &Reader<'_>, seen: &Seen) -> Result<Object, Problem> {
        let row = match seen {
            Seen::Open { text, seals_at } => return Ok(open_bundle(text, seals_at.map(Instant::millis))),
            Seen::Sealed(row) => row,
        };
        let mut bundle = Bundle::new(row.sealed.clone(), Jwks::default());
        let size = reader.log_size(&row.org)?;
        bundle.log = Some(Inclusion {
            index: row.seq,
            proof: reader.log_inclusion(&row.org, row.seq, size)?.ok_or_else(|| unreadable("log"))?,
            checkpoint: self.checkpoint(reader, &row.org, size)?,
        });
        bundle.previous = reader.previous_record(&row.org, row.seq)?.map(|row| row.sealed);
        bundle.parents = reader.record_parents(&row.org, row.seq)?.into_iter().map(|row| row.sealed).collect();
        bundle.children = reader.record_children(&row.org, &row.id, None, MAX_LINKED)?.rows.into_iter().map(|row| row.sealed).collect();
        if let Some(request) = row.request.as_ref().filter(|_| row.kind == Kind::Payment)
            && let Some(payment) = self.payment(reader, &row.org, request)?
        {
            bundle.mandate = payment.mandate().and_then(|mandate| mandate.jws()).map(str::to_owned);
            if let Some(policy) = payment.policy()
                && let (Some(id), Some(version)) = (&policy.id, policy.version)
            {
                bundle.policy = reader.policy(&row.org, id, version)?.map(|row| row.sealed);
            }
        }
        bundle.keys = self.keys_of(&bundle);
        Ok(bundle.to_json())
    }

    /// The keys that the bundle's signatures name.
    fn keys_of(&self, bundle: &Bundle) -> Jwks {
        let own = self.key.public().thumbprint();
        let sealed = std::iter::once(&bundle.record).chain(&bundle.previous).chain(&bundle.parents).chain(&bundle.children).chain(&bundle.policy);
        let named: Vec<&str> = sealed.map(|sealed| sealed.kid.as_str()).chain([own.as_str()]).collect();
        Jwks::new(self.keys.keys().iter().filter(|jwk| named.contains(&jwk.kid.as_str())).cloned().collect()).unwrap_or_default()
    }

    fn checkpoint(&self, reader: &Reader<'_>, org: &OrgId, size: u64) -> Result<String, Problem> {
        let root = reader.log_root(org, size)?.ok_or_else(|| unreadable("log"))?;
        let checkpoint = Checkpoint { origin: self.log_origin(org), size, root };
        checkpoint.sign(&self.key).map_err(|error| Problem::new(500, "checkpoint_unsigned", error.to_string()))
    }

    /// Where the organization's log is served, without the scheme.
    fn log_origin(&self, org: &OrgId) -> String {
        let host = self.base.split_once("://").map_or(self.base.as_str(), |(_, host)| host);
        format!("{host}/log/{org}")
    }
}

/// A record as a list shows it.
fn listed(row: &RecordRow) -> Object {
    Object::new()
        .with("id", row.id.as_str())
        .with("kind", row.kind.as_str())
        .with("seq", row.seq)
        .with("agent_id", row.agent.as_ref().map_or(Value::Null, Value::from))
        .with("request_id", row.request.as_ref().map_or(Value::Null, Value::from))
        .with("hash", record::digest_text(&row.sealed.hash))
        .with("sealed_at", row.sealed_at.to_string())
}
