//! Agents: making them, stopping them, letting them go on.

use control::{
    Instant,
    actor::Actor,
    agent::{Agent, PauseReason, read_resume},
    ids::{AgentId, OrgId},
};
use lcp::{Object, Value, json};
use store::{AgentRow, Reader, Tx};

use super::{
    Inner, Service,
    clock::OsIds,
    query::{Asked, Query},
    shown_page, stored,
};
use crate::{Caller, Problem};

impl Service {
    /// A page of the organization's agents, newest first: `cursor`, `limit`.
    pub async fn agents(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        let asked = Asked::of(query, &["cursor", "limit"])?;
        let (org, cursor, limit) = (caller.org.clone(), asked.cursor()?, asked.limit()?);
        self.read(move |_, reader, _| shown_page(&reader.agents(&org, cursor.as_ref(), limit)?, |row| Ok(agent(row)?.to_json()))).await
    }

    /// A new agent: `{"name"}`.
    pub async fn create_agent(&self, caller: &Caller, body: &Value) -> Result<Object, Problem> {
        let (org, body) = (caller.org.clone(), body.clone());
        self.write(move |_, tx, now| {
            let agent = Agent::create(&body, now, &mut OsIds)?;
            put_agent(tx, &org, &agent)?;
            Ok(agent.to_json())
        })
        .await
    }

    /// One agent.
    pub async fn agent(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let (org, id) = (caller.org.clone(), AgentId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |_, reader, _| Ok(known_agent(reader, &org, &id)?.to_json())).await
    }

    /// Stops an agent: whatever it asks is denied, its mandates are not good, and what waits for a person can no longer be
    /// approved. A linked record says so.
    pub async fn pause_agent(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        let (caller, id, reason) = (caller.clone(), AgentId::parse(id).ok_or_else(Problem::not_found)?, PauseReason::read(body)?);
        self.write(move |inner, tx, now| inner.pause(tx, &caller.org, &id, reason, Actor::Key(caller.key), now)).await
    }

    /// Lets a stopped agent go on.
    pub async fn resume_agent(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        read_resume(body)?;
        let (caller, id) = (caller.clone(), AgentId::parse(id).ok_or_else(Problem::not_found)?);
        self.write(move |inner, tx, now| inner.resume(tx, &caller.org, &id, &Actor::Key(caller.key), now)).await
    }
}

impl Inner {
    /// Pauses an agent; one that is paused stays as it is.
    pub(super) fn pause(&self, tx: &mut Tx<'_>, org: &OrgId, id: &AgentId, reason: PauseReason, by: Actor, now: Instant) -> Result<Object, Problem> {
        let mut agent = known_agent(tx, org, id)?;
        if let Some(record) = agent.pause(reason, by, Vec::new(), now, &mut OsIds) {
            self.append_linked(tx, org, (Some(id), None), record, now)?;
            put_agent(tx, org, &agent)?;
        }
        Ok(agent.to_json())
    }

    /// Resumes an agent; one that is not paused stays as it is.
    pub(super) fn resume(&self, tx: &mut Tx<'_>, org: &OrgId, id: &AgentId, by: &Actor, now: Instant) -> Result<Object, Problem> {
        let mut agent = known_agent(tx, org, id)?;
        if let Some(record) = agent.resume(by, now, &mut OsIds) {
            self.append_linked(tx, org, (Some(id), None), record, now)?;
            put_agent(tx, org, &agent)?;
        }
        Ok(agent.to_json())
    }
}

/// The agent of that id.
pub(super) fn known_agent(reader: &Reader<'_>, org: &OrgId, id: &AgentId) -> Result<Agent, Problem> {
    agent(&reader.agent(org, id)?.ok_or_else(Problem::not_found)?)
}

/// Saves an agent.
pub(super) fn put_agent(tx: &mut Tx<'_>, org: &OrgId, agent: &Agent) -> Result<(), Problem> {
    let row = AgentRow { id: agent.id.clone(), org: org.clone(), created_at: agent.created_at, doc: json::write(&agent.to_stored().into()) };
    Ok(tx.put_agent(&row)?)
}

/// The agent of a row.
pub(super) fn agent(row: &AgentRow) -> Result<Agent, Problem> {
    stored(&row.doc, "agent", Agent::from_stored)
}
