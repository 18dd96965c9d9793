//! `get_record`: a record, its bundle, and the records chained to it.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool, text};
use crate::{
    Caller, Problem,
    mcp::{operations::Operations, schema},
};

pub(super) const TOOL: Tool = Tool {
    id: Id::GetRecord,
    name: "get_record",
    title: "Read a record",
    description: "Returns the record of a payment or of something linked to one, with its bundle (what a verifier needs to check it without this server) and \
                  the records chained to it. For showing what was asked, decided and done. A record is open until its payment has ended: sealed is then \
                  false, seals_at says when it will be, and there is no bundle yet.",
    effect: Effect::Reads,
    input,
    output,
    typed: &[],
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": { "record_id": { "type": "string", "description": "From request_payment, or a linked record's." } },
        "required": ["record_id"],
        "additionalProperties": false,
    })
}

fn output() -> serde_json::Value {
    schema::result(json!({
        "record_id": schema::text(),
        "sealed": { "type": "boolean" },
        "seals_at": schema::nullable(&schema::text()),
        "record": schema::nullable(&json!({ "type": "object" })),
        "bundle": schema::nullable(&json!({ "type": "object" })),
        "linked": { "type": "array", "items": { "type": "object" } },
    }))
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    operations.record_page(caller, text(arguments, "record_id")).await
}
