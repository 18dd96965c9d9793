//! The `OpenAPI` 3.1 document, built from the table and from `schemas.json`.

use control::access::Role;
use lcp::{Object, Value, json};

use super::{
    route::{Answer, Body, Kind, Parameter, Route},
    table,
};
use crate::{public_url::PublicUrl, service::MAX_IDEMPOTENCY_KEY};

/// The schemas of bodies and answers (JSON Schema 2020-12).
const SCHEMAS: &str = include_str!("schemas.json");

/// The document's text.
pub(super) fn document(public_url: &PublicUrl) -> String {
    let mut paths = Object::new();
    for route in table() {
        let path = route.path.replace("{*", "{");
        let operations = paths.get(&path).and_then(Value::as_object).cloned().unwrap_or_default();
        paths.set(path, operations.with(route.verb.name().to_ascii_lowercase(), operation(route)));
    }
    let bearer = Object::new().with("type", "http").with("scheme", "bearer");
    // That the schemas are JSON is tested; they are part of the binary.
    let schemas = json::parse(SCHEMAS, json::MAX_DEPTH).unwrap_or(Value::Null);
    let components = Object::new()
        .with("schemas", schemas)
        .with("securitySchemes", Object::new().with("key", bearer))
        .with("responses", Object::new().with("Problem", response("A refusal or a fault.", Answer::Json("Problem"))));
    let document = Object::new()
        .with("openapi", "3.1.0")
        .with("info", Object::new().with("title", "Chancery").with("version", env!("CARGO_PKG_VERSION")))
        .with("servers", Value::from([Object::new().with("url", public_url.to_string()).into()]))
        .with("paths", paths)
        .with("components", components);
    json::write(&document.into())
}

fn operation(route: &Route) -> Object {
    let path = route.path_parameters().map(path_parameter);
    let query = route.query.iter().map(query_parameter);
    let key = route.needs_idempotency_key.then(idempotency_key);
    let parameters: Vec<Value> = path.chain(query).chain(key).map(Value::from).collect();
    let roles = route.who.roles();
    let security: Vec<Value> = roles.iter().map(|_| Object::new().with("key", Vec::new()).into()).collect();
    let body = match route.body {
        Body::None => None,
        Body::Optional(shape) => Some((shape, false)),
        Body::Required(shape) => Some((shape, true)),
    };
    let body = body.map(|(shape, is_required)| Object::new().with("required", is_required).with("content", content(Answer::Json(shape.schema))));
    Object::new()
        .with("operationId", route.operation)
        .with("summary", route.summary)
        .with_some("description", roles.as_deref().map(for_roles))
        .with("security", security)
        .with("parameters", parameters)
        .with_some("requestBody", body)
        .with("responses", responses(route))
}

fn for_roles(roles: &[Role]) -> String {
    format!("For keys of these roles: {}.", roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", "))
}

fn responses(route: &Route) -> Object {
    let problem = || Object::new().with("$ref", "#/components/responses/Problem");
    let responses = match route.answer {
        Answer::Json("") => Object::new().with("501", problem()),
        answer => Object::new().with(route.status.to_string(), response("The answer.", answer)),
    };
    responses.with("default", problem())
}

fn response(about: &str, answer: Answer) -> Object {
    let id = Object::new().with("description", "The id of the request.").with("schema", Object::new().with("type", "string"));
    Object::new().with("description", about).with("headers", Object::new().with("x-request-id", id)).with("content", content(answer))
}

fn content(answer: Answer) -> Object {
    let schema = match answer {
        Answer::Json(name) => Object::new().with("$ref", format!("#/components/schemas/{name}")),
        Answer::Text => Object::new().with("type", "string"),
        // Bytes have no schema (OpenAPI 3.1, "Working with Binary Data").
        Answer::Bytes => Object::new(),
    };
    let media_type = answer.media_type().split(';').next().unwrap_or_default();
    Object::new().with(media_type, Object::new().with("schema", schema))
}

fn path_parameter(name: &str) -> Object {
    parameter(name, "path", true, Object::new().with("type", "string"))
}

