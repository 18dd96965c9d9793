//! Approvals: which request each is of, and which wait.

use control::{
    Instant,
    ids::{ApprovalId, OrgId, RequestId},
};
use rusqlite::params;

use crate::{Reader, StoreError, Tx, page::MAX_PAGE, sql::Columns};

/// An approval. What it is about stands in its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRow {
    /// Its id.
    pub id: ApprovalId,
    /// The organization.
    pub org: OrgId,
    /// The request.
    pub request: RequestId,
    /// `pending` while it waits for a person.
    pub state: String,
    /// When it was asked for.
    pub created_at: Instant,
    /// Good before then.
    pub expires_at: Instant,
}

const APPROVAL: &str = "SELECT id, org, request, state, created_at, expires_at FROM approvals";

fn approval(row: &Columns<'_>) -> rusqlite::Result<ApprovalRow> {
    Ok(ApprovalRow { id: row.id(0)?, org: row.id(1)?, request: row.id(2)?, state: row.text(3)?, created_at: row.at(4)?, expires_at: row.at(5)? })
}

impl Reader<'_> {
    /// One of the organization's approvals.
    pub fn approval(&self, org: &OrgId, id: &ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
        self.one(&format!("{APPROVAL} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], approval)
    }

    /// The organization's approvals that wait for a person, the oldest first, at most [`MAX_PAGE`].
    pub fn approvals_waiting(&self, org: &OrgId) -> Result<Vec<ApprovalRow>, StoreError> {
        let sql = format!("{APPROVAL} WHERE org = $1 AND state = 'pending' ORDER BY created_at, id LIMIT {MAX_PAGE}");
        self.all(&sql, [org.as_str()], approval)
    }
}

impl Tx<'_> {
    /// Adds an approval, or changes its state and until when it is good.
    pub fn put_approval(&mut self, approval: &ApprovalRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO approvals (id, org, request, state, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, expires_at = excluded.expires_at";
        let row = params![
            approval.id.as_str(),
            approval.org.as_str(),
            approval.request.as_str(),
            approval.state,
            approval.created_at.millis(),
            approval.expires_at.millis()
        ];
        self.run(SQL, row).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, at, bits, org, request};

    #[test]
    fn an_approval_waits_until_it_is_answered() {
        alone(|tx| {
            tx.insert_request(&request(1)).unwrap();
            let mut approval = ApprovalRow {
                id: ApprovalId::of(bits(1)),
                org: org(),
                request: request(1).id,
                state: "pending".into(),
                created_at: at(1),
                expires_at: at(2),
            };
            tx.put_approval(&approval).unwrap();
            assert_eq!(tx.approval(&OrgId::of(bits(2)), &approval.id), Ok(None));
            assert_eq!(tx.approvals_waiting(&org()).unwrap(), [approval.clone()]);
            approval.state = "approved".into();
            tx.put_approval(&approval).unwrap();
            assert_eq!((tx.approvals_waiting(&org()), tx.approval(&org(), &approval.id)), (Ok(vec![]), Ok(Some(approval))));
        });
    }
}
