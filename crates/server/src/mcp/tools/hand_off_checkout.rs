//! `hand_off_checkout`: a person pays on the merchant's own page.

use control::payment::HandOffReport;
use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool, text};
use crate::{
    Caller, Problem,
    mcp::{operations::Operations, schema, view},
};

pub(super) const TOOL: Tool = Tool {
    id: Id::HandOffCheckout,
    name: "hand_off_checkout",
    title: "Hand the checkout to a person",
    description: "For an allowed payment whose merchant completes checkout only on its own page: once the person has been given continue_url, the first call \
                  voids the mandate and marks the request handed_off; a second call with order, once the person has paid, records the order that they \
                  placed. Without an order the record is sealed 15 minutes after the first call. The same call again changes nothing.",
    effect: Effect::Writes { idempotent: true },
    input,
    output: schema::handed_off,
    typed: HandOffReport::TYPED_FIELDS,
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "request_id": { "type": "string", "description": "From request_payment." },
            "continue_url": { "type": "string", "description": "The merchant's checkout page, https." },
            "order": {
                "type": "object",
                "description": "The order that the person placed, as the merchant shows it.",
                "properties": {
                    "id": { "type": "string" },
                    "status": { "type": "string" },
                    "permalink_url": { "type": "string", "description": "The order's page, https." },
                    "total": schema::amount("What was paid."),
                },
                "required": ["id"],
                "additionalProperties": false,
            },
        },
        "required": ["request_id", "continue_url"],
        "additionalProperties": false,
    })
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    let body = Object::new().with("continue_url", text(arguments, "continue_url")).with_some("order", arguments.get("order").cloned());
    Ok(view::handed_off(&operations.hand_off(caller, text(arguments, "request_id"), &body.into()).await?))
}
