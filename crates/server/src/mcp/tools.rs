//! The tools. Each file says all of one: its name and words, its schemas, its effect, and what it asks of the service.

mod answer_clarification;
mod get_decision;
mod get_record;
mod hand_off_checkout;
mod list_mandates;
mod request_payment;
mod verify_record;

use control::access::{Action, Role};
use lcp::{Object, Value};
use rmcp::model::ToolAnnotations;

use super::operations::Operations;
use crate::{Caller, Problem};

/// A tool.
pub(super) struct Tool {
    pub(super) id: Id,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What it is for and when it is called.
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    /// The schema of its arguments.
    pub(super) input: fn() -> serde_json::Value,
    /// The schema of its results, which admits an error too.
    pub(super) output: fn() -> serde_json::Value,
    /// The arguments that hold amounts or dates: there the card-number guard spares bare digits.
    pub(super) typed: &'static [&'static str],
}

/// Which tool.
#[derive(Clone, Copy)]
pub(super) enum Id {
    RequestPayment,
    GetDecision,
    HandOffCheckout,
    ListMandates,
    GetRecord,
    VerifyRecord,
    AnswerClarification,
}

/// What a tool does. No tool here destroys anything or reaches beyond this server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Reads,
    /// It changes what the service holds.
    Writes {
        /// Whether the same call again changes nothing more.
        idempotent: bool,
    },
}

/// All tools, in the order in which they are listed.
pub(super) static TOOLS: [&Tool; 7] = [
    &request_payment::TOOL,
    &get_decision::TOOL,
    &hand_off_checkout::TOOL,
    &list_mandates::TOOL,
    &get_record::TOOL,
    &verify_record::TOOL,
    &answer_clarification::TOOL,
];

impl Effect {
    /// The hints of the protocol, each of them said: one that is not would be taken at its worst.
    pub(super) fn annotations(self, title: &str) -> ToolAnnotations {
        let (read_only, idempotent) = match self {
            Self::Reads => (true, true),
            Self::Writes { idempotent } => (false, idempotent),
        };
        ToolAnnotations::with_title(title).read_only(read_only).destructive(false).idempotent(idempotent).open_world(false)
    }

    /// Whether the caller's key may do this. Here agents alone write, and for themselves: no argument names an agent.
    pub(super) fn is_open_to(self, caller: &Caller) -> bool {
        match self {
            Self::Reads => caller.role.may(Action::ReadOwn) || caller.role.may(Action::ReadAll),
            Self::Writes { .. } => caller.role == Role::Agent && caller.agent.is_some(),
        }
    }
}

impl Id {
    /// Runs the tool on arguments that fit its schema.
    pub(super) async fn call(self, operations: &impl Operations, caller: &Caller, arguments: &Value) -> Result<Object, Problem> {
        match self {
            Self::RequestPayment => request_payment::call(operations, caller, arguments).await,
            Self::GetDecision => get_decision::call(operations, caller, arguments).await,
            Self::HandOffCheckout => hand_off_checkout::call(operations, caller, arguments).await,
            Self::ListMandates => list_mandates::call(operations, caller, arguments).await,
            Self::GetRecord => get_record::call(operations, caller, arguments).await,
            Self::VerifyRecord => verify_record::call(operations, caller, arguments).await,
            Self::AnswerClarification => answer_clarification::call(operations, caller, arguments).await,
        }
    }
}

/// A text argument; the schema says that it is there.
fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}
