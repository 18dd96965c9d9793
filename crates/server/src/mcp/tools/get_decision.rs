//! `get_decision`: a payment request as it stands.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool, text};
use crate::{
    Caller, Problem,
    mcp::{arguments, operations::Operations, schema, view},
    service::MAX_WAIT,
};

pub(super) const TOOL: Tool = Tool {
    id: Id::GetDecision,
    name: "get_decision",
    title: "Read a decision",
    description: "Returns a payment request as it stands: after a step_up, to learn whether the person approved (then the mandate and the credential are in \
                  the result), declined, or let it expire; and to find a purchase again after a lost answer. With wait, the answer comes as soon as the \
                  person has decided, or after that many seconds at most; state awaiting_approval says that they have not.",
    effect: Effect::Reads,
    input,
    output: schema::payment_outline,
    typed: &[],
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "request_id": { "type": "string", "description": "From request_payment." },
            "wait": { "type": "integer", "description": "Seconds to wait for the person, 0 to 25; none without it." },
        },
        "required": ["request_id"],
        "additionalProperties": false,
    })
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    let wait = match arguments.get("wait") {
        None => 0,
        Some(wait) => wait
            .as_safe_unsigned()
            .and_then(|wait| u32::try_from(wait).ok())
            .filter(|wait| *wait <= MAX_WAIT)
            .ok_or_else(|| arguments::invalid("/wait", "maximum", format!("Argument /wait is 0 to {MAX_WAIT} whole seconds.")))?,
    };
    Ok(view::payment(&operations.payment_request(caller, text(arguments, "request_id"), wait).await?))
}
