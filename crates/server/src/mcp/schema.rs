//! JSON schemas in the keywords that every host takes, and the tools compiled with theirs.
//!
//! Inputs: an object, closed, each member of one type. Outputs: an object of which nothing is required, so that an error fits
//! too; what may be null says so in an `anyOf` below the root.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
};

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tools::{TOOLS, Tool};

/// A tool with what is made of its schemas once.
pub(super) struct Offered {
    pub(super) tool: &'static Tool,
    /// As it is listed.
    pub(super) listed: rmcp::model::Tool,
    /// The listed schema of its arguments.
    pub(super) input: Value,
    /// What holds arguments to that schema.
    pub(super) validator: jsonschema::Validator,
}

/// The tools as they are offered, in the order in which they are listed.
pub(super) static OFFERED: LazyLock<Vec<Offered>> = LazyLock::new(|| TOOLS.into_iter().map(Offered::of).collect());

/// The tool of that name.
pub(super) fn offered(name: &str) -> Option<&'static Offered> {
    OFFERED.iter().find(|offered| offered.tool.name == name)
}

impl Offered {
    #[expect(clippy::expect_used, reason = "the schemas are constants, and a test compiles them all")]
    fn of(tool: &'static Tool) -> Self {
        let input = (tool.input)();
        let validator = jsonschema::draft202012::new(&input).expect("the schema is a schema");
        let listed = rmcp::model::Tool::new(tool.name, Cow::Borrowed(tool.description), Arc::new(object(input.clone())))
            .with_title(tool.title)
            .with_raw_output_schema(Arc::new(object((tool.output)())))
            .with_annotations(tool.effect.annotations(tool.title));
        Self { tool, listed, input, validator }
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// An amount argument.
pub(super) fn amount(description: &str) -> Value {
    json!({
        "type": "object",
        "description": description,
        "properties": {
            "value": { "type": "string", "description": "Decimal text, such as 48.00." },
            "currency": { "type": "string", "description": "ISO 4217 code, or an asset that the policy names." },
        },
        "required": ["value", "currency"],
        "additionalProperties": false,
    })
}

/// A string in a result.
pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// What may also be null.
pub(super) fn nullable(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

/// A result of these members: a summary goes with each, and an error stands in their place.
pub(super) fn result(members: Value) -> Value {
    let mut properties = object(members);
    properties.insert("summary".to_owned(), text());
    properties.insert("error".to_owned(), json!({ "type": "object", "properties": { "code": text(), "message": text() } }));
    json!({ "type": "object", "properties": properties })
}

/// A payment request.
pub(super) fn payment() -> Value {
    result(payment_members())
}

/// The same with the members of its members left out: whoever lists these tools has the schema of `request_payment` too, and
/// hosts pay for each byte.
pub(super) fn payment_outline() -> Value {
    result(outline())
}

/// The same after a hand-off.
pub(super) fn handed_off() -> Value {
    let mut members = object(outline());
    members.insert("outcome".to_owned(), nullable(&json!({ "type": "object" })));
    result(members.into())
}

fn outline() -> Value {
    let mut members = payment_members();
    for member in members.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        let kind = match member.get_mut("anyOf") {
            Some(either) => either.get_mut(0),
            None => Some(member),
        };
        if let Some(kind) = kind.and_then(Value::as_object_mut) {
            kind.remove("properties");
        }
    }
    members
}

fn payment_members() -> Value {
    let texts = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), text())).collect::<JsonObject>();
    let of = |properties: JsonObject| json!({ "type": "object", "properties": properties });
    let list = |items: Value| json!({ "type": "array", "items": items });
    let decided = |results: &[&str]| {
        JsonObject::from_iter([("result".to_owned(), json!({ "type": "string", "enum": results })), ("reasons".to_owned(), list(text()))])
    };
    let mut decision = decided(&["allow", "step_up", "deny", "observe", "clarify"]);
    let mut check = texts(&["name", "reason", "detail"]);
    check.insert("ok".to_owned(), json!({ "type": "boolean" }));
    decision.insert("checks".to_owned(), list(of(check)));
    decision.insert("retryable".to_owned(), json!({ "type": "boolean" }));
    decision.insert("retry_after".to_owned(), text());
    decision.insert("questions".to_owned(), list(of(texts(&["id", "slot", "question"]))));
    decision.insert("shadow_result".to_owned(), of(decided(&["allow", "step_up", "deny"])));
    let mut mandate = texts(&["id", "state", "amount", "currency", "expires_at", "jws"]);
    mandate.insert("credential".to_owned(), json!({ "type": "object" }));
    let mut handoff = texts(&["continue_url", "handed_off_at", "rail", "reason", "message", "next_step"]);
    handoff.insert("order".to_owned(), nullable(&json!({ "type": "object" })));
    json!({
        "request_id": text(),
        "state": text(),
        "duplicate_of": text(),
        "decision": of(decision),
        "risk": {
            "type": "object",
            "properties": { "action": { "type": "string", "enum": ["authorized", "manual_review", "blocked"] }, "score": { "type": "number" } },
        },
        "mandate": nullable(&of(mandate)),
        "approval": of(texts(&["id", "url", "expires_at"])),
        "order": nullable(&of(texts(&["id", "status", "checkout_id", "completed_at", "permalink_url"]))),
        "completion": of(texts(&["state", "error"])),
        "handoff": nullable(&of(handoff)),
        "settlement": of(texts(&["stage", "finality_class", "finality_at"])),
        "reversals": list(of(texts(&["id", "kind", "amount", "status"]))),
        "record_id": text(),
    })
}
