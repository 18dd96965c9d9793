//! `answer_clarification`: the person's answers to a `clarify` decision.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool, text};
use crate::{
    Caller, Problem,
    mcp::{operations::Operations, schema, view},
};

pub(super) const TOOL: Tool = Tool {
    id: Id::AnswerClarification,
    name: "answer_clarification",
    title: "Send the person's answers",
    description: "For a payment request whose decision is clarify, once the person has answered decision.questions: sends the answers, which are what the \
                  person said and nothing else, and returns the request, decided again under the current policy. Questions that are left out stay open; a \
                  question comes back when its answer could not be read.",
    effect: Effect::Writes { idempotent: false },
    input,
    output: schema::payment_outline,
    typed: &[],
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "request_id": { "type": "string", "description": "From request_payment." },
            "answers": {
                "type": "array",
                "description": "One for each question answered.",
                "items": {
                    "type": "object",
                    "properties": {
                        "question_id": { "type": "string", "description": "id of the question in decision.questions." },
                        "answer": { "type": "string", "description": "What the person said." },
                    },
                    "required": ["question_id", "answer"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["request_id", "answers"],
        "additionalProperties": false,
    })
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    let body = Object::new().with_some("answers", arguments.get("answers").cloned()).with("answered_by", "user");
    Ok(view::payment(&operations.answer_clarification(caller, text(arguments, "request_id"), &body.into()).await?))
}
