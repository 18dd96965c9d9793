//! Consents: a person's standing authorization of one agent, from when it is given until it is revoked or expires.

mod body;
mod revocation;
mod view;

use lcp::{Object, Value};

pub use body::{ConsentCreate, RevokeRequest, TYPED_FIELDS};
pub use revocation::{Cascade, Revocation};

use crate::{
    FaultCode, Ids, Instant, Pointer, Refusal,
    actor::Actor,
    agent::Agent,
    decision::ConsentFacts,
    fault::codes,
    ids::{AgentId, ConsentId, RecordId},
    linked::{LinkedKind, LinkedRecord},
};

codes! {
    /// Where a consent was given.
    pub enum ConsentSource {
        /// On a page of ours, by a person.
        Console = "console",
        /// Through the API.
        Api = "api",
    }
}

codes! {
    /// Whether a consent is in force.
    pub enum ConsentState {
        /// It was neither revoked nor has it expired; it may not have begun.
        Active = "active",
        /// It was revoked, and that has taken effect.
        Revoked = "revoked",
        /// Its time is over.
        Expired = "expired",
    }
}

/// A consent.
#[derive(Clone, Debug, PartialEq)]
pub struct Consent {
    /// Its id.
    pub id: ConsentId,
    /// The agent that may act under it.
    pub agent_id: AgentId,
    /// What the agent was called when it was given.
    agent_name: String,
    source: ConsentSource,
    given_by: Actor,
    /// What was consented to, in the members that the client gave.
    terms: Terms,
    valid_from: Instant,
    valid_until: Option<Instant>,
    /// Its record.
    pub record_id: RecordId,
    revocation: Option<Revocation>,
    /// Whether [`Consent::tick`] has told of its end in time.
    has_expired: bool,
    created_at: Instant,
    updated_at: Instant,
}

/// What was consented to: free JSON, kept and shown, deciding nothing.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    principal: Object,
    scope: Object,
    merchant_policies: Vec<Value>,
    acknowledgements: Vec<Value>,
    retention: Object,
}

/// What time did to a consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentEnd {
    /// Its revocation took effect.
    Revoked {
        /// Whether what the agent holds under it ends too: the caller carries that out and tells by [`Consent::cascaded`].
        cascades: bool,
    },
    /// Its time is over.
    Expired,
}

impl Consent {
    /// A new consent for the agent that `asked` names, which the caller loaded, and the record of it.
    pub fn create(
        asked: ConsentCreate,
        agent: &Agent,
        source: ConsentSource,
        by: &Actor,
        now: Instant,
        ids: &mut dyn Ids,
    ) -> Result<(Self, LinkedRecord), Refusal> {
        let valid_from = asked.valid_from.unwrap_or(now);
        let at = Pointer::root().member("valid_until");
        if asked.valid_until.is_some_and(|until| until <= now || until <= valid_from) {
            return Err(Refusal::invalid(&at, FaultCode::OutOfRange.as_str(), "Let the consent end after now and after it begins."));
        }
        let consent = Self {
            id: ConsentId::fresh(ids),
            agent_id: agent.id.clone(),
            agent_name: agent.name.clone(),
            source,
            given_by: by.clone(),
            terms: asked.terms,
            valid_from,
            valid_until: asked.valid_until,
            record_id: RecordId::fresh(ids),
            revocation: None,
            has_expired: false,
            created_at: now,
            updated_at: now,
        };
        let record =
            LinkedRecord { id: consent.record_id.clone(), kind: LinkedKind::Consent, parents: Vec::new(), members: consent.record_members() };
        Ok((consent, record))
    }

