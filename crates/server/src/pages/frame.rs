//! What stands around every page: title, sandbox badge, who is signed in.

use askama::Template;
use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    assets::{ICON, SCRIPT, STYLE},
    format::Locale,
};
use crate::Person;

/// What the layout's template reads.
pub(super) struct Frame {
    pub(super) locale: Locale,
    pub(super) is_sandbox: bool,
    /// The login and the session's form token.
    pub(super) person: Option<(String, String)>,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) icon: &'static str,
}

impl Frame {
    pub(super) fn new(headers: &HeaderMap, is_sandbox: bool, person: Option<&Person>) -> Self {
        let person = person.map(|person| (person.login.clone(), person.csrf.clone()));
        Self { locale: Locale::of(headers), is_sandbox, person, style: STYLE.path(), script: SCRIPT.path(), icon: ICON.path() }
    }
}

/// The answer that a template gives.
pub(super) fn html(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made: try again.\n").into_response(),
    }
}
