//! Approvals: what a person is shown, and what their click does.

use control::{
    Instant, Money, card_number,
    decision::{Check, Decision, DecisionResult},
    ids::{ApprovalId, OrgId},
    payment::{Approval, ApprovalState, Payment},
    policy::Policy,
};
use lcp::{Object, json};
use store::{Reader, Tx};

use super::{Inner, Service, Verdict, agents::known_agent};
use crate::{Caller, Person, Problem};

/// An approval as a person sees it. Texts are as they were given: whoever shows them escapes them.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalPage {
    /// The approval's id.
    pub id: String,
    /// `pending`, `approved`, `declined`, `expired`, `superseded` or `void`; `refused` if a person approved what was then
    /// denied.
    pub state: String,
    /// What a click binds to.
    pub digest: String,
    /// How much.
    pub amount: Money,
    /// The payee's name as given.
    pub payee_name: Option<String>,
    /// The payee's domain, and the part of it that is registered.
    pub payee_domain: Option<(String, String)>,
    /// The payee's merchant id.
    pub merchant_id: Option<String>,
    /// What for: the agent's words.
    pub purpose: String,
    /// What the person wanted, as the agent says.
    pub intent: Option<String>,
    /// Who asks: the agent's name and id.
    pub agent: (String, String),
    /// Why a person is asked: each rule's reason code and sentence.
    pub rules: Vec<(String, String)>,
    /// What is known and not known of the payee: name, PASS, FAIL or SKIP, and detail.
    pub merchant_facts: Vec<(String, String, String)>,
    /// The evidence: type, reference, digest.
    pub evidence: Vec<(String, String, String)>,
    /// The checkout: protocol and reference.
    pub checkout: Option<(String, String)>,
    /// The risk: score and its signals.
    pub risk: (u32, Vec<String>),
    /// The policy: name or id, and version.
    pub policy: Option<(String, u32)>,
    /// When it was asked.
    pub asked_at: Instant,
    /// Until when it can be answered.
    pub expires_at: Instant,
    /// The time now.
    pub now: Instant,
    /// Who answered, and when.
    pub decided: Option<(String, Instant)>,
    /// What came of it, in a sentence, once it is answered.
    pub outcome: Option<String>,
    /// The record.
    pub record_id: String,
}

/// The checks that say what is known of the payee, in the order in which they are shown.
const MERCHANT_CHECKS: &[&str] = &["payee_known", "payee_looks", "payee_identity", "payee_domain", "screening"];

impl Service {
    /// One approval, as a key sees it. No key answers one.
    pub async fn approval(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let (caller, id) = (caller.clone(), ApprovalId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |inner, reader, now| {
            let row = reader.approval(&caller.org, &id)?.ok_or_else(Problem::not_found)?;
            let mut payment = inner.seen(reader, &caller, &row.request)?;
            payment.tick(now);
            let approval = payment.approvals().iter().find(|approval| approval.id == id).ok_or_else(Problem::not_found)?;
            Ok(approval.to_json().with("url", format!("{}/approve/{id}", inner.base)).with("request_id", payment.id().as_str()))
        })
        .await
    }

    /// What the approval's page shows.
    pub async fn approval_page(&self, person: &Person, id: &str) -> Result<ApprovalPage, Problem> {
        let (person, id) = (person.clone(), ApprovalId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |inner, reader, now| {
            let mut payment = inner.payment_of_approval(reader, &person.org, &id)?;
            payment.tick(now);
            approval_page(reader, &payment, &id, now)
        })
        .await
    }

    /// Decides. The click counts only for what was shown (the digest); the request is decided again as things stand now.
    pub async fn decide_approval(&self, person: &Person, id: &str, digest: &str, verdict: Verdict) -> Result<ApprovalPage, Problem> {
        let (person, id, digest) = (person.clone(), ApprovalId::parse(id).ok_or_else(Problem::not_found)?, digest.to_owned());
        let shown = id.clone();
        let shown_to = person.clone();
        self.write(move |inner, tx, now| inner.click(tx, &person, &id, &digest, verdict, now)).await?;
        self.approval_page(&shown_to, shown.as_str()).await
    }

    /// What waits for this person, oldest first.
    pub async fn approvals_waiting(&self, person: &Person) -> Result<Vec<ApprovalPage>, Problem> {
        let person = person.clone();
        self.read(move |inner, reader, now| {
            let rows = reader.approvals_waiting(&person.org)?;
            rows.iter()
                .map(|row| {
                    let payment = inner.payment(reader, &person.org, &row.request)?.ok_or_else(Problem::not_found)?;
                    approval_page(reader, &payment, &row.id, now)
                })
                .collect()
        })
        .await
    }
}

impl Inner {
    fn click(&self, tx: &mut Tx<'_>, person: &Person, id: &ApprovalId, digest: &str, verdict: Verdict, now: Instant) -> Result<(), Problem> {
        let request = self.payment_of_approval(tx, &person.org, id)?.id().clone();
        let before = self.ticked(tx, &person.org, &request, now)?;
        if before.approval().is_none_or(|approval| approval.id != *id) {
            return Err(Problem::new(409, "approval_superseded", "The request was decided again since: look at what it waits for now."));
        }
        let facts = self.facts(tx, before.org(), (before.agent(), before.key()), before.request(), now)?;
        let mut after = before.clone();
        self.at_desk(now, |desk| match verdict {
            Verdict::Approve => after.approve(&person.user, digest, &facts.standing(), desk),
            Verdict::Decline => after.decline(&person.user, digest, &facts.standing(), desk),
        })?;
        self.save(tx, Some(&before), &after, now)
    }

