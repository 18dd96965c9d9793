//! The approval page: everything that a click binds to, and two buttons.

mod view;

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};

pub(super) use self::view::Payee;
use self::view::View;
use super::{
    Desk, People,
    form::{self, Form},
    frame::{Frame, html},
    headers, problem,
    sign_in::is_id,
};
use crate::{
    Person, Problem,
    service::{ApprovalPage, Verdict},
};

#[derive(Template)]
#[template(path = "approval.html")]
struct Sheet<'a> {
    frame: &'a Frame,
    view: View,
    /// Why the last click did nothing.
    notice: Option<&'a str>,
}

/// `GET /approve/{id}`
pub(super) async fn show<P: People>(State(desk): State<Desk<P>>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let person = match desk.person(&headers).await {
        Ok(Some(person)) => person,
        Ok(None) => return to_sign_in(&id),
        Err(problem) => return problem::page(&desk.frame(&headers, None), &problem),
    };
    match load(&desk, &person, &id).await {
        Ok(page) => sheet(&desk, &headers, &person, &page, None),
        Err(problem) => refused(&desk.frame(&headers, Some(&person)), &id, &problem),
    }
}

/// `POST /approve/{id}`
pub(super) async fn decide<P: People>(State(desk): State<Desk<P>>, Path(id): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    let person = match desk.person(&headers).await {
        Ok(Some(person)) => person,
        Ok(None) => return to_sign_in(&id),
        Err(problem) => return problem::page(&desk.frame(&headers, None), &problem),
    };
    let frame = desk.frame(&headers, Some(&person));
    let (digest, verdict) = match read(&desk, &person, &headers, &body) {
        Ok(click) => click,
        Err(problem) => return problem::page(&frame, &problem),
    };
    if !is_id(&id) {
        return problem::nothing_here(&frame);
    }
    let Err(problem) = desk.people.decide_approval(&person, &id, &digest, verdict).await else {
        // Loading the page again must not click again.
        return headers::see_other(&format!("/approve/{id}"));
    };
    // What is so now, and that the click did nothing.
    match problem.status {
        401 | 404 => refused(&frame, &id, &problem),
        _ => match load(&desk, &person, &id).await {
            Ok(page) => sheet(&desk, &headers, &person, &page, Some(&problem)),
            Err(_) => refused(&frame, &id, &problem),
        },
    }
}

/// The click: the digest of what was shown, and which button.
fn read<P: People>(desk: &Desk<P>, person: &Person, headers: &HeaderMap, body: &[u8]) -> Result<(String, Verdict), Problem> {
    form::from_our_pages(&desk.site, headers)?;
    let form = Form::read(body, &["csrf", "digest", "verdict"])?;
    form.hold_to(&person.csrf)?;
    let verdict = match form.get("verdict") {
        "approve" => Verdict::Approve,
        "decline" => Verdict::Decline,
        _ => return Err(Problem::new(400, "verdict_missing", "Nothing was done: go back and press one of the two buttons.")),
    };
    Ok((form.get("digest").to_owned(), verdict))
}

async fn load<P: People>(desk: &Desk<P>, person: &Person, id: &str) -> Result<ApprovalPage, Problem> {
    if is_id(id) { desk.people.approval_page(person, id).await } else { Err(Problem::not_found()) }
}

fn sheet<P: People>(desk: &Desk<P>, headers: &HeaderMap, person: &Person, page: &ApprovalPage, refused: Option<&Problem>) -> Response {
    let frame = desk.frame(headers, Some(person));
    let view = View::new(page, person, &frame.locale);
    let status = refused.map_or(StatusCode::OK, problem::status);
    let response = html(status, &Sheet { frame: &frame, view, notice: refused.map(|problem| &*problem.message) });
    match refused {
        Some(problem) => problem::with_retry(response, problem),
        None => response,
    }
}

fn refused(frame: &Frame, id: &str, problem: &Problem) -> Response {
    match problem.status {
        401 => to_sign_in(id),
        404 => problem::nothing_here(frame),
        _ => problem::page(frame, problem),
    }
}

fn to_sign_in(id: &str) -> Response {
    if is_id(id) { headers::see_other(&format!("/sign-in?next=%2Fapprove%2F{id}")) } else { headers::see_other("/sign-in") }
}
