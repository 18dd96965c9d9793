//! What time alone does, and what is withdrawn.

use super::{ApprovalState, Desk, EventKind, Payment, RequestState};
use crate::{
    Instant,
    mandate::{MandateState, VoidReason},
};

/// How long questions wait for answers: a day.
pub const CLARIFICATION_TTL_SECONDS: u32 = 86_400;
/// How long a hand-off waits for its order: 15 minutes.
pub const HAND_OFF_SECONDS: u32 = 900;

impl Payment {
    /// When [`Payment::tick`] does something next; `None` once it has ended.
    pub fn due(&self) -> Option<Instant> {
        if self.has_ended() {
            return None;
        }
        match self.state {
            RequestState::AwaitingApproval => self.approvals.last().map(|approval| approval.expires_at),
            RequestState::AwaitingClarification => self.asked.last().map(|asking| asking.at.plus_seconds(CLARIFICATION_TTL_SECONDS)),
            RequestState::HandedOff => self.hand_off.as_ref().map(|hand_off| hand_off.at.plus_seconds(HAND_OFF_SECONDS)),
            _ => self.mandate_in(MandateState::Issued).map(|mandate| mandate.expires_at),
        }
    }

    /// Does what time alone does: an approval, questions or a mandate expire, a hand-off is over. It happened when it was
    /// due, whenever this is called. `true` if anything changed.
    pub fn tick(&mut self, now: Instant) -> bool {
        let Some(due) = self.due().filter(|due| *due <= now) else { return false };
        match self.state {
            RequestState::AwaitingApproval => {
                self.end_approval(ApprovalState::Expired, due);
                self.expire(EventKind::Expired, due);
            }
            RequestState::AwaitingClarification => self.expire(EventKind::Expired, due),
            RequestState::HandedOff => {}
            _ => {
                self.end_mandate(MandateState::Expired, due);
                self.expire(EventKind::MandateExpired, due);
            }
        }
        self.end(due);
        true
    }

    /// Withdraws what is open: an unused mandate is void, and what waits for a person ends. A payment that was handed to
    /// a person or has ended stays as it is.
    pub fn void(&mut self, why: VoidReason, desk: &mut Desk<'_>) {
        let now = desk.now;
        if self.has_ended() || self.state == RequestState::HandedOff {
            return;
        }
        self.withdrawn = Some(why);
        match self.state {
            RequestState::AwaitingApproval => {
                self.end_approval(ApprovalState::Void, now);
                self.expire(EventKind::Withdrawn, now);
            }
            RequestState::AwaitingClarification => self.expire(EventKind::Withdrawn, now),
            _ => {
                self.void_mandate(why, now);
                self.state = RequestState::Expired;
            }
        }
        self.end(now);
    }

    pub(super) fn void_mandate(&mut self, why: VoidReason, now: Instant) {
        self.end_mandate(MandateState::Void, now);
        if let Some(mandate) = &mut self.mandate {
            mandate.void_reason = Some(why);
        }
        self.note(now, EventKind::MandateVoided);
    }

    pub(super) fn end_mandate(&mut self, state: MandateState, at: Instant) {
        if let Some(mandate) = &mut self.mandate {
            mandate.end(state, at);
        }
    }

    fn expire(&mut self, what: EventKind, at: Instant) {
        self.state = RequestState::Expired;
        self.note(at, what);
    }
}
