//! Payment requests, and what was asked before.

use control::{
    Instant,
    ids::{AgentId, ApprovalId, KeyId, MandateId, OrgId, RecordId, RequestId},
};
use rusqlite::{Params, params};

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
    /// What became of it, as later requests see it.
    pub outcome: String,
    /// When it was made.
    pub created_at: Instant,
    /// What names its payee, if anything does.
    pub payee_key: Option<String>,
    /// What requests that ask for the same have in common: a digest, or another short text.
    pub fact_key: Option<String>,
    /// What attempts at one payment have in common: a digest, or another short text.
    pub attempt_key: Option<String>,
    /// The request as stored, without secrets.
    pub doc: String,
    /// Its secrets, sealed by a [`crate::Vault`].
    pub secrets: Option<Vec<u8>>,
}

const REQUEST: &str =
    "SELECT id, org, agent, key_id, record_id, state, outcome, created_at, payee_key, fact_key, attempt_key, doc, secrets FROM requests";

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
        payee_key: row.get(8)?,
        fact_key: row.get(9)?,
        attempt_key: row.get(10)?,
        doc: row.text(11)?,
        secrets: row.get(12)?,
    })
}

impl Reader<'_> {
    /// One of the organization's requests.
    pub fn request(&self, org: &OrgId, id: &RequestId) -> Result<Option<RequestRow>, StoreError> {
        self.one(&format!("{REQUEST} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], request)
    }

    /// The request of one of the organization's approvals.
    pub fn request_by_approval(&self, org: &OrgId, approval: &ApprovalId) -> Result<Option<RequestRow>, StoreError> {
        self.request_by("SELECT request FROM approvals WHERE id = $1 AND org = $2", org, [approval.as_str(), org.as_str()])
    }

    /// The request of one of the organization's mandates.
    pub fn request_by_mandate(&self, org: &OrgId, mandate: &MandateId) -> Result<Option<RequestRow>, StoreError> {
        self.request_by("SELECT request FROM mandates WHERE id = $1 AND org = $2", org, [mandate.as_str(), org.as_str()])
    }

    /// The request of one of the organization's records, open or sealed; `None` if the record is of no request.
    pub fn request_by_record(&self, org: &OrgId, record: &RecordId) -> Result<Option<RequestRow>, StoreError> {
        const OPEN: &str = "SELECT request FROM open_records WHERE id = $1 AND org = $2";
        const SEALED: &str = "SELECT request FROM records WHERE id = $1 AND org = $2 AND request IS NOT NULL";
        match self.request_by(OPEN, org, [record.as_str(), org.as_str()])? {
            None => self.request_by(SEALED, org, [record.as_str(), org.as_str()]),
            open => Ok(open),
        }
    }

    fn request_by(&self, sql: &str, org: &OrgId, params: impl Params) -> Result<Option<RequestRow>, StoreError> {
        match self.one(sql, params, |row| row.id(0))? {
            Some(id) => self.request(org, &id),
            None => Ok(None),
        }
    }

    /// The organization's requests, the newest first; of an agent, if one is given.
    pub fn requests(&self, org: &OrgId, agent: Option<&AgentId>, cursor: Option<&Cursor>, limit: u32) -> Result<Page<RequestRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("org", org.as_str().to_owned()).maybe("agent", agent.map(AgentId::as_str));
        let (sql, params) = filters.newest_first(REQUEST, ["created_at", "id"], cursor, bounded(limit));
        let rows = self.all(&sql, params, request)?;
        Ok(Page::of(rows, bounded(limit), |last| Cursor { at: last.created_at.millis(), id: last.id.as_str().into() }))
    }

    /// The agent's requests whose records are open, the oldest first.
    pub fn open_requests(&self, org: &OrgId, agent: &AgentId) -> Result<Vec<RequestRow>, StoreError> {
        const OPEN: &str = "WHERE org = $1 AND agent = $2 AND id IN (SELECT request FROM open_records WHERE org = $1) ORDER BY created_at, id";
        self.all(&format!("{REQUEST} {OPEN}"), [org.as_str(), agent.as_str()], request)
    }

    /// The agent's requests for the same since then, the newest first, at most [`MAX_EARLIER`].
    pub fn earlier_facts(&self, agent: &AgentId, fact_key: &str, since: Instant) -> Result<Vec<RequestRow>, StoreError> {
        let sql = format!("{REQUEST} WHERE agent = $1 AND fact_key = $2 AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT {MAX_EARLIER}");
        self.all(&sql, params![agent.as_str(), fact_key, since.millis()], request)
    }

    /// The agent's attempts at the same payment since then, the newest first, at most [`MAX_EARLIER`].
    pub fn earlier_attempts(&self, agent: &AgentId, attempt_key: &str, since: Instant) -> Result<Vec<RequestRow>, StoreError> {
        let sql =
            format!("{REQUEST} WHERE agent = $1 AND attempt_key = $2 AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT {MAX_EARLIER}");
        self.all(&sql, params![agent.as_str(), attempt_key, since.millis()], request)
    }
}

