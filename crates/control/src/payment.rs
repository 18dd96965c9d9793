//! Payments: what becomes of one request to pay, from the asking to its end (see `docs/payment.md`).
//!
//! Each command takes the state, the facts, the time and fresh ids, and gives the new state or a refusal with nothing
//! changed. What time alone does, [`Payment::tick`] does; a caller ticks before any other command.

mod answers;
mod approval;
mod hand_off;
mod lapse;
mod order;
mod record;
mod stored;
mod summary;
mod timeline;
mod view;

use lcp::{Value, jose::SigningKey};

pub use answers::{Answer, AnswersGiven, Asking};
pub use approval::{Approval, ApprovalState};
pub use hand_off::{HandOff, HandOffReport, RailFailure, Reported};
pub use lapse::{CLARIFICATION_TTL_SECONDS, HAND_OFF_SECONDS};
pub use order::{OrderReport, ReportedOrder, SellerOrder};
pub use timeline::{Event, EventKind};
pub use view::Links;

use crate::{
    Ids, Instant, Money,
    decision::{
        AgentFacts, ConsentFacts, Decision, DecisionFacts, DecisionResult, EarlierRequest, KeyState, NoPolicy, Outcome, PayeeFacts, PayeeStatus,
        PolicyRef, WindowSpend, decide,
    },
    fault::codes,
    ids::{AgentId, ConsentId, KeyId, OrgId, PolicyId, RecordId, RequestId},
    intent::Intent,
    mandate::{self, Mandate, MandateState, VoidReason},
    policy::{Anchor, Assurance, Policy},
    rail::Rail,
    request::{Form, PaymentRequestCreate},
};

codes! {
    /// Where a payment request stands.
    pub enum RequestState {
        /// Decided: it is allowed or observed and its mandate may be used, or it is denied.
        Decided = "decided",
        /// The person is asked what is wanted.
        AwaitingClarification = "awaiting_clarification",
        /// A person is asked whether to pay.
        AwaitingApproval = "awaiting_approval",
        /// A person approved it, and its mandate may be used.
        Approved = "approved",
        /// A person pays on the merchant's page.
        HandedOff = "handed_off",
        /// A person declined it.
        Declined = "declined",
        /// Nobody answered in time, or its mandate was not used: it expired or was withdrawn.
        Expired = "expired",
        /// The payment was sent, and what came of it is not known yet.
        Executed = "executed",
        /// There is an order.
        Completed = "completed",
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The id it gets.
    pub id: RequestId,
    /// The id of its record.
    pub record_id: RecordId,
    /// Whose it is.
    pub org: OrgId,
    /// Who asks.
    pub agent: AgentId,
    /// With which key.
    pub key: KeyId,
    /// The body as it was sent.
    pub source: Value,
    /// The form it was sent in.
    pub form: Form,
    /// What it was read as.
    pub request: PaymentRequestCreate,
}

/// What is known beside the request when it is decided.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Who asks.
    pub agent: AgentFacts<'a>,
    /// The key that asked.
    pub key: KeyState,
    /// The consent that the agent acts under.
    pub consent: Option<(ConsentId, ConsentFacts)>,
    /// The policy, or why there is none to decide by.
    pub policy: Result<&'a Policy, &'a NoPolicy>,
    /// What is known of the payee.
    pub payee: PayeeFacts,
    /// What counts already in each window of the policy.
    pub spend: &'a [WindowSpend],
    /// Earlier requests of the same agent, at least as far back as the policy looks.
    pub earlier: &'a [EarlierRequest],
}

/// What a command works with.
pub struct Desk<'a> {
    /// The time.
    pub now: Instant,
    /// Fresh ids.
    pub ids: &'a mut dyn Ids,
    /// Who issues mandates: the claim `iss`.
    pub issuer: &'a str,
    /// What mandates are signed with.
    pub key: &'a dyn SigningKey,
    /// The ways money moves, the first that serves a protocol taking it.
    pub rails: &'a [&'a dyn Rail],
}

/// A payment request and all that became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Payment {
    id: RequestId,
    record_id: RecordId,
    org: OrgId,
    agent: AgentId,
    key: KeyId,
    consent: Option<ConsentId>,
    source: Value,
    form: Form,
    request: PaymentRequestCreate,
    /// The request's intent with the answers given since.
    intent: Intent,
    created_at: Instant,
    state: RequestState,
    /// Every decision, the first at the asking; never empty once asked.
    decided: Vec<Decided>,
    asked: Vec<Asking>,
    answers: Vec<Answer>,
    approvals: Vec<Approval>,
    mandate: Option<Mandate>,
    hand_off: Option<HandOff>,
    order: Option<SellerOrder>,
    withdrawn: Option<VoidReason>,
    events: Vec<Event>,
    ended_at: Option<Instant>,
}

