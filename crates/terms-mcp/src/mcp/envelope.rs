//! The JSON-RPC envelope of a line, read without reading what it carries: members keep their source text.

use std::fmt;

use lcp::{Text, json};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// JSON-RPC's error codes.
pub(super) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
}

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Message<'a> {
    /// Asks for an answer under its id.
    Request {
        id: Id,
        method: String,
        /// `{}` where none are given.
        params: &'a str,
    },
    /// Asks for none.
    Notification { method: String, params: &'a str },
    /// An answer to a request, which this server never makes.
    Answer,
}

/// A line that is no message, answered with this error.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The id, where one was read.
    pub(super) id: Option<Id>,
    pub(super) code: i32,
    pub(super) message: &'static str,
}

impl Fault {
    pub(super) fn new(id: Option<Id>, code: i32, message: &'static str) -> Self {
        Self { id, code, message }
    }
}

/// A request's id: the source text of a string or number, so that it goes back exactly as it came.
#[derive(Clone, Debug)]
pub(super) struct Id(Box<str>);

impl Id {
    pub(super) fn read(source: &str) -> Option<Self> {
        matches!(source.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9')).then(|| Self(source.into()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Two spellings of one string or number are the same id.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || json::parse(&self.0, 0).is_ok_and(|id| json::parse(&other.0, 0) == Ok(id))
    }
}

/// The members of a JSON object, in order, as source text.
pub(super) struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of an object's text; `None` if it is not an object.
    pub(super) fn read(source: &'a str) -> Option<Self> {
        serde_json::from_str(source).ok()
    }

    /// The last member of that name, in any spelling.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| is_name(key, name)).map(|(_, value)| value.get())
    }

    /// The object's text with one member of that name, of this value.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        let kept = self.0.iter().filter(|(key, _)| !is_name(key, name)).map(|(key, value)| format!("{key}:{value}"));
        let members: Vec<_> = kept.chain([format!("\"{name}\":{value}")]).collect();
        format!("{{{}}}", members.join(","))
    }
}

fn is_name(key: &RawValue, name: &str) -> bool {
    json::parse(key.get(), 0).is_ok_and(|key| key.as_text() == Some(&Text::from(name)))
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// Reads a line; `None` for a blank one.
pub(super) fn read(line: &[u8]) -> Result<Option<Message<'_>>, Fault> {
    let unreadable = || Fault::new(None, code::PARSE_ERROR, "The line is not JSON in UTF-8.");
    let line = std::str::from_utf8(line).map_err(|_| unreadable())?.trim_matches([' ', '\t', '\r', '\n']);
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_str::<&RawValue>(line).map_err(|_| unreadable())?;
    let members = Members::read(line).ok_or(Fault::new(None, code::INVALID_REQUEST, "A line is one JSON-RPC message; batches are not taken."))?;
    let id = members.get("id");
    let method = members.get("method").map(|method| json::parse(method, 0).ok()?.as_str().map(str::to_owned));
    if method.is_none() && (members.get("result").is_some() || members.get("error").is_some()) {
        return Ok(Some(Message::Answer));
    }
    let read_id = id.and_then(Id::read);
    let invalid = |message| Fault::new(read_id.clone(), code::INVALID_REQUEST, message);
    let version = members.get("jsonrpc").and_then(|version| json::parse(version, 0).ok());
    if version.as_ref().and_then(lcp::Value::as_str) != Some("2.0") {
        return Err(invalid("The message does not name JSON-RPC 2.0."));
    }
    let method = method.flatten().ok_or_else(|| invalid("The message names no method."))?;
    if id.is_some() && read_id.is_none() {
        return Err(invalid("A request's id is a string or a number."));
    }
    let params = match members.get("params") {
        None | Some("null") => "{}",
        Some(params) if params.starts_with('{') => params,
        Some(_) if id.is_some() => return Err(Fault::new(read_id, code::INVALID_PARAMS, "The parameters are not an object.")),
        // A notification is not answered, whatever it holds.
        Some(_) => "{}",
    };
    Ok(Some(match read_id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    }))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn request(line: &str) -> (String, String, String) {
        match read(line.as_bytes()) {
            Ok(Some(Message::Request { id, method, params })) => (id.to_string(), method, params.to_owned()),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn fault(line: &str) -> (Option<String>, i32) {
        let fault = read(line.as_bytes()).expect_err(line);
        (fault.id.map(|id| id.to_string()), fault.code)
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in prop_oneof![vec(any::<u8>(), 0..64), r#"[\[{]?("(jsonrpc|id|method|params)":("2\.0"|7|"x"|\{\}|null|\[\]),?){0,6}[\]}]?"#.prop_map(String::into_bytes)]) {
            let (Ok(Some(Message::Request { id, .. })) | Err(Fault { id: Some(id), .. })) = read(&line) else { return Ok(()) };
            prop_assert!(json::parse(&id.to_string(), 0).is_ok());
        }
    }

    #[test]
    fn what_a_request_carries_is_not_read() {
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        let params = format!(r#"{{"x":"\ud800","x":1e400,"y":{deep}}}"#);
        let line = format!(r#" {{"params":{params},"id":9007199254740993,"\u006dethod":"tools/call","jsonrpc":"2.0"}}"#) + "\r";
        assert_eq!(request(&line), ("9007199254740993".into(), "tools/call".into(), params));
        assert_eq!(request(r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping","params":null}"#), (r#""\ud800""#.into(), "ping".into(), "{}".into()));
    }

    #[test]
    fn a_line_that_is_no_message_gets_its_error() {
        for line in ["x", "{", "{\"id\":1}x", "\u{FEFF}{}", "\"\u{1}\""] {
            assert_eq!(fault(line), (None, -32700), "{line}");
        }
        assert_eq!(read(b"{\"id\":1,\"a\":\"\xff\"}").map_err(|fault| fault.code), Err(-32700));
        for line in ["[]", "1", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "{}", r#"{"jsonrpc":"2.0","method":5}"#, r#"{"jsonrpc":"2.0"}"#] {
            assert_eq!(fault(line), (None, -32600), "{line}");
        }
        for line in [
            r#"{"id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":null}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
        ] {
            assert_eq!(fault(line), (Some("7".into()), -32600), "{line}");
        }
        for id in ["null", "true", "[1]", "{}"] {
            assert_eq!(fault(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), (None, -32600), "{id}");
        }
        assert_eq!(fault(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#), (Some("7".into()), -32602));
    }

    #[test]
    fn nothing_else_is_answered() {
        assert_eq!(read(b" \t\r"), Ok(None));
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Some(Message::Answer)));
        let notification = Message::Notification { method: "a".into(), params: "{}" };
        assert_eq!(read(br#"{"jsonrpc":"2.0","method":"a","params":7}"#), Ok(Some(notification)));
    }

    #[test]
    fn ids_are_compared_by_value() {
        let id = |source: &str| Id::read(source).unwrap();
        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_eq!(id("1"), id("1.0"));
        assert_ne!(id("1"), id(r#""1""#));
    }

    #[test]
    fn members_are_rewritten_by_name() {
        let members = Members::read(r#"{ "a" : 1, "\u0062":[2 ], "b":"\ud800" }"#).unwrap();
        assert_eq!(members.get("b"), Some(r#""\ud800""#));
        assert_eq!(members.with("b", "{}"), r#"{"a":1,"b":{}}"#);
        assert!(Members::read("[]").is_none());
    }
}
