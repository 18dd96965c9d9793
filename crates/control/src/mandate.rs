//! Mandates: what a payee is shown to be paid, good once, for one payee, amount and time (see `docs/payment.md`).

mod issue;
mod stored;

use std::fmt;

use lcp::{Hash, Object, Value};

pub(crate) use issue::Order;
pub use issue::Unissued;

use crate::{
    Instant, Money,
    decision::PolicyRef,
    fault::codes,
    ids::{AgentId, MandateId, RequestId},
    policy::{FinalityClass, Mode, RefillPolicy},
    rail::Credential,
    request::digest_text,
};

/// The `typ` of a mandate's JWS; the crate `record` verifies by the same.
pub const MANDATE_TYP: &str = "enruta-mandate+jwt";
/// How long a mandate is good, unless the consent ends before.
pub const MANDATE_TTL_SECONDS: u32 = 3600;

codes! {
    /// The state of a mandate.
    pub enum MandateState {
        /// It may be used.
        Issued = "issued",
        /// It was used.
        Consumed = "consumed",
        /// Its time ran out before it was used.
        Expired = "expired",
        /// It was withdrawn before it was used.
        Void = "void",
    }
}

codes! {
    /// Why something that was open was withdrawn.
    pub enum VoidReason {
        /// The consent that the agent acts under was revoked.
        ConsentRevoked = "consent_revoked",
        /// The agent was paused.
        AgentPaused = "agent_paused",
        /// Somebody who runs the organization withdrew it.
        Withdrawn = "withdrawn",
        /// The checkout was handed to a person on the merchant's page.
        HandedOff = "handed_off",
    }
}

/// A mandate. Its state is changed by the payment it is of alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Mandate {
    /// Its id.
    pub id: MandateId,
    /// Its state.
    pub state: MandateState,
    /// The most that may be taken.
    pub amount: Money,
    /// Who may take it: the domain, else the merchant id, else the name.
    pub payee: String,
    /// Good from then on,
    pub issued_at: Instant,
    /// and before then.
    pub expires_at: Instant,
    /// The SHA-256 of the compact JWS.
    pub digest: Hash,
    /// The salted commitment to the constraints that the merchant does not see.
    pub hidden_constraints_digest: Option<Hash>,
    /// What it was issued under.
    pub terms: Terms,
    /// Who can take the credential.
    pub handler_id: String,
    /// What may be shown of the credential.
    pub display: Vec<(String, String)>,
    /// When it was used, expired or voided.
    pub over_at: Option<Instant>,
    /// Why it was voided.
    pub void_reason: Option<VoidReason>,
    /// What was taken.
    pub spent: Option<Money>,
    /// What only the agent it was issued to and its payee may know; not there if it was not loaded.
    pub(crate) secrets: Option<Secrets>,
}

/// What a mandate was issued under; a later version of the policy changes nothing of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The policy.
    pub policy: PolicyRef,
    /// Whether the mandate is for one `checkout`, or only for a `payee`.
    pub binds: &'static str,
    /// How the payment may differ from the amount that the person named.
    pub mode: Mode,
    /// When its amount comes back to the budgets.
    pub refill_policy: RefillPolicy,
    /// Whether the payment can be undone.
    pub finality_class: FinalityClass,
    /// By how much it may differ, as JSON.
    pub deviation: Value,
    /// How often it may be tried again, as JSON.
    pub retry_policy: Value,
    /// What the merchant sees, as JSON.
    pub visibility_scope: Value,
}

/// What is in no list, record, page or log.
#[derive(Clone, PartialEq)]
pub(crate) struct Secrets {
    /// The compact JWS.
    pub(crate) jws: String,
    /// The credential's token, until the mandate is over.
    pub(crate) token: Option<String>,
    /// The salt of the hidden constraints' digest.
    pub(crate) salt: [u8; 32],
    /// The hidden constraints.
    pub(crate) hidden: Object,
}

impl Mandate {
    /// Whether it may be used at a moment.
    pub fn is_usable(&self, now: Instant) -> bool {
        self.state == MandateState::Issued && now < self.expires_at
    }