/// A decision and what it was made on.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// When.
    pub at: Instant,
    /// What.
    pub decision: Decision,
    /// What a check of the payee's identity had said.
    pub payee: PayeeStatus,
    /// How well the agent was known.
    pub assurance: Assurance,
    /// The anchors of its identity.
    pub anchors: Vec<Anchor>,
    /// The edition of the time zone data that windows were computed by.
    pub tzdata: String,
}

/// What counts in the budgets of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The policy.
    pub policy: PolicyId,
    /// In the windows of this moment.
    pub at: Instant,
    /// How much.
    pub amount: Money,
}

impl Payment {
    /// Decides a request. Where the decision is to pay, a mandate is issued; where no rail can, the request is handed to a
    /// person.
    pub fn ask(asked: Asked, standing: &Standing<'_>, desk: &mut Desk<'_>) -> Self {
        let Asked { id, record_id, org, agent, key, source, form, request } = asked;
        let mut payment = Self {
            id,
            record_id,
            org,
            agent,
            key,
            consent: None,
            source,
            form,
            intent: request.intent.clone(),
            request,
            created_at: desk.now,
            state: RequestState::Decided,
            decided: Vec::new(),
            asked: Vec::new(),
            answers: Vec::new(),
            approvals: Vec::new(),
            mandate: None,
            hand_off: None,
            order: None,
            withdrawn: None,
            events: Vec::new(),
            ended_at: None,
        };
        payment.note(desk.now, EventKind::Asked);
        payment.decide(standing, false, desk);
        payment
    }

    /// Decides, and does what was decided.
    fn decide(&mut self, standing: &Standing<'_>, is_approved: bool, desk: &mut Desk<'_>) {
        let facts = DecisionFacts {
            request_id: &self.id,
            request: &self.request,
            intent: &self.intent,
            rounds: self.rounds(),
            // A request or an answer with a card number is refused before it gets here.
            card_number: None,
            agent: standing.agent.clone(),
            key: standing.key,
            consent: standing.consent.as_ref().map(|(_, facts)| *facts),
            policy: standing.policy,
            payee: standing.payee,
            spend: standing.spend,
            earlier: standing.earlier,
            is_approved,
        };
        let decision = decide(&facts, desk.now);
        let result = decision.result;
        let consent = standing.consent.as_ref().filter(|(_, facts)| facts.is_in_force(desk.now));
        self.consent = consent.map(|(id, _)| id.clone());
        self.decided.push(Decided {
            at: desk.now,
            decision,
            payee: standing.payee.identity,
            assurance: standing.agent.assurance,
            anchors: standing.agent.anchors.to_vec(),
            tzdata: crate::window::TZDATA.to_owned(),
        });
        self.note(desk.now, EventKind::Decided);
        match (result, standing.policy) {
            (DecisionResult::Clarify, _) => self.open_questions(desk.now),
            (DecisionResult::StepUp, Ok(policy)) => self.open_approval(policy, desk),
            (DecisionResult::Allow | DecisionResult::Observe, Ok(policy)) => {
                self.state = if is_approved { RequestState::Approved } else { RequestState::Decided };
                self.pay(policy, consent.and_then(|(_, facts)| facts.ends_after(desk.now)), desk);
            }
            // Without a policy the decision is always to deny.
            (DecisionResult::Deny, _) | (_, Err(_)) => {
                self.state = RequestState::Decided;
                self.end(desk.now);
            }
        }
    }

    fn pay(&mut self, policy: &Policy, consent_ends: Option<Instant>, desk: &mut Desk<'_>) {
        let order = mandate::Order { agent: &self.agent, request: &self.request, policy, consent_ends };
        match Mandate::issue(&order, desk) {
            Ok(mandate) => {
                self.mandate = Some(mandate);
                self.note(desk.now, EventKind::MandateIssued);
            }
            Err(unissued) => self.hand_off_by_rail(unissued, desk.now),
        }
    }

    fn end(&mut self, at: Instant) {
        self.ended_at = Some(at);
        self.note(at, EventKind::Ended);
    }

