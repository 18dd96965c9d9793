//! `list_mandates`: mandates and their states.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool};
use crate::{
    Caller, Problem,
    mcp::{operations::Operations, schema, view},
    service::Query,
};

pub(super) const TOOL: Tool = Tool {
    id: Id::ListMandates,
    name: "list_mandates",
    title: "List mandates",
    description: "Lists this agent's mandates, newest first, with their states: issued (may still be used), consumed, expired or void. For seeing what may \
                  still be spent, or what became of a payment. Signatures and credentials are not in the list; get_decision returns those of a request. \
                  next_cursor, where it is not null, gives the next page.",
    effect: Effect::Reads,
    input,
    output,
    typed: &[],
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "state": { "type": "string", "enum": ["issued", "consumed", "expired", "void"], "description": "Only mandates in this state." },
            "cursor": { "type": "string", "description": "next_cursor of the page before." },
            "limit": { "type": "integer", "description": "Most mandates on the page." },
        },
        "additionalProperties": false,
    })
}

fn output() -> serde_json::Value {
    let mandate = json!({
        "type": "object",
        "properties": {
            "id": schema::text(), "request_id": schema::text(), "state": schema::text(), "payee": schema::text(), "amount": schema::text(),
            "currency": schema::text(), "issued_at": schema::text(), "expires_at": schema::text(), "consumed_at": schema::nullable(&schema::text()),
        },
    });
    schema::result(json!({
        "mandates": { "type": "array", "items": mandate },
        "next_cursor": schema::nullable(&schema::text()),
    }))
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    let member = |name: &str| {
        let value = arguments.get(name)?;
        // A whole number is written as one: the schema takes no other.
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_safe_integer().map(|number| number.to_string()))?;
        Some((name.to_owned(), text))
    };
    let query: Query = ["state", "cursor", "limit"].into_iter().filter_map(member).collect();
    Ok(view::mandates(&operations.mandates(caller, &query).await?))
}
