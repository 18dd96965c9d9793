//! Decisions: whether a payment may be made, and all the reasons why (see `docs/decision.md`).

mod derived;
mod facts;
mod finding;
mod history;
mod intent;
mod limits;
mod payee;
mod purchase;
mod reason;
mod risk;
mod standing;
mod stored;

use std::borrow::Cow;

use lcp::{Object, Value};

use derived::Derived;
pub use facts::{AgentFacts, Budget, ConsentFacts, DecisionFacts, EarlierRequest, KeyState, NoPolicy, Outcome, PayeeFacts, PayeeStatus, WindowSpend};
use finding::{Finding, Verdict};
pub use history::find_duplicate;
pub use limits::Overrun;
pub use reason::{Family, Reason};
pub use risk::{BLOCK_SCORE, REVIEW_SCORE, Signal};

use crate::{Instant, fault::codes, ids::PolicyId, intent::Question, policy::Policy, request::digest_text};

codes! {
    /// What was decided.
    pub enum DecisionResult {
        /// Pay.
        Allow = "allow",
        /// Pay: the policy only watches.
        Observe = "observe",
        /// Ask a person whether to pay.
        StepUp = "step_up",
        /// Ask the person what is wanted, then decide again.
        Clarify = "clarify",
        /// Do not pay.
        Deny = "deny",
    }
}

codes! {
    /// What was done about the risk.
    pub enum RiskAction {
        /// The payment goes on.
        Authorized = "authorized",
        /// A person looks at it.
        ManualReview = "manual_review",
        /// The payment is stopped.
        Blocked = "blocked",
    }
}

/// A decision on a payment request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub result: DecisionResult,
    /// Why, in the order of the checks, each once.
    pub reasons: Vec<Reason>,
    /// The policy that it was decided under.
    pub policy: Option<PolicyRef>,
    /// Every check, in their order.
    pub checks: Vec<Check>,
    /// What enforcement would have decided; only on [`DecisionResult::Observe`].
    pub shadow_result: Option<ShadowResult>,
    /// The risk.
    pub risk: Risk,
    /// What the person is to be asked; only on [`DecisionResult::Clarify`].
    pub questions: Vec<Question>,
    /// Whether the same payment may be asked for again; only on [`DecisionResult::Deny`].
    pub retry: Option<Retry>,
    /// The budgets that the payment passes; under a policy that only watches it is made all the same.
    pub overruns: Vec<Overrun>,
}

/// The version of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRef {
    /// Its id, once it has one.
    pub id: Option<PolicyId>,
    /// Its version, once it is signed.
    pub version: Option<u32>,
    /// The hash of the document.
    pub hash: lcp::Hash,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Whether nothing stands against the payment, or a person approved it.
    pub ok: bool,
    /// The reason that it found, if it found one; of a check that is ok, a hint or what a person approved.
    pub reason: Option<Reason>,
    /// What was found.
    pub detail: Cow<'static, str>,
}

/// What enforcement would have decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowResult {
    /// Allow, step up or deny.
    pub result: DecisionResult,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// The risk of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Risk {
    /// What was done about it.
    pub action: RiskAction,
    /// From 0 to 100.
    pub score: u32,
    /// What the score is made of.
    pub signals: Vec<Signal>,
}

/// Whether and from when the same payment may be asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Whether every reason that ended the request is remediable.
    pub retryable: bool,
    /// From when, if waiting is what it takes and the time is known.
    pub after: Option<Instant>,
}

/// Decides. The same facts at the same time give the same decision.
///
/// Every check runs, in the order of `docs/decision.md`, also when an earlier one has decided; the strongest result wins:
/// deny, then clarify, then step up, then allow. A policy that only watches turns the result into `observe`, but for what
/// [`Reason::holds_in_shadow`] and missing slots.
pub fn decide(facts: &DecisionFacts<'_>, now: Instant) -> Decision {
    let mut judged = Judged::default();
    judged.findings.extend([
        standing::card_number(facts),
        standing::policy(facts),
        standing::key(facts),
        standing::agent(facts),
        standing::consent(facts, now),
    ]);
    if let Ok(policy) = facts.policy {
        judged.by_policy(facts, policy, now);
    } else {
        let not_judged = |name: &&'static str| Finding::new(*name, Verdict::NotJudged, "Not judged: there is no policy to judge by.");
        judged.findings.extend(POLICY_CHECKS.iter().map(not_judged));
    }
    judged.conclude(facts)
}

