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

#[cfg(test)]
mod tests {
    use lcp::{encoding, json};
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::{arguments::Arguments, tools::TOOLS};

    const TEXTS: &[&str] = &["", "x", "/w==", "/x==", "card/visa-tap", "x402/exact/eip155/eip3009", "0x00", "1"];
    const NAMES: &[&str] = &["url", "option", "required", "amount", "paymentResponse", "mac"];

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9i64..9).prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no other", |number| number.is_finite()).prop_map(Value::from),
            select(TEXTS).prop_map(Value::from),
            ".*".prop_map(Value::from),
        ]
    }

    /// A value of any form, where members are often named as the tables name some.
    fn value() -> impl Strategy<Value = Value> {
        scalar().prop_recursive(3, 24, 4, |inner| {
            let members = vec((select(NAMES), inner.clone()), 0..5);
            prop_oneof![
                vec(inner, 0..3).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()),
            ]
        })
    }

    /// A value that fits an argument, so that whole calls often do.
    fn fitting(argument: &'static Argument) -> BoxedStrategy<Value> {
        match argument.kind {
            Kind::Json => value().boxed(),
            Kind::Text => ".*".prop_map(Value::from).boxed(),
            Kind::Base64 => vec(any::<u8>(), 0..9).prop_map(|bytes| encoding::base64(&bytes).into()).boxed(),
            Kind::Pairing => select(PAIRINGS.iter().map(|entry| entry.id).collect::<Vec<_>>()).prop_map(Value::from).boxed(),
            Kind::Object(members) => object(members).boxed(),
        }
    }

    /// An object that fits a table but for, often, something.
    fn object(members: &'static [Argument]) -> impl Strategy<Value = Value> {
        let kept = |argument| {
            let value = prop_oneof![9 => fitting(argument), 1 => value()];
            let absent = if argument.required { 0.05 } else { 0.5 };
            prop::option::weighted(1.0 - absent, value.prop_map(|value| (argument.name.to_owned(), value)))
        };
        let extra = prop::option::weighted(0.05, ("[a-z]{1,5}", value()));
        (members.iter().map(kept).collect::<Vec<_>>(), extra)
            .prop_map(|(members, extra)| members.into_iter().flatten().chain(extra).collect::<Map<_, _>>().into())
    }

    fn call() -> impl Strategy<Value = (usize, Value)> {
        (0..TOOLS.len()).prop_flat_map(|tool| (Just(tool), prop_oneof![9 => object(TOOLS[tool].arguments).boxed(), 1 => value().boxed()]))
    }

    fn validator(tool: usize) -> jsonschema::Validator {
        jsonschema::draft202012::new(&of_arguments(TOOLS[tool].arguments).into()).unwrap()
    }

    /// The one rule that the listed schema does not say.
    fn atr_is_base64(arguments: &Value) -> bool {
        arguments.get("atr").and_then(Value::as_str).is_none_or(|atr| encoding::from_base64(atr).is_some())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_check_is_the_listed_schema((tool, arguments) in call()) {
            let fits_schema = validator(tool).is_valid(&arguments);
            let read = json::parse(&arguments.to_string(), 64).unwrap();
            let fits = Arguments::check(TOOLS[tool].arguments, &read);
            prop_assert_eq!(fits.is_ok(), fits_schema && atr_is_base64(&arguments), "{}: {:?}", TOOLS[tool].name, fits);
        }
    }

    #[test]
    fn every_listed_schema_is_one() {
        for tool in TOOLS {
            assert!(jsonschema::draft202012::meta::is_valid(&of_arguments(tool.arguments).into()), "{}", tool.name);
        }
    }
}
