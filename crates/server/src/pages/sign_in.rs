//! Signing in and out.

use askama::Template;
use axum::{
    body::Bytes,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use control::card_number;
use url::form_urlencoded;

use super::{
    Desk, People,
    form::{self, Form},
    frame::{Frame, html},
    headers, problem,
};
use crate::Problem;

/// Longest login and password that are looked at, in bytes.
const MAX_BYTES: usize = 1000;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    frame: &'a Frame,
    csrf: &'a str,
    next: &'a str,
    login: &'a str,
    /// Why the last try failed.
    fault: Option<String>,
}

/// `GET /sign-in?next=…`
pub(super) async fn show<P: People>(State(desk): State<Desk<P>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let next = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes()).find(|(name, _)| name == "next");
    let next = local(next.as_ref().map_or("", |(_, value)| value));
    match desk.person(&headers).await {
        Ok(Some(_)) => headers::see_other(next),
        Ok(None) => form_page(&desk, &headers, next, "", None),
        Err(problem) => problem::page(&desk.frame(&headers, None), &problem),
    }
}

/// `POST /sign-in`
pub(super) async fn enter<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap, body: Bytes) -> Response {
    match try_enter(&desk, &headers, &body).await {
        Ok(response) => response,
        Err(problem) => problem::page(&desk.frame(&headers, None), &problem),
    }
}

async fn try_enter<P: People>(desk: &Desk<P>, headers: &HeaderMap, body: &[u8]) -> Result<Response, Problem> {
    form::from_our_pages(&desk.site, headers)?;
    let form = Form::read(body, &["csrf", "next", "login", "password"])?;
    form.hold_to(&desk.site.cookies.form(headers).unwrap_or_default())?;
    let (next, login, password) = (local(form.get("next")), form.get("login"), form.get("password"));
    let signed_in = if login.len() > MAX_BYTES || password.len() > MAX_BYTES { Err(wrong()) } else { desk.people.sign_in(login, password).await };
    match signed_in {
        Ok(session) => {
            end_old_session(desk, headers).await;
            let cookie = desk.site.cookies.set_session(&session).ok_or_else(unusable)?;
            Ok(headers::with_cookie(headers::see_other(next), cookie))
        }
        Err(problem) if matches!(problem.status, 400..=422 | 429) => Ok(form_page(desk, headers, next, login, Some(&problem))),
        Err(problem) => Err(problem),
    }
}

/// `POST /sign-out`
pub(super) async fn leave<P: People>(State(desk): State<Desk<P>>, headers: HeaderMap, body: Bytes) -> Response {
    match try_leave(&desk, &headers, &body).await {
        Ok(response) => response,
        Err(problem) => problem::page(&desk.frame(&headers, None), &problem),
    }
}

async fn try_leave<P: People>(desk: &Desk<P>, headers: &HeaderMap, body: &[u8]) -> Result<Response, Problem> {
    form::from_our_pages(&desk.site, headers)?;
    let form = Form::read(body, &["csrf"])?;
    if let Some(person) = desk.person(headers).await? {
        form.hold_to(&person.csrf)?;
        desk.people.sign_out(&desk.site.cookies.session(headers).unwrap_or_default()).await?;
    }
    let cookie = desk.site.cookies.clear_session().ok_or_else(unusable)?;
    Ok(headers::with_cookie(headers::see_other("/sign-in"), cookie))
}

/// A browser holds one session: the one before it is over.
pub(super) async fn end_old_session<P: People>(desk: &Desk<P>, headers: &HeaderMap) {
    if let Some(old) = desk.site.cookies.session(headers) {
        // The new session stands either way, and the old one ends by itself.
        let _ = desk.people.sign_out(&old).await;
    }
}

fn form_page<P: People>(desk: &Desk<P>, headers: &HeaderMap, next: &str, login: &str, refused: Option<&Problem>) -> Response {
    let frame = desk.frame(headers, None);
    let (csrf, cookie) = match form::token(&desk.site, headers) {
        Ok(token) => token,
        Err(problem) => return problem::page(&frame, &problem),
    };
    let fault = refused.map(|problem| match (problem.status, problem.retry_after) {
        (429, Some(seconds)) => format!("Too many tries. Wait {}, then try again.", problem::wait(seconds)),
        (429, None) => "Too many tries. Wait a few minutes, then try again.".to_owned(),
        (401, _) => wrong().message.into_owned(),
        _ => problem.message.to_string(),
    });
    // A card number is never repeated, wherever it was typed.
    let login = if card_number::is_in(login) || login.len() > MAX_BYTES { "" } else { login };
    let page = SignInPage { frame: &frame, csrf: &csrf, next, login, fault };
    let response = html(refused.map_or(StatusCode::OK, problem::status), &page);
    let response = if let Some(problem) = refused { problem::with_retry(response, problem) } else { response };
    match cookie {
        Some(cookie) => headers::with_cookie(response, cookie),
        None => response,
    }
}

/// The same words for a login that is not known.
fn wrong() -> Problem {
    Problem::new(401, "sign_in_refused", "Login or password is not right. Check both, then try again.")
}

/// The application gave a session that no cookie can hold.
pub(super) fn unusable() -> Problem {
    Problem::new(500, "session_unusable", "The server could not keep your session: tell whoever runs it.")
}

/// Where to go after signing in: one of our own pages by its exact form, else what waits.
pub(super) fn local(next: &str) -> &str {
    match next.strip_prefix("/approve/") {
        Some(id) if is_id(id) => next,
        _ => "/approvals",
    }
}

/// Whether a text may be an approval's id.
pub(super) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_pages_come_next() {
        assert_eq!(local("/approve/apv_01jdqz4d4n9v8h2k6m3p5r7t9w"), "/approve/apv_01jdqz4d4n9v8h2k6m3p5r7t9w");
        for next in [
            "",
            "/",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "https:evil.example",
            "/approve/../sign-out",
            "/approve//evil.example",
            "/approve/a?x",
            "/approve/a#x",
            "/approve/%2e%2e",
            "/approve/a\r\nSet-Cookie: x=y",
            " /approve/a",
            "/approve/",
            "/approve/A",
            "javascript:alert(1)",
            "/setup",
        ] {
            assert_eq!(local(next), "/approvals", "{next}");
        }
    }
}
