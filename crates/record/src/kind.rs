/// What a record tells of. The list is closed: a verifier that does not know a kind cannot verify its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A payment request, from the asking to its end.
    Payment,
    /// An order that was reported after its payment's record was sealed.
    Order,
    /// A person's standing authorization of an agent.
    Consent,
    /// The end of a consent.
    Revocation,
    /// An agent paused.
    Pause,
    /// An agent resumed.
    Resume,
    /// A refund, cancellation, void or other way back.
    Reversal,
    /// Where the money of a payment is.
    Settlement,
    /// A report of what was paid against what arrived.
    Reconciliation,
    /// A dispute's packet or outcome.
    Dispute,
    /// A recurring payment's terms, or a change of them.
    Recurrence,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Payment,
        Self::Order,
        Self::Consent,
        Self::Revocation,
        Self::Pause,
        Self::Resume,
        Self::Reversal,
        Self::Settlement,
        Self::Reconciliation,
        Self::Dispute,
        Self::Recurrence,
    ];

    /// The value of a record's member `kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Order => "order",
            Self::Consent => "consent",
            Self::Revocation => "revocation",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Reversal => "reversal",
            Self::Settlement => "settlement",
            Self::Reconciliation => "reconciliation",
            Self::Dispute => "dispute",
            Self::Recurrence => "recurrence",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
