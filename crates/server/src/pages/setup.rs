//! The first password, by a link that is good once.
//!
//! The link's secret leaves the address at once: opening the link puts it into a cookie and goes on to `/setup`, so that
//! it stays out of the history, the page and every form. Opening spends nothing; setting the password does.

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use control::card_number;

use super::{
    Desk, People,
    form::{self, Form},
    frame::{Frame, html},
    headers, problem,
    sign_in::{end_old_session, unusable},
};
use crate::{Problem, service::PASSWORD_LENGTHS};

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage<'a> {
    frame: &'a Frame,
    csrf: &'a str,
    login: &'a str,
    /// What is wrong with the password.
    password_fault: Option<&'a str>,
    /// What is wrong with its repetition.
    again_fault: Option<&'a str>,
}

/// `GET /setup/{token}`
pub(super) async fn open<P: People>(State(desk): State<Desk<P>>, Path(token): Path<String>, headers: HeaderMap) -> Response {
    let frame = desk.frame(&headers, None);
    let Some(cookie) = desk.site.cookies.set_setup(&token).filter(|_| !token.is_empty()) else { return problem::page(&frame, &used_up()) };
    match desk.people.setup_link(&token).await {
        Ok(_) => headers::with_cookie(headers::see_other("/setup"), cookie),
        Err(problem) => problem::page(&frame, &link_problem(problem)),
    }
}

/// `GET /setup`
pub(super) async fn show<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap) -> Response {
    let Some(token) = desk.site.cookies.setup(&headers) else { return problem::page(&desk.frame(&headers, None), &used_up()) };
    form_page(&desk, &headers, &token, None, None).await
}

/// `POST /setup`
pub(super) async fn set<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap, body: Bytes) -> Response {
    match try_set(&desk, &headers, &body).await {
        Ok(response) => response,
        Err(problem) => problem::page(&desk.frame(&headers, None), &problem),
    }
}

async fn try_set<P: People>(desk: &Desk<P>, headers: &HeaderMap, body: &[u8]) -> Result<Response, Problem> {
    form::from_our_pages(&desk.site, headers)?;
    let form = Form::read(body, &["csrf", "password", "again"])?;
    form.hold_to(&desk.site.cookies.form(headers).unwrap_or_default())?;
    let token = desk.site.cookies.setup(headers).ok_or_else(used_up)?;
    let password = form.get("password");
    if let Some(fault) = fault(password) {
        return Ok(form_page(desk, headers, &token, Some(fault), None).await);
    }
    if password != form.get("again") {
        return Ok(form_page(desk, headers, &token, None, Some("The two are not the same. Type both again.")).await);
    }
    match desk.people.set_password(&token, password).await {
        Ok(session) => {
            end_old_session(desk, headers).await;
            let (kept, forgotten) = (desk.site.cookies.set_session(&session), desk.site.cookies.clear_setup());
            let response = headers::with_cookie(headers::see_other("/approvals"), kept.ok_or_else(unusable)?);
            Ok(headers::with_cookie(response, forgotten.ok_or_else(unusable)?))
        }
        Err(problem) if problem.status == 422 => Ok(form_page(desk, headers, &token, Some(&problem.message), None).await),
        Err(problem) => Err(link_problem(problem)),
    }
}

async fn form_page<P: People>(desk: &Desk<P>, headers: &HeaderMap, token: &str, password_fault: Option<&str>, again_fault: Option<&str>) -> Response {
    let frame = desk.frame(headers, None);
    let made = match (desk.people.setup_link(token).await, form::token(&desk.site, headers)) {
        (Ok(view), Ok(token)) => Ok((view, token)),
        (Err(problem), _) => Err(link_problem(problem)),
        (_, Err(problem)) => Err(problem),
    };
    let (view, (csrf, cookie)) = match made {
        Ok(made) => made,
        Err(problem) => return problem::page(&frame, &problem),
    };
    let status = if password_fault.is_some() || again_fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = SetupPage { frame: &frame, csrf: &csrf, login: &view.login, password_fault, again_fault };
    let response = html(status, &page);
    match cookie {
        Some(cookie) => headers::with_cookie(response, cookie),
        None => response,
    }
}

/// What is wrong with a password, if something is.
fn fault(password: &str) -> Option<&'static str> {
    let length = password.chars().count();
    if length < *PASSWORD_LENGTHS.start() {
        return Some("That is too short. Use at least 12 characters; a few words in a row are fine.");
    }
    if length > *PASSWORD_LENGTHS.end() {
        return Some("That is too long. Use at most 200 characters.");
    }
    card_number::is_in(password).then_some("That holds what looks like a card number. Choose another.")
}

/// Whatever is wrong with a link, it is of no use any more.
fn link_problem(problem: Problem) -> Problem {
    if matches!(problem.status, 401 | 403 | 404 | 409 | 410) { used_up() } else { problem }
}

fn used_up() -> Problem {
    Problem::new(
        410,
        "setup_link_used_up",
        "A link for a first password is good once, for 15 minutes. If you have set your password, sign in; if not, ask whoever runs the server \
         for a new one, which `chancery admin user link` makes.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords() {
        assert_eq!(fault("correct horse"), None);
        assert_eq!(fault(&"é".repeat(12)), None);
        assert_eq!(fault(&"a".repeat(200)), None);
        for bad in ["", "elevenchars", &"a".repeat(201), "pay 4242 4242 4242 4242"] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
