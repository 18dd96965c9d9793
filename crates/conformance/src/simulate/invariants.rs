//! What must hold of one payment after each command, by the rules of the design page, not by the code's.

use control::{
    Instant,
    decision::DecisionResult,
    ids::PolicyId,
    mandate::{Mandate, MandateState},
    payment::{Payment, RequestState},
    policy::{Policy, RefillPolicy},
};

use super::{books::Books, org::Member, scene};

/// A rule that does not hold: its name, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub check: &'static str,
    /// What was found.
    pub found: String,
}

pub(super) fn broken(check: &'static str, found: impl Into<String>) -> Broken {
    Broken { check, found: found.into() }
}

/// Fails unless it holds.
pub(super) fn require(holds: bool, check: &'static str, found: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken(check, found())) }
}

/// What was done to a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Asked,
    Answered,
    Approved,
    Declined,
    HandedOff,
    /// The same, after the payment had ended.
    ReportedLate,
    Consumed,
    Withdrawn,
    TimePassed,
}

/// What counts of a payment, by the mandate alone.
pub(super) fn counted(payment: &Payment) -> Option<(PolicyId, Instant, control::Money)> {
    let mandate = payment.mandate()?;
    let counts = match mandate.state {
        MandateState::Issued | MandateState::Consumed => true,
        MandateState::Expired | MandateState::Void => mandate.terms.refill_policy == RefillPolicy::Never,
    };
    let policy = mandate.terms.policy.id.clone()?;
    counts.then(|| (policy, mandate.issued_at, mandate.amount.clone()))
}

/// Judges one payment before and after a command that was carried out. The books hold it as it is after.
pub(super) fn judge(before: Option<&Payment>, after: &Payment, deed: Deed, member: &Member, books: &Books, now: Instant) -> Result<(), Broken> {
    let id = after.id();
    if let Some(before) = before {
        let same = before.record_id() == after.record_id() && before.agent() == after.agent() && before.org() == after.org() && before.id() == id;
        require(same, "identity", || format!("{id} is another's after {deed:?}"))?;
        if before.has_ended() {
            let is_same = before.mandate() == after.mandate() && before.ended_at() == after.ended_at() && before.decision() == after.decision();
            require(after == before || (deed == Deed::ReportedLate && is_same), "the end is final", || {
                format!("{id} ended and {deed:?} changed it")
            })?;
        }
        let (from, to) = (before.state(), after.state());
        require(from == to || is_legal(from, to, deed), "legal transitions", || format!("{id} went from {from} to {to} by {deed:?}"))?;
    }
    require(after.has_ended() != after.due().is_some(), "nothing stays open for ever", || {
        format!("{id} in {} is due {:?}", after.state(), after.due())
    })?;
    match (before.and_then(Payment::mandate), after.mandate()) {
        (None, None) => {}
        (None, Some(mandate)) => issued(after, mandate, deed, member, books, now)?,
        (Some(_), None) => return Err(broken("one mandate", format!("the mandate of {id} is gone"))),
        (Some(held), Some(mandate)) => used(held, mandate, deed, now)?,
    }
    let told = after.counted().map(|counted| (counted.policy, counted.at, counted.amount));
    require(told == counted(after), "what counts", || format!("{id} counts with {told:?}"))
}

/// The transitions of the control plane's page on payments.
fn is_legal(from: RequestState, to: RequestState, deed: Deed) -> bool {
    use RequestState::{Approved, AwaitingApproval, AwaitingClarification, Completed, Decided, Declined, Expired, HandedOff};
    match deed {
        Deed::Asked => false,
        Deed::Answered => from == AwaitingClarification && matches!(to, Decided | AwaitingApproval | HandedOff),
        Deed::Approved => from == AwaitingApproval && matches!(to, Approved | Decided | AwaitingClarification | HandedOff),
        Deed::Declined => from == AwaitingApproval && to == Declined,
        Deed::HandedOff => matches!((from, to), (Decided | Approved, HandedOff | Completed) | (HandedOff, Completed)),
        Deed::ReportedLate => from == HandedOff && to == Completed,
        Deed::Consumed => matches!(from, Decided | Approved) && to == Completed,
        Deed::Withdrawn | Deed::TimePassed => matches!(from, Decided | Approved | AwaitingApproval | AwaitingClarification) && to == Expired,
    }
}

