//! The hash that an invoice names of the buyer's own request, so that the invoice pays for no other one.
//!
//! An option says in `requestBindingProfile` and `requestBindingParams` what of the request is bound: of HTTP's, the method,
//! the URL, the body and the headers it lists; of a tool's call over MCP, the server, the tool, its arguments and the metadata
//! it lists. The hash is SHA-256 of the RFC 8785 form of that.

use sha2::{Digest, Sha256};

use crate::{
    Object, Refusal, Text, Value,
    encoding::{bare_hex, from_hex},
    json,
    link::is_url,
    x402::option::names,
};

const BINDING_MALFORMED: Refusal = Refusal::new("ln/request-binding-malformed");
const PROFILE_MISMATCH: Refusal = Refusal::new("ln/request-profile-mismatch");
const RESOURCE_MISMATCH: Refusal = Refusal::new("ln/request-resource-mismatch");
const SERVER_MISMATCH: Refusal = Refusal::new("ln/request-server-mismatch");

/// What cannot be listed: it holds the payment itself, or differs from call to call.
const UNBOUND_HEADERS: [&str; 1] = ["payment-signature"];
const UNBOUND_METADATA: [&str; 2] = ["x402/payment", "progressToken"];

/// The hash of a request, in hex without a prefix, that an option with this `extra` asks for; `resource` is the URL that the
/// document is of.
pub(super) fn hash(extra: &Object, request: &Value, resource: Option<&Value>) -> Result<String, Refusal> {
    let request = request.as_object().ok_or(BINDING_MALFORMED)?;
    let params = extra.get("requestBindingParams").and_then(Value::as_object).ok_or(BINDING_MALFORMED)?;
    let of_tool = request.has("server");
    if !names(extra, "requestBindingProfile", if of_tool { "mcp:1" } else { "http:1" }) {
        return Err(PROFILE_MISMATCH);
    }
    let bound = if of_tool { tool_call(params, request)? } else { http_request(params, request, resource)? };
    let text = json::canonical(&bound.into()).ok_or(BINDING_MALFORMED)?;
    Ok(sha256(&[text.as_bytes()]))
}

fn http_request(params: &Object, request: &Object, resource: Option<&Value>) -> Result<Object, Refusal> {
    let text = |name| request.get(name).and_then(Value::as_str);
    let is_small_token = |name: &Text| name.as_str().is_some_and(|name| is_token(name) && !name.contains(|letter: char| letter.is_ascii_uppercase()));
    let listed = listed(params, "headers", is_small_token, &UNBOUND_HEADERS);
    let listed = listed.filter(|_| params.len() == 1).ok_or(BINDING_MALFORMED)?;
    let method = text("method").filter(|method| is_token(method)).ok_or(BINDING_MALFORMED)?;
    let url = text("url").filter(|url| is_http_url(url)).ok_or(BINDING_MALFORMED)?;
    if resource.and_then(Value::as_str) != Some(url) {
        return Err(RESOURCE_MISMATCH);
    }
    let body = request.get("body").map_or(Some(Vec::new()), |body| body.as_str().and_then(from_hex)).ok_or(BINDING_MALFORMED)?;
    let headers = bound_values(&listed, request.get("headers"), |value| Some(field_value(value.as_str()?)?.to_owned()));
    Ok(Object::new()
        .with("domain", "x402:exact:lnbtc:bolt11:http:1")
        .with("method", method)
        .with("url", url)
        .with("bodyHash", sha256(&[&body]))
        .with("headers", headers.ok_or(BINDING_MALFORMED)?))
}

fn tool_call(params: &Object, request: &Object) -> Result<Object, Refusal> {
    let listed = listed(params, "metadata", |name| name.utf16_len() > 0, &UNBOUND_METADATA);
    let listed = listed.filter(|_| params.len() == 2 && params.has("server")).ok_or(BINDING_MALFORMED)?;
    let server = request.get("server").and_then(Value::as_str).filter(|url| is_plain_url(url)).ok_or(BINDING_MALFORMED)?;
    if !names(params, "server", server) {
        return Err(SERVER_MISMATCH);
    }
    let name = request.get("name").and_then(Value::as_text).filter(|name| name.utf16_len() > 0).ok_or(BINDING_MALFORMED)?;
    let arguments = match request.get("arguments") {
        None => Object::new().into(),
        Some(arguments) => arguments.as_object().map(|_| arguments.clone()).ok_or(BINDING_MALFORMED)?,
    };
    let metadata = bound_values(&listed, request.get("meta"), json::canonical);
    Ok(Object::new()
        .with("domain", "x402:exact:lnbtc:bolt11:mcp:1")
        .with("server", server)
        .with("method", "tools/call")
        .with("name", name.clone())
        .with("arguments", arguments)
        .with("metadata", metadata.ok_or(BINDING_MALFORMED)?))
}

/// The names that an option lists in a member: of the form asked for, sorted, none twice.
fn listed<'a>(params: &'a Object, member: &str, is_form: fn(&Text) -> bool, unbound: &[&str]) -> Option<Vec<&'a Text>> {
    let name = |name: &'a Value| name.as_text().filter(|name| is_form(name) && !unbound.iter().any(|unbound| *name == unbound));
    let names: Vec<_> = params.get(member)?.as_array()?.iter().map(name).collect::<Option<_>>()?;
    names.is_sorted_by(|a, b| a < b).then_some(names)
}

/// Each listed name with the hash of what a request gives it, which `text` reads, or with that of nothing.
fn bound_values(listed: &[&Text], given: Option<&Value>, text: impl Fn(&Value) -> Option<String>) -> Option<Value> {
    let mut values = vec![None; listed.len()];
    if let Some(given) = given {
        for (name, value) in given.as_object()?.iter() {
            if let Some(found) = listed.binary_search(&name).ok().and_then(|place| values.get_mut(place)) {
                *found = Some(value);
            }
        }
    }
    let bound = listed.iter().zip(values).map(|(name, value)| {
        let hash = match value {
            None => sha256(&[&[0]]),
            Some(value) => sha256(&[&[1], text(value)?.as_bytes()]),
        };
        Some(Value::from(Object::new().with("name", (*name).clone()).with("valueHash", hash)))
    });
    bound.collect::<Option<Vec<_>>>().map(Value::from)
}

/// A header's value without the white space around it.
fn field_value(value: &str) -> Option<&str> {
    value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')).then(|| value.trim_matches([' ', '\t']))
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// A [plain URL](is_plain_url) that starts with `http://` or `https://` and an authority.
fn is_http_url(text: &str) -> bool {
    let is_http = |scheme: &str| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    text.split_once("://").is_some_and(|(scheme, rest)| is_http(scheme) && !authority(rest).is_empty()) && is_plain_url(text)
}

/// A URL of visible ASCII without credentials and without a fragment.
fn is_plain_url(text: &str) -> bool {
    let credentials = text.split_once(':').and_then(|(_, rest)| rest.strip_prefix("//")).is_some_and(|rest| authority(rest).contains('@'));
    !credentials && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') && is_url(text)
}

/// What stands before the path and the query.
fn authority(rest: &str) -> &str {
    rest.split(['/', '?']).next().unwrap_or_default()
}

/// SHA-256 of bytes in a row, in hex without a prefix.
fn sha256(parts: &[&[u8]]) -> String {
    let digest = parts.iter().fold(Sha256::new(), Sha256::chain_update);
    bare_hex(&digest.finalize())
}
