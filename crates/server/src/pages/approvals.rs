//! What waits for a person.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};

use super::{
    Desk, People,
    approval::Payee,
    format::{Amount, Locale, Moment, count},
    frame::{Frame, html},
    headers, problem,
    words::Words,
};
use crate::service::ApprovalPage;

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsPage<'a> {
    frame: &'a Frame,
    waiting: Vec<Row>,
    /// How many wait: `2 payments`.
    count: String,
    /// The time now, in Unix milliseconds, for the script.
    now: i64,
}

/// One that waits.
struct Row {
    id: String,
    amount: Amount,
    payee: Payee,
    purpose: Words,
    agent: Words,
    expires: Moment,
    expires_millis: i64,
}

impl Row {
    fn new(page: &ApprovalPage, locale: &Locale) -> Self {
        Self {
            id: page.id.clone(),
            amount: Amount::new(&page.amount, locale),
            payee: Payee::new(page),
            purpose: Words::new(&page.purpose),
            agent: Words::new(&page.agent.0),
            expires: Moment::new(page.expires_at, page.now, locale),
            expires_millis: page.expires_at.millis(),
        }
    }
}

/// `GET /approvals`
pub(super) async fn show<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap) -> Response {
    let person = match desk.person(&headers).await {
        Ok(Some(person)) => person,
        Ok(None) => return headers::see_other("/sign-in"),
        Err(problem) => return problem::page(&desk.frame(&headers, None), &problem),
    };
    let frame = desk.frame(&headers, Some(&person));
    match desk.people.approvals_waiting(&person).await {
        Ok(pages) => {
            let now = pages.first().map_or(0, |page| page.now.millis());
            let waiting: Vec<_> = pages.iter().map(|page| Row::new(page, &frame.locale)).collect();
            let count = count(waiting.len() as u64, "payment");
            html(StatusCode::OK, &ApprovalsPage { frame: &frame, waiting, count, now })
        }
        Err(problem) => problem::page(&frame, &problem),
    }
}
