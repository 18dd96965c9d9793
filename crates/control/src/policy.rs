//! Policy documents: what an organization's agents may pay (see `docs/policy.md`).

mod approval;
mod deviation;
mod finality;
mod identity;
mod intent;
mod limits;
mod payees;
mod rails;
mod retry;
mod reversal;
mod screening;
mod visibility;

use std::sync::Arc;

use lcp::{Hash, Value, json};

pub use approval::{Approval, EXPIRES_IN_SECONDS};
pub use deviation::{Deviation, Mode};
pub use finality::{FinalityClass, FinalityRules};
pub use identity::{Anchor, Assurance, IdentityRequirement, PayeeIdentityRule, Unverified};
pub use intent::IntentRule;
pub use limits::{Limits, WindowLimit};
pub use payees::{PayeeList, Payees, UnknownPayee};
pub(crate) use payees::{read_domain, read_merchant_id, read_name};
pub use rails::{RailAsset, Rails};
pub use retry::RetryPolicy;
pub use reversal::{ReversalKind, ReversalRule};
pub use screening::Screening;
pub use visibility::{Constraint, VisibilityScope};

use crate::{
    Asset, Currency, Fault, FaultCode, Instant,
    fault::codes,
    ids::{AgentId, PolicyId},
    read::Field,
    window::Zone,
};

/// Most entries of a list of payees, agents, categories or words.
const MAX_ENTRIES: usize = 1000;
/// Longest time that a rule looks back: 31 days.
const MAX_SECONDS: u32 = 2_678_400;
/// How far back a duplicate is looked for if the policy does not say.
const DUPLICATE_WINDOW_SECONDS: u32 = 600;
/// How deep a document nests: an asset of a rail stands at level 5.
const MAX_DEPTH: usize = 8;

/// A policy document, read.
#[derive(Clone, Debug)]
pub struct Policy {
    document: Value,
    hash: Hash,
    /// Its id, once the server gave it one.
    pub id: Option<PolicyId>,
    /// Its version, once signed.
    pub version: Option<u32>,
    /// What people call it.
    pub name: Option<String>,
    /// In whose name it pays.
    pub principal: Option<String>,
    /// When it was made.
    pub created_at: Option<Instant>,
    /// What its limits are in.
    pub currency: Currency,
    /// Who may pay under it.
    pub agents: Agents,
    /// Who may be paid.
    pub payees: Payees,
    /// What may be bought.
    pub categories: Categories,
    /// How much.
    pub limits: Limits,
    /// The time zone of its days, weeks and months.
    pub zone: Zone,
    /// When a person is asked.
    pub approval: Approval,
    /// How far back a request of the same facts counts as a duplicate; 0 for never.
    pub duplicate_window_seconds: u32,
    /// What is done with a duplicate.
    pub duplicate: Duplicate,
    /// Who is never paid.
    pub screening: Screening,
    /// How a payment may differ from the amount that the person named.
    pub mode: Mode,
    /// By how much.
    pub deviation: Option<Deviation>,
    /// When money comes back to its window.
    pub refill_policy: RefillPolicy,
    /// How much may be paid without a person on a rail that does not give it back.
    pub finality_rules: FinalityRules,
    /// How often a payment that failed may be asked for again.
    pub retry_policy: Option<RetryPolicy>,
    /// What a mandate shows the merchant.
    pub visibility_scope: Option<VisibilityScope>,
    /// Whether the policy only watches.
    pub shadow: bool,
    /// Whether an agent needs a consent in force.
    pub require_consent: bool,
    /// How reversals are decided.
    pub reversal: ReversalRule,
    /// Which slots must be known.
    pub intent: IntentRule,
    /// What must be known of the agent.
    pub identity_requirements: Vec<IdentityRequirement>,
    /// What must be known of the payee.
    pub payee_identity: Option<PayeeIdentityRule>,
    /// Which protocols may carry a payment.
    pub rails: Rails,
}

/// The agents that a policy is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agents {
    /// Every agent of the organization.
    All,
    /// These.
    These(Vec<AgentId>),
}

/// The categories that may be bought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Categories {
    /// Only these; `None` for all.
    pub allow: Option<Vec<String>>,
    /// None of these.
    pub deny: Vec<String>,
}

codes! {
    /// What is done with a request of the same facts as an earlier one.
    pub enum Duplicate {
        /// A person is asked.
        StepUp = "step_up",
        /// It is denied.
        Deny = "deny",
    }
}

codes! {
    /// When money comes back to the window that it was spent in.
    pub enum RefillPolicy {
        /// Never.
        Never = "never",
        /// When a mandate expired or was voided unused.
        OnVoidOnly = "on_void_only",
        /// Also when a refund has settled.
        OnSettledRefund = "on_settled_refund",
        /// Also when a reversal is allowed.
        OnAnyReversal = "on_any_reversal",
    }
}

/// The members of a document.
const MEMBERS: &[&str] = &[
    "id",
    "version",
    "name",
    "principal",
    "created_at",
    "note",
    "currency",
    "agents",
    "payees",
    "categories",
    "limits",
    "window",
    "approval",
    "duplicate_window_seconds",
    "duplicate",
    "screening",
    "mode",
    "deviation",
    "refill_policy",
    "finality_rules",
    "retry_policy",
    "visibility_scope",
    "shadow",
    "require_consent",
    "reversal",
    "intent",
    "identity_requirements",
    "payee_identity",
    "rails",
];