/// The checks that need a policy, in their order; `budget` stands for one of each window.
const POLICY_CHECKS: &[&str] = &[
    "agent_covered",
    "currency",
    "per_payment",
    "budget",
    "payee_denied",
    "screening",
    "payee_known",
    "payee_looks",
    "payee_identity",
    "payee_domain",
    "category",
    "rail",
    "finality",
    "agent_identity",
    "policy_snapshot",
    "duplicate",
    "retry",
    "intent",
    "deviation",
    "approval",
    "risk",
];

#[derive(Default)]
struct Judged {
    findings: Vec<Finding>,
    questions: Vec<Question>,
    overruns: Vec<Overrun>,
    signals: Vec<Signal>,
}

impl Judged {
    fn by_policy<'a>(&mut self, facts: &DecisionFacts<'a>, policy: &'a Policy, now: Instant) {
        let derived = Derived::of(facts, policy, now);
        let (budgets, overruns) = limits::budgets(facts, policy, now);
        let (slots, questions) = intent::slots(facts, policy);
        self.signals = risk::signals(facts, &derived, policy);
        (self.overruns, self.questions) = (overruns, questions);
        self.findings.extend([standing::agent_covered(facts, policy), limits::currency(facts, policy), limits::per_payment(facts, policy)]);
        self.findings.extend(budgets);
        self.findings.extend([
            payee::denied(facts, policy),
            payee::screening(facts, policy),
            payee::known(facts, &derived, policy),
            payee::looks(&derived),
            payee::identity(facts, policy),
            payee::domain(facts),
            purchase::category(facts, policy),
            purchase::rail(facts, policy),
            purchase::finality(facts, policy),
            purchase::agent_identity(facts, policy),
            purchase::policy_snapshot(facts, policy),
            history::duplicate(&derived, policy),
            history::retry(facts, &derived, policy),
            slots,
            intent::deviation(facts, policy),
            intent::threshold(facts, policy),
            risk::check(&self.signals),
        ]);
    }

    fn conclude(mut self, facts: &DecisionFacts<'_>) -> Decision {
        if facts.is_approved {
            self.findings.iter_mut().for_each(lift);
        }
        let enforced = strongest(&self.findings);
        let is_shadow = facts.policy.is_ok_and(|policy| policy.shadow);
        let holds = |finding: &Finding| matches!(finding.verdict, Verdict::Deny(reason) if reason.holds_in_shadow());
        let result = match enforced {
            result if !is_shadow => result,
            _ if self.findings.iter().any(holds) => DecisionResult::Deny,
            _ if !self.questions.is_empty() => DecisionResult::Clarify,
            _ => DecisionResult::Observe,
        };
        let all = reasons(&self.findings, |_| true);
        let is_observed = result == DecisionResult::Observe;
        Decision {
            result,
            reasons: if is_observed {
                [vec![Reason::ShadowMode], reasons(&self.findings, |verdict| matches!(verdict, Verdict::Hint(_)))].concat()
            } else {
                all.clone()
            },
            policy: facts.policy.ok().map(PolicyRef::of),
            shadow_result: is_observed.then_some(ShadowResult { result: enforced, reasons: all }),
            risk: Risk { action: RiskAction::of(result), score: risk::score(&self.signals), signals: self.signals },
            questions: if result == DecisionResult::Clarify { self.questions } else { Vec::new() },
            retry: (result == DecisionResult::Deny).then(|| retry(&self.findings)),
            overruns: self.overruns,
            checks: self.findings.into_iter().map(Check::of).collect(),
        }
    }
}

/// What a person approved no longer asks for a person.
fn lift(finding: &mut Finding) {
    if let Verdict::StepUp(_) = finding.verdict {
        finding.verdict = Verdict::Pass;
        finding.detail = format!("Approved by a person. {}", finding.detail).into();
    }
}