    /// Revokes it, from `effective_at` on or at once, and gives the record of that, which follows from the consent's.
    ///
    /// Repeating a revocation changes nothing. One that is to take effect sooner than the one held, or that cascades where
    /// the one held does not, amends it as long as it has not taken effect: what a person stops is never left to go on for
    /// an earlier wish. Call [`Consent::tick`] then, for it may take effect at once.
    pub fn revoke(&mut self, asked: &RevokeRequest, by: &Actor, now: Instant, ids: &mut dyn Ids) -> Result<Option<LinkedRecord>, Refusal> {
        let effective_at = asked.effective_at(now)?;
        let held = self.revocation.as_ref();
        if held.is_some_and(|held| held.in_force || (held.effective_at <= effective_at && held.cascades >= asked.cascades)) {
            return Ok(None);
        }
        let parents = std::iter::once(&self.record_id).chain(held.map(|held| &held.record_id)).cloned().collect();
        let revocation = Revocation {
            revoked_at: now,
            by: by.clone(),
            effective_at: held.map_or(effective_at, |held| held.effective_at.min(effective_at)),
            cascades: asked.cascades || held.is_some_and(|held| held.cascades),
            institution_notified_at: asked.institution_notified_at.or(held.and_then(|held| held.institution_notified_at)),
            record_id: RecordId::fresh(ids),
            in_force: false,
            cascade: None,
        };
        let members = revocation.record_members().with("consent_id", &self.id).with("agent_id", &self.agent_id);
        let record = LinkedRecord { id: revocation.record_id.clone(), kind: LinkedKind::Revocation, parents, members };
        self.revocation = Some(revocation);
        self.updated_at = now;
        Ok(Some(record))
    }

    /// What time alone does: its revocation takes effect, or its time is over. Each is told once; a clock that goes back
    /// takes neither back.
    pub fn tick(&mut self, now: Instant) -> Option<ConsentEnd> {
        if let Some(revocation) = self.revocation.as_mut().filter(|revocation| !revocation.in_force && revocation.effective_at <= now) {
            revocation.in_force = true;
            self.updated_at = now;
            return Some(ConsentEnd::Revoked { cascades: revocation.cascades });
        }
        let is_over = !self.has_expired && !self.is_revoked() && self.valid_until.is_some_and(|until| until <= now);
        is_over.then(|| {
            self.has_expired = true;
            self.updated_at = now;
            ConsentEnd::Expired
        })
    }

    /// When [`Consent::tick`] next does something.
    pub fn due(&self) -> Option<Instant> {
        if self.is_revoked() {
            return None;
        }
        let takes_effect = self.revocation.as_ref().map(|revocation| revocation.effective_at);
        let expires = self.valid_until.filter(|_| !self.has_expired);
        takes_effect.into_iter().chain(expires).min()
    }

    /// Keeps what the cascade of its revocation did. Only the first counts.
    pub fn cascaded(&mut self, cascade: Cascade) {
        if let Some(revocation) = self.revocation.as_mut().filter(|revocation| revocation.in_force && revocation.cascade.is_none()) {
            self.updated_at = cascade.applied_at;
            revocation.cascade = Some(cascade);
        }
    }

    /// Whether it is in force at a time: it has begun, and neither was revoked nor has expired.
    pub fn covers(&self, now: Instant) -> bool {
        self.state(now) == ConsentState::Active && self.valid_from <= now
    }

    /// Its state at a time. Revoked counts before expired.
    pub fn state(&self, now: Instant) -> ConsentState {
        match &self.revocation {
            Some(revocation) if revocation.in_force || revocation.effective_at <= now => ConsentState::Revoked,
            _ if self.has_expired || self.valid_until.is_some_and(|until| until <= now) => ConsentState::Expired,
            _ => ConsentState::Active,
        }
    }

    /// What a decision reads of it.
    pub fn facts(&self) -> ConsentFacts {
        // What has ended stays so, also for a clock that goes back.
        let revoked_from = self.revocation.as_ref().map(|held| if held.in_force { Instant::MIN } else { held.effective_at });
        let valid_until = if self.has_expired { Some(Instant::MIN) } else { self.valid_until };
        ConsentFacts { valid_from: self.valid_from, valid_until, revoked_from }
    }

    /// Its revocation, whether or not it has taken effect.
    pub fn revocation(&self) -> Option<&Revocation> {
        self.revocation.as_ref()
    }

    /// When it was given.
    pub fn created_at(&self) -> Instant {
        self.created_at
    }

    fn is_revoked(&self) -> bool {
        self.revocation.as_ref().is_some_and(|revocation| revocation.in_force)
    }
}

#[cfg(test)]
mod tests;
