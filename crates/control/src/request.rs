//! Payment requests: what an agent sends to ask to pay.

mod checkout;
mod digest;

use std::sync::Arc;

use lcp::{Object, Value};

pub use checkout::{Checkout, Protocol};
pub use digest::Digest;

use crate::{
    Asset, Fault, FaultCode, Money,
    ids::AgentId,
    intent::{Currencies, Intent},
    payee::Payee,
    policy::{read_domain, read_merchant_id, read_name},
    read::Field,
};

/// Most pieces of evidence.
pub const MAX_EVIDENCE: usize = 32;
const MAX_TRACE_MEMBERS: usize = 16;

/// Where a request comes from: the two forms have some members of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The REST body: `agent_id` and `policy_snapshot_hash` too.
    Rest,
    /// The arguments of the MCP tool: `idempotency_key` too.
    Mcp,
}

/// A request to pay, read.
#[derive(Clone, Debug, PartialEq)]
pub struct PaymentRequestCreate {
    /// For which agent, if the caller may ask for more than one.
    pub agent_id: Option<AgentId>,
    /// Who is to be paid.
    pub payee: Payee,
    /// How much; never nothing.
    pub amount: Money,
    /// What for: a line of 1 to 2000 characters.
    pub purpose: String,
    /// Through which checkout.
    pub checkout: Option<Checkout>,
    /// What the agent relied on.
    pub evidence: Vec<Evidence>,
    /// What the person wants.
    pub intent: Intent,
    /// The catalogue that the agent saw.
    pub catalog_snapshot_hash: Option<Digest>,
    /// The policy that the agent saw.
    pub policy_snapshot_hash: Option<Digest>,
    /// The agent's own trace: named texts, among them `ref` and `digest`.
    pub trace: Option<Vec<(String, String)>>,
    /// Whether the server is to complete the checkout itself.
    pub complete_checkout: bool,
    /// The key under which the same request is answered the same.
    pub idempotency_key: Option<String>,
}

/// A piece of evidence: what it is, where it is, and its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The type, such as `quote`.
    pub kind: String,
    /// Where it is.
    pub reference: String,
    /// Its SHA-256.
    pub digest: Digest,
}

const MEMBERS: &[&str] = &["payee", "amount", "purpose", "checkout", "evidence", "intent", "catalog_snapshot_hash", "trace", "complete_checkout"];

impl PaymentRequestCreate {
    /// Reads a request. The assets are those that the policy names.
    pub fn read(value: &Value, form: Form, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let own: &[&str] = match form {
            Form::Rest => &["agent_id", "policy_snapshot_hash"],
            Form::Mcp => &["idempotency_key"],
        };
        let members = Field::root(value).members(&[MEMBERS, own].concat())?;
        let amount = read_amount(&members.required("amount")?, assets)?;
        let currencies = Currencies { payment: amount.currency(), assets };
        let digest = |name| members.read(name, read_digest);
        Ok(Self {
            agent_id: members.read("agent_id", |field| field.formed(AgentId::parse, "Give the id of an agent."))?,
            payee: read_payee(&members.required("payee")?)?,
            purpose: members.required("purpose")?.text(2000)?.to_owned(),
            checkout: members.nullable("checkout").as_ref().map(Checkout::read).transpose()?,
            evidence: members.list("evidence", MAX_EVIDENCE, Evidence::read)?,
            intent: members.read("intent", |field| Intent::read(field, currencies))?.unwrap_or_default(),
            catalog_snapshot_hash: digest("catalog_snapshot_hash")?,
            policy_snapshot_hash: digest("policy_snapshot_hash")?,
            trace: members.nullable("trace").map(|field| read_trace(&field, form)).transpose()?,
            complete_checkout: members.read("complete_checkout", Field::boolean)?.unwrap_or(false),
            idempotency_key: members.read("idempotency_key", |field| field.text(255).map(str::to_owned))?,
            amount,
        })
    }

    /// The protocol that takes the payment: without a checkout the agent carries a card credential.
    pub fn protocol(&self) -> Protocol {
        self.checkout.as_ref().map_or(Protocol::Card, |checkout| checkout.protocol)
    }