impl Policy {
    /// Reads a document's JSON text. A member that is there twice is a fault: one of the two would not count.
    pub fn parse(source: &str) -> Result<Self, Fault> {
        let not_json = |error| Fault::new(&crate::Pointer::root(), FaultCode::NotJson, format!("Write the document as JSON: {error}."));
        Self::read(&json::parse_unique(source, MAX_DEPTH).map_err(not_json)?)
    }

    /// Reads a document. It is refused whole at its first fault.
    pub fn read(document: &Value) -> Result<Self, Fault> {
        let root = Field::root(document);
        let members = root.members(MEMBERS)?;
        let rails = members.read("rails", Rails::read)?.unwrap_or_default();
        let assets: Vec<Arc<Asset>> = rails.assets.iter().map(|rail| rail.asset.clone()).collect();
        let currency = members.required("currency")?.currency(&assets)?;
        members.read("note", |field| field.text(2000))?;
        let text = |name| members.read(name, |field| field.text(200).map(str::to_owned));
        let parse_zone = |field: &Field<'_>| {
            let zone = field.members(&["zone"])?.required("zone")?;
            zone.text(200)?;
            zone.parsed(|name| Zone::parse(name).ok_or(FaultCode::UnknownZone))
        };
        let policy = Self {
            document: document.clone(),
            // A document without a canonical form is refused below: its texts are all read as Unicode.
            hash: Hash::of(json::canonical(document).unwrap_or_default().as_bytes()),
            id: members.read("id", |field| field.formed(PolicyId::parse, "Give the id that the server gave, or leave it out."))?,
            version: members.read("version", |field| field.integer(1..=2_147_483_647))?,
            name: text("name")?,
            principal: text("principal")?,
            created_at: members.read("created_at", |field| field.formed(Instant::parse, "Give an RFC 3339 date-time."))?,
            agents: Agents::read(&members.required("agents")?)?,
            payees: Payees::read(&members.required("payees")?)?,
            categories: members.nullable("categories").as_ref().map(Categories::read).transpose()?.unwrap_or_default(),
            limits: Limits::read(&members.required("limits")?, &currency, &assets)?,
            zone: members.read("window", parse_zone)?.unwrap_or_else(Zone::utc),
            approval: members.nullable("approval").map(|field| Approval::read(&field, &currency)).transpose()?.unwrap_or(Approval::none()),
            duplicate_window_seconds: members
                .read("duplicate_window_seconds", |field| field.integer(0..=MAX_SECONDS))?
                .unwrap_or(DUPLICATE_WINDOW_SECONDS),
            duplicate: members
                .read("duplicate", |field| field.known(Duplicate::parse, "Give \"step_up\" or \"deny\"."))?
                .unwrap_or(Duplicate::StepUp),
            screening: members.nullable("screening").as_ref().map(Screening::read).transpose()?.unwrap_or_default(),
            mode: members
                .read("mode", |field| field.known(Mode::parse, "Give \"specified\", \"bounded\" or \"bounded_stepup\"."))?
                .unwrap_or(Mode::Specified),
            deviation: members.read("deviation", |field| Deviation::read(field, &currency))?,
            refill_policy: members
                .read("refill_policy", |field| field.known(RefillPolicy::parse, "Give the name of a refill policy."))?
                .unwrap_or(RefillPolicy::OnVoidOnly),
            finality_rules: members.read("finality_rules", |field| FinalityRules::read(field, &currency))?.unwrap_or_default(),
            retry_policy: members.read("retry_policy", RetryPolicy::read)?,
            visibility_scope: members.read("visibility_scope", VisibilityScope::read)?,
            shadow: members.read("shadow", Field::boolean)?.unwrap_or(false),
            require_consent: members.read("require_consent", Field::boolean)?.unwrap_or(false),
            reversal: members.read("reversal", |field| ReversalRule::read(field, &currency))?.unwrap_or_default(),
            intent: members.read("intent", IntentRule::read)?.unwrap_or_default(),
            identity_requirements: members.list("identity_requirements", 16, |item| IdentityRequirement::read(item, &currency))?,
            payee_identity: members.read("payee_identity", |field| PayeeIdentityRule::read(field, &currency))?,
            rails,
            currency,
        };
        Ok(policy)
    }

    /// The document as it was read.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The SHA-256 of the document's RFC 8785 text.
    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    /// The assets that it names.
    pub fn assets(&self) -> Vec<Arc<Asset>> {
        self.rails.assets.iter().map(|rail| rail.asset.clone()).collect()
    }
}

impl Agents {
    fn read(field: &Field<'_>) -> Result<Self, Fault> {
        if field.value().as_text().is_some() {
            return field.known(|text| (text == "*").then_some(Self::All), "Give \"*\" or a list of agent ids.");
        }
        let agents = field.list(MAX_ENTRIES, |item| item.formed(AgentId::parse, "Give the id of an agent."))?;
        if agents.is_empty() { Err(field.fault(FaultCode::TooShort, "Name at least one agent, or \"*\".")) } else { Ok(Self::These(agents)) }
    }

    /// Whether the policy is for an agent.
    pub fn has(&self, agent: &AgentId) -> bool {
        match self {
            Self::All => true,
            Self::These(agents) => agents.contains(agent),
        }
    }
}

impl Categories {
    fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["allow", "deny"])?;
        let read = |item: &Field<'_>| item.text(200).map(str::to_owned);
        Ok(Self { allow: members.read("allow", |field| field.list(MAX_ENTRIES, read))?, deny: members.list("deny", MAX_ENTRIES, read)? })
    }
}
