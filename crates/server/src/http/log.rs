//! One line for each request.

use std::fmt;

use axum::http::{Method, StatusCode};
use lcp::{Object, Value, json};

/// What is told of a request: never its path, query, headers or body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The method, or `OTHER` for one that nobody knows: its text comes from outside.
    pub method: &'static str,
    /// The pattern that the path matched; `None` for an unknown path.
    pub route: Option<String>,
    /// The status of the answer.
    pub status: StatusCode,
    /// How long the answer took, in milliseconds.
    pub millis: u64,
    /// The id that the answer carries.
    pub request_id: String,
}

/// The name of a method that is known.
pub(super) fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("OTHER")
}

/// A JSON object on one line.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = Object::new()
            .with("method", self.method)
            .with("route", self.route.as_deref().map_or(Value::Null, Value::from))
            .with("status", u32::from(self.status.as_u16()))
            .with("ms", self.millis)
            .with("request_id", self.request_id.as_str());
        f.write_str(&json::write(&line.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let line = Line {
            method: method_name(&Method::GET),
            route: Some("/v0/records/{id}".to_owned()),
            status: StatusCode::OK,
            millis: 12,
            request_id: "req_1".to_owned(),
        };
        assert_eq!(line.to_string(), r#"{"method":"GET","route":"/v0/records/{id}","status":200,"ms":12,"request_id":"req_1"}"#);
        assert_eq!(Line { route: None, ..line }.to_string(), r#"{"method":"GET","route":null,"status":200,"ms":12,"request_id":"req_1"}"#);
    }

    #[test]
    fn a_method_from_outside_is_not_written() {
        assert_eq!(method_name(&Method::from_bytes(b"enruta_agt_secret").unwrap()), "OTHER");
        assert_eq!(method_name(&Method::PATCH), "PATCH");
    }
}