    fn payment_of_approval(&self, reader: &Reader<'_>, org: &OrgId, id: &ApprovalId) -> Result<Payment, Problem> {
        let row = reader.approval(org, id)?.ok_or_else(Problem::not_found)?;
        self.payment(reader, org, &row.request)?.ok_or_else(Problem::not_found)
    }
}

/// What is known of the payee: each fact with PASS, FAIL or SKIP.
fn merchant_facts(reader: &Reader<'_>, payment: &Payment, decision: &Decision) -> Result<Vec<(String, String, String)>, Problem> {
    let payee = payment.request().payee.taker().map(|key| key.to_string()).unwrap_or_default();
    let before = reader.payments_to(payment.org(), &payee)?;
    let first = match before {
        0 => ("FAIL", "This is the first payment to this payee.".to_owned()),
        1 => ("PASS", "One payment was made to this payee before.".to_owned()),
        more => ("PASS", format!("{more} payments were made to this payee before.")),
    };
    let mut facts = vec![("paid_before".to_owned(), first.0.to_owned(), first.1)];
    for name in MERCHANT_CHECKS {
        if let Some(check) = decision.checks.iter().find(|check| check.name == *name) {
            let result = match (check.ok, *name) {
                // Nobody looked it up, or there is nothing to look at: that is not known, rather than good.
                (true, "payee_identity") => "SKIP",
                (true, "payee_domain") if payment.request().checkout.as_ref().is_none_or(|checkout| checkout.url.is_none()) => "SKIP",
                (true, _) => "PASS",
                (false, _) => "FAIL",
            };
            facts.push(((*name).to_owned(), result.to_owned(), check.detail.to_string()));
        }
    }
    Ok(facts)
}

/// What became of an approval. Approving is a wish: what is denied at the click is not paid.
fn shown_state(payment: &Payment, approval: &Approval) -> &'static str {
    let is_denied = payment.decision().is_some_and(|decision| decision.result == DecisionResult::Deny);
    if approval.state == ApprovalState::Approved && is_denied { "refused" } else { approval.state.as_str() }
}

/// The name of the policy version that was decided under, or its id, and the version.
fn policy_name(reader: &Reader<'_>, org: &OrgId, decision: &Decision) -> Result<Option<(String, u32)>, Problem> {
    let Some((id, version)) = decision.policy.as_ref().and_then(|policy| Some((policy.id.as_ref()?, policy.version?))) else { return Ok(None) };
    let name = reader.policy(org, id, version)?.and_then(|row| Policy::parse(&row.sealed.text).ok()?.name);
    Ok(Some((name.unwrap_or_else(|| id.to_string()), version)))
}

/// Each rule that asks a person or stands against the payment: its reason and what it found.
fn rules(decision: &Decision) -> Vec<(String, String)> {
    let found = decision.checks.iter().filter(|check| !check.ok);
    let code = |check: &Check| check.reason.map_or_else(|| check.name.to_string(), |reason| reason.as_str().to_owned());
    found.map(|check| (code(check), check.detail.to_string())).collect()
}

/// What the person wanted, as the agent says: the words, else the slots.
fn intent(payment: &Payment) -> Option<String> {
    let intent = payment.intent();
    let slots = || json::write(&intent.to_json().get("slots").cloned().unwrap_or(lcp::Value::Null));
    intent.text.clone().or_else(|| (!intent.slots.is_empty()).then(slots)).filter(|text| !card_number::is_in(text))
}

fn approval_page(reader: &Reader<'_>, payment: &Payment, id: &ApprovalId, now: Instant) -> Result<ApprovalPage, Problem> {
    let approval = payment.approvals().iter().find(|approval| approval.id == *id).ok_or_else(Problem::not_found)?;
    let request = payment.request();
    // The decision that asked for it.
    let asked = payment.decided().iter().rev().find(|decided| decided.at == approval.asked_at).or(payment.decided().first());
    let decision = &asked.ok_or_else(Problem::not_found)?.decision;
    let agent = known_agent(reader, payment.org(), payment.agent())?;
    let decided = match (&approval.by, approval.over_at) {
        (Some(by), Some(at)) => Some((reader.user(by)?.map_or_else(|| by.to_string(), |user| user.login), at)),
        _ => None,
    };
    let payee = &request.payee;
    Ok(ApprovalPage {
        id: id.to_string(),
        state: shown_state(payment, approval).to_owned(),
        digest: approval.digest.clone(),
        amount: request.amount.clone(),
        payee_name: payee.name.as_ref().map(|name| name.given().to_owned()),
        payee_domain: payee.domain.as_ref().map(|domain| (domain.unicode(), domain.registrable().to_owned())),
        merchant_id: payee.merchant_id.as_deref().map(str::to_owned),
        purpose: request.purpose.clone(),
        intent: intent(payment),
        agent: (agent.name, agent.id.to_string()),
        rules: rules(decision),
        merchant_facts: merchant_facts(reader, payment, decision)?,
        evidence: request.evidence.iter().map(|one| (one.kind.clone(), one.reference.clone(), one.digest.as_str().to_owned())).collect(),
        checkout: request.checkout.as_ref().map(|checkout| (checkout.protocol.as_str().to_owned(), checkout.reference.clone())),
        risk: (decision.risk.score, decision.risk.signals.iter().map(|signal| signal.as_str().to_owned()).collect()),
        policy: policy_name(reader, payment.org(), decision)?,
        asked_at: payment.created_at(),
        expires_at: approval.expires_at,
        now,
        decided,
        outcome: (approval.state != ApprovalState::Pending).then(|| payment.summary()),
        record_id: payment.record_id().to_string(),
    })
}
