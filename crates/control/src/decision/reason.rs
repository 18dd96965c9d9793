//! Reasons: the closed table of stable codes, and what an agent can do about each.

use crate::fault::codes;

codes! {
    /// What can be done about a reason.
    pub enum Family {
        /// Nothing: stop.
        NotRemediable = "not_remediable",
        /// Mend the request, or ask for the same payment again later.
        Remediable = "remediable",
        /// A person has to act.
        WaitsForPerson = "waits_for_person",
        /// Nothing needs to be done; it is good to know.
        Hint = "hint",
    }
}

codes! {
    /// Why a decision came out as it did.
    pub enum Reason {
        /// The request holds what looks like a card number.
        CardNumberRejected = "card_number_rejected",
        /// The organization has no policy for the agent.
        PolicyMissing = "policy_missing",
        /// The policy cannot be read, or its signature does not hold.
        PolicyUnreadable = "policy_unreadable",
        /// The key that asked was revoked.
        KeyRevoked = "key_revoked",
        /// The agent is paused.
        AgentPaused = "agent_paused",
        /// The policy is not for this agent.
        AgentNotCovered = "agent_not_covered",
        /// The consent that the agent acts under was revoked.
        ConsentRevoked = "consent_revoked",
        /// The policy wants a consent, and there is none.
        ConsentMissing = "consent_missing",
        /// The policy wants a consent, and it has expired.
        ConsentExpired = "consent_expired",
        /// The policy has no limit in the payment's currency.
        CurrencyNotCovered = "currency_not_covered",
        /// More than one payment may be.
        OverPaymentLimit = "over_payment_limit",
        /// More than what is left of a budget.
        OverBudget = "over_budget",
        /// More than a whole budget: waiting does not help.
        OverWindowLimit = "over_window_limit",
        /// What was spent from a budget is not known.
        BudgetUnknown = "budget_unknown",
        /// The policy denies the payee.
        PayeeBlocked = "payee_blocked",
        /// The payee or a word of the purpose is on a screening list.
        ScreeningHit = "screening_hit",
        /// The payee is not on the list of those that may be paid, and others are denied.
        PayeeNotAllowed = "payee_not_allowed",
        /// The payee is not on the list of those that may be paid; a person is asked.
        PayeeUnknown = "payee_unknown",
        /// The payee looks like one that may be paid, and is another.
        PayeeLookalike = "payee_lookalike",
        /// The letters of the payee's name imitate those of another script.
        PayeeNameConfusable = "payee_name_confusable",
        /// What is known of the payee contradicts itself.
        PayeeIdentityMismatch = "payee_identity_mismatch",
        /// The policy wants the payee verified, and it is not.
        PayeeNotVerified = "payee_not_verified",
        /// The payee was checked and could not be verified; the policy does not want it.
        PayeeUnverified = "payee_unverified",
        /// The checkout is not on the payee's domain.
        PayeeMismatch = "payee_mismatch",
        /// A resource is to be paid, and the payee names no domain.
        PayeeDomainMissing = "payee_domain_missing",
        /// The policy does not allow the category.
        CategoryNotAllowed = "category_not_allowed",
        /// The policy does not allow the checkout's protocol.
        RailNotAllowed = "rail_not_allowed",
        /// More than may be paid without a person on a rail of this finality.
        FinalityNeedsApproval = "finality_needs_approval",
        /// The agent is not known well enough for this payment.
        IdentityInsufficient = "identity_insufficient",
        /// The same payment was asked for a short while ago; a person is asked.
        PossibleDuplicate = "possible_duplicate",
        /// The same payment was asked for a short while ago, and the policy denies a second.
        DuplicateWithinWindow = "duplicate_within_window",
        /// It was tried as often as the policy lets it be, or for another amount.
        RetryLimitReached = "retry_limit_reached",
        /// The agent saw another version of the policy.
        PolicySnapshotDiffers = "policy_snapshot_differs",
        /// Something must be known first; the questions say what.
        ClarificationRequired = "clarification_required",
        /// It was asked for as often as the policy lets it be.
        ClarificationExhausted = "clarification_exhausted",
        /// The intent contradicts itself or the payment in something that the policy does not want to know.
        IntentConflict = "intent_conflict",
        /// More than the person said it may cost.
        AmountMismatch = "amount_mismatch",
        /// More than the person said, by more than the policy lets it be; a person is asked.
        DeviationExceeded = "deviation_exceeded",
        /// More than the person said, by no more than the policy lets it be.
        DeviationWithin = "deviation_within",
        /// More than the threshold above which a person is asked.
        ApprovalRequired = "approval_required",
        /// Too risky.
        RiskBlocked = "risk_blocked",
        /// Risky enough to ask a person.
        RiskReview = "risk_review",
        /// The policy only watches.
        ShadowMode = "shadow_mode",
    }
}

impl Reason {
    /// What can be done about it.
    pub const fn family(self) -> Family {
        match self {
            Self::CardNumberRejected
            | Self::PolicyMissing
            | Self::PolicyUnreadable
            | Self::KeyRevoked
            | Self::AgentPaused
            | Self::AgentNotCovered
            | Self::ConsentRevoked
            | Self::CurrencyNotCovered
            | Self::OverPaymentLimit
            | Self::OverWindowLimit
            | Self::PayeeBlocked
            | Self::ScreeningHit
            | Self::PayeeNotAllowed
            | Self::PayeeIdentityMismatch
            | Self::CategoryNotAllowed
            | Self::RailNotAllowed
            | Self::RetryLimitReached
            | Self::ClarificationExhausted
            | Self::RiskBlocked => Family::NotRemediable,
            Self::OverBudget
            | Self::BudgetUnknown
            | Self::PayeeMismatch
            | Self::PayeeDomainMissing
            | Self::DuplicateWithinWindow
            | Self::AmountMismatch => Family::Remediable,
            Self::ConsentMissing
            | Self::ConsentExpired
            | Self::PayeeUnknown
            | Self::PayeeLookalike
            | Self::PayeeNotVerified
            | Self::FinalityNeedsApproval
            | Self::IdentityInsufficient
            | Self::PossibleDuplicate
            | Self::ClarificationRequired
            | Self::DeviationExceeded
            | Self::ApprovalRequired
            | Self::RiskReview => Family::WaitsForPerson,
            Self::PayeeNameConfusable
            | Self::PayeeUnverified
            | Self::PolicySnapshotDiffers
            | Self::IntentConflict
            | Self::DeviationWithin
            | Self::ShadowMode => Family::Hint,
        }
    }

    /// Whether it denies also under a policy that only watches.
    pub const fn holds_in_shadow(self) -> bool {
        matches!(
            self,
            Self::CardNumberRejected | Self::PolicyMissing | Self::PolicyUnreadable | Self::KeyRevoked | Self::AgentPaused | Self::ConsentRevoked
        )
    }
}
