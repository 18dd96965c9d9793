//! Agents, and the consents they act under.

use control::{
    Instant,
    ids::{AgentId, ConsentId, OrgId},
};
use rusqlite::params;

use crate::{
    Cursor, Page, Reader, StoreError, Tx,
    page::bounded,
    sql::{Columns, Filters},
};

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// Its id.
    pub id: AgentId,
    /// The organization.
    pub org: OrgId,
    /// When it was made.
    pub created_at: Instant,
    /// The agent as stored.
    pub doc: String,
}

/// A consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentRow {
    /// Its id.
    pub id: ConsentId,
    /// The organization.
    pub org: OrgId,
    /// The agent.
    pub agent: AgentId,
    /// `active`, `revoked` or `expired`.
    pub state: String,
    /// When it was given.
    pub created_at: Instant,
    /// The consent as stored.
    pub doc: String,
}

const AGENT: &str = "SELECT id, org, created_at, doc FROM agents";
const CONSENT: &str = "SELECT id, org, agent, state, created_at, doc FROM consents";

fn agent(row: &Columns<'_>) -> rusqlite::Result<AgentRow> {
    Ok(AgentRow { id: row.id(0)?, org: row.id(1)?, created_at: row.at(2)?, doc: row.text(3)? })
}

fn consent(row: &Columns<'_>) -> rusqlite::Result<ConsentRow> {
    Ok(ConsentRow { id: row.id(0)?, org: row.id(1)?, agent: row.id(2)?, state: row.text(3)?, created_at: row.at(4)?, doc: row.text(5)? })
}

impl Reader<'_> {
    /// One of the organization's agents.
    pub fn agent(&self, org: &OrgId, id: &AgentId) -> Result<Option<AgentRow>, StoreError> {
        self.one(&format!("{AGENT} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], agent)
    }

    /// The organization's agents, the newest first.
    pub fn agents(&self, org: &OrgId, cursor: Option<&Cursor>, limit: u32) -> Result<Page<AgentRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("org", org.as_str().to_owned());
        let (sql, params) = filters.newest_first(AGENT, ["created_at", "id"], cursor, bounded(limit));
        let rows = self.all(&sql, params, agent)?;
        Ok(Page::of(rows, bounded(limit), |last| Cursor { at: last.created_at.millis(), id: last.id.as_str().into() }))
    }

    /// One of the organization's consents.
    pub fn consent(&self, org: &OrgId, id: &ConsentId) -> Result<Option<ConsentRow>, StoreError> {
        self.one(&format!("{CONSENT} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], consent)
    }

    /// The organization's consents, the newest first; of an agent, or in a state.
    pub fn consents(
        &self,
        org: &OrgId,
        agent: Option<&AgentId>,
        state: Option<&str>,
        cursor: Option<&Cursor>,
        limit: u32,
    ) -> Result<Page<ConsentRow>, StoreError> {
        let mut filters = Filters::default();
        filters.equal("org", org.as_str().to_owned()).maybe("agent", agent.map(AgentId::as_str)).maybe("state", state);
        let (sql, params) = filters.newest_first(CONSENT, ["created_at", "id"], cursor, bounded(limit));
        let rows = self.all(&sql, params, consent)?;
        Ok(Page::of(rows, bounded(limit), |last| Cursor { at: last.created_at.millis(), id: last.id.as_str().into() }))
    }
}

impl Tx<'_> {
    /// Adds or changes an agent. Its organization and when it was made stay as they are.
    pub fn put_agent(&mut self, agent: &AgentRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO agents (id, org, created_at, doc) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET doc = excluded.doc";
        self.run(SQL, params![agent.id.as_str(), agent.org.as_str(), agent.created_at.millis(), agent.doc]).map(drop)
    }

    /// Adds a consent, or changes its state and what is stored of it.
    pub fn put_consent(&mut self, consent: &ConsentRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO consents (id, org, agent, state, created_at, doc) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, doc = excluded.doc";
        let row = params![consent.id.as_str(), consent.org.as_str(), consent.agent.as_str(), consent.state, consent.created_at.millis(), consent.doc];
        self.run(SQL, row).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, at, bits, org};

    #[test]
    fn agents_are_changed_and_paged() {
        alone(|tx| {
            let row = |number: u64| AgentRow { id: AgentId::of(bits(number)), org: org(), created_at: at(7), doc: "{}".into() };
            for number in 1..=5 {
                tx.put_agent(&row(number)).unwrap();
            }
            let paused = AgentRow { doc: r#"{"paused":true}"#.into(), ..row(2) };
            tx.put_agent(&AgentRow { created_at: at(9), ..paused.clone() }).unwrap();
            assert_eq!(tx.agent(&org(), &paused.id), Ok(Some(paused.clone())));
            assert_eq!(tx.agent(&OrgId::of(bits(2)), &paused.id), Ok(None));
            let first = tx.agents(&org(), None, 3).unwrap();
            let second = tx.agents(&org(), first.next.as_ref(), 3).unwrap();
            assert_eq!([first.rows, second.rows].concat(), [row(5), row(4), row(3), paused, row(1)]);
            assert_eq!(second.next, None);
        });
    }

    #[test]
    fn consents_are_changed_and_filtered() {
        alone(|tx| {
            let row = |number: u64, agent: u64, state: &str| ConsentRow {
                id: ConsentId::of(bits(number)),
                org: org(),
                agent: AgentId::of(bits(agent)),
                state: state.into(),
                created_at: at(i64::try_from(number).unwrap()),
                doc: "{}".into(),
            };
            let agent = AgentId::of(bits(1));
            for consent in [row(1, 1, "active"), row(2, 1, "active"), row(3, 1, "revoked"), row(4, 2, "active")] {
                tx.put_consent(&consent).unwrap();
            }
            tx.put_consent(&row(2, 1, "revoked")).unwrap();
            let page = tx.consents(&org(), Some(&agent), Some("revoked"), None, 1).unwrap();
            assert_eq!(page.rows, [row(3, 1, "revoked")]);
            let page = tx.consents(&org(), Some(&agent), Some("revoked"), page.next.as_ref(), 1).unwrap();
            assert_eq!((page.rows, page.next), (vec![row(2, 1, "revoked")], None));
            assert_eq!(tx.consents(&org(), None, None, None, 10).unwrap().rows.len(), 4);
            assert_eq!(tx.consent(&org(), &row(4, 2, "").id), Ok(Some(row(4, 2, "active"))));
        });
    }
}
