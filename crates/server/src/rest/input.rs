//! What a request gives: its path, query, key and body, each looked through for card numbers before anything uses it.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, header},
};
use control::{Pointer, card_number, ids::PREFIXES};
use http_body_util::{BodyExt as _, LengthLimitError};
use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};

use super::{
    Query,
    route::{Body, Call, Kind, Parameter, Route, Shape},
};
use crate::{
    Problem,
    http::{TooSlow, too_large},
    service::MAX_IDEMPOTENCY_KEY,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Length of an id of ours behind its prefix.
const ID_LENGTH: usize = 26;

/// What stands outside of the body.
pub(super) struct Given {
    /// Decoded, in the order sent.
    query: Vec<(String, String)>,
    /// The texts of the header `Idempotency-Key`; `None` for one that is no text.
    idempotency_keys: Vec<Option<String>>,
}

impl Given {
    pub(super) fn read(request: &Request) -> Result<Self, Problem> {
        let query = request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let query = query.map(decoded_pair).collect::<Option<_>>().ok_or_else(|| parameter_malformed("Encode query parameters in UTF-8."))?;
        Ok(Self { query, idempotency_keys: texts(request.headers(), &IDEMPOTENCY_KEY) })
    }

    /// Refuses a card number in the path, the query or the key.
    pub(super) fn refuse_card_numbers(&self, route: &Route, path: &[(String, String)]) -> Result<(), Problem> {
        for (name, value) in path {
            refuse("path", &Object::new().with(name.as_str(), value.as_str()).into(), if is_ours(value) { &["/*"] } else { &[] })?;
        }
        for (name, value) in &self.query {
            let is_typed = route.query.iter().any(|parameter| parameter.name == name && parameter.kind == Kind::Typed);
            refuse("query", &Object::new().with(name.as_str(), value.as_str()).into(), if is_typed { &["/*"] } else { &[] })?;
        }
        for key in self.idempotency_keys.iter().flatten() {
            refuse("header", &Object::new().with(IDEMPOTENCY_KEY.as_str(), key.as_str()).into(), &[])?;
        }
        Ok(())
    }

    /// The query, if the route knows each parameter and none comes twice.
    pub(super) fn query(&self, route: &Route) -> Result<Query, Problem> {
        let mut query = Query::new();
        if route.call == Call::NotServed {
            return Ok(query);
        }
        for (name, value) in &self.query {
            let Some(parameter) = route.query.iter().find(|parameter| parameter.name == name) else {
                return Err(Problem::new(422, "unknown_parameter", known_parameters(route.query)));
            };
            if let Kind::Whole(least, most) = parameter.kind {
                let is_plain = value.bytes().all(|byte| byte.is_ascii_digit()) && (value.len() == 1 || !value.starts_with('0'));
                if !value.parse().is_ok_and(|number: u32| is_plain && (least..=most).contains(&number)) {
                    return Err(parameter_malformed(format!("Give {} as a whole number from {least} to {most}.", parameter.name)));
                }
            }
            if query.insert(name.clone(), value.clone()).is_some() {
                return Err(parameter_malformed(format!("Give {} once.", parameter.name)));
            }
        }
        Ok(query)
    }

    /// The idempotency key, where the route wants one.
    pub(super) fn idempotency_key(&self, route: &Route) -> Result<Option<String>, Problem> {
        if !route.needs_idempotency_key {
            return Ok(None);
        }
        match self.idempotency_keys.as_slice() {
            [Some(key)] if key.len() <= MAX_IDEMPOTENCY_KEY && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Some(key.clone()))
            }
            [] => Err(Problem::new(400, "idempotency_key_required", "Send an Idempotency-Key: one per payment, the same when repeating it.")),
            _ => Err(Problem::new(400, "idempotency_key_invalid", "Send one Idempotency-Key of 1 to 255 visible ASCII characters.")),
        }
    }
}

/// The body, if the route takes one and it is there.
pub(super) async fn body(route: &Route, request: Request) -> Result<Option<Value>, Problem> {
    let (Shape { typed, .. }, is_required) = match route.body {
        Body::None => return Ok(None),
        Body::Optional(shape) => (shape, false),
        Body::Required(shape) => (shape, true),
    };
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map_err(|error| unread(&error))?.to_bytes();
    if bytes.is_empty() && !is_required {
        return Ok(None);
    }
    if !is_json(&head.headers) {
        return Err(Problem::new(415, "unsupported_media_type", "Send the body as application/json."));
    }
    let value = json::parse_bytes_unique(&bytes, MAX_DEPTH).map_err(|error| {
        if error.is_repeated() {
            return Problem::new(400, "repeated_member", "Send each member once: it is not told which of two was meant.");
        }
        Problem::new(400, "not_json", "Send a body of JSON in UTF-8 that nests at most 64 levels.")
    })?;
    refuse("body", &value, typed)?;
    Ok(Some(value))
}

