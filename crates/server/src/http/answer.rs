//! Answers.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use lcp::{Object, json as lcp_json};

use crate::Problem;

/// A JSON answer.
pub(crate) fn json(status: u16, body: Object) -> Response {
    text(status, "application/json", lcp_json::write(&body.into()))
}

/// An answer of that media type.
pub(crate) fn text(status: u16, media_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The envelope of a problem, with the headers that go with it.
pub(crate) fn problem(problem: &Problem) -> Response {
    let mut response = json(problem.status, problem.to_json());
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if problem.status == 401 {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
