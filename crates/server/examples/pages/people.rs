//! Two people, and what they decide, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use control::ids::{OrgId, UserId};
use server::{
    Person, Problem,
    pages::People,
    service::{ApprovalPage, SessionToken, SetupView, Verdict},
};

use crate::samples;

const PASSWORD: &str = "correct horse battery";

/// Answers with samples.
#[derive(Clone)]
pub(crate) struct Sample {
    pages: Arc<Mutex<Vec<ApprovalPage>>>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { pages: Arc::new(Mutex::new(samples::all())) }
    }
}

impl Sample {
    fn with<T>(&self, f: impl FnOnce(&mut Vec<ApprovalPage>) -> T) -> T {
        f(&mut self.pages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl People for Sample {
    async fn setup_link(&self, token: &str) -> Result<SetupView, Problem> {
        if token == "first" { Ok(SetupView { login: "ada".into() }) } else { Err(Problem::not_found()) }
    }

    async fn set_password(&self, _: &str, _: &str) -> Result<SessionToken, Problem> {
        Ok(SessionToken("ada".into()))
    }

    async fn sign_in(&self, login: &str, password: &str) -> Result<SessionToken, Problem> {
        match (login, password) {
            ("often", _) => Err(Problem::new(429, "rate_limited", "Too many tries.").retry_after(90)),
            ("ada" | "grace", PASSWORD) => Ok(SessionToken(login.into())),
            _ => Err(Problem::unauthenticated()),
        }
    }

    async fn sign_out(&self, _: &str) -> Result<(), Problem> {
        Ok(())
    }

    async fn person(&self, session: &str) -> Result<Person, Problem> {
        if session != "ada" && session != "grace" {
            return Err(Problem::unauthenticated());
        }
        Ok(Person { user: UserId::of([1; 16]), org: OrgId::of([1; 16]), login: session.into(), csrf: "a-form-token".into() })
    }

    async fn approval_page(&self, _: &Person, id: &str) -> Result<ApprovalPage, Problem> {
        self.with(|pages| pages.iter().find(|page| page.id == id).cloned()).ok_or_else(Problem::not_found)
    }

    async fn decide_approval(&self, person: &Person, id: &str, digest: &str, verdict: Verdict) -> Result<ApprovalPage, Problem> {
        self.with(|pages| {
            let page = pages.iter_mut().find(|page| page.id == id).ok_or_else(Problem::not_found)?;
            if page.state != "pending" {
                return Err(Problem::new(409, "approval_ended", "This approval is over."));
            }
            if page.digest != digest {
                return Err(Problem::new(409, "digest_differs", "What you saw is not what would be paid. Read it again, then decide."));
            }
            let (state, outcome) = match verdict {
                Verdict::Approve => ("approved", Some("The agent has a mandate for this payment alone, good for 15 minutes.".to_owned())),
                Verdict::Decline => ("declined", None),
            };
            page.state = state.into();
            page.outcome = outcome;
            page.decided = Some((person.login.clone(), page.now));
            Ok(page.clone())
        })
    }

    async fn approvals_waiting(&self, person: &Person) -> Result<Vec<ApprovalPage>, Problem> {
        let waits = |page: &&ApprovalPage| person.login == "ada" && page.state == "pending" && page.expires_at > page.now;
        Ok(self.with(|pages| pages.iter().filter(waits).cloned().collect()))
    }
}