    /// The compact JWS, if the secrets are loaded.
    pub fn jws(&self) -> Option<&str> {
        self.secrets.as_ref().map(|secrets| secrets.jws.as_str())
    }

    /// Ends it. The credential's token is forgotten.
    pub(crate) fn end(&mut self, state: MandateState, at: Instant) {
        self.state = state;
        self.over_at = Some(at);
        if let Some(secrets) = &mut self.secrets {
            secrets.token = None;
        }
    }

    /// Whether its amount still counts in the budgets it was counted in.
    pub fn counts(&self) -> bool {
        match self.state {
            MandateState::Issued | MandateState::Consumed => true,
            MandateState::Expired | MandateState::Void => self.terms.refill_policy == RefillPolicy::Never,
        }
    }

    /// The credential without its token.
    fn credential_shown(&self) -> Object {
        self.credential(String::new()).shown()
    }

    fn credential(&self, token: String) -> Credential {
        Credential { handler_id: self.handler_id.clone(), token, display: self.display.clone() }
    }

    /// The mandate in the client's shape. With `secrets` it holds the JWS and, while it may be used, the token.
    pub fn to_json(&self, agent: &AgentId, request: &RequestId, secrets: bool) -> Object {
        let terms = &self.terms;
        let zero = || Money::zero(self.amount.currency().clone());
        let spent = match self.state {
            MandateState::Consumed => self.spent.clone().unwrap_or_else(|| self.amount.clone()),
            _ => zero(),
        };
        let reserved = if self.state == MandateState::Issued { self.amount.clone() } else { zero() };
        let ledger = Object::new()
            .with("authorised", self.amount.decimal())
            .with("spent", spent.decimal())
            .with("reserved", reserved.decimal())
            .with("refunded", zero().decimal());
        let known = self.secrets.as_ref().filter(|_| secrets);
        let token = known.and_then(|secrets| secrets.token.clone()).filter(|_| self.state == MandateState::Issued);
        Object::new()
            .with("id", &self.id)
            .with("amount", self.amount.decimal())
            .with("currency", self.amount.currency())
            .with("expires_at", self.expires_at)
            .with_some("jws", known.map(|secrets| secrets.jws.as_str()))
            .with("credential", token.map_or_else(|| self.credential_shown(), |token| self.credential(token).to_json()))
            .with("state", self.state.as_str())
            .with("payee", self.payee.as_str())
            .with("binds", terms.binds)
            .with("agent_id", agent)
            .with("request_id", request)
            .with("issued_at", self.issued_at)
            .with("consumed_at", self.over_at.filter(|_| self.state == MandateState::Consumed).map_or(Value::Null, Value::from))
            .with("mode", terms.mode.as_str())
            .with("refill_policy", terms.refill_policy.as_str())
            .with("finality_class", terms.finality_class.as_str())
            .with("deviation", &terms.deviation)
            .with("policy", terms.policy.to_json())
            .with("principal_login_id", Value::Null)
            .with("ledger", ledger)
            .with("retry_policy", &terms.retry_policy)
            .with("visibility_scope", &terms.visibility_scope)
            .with("hidden_constraints_digest", self.hidden_constraints_digest.as_ref().map_or(Value::Null, |hash| digest_text(hash).into()))
    }

    /// What a record states of it: no JWS, no token.
    pub(crate) fn to_record(&self, agent: &AgentId) -> Object {
        Object::new()
            .with("id", &self.id)
            .with("digest", digest_text(&self.digest))
            .with("amount", self.amount.decimal())
            .with("currency", self.amount.currency())
            .with("payee", self.payee.as_str())
            .with("agent_id", agent)
            .with("issued_at", self.issued_at)
            .with("expires_at", self.expires_at)
            .with("state", self.state.as_str())
            .with("refill_policy", self.terms.refill_policy.as_str())
            .with("credential", self.credential_shown())
            .with_some("void_reason", self.void_reason.map(VoidReason::as_str))
            .with_some("hidden_constraints_digest", self.hidden_constraints_digest.as_ref().map(digest_text))
    }
}

/// The secrets stay out.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}
