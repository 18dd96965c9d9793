//! One JSON-RPC message, judged before the MCP crate sees it: the crate passes over what it cannot read.

use rmcp::model::{ClientRequest, RequestId};
use serde_json::{Map, Value, json};

/// JSON-RPC's error codes.
pub(super) mod code {
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL_ERROR: i32 = -32603;
}

/// The methods that this server serves: to one of them in another form, the answer is not that it is unknown.
const SERVED: [&str; 5] = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];

/// What a message is.
#[derive(Debug)]
pub(super) enum Message {
    /// Asks for an answer under its id.
    Request(RequestId, Box<ClientRequest>),
    /// Asks that the request of that id be given up.
    Cancel(RequestId),
    /// Asks for nothing that this server does.
    Other,
}

/// A message that is none, answered with this error.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The id, where one was read.
    pub(super) id: Option<RequestId>,
    pub(super) code: i32,
    pub(super) message: &'static str,
}

impl Fault {
    pub(super) fn new(id: Option<RequestId>, code: i32, message: &'static str) -> Self {
        Self { id, code, message }
    }

    /// The error's JSON text.
    pub(super) fn to_text(&self) -> String {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code, "message": self.message } }).to_string()
    }
}

/// Reads a message.
pub(super) fn read(text: &[u8]) -> Result<Message, Fault> {
    let value =
        serde_json::from_slice(text).map_err(|_| Fault::new(None, code::PARSE_ERROR, "The message is not JSON in UTF-8, or nests too deep."))?;
    // Of two amounts, a host may show the person the one that would not count.
    if lcp::json::parse_bytes_unique(text, lcp::json::MAX_DEPTH).is_err_and(|error| error.is_repeated()) {
        return Err(Fault::new(None, code::INVALID_REQUEST, "A member is there twice; it is not told which of the two was meant."));
    }
    let Value::Object(mut members) = value else {
        return Err(Fault::new(None, code::INVALID_REQUEST, "A message is one JSON-RPC object; batches are not taken."));
    };
    let method = members.get("method").cloned();
    if method.is_none() && (members.contains_key("result") || members.contains_key("error")) {
        return Ok(Message::Other);
    }
    let given_id = members.get("id").is_some();
    let id = members.get("id").and_then(id_of);
    let invalid = |message| Fault::new(id.clone(), code::INVALID_REQUEST, message);
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("The message does not name JSON-RPC 2.0."));
    }
    let Some(Value::String(method)) = method else { return Err(invalid("The message names no method.")) };
    let params = match members.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) if given_id => return Err(Fault::new(id, code::INVALID_PARAMS, "The parameters are not an object.")),
        // A notification is not answered, whatever it holds.
        Some(_) => Map::new(),
    };
    if !given_id {
        let cancelled = (method == "notifications/cancelled").then(|| params.get("requestId").and_then(id_of)).flatten();
        return Ok(cancelled.map_or(Message::Other, Message::Cancel));
    }
    let Some(id) = id else { return Err(invalid("A request's id is a string or a whole number.")) };
    // A revision whose requests carry its version has no handshake.
    let is_modern = params.get("_meta").is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some());
    let is_served = SERVED.contains(&method.as_str()) && !(is_modern && method == "initialize");
    let request: Result<ClientRequest, _> = serde_json::from_value(json!({ "method": method, "params": params }));
    match request {
        Err(_) => Err(Fault::new(Some(id), code::INVALID_REQUEST, "The request cannot be read.")),
        Ok(ClientRequest::CustomRequest(_)) if is_served => {
            Err(Fault::new(Some(id), code::INVALID_PARAMS, "The parameters are not those of the method."))
        }
        Ok(request) => Ok(Message::Request(id, Box::new(request))),
    }
}

fn id_of(value: &Value) -> Option<RequestId> {
    match value {
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_a_fault_that_is_json(bytes in prop_oneof![
            vec(any::<u8>(), 0..64),
            r#"[\[{]?("(jsonrpc|id|method|params)":("2\.0"|7|"x"|"ping"|"tools/call"|\{\}|null|\[\]),?){0,6}[\]}]?"#.prop_map(String::into_bytes),
        ]) {
            match read(&bytes) {
                Ok(Message::Request(..)) => prop_assert!(serde_json::from_slice::<Value>(&bytes).unwrap().get("id").is_some()),
                Ok(_) => {}
                Err(fault) => {
                    let text: Value = serde_json::from_str(&fault.to_text()).unwrap();
                    prop_assert_eq!(text["error"]["code"].as_i64(), Some(fault.code.into()));
                }
            }
        }
    }

    #[test]
    fn what_a_message_is() {
        let request = |text: &str| matches!(read(text.as_bytes()), Ok(Message::Request(..)));
        assert!(request(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#));
        assert!(request(r#"{"jsonrpc":"2.0","id":"a","method":"unheard/of","params":{"x":1}}"#));
        let cancel = read(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#);
        assert!(matches!(cancel, Ok(Message::Cancel(RequestId::String(id))) if &*id == "a"));
        for other in [
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(matches!(read(other.as_bytes()), Ok(Message::Other)), "{other}");
        }
        let twice = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"amount":{"value":"1","value":"9"}}}}"#;
        assert_eq!(read(twice).unwrap_err().code, code::INVALID_REQUEST);
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{}{}}}}}"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(read(deep.as_bytes()).unwrap_err().code, code::PARSE_ERROR);
    }
}
