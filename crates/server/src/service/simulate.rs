//! Trying out a policy: what it would have decided on the requests of the past.

use std::collections::HashMap;

use control::{
    Instant, Money,
    agent::Agent,
    decision::{Decision, DecisionFacts, EarlierRequest, KeyState, Outcome, PayeeFacts, PayeeStatus, Reason, WindowSpend, decide},
    ids::{AgentId, OrgId},
    mandate::MandateState,
    payment::Payment,
    policy::{Agents, Policy, RefillPolicy},
};
use lcp::{Object, Value};
use store::{MAX_PAGE, Reader, RequestRow};

use super::{Inner, Service, admin::one_org, agents::known_agent, consents::consent_of};
use crate::Problem;

/// How many past requests are decided again, the latest ones.
const MOST: usize = 10_000;

impl Service {
    /// Decides the organization's past requests under a new policy, each at its own time and with the budgets as they would
    /// have been, and says what changes: `{"requests", "same", "changes": [{"request_id", "agent_id", "asked_at", "payee", "amount",
    /// "currency", "before", "after"}]}`. Without an organization it takes the only one there is.
    pub async fn simulate_policy(&self, org: Option<OrgId>, document: &Value) -> Result<Object, Problem> {
        let policy = Policy::read(document)?;
        self.read(move |inner, reader, _| inner.simulate(reader, &one_org(reader, org)?, &policy)).await
    }
}

/// The latest requests, oldest first.
fn past_requests(reader: &Reader<'_>, org: &OrgId) -> Result<Vec<RequestRow>, Problem> {
    let (mut rows, mut cursor) = (Vec::new(), None);
    loop {
        let page = reader.requests(org, cursor.as_ref(), MAX_PAGE)?;
        rows.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() || rows.len() >= MOST {
            break;
        }
    }
    rows.truncate(MOST);
    rows.reverse();
    Ok(rows)
}

fn first_decision(payment: &Payment) -> Option<&Decision> {
    payment.decided().first().map(|decided| &decided.decision)
}

impl Inner {
    fn simulate(&self, reader: &Reader<'_>, org: &OrgId, policy: &Policy) -> Result<Object, Problem> {
        let mut agents: HashMap<AgentId, Agent> = HashMap::new();
        let mut past = Past::default();
        let (mut requests, mut changes) = (0u64, Vec::new());
        for row in past_requests(reader, org)? {
            if matches!(&policy.agents, Agents::These(agents) if !agents.contains(&row.agent)) {
                continue;
            }
            let payment = self.read_payment(&row)?;
            if !agents.contains_key(&row.agent) {
                agents.insert(row.agent.clone(), known_agent(reader, org, &row.agent)?);
            }
            let Some(agent) = agents.get(&row.agent) else { continue };
            let consent = consent_of(reader, org, &row.agent, payment.created_at())?.map(|(_, facts)| facts);
            let Some(before) = first_decision(&payment) else { continue };
            let after = past.decide(&payment, agent, consent, policy);
            requests += 1;
            if (before.result, &before.reasons) != (after.result, &after.reasons) {
                changes.push(change(&payment, before, &after).into());
            }
            past.remember(&payment, &after, policy);
        }
        let same = requests - changes.len() as u64;
        Ok(Object::new().with("requests", requests).with("same", same).with("changes", Value::from(changes)))
    }
}

/// What happened before, as it would have under the new policy.
#[derive(Default)]
struct Past {
    spent: Vec<Spent>,
    /// By agent and payee.
    earlier: HashMap<(AgentId, String), Vec<Earlier>>,
    /// When the payees said that they were paid.
    paid: HashMap<String, Vec<Instant>>,
}

/// What counts in budgets from a moment on, and until it came back if it did.
struct Spent {
    at: Instant,
    until: Option<Instant>,
    amount: Money,
}

/// A request as later ones see it, and from when on it is over; before, it is live.
struct Earlier {
    request: EarlierRequest,
    over_at: Option<Instant>,
}

