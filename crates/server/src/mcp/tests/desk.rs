//! Operations that answer as they are told to and keep what they were asked.

use std::sync::{Arc, Mutex};

use control::{
    access::Role,
    ids::{AgentId, KeyId, OrgId},
};
use lcp::{Object, Value, json};
use tokio::sync::Semaphore;

use super::read;
use crate::{Caller, Problem, mcp::operations::Operations, service::Query};

/// A payment request in the client's shape, with members that no tool shows.
pub(super) const VIEW: &str = r#"{"id":"pr_1","state":"decided","agent_id":"agt_1","record_id":"rec_1","created_at":"2026-11-30T12:00:00.000Z",
    "decision":{"result":"allow","reasons":[],"policy":{"id":"pol_1","version":3},"checks":[{"name":"agent_active","ok":true,"detail":""}],
        "shadow_result":null,"questions":[],"retryable":false,"retry_after":null},
    "risk":{"action":"authorized","score":10,"signals":[]},
    "mandate":{"id":"mnd_1","state":"issued","amount":"48.00","currency":"USD","expires_at":"2026-11-30T13:00:00.000Z","jws":"e30.e30.c2ln",
        "credential":{"type":"token","handler_id":"chancery_sandbox_card","token":"tok_sandbox_1","display":{"brand":"sandbox"}},"payee":"reamandrule.com",
        "hidden_constraints_digest":"ab"},
    "approval":null,"order":null,"completion":{"state":"not_requested"},"handoff":null,"settlement":null,"reversals":[],"outcome":null,
    "summary":"Allowed: pay 48.00 USD to reamandrule.com."}"#;

/// What an operation was asked: its name, the caller's key, and the arguments.
pub(super) type Asked = (&'static str, String, String);

#[derive(Clone, Default)]
pub(super) struct Desk {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    asked: Mutex<Vec<Asked>>,
    done: Mutex<usize>,
    answer: Mutex<Option<Result<Object, Problem>>>,
    /// Where operations wait before they are done.
    held: Mutex<Option<Arc<Semaphore>>>,
    arrived: Option<Semaphore>,
}

impl Desk {
    /// Every operation answers this.
    pub(super) fn answering(answer: Result<&str, Problem>) -> Self {
        let desk = Self::default();
        *desk.state.answer.lock().unwrap() = Some(answer.map(|text| read(text).as_object().unwrap().clone()));
        desk
    }

    /// Every operation answers as in the client's shapes.
    pub(super) fn usual() -> Self {
        Self::default()
    }

    /// Every operation waits, until it is let go.
    pub(super) fn holding() -> (Self, Arc<Semaphore>) {
        let held = Arc::new(Semaphore::new(0));
        let state = State { held: Mutex::new(Some(held.clone())), arrived: Some(Semaphore::new(0)), ..State::default() };
        (Self { state: Arc::new(state) }, held)
    }

    /// Waits until an operation waits.
    pub(super) async fn until_asked(&self) {
        self.state.arrived.as_ref().unwrap().acquire().await.unwrap().forget();
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    /// How many operations ran to their end.
    pub(super) fn done(&self) -> usize {
        *self.state.done.lock().unwrap()
    }

    async fn answer(&self, operation: &'static str, caller: &Caller, asked: &Value, usual: &str) -> Result<Object, Problem> {
        self.state.asked.lock().unwrap().push((operation, caller.key.to_string(), json::write(asked)));
        let held = self.state.held.lock().unwrap().clone();
        if let Some(held) = held {
            self.state.arrived.as_ref().unwrap().add_permits(1);
            held.acquire().await.unwrap().forget();
        }
        *self.state.done.lock().unwrap() += 1;
        let told = self.state.answer.lock().unwrap().clone();
        told.unwrap_or_else(|| Ok(read(usual).as_object().unwrap().clone()))
    }
}

fn of(id: &str, rest: impl Into<Value>) -> Value {
    Object::new().with("id", id).with("rest", rest).into()
}

impl Operations for Desk {
    async fn request_payment(&self, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
        self.answer("request_payment", caller, arguments, VIEW).await
    }

    async fn payment_request(&self, caller: &Caller, id: &str, wait_seconds: u32) -> Result<Object, Problem> {
        self.answer("payment_request", caller, &of(id, wait_seconds), VIEW).await
    }

    async fn answer_clarification(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        self.answer("answer_clarification", caller, &of(id, body.clone()), VIEW).await
    }

    async fn hand_off(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        self.answer("hand_off", caller, &of(id, body.clone()), VIEW).await
    }

    async fn mandates(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        let query = query.iter().fold(Object::new(), |object, (name, text)| object.with(name.as_str(), text.as_str()));
        let page = r#"{"data":[{"id":"mnd_1","state":"issued","amount":"48.00","currency":"USD","payee":"reamandrule.com","request_id":"pr_1",
            "issued_at":"2026-11-30T12:00:00.000Z","expires_at":"2026-11-30T13:00:00.000Z","consumed_at":null,"jws":"e30.e30.c2ln",
            "credential":{"type":"token","token":"tok_sandbox_1"}}],"next_cursor":null}"#;
        self.answer("mandates", caller, &query.into(), page).await
    }

    async fn record_page(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let page = r#"{"record_id":"rec_1","sealed":true,"seals_at":null,"record":{"kind":"payment"},"bundle":{"record":"{}"},"linked":[],"summary":"Sealed."}"#;
        self.answer("record_page", caller, &id.into(), page).await
    }

    async fn verify_record(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        self.answer("verify_record", caller, &id.into(), REPORT).await
    }

    async fn verify_bundle(&self, caller: &Caller, bundle: &Value) -> Result<Object, Problem> {
        self.answer("verify_bundle", caller, bundle, REPORT).await
    }
}

const REPORT: &str = r#"{"record_id":"rec_1","verdict":"verified","summary":"The record verifies.","checks":[{"name":"hash","result":"PASS","detail":"It is the hash."}]}"#;

/// The holder of a key of that role.
pub(super) fn caller(role: Role) -> Caller {
    let agent = (role == Role::Agent).then(|| AgentId::of([3; 16]));
    Caller { org: OrgId::of([1; 16]), role, agent, domain: None, key: KeyId::of([2; 16]), prefix: "sk_test_1234".into() }
}
