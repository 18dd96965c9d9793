//! What the tools ask of the service.

use control::request::Form;
use lcp::{Object, Value};

use crate::{Caller, Problem, Service, service::Query};

/// The operations behind the tools. Each answers in the client's shapes; the tools choose what an agent sees of them.
pub(super) trait Operations: Clone + Send + Sync + 'static {
    /// Asks to pay.
    fn request_payment(&self, caller: &Caller, arguments: &Value) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// The request as it stands, waiting up to so many seconds while a person is waited for.
    fn payment_request(&self, caller: &Caller, id: &str, wait_seconds: u32) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// The person's answers.
    fn answer_clarification(&self, caller: &Caller, id: &str, body: &Value) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// Hands the checkout to a person.
    fn hand_off(&self, caller: &Caller, id: &str, body: &Value) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// A page of mandates.
    fn mandates(&self, caller: &Caller, query: &Query) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// A record, its bundle, and the records chained to it.
    fn record_page(&self, caller: &Caller, id: &str) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// The verifier's report on a record of the organization.
    fn verify_record(&self, caller: &Caller, id: &str) -> impl Future<Output = Result<Object, Problem>> + Send;
    /// The verifier's report on a bundle.
    fn verify_bundle(&self, caller: &Caller, bundle: &Value) -> impl Future<Output = Result<Object, Problem>> + Send;
}

impl Operations for Service {
    async fn request_payment(&self, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
        Ok(self.request_payment(caller, arguments, Form::Mcp, None).await?.view)
    }

    async fn payment_request(&self, caller: &Caller, id: &str, wait_seconds: u32) -> Result<Object, Problem> {
        self.payment_request(caller, id, wait_seconds).await
    }

    async fn answer_clarification(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        self.answer_clarification(caller, id, body).await
    }

    async fn hand_off(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        self.hand_off(caller, id, body).await
    }

    async fn mandates(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        self.mandates(caller, query).await
    }

    async fn record_page(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        self.record_page(caller, id).await
    }

    async fn verify_record(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        self.verify_record(caller, id).await
    }

    async fn verify_bundle(&self, caller: &Caller, bundle: &Value) -> Result<Object, Problem> {
        self.verify_bundle(caller, bundle).await
    }
}
