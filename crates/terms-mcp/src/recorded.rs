//! The recorded rows name the argument for which a tool's schema refuses a call: the check refuses the same calls.

use std::{fs, io::Read as _, path::Path};

use lcp::{Object, Value, encoding, json};

use crate::{arguments::Arguments, tools::TOOLS};

/// The tool that does a row's operation.
fn tool_of(op: &str) -> &'static str {
    match op {
        "confirm" => "atr_confirm",
        "finish" => "atr_finish",
        "check" => "atr_check",
        "transact" => "atr_transact",
        "agree" => "atr_agree",
        "open_channel" => "atr_channel_open",
        "record_charge" => "atr_channel_record_charge",
        "within" => "atr_channel_within",
        _ => panic!("no tool does {op}"),
    }
}

/// The arguments as a tool is given them: a row has no mac, and writes a long ATR as one byte and a count.
fn arguments(row: &Value, op: &str) -> Value {
    let mut arguments = row.get("args").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(count) = arguments.get("atr").and_then(|atr| atr.get("count")?.as_safe_unsigned()) {
        arguments.set("atr", encoding::base64(&vec![b'x'; usize::try_from(count).unwrap()]));
    }
    if op == "open_channel" {
        arguments.set("mac", "");
    }
    arguments.into()
}

#[test]
fn the_check_refuses_the_calls_that_the_rows_say_it_refuses() {
    let mut refused = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for group in fs::read_dir(folder).unwrap().map(|group| group.unwrap().path()).filter(|group| group.is_dir()) {
        for file in fs::read_dir(group).unwrap() {
            let mut text = String::new();
            flate2::read::GzDecoder::new(fs::File::open(file.unwrap().path()).unwrap()).read_to_string(&mut text).unwrap();
            refused += text.lines().filter(|line| row_is_refused(line)).count();
        }
    }
    assert!(refused > 300, "{refused}");
}

/// Checks one row, and tells whether its schema refuses it.
fn row_is_refused(line: &str) -> bool {
    let row = json::parse(line, 512).unwrap();
    let text = |name| row.get(name).and_then(Value::as_str);
    let Some(op) = text("op") else { return false };
    let expected = text("schema_refused").or_else(|| row.get("expect")?.get("schema_refused")?.as_str());
    let table = TOOLS.iter().find(|tool| tool.name == tool_of(op)).unwrap().arguments;
    let answer = Arguments::check(table, &arguments(&row, op)).map_err(|refused| refused.to_string());
    match (expected, answer) {
        (None, Ok(_)) => false,
        (Some(argument), Err(sentence)) if sentence.starts_with(&format!("Argument \"{argument}\" ")) => true,
        (expected, answer) => panic!("{}: expected {expected:?}, found {:?}", text("id").unwrap_or_default(), answer.map(|_| Object::new())),
    }
}
