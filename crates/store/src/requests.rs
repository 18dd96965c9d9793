//! Payment requests, and what was asked before.

use control::{
    Instant,
    ids::{AgentId, KeyId, OrgId, RecordId, RequestId},
};
use rusqlite::params;

use crate::{
    Cursor, Page, Reader, StoreError, Tx,
    page::bounded,
    sql::{Columns, Filters},
};

/// The most earlier requests that are given at once.
pub const MAX_EARLIER: u32 = 200;

/// A payment request.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// Its id.
    pub id: RequestId,
    /// The organization.
    pub org: OrgId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The key that it asked with.
    pub key: KeyId,
    /// Its record, open or sealed.
    pub record_id: RecordId,
    /// Its state.
    pub state: String,
    /// What became of it, as later requests see it: the name of a [`control::decision::Outcome`].
    pub outcome: String,
    /// When it was made.
    pub created_at: Instant,
    /// What requests that ask for the same have in common: a digest, or another short text.
    pub fact_key: String,
    /// What attempts at one payment have in common: a digest, or another short text.
    pub attempt_key: String,
    /// The request as stored, without secrets.
    pub doc: String,
    /// Its secrets, sealed by a [`crate::Vault`].
    pub secrets: Option<Vec<u8>>,
}

const REQUEST: &str = "SELECT id, org, agent, key_id, record_id, state, outcome, created_at, fact_key, attempt_key, doc, secrets FROM requests";

fn request(row: &Columns<'_>) -> rusqlite::Result<RequestRow> {
    Ok(RequestRow {
        id: row.id(0)?,
        org: row.id(1)?,
        agent: row.id(2)?,
        key: row.id(3)?,
        record_id: row.id(4)?,
        state: row.text(5)?,
        outcome: row.text(6)?,
        created_at: row.at(7)?,
        fact_key: row.text(8)?,
        attempt_key: row.text(9)?,
        doc: row.text(10)?,
        secrets: row.get(11)?,
    })
}

impl Reader<'_> {
    /// One of the organization's requests.
    pub fn request(&self, org: &OrgId, id: &RequestId) -> Result<Option<RequestRow>, StoreError> {
        self.one(&format!("{REQUEST} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], request)
    }

    /// The organization's requests, the newest first.
    pub fn requests(&self, org: &OrgId, cursor: Option<&Cursor>, limit: u32) -> Result<Page<RequestRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("org", org.as_str().to_owned());
        let (sql, params) = filters.newest_first(REQUEST, ["created_at", "id"], cursor, bounded(limit));
        let rows = self.all(&sql, params, request)?;
        Ok(Page::of(rows, bounded(limit), |last| Cursor { at: last.created_at.millis(), id: last.id.as_str().into() }))
    }

    /// The ids of the agent's requests whose records are open, the oldest first. There may be very many: whoever wants them
    /// whole reads one after the other.
    pub fn open_requests(&self, org: &OrgId, agent: &AgentId) -> Result<Vec<RequestId>, StoreError> {
        const OPEN: &str = "SELECT id FROM requests WHERE org = $1 AND agent = $2 AND id IN (SELECT request FROM open_records WHERE org = $1)
            ORDER BY created_at, id";
        self.all(OPEN, [org.as_str(), agent.as_str()], |row| row.id(0))
    }

    /// The agent's requests for the same since then of which something came or may come (their outcome is not
    /// `failed`), the newest first, at most [`MAX_EARLIER`].
    pub fn earlier_facts(&self, agent: &AgentId, fact_key: &str, since: Instant) -> Result<Vec<RequestRow>, StoreError> {
        self.earlier("fact_key = $2 AND outcome <> 'failed'", agent, fact_key, since)
    }

    /// The agent's attempts at the same payment since then that came to nothing here (their outcome is not `live`), the
    /// newest first, at most [`MAX_EARLIER`].
    pub fn earlier_attempts(&self, agent: &AgentId, attempt_key: &str, since: Instant) -> Result<Vec<RequestRow>, StoreError> {
        self.earlier("attempt_key = $2 AND outcome <> 'live'", agent, attempt_key, since)
    }

    fn earlier(&self, is_meant: &str, agent: &AgentId, key: &str, since: Instant) -> Result<Vec<RequestRow>, StoreError> {
        let sql = format!("{REQUEST} WHERE agent = $1 AND {is_meant} AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT {MAX_EARLIER}");
        self.all(&sql, params![agent.as_str(), key, since.millis()], request)
    }
}

