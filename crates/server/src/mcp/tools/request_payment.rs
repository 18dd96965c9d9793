//! `request_payment`: asks to pay.

use lcp::{Object, Value};
use serde_json::json;

use super::{Effect, Id, Tool};
use crate::{
    Caller, Problem,
    mcp::{operations::Operations, schema, view},
};

pub(super) const TOOL: Tool = Tool {
    id: Id::RequestPayment,
    name: "request_payment",
    title: "Ask to pay",
    description: "Asks to pay, before any checkout is completed. The answer is a decision, which may be deny: on allow, or observe (a policy that only \
                  watches), it holds a mandate and a credential for this payment alone; on step_up, approval.url for the person to decide; on clarify, \
                  questions for the person. idempotency_key is one per purchase: the same purchase tried again after a failure or time-out keeps its key, \
                  and is then answered as before and not paid twice.",
    effect: Effect::Writes { idempotent: false },
    input,
    output: schema::payment,
    typed: control::request::TYPED_FIELDS,
};

fn input() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "payee": {
                "type": "object",
                "description": "Who is paid; at least one of the members.",
                "properties": {
                    "name": { "type": "string" },
                    "domain": { "type": "string", "description": "Such as shop.example, without scheme or path." },
                    "merchant_id": { "type": "string" },
                },
                "additionalProperties": false,
            },
            "amount": schema::amount("The exact total."),
            "purpose": { "type": "string", "description": "What is bought and for whom, in a line of at most 2000 characters." },
            "checkout": {
                "type": "object",
                "description": "The checkout that takes the payment, if there is one.",
                "properties": {
                    "protocol": { "type": "string", "enum": ["ucp", "acp", "x402", "mpp", "card", "bill"] },
                    "reference": { "type": "string", "description": "The checkout's id or URL; for x402 and mpp the https URL of the resource." },
                },
                "required": ["protocol", "reference"],
                "additionalProperties": false,
            },
            "evidence": {
                "type": "array",
                "description": "What the purchase rests on, such as a quote.",
                "items": {
                    "type": "object",
                    "properties": {
                        "type": { "type": "string" },
                        "ref": { "type": "string", "description": "Where it is." },
                        "digest": { "type": "string", "description": "Its SHA-256 in hex." },
                    },
                    "required": ["type", "ref", "digest"],
                    "additionalProperties": false,
                },
            },
            "intent": intent(),
            "catalog_snapshot_hash": { "type": "string", "description": "SHA-256 of the catalogue that the choice was made from." },
            "trace": {
                "type": "object",
                "description": "The agent's own trace of this run.",
                "properties": { "ref": { "type": "string" }, "digest": { "type": "string", "description": "Its SHA-256 in hex." } },
                "required": ["ref", "digest"],
                "additionalProperties": false,
            },
            "complete_checkout": { "type": "boolean", "description": "Whether the server is to complete the checkout itself." },
            "idempotency_key": { "type": "string", "description": "One key per purchase, kept when the same purchase is tried again after a failure or time-out." },
        },
        "required": ["payee", "amount", "purpose"],
        "additionalProperties": false,
    })
}

fn intent() -> serde_json::Value {
    json!({
        "type": "object",
        "description": "What the person wants: their words, and what of it is known.",
        "properties": {
            "text": { "type": "string", "description": "The person's words." },
            "slots": {
                "type": "object",
                "description": "Only what the person said.",
                "properties": {
                    "category": { "type": "string" },
                    "items": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "description": { "type": "string" },
                                "quantity": { "type": "integer" },
                                "unit_max": { "type": "string", "description": "Decimal text." },
                            },
                            "additionalProperties": false,
                        },
                    },
                    "quantity": { "type": "integer" },
                    "max_total": { "type": "string", "description": "Decimal text, such as 50.00." },
                    "currency": { "type": "string", "description": "ISO 4217 code." },
                    "payee": { "type": "string" },
                    "deliver_by": { "type": "string", "description": "A date, such as 2026-12-24." },
                    "substitutions_allowed": { "type": "boolean" },
                    "recurrence": { "type": "string" },
                    "notes": { "type": "string" },
                },
                "additionalProperties": false,
            },
            "intent_text": { "type": "string", "description": "Older form of text." },
            "constraints": { "type": "object", "description": "Older form of slots." },
            "intent_mapping": { "type": "object", "description": "For each constraint of another name, the slot that it fills." },
        },
        "additionalProperties": false,
    })
}

pub(super) async fn call(operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
    Ok(view::payment(&operations.request_payment(caller, arguments).await?))
}