/// A mandate came to be.
fn issued(payment: &Payment, mandate: &Mandate, deed: Deed, member: &Member, books: &Books, now: Instant) -> Result<(), Broken> {
    let (id, request) = (&mandate.id, payment.request());
    require(matches!(deed, Deed::Asked | Deed::Answered | Deed::Approved), "issued by a decision", || format!("{id} by {deed:?}"))?;
    require(mandate.state == MandateState::Issued && mandate.issued_at == now, "issued now", || format!("{id} is {}", mandate.state))?;
    require(mandate.amount == request.amount, "issued for what was asked", || format!("{id} is for {}", mandate.amount))?;
    require(mandate.expires_at > now, "issued to be used", || format!("{id} expires {} at {now}", mandate.expires_at))?;
    require(!member.agent.facts().is_paused, "a pause wins", || format!("{id} for a paused agent by {deed:?}"))?;
    require(member.key_state == control::decision::KeyState::Active, "a revoked key denies", || id.to_string())?;
    let consent = member.consent.as_ref().map(control::consent::Consent::facts);
    let is_revoked = consent.is_some_and(|consent| consent.revoked_from.is_some_and(|from| from <= now));
    require(!is_revoked, "a revoked consent denies", || format!("{id} by {deed:?}"))?;
    let ends = consent
        .filter(|consent| consent.valid_from <= now)
        .and_then(|consent| consent.valid_until.into_iter().chain(consent.revoked_from).filter(|end| *end > now).min());
    require(ends.is_none_or(|end| mandate.expires_at <= end), "no longer than the consent", || format!("{id} expires {}", mandate.expires_at))?;
    let Ok(signed) = &member.policy else { return Err(broken("no policy, no mandate", id.to_string())) };
    let policy = &signed.policy;
    let result = payment.decision().map(|decision| decision.result);
    let expected = if policy.shadow { DecisionResult::Observe } else { DecisionResult::Allow };
    require(result == Some(expected), "issued as decided", || format!("{id} on {result:?}"))?;
    if policy.shadow {
        return Ok(());
    }
    if policy.require_consent {
        let in_force = consent.is_some_and(|consent| consent.valid_from <= now && consent.valid_until.is_none_or(|until| until > now));
        require(in_force, "a consent is required", || id.to_string())?;
    }
    let domain = request.payee.domain.as_ref().map(control::payee::Domain::as_str);
    require(domain != Some(scene::DENIED), "a denied payee", || id.to_string())?;
    require(mandate.amount.is_within(&policy.limits.per_payment) != Some(false), "the limit of a payment", || format!("{id}: {}", mandate.amount))?;
    let threshold = policy.approval.threshold.as_ref();
    let needs_person = threshold.is_some_and(|threshold| mandate.amount.is_within(threshold) != Some(true));
    require(!needs_person || deed == Deed::Approved, "above the threshold a person approves", || format!("{id} by {deed:?}"))?;
    within_budgets(policy, mandate, books)
}

/// Issued less given back never passes a window's limit, in any window that holds the mandate.
fn within_budgets(policy: &Policy, mandate: &Mandate, books: &Books) -> Result<(), Broken> {
    for limit in policy.limits.windows.iter().filter(|limit| limit.max.currency() == mandate.amount.currency()) {
        let counted = books.most_counted(policy, limit, mandate.issued_at);
        require(counted <= limit.max.units(), "the budget", || {
            format!("{} at {}: {counted} of {} in {}", mandate.id, mandate.issued_at, limit.max.units(), limit.kind)
        })?;
    }
    Ok(())
}

/// A mandate that was there is there still.
fn used(held: &Mandate, mandate: &Mandate, deed: Deed, now: Instant) -> Result<(), Broken> {
    let id = &held.id;
    let same = held.id == mandate.id
        && held.amount == mandate.amount
        && held.payee == mandate.payee
        && held.digest == mandate.digest
        && (held.issued_at, held.expires_at) == (mandate.issued_at, mandate.expires_at);
    require(same, "one mandate", || format!("{id} is another after {deed:?}"))?;
    let ended = || format!("{id} went from {} to {} by {deed:?} at {now}, expiring {}", held.state, mandate.state, mandate.expires_at);
    let may = match mandate.state {
        state if state == held.state => held.spent == mandate.spent,
        MandateState::Issued => false,
        MandateState::Consumed => {
            let is_within = mandate.spent.as_ref().is_some_and(|spent| spent.is_within(&held.amount) == Some(true));
            deed == Deed::Consumed && now < held.expires_at && is_within
        }
        MandateState::Expired => now >= held.expires_at,
        MandateState::Void => matches!(deed, Deed::HandedOff | Deed::Withdrawn),
    };
    require(may && (held.state == MandateState::Issued || held.state == mandate.state), "a mandate is used once", ended)
}

/// No card number, token or signed mandate in what is shown or recorded.
pub(super) fn has_no_secret(text: &str, what: &str) -> Result<(), Broken> {
    let planted = scene::PLANTED.iter().any(|number| text.contains(number));
    require(!planted, "no card number", || format!("{what} holds one"))?;
    require(!text.contains("tok_sandbox_"), "no token", || format!("{what} holds one"))?;
    // Every JWS starts with the base64 of `{"`.
    require(!text.contains("eyJ"), "no signed mandate", || format!("{what} holds one"))
}
