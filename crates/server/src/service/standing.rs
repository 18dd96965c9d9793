//! What a decision reads beside the request, loaded as it stands now.

use std::sync::Arc;

use control::{
    Instant,
    agent::Agent,
    decision::{ConsentFacts, EarlierRequest, KeyState, PayeeFacts, PayeeStatus, WindowSpend},
    ids::{AgentId, ConsentId, KeyId, OrgId},
    payment::{Payment, Standing},
    request::{PaymentRequestCreate, Subject},
};
use lcp::{Hash, Object, encoding, json};
use store::{RequestRow, Tx};

use super::{Inner, agents::known_agent, consents::consent_of, policies::Loaded, stored};
use crate::Problem;

/// The facts, owned; a [`Standing`] borrows from them.
pub(super) struct Facts {
    pub(super) agent: Agent,
    key: KeyState,
    pub(super) consent: Option<(ConsentId, ConsentFacts)>,
    pub(super) policy: Arc<Loaded>,
    payee: PayeeFacts,
    spend: Vec<WindowSpend>,
    pub(super) earlier: Vec<EarlierRequest>,
}

impl Facts {
    pub(super) fn standing(&self) -> Standing<'_> {
        Standing {
            agent: self.agent.facts(),
            key: self.key,
            consent: self.consent.clone(),
            policy: self.policy.as_ref().as_ref(),
            payee: self.payee,
            spend: &self.spend,
            earlier: &self.earlier,
        }
    }
}

impl Inner {
    /// The facts for a decision on a request of an agent, asked with a key.
    pub(super) fn facts(
        &self,
        tx: &mut Tx<'_>,
        org: &OrgId,
        (agent, key): (&AgentId, &KeyId),
        request: &PaymentRequestCreate,
        now: Instant,
    ) -> Result<Facts, Problem> {
        let policy = self.policy_for(tx, org, agent)?;
        let (spend, earlier) = match policy.as_ref() {
            Ok(policy) => {
                let spend = match &policy.id {
                    Some(id) => tx.window_spend(org, id, &policy.budgets(now), &request.amount)?,
                    None => Vec::new(),
                };
                let mut rows = tx.earlier_facts(agent, &fact_key(request), now.minus_seconds(policy.duplicate_window_seconds))?;
                if let Some(rule) = &policy.retry_policy {
                    rows.extend(tx.earlier_attempts(agent, &attempt_key(request), now.minus_seconds(rule.window_seconds.saturating_mul(2)))?);
                }
                (spend, earlier(rows)?)
            }
            Err(_) => (Vec::new(), Vec::new()),
        };
        let payee = request.payee.taker();
        let payments_before = payee.map(|payee| tx.payments_to(org, &payee.to_string())).transpose()?.unwrap_or(0);
        Ok(Facts {
            agent: known_agent(tx, org, agent)?,
            key: tx.key(org, key)?.filter(|row| row.is_in_use(now)).map_or(KeyState::Revoked, |_| KeyState::Active),
            consent: consent_of(tx, org, agent, now)?,
            policy,
            payee: PayeeFacts { identity: PayeeStatus::Unchecked, payments_before },
            spend,
            earlier,
        })
    }
}

fn earlier(mut rows: Vec<RequestRow>) -> Result<Vec<EarlierRequest>, Problem> {
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    rows.dedup_by(|a, b| a.id == b.id);
    rows.iter().filter_map(|row| payment(row).map(|payment| payment.earlier()).transpose()).collect()
}

/// The payment of a row.
pub(super) fn payment(row: &RequestRow) -> Result<Payment, Problem> {
    stored(&row.doc, "payment request", Payment::from_stored)
}

/// What two requests have in common that may be the same payment asked twice.
pub(super) fn fact_key(request: &PaymentRequestCreate) -> String {
    let (kind, subject) = match request.subject() {
        Subject::Checkout(reference) => ("checkout", reference),
        Subject::Purpose(purpose) => ("purpose", purpose),
    };
    let amount = &request.amount;
    digest(&Object::new().with("amount", amount.units().to_string()).with("currency", amount.currency().code()).with(kind, subject), request)
}

/// What two attempts at the same payment have in common.
pub(super) fn attempt_key(request: &PaymentRequestCreate) -> String {
    digest(&Object::new().with("purpose", request.purpose.as_str()), request)
}

fn digest(facts: &Object, request: &PaymentRequestCreate) -> String {
    let payee = request.payee.key().map(|key| key.to_string());
    let text = json::write_sorted(&facts.clone().with_some("payee", payee).into());
    encoding::base64url(Hash::of(text.as_bytes()).bytes())
}