fn strongest(findings: &[Finding]) -> DecisionResult {
    let result = |finding: &Finding| match finding.verdict {
        Verdict::Pass | Verdict::Hint(_) => DecisionResult::Allow,
        Verdict::StepUp(_) => DecisionResult::StepUp,
        Verdict::Clarify(_) => DecisionResult::Clarify,
        Verdict::Deny(_) | Verdict::NotJudged => DecisionResult::Deny,
    };
    findings.iter().map(result).max().unwrap_or(DecisionResult::Deny)
}

/// The reasons of those findings, each once.
fn reasons(findings: &[Finding], of: impl Fn(Verdict) -> bool) -> Vec<Reason> {
    let mut found = Vec::new();
    for reason in findings.iter().filter(|finding| of(finding.verdict)).filter_map(|finding| finding.verdict.reason()) {
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

/// The same payment may be asked for again if every reason that denied it is remediable, and from when the last of them passes.
fn retry(findings: &[Finding]) -> Retry {
    let denied = || findings.iter().filter(|finding| matches!(finding.verdict, Verdict::Deny(_)));
    let retryable = denied().all(|finding| finding.verdict.reason().is_some_and(|reason| reason.family() == Family::Remediable));
    let after = denied().filter_map(|finding| finding.retry_after).max();
    Retry { retryable, after: after.filter(|_| retryable) }
}

impl Check {
    fn of(finding: Finding) -> Self {
        let Finding { name, verdict, detail, .. } = finding;
        Self { name, ok: verdict.is_ok(), reason: verdict.reason(), detail }
    }
}

impl RiskAction {
    const fn of(result: DecisionResult) -> Self {
        match result {
            DecisionResult::Allow | DecisionResult::Observe => Self::Authorized,
            DecisionResult::StepUp | DecisionResult::Clarify => Self::ManualReview,
            DecisionResult::Deny => Self::Blocked,
        }
    }
}

impl Decision {
    /// The decision in the client's shape.
    pub fn to_json(&self) -> Object {
        let texts = |reasons: &[Reason]| Value::from(reasons.iter().map(|reason| reason.as_str().into()).collect::<Vec<Value>>());
        let shadow =
            self.shadow_result.as_ref().map(|shadow| Object::new().with("result", shadow.result.as_str()).with("reasons", texts(&shadow.reasons)));
        let check = |check: &Check| {
            let named = Object::new().with("name", &*check.name).with("ok", check.ok);
            named.with_some("reason", check.reason.map(Reason::as_str)).with("detail", &*check.detail).into()
        };
        let questions: Vec<Value> = self.questions.iter().map(|question| question.to_json().into()).collect();
        let retry = self.retry.unwrap_or(Retry { retryable: false, after: None });
        Object::new()
            .with("result", self.result.as_str())
            .with("reasons", texts(&self.reasons))
            .with("policy", self.policy.as_ref().map_or(Value::Null, |policy| policy.to_json().into()))
            .with("checks", self.checks.iter().map(check).collect::<Vec<Value>>())
            .with("shadow_result", shadow.map_or(Value::Null, Value::from))
            .with("risk", self.risk.to_json())
            .with("questions", questions)
            .with("retryable", retry.retryable)
            .with("retry_after", retry.after.map_or(Value::Null, Value::from))
    }
}

impl Risk {
    /// `{"action", "score"}`
    pub fn to_json(&self) -> Object {
        Object::new().with("action", self.action.as_str()).with("score", self.score)
    }
}

impl PolicyRef {
    /// Names a policy.
    pub fn of(policy: &Policy) -> Self {
        Self { id: policy.id.clone(), version: policy.version, hash: *policy.hash() }
    }

    /// `{"id", "version", "hash"}`, the hash as hex behind `sha256:`.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("id", self.id.as_ref().map_or(Value::Null, Value::from))
            .with("version", self.version.map_or(Value::Null, Value::from))
            .with("hash", digest_text(&self.hash))
    }
}
