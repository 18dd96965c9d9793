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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mpp::sample::{object, parsed};

    const URL: &str = "https://api.seller.example/v1/quote";

    fn http() -> Object {
        object(&format!("{{'method':'POST','url':'{URL}','body':'0x7b7d','headers':{{'content-type':' application/json\t'}}}}").replace('\t', "\\t"))
    }

    fn tool() -> Object {
        object("{'server':'urn:mcp:a','name':'quote','arguments':{'b':1,'a':[1.0,'é']},'meta':{'trace':{'z':1,'a':null}}}")
    }

    fn extra(profile: &str, params: &str) -> Object {
        Object::new().with("requestBindingProfile", profile).with("requestBindingParams", parsed(params))
    }

    fn hashed(extra: &Object, request: impl Into<Value>) -> Result<String, String> {
        hash(extra, &request.into(), Some(&URL.into())).map_err(|refusal| refusal.code().to_owned())
    }

    fn of_http(request: impl Into<Value>) -> Result<String, String> {
        hashed(&extra("http:1", "{'headers':['content-type','x']}"), request)
    }

    fn of_tool(request: impl Into<Value>) -> Result<String, String> {
        hashed(&extra("mcp:1", "{'server':'urn:mcp:a','metadata':['none','trace']}"), request)
    }

    fn of_text(text: &str) -> Result<String, String> {
        Ok(sha256(&[text.as_bytes()]))
    }

    #[test]
    fn binds_what_the_option_lists() {
        let (absent, present) = (sha256(&[b"\0"]), sha256(&[b"\x01application/json"]));
        let expected = format!(
            "{{\"bodyHash\":\"{}\",\"domain\":\"x402:exact:lnbtc:bolt11:http:1\",\"headers\":[{{\"name\":\"content-type\",\"valueHash\":\"{present}\"}},\
             {{\"name\":\"x\",\"valueHash\":\"{absent}\"}}],\"method\":\"POST\",\"url\":\"{URL}\"}}",
            sha256(&[b"{}"])
        );
        assert_eq!(of_http(http()), of_text(&expected));
        let trace = sha256(&[b"\x01{\"a\":null,\"z\":1}"]);
        let expected = format!(
            "{{\"arguments\":{{\"a\":[1,\"é\"],\"b\":1}},\"domain\":\"x402:exact:lnbtc:bolt11:mcp:1\",\"metadata\":[{{\"name\":\"none\",\"valueHash\":\
             \"{absent}\"}},{{\"name\":\"trace\",\"valueHash\":\"{trace}\"}}],\"method\":\"tools/call\",\"name\":\"quote\",\"server\":\"urn:mcp:a\"}}"
        );
        assert_eq!(of_tool(tool()), of_text(&expected));
        // What is absent is empty, and what is not listed is not bound.
        assert_eq!(of_http(http().without("body")), of_http(http().with("body", "0x")));
        assert_eq!(of_http(http().without("headers")), of_http(http().with("headers", object("{'Content-Type':'a'}"))));
        assert_eq!(of_http(http().with("more", 1u32).with("headers", object("{'content-type':'application/json','y':5}"))), of_http(http()));
        assert_eq!(of_tool(tool().without("arguments")), of_tool(tool().with("arguments", Object::new())));
        assert_eq!(of_tool(tool().without("meta")), of_tool(tool().with("meta", object("{'x':1e999}"))));
    }

    #[test]
    fn a_request_is_refused_for_its_first_fault() {
        let mut extra = extra("x", "5");
        assert_eq!(hashed(&extra, Vec::new()).unwrap_err(), "ln/request-binding-malformed");
        let mut request = http().with("url", "ftp://a/").with("method", "A B").with("body", "0x7").with("server", Value::Null);
        assert_eq!(hashed(&extra, request.clone()).unwrap_err(), "ln/request-binding-malformed");
        extra.set("requestBindingParams", parsed("{'headers':[]}"));
        for profile in ["x", "http:1"] {
            extra.set("requestBindingProfile", profile);
            assert_eq!(hashed(&extra, request.clone()).unwrap_err(), "ln/request-profile-mismatch");
        }
        request.remove("server");
        for (code, name, value) in [
            ("ln/request-binding-malformed", "method", "GET"),
            ("ln/request-binding-malformed", "url", "https://other.example/"),
            ("ln/request-resource-mismatch", "url", URL),
            ("ln/request-binding-malformed", "body", "0x"),
        ] {
            assert_eq!(hashed(&extra, request.clone()).unwrap_err(), code, "{name}");
            request.set(name, value);
        }
        assert!(hashed(&extra, request.clone()).is_ok());
        for resource in [None, Some(Value::Null), Some("x".into())] {
            assert_eq!(hash(&extra, &request.clone().into(), resource.as_ref()), Err(RESOURCE_MISMATCH));
        }
        let mut call = tool().with("server", "/x").with("name", "");
        for (code, name, value) in [
            ("ln/request-binding-malformed", "server", "urn:mcp:b"),
            ("ln/request-server-mismatch", "server", "urn:mcp:a"),
            ("ln/request-binding-malformed", "name", "quote"),
        ] {
            assert_eq!(of_tool(call.clone()).unwrap_err(), code, "{name}");
            call.set(name, value);
        }
        assert!(of_tool(call).is_ok());
    }

    #[test]
    fn names_are_listed_in_order_and_once() {
        let http_lists = |params: &str| hashed(&extra("http:1", params), http()).is_ok();
        for params in ["{'headers':[]}", "{'headers':['!~','1','10','2','accept']}"] {
            assert!(http_lists(params), "{params}");
        }
        for params in [
            "{}",
            "[]",
            "{'headers':{}}",
            "{'headers':[5]}",
            "{'headers':['']}",
            "{'headers':['A']}",
            "{'headers':['a b']}",
            "{'headers':['é']}",
            "{'headers':['b','a']}",
            "{'headers':['a','a']}",
            "{'headers':['payment-signature']}",
            "{'headers':[],'more':1}",
        ] {
            assert!(!http_lists(params), "{params}");
        }
        let mcp_lists = |metadata: &str| hashed(&extra("mcp:1", &format!("{{'server':'urn:mcp:a',{metadata}}}")), tool()).is_ok();
        for metadata in ["'metadata':[]", "'metadata':['A','a b']", "'metadata':['\\ud83d\\ude00','\\ufb01']"] {
            assert!(mcp_lists(metadata), "{metadata}");
        }
        for metadata in [
            "'more':1",
            "'metadata':[''],'more':1",
            "'metadata':['']",
            "'metadata':['b','a']",
            "'metadata':['\\ufb01','\\ud83d\\ude00']",
            "'metadata':['\\ud800']",
            "'metadata':['progressToken']",
            "'metadata':['x402/payment']",
        ] {
            assert!(!mcp_lists(metadata), "{metadata}");
        }
    }

    #[test]
    fn values_are_of_their_form() {
        let header = |value: &str| of_http(http().with("headers", Object::new().with("content-type", value)));
        assert_eq!(header("\t a\tb "), header("a\tb"));
        assert_eq!(header("  "), header(""));
        for value in ["a\n", "\u{7F}", "é", "\u{A0}a", "\0"] {
            assert_eq!(header(value).unwrap_err(), "ln/request-binding-malformed", "{value:?}");
        }
        for (name, value) in [("headers", "[]"), ("headers", "null"), ("headers", "{'x':5}"), ("body", "null"), ("body", "'7b'"), ("method", "''")] {
            assert_eq!(of_http(http().with(name, parsed(value))).unwrap_err(), "ln/request-binding-malformed", "{name}: {value}");
        }
        for (name, value) in [
            ("arguments", "[]"),
            ("arguments", "null"),
            ("arguments", "{'a':1e999}"),
            ("arguments", "{'a':'\\ud800'}"),
            ("meta", "[]"),
            ("meta", "{'trace':'\\ud800'}"),
            ("name", "'\\ud800'"),
            ("name", "5"),
        ] {
            assert_eq!(of_tool(tool().with(name, parsed(value))).unwrap_err(), "ln/request-binding-malformed", "{name}: {value}");
        }
        let nested = |levels: usize| of_tool(tool().with("arguments", parsed(&format!("{{'a':{}{}}}", "[".repeat(levels), "]".repeat(levels)))));
        assert!(nested(62).is_ok() && nested(63).is_err());
    }

    #[test]
    fn urls_are_visible_ascii_without_credentials_and_fragment() {
        for url in [
            "https://a.example",
            "HTTP://a:80/\\?x@y",
            "http://a/@",
            "http://a?",
            "http://[::1]/",
            "http://1.2.3/",
            "http://xn--a/",
            "http://a%C3%A9b/",
            "https://\\\\a",
            "http://a/%zz",
            "http://a_b/<>",
        ] {
            assert!(is_http_url(url) && is_plain_url(url), "{url}");
        }
        for url in ["http:a", "https:///a", "ftp://a/", "urn:a@b", "foo:///u@v", "x:", "http:/u@a/", "https:\\\\a"] {
            assert!(!is_http_url(url) && is_plain_url(url), "{url}");
        }
        for url in [
            "",
            "a",
            "/a",
            "//a",
            "http://",
            "http://?",
            "http://a#",
            "http://u@a/",
            "http://@a/",
            "https://a\\@b",
            "foo://u@a",
            "http://a b/",
            " http://a/",
            "http://a/\t",
            "http://a/é",
            "http://a:65536/",
            "http://256.1.1.1/",
            "http://[::g]/",
            "http://%ff/",
            "http://a%00/",
            "http://%D7%90a/",
            "http://a^b/",
        ] {
            assert!(!is_http_url(url) && !is_plain_url(url), "{url}");
        }
    }

    proptest! {
        /// Whatever is listed and whatever is given, a request is judged, and one that is bound twice hashes alike.
        #[test]
        fn any_request_is_judged(
            names in prop::collection::vec("[a-z]{0,2}|\\PC{0,3}", 0..4),
            given in prop::collection::vec(("[a-z]{0,2}|\\PC{0,3}", "[ -~]{0,4}|\\PC{0,4}"), 0..4),
            (method, url, body) in ("[A-Z]{0,3}|\\PC{0,3}", "(http://|https://a|\\PC{0,9})\\PC{0,9}", "(0x)?[0-9a-f]{0,4}"),
        ) {
            let listed: Vec<_> = names.into_iter().map(Value::from).collect();
            let given = given.into_iter().fold(Object::new(), |given, (name, value)| given.with(name, value));
            let params = Object::new().with("headers", listed.clone());
            let extra = Object::new().with("requestBindingProfile", "http:1").with("requestBindingParams", params);
            let request = Object::new().with("method", method).with("url", &*url).with("body", body).with("headers", given.clone());
            let resource = url.into();
            prop_assert_eq!(hash(&extra, &request.clone().into(), Some(&resource)), hash(&extra, &request.into(), Some(&resource)));
            let params = Object::new().with("server", &resource).with("metadata", listed);
            let extra = Object::new().with("requestBindingProfile", "mcp:1").with("requestBindingParams", params);
            let call = Object::new().with("server", &resource).with("name", "x").with("meta", given);
            let _ = hash(&extra, &call.into(), None);
        }
    }
}
