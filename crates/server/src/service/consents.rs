//! Consents: a principal's standing authorization of one agent, and its end.

use control::{
    Instant,
    actor::Actor,
    agent::PauseReason,
    consent::{Cascade, Consent, ConsentCreate, ConsentEnd, ConsentSource, ConsentState, RevokeRequest},
    decision::ConsentFacts,
    ids::{AgentId, ConsentId, OrgId, RecordId},
    mandate::VoidReason,
    payment::{Approval, ApprovalState, Payment},
};
use lcp::{Object, Value, jose::signature_text, json};
use store::{ConsentRow, JobRow, MAX_PAGE, Reader, Tx};

use super::{
    Inner, Service,
    agents::{known_agent, put_agent},
    clock::OsIds,
    query::{Asked, Query, known_filter, own_agent},
    shown_page, stored,
};
use crate::{Caller, Problem};

impl Service {
    /// A new consent of one agent. Its record is sealed at once.
    pub async fn create_consent(&self, caller: &Caller, body: &Value) -> Result<Object, Problem> {
        let (caller, asked) = (caller.clone(), ConsentCreate::read(body)?);
        self.write(move |inner, tx, now| {
            let agent = known_agent(tx, &caller.org, &asked.agent_id)?;
            let (mut consent, record) = Consent::create(asked, &agent, ConsentSource::Api, &Actor::Key(caller.key.clone()), now, &mut OsIds)?;
            inner.append_linked(tx, &caller.org, (Some(&agent.id), None), record, now)?;
            inner.tick_consent(tx, &caller.org, &mut consent, now)?;
            shown(tx, &caller.org, &consent, now)
        })
        .await
    }

    /// A page of consents, newest first: `agent_id`, `state`, `cursor`, `limit`.
    pub async fn consents(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        let asked = Asked::of(query, &["agent_id", "state", "cursor", "limit"])?;
        let agent = own_agent(caller, asked.parsed("agent_id", "the id of an agent", AgentId::parse)?)?;
        let state = asked.parsed("state", "active, revoked or expired", ConsentState::parse)?;
        let (cursor, limit) = (asked.cursor()?, asked.limit()?);
        let org = caller.org.clone();
        self.read(move |_, reader, now| {
            known_filter(reader, &org, agent.as_ref())?;
            let found = reader.consents(&org, agent.as_ref(), state.map(ConsentState::as_str), cursor.as_ref(), limit)?;
            shown_page(&found, |row| shown(reader, &org, &read(row)?, now))
        })
        .await
    }

    /// One consent.
    pub async fn consent(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let (caller, id) = (caller.clone(), ConsentId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |_, reader, now| {
            let consent = read(&reader.consent(&caller.org, &id)?.ok_or_else(Problem::not_found)?)?;
            if caller.agent.as_ref().is_some_and(|agent| *agent != consent.agent_id) {
                return Err(Problem::not_found());
            }
            shown(reader, &caller.org, &consent, now)
        })
        .await
    }

    /// Revokes a consent, now or at `effective_at`; with `cascades_scheduled`, what stands on it ends too.
    pub async fn revoke_consent(&self, caller: &Caller, id: &str, body: Option<&Value>) -> Result<Object, Problem> {
        let (caller, id) = (caller.clone(), ConsentId::parse(id).ok_or_else(Problem::not_found)?);
        let asked = RevokeRequest::read(body)?;
        self.write(move |inner, tx, now| {
            let mut consent = read(&tx.consent(&caller.org, &id)?.ok_or_else(Problem::not_found)?)?;
            if let Some(record) = consent.revoke(&asked, &Actor::Key(caller.key.clone()), now, &mut OsIds)? {
                inner.append_linked(tx, &caller.org, (Some(&consent.agent_id), None), record, now)?;
            }
            inner.tick_consent(tx, &caller.org, &mut consent, now)?;
            shown(tx, &caller.org, &consent, now)
        })
        .await
    }
}

impl Inner {
    /// What time does to the consent of that id.
    pub(super) fn due_consent(&self, tx: &mut Tx<'_>, org: &OrgId, id: &ConsentId, now: Instant) -> Result<(), Problem> {
        match tx.consent(org, id)? {
            Some(row) => self.tick_consent(tx, org, &mut read(&row)?, now),
            None => Ok(()),
        }
    }

    /// What time does to a consent: a revocation takes effect, with its cascade if it has one. Either way it is saved.
    fn tick_consent(&self, tx: &mut Tx<'_>, org: &OrgId, consent: &mut Consent, now: Instant) -> Result<(), Problem> {
        if consent.tick(now) == Some(ConsentEnd::Revoked { cascades: true }) {
            consent.cascaded(self.cascade(tx, org, consent, now)?);
        }
        tx.put_consent(&ConsentRow {
            id: consent.id.clone(),
            org: org.clone(),
            agent: consent.agent_id.clone(),
            state: consent.state(now).as_str().to_owned(),
            created_at: consent.created_at(),
            doc: json::write(&consent.to_stored().into()),
        })?;
        match consent.due() {
            Some(due_at) => tx.put_job(&JobRow { org: org.clone(), kind: "consent".to_owned(), subject: consent.id.to_string(), due_at })?,
            None => tx.delete_job("consent", consent.id.as_str())?,
        }
        Ok(())
    }

