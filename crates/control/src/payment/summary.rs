//! One plain sentence on where a payment stands.

use super::{OrderReport, Payment, RequestState};
use crate::{
    decision::{Decision, DecisionResult, Reason},
    mandate::MandateState,
};

impl Payment {
    /// The sentence. It holds no words of the agent's but who is to be paid.
    pub fn summary(&self) -> String {
        let what = format!("{} to {}", self.request.amount, self.request.payee.shown());
        let order = self.order.as_ref().map(|order| &order.report).or_else(|| Some(&self.hand_off.as_ref()?.order.as_ref()?.report));
        match self.state {
            RequestState::AwaitingClarification => format!("Not decided yet: ask the person {} about {what}.", questions(self.open().count())),
            RequestState::AwaitingApproval => {
                let until = self.approval().map(|approval| format!(" by {}", approval.expires_at)).unwrap_or_default();
                format!("A person has to approve {what}{until}.")
            }
            RequestState::Declined => format!("A person declined {what}; nothing was paid."),
            RequestState::Expired => format!("{} for {what}; nothing was paid by it.", self.how_it_expired()),
            RequestState::Completed => match order {
                Some(order) => self.ordered_summary(order, &what),
                None => format!("Done: {what}."),
            },
            RequestState::HandedOff => match self.rail_failure() {
                Some(failure) => format!("{} {}", failure.error.message, failure.error.next_step),
                None => format!("A person pays {what} on the merchant's page; report the order once it is placed."),
            },
            RequestState::Decided | RequestState::Approved | RequestState::Executed => self.decided_summary(&what),
        }
    }

    /// What an order came to is said as it was reported, also where that is not what was asked for.
    fn ordered_summary(&self, order: &OrderReport, what: &str) -> String {
        match order.total.as_ref().filter(|total| **total != self.request.amount) {
            Some(total) if total.is_within(&self.request.amount) == Some(true) => format!("Done: order {} of {total}, within {what}.", order.id),
            Some(total) => format!("Done: order {} of {total}, which is not within {what}.", order.id),
            None => format!("Done: order {} for {what}.", order.id),
        }
    }

    fn decided_summary(&self, what: &str) -> String {
        let until = self.mandate.as_ref().map(|mandate| format!("; the mandate is good once, until {}", mandate.expires_at)).unwrap_or_default();
        match self.decision() {
            Some(decision) if decision.result == DecisionResult::Deny => denied(decision, what),
            Some(_) if self.is_observed() => format!("Allowed by a policy that only watches: {what}{until}."),
            _ if self.state == RequestState::Approved => format!("A person approved {what}{until}."),
            _ => format!("Allowed: {what}{until}."),
        }
    }

    fn how_it_expired(&self) -> &'static str {
        match (self.withdrawn, self.mandate.as_ref().map(|mandate| mandate.state)) {
            (Some(_), Some(_)) => "The mandate was withdrawn",
            (Some(_), None) => "The request was withdrawn",
            (None, Some(MandateState::Expired)) => "The mandate was not used in time",
            (None, _) => "Nobody answered in time",
        }
    }
}

fn denied(decision: &Decision, what: &str) -> String {
    let reasons: Vec<_> = decision.reasons.iter().copied().map(Reason::as_str).collect();
    let next = match decision.retry {
        Some(retry) if retry.retryable => match retry.after {
            Some(after) => format!("the same payment may be asked for again from {after}"),
            None => "it may be asked for again once that is mended".to_owned(),
        },
        _ => "do not ask for it again".to_owned(),
    };
    format!("Denied: {what} ({}); {next}.", reasons.join(", "))
}

fn questions(count: usize) -> String {
    if count == 1 { "one question".to_owned() } else { format!("{count} questions") }
}
