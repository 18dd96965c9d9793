//! The JSON schema of a tool's arguments, in the keywords that every host takes: `type`, `properties`, `required`,
//! `enum`, `description`, and a closed root.

use lcp::registry::PAIRINGS;
use serde_json::{Map, Value};

use crate::arguments::{Argument, Kind};

/// The schema of a table. It says all that the check says but for the form of base64.
pub(crate) fn of_arguments(table: &[Argument]) -> Map<String, Value> {
    let mut schema = of_members(table);
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn of_members(members: &[Argument]) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".to_owned(), "object".into())]);
    if !members.is_empty() {
        let properties: Map<_, _> = members.iter().map(|member| (member.name.to_owned(), of_member(member).into())).collect();
        schema.insert("properties".to_owned(), properties.into());
    }
    let required: Vec<_> = members.iter().filter(|member| member.required).map(|member| member.name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn of_member(member: &Argument) -> Map<String, Value> {
    let typed = |name: &str| Map::from_iter([("type".to_owned(), Value::from(name))]);
    let mut schema = match member.kind {
        Kind::Json => Map::new(),
        Kind::Text | Kind::Base64 => typed("string"),
        Kind::Pairing => {
            let mut schema = typed("string");
            schema.insert("enum".to_owned(), PAIRINGS.iter().map(|entry| entry.id).collect::<Vec<_>>().into());
            schema
        }
        Kind::Object(members) => of_members(members),
    };
    schema.insert("description".to_owned(), member.description.into());
    schema
}
