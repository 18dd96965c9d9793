//! Mandates: which request each is of, its state, and the seller's order that used it.

use control::{
    Instant,
    ids::{AgentId, MandateId, OrgId, RequestId},
};
use rusqlite::params;

use crate::{
    Cursor, Page, Reader, StoreError, Tx,
    page::bounded,
    sql::{Columns, Filters},
};

/// A mandate. What it authorizes stands in its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MandateRow {
    /// Its id.
    pub id: MandateId,
    /// The organization.
    pub org: OrgId,
    /// The agent.
    pub agent: AgentId,
    /// The request.
    pub request: RequestId,
    /// `issued`, `consumed`, `expired` or `void`.
    pub state: String,
    /// Whom it pays: the payee's domain, or what else names it; empty if nothing does.
    pub payee: String,
    /// When it was issued.
    pub issued_at: Instant,
    /// Good before then.
    pub expires_at: Instant,
    /// The seller's id of the order that used it.
    pub order_id: Option<String>,
}

/// Which mandates a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct MandateFilter<'a> {
    /// Those of this agent.
    pub agent: Option<&'a AgentId>,
    /// Those in this state.
    pub state: Option<&'a str>,
}

const MANDATE: &str = "SELECT id, org, agent, request, state, payee, issued_at, expires_at, order_id FROM mandates";

fn mandate(row: &Columns<'_>) -> rusqlite::Result<MandateRow> {
    Ok(MandateRow {
        id: row.id(0)?,
        org: row.id(1)?,
        agent: row.id(2)?,
        request: row.id(3)?,
        state: row.text(4)?,
        payee: row.text(5)?,
        issued_at: row.at(6)?,
        expires_at: row.at(7)?,
        order_id: row.get(8)?,
    })
}

impl Reader<'_> {
    /// One of the organization's mandates.
    pub fn mandate(&self, org: &OrgId, id: &MandateId) -> Result<Option<MandateRow>, StoreError> {
        self.one(&format!("{MANDATE} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], mandate)
    }

    /// The mandate that the payee's order of that id used.
    fn mandate_by_order(&self, org: &OrgId, payee: &str, order_id: &str) -> Result<Option<MandateRow>, StoreError> {
        self.one(&format!("{MANDATE} WHERE org = $1 AND payee = $2 AND order_id = $3"), [org.as_str(), payee, order_id], mandate)
    }

    /// The organization's mandates, the newest first.
    pub fn mandates(&self, org: &OrgId, filter: MandateFilter<'_>, cursor: Option<&Cursor>, limit: u32) -> Result<Page<MandateRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("org", org.as_str().to_owned()).maybe("agent", filter.agent.map(AgentId::as_str)).maybe("state", filter.state);
        let (sql, params) = filters.newest_first(MANDATE, ["issued_at", "id"], cursor, bounded(limit));
        let rows = self.all(&sql, params, mandate)?;
        Ok(Page::of(rows, bounded(limit), |last| Cursor { at: last.issued_at.millis(), id: last.id.as_str().into() }))
    }
}

impl Tx<'_> {
    /// Adds a mandate, or changes its state and order; `false`, and nothing happens, if another mandate was used by an
    /// order of the same payee and id.
    pub fn put_mandate(&mut self, mandate: &MandateRow) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO mandates (id, org, agent, request, state, payee, issued_at, expires_at, order_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, order_id = excluded.order_id";
        if let Some(order_id) = &mandate.order_id
            && self.mandate_by_order(&mandate.org, &mandate.payee, order_id)?.is_some_and(|other| other.id != mandate.id)
        {
            return Ok(false);
        }
        let row = params![
            mandate.id.as_str(),
            mandate.org.as_str(),
            mandate.agent.as_str(),
            mandate.request.as_str(),
            mandate.state,
            mandate.payee,
            mandate.issued_at.millis(),
            mandate.expires_at.millis(),
            mandate.order_id
        ];
        self.run(SQL, row).map(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{agent, alone, at, bits, org, request};

    #[test]
    fn an_order_uses_one_mandate_of_its_payee() {
        alone(|tx| {
            tx.insert_request(&request(1)).unwrap();
            let mandate = |number: u64| MandateRow {
                id: MandateId::of(bits(number)),
                org: org(),
                agent: agent(1),
                request: request(1).id,
                state: "issued".into(),
                payee: "shop.example".into(),
                issued_at: at(1),
                expires_at: at(2),
                order_id: None,
            };
            assert_eq!((tx.put_mandate(&mandate(1)), tx.put_mandate(&mandate(2))), (Ok(true), Ok(true)));
            assert_eq!(tx.mandate(&OrgId::of(bits(2)), &mandate(1).id), Ok(None));
            let used = |number| MandateRow { state: "consumed".into(), order_id: Some("order 1".into()), ..mandate(number) };
            assert_eq!((tx.put_mandate(&used(1)), tx.put_mandate(&used(1)), tx.put_mandate(&used(2))), (Ok(true), Ok(true), Ok(false)));
            assert_eq!((tx.mandate(&org(), &mandate(1).id), tx.mandate(&org(), &mandate(2).id)), (Ok(Some(used(1))), Ok(Some(mandate(2)))));
            assert_eq!(tx.put_mandate(&MandateRow { payee: "other.example".into(), ..used(3) }), Ok(true), "each payee counts its own orders");
            let listed = |agent: Option<&AgentId>, state| tx.mandates(&org(), MandateFilter { agent, state }, None, 10).unwrap().rows.len();
            assert_eq!(
                (listed(None, None), listed(None, Some("consumed")), listed(Some(&agent(1)), Some("issued")), listed(Some(&agent(2)), None)),
                (3, 2, 1, 0)
            );
        });
    }
}