    fn note(&mut self, at: Instant, what: EventKind) {
        self.events.push(Event { at, what, by: None });
    }

    /// How often the person was asked.
    fn rounds(&self) -> u32 {
        let rounds = self.decided.iter().filter(|decided| decided.decision.result == DecisionResult::Clarify).count();
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// What counts in budgets now: nothing if nothing was issued, or if it was given back.
    pub fn counted(&self) -> Option<Counted> {
        let mandate = self.mandate.as_ref().filter(|mandate| mandate.counts())?;
        Some(Counted { policy: mandate.terms.policy.id.clone()?, at: mandate.issued_at, amount: mandate.amount.clone() })
    }

    /// Whether it is over: its record is to be sealed, and nothing changes any more but an order that is reported late.
    pub const fn has_ended(&self) -> bool {
        self.ended_at.is_some()
    }

    /// What became of it, as later requests see it.
    pub fn outcome(&self) -> Outcome {
        match self.state {
            RequestState::Declined | RequestState::Expired => Outcome::Failed,
            RequestState::Decided if self.mandate.is_none() => Outcome::Failed,
            RequestState::HandedOff if self.hand_off.as_ref().is_some_and(|hand_off| hand_off.rail.is_some()) => Outcome::Failed,
            RequestState::HandedOff => Outcome::HandedOff,
            _ => Outcome::Live,
        }
    }

    /// The request as later ones see it; `None` for one whose payee has no key.
    pub fn earlier(&self) -> Option<EarlierRequest> {
        EarlierRequest::of(self.id.clone(), self.created_at, &self.request, self.outcome())
    }

    /// Whether the payee said that it was paid. The agent's word alone makes no payee better known.
    pub const fn is_paid(&self) -> bool {
        self.order.is_some()
    }

    /// Whether the mandate may be used at a moment.
    pub fn is_usable(&self, now: Instant) -> bool {
        self.mandate.as_ref().is_some_and(|mandate| mandate.is_usable(now))
    }

    /// Its id.
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// The id of its record.
    pub const fn record_id(&self) -> &RecordId {
        &self.record_id
    }

    /// Whose it is.
    pub const fn org(&self) -> &OrgId {
        &self.org
    }

    /// Who asked.
    pub const fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// With which key.
    pub const fn key(&self) -> &KeyId {
        &self.key
    }

    /// The consent in force when it was decided last.
    pub const fn consent(&self) -> Option<&ConsentId> {
        self.consent.as_ref()
    }

    /// Where it stands.
    pub const fn state(&self) -> RequestState {
        self.state
    }

    /// What was asked.
    pub const fn request(&self) -> &PaymentRequestCreate {
        &self.request
    }

    /// The body as it was sent.
    pub const fn source(&self) -> &Value {
        &self.source
    }

    /// What the person wants, with the answers.
    pub const fn intent(&self) -> &Intent {
        &self.intent
    }

    /// Every decision, in their order.
    pub fn decided(&self) -> &[Decided] {
        &self.decided
    }

    /// The decision in force.
    pub fn decision(&self) -> Option<&Decision> {
        self.decided.last().map(|decided| &decided.decision)
    }

    /// The policy version that its mandate was issued under, or that it was decided under last.
    pub fn policy(&self) -> Option<&PolicyRef> {
        let issued = self.mandate.as_ref().map(|mandate| &mandate.terms.policy);
        issued.or_else(|| self.decision()?.policy.as_ref())
    }

    /// The approval asked for last.
    pub fn approval(&self) -> Option<&Approval> {
        self.approvals.last()
    }

    /// Every approval that was asked for.
    pub fn approvals(&self) -> &[Approval] {
        &self.approvals
    }

    /// The mandate.
    pub const fn mandate(&self) -> Option<&Mandate> {
        self.mandate.as_ref()
    }

    /// The hand-off to a person.
    pub const fn hand_off_made(&self) -> Option<&HandOff> {
        self.hand_off.as_ref()
    }

    /// The order by the payee's word.
    pub const fn order(&self) -> Option<&SellerOrder> {
        self.order.as_ref()
    }

    /// What happened, in its order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// When it was asked.
    pub const fn created_at(&self) -> Instant {
        self.created_at
    }

    /// When it ended.
    pub const fn ended_at(&self) -> Option<Instant> {
        self.ended_at
    }

    fn mandate_in(&self, state: MandateState) -> Option<&Mandate> {
        self.mandate.as_ref().filter(|mandate| mandate.state == state)
    }
}
