//! Trying out a policy: what it would have decided on the requests of the past.

use std::collections::HashMap;

use control::{
    Instant, Money,
    agent::Agent,
    decision::{Decision, DecisionFacts, EarlierRequest, KeyState, PayeeFacts, PayeeStatus, Reason, WindowSpend, decide},
    ids::{AgentId, OrgId},
    payment::Payment,
    policy::{Agents, Policy},
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
            past.remember(&payment, &after);
        }
        let same = requests - changes.len() as u64;
        Ok(Object::new().with("requests", requests).with("same", same).with("changes", Value::from(changes)))
    }
}

/// What happened before, as it would have under the new policy.
#[derive(Default)]
struct Past {
    spent: Vec<(Instant, Money)>,
    earlier: HashMap<AgentId, Vec<EarlierRequest>>,
    payments: HashMap<String, u32>,
}

impl Past {
    fn decide(&self, payment: &Payment, agent: &Agent, consent: Option<control::decision::ConsentFacts>, policy: &Policy) -> Decision {
        let (request, now) = (payment.request(), payment.created_at());
        let was_denied_for = |reason| first_decision(payment).is_some_and(|decision| decision.reasons.contains(&reason));
        let spend: Vec<WindowSpend> = policy
            .budgets(now)
            .iter()
            .map(|budget| {
                let inside = self.spent.iter().filter(|(at, amount)| budget.window.has(*at) && amount.currency() == budget.max.currency());
                let entries: Vec<_> = inside.cloned().collect();
                let zero = Money::zero(budget.max.currency().clone());
                let counted = entries.iter().fold(zero, |sum, (_, amount)| sum.checked_add(amount).unwrap_or(sum));
                WindowSpend { kind: budget.kind, window: budget.window, counted, entries }
            })
            .collect();
        let payee = request.payee.taker().map(|key| key.to_string()).unwrap_or_default();
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
                payee: PayeeFacts { identity: PayeeStatus::Unchecked, payments_before: self.payments.get(&payee).copied().unwrap_or(0) },
                spend: &spend,
                earlier: self.earlier.get(payment.agent()).map_or(&[], Vec::as_slice),
                is_approved: false,
            },
            now,
        )
    }

    /// What the new policy lets through counts; so does what it asks a person about, if the person approved it then.
    fn remember(&mut self, payment: &Payment, after: &Decision) {
        use control::decision::DecisionResult::{Allow, Observe, StepUp};
        let is_paid = matches!(after.result, Allow | Observe) || (after.result == StepUp && payment.is_paid());
        if is_paid {
            self.spent.push((payment.created_at(), payment.request().amount.clone()));
            if let Some(payee) = payment.request().payee.taker() {
                *self.payments.entry(payee.to_string()).or_default() += 1;
            }
        }
        if let Some(earlier) = payment.earlier() {
            self.earlier.entry(payment.agent().clone()).or_default().push(earlier);
        }
    }
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