    /// What tells two payments apart beside payee and amount: the checkout's reference, or the purpose without one.
    pub fn subject(&self) -> Subject {
        match &self.checkout {
            Some(checkout) => Subject::Checkout(checkout.reference.clone()),
            None => Subject::Purpose(self.purpose.clone()),
        }
    }

    /// The request as it was understood, for records and for what a person approves.
    pub fn to_json(&self) -> Object {
        let evidence: Vec<Value> = self.evidence.iter().map(|evidence| evidence.to_json().into()).collect();
        let trace =
            self.trace.as_ref().map(|trace| trace.iter().fold(Object::new(), |object, (name, text)| object.with(name.as_str(), text.as_str())));
        Object::new()
            .with("payee", payee_json(&self.payee))
            .with("amount", self.amount.to_json())
            .with("purpose", self.purpose.as_str())
            .with("checkout", self.checkout.as_ref().map_or(Value::Null, |checkout| checkout.to_json().into()))
            .with("evidence", evidence)
            .with("intent", self.intent.to_json())
            .with_some("catalog_snapshot_hash", self.catalog_snapshot_hash.as_ref().map(Digest::as_str))
            .with_some("policy_snapshot_hash", self.policy_snapshot_hash.as_ref().map(Digest::as_str))
            .with("trace", trace.map_or(Value::Null, Value::from))
            .with("complete_checkout", self.complete_checkout)
    }
}

/// What a payment is for, as duplicates are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The reference of a checkout.
    Checkout(String),
    /// The purpose of a payment without one.
    Purpose(String),
}

impl Evidence {
    fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["type", "ref", "digest"])?;
        Ok(Self {
            kind: members.required("type")?.text(64)?.to_owned(),
            reference: members.required("ref")?.text(2000)?.to_owned(),
            digest: read_digest(&members.required("digest")?)?,
        })
    }

    /// `{"type", "ref", "digest"}`
    pub fn to_json(&self) -> Object {
        Object::new().with("type", self.kind.as_str()).with("ref", self.reference.as_str()).with("digest", self.digest.as_str())
    }
}

fn read_digest(field: &Field<'_>) -> Result<Digest, Fault> {
    field.formed(Digest::parse, "Give a SHA-256 digest as 64 hex digits, such as \"sha256:…\".")
}

/// `{"value", "currency"}`, more than nothing.
fn read_amount(field: &Field<'_>, assets: &[Arc<Asset>]) -> Result<Money, Fault> {
    let members = field.members(&["value", "currency"])?;
    let currency = members.required("currency")?.currency(assets)?;
    members.required("value")?.payment(&currency)
}

/// A payee with at least one of its members.
fn read_payee(field: &Field<'_>) -> Result<Payee, Fault> {
    let members = field.members(&["name", "domain", "merchant_id"])?;
    let payee = Payee {
        name: members.read("name", read_name)?,
        domain: members.read("domain", read_domain)?,
        merchant_id: members.read("merchant_id", read_merchant_id)?,
    };
    if payee.key().is_none() { Err(field.fault(FaultCode::MissingMember, "Give the payee's domain, merchant_id or name.")) } else { Ok(payee) }
}

/// The payee's members as they were given, the domain normalised.
fn payee_json(payee: &Payee) -> Object {
    Object::new()
        .with_some("name", payee.name.as_ref().map(crate::payee::Name::given))
        .with_some("domain", payee.domain.as_ref().map(crate::payee::Domain::as_str))
        .with_some("merchant_id", payee.merchant_id.as_deref())
}

/// `{"ref", "digest"}`; over REST any named texts, a `digest` among them still being one.
fn read_trace(field: &Field<'_>, form: Form) -> Result<Vec<(String, String)>, Fault> {
    if form == Form::Mcp {
        let members = field.members(&["ref", "digest"])?;
        members.required("ref")?;
        members.required("digest")?;
    }
    let read = |(name, text): (&str, Field<'_>)| {
        if name == "digest" {
            read_digest(&text)?;
        }
        Ok((name.to_owned(), text.text(2000)?.to_owned()))
    };
    field.entries(MAX_TRACE_MEMBERS)?.into_iter().map(read).collect()
}
