//! `verify_record`: the verifier's report.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool, text};
use crate::{
    Caller, Problem,
    mcp::{arguments, operations::Operations, schema},
};

pub(super) const TOOL: Tool = Tool {
    id: Id::VerifyRecord,
    name: "verify_record",
    title: "Verify a record",
    description: "Runs the verifier on a record, named by record_id or given whole as bundle, and returns the report: each check as PASS, FAIL or SKIP with \
                  its reason, and a verdict. For showing that a record the agent holds is genuine and unchanged, or which check it fails. Exactly one of the \
                  two arguments is given. An open record has nothing to verify yet.",
    effect: Effect::Reads,
    input,
    output,
    typed: &[],
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "record_id": { "type": "string", "description": "A record of this organization." },
            "bundle": { "type": "object", "description": "A bundle, as get_record returned it." },
        },
        "additionalProperties": false,
    })
}

fn output() -> serde_json::Value {
    let check = json!({
        "type": "object",
        "properties": { "name": schema::text(), "result": { "type": "string", "enum": ["PASS", "FAIL", "SKIP"] }, "detail": schema::text() },
    });
    schema::result(json!({
        "record_id": schema::nullable(&schema::text()),
        "verdict": schema::text(),
        "checks": { "type": "array", "items": check },
    }))
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    match (arguments.get("record_id"), arguments.get("bundle")) {
        (Some(_), None) => operations.verify_record(caller, text(arguments, "record_id")).await,
        (None, Some(bundle)) => operations.verify_bundle(caller, bundle).await,
        _ => Err(arguments::invalid("", "oneOf", "The arguments are either record_id or bundle.")),
    }
}
