//! What the pages ask of the application.

use std::future::Future;

use crate::{
    Person, Problem, Service,
    service::{ApprovalPage, SessionToken, SetupView, Verdict},
};

/// Accounts and approvals, as the pages need them. [`Service`] is the application; tests and the example answer with samples.
pub trait People: Clone + Send + Sync + 'static {
    /// What a link for a first password opens. It stays good.
    fn setup_link(&self, token: &str) -> impl Future<Output = Result<SetupView, Problem>> + Send;
    /// Sets the password, spends the link, and signs in.
    fn set_password(&self, token: &str, password: &str) -> impl Future<Output = Result<SessionToken, Problem>> + Send;
    /// Signs in; 401 for a login or a password that is not right, 429 after too many tries.
    fn sign_in(&self, login: &str, password: &str) -> impl Future<Output = Result<SessionToken, Problem>> + Send;
    /// Signs out.
    fn sign_out(&self, session: &str) -> impl Future<Output = Result<(), Problem>> + Send;
    /// Who is signed in; 401 if the session is not in use.
    fn person(&self, session: &str) -> impl Future<Output = Result<Person, Problem>> + Send;
    /// One approval; 404 for an unknown one and for another organization's alike.
    fn approval_page(&self, person: &Person, id: &str) -> impl Future<Output = Result<ApprovalPage, Problem>> + Send;
    /// Decides.
    fn decide_approval(
        &self,
        person: &Person,
        id: &str,
        digest: &str,
        verdict: Verdict,
    ) -> impl Future<Output = Result<ApprovalPage, Problem>> + Send;
    /// What waits for this person, the most urgent first.
    fn approvals_waiting(&self, person: &Person) -> impl Future<Output = Result<Vec<ApprovalPage>, Problem>> + Send;
}

impl People for Service {
    async fn setup_link(&self, token: &str) -> Result<SetupView, Problem> {
        self.setup_link(token).await
    }

    async fn set_password(&self, token: &str, password: &str) -> Result<SessionToken, Problem> {
        self.set_password(token, password).await
    }

    async fn sign_in(&self, login: &str, password: &str) -> Result<SessionToken, Problem> {
        self.sign_in(login, password).await
    }

    async fn sign_out(&self, session: &str) -> Result<(), Problem> {
        self.sign_out(session).await
    }

    async fn person(&self, session: &str) -> Result<Person, Problem> {
        self.person(session).await
    }

    async fn approval_page(&self, person: &Person, id: &str) -> Result<ApprovalPage, Problem> {
        self.approval_page(person, id).await
    }

    async fn decide_approval(&self, person: &Person, id: &str, digest: &str, verdict: Verdict) -> Result<ApprovalPage, Problem> {
        self.decide_approval(person, id, digest, verdict).await
    }

    async fn approvals_waiting(&self, person: &Person) -> Result<Vec<ApprovalPage>, Problem> {
        self.approvals_waiting(person).await
    }
}