impl Tx<'_> {
    /// Adds a request.
    pub fn insert_request(&mut self, request: &RequestRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO requests
            (id, org, agent, key_id, record_id, state, outcome, created_at, fact_key, attempt_key, doc, secrets)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let row = params![
            request.id.as_str(),
            request.org.as_str(),
            request.agent.as_str(),
            request.key.as_str(),
            request.record_id.as_str(),
            request.state,
            request.outcome,
            request.created_at.millis(),
            request.fact_key,
            request.attempt_key,
            request.doc,
            request.secrets
        ];
        self.run(SQL, row).map(drop)
    }

    /// Changes a request's state and outcome, what is stored of it, and its secrets; `false` if the organization has no such request.
    /// All else of a request stays as it is.
    pub fn update_request(&mut self, request: &RequestRow) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE requests SET state = $1, outcome = $2, doc = $3, secrets = $4 WHERE id = $5 AND org = $6";
        let row = params![request.state, request.outcome, request.doc, request.secrets, request.id.as_str(), request.org.as_str()];
        self.run(SQL, row).map(|found| found == 1)
    }
}

impl std::fmt::Debug for RequestRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestRow").field("id", &self.id).field("state", &self.state).field("doc", &self.doc).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use control::decision::Outcome;

    use super::*;
    use crate::testing::{agent, alone, at, bits, org, request};

    fn other_org() -> OrgId {
        OrgId::of(bits(2))
    }

    fn numbers(rows: &[RequestRow]) -> Vec<i64> {
        rows.iter().map(|row| row.created_at.millis()).collect()
    }

    #[test]
    fn a_request_is_kept_and_changed() {
        alone(|tx| {
            let row = RequestRow { secrets: Some(vec![1, 2]), ..request(1) };
            tx.insert_request(&row).unwrap();
            assert_eq!(tx.request(&org(), &row.id), Ok(Some(row.clone())));
            assert_eq!(tx.request(&other_org(), &row.id), Ok(None));
            let changed = RequestRow { state: "executed".into(), doc: "{}".into(), secrets: None, ..row };
            assert_eq!(tx.update_request(&RequestRow { org: other_org(), ..changed.clone() }), Ok(false));
            assert_eq!(tx.update_request(&changed), Ok(true));
            assert_eq!(tx.request(&org(), &changed.id), Ok(Some(changed)));
        });
    }

    #[test]
    fn earlier_requests_come_newest_first_and_bounded() {
        alone(|tx| {
            for number in 1..=300 {
                let (fact_key, outcome) = if number % 2 == 0 { ("even", Outcome::Live) } else { ("odd", Outcome::Failed) };
                let outcome = if number == 300 { Outcome::HandedOff } else { outcome };
                let row = RequestRow { fact_key: fact_key.into(), outcome: outcome.as_str().into(), ..request(number) };
                tx.insert_request(&row).unwrap();
            }
            tx.insert_request(&RequestRow { agent: agent(2), ..request(301) }).unwrap();
            assert_eq!(numbers(&tx.earlier_facts(&agent(1), "even", at(290)).unwrap()), [300, 298, 296, 294, 292, 290]);
            assert_eq!(tx.earlier_facts(&agent(1), "odd", at(0)), Ok(vec![]), "of these nothing came");
            assert_eq!(numbers(&tx.earlier_attempts(&agent(1), "attempts", at(295)).unwrap()), [300, 299, 297, 295]);
            let failed = RequestRow { fact_key: "even".into(), outcome: Outcome::Failed.as_str().into(), ..request(298) };
            assert_eq!(tx.update_request(&failed), Ok(true));
            assert_eq!(numbers(&tx.earlier_facts(&agent(1), "even", at(296)).unwrap()), [300, 296]);
            assert_eq!(numbers(&tx.earlier_attempts(&agent(1), "attempts", at(296)).unwrap()), [300, 299, 298, 297]);
            assert_eq!(tx.earlier_facts(&agent(1), "none", at(0)), Ok(vec![]));
            for number in 400..650 {
                tx.insert_request(&request(number)).unwrap();
            }
            let all = tx.earlier_facts(&agent(1), "facts", at(0)).unwrap();
            assert_eq!(numbers(&all), (450..650).rev().collect::<Vec<_>>());
        });
    }

    #[test]
    fn cursors_stand_still_while_requests_are_made() {
        alone(|tx| {
            // Several of one instant.
            for number in 1..=20 {
                tx.insert_request(&RequestRow { created_at: at(i64::try_from(number / 6).unwrap()), ..request(number) }).unwrap();
            }
            let (mut found, mut cursor) = (Vec::new(), None);
            for number in 21.. {
                let page = tx.requests(&org(), cursor.as_ref(), 3).unwrap();
                found.extend(page.rows.iter().map(|row| row.id.clone()));
                tx.insert_request(&request(number)).unwrap();
                let Some(next) = page.next else { break };
                cursor = Cursor::parse(&next.to_string());
                assert!(cursor.is_some());
            }
            assert_eq!(found, (1..=20).rev().map(|number| request(number).id).collect::<Vec<_>>());
            assert_eq!(tx.requests(&other_org(), None, 3).unwrap().rows, []);
            assert_eq!(tx.requests(&org(), None, 0).unwrap().rows.len(), 1);
        });
    }
}
