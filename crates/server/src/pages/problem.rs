//! The page of a problem: what happened, and what to do next.

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};

use super::{
    format::count,
    frame::{Frame, html},
};
use crate::Problem;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    frame: &'a Frame,
    heading: &'static str,
    message: &'a str,
    code: &'a str,
    wait: Option<String>,
}

/// The page, with the problem's status.
pub(super) fn page(frame: &Frame, problem: &Problem) -> Response {
    let heading = match problem.status {
        400 | 422 => "That could not be read",
        401 => "Sign in first",
        403 => "That was not done",
        404 => "There is nothing here for you",
        409 => "That is no longer so",
        410 => "That link is used up",
        429 => "Too many tries",
        503 => "Not now",
        _ => "Something went wrong",
    };
    let wait = problem.retry_after.map(wait);
    let page = ProblemPage { frame, heading, message: &problem.message, code: &problem.code, wait };
    with_retry(html(status(problem), &page), problem)
}

/// One page for an id that is not known and for one of another organization.
pub(super) fn nothing_here(frame: &Frame) -> Response {
    page(
        frame,
        &Problem::new(404, "not_found", "This link opens nothing that you may see. Check it, or ask whoever sent it which account it is for."),
    )
}

/// The problem's status.
pub(super) fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// When to try again, for the browser.
pub(super) fn with_retry(mut response: Response, problem: &Problem) -> Response {
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// When to try again, for the person: rounded up, so that it is long enough.
pub(super) fn wait(seconds: u32) -> String {
    if seconds < 60 { count(seconds.into(), "second") } else { count(seconds.div_ceil(60).into(), "minute") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_long_enough() {
        assert_eq!((wait(1), wait(59), wait(60), wait(61)), ("1 second".into(), "59 seconds".into(), "1 minute".into(), "2 minutes".into()));
    }
}
