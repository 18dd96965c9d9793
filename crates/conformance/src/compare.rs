//! Compares a recorded answer with ours, as JSON values: members in any order, numbers as doubles.

use lcp::{Object, Text, Value, encoding, json};

use crate::row::{self, Row};

/// The first difference between a row's expectation and what was answered and done, if there is one.
///
/// A call that a schema refuses does nothing outside, whatever the package did.
pub fn difference(row: &Row, answer: &Value, effects: &Value, through_mcp: bool) -> Option<String> {
    if through_mcp && row.get("schema_refused").is_some() {
        let none = Object::new().into();
        return (Rule { row }).differs(row.expect(), answer, "").or_else(|| (Rule { row }).differs(&none, effects, "/effects"));
    }
    let expect = row.expect();
    let detail = |value: &Value| value.get("decline").and_then(|decline| decline.get("detail")).cloned();
    let rule = Rule { row };
    if let (Some(expected), Some(found)) = (detail(expect), detail(answer)) {
        if row.detail_is_exact() && expected != found {
            return Some(format!("/decline/detail: expected {expected:?}, found {found:?}"));
        }
        return rule.differs(&without_detail(expect), &without_detail(answer), "").or_else(|| effects_differ(&rule, row, effects));
    }
    rule.differs(expect, answer, "").or_else(|| effects_differ(&rule, row, effects))
}

fn effects_differ(rule: &Rule<'_>, row: &Row, effects: &Value) -> Option<String> {
    let none = Object::new().into();
    rule.differs(row.get("effects").unwrap_or(&none), effects, "/effects")
}

fn without_detail(value: &Value) -> Value {
    let (Some(whole), Some(decline)) = (value.as_object(), value.get("decline").and_then(Value::as_object)) else { return value.clone() };
    whole.clone().with("decline", decline.without("detail")).into()
}

struct Rule<'a> {
    row: &'a Row,
}

impl Rule<'_> {
    fn differs(&self, expected: &Value, found: &Value, path: &str) -> Option<String> {
        if stands_for(expected, found) || self.is_left_out(path) {
            return None;
        }
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => self.members_differ(expected, found, path),
            (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
                .iter()
                .zip(found.iter())
                .enumerate()
                .find_map(|(index, (expected, found))| self.differs(expected, found, &format!("{path}/{index}"))),
            (Value::String(expected), Value::String(found)) if path.ends_with("/payment_signature") => {
                let payment = |text: &Text| json::parse_bytes(&encoding::from_base64(text.as_str()?)?, 512).ok();
                match (payment(expected), payment(found)) {
                    (Some(expected), Some(found)) => self.differs(&expected, &found, &format!("{path}/payment")),
                    _ => Some(format!("{path}: not a payment")),
                }
            }
            _ if expected == found => None,
            _ => Some(format!("{path}: expected {}, found {}", short(expected), short(found))),
        }
    }

    fn members_differ(&self, expected: &Object, found: &Object, path: &str) -> Option<String> {
        let below = |name: &Text| format!("{path}/{}", name.as_str().unwrap_or("?"));
        let absent = expected
            .iter()
            .find(|(name, _)| member(found, name).is_none())
            .map(|(name, value)| format!("{}: expected {}, found nothing", below(name), short(value)));
        let extra = || {
            found
                .iter()
                .find(|(name, _)| member(expected, name).is_none())
                .map(|(name, value)| format!("{}: expected nothing, found {}", below(name), short(value)))
        };
        let unequal = || expected.iter().find_map(|(name, value)| self.differs(value, member(found, name)?, &below(name)));
        absent.or_else(extra).or_else(unequal)
    }

    fn is_left_out(&self, path: &str) -> bool {
        (path == "/atr/utf8" && self.row.has_flag("utf8-bom")) || (path.ends_with("/atrHash") && self.row.has_flag("receipt-case"))
    }
}

/// Where a row writes `{repeat, count}` for a whole ATR, or for its base64.
fn stands_for(expected: &Value, found: &Value) -> bool {
    let Some((byte, count)) = row::repeated(expected) else { return false };
    let base64 = found.get("base64").unwrap_or(found);
    base64.as_str().and_then(encoding::from_base64).is_some_and(|bytes| bytes.len() == count && bytes.iter().all(|&held| held == byte))
}

fn member<'a>(object: &'a Object, name: &Text) -> Option<&'a Value> {
    object.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn short(value: &Value) -> String {
    let text = json::write(value);
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