impl Tx<'_> {
    /// Adds a request.
    pub fn insert_request(&mut self, request: &RequestRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO requests
            (id, org, agent, key_id, record_id, state, outcome, created_at, payee_key, fact_key, attempt_key, doc, secrets)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
        let row = params![
            request.id.as_str(),
            request.org.as_str(),
            request.agent.as_str(),
            request.key.as_str(),
            request.record_id.as_str(),
            request.state,
            request.outcome,
            request.created_at.millis(),
            request.payee_key,
            request.fact_key,
            request.attempt_key,
            request.doc,
            request.secrets
        ];
        self.run(SQL, row).map(drop)
    }

    /// Changes a request's state, outcome, what is stored of it, and its secrets; `false` if the organization has no such
    /// request.
    pub fn update_request(
        &mut self,
        org: &OrgId,
        id: &RequestId,
        state: &str,
        outcome: &str,
        doc: &str,
        secrets: Option<&[u8]>,
    ) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE requests SET state = $1, outcome = $2, doc = $3, secrets = $4 WHERE id = $5 AND org = $6";
        self.run(SQL, params![state, outcome, doc, secrets, id.as_str(), org.as_str()]).map(|found| found == 1)
    }
}

impl std::fmt::Debug for RequestRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestRow").field("id", &self.id).field("state", &self.state).field("doc", &self.doc).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ApprovalRow, MandateFilter, MandateRow,
        testing::{agent, alone, at, bits, org, request},
    };

    fn other_org() -> OrgId {
        OrgId::of(bits(2))
    }

    fn numbers(rows: &[RequestRow]) -> Vec<i64> {
        rows.iter().map(|row| row.created_at.millis()).collect()
    }

    #[test]
    fn a_request_is_kept_and_changed() {
        alone(|tx| {
            let row = RequestRow { payee_key: None, secrets: Some(vec![1, 2]), ..request(1) };
            tx.insert_request(&row).unwrap();
            assert_eq!(tx.request(&org(), &row.id), Ok(Some(row.clone())));
            assert_eq!(tx.request(&other_org(), &row.id), Ok(None));
            assert_eq!(tx.update_request(&other_org(), &row.id, "x", "x", "{}", None), Ok(false));
            assert_eq!(tx.update_request(&org(), &row.id, "executed", "failed", "{}", None), Ok(true));
            let changed = RequestRow { state: "executed".into(), outcome: "failed".into(), doc: "{}".into(), secrets: None, ..row };
            assert_eq!(tx.request(&org(), &changed.id), Ok(Some(changed)));
        });
    }

    #[test]
    fn earlier_requests_come_newest_first_and_bounded() {
        alone(|tx| {
            for number in 1..=300 {
                let fact_key = Some(if number % 2 == 0 { "even" } else { "odd" }.to_owned());
                tx.insert_request(&RequestRow { fact_key, ..request(number) }).unwrap();
            }
            tx.insert_request(&RequestRow { agent: agent(2), ..request(301) }).unwrap();
            assert_eq!(numbers(&tx.earlier_facts(&agent(1), "even", at(290)).unwrap()), [300, 298, 296, 294, 292, 290]);
            let attempts = tx.earlier_attempts(&agent(1), "attempts", at(0)).unwrap();
            assert_eq!(numbers(&attempts), (101..=300).rev().collect::<Vec<_>>());
            assert_eq!(tx.earlier_facts(&agent(1), "none", at(0)), Ok(vec![]));
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
                let page = tx.requests(&org(), Some(&agent(1)), cursor.as_ref(), 3).unwrap();
                found.extend(page.rows.iter().map(|row| row.id.clone()));
                tx.insert_request(&request(number)).unwrap();
                let Some(next) = page.next else { break };
                cursor = Cursor::parse(&next.to_string());
                assert!(cursor.is_some());
            }
            assert_eq!(found, (1..=20).rev().map(|number| request(number).id).collect::<Vec<_>>());
            assert_eq!(tx.requests(&org(), Some(&agent(2)), None, 3).unwrap().rows, []);
            assert_eq!(tx.requests(&org(), None, None, 0).unwrap().rows.len(), 1);
        });
    }

    #[test]
    fn found_by_approval_and_mandate() {
        alone(|tx| {
            let row = request(1);
            tx.insert_request(&row).unwrap();
            let mut approval = ApprovalRow {
                id: ApprovalId::of(bits(1)),
                org: org(),
                request: row.id.clone(),
                state: "pending".into(),
                created_at: at(1),
                expires_at: at(2),
            };
            tx.put_approval(&approval).unwrap();
            assert_eq!(tx.request_by_approval(&org(), &approval.id), Ok(Some(row.clone())));
            assert_eq!(tx.request_by_approval(&other_org(), &approval.id), Ok(None));
            assert_eq!(tx.approvals_waiting(&org()).unwrap(), [approval.clone()]);
            approval.state = "approved".into();
            tx.put_approval(&approval).unwrap();
            assert_eq!((tx.approvals_waiting(&org()), tx.approval(&org(), &approval.id)), (Ok(vec![]), Ok(Some(approval))));

            let mandate = |number: u64| MandateRow {
                id: MandateId::of(bits(number)),
                org: org(),
                agent: agent(1),
                request: row.id.clone(),
                state: "issued".into(),
                payee: "shop.example".into(),
                issued_at: at(1),
                expires_at: at(2),
                order_id: None,
            };
            assert_eq!((tx.put_mandate(&mandate(1)), tx.put_mandate(&mandate(2))), (Ok(true), Ok(true)));
            assert_eq!(tx.request_by_mandate(&org(), &mandate(1).id), Ok(Some(row.clone())));
            assert_eq!(tx.request_by_mandate(&other_org(), &mandate(1).id), Ok(None));
            let used = |number| MandateRow { state: "consumed".into(), order_id: Some("order 1".into()), ..mandate(number) };
            assert_eq!((tx.put_mandate(&used(1)), tx.put_mandate(&used(1)), tx.put_mandate(&used(2))), (Ok(true), Ok(true), Ok(false)));
            assert_eq!(tx.mandate_by_order(&org(), "shop.example", "order 1"), Ok(Some(used(1))));
            assert_eq!(tx.mandate(&org(), &mandate(2).id), Ok(Some(mandate(2))));
            assert_eq!(tx.put_mandate(&MandateRow { payee: "other.example".into(), ..used(3) }), Ok(true), "each payee counts its own orders");
            let listed = |agent: Option<&AgentId>, state| tx.mandates(&org(), MandateFilter { agent, state }, None, 10).unwrap().rows.len();
            assert_eq!(
                (listed(None, None), listed(None, Some("consumed")), listed(Some(&agent(1)), Some("issued")), listed(Some(&agent(2)), None)),
                (3, 2, 1, 0)
            );
        });
    }
}