    /// Ends what stands on a revoked consent: unused mandates are void, what waits for a person ends; and if no other consent
    /// covers the agent, it is paused.
    fn cascade(&self, tx: &mut Tx<'_>, org: &OrgId, consent: &Consent, now: Instant) -> Result<Cascade, Problem> {
        let mut cascade = Cascade { applied_at: now, mandates_voided: Vec::new(), approvals_expired: Vec::new(), pause_record_id: None };
        for id in tx.open_requests(org, &consent.agent_id)? {
            // What time did before the revocation stays: a mandate that had expired is not withdrawn.
            let before = self.ticked(tx, org, &id, now)?;
            if before.has_ended() || before.consent().is_some_and(|under| *under != consent.id) {
                continue;
            }
            let mut after = before.clone();
            self.at_desk(now, |desk| after.void(VoidReason::ConsentRevoked, desk));
            if after.has_ended() {
                cascade.mandates_voided.extend(after.mandate().map(|mandate| mandate.id.clone()));
                cascade.approvals_expired.extend(pending(&before).map(|approval| approval.id.clone()));
                self.save(tx, Some(&before), &after, now)?;
            }
        }
        let other = consent_but(tx, org, &consent.agent_id, Some(&consent.id), now)?;
        let is_covered = other.is_some_and(|(_, facts)| facts.is_in_force(now));
        if !is_covered {
            let mut agent = known_agent(tx, org, &consent.agent_id)?;
            let led_to_by: Vec<RecordId> = consent.revocation().map(|revocation| revocation.record_id.clone()).into_iter().collect();
            if let Some(record) = agent.pause(PauseReason::consent_revoked(), Actor::System, led_to_by, now, &mut OsIds) {
                cascade.pause_record_id = Some(record.id.clone());
                self.append_linked(tx, org, (Some(&agent.id), None), record, now)?;
                put_agent(tx, org, &agent)?;
            }
        }
        Ok(cascade)
    }
}

/// The consent that the agent acts under at a time: one in force, else the latest that has begun, else the latest. One that is yet to
/// begin does not cover up that the one before was revoked.
pub(super) fn consent_of(reader: &Reader<'_>, org: &OrgId, agent: &AgentId, at: Instant) -> Result<Option<(ConsentId, ConsentFacts)>, Problem> {
    consent_but(reader, org, agent, None, at)
}

/// The same, of all but one.
fn consent_but(
    reader: &Reader<'_>,
    org: &OrgId,
    agent: &AgentId,
    but: Option<&ConsentId>,
    at: Instant,
) -> Result<Option<(ConsentId, ConsentFacts)>, Problem> {
    let (mut begun, mut latest, mut cursor) = (None, None, None);
    loop {
        let page = reader.consents(org, Some(agent), None, cursor.as_ref(), MAX_PAGE)?;
        for row in page.rows.iter().filter(|row| Some(&row.id) != but) {
            let consent = read(row)?;
            let facts = consent.facts();
            let found = Some((consent.id.clone(), facts));
            if consent.covers(at) {
                return Ok(found);
            }
            if facts.valid_from <= at {
                begun = begun.or(found);
            } else {
                latest = latest.or(found);
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(begun.or(latest));
        }
    }
}

/// The record of a consent.
pub(super) fn record_of_consent(reader: &Reader<'_>, org: &OrgId, id: &ConsentId) -> Result<Option<RecordId>, Problem> {
    Ok(match reader.consent(org, id)? {
        Some(row) => Some(read(&row)?.record_id),
        None => None,
    })
}

/// The consent as the client reads it, with the signature of its record.
fn shown(reader: &Reader<'_>, org: &OrgId, consent: &Consent, now: Instant) -> Result<Object, Problem> {
    let signature = reader
        .record(org, &consent.record_id)?
        .map(|row| Object::new().with("alg", "EdDSA").with("kid", row.sealed.kid.as_str()).with("signature", signature_text(&row.sealed.signature)));
    Ok(consent.to_json(now, signature.as_ref()))
}

fn read(row: &ConsentRow) -> Result<Consent, Problem> {
    stored(&row.doc, "consent", Consent::from_stored)
}

/// The approval that a payment waits for.
fn pending(payment: &Payment) -> Option<&Approval> {
    payment.approval().filter(|approval| approval.state == ApprovalState::Pending)
}
