use super::{MAX_DEPTH, Object, Text, Value};

/// The compact JSON text, as `JSON.stringify` writes it: members in their order, ECMAScript number forms, a lone
/// surrogate as an escape, an infinity as `null`.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Members::AsHeld);
    out
}

/// As [`write()`], with the members of every object sorted as RFC 8785 sorts them: one text for values that differ in the
/// order of members alone. Unlike [`canonical`] it is there for every value.
pub fn write_sorted(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Members::Sorted);
    out
}

/// The RFC 8785 form, or `None` for a value that has none: a lone surrogate, a number that is not finite, or more than
/// [`MAX_DEPTH`] levels.
pub fn canonical(value: &Value) -> Option<String> {
    if !value.nests_within(MAX_DEPTH) || !has_canonical_scalars(value) {
        return None;
    }
    Some(write_sorted(value))
}

/// Whether a value nests at most [`MAX_DEPTH`] levels and is written in at most so many bytes.
pub fn fits(value: &Value, max_bytes: usize) -> bool {
    value.nests_within(MAX_DEPTH) && write(value).len() <= max_bytes
}

/// Whether two values are one: the very same array or object, or equal in RFC 8785 form. A value without that form
/// equals nothing but itself.
pub fn same(a: &Value, b: &Value) -> bool {
    a.is(b) || same_form(a, b, MAX_DEPTH)
}

/// Whether both have a canonical form, and the same one.
#[allow(clippy::float_cmp)] // one double has one text
fn same_form(a: &Value, b: &Value, levels: usize) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.is_finite() && a == b,
        (Value::String(a), Value::String(b)) => a.as_str().is_some() && a == b,
        (Value::Array(a), Value::Array(b)) => levels > 0 && a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_form(a, b, levels - 1)),
        (Value::Object(a), Value::Object(b)) => {
            let same_member = |((a_name, a), (b_name, b)): ((&Text, &Value), (&Text, &Value))| {
                a_name.as_str().is_some() && a_name == b_name && same_form(a, b, levels - 1)
            };
            // Mostly the members stand in the same order; only else are they sorted.
            let same_order = a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b);
            levels > 0
                && a.len() == b.len()
                && if same_order { a.iter().zip(b.iter()).all(same_member) } else { sorted(a).into_iter().zip(sorted(b)).all(same_member) }
        }
        _ => false,
    }
}

fn sorted(object: &Object) -> Vec<(&Text, &Value)> {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    members
}

fn has_canonical_scalars(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => number.is_finite(),
        Value::String(text) => text.as_str().is_some(),
        Value::Array(items) => items.iter().all(has_canonical_scalars),
        Value::Object(object) => object.iter().all(|(name, value)| name.as_str().is_some() && has_canonical_scalars(value)),
    }
}

#[derive(Clone, Copy)]
enum Members {
    AsHeld,
    Sorted,
}

fn write_value(out: &mut String, value: &Value, order: Members) {
    match value {
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) if number.is_finite() => out.push_str(ryu_js::Buffer::new().format(*number)),
        Value::Null | Value::Number(_) => out.push_str("null"),
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item, order);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let members = match order {
                Members::AsHeld => object.iter().collect(),
                Members::Sorted => sorted(object),
            };
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(out, name);
                out.push(':');
                write_value(out, value, order);
            }
            out.push('}');
        }
    }
}

pub(super) fn write_text(out: &mut String, text: &Text) {
    out.push('"');
    match text.as_str() {
        Some(text) => write_str(out, text),
        None => text.code_points().for_each(|point| match char::from_u32(point) {
            Some(c) => write_str(out, c.encode_utf8(&mut [0; 4])),
            None => push_unit(out, point),
        }),
    }
    out.push('"');
}

fn write_str(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            byte @ (b'"' | b'\\') => {
                out.push('\\');
                out.push(byte.into());
            }
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte => push_unit(out, byte.into()),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

fn push_unit(out: &mut String, unit: u32) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.extend(char::from_digit(unit >> shift & 0xF, 16));
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn canonical_sorts_and_refuses() {
        let read = |source| parse(source, 100).unwrap();
        assert_eq!(canonical(&read(r#"{"b":60.0,"a":["\u000f\n",true]}"#)).unwrap(), r#"{"a":["\u000f\n",true],"b":60}"#);
        assert_eq!(canonical(&read(r#"{"\ud800":1}"#)), None);
        assert_eq!(canonical(&read("1e400")), None);
        assert_eq!(canonical(&read(&("[".repeat(65) + &"]".repeat(65)))), None);
    }

    #[test]
    fn sorted_text_is_there_for_every_value() {
        let sorted = |source: &str| write_sorted(&parse(source, 100).unwrap());
        assert_eq!(sorted(r#"{"\ud800":{"b":1,"a":2},"10":null,"9":"\udfff"}"#), r#"{"10":null,"9":"\udfff","\ud800":{"a":2,"b":1}}"#);
        assert_eq!(sorted(&("[".repeat(65) + &"]".repeat(65))), "[".repeat(65) + &"]".repeat(65));
    }

    #[test]
    fn fits_in_bytes_and_levels() {
        let fits = |source: &str, max_bytes| fits(&parse(source, 100).unwrap(), max_bytes);
        for (source, size) in [("{ \"é\" : [1.0, -0, 1e400] }", 17), ("\"\\u001f\\ud83d\\ude00\\ud800\"", 18), ("[]", 2)] {
            assert!(fits(source, size) && !fits(source, size - 1), "{source}");
        }
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(fits(&nested(64), 128) && !fits(&nested(65), 1000));
    }

    #[test]
    fn same_is_equality_of_canonical_forms() {
        let texts = [
            "1",
            "1.0",
            "true",
            "null",
            "\"1\"",
            "[]",
            "{}",
            "[1]",
            "[1,2]",
            "{\"a\":1}",
            "{\"a\":1,\"b\":[{}]}",
            "{\"b\":[{}],\"a\":1.0}",
            "[1e400]",
            "1e400",
            "\"\\ud800\"",
            "-0",
            "0",
        ];
        for a in texts {
            for b in texts {
                let (a, b) = (parse(a, 9).unwrap(), parse(b, 9).unwrap());
                assert_eq!(same(&a, &b), canonical(&a).is_some() && canonical(&a) == canonical(&b), "{a:?} {b:?}");
            }
        }
        let nested = |levels: usize| parse(&("[".repeat(levels) + &"]".repeat(levels)), 99).unwrap();
        assert!(same(&nested(64), &nested(64)) && !same(&nested(65), &nested(65)));
    }

    #[test]
    fn same_is_identity_or_canonical_equality() {
        let lone = parse(r#"["\ud800"]"#, 2).unwrap();
        assert!(same(&lone, &lone.clone()));
        assert!(!same(&lone, &parse(r#"["\ud800"]"#, 2).unwrap()));
        assert!(same(&parse(r#"{"a":1,"b":2}"#, 2).unwrap(), &parse(r#"{"b":2.0,"a":1}"#, 2).unwrap()));
    }
}
