//! A call's arguments: guarded against card numbers, then held to the schema that is listed.

use control::card_number;
use jsonschema::{ValidationError, error::ValidationErrorKind};
use lcp::{Object, json};
use serde_json::Value;

use super::schema::Offered;
use crate::Problem;

/// The arguments as the tool takes them, or why it does not. No answer repeats what was sent.
///
/// Null counts as absent for every optional member, since some hosts send it for each argument that is not given.
pub(super) fn check(offered: &Offered, mut arguments: Value) -> Result<lcp::Value, Problem> {
    let given = read(&arguments)?;
    if let Some(hit) = card_number::find(&given, offered.tool.typed) {
        let message = "An argument looks like a card number, which no tool takes: leave it out. A payment needs none.";
        return Err(Problem::new(422, "card_number_rejected", message).with_details(Object::new().with("path", hit.pointer.as_str())));
    }
    let dropped = drop_nulls(&mut arguments, &offered.input);
    if let Some(error) = offered.validator.iter_errors(&arguments).next() {
        return Err(refused(&error, &offered.input));
    }
    if dropped == 0 { Ok(given) } else { read(&arguments) }
}

/// An argument that is not of its form: where it stands, the rule it breaks, and a sentence.
pub(super) fn invalid(path: &str, rule: &str, message: impl Into<String>) -> Problem {
    Problem::new(422, "invalid_arguments", message.into()).with_details(Object::new().with("path", path).with("rule", rule))
}

fn read(arguments: &Value) -> Result<lcp::Value, Problem> {
    let too_deep = format!("The arguments nest deeper than {} levels.", json::MAX_DEPTH);
    json::parse(&arguments.to_string(), json::MAX_DEPTH).map_err(|_| invalid("", "maxDepth", too_deep))
}

/// Drops null members that the schema names and does not require, and counts them.
fn drop_nulls(value: &mut Value, schema: &Value) -> usize {
    match (value, schema.get("items"), schema.get("properties").and_then(Value::as_object)) {
        (Value::Array(items), Some(schema), _) => items.iter_mut().map(|item| drop_nulls(item, schema)).sum(),
        (Value::Object(members), _, Some(properties)) => {
            let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let before = members.len();
            members.retain(|name, member| !(member.is_null() && properties.contains_key(name) && !required.iter().any(|known| known == name)));
            let dropped = before - members.len();
            dropped + members.iter_mut().filter_map(|(name, member)| Some(drop_nulls(member, properties.get(name)?))).sum::<usize>()
        }
        _ => 0,
    }
}

/// The refusal for a schema's error: names of the schema's own, and nothing of what was sent.
fn refused(error: &ValidationError<'_>, schema: &Value) -> Problem {
    let path = error.instance_path().as_str();
    let place = if path.is_empty() { "The arguments".to_owned() } else { format!("Argument {path}") };
    let kind = error.kind();
    let at = at(schema, path);
    let sentence = match kind {
        ValidationErrorKind::Required { property } => format!("{place} must have the member {property}."),
        ValidationErrorKind::AdditionalProperties { .. } => {
            let names =
                at.and_then(|schema| schema.get("properties")?.as_object()).map(|members| members.keys().map(String::as_str).collect::<Vec<_>>());
            format!("{place} may only have the members {}.", names.unwrap_or_default().join(", "))
        }
        ValidationErrorKind::Enum { options } => format!("{place} must be one of {options}."),
        ValidationErrorKind::Type { .. } => {
            let name = at.and_then(|schema| schema.get("type")?.as_str()).unwrap_or_default();
            format!("{place} must be of type {name}.")
        }
        kind => format!("{place} must keep the rule {} of the tool's input schema.", kind.keyword()),
    };
    invalid(path, kind.keyword(), sentence)
}

/// The part of a schema for the value at that pointer.
fn at<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').skip(1).try_fold(schema, |schema, step| match schema.get("items") {
        Some(items) => Some(items),
        None => schema.get("properties")?.get(step),
    })
}
