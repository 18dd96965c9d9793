//! `chancery admin` and `chancery policy simulate`: asks the owner of the data folder, or is it for a moment.

use lcp::{Object, Value, json};
use server::{
    Problem,
    admin::AdminCommand,
    config::Config,
    data_folder::DataFolder,
    local::{self, LocalError, Reach},
};

use crate::{
    arguments::{AdminOptions, Failure},
    output::{plain, put, put_line},
    plane, serve,
};

/// Runs a command and prints its answer.
pub(crate) async fn run(options: AdminOptions) -> Result<(), Failure> {
    let config = serve::config(&options.flags)?;
    let folder = DataFolder::find(&config.data).map_err(Failure::of)?;
    match ask(&folder, &config, options.command).await? {
        Ok(answer) if options.json => put_line(json::write(&answer.into())),
        Ok(answer) => put(shown(&answer)),
        Err(problem) => return Err(Failure::of(problem)),
    }
    Ok(())
}

async fn ask(folder: &DataFolder, config: &Config, command: AdminCommand) -> Result<Result<Object, Problem>, Failure> {
    loop {
        match local::reach(folder).await.map_err(Failure::of)? {
            Reach::Through(connection) => match connection.admin(command.clone()).await {
                // Nothing was done, and it is on its way out.
                Err(LocalError::Stopped) => {}
                answer => return answer.map_err(Failure::of),
            },
            Reach::Owning(lock) => {
                let service = match plane::open(&lock, config, config.listen).await {
                    Ok(service) => service,
                    Err(problem) => return Ok(Err(problem)),
                };
                return Ok(service.admin(command).await);
            }
        }
    }
}

/// How wide a column of a table gets, in characters. `--json` has the rest.
const MAX_CELL: usize = 60;

/// An answer for people: a list as a table, everything else a member a line. What is null is left out.
fn shown(answer: &Object) -> String {
    let members = answer.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let name = name.as_str().unwrap_or_default();
        match value.as_array() {
            Some(rows) if rows.iter().all(|row| row.as_object().is_some()) && name == "data" => table(rows),
            Some(rows) if rows.iter().all(|row| row.as_object().is_some()) => format!("{name}:\n{}", table(rows)),
            _ => format!("{name}: {}\n", cell(value)),
        }
    });
    members.collect()
}

fn table(rows: &[Value]) -> String {
    let Some(names) = rows.first().and_then(Value::as_object) else { return "none\n".to_owned() };
    let names: Vec<&str> = names.iter().filter_map(|(name, _)| name.as_str()).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|row| names.iter().map(|name| row.get(name).map(short).unwrap_or_default()).collect()).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).chain([names[column].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let line: Vec<String> = cells.zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", line.join("  ").trim_end())
    };
    let head = line(&mut names.iter().copied());
    head + &cells.iter().map(|row| line(&mut row.iter().map(String::as_str))).collect::<String>()
}

/// A value in a table.
fn short(value: &Value) -> String {
    let cell = cell(value);
    match cell.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell,
    }
}

/// A value in one line: a text as it is, a list of texts with commas between, nothing for null, a decision as its result and
/// reasons, all else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => plain(text.as_str().unwrap_or("\u{fffd}")),
        Value::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
            items.iter().filter_map(Value::as_str).map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Object(object) => match (object.get("result"), object.get("reasons")) {
            (Some(result), Some(reasons)) => format!("{} {}", cell(result), cell(reasons)).trim_end().to_owned(),
            _ => json::write(value),
        },
        other => json::write(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_text(text: &str) -> String {
        shown(json::parse(text, 9).unwrap().as_object().unwrap())
    }

    #[test]
    fn a_list_is_a_table() {
        let text = shown_text(r#"{"data":[{"id":"agt_1","name":"Köchin","paused":false},{"id":"agt_22","name":"B","paused":true}]}"#);
        assert_eq!(text, "id      name    paused\nagt_1   Köchin  false\nagt_22  B       true\n");
        assert_eq!(shown_text(r#"{"data":[]}"#), "none\n");
        assert_eq!(shown_text(r#"{"requests":2,"changes":[{"id":"pr_1"}]}"#), "requests: 2\nchanges:\nid\npr_1\n");
    }

    #[test]
    fn decisions_and_long_texts_stay_in_their_columns() {
        let text = shown_text(
            r#"{"changes":[{"before":{"result":"allow","reasons":[]},"after":{"result":"deny","reasons":["over_budget","payee_blocked"]}}]}"#,
        );
        assert_eq!(text, "changes:\nbefore  after\nallow   deny over_budget, payee_blocked\n");
        let long = "ä".repeat(MAX_CELL + 1);
        assert_eq!(shown_text(&format!(r#"{{"data":[{{"a":"{long}"}}]}}"#)), format!("a\n{}…\n", "ä".repeat(MAX_CELL)));
        assert_eq!(shown_text(&format!(r#"{{"a":"{long}"}}"#)), format!("a: {long}\n"));
    }

    #[test]
    fn members_are_lines() {
        let text = shown_text(r#"{"id":"key_1","key":"enruta_dev_x","revoked_at":null,"agents":["a","b"],"more":{"n":1}}"#);
        assert_eq!(text, "id: key_1\nkey: enruta_dev_x\nagents: a, b\nmore: {\"n\":1}\n");
    }

    #[test]
    fn text_from_outside_does_not_steer_the_terminal() {
        assert_eq!(shown_text("{\"name\":\"a\\u001b[2Jb\\n\"}"), "name: a\u{fffd}[2Jb\u{fffd}\n");
    }
}