fn unread(error: &axum::Error) -> Problem {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return too_large();
        }
        if error.is::<TooSlow>() {
            return Problem::new(408, "request_timeout", "Send the whole body within 30 seconds.");
        }
        cause = error.source();
    }
    Problem::new(400, "body_incomplete", "Send the whole body.")
}

/// Whether the body says that it is JSON, or does not say what it is.
fn is_json(headers: &HeaderMap) -> bool {
    texts(headers, &header::CONTENT_TYPE).into_iter().all(|media_type| {
        let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        essence == "application/json" || essence.strip_prefix("application/").is_some_and(|subtype| subtype.ends_with("+json"))
    })
}

fn texts(headers: &HeaderMap, name: &HeaderName) -> Vec<Option<String>> {
    headers.get_all(name).iter().map(|value| value.to_str().ok().map(str::to_owned)).collect()
}

/// Refuses what looks like a card number; says only where it is.
fn refuse(place: &'static str, value: &Value, typed: &[&str]) -> Result<(), Problem> {
    card_number::find(value, typed).map_or(Ok(()), |hit| Err(card_number_rejected(place, &hit.pointer)))
}

fn card_number_rejected(place: &'static str, pointer: &Pointer) -> Problem {
    Problem::new(422, "card_number_rejected", "Take out what looks like a card number; none is accepted.")
        .with_details(Object::new().with("in", place).with("pointer", pointer.as_str()))
}

fn parameter_malformed(sentence: impl Into<std::borrow::Cow<'static, str>>) -> Problem {
    Problem::new(422, "parameter_malformed", sentence)
}

fn known_parameters(query: &[Parameter]) -> String {
    match query {
        [] => "This call takes no query parameters.".to_owned(),
        query => format!("The query parameters of this call are: {}.", query.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")),
    }
}

/// Whether it is an id of ours as a whole.
fn is_ours(text: &str) -> bool {
    let is_rest = |rest: &str| rest.len() == ID_LENGTH && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    PREFIXES.iter().any(|prefix| text.strip_prefix(prefix).is_some_and(is_rest))
}

/// A pair of `application/x-www-form-urlencoded`; `None` if it is not UTF-8.
fn decoded_pair(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    Some((decoded(name)?, decoded(value)?))
}

fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = |offset: usize| bytes.get(at + offset).and_then(|digit| char::from(*digit).to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
        if let (b'%', Some(high), Some(low)) = (byte, hex(1), hex(2)) {
            out.push(high << 4 | low);
            at += 3;
        } else {
            out.push(if byte == b'+' { b' ' } else { byte });
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        let pair = |text| decoded_pair(text).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(pair("a=b").as_deref(), Some("a=b"));
        assert_eq!(pair("a").as_deref(), Some("a="));
        assert_eq!(pair("a=b=c").as_deref(), Some("a=b=c"));
        assert_eq!(pair("a+b=%41%c3%A9%").as_deref(), Some("a b=Aé%"));
        assert_eq!(pair("a=%zz%4").as_deref(), Some("a=%zz%4"));
        assert_eq!(pair("a=%ff"), None);
    }

    #[test]
    fn ids_of_ours() {
        assert!(is_ours("pr_01jdqz4d4n9v8h2k6m3p5r7t9w"));
        assert!(is_ours("rec_42424242424242424242424242"));
        for text in [
            "4242424242424242",
            "pr_4242424242424242",
            "xyz_01jdqz4d4n9v8h2k6m3p5r7t9w",
            "pr_01JDQZ4D4N9V8H2K6M3P5R7T9W",
            "pr_4242 4242 4242 4242 424242",
        ] {
            assert!(!is_ours(text), "{text}");
        }
    }

    #[test]
    fn media_types() {
        let is_json_as = |text: &str| is_json(&HeaderMap::from_iter([(header::CONTENT_TYPE, text.parse().unwrap())]));
        assert!(is_json(&HeaderMap::new()));
        for text in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/problem+json"] {
            assert!(is_json_as(text), "{text}");
        }
        for text in
            ["", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonx", "multipart/form-data; a=application/json"]
        {
            assert!(!is_json_as(text), "{text}");
        }
    }
}
