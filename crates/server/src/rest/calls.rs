//! The calls, as the service does them.

use std::sync::Arc;

use control::request::Form;
use lcp::{Object, Value};

use super::{Ask, Port, Reply, route::Call};
use crate::{Caller, Problem, Service};

/// The calls over the service.
pub(crate) fn over(service: Service) -> Port {
    Arc::new(move |ask| {
        let service = service.clone();
        Box::pin(async move { call(&service, ask).await })
    })
}

async fn call(service: &Service, ask: Ask) -> Result<Reply, Problem> {
    // Only a public route lets a call without a caller through.
    let Some(caller) = &ask.caller else {
        return match ask.call {
            Call::CreateSandboxKeys => service.sandbox_keys().await.map(Reply::Json),
            Call::Keys => service.jwks().await.map(Reply::Json),
            _ => Err(Problem::unauthenticated()),
        };
    };
    match ask.call {
        Call::CreatePaymentRequest => {
            let answered = service.request_payment(caller, ask.body()?, Form::Rest, ask.idempotency_key.as_deref()).await?;
            Ok(if answered.replayed { Reply::Replayed(answered.view) } else { Reply::Json(answered.view) })
        }
        Call::GetRecord => service.record_text(caller, ask.id()?).await.map(Reply::Text),
        Call::GetCheckpoint => {
            own_log(&ask)?;
            service.checkpoint(caller).await.map(Reply::Text)
        }
        Call::GetTile => {
            own_log(&ask)?;
            service.tile(caller, &format!("tile/{}", ask.at(1)?)).await.map(Reply::Bytes)
        }
        _ => object(service, caller, &ask).await.map(Reply::Json),
    }
}

/// The calls that answer a JSON object made here.
async fn object(service: &Service, caller: &Caller, ask: &Ask) -> Result<Object, Problem> {
    match ask.call {
        Call::Me => service.me(caller).await,
        Call::GetPaymentRequest => service.payment_request(caller, ask.id()?, ask.wait()).await,
        Call::HandOff => service.hand_off(caller, ask.id()?, ask.body()?).await,
        Call::AnswerClarification => service.answer_clarification(caller, ask.id()?, ask.body()?).await,
        Call::GetApproval => service.approval(caller, ask.id()?).await,
        Call::ListMandates => service.mandates(caller, &ask.query).await,
        Call::GetMandate => service.mandate(caller, ask.id()?).await,
        Call::ListRecords => service.records(caller, &ask.query).await,
        Call::GetRecordBundle => service.record_bundle(caller, ask.id()?).await,
        Call::VerifyRecord => service.verify_record(caller, ask.id()?).await,
        Call::VerifyBundle => service.verify_bundle(caller, ask.body()?).await,
        Call::ListLinkedRecords => service.linked(caller, ask.id()?, &ask.query).await,
        Call::ListPolicies => service.policies(caller).await,
        Call::GetPolicyVersion => service.policy_version(caller, ask.id()?, ask.version()?).await,
        Call::SignPolicy => service.sign_policy(caller, ask.body()?).await,
        Call::ListAgents => service.agents(caller, &ask.query).await,
        Call::CreateAgent => service.create_agent(caller, ask.body()?).await,
        Call::GetAgent => service.agent(caller, ask.id()?).await,
        Call::PauseAgent => service.pause_agent(caller, ask.id()?, ask.body()?).await,
        Call::ResumeAgent => service.resume_agent(caller, ask.id()?, &ask.body.clone().unwrap_or_else(|| Object::new().into())).await,
        Call::ListConsents => service.consents(caller, &ask.query).await,
        Call::CreateConsent => service.create_consent(caller, ask.body()?).await,
        Call::GetConsent => service.consent(caller, ask.id()?).await,
        Call::RevokeConsent => service.revoke_consent(caller, ask.id()?, ask.body.as_ref()).await,
        Call::GetSettings => service.settings(caller).await,
        Call::UpdateSettings => service.update_settings(caller, ask.body()?).await,
        Call::VerifyMandate => service.verify_mandate(caller, ask.body()?).await,
        Call::ObserveOrder => service.observe_order(caller, ask.body()?).await,
        Call::CreateSandboxKeys => service.sandbox_keys().await,
        Call::Keys => service.jwks().await,
        Call::NotServed | Call::Health | Call::OpenApi | Call::CreatePaymentRequest | Call::GetRecord | Call::GetCheckpoint | Call::GetTile => {
            Err(Problem::not_available())
        }
    }
}

/// Another organization's log is not there.
fn own_log(ask: &Ask) -> Result<(), Problem> {
    is_own_log(ask).then_some(()).ok_or_else(Problem::not_found)
}

pub(super) fn is_own_log(ask: &Ask) -> bool {
    ask.caller.as_ref().zip(ask.id().ok()).is_some_and(|(caller, org)| caller.org.as_str() == org)
}

impl Ask {
    /// The path's parameter of that place.
    fn at(&self, place: usize) -> Result<&str, Problem> {
        self.path.get(place).map(|(_, value)| value.as_str()).ok_or_else(Problem::not_found)
    }

    fn id(&self) -> Result<&str, Problem> {
        self.at(0)
    }

    /// The number of a policy's version, in its one spelling.
    fn version(&self) -> Result<u32, Problem> {
        let text = self.at(1)?;
        text.parse().ok().filter(|version: &u32| version.to_string() == text).ok_or_else(Problem::not_found)
    }

    /// The route's table says that a body is there.
    fn body(&self) -> Result<&Value, Problem> {
        self.body.as_ref().ok_or_else(|| Problem::new(400, "not_json", "Send a body of JSON."))
    }

    /// Seconds; the query was held to its range.
    fn wait(&self) -> u32 {
        self.query.get("wait").and_then(|wait| wait.parse().ok()).unwrap_or(0)
    }
}
