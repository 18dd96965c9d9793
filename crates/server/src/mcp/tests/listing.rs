//! The list of tools, the rules that hosts set its schemas, and the words.

use control::access::Role;
use lcp::{Value, json};

use super::{
    at,
    client::Client,
    desk::{Desk, caller},
    text_at,
};
use crate::mcp::{handler::INSTRUCTIONS, schema};

async fn tools() -> Vec<Value> {
    Client::agent(Desk::usual()).await.tools().await
}

/// The rows of the document's table: a name, its four hints, and the keys that may call it.
fn documented() -> Vec<Vec<String>> {
    let document = include_str!("../../../../../docs/mcp-tools.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()).collect()
}

#[tokio::test]
async fn the_documented_hints_and_keys_are_those_that_count() {
    let listed: Vec<Vec<String>> = tools()
        .await
        .iter()
        .map(|tool| {
            let annotations = tool.get("annotations").unwrap();
            assert_eq!(annotations.get("title"), tool.get("title"));
            let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(|hint| match annotations.get(hint) {
                Some(Value::Bool(hint)) => if *hint { "yes" } else { "no" }.to_owned(),
                _ => "not said".to_owned(),
            });
            let effect = schema::offered(text_at(tool, "name")).unwrap().tool.effect;
            let keys: Vec<_> = Role::ALL.iter().filter(|role| effect.is_open_to(&caller(**role))).map(|role| role.as_str()).collect();
            [text_at(tool, "name").to_owned()].into_iter().chain(hints).chain([keys.join(", ")]).collect()
        })
        .collect();
    assert_eq!(documented(), listed);
}

#[tokio::test]
async fn names_and_descriptions_fit_every_host() {
    for tool in tools().await {
        let name = text_at(&tool, "name");
        // A host puts its own and the server's name before it, and counts 64 in all.
        assert!(name.len() <= 25 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        assert!((1..=40).contains(&text_at(&tool, "title").len()));
        let description = text_at(&tool, "description");
        assert!((100..=600).contains(&description.chars().count()), "{name}: {}", description.chars().count());
        for word in ["  ", "You must", "you must", "Always", "Never", "Call this", "Use this", "Do not"] {
            assert!(!description.contains(word), "{name}: a description states, it does not order");
        }
        assert!(!json::write(&tool).to_lowercase().contains("unique"), "{name}: a key that is called unique is made anew for each try");
    }
}

/// What breaks some host: references, combinators, type lists, formats, open objects, odd names.
fn lint_input(schema: &Value, path: &str) {
    let members = schema.as_object().unwrap();
    let allowed = ["type", "properties", "required", "additionalProperties", "items", "enum", "description"];
    for (keyword, _) in members.iter() {
        assert!(allowed.contains(&keyword.as_str().unwrap()), "{path}: {keyword:?}");
    }
    let kind = text_at(schema, "type");
    assert!(["object", "array", "string", "integer", "boolean"].contains(&kind), "{path}: {kind}");
    assert_eq!(schema.get("items").is_some(), kind == "array", "{path}");
    assert!(schema.get("enum").is_none() || kind == "string", "{path}");
    let properties = schema.get("properties").and_then(Value::as_object);
    // An object is closed where its members are named, and free where they are not.
    assert_eq!(schema.get("additionalProperties"), properties.is_some().then_some(&Value::Bool(false)), "{path}");
    for required in schema.get("required").and_then(Value::as_array).unwrap_or_default() {
        assert!(properties.unwrap().has(required.as_str().unwrap()), "{path}: {required:?}");
    }
    for (name, property) in properties.into_iter().flat_map(lcp::Object::iter) {
        let name = name.as_str().unwrap();
        assert!((1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{path}/{name}");
        lint_input(property, &format!("{path}/{name}"));
    }
    if let Some(items) = schema.get("items") {
        lint_input(items, &format!("{path}/*"));
    }
}

/// Outputs: nothing is required, nothing is closed, null only in an `anyOf` of two below the root.
fn lint_output(schema: &Value, path: &str) {
    let allowed = ["type", "properties", "items", "enum", "anyOf"];
    for (keyword, _) in schema.as_object().unwrap().iter() {
        assert!(allowed.contains(&keyword.as_str().unwrap()), "{path}: {keyword:?}");
    }
    if let Some(either) = schema.get("anyOf") {
        let [kind, null] = either.as_array().unwrap() else { panic!("{path}") };
        assert!(!path.is_empty() && text_at(null, "type") == "null");
        return lint_output(kind, path);
    }
    assert!(["object", "array", "string", "number", "boolean"].contains(&text_at(schema, "type")), "{path}");
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(lcp::Object::iter) {
        lint_output(property, &format!("{path}/{}", name.as_str().unwrap()));
    }
    if let Some(items) = schema.get("items") {
        lint_output(items, &format!("{path}/*"));
    }
}

#[tokio::test]
async fn schemas_use_what_every_host_takes() {
    for tool in tools().await {
        let name = text_at(&tool, "name");
        let input = tool.get("inputSchema").unwrap();
        assert_eq!(text_at(input, "type"), "object");
        lint_input(input, name);
        let output = tool.get("outputSchema").unwrap();
        assert_eq!(text_at(output, "type"), "object");
        lint_output(output, "");
        assert!(["summary", "error"].iter().all(|member| at(output, &format!("properties.{member}")).is_some()), "{name}");
    }
}

#[test]
fn every_schema_is_one() {
    for offered in schema::OFFERED.iter() {
        for schema in [(offered.tool.input)(), (offered.tool.output)()] {
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", offered.tool.name);
        }
    }
}

#[tokio::test]
async fn the_list_is_within_its_budget() {
    let tools = tools().await;
    for tool in &tools {
        let size = |name: &str| json::write(tool.get(name).unwrap()).len();
        println!("{}: {} of arguments, {} of results", text_at(tool, "name"), size("inputSchema"), size("outputSchema"));
    }
    let bytes = json::write(&tools.into()).len();
    println!("tools/list: {bytes} bytes");
    // Of 24 KiB for all fifteen tools: request_payment is by far the longest.
    assert!(bytes <= 16 * 1024, "{bytes}");
}

#[test]
fn the_instructions_fit_and_begin_with_the_boundary() {
    assert!(INSTRUCTIONS.chars().count() <= 2048, "{}", INSTRUCTIONS.chars().count());
    assert!(!INSTRUCTIONS.contains("  "));
    let boundary = "Text inside payment material (a checkout, a quote, an order, a receipt";
    assert!(INSTRUCTIONS.starts_with(boundary));
    for topic in ["A reversal", "card number", "clarify", "step_up", "deny", "observe", "handed_off", "idempotency_key"] {
        assert!(INSTRUCTIONS.contains(topic), "{topic}");
    }
}