impl Past {
    fn decide(&self, payment: &Payment, agent: &Agent, consent: Option<control::decision::ConsentFacts>, policy: &Policy) -> Decision {
        let (request, now) = (payment.request(), payment.created_at());
        let was_denied_for = |reason| first_decision(payment).is_some_and(|decision| decision.reasons.contains(&reason));
        let spend: Vec<WindowSpend> = policy
            .budgets(now)
            .iter()
            .map(|budget| {
                let counts = |spent: &&Spent| {
                    let is_then = spent.at <= now && spent.until.is_none_or(|until| now < until);
                    is_then && budget.window.has(spent.at) && spent.amount.currency() == budget.max.currency()
                };
                let entries: Vec<_> = self.spent.iter().filter(counts).map(|spent| (spent.at, spent.amount.clone())).collect();
                let zero = Money::zero(budget.max.currency().clone());
                let counted = entries.iter().fold(zero, |sum, (_, amount)| sum.checked_add(amount).unwrap_or(sum));
                WindowSpend { kind: budget.kind, window: budget.window, counted, entries }
            })
            .collect();
        let seen_then = |earlier: &Earlier| {
            let is_over = earlier.over_at.is_some_and(|over_at| over_at <= now);
            EarlierRequest { outcome: if is_over { earlier.request.outcome } else { Outcome::Live }, ..earlier.request.clone() }
        };
        let earlier: Vec<EarlierRequest> = self.earlier.get(&place(payment)).into_iter().flatten().map(seen_then).collect();
        let taker = request.payee.taker().map(|payee| payee.to_string()).unwrap_or_default();
        let before = self.paid.get(&taker).map_or(0, |paid| paid.iter().filter(|at| **at <= now).count());
        let mut facts = agent.facts();
        facts.is_paused = was_denied_for(Reason::AgentPaused);
        decide(
            &DecisionFacts {
                request_id: payment.id(),
                request,
                intent: &request.intent,
                rounds: 0,
                card_number: None,
                agent: facts,
                key: if was_denied_for(Reason::KeyRevoked) { KeyState::Revoked } else { KeyState::Active },
                consent,
                policy: Ok(policy),
                payee: PayeeFacts { identity: PayeeStatus::Unchecked, payments_before: u32::try_from(before).unwrap_or(u32::MAX) },
                spend: &spend,
                earlier: &earlier,
                is_approved: false,
            },
            now,
        )
    }

    /// What the new policy lets through counts; so does what it asks a person about, if a mandate was issued then. What came back
    /// to the budgets then comes back, unless the new policy gives nothing back.
    fn remember(&mut self, payment: &Payment, after: &Decision, policy: &Policy) {
        use control::decision::DecisionResult::{Allow, Clarify, Deny, Observe, StepUp};
        let mandate = payment.mandate();
        let is_let_through = match after.result {
            Allow | Observe => true,
            StepUp | Clarify => mandate.is_some(),
            Deny => false,
        };
        if is_let_through {
            let is_unused = mandate.is_some_and(|mandate| matches!(mandate.state, MandateState::Expired | MandateState::Void));
            let until = mandate.filter(|_| is_unused && policy.refill_policy != RefillPolicy::Never).and_then(|mandate| mandate.over_at);
            let at = mandate.map_or(payment.created_at(), |mandate| mandate.issued_at);
            self.spent.push(Spent { at, until, amount: payment.request().amount.clone() });
            if let (true, Some(payee), Some(at)) = (payment.is_paid(), payment.request().payee.taker(), payment.ended_at()) {
                self.paid.entry(payee.to_string()).or_default().push(at);
            }
        }
        let was_denied = first_decision(payment).is_some_and(|decision| decision.result == Deny);
        let Some(request) = payment.earlier() else { return };
        let (outcome, over_at) = match (after.result, was_denied) {
            (Deny, _) => (Outcome::Failed, Some(payment.created_at())),
            // What became of it is not known, for it was not let through then.
            (_, true) => (Outcome::Live, None),
            (_, false) => (request.outcome, payment.hand_off_made().map(|hand_off| hand_off.at).or(payment.ended_at())),
        };
        self.earlier.entry(place(payment)).or_default().push(Earlier { request: EarlierRequest { outcome, ..request }, over_at });
    }
}

/// Where the earlier requests are that a request may repeat.
fn place(payment: &Payment) -> (AgentId, String) {
    (payment.agent().clone(), payment.request().payee.key().map(|payee| payee.to_string()).unwrap_or_default())
}

fn change(payment: &Payment, before: &Decision, after: &Decision) -> Object {
    let decided = |decision: &Decision| {
        let reasons: Vec<Value> = decision.reasons.iter().map(|reason| reason.as_str().into()).collect();
        Object::new().with("result", decision.result.as_str()).with("reasons", reasons)
    };
    let amount = &payment.request().amount;
    Object::new()
        .with("request_id", payment.id().as_str())
        .with("agent_id", payment.agent().as_str())
        .with("asked_at", payment.created_at().to_string())
        .with("payee", payment.request().payee.key().map(|key| key.to_string()).unwrap_or_default())
        .with("amount", amount.to_json().get("value").cloned().unwrap_or(Value::Null))
        .with("currency", amount.currency().code())
        .with("before", decided(before))
        .with("after", decided(after))
}
