//! Payment requests: what an agent sends to ask to pay.

mod checkout;
mod digest;

use std::sync::Arc;

use lcp::{Object, Value};

pub use checkout::{Checkout, Protocol};
pub use digest::Digest;
pub(crate) use digest::digest_text;

use crate::{
    Asset, Currency, Fault, FaultCode, Money,
    fault::codes,
    ids::AgentId,
    intent::{Currencies, Intent},
    payee::Payee,
    policy::{read_domain, read_merchant_id, read_name},
    read::Field,
};

/// Most pieces of evidence.
pub const MAX_EVIDENCE: usize = 32;
const MAX_TRACE_MEMBERS: usize = 16;

/// The members that hold amounts, times and ids of ours: the card-number guard spares their bare digits
/// ([`crate::card_number::find`]).
pub const TYPED_FIELDS: &[&str] =
    &["/agent_id", "/amount/value", "/intent/slots/max_total", "/intent/slots/items/*/unit_max", "/intent/slots/deliver_by"];

codes! {
    /// Where a request comes from: the two forms have some members of their own.
    pub enum Form {
        /// The REST body: `agent_id` and `policy_snapshot_hash` too.
        Rest = "rest",
        /// The arguments of the MCP tool: `idempotency_key` too.
        Mcp = "mcp",
    }
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

    /// The assets that it names: with these alone it reads again.
    pub fn assets(&self) -> Vec<Arc<Asset>> {
        let mut assets: Vec<Arc<Asset>> = Vec::new();
        for currency in std::iter::once(self.amount.currency()).chain(self.intent.currencies()) {
            if let Currency::Asset(asset) = currency
                && !assets.contains(asset)
            {
                assets.push(asset.clone());
            }
        }
        assets
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
            .with("payee", self.payee.to_json())
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

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn read_as(form: Form, source: &str) -> Result<PaymentRequestCreate, String> {
        let value = lcp::json::parse(source, 16).unwrap();
        PaymentRequestCreate::read(&value, form, &[]).map_err(|fault| format!("{} {}", fault.pointer, fault.code))
    }

    /// The smallest request with these members set in it.
    fn with(members: &str) -> String {
        let smallest = r#"{"payee":{"domain":"shop.example"},"amount":{"value":"48.00","currency":"USD"},"purpose":"printer paper"}"#;
        let mut whole = lcp::json::parse(smallest, 8).unwrap().as_object().unwrap().clone();
        let more = lcp::json::parse(members, 16).unwrap();
        more.as_object().unwrap().iter().for_each(|(name, value)| whole.set(name.clone(), value));
        lcp::json::write(&whole.into())
    }

    #[test]
    fn every_member_of_the_rest_form() {
        let source = with(&format!(
            r#"{{"agent_id":"agt_01jdqz4d4n9v8h2k6m3p5r7t9w","payee":{{"name":"Ream & Rule","domain":"ReamAndRule.com","merchant_id":"acct_1"}},
            "checkout":{{"protocol":"ucp","reference":"chk_1"}},"evidence":[{{"type":"quote","ref":"https://reamandrule.com/q","digest":"sha256:{HEX}"}}],
            "trace":{{"ref":"run-7","digest":"{HEX}","note":"x"}},"complete_checkout":true,"intent":{{"text":"paper","slots":{{"category":"office"}}}},
            "catalog_snapshot_hash":"{HEX}","policy_snapshot_hash":"0x{HEX}"}}"#
        ));
        let request = read_as(Form::Rest, &source).unwrap();
        assert_eq!(request.payee.key().unwrap().to_string(), "merchant:acct_1");
        assert_eq!(request.amount.to_string(), "48.00 USD");
        assert_eq!((request.protocol(), request.complete_checkout), (Protocol::Ucp, true));
        assert_eq!(request.subject(), Subject::Checkout("chk_1".into()));
        assert_eq!(request.to_json().get("payee").and_then(|payee| payee.get("domain")).and_then(Value::as_str), Some("reamandrule.com"));
        assert!(lcp::json::canonical(&request.to_json().into()).is_some());
    }

    #[test]
    fn each_form_has_members_of_its_own() {
        assert_eq!(read_as(Form::Mcp, &with(r#"{"idempotency_key":"k-1"}"#)).unwrap().idempotency_key.as_deref(), Some("k-1"));
        assert_eq!(read_as(Form::Rest, &with(r#"{"idempotency_key":"k-1"}"#)).unwrap_err(), "/idempotency_key unknown_member");
        assert_eq!(read_as(Form::Mcp, &with(r#"{"agent_id":"agt_01jdqz4d4n9v8h2k6m3p5r7t9w"}"#)).unwrap_err(), "/agent_id unknown_member");
        assert_eq!(read_as(Form::Mcp, &with(r#"{"trace":{"ref":"a"}}"#)).unwrap_err(), "/trace/digest missing_member");
        assert_eq!(
            read_as(Form::Mcp, &with(&format!(r#"{{"trace":{{"ref":"a","digest":"{HEX}","x":"y"}}}}"#))).unwrap_err(),
            "/trace/x unknown_member"
        );
    }

    #[test]
    fn null_stands_for_no_checkout_and_no_trace() {
        for form in [Form::Rest, Form::Mcp] {
            let request = read_as(form, &with(r#"{"checkout":null,"trace":null}"#)).unwrap();
            assert_eq!((request.checkout.clone(), request.trace.clone(), request.protocol()), (None, None, Protocol::Card));
            assert_eq!(request.subject(), Subject::Purpose("printer paper".into()));
        }
    }

    #[test]
    fn faults_say_where() {
        for (members, fault) in [
            (r#"{"colour":"red"}"#, "/colour unknown_member"),
            (r#"{"payee":{}}"#, "/payee missing_member"),
            (r#"{"payee":{"name":"\u200b"}}"#, "/payee/name malformed"),
            (r#"{"payee":{"domain":"https://shop.example/"}}"#, "/payee/domain domain_malformed"),
            (r#"{"payee":{"domain":"127.0.0.1"}}"#, "/payee/domain domain_malformed"),
            (r#"{"payee":{"domain":"p\u0430ypal.com"}}"#, "/payee/domain domain_confusable"),
            (r#"{"payee":{"merchant_id":"a b"}}"#, "/payee/merchant_id malformed"),
            (r#"{"payee":{"name":"A","email":"a@b"}}"#, "/payee/email unknown_member"),
            (r#"{"amount":{"value":"-5","currency":"USD"}}"#, "/amount/value amount_malformed"),
            (r#"{"amount":{"value":"5.001","currency":"USD"}}"#, "/amount/value amount_precision"),
            (r#"{"amount":{"value":"0.00","currency":"USD"}}"#, "/amount/value amount_zero"),
            (r#"{"amount":{"value":"5","currency":"usd"}}"#, "/amount/currency unknown_currency"),
            (r#"{"amount":{"value":"5","currency":"eip155:1/slip44:60"}}"#, "/amount/currency unknown_currency"),
            (r#"{"amount":{"value":5,"currency":"USD"}}"#, "/amount/value wrong_type"),
            (r#"{"amount":"5 USD"}"#, "/amount wrong_type"),
            (r#"{"purpose":""}"#, "/purpose too_short"),
            (r#"{"purpose":"a\nb"}"#, "/purpose control_character"),
            (r#"{"purpose":null}"#, "/purpose wrong_type"),
            (r#"{"checkout":{"protocol":"cash","reference":"x"}}"#, "/checkout/protocol not_allowed"),
            (r#"{"checkout":{"protocol":"ucp"}}"#, "/checkout/reference missing_member"),
            (r#"{"checkout":{"protocol":"x402","reference":"weather"}}"#, "/checkout/reference url_malformed"),
            (r#"{"checkout":{"protocol":"mpp","reference":"http://shop.example/"}}"#, "/checkout/reference url_malformed"),
            (r#"{"checkout":{"protocol":"ucp","reference":"https://u:p@shop.example/"}}"#, "/checkout/reference url_malformed"),
            (r#"{"evidence":[{"type":"quote","ref":"x"}]}"#, "/evidence/0/digest missing_member"),
            (r#"{"evidence":[{"type":"quote","ref":"x","digest":"abc"}]}"#, "/evidence/0/digest malformed"),
            (r#"{"evidence":{}}"#, "/evidence wrong_type"),
            (r#"{"complete_checkout":"yes"}"#, "/complete_checkout wrong_type"),
            (r#"{"catalog_snapshot_hash":"abc"}"#, "/catalog_snapshot_hash malformed"),
            (r#"{"intent":null}"#, "/intent wrong_type"),
        ] {
            assert_eq!(read_as(Form::Rest, &with(members)).unwrap_err(), fault, "{members}");
        }
        assert_eq!(read_as(Form::Rest, "{}").unwrap_err(), "/amount missing_member");
        assert_eq!(read_as(Form::Rest, "[]").unwrap_err(), " wrong_type");
    }

    #[test]
    fn bounds() {
        let purpose = |length: usize| with(&format!(r#"{{"purpose":"{}"}}"#, "é".repeat(length)));
        assert!(read_as(Form::Rest, &purpose(2000)).is_ok());
        assert_eq!(read_as(Form::Rest, &purpose(2001)).unwrap_err(), "/purpose too_long");
        assert_eq!(read_as(Form::Rest, &purpose(1 << 20)).unwrap_err(), "/purpose too_long");
        let evidence = |count: usize| {
            with(&format!(r#"{{"evidence":[{}]}}"#, vec![format!(r#"{{"type":"quote","ref":"x","digest":"{HEX}"}}"#); count].join(",")))
        };
        assert_eq!(read_as(Form::Rest, &evidence(32)).unwrap().evidence.len(), 32);
        assert_eq!(read_as(Form::Rest, &evidence(33)).unwrap_err(), "/evidence too_long");
    }

    #[test]
    fn a_token_is_paid_only_if_the_policy_names_it() {
        let id = "eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e";
        let value = lcp::json::parse(&with(&format!(r#"{{"amount":{{"value":"0.000001","currency":"{id}"}}}}"#)), 8).unwrap();
        let assets = [Arc::new(Asset::new(id, "USDC", 6).unwrap())];
        assert_eq!(PaymentRequestCreate::read(&value, Form::Rest, &assets).unwrap().amount.units(), 1);
        assert_eq!(PaymentRequestCreate::read(&value, Form::Rest, &[]).unwrap_err().code, FaultCode::UnknownCurrency);
    }
}