fn query_parameter(known: &Parameter) -> Object {
    let schema = match known.kind {
        Kind::Text | Kind::Typed => Object::new().with("type", "string"),
        Kind::Whole(least, most) => Object::new().with("type", "integer").with("minimum", least).with("maximum", most),
    };
    parameter(known.name, "query", false, schema).with("description", known.about)
}

fn idempotency_key() -> Object {
    let schema =
        Object::new().with("type", "string").with("minLength", 1u32).with("maxLength", MAX_IDEMPOTENCY_KEY as u64).with("pattern", "^[!-~]+$");
    parameter("Idempotency-Key", "header", true, schema).with("description", "One per payment, the same when repeating it.")
}

fn parameter(name: &str, place: &'static str, is_required: bool, schema: Object) -> Object {
    Object::new().with("name", name).with("in", place).with("required", is_required).with("schema", schema)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn read() -> Value {
        json::parse(&document(&PublicUrl::parse("https://pay.example").unwrap()), json::MAX_DEPTH).unwrap()
    }

    fn texts<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a str>) {
        if let Some(object) = value.as_object() {
            for (member, value) in object.iter() {
                if *member == *name {
                    found.extend(value.as_str());
                }
                texts(value, name, found);
            }
        }
        for item in value.as_array().unwrap_or_default() {
            texts(item, name, found);
        }
    }

    #[test]
    fn every_reference_resolves_and_every_component_is_used() {
        let document = read();
        let mut references = Vec::new();
        texts(&document, "$ref", &mut references);
        for reference in &references {
            let target = reference.strip_prefix("#/").unwrap().split('/').try_fold(&document, |value, step| value.get(step));
            assert!(target.is_some(), "{reference}");
        }
        let used: BTreeSet<_> = references.iter().filter_map(|reference| reference.strip_prefix("#/components/schemas/")).collect();
        let schemas = document.get("components").and_then(|components| components.get("schemas")).and_then(Value::as_object).unwrap();
        let declared: BTreeSet<_> = schemas.iter().filter_map(|(name, _)| name.as_str()).collect();
        assert_eq!(used, declared);
    }

    #[test]
    fn operation_ids_are_unique() {
        let document = read();
        let mut ids = Vec::new();
        texts(document.get("paths").unwrap(), "operationId", &mut ids);
        assert_eq!(ids.len(), table().count());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }

    #[test]
    fn path_parameters_are_those_of_the_path() {
        let document = read();
        for (path, operations) in document.get("paths").and_then(Value::as_object).unwrap().iter() {
            let in_path: BTreeSet<_> = path.as_str().unwrap().split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')).collect();
            for (verb, operation) in operations.as_object().unwrap().iter() {
                let parameters = operation.get("parameters").and_then(Value::as_array).unwrap();
                let is_path = |parameter: &&Value| parameter.get("in").and_then(Value::as_str) == Some("path");
                let declared: BTreeSet<_> =
                    parameters.iter().filter(is_path).filter_map(|parameter| parameter.get("name").and_then(Value::as_str)).collect();
                assert_eq!(declared, in_path, "{verb:?} {path:?}");
            }
        }
    }

    #[test]
    fn every_schema_is_one() {
        let schemas = json::parse(SCHEMAS, json::MAX_DEPTH).unwrap();
        for (name, schema) in schemas.as_object().unwrap().iter() {
            let schema: serde_json::Value = serde_json::from_str(&json::write(schema)).unwrap();
            assert!(jsonschema::draft202012::meta::validate(&schema).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn the_form_is_that_of_openapi() {
        let document = read();
        assert_eq!(document.get("openapi").and_then(Value::as_str), Some("3.1.0"));
        assert_eq!(document.get("servers").and_then(|servers| servers.as_array()?.first()?.get("url")?.as_str()), Some("https://pay.example"));
        for (path, operations) in document.get("paths").and_then(Value::as_object).unwrap().iter() {
            assert!(path.as_str().unwrap().starts_with('/'));
            for (_, operation) in operations.as_object().unwrap().iter() {
                let responses = operation.get("responses").and_then(Value::as_object).unwrap();
                assert!(responses.len() >= 2, "{path:?}");
                for (status, _) in responses.iter() {
                    let status = status.as_str().unwrap();
                    assert!(status == "default" || status.parse::<u16>().is_ok());
                }
            }
        }
    }
}
