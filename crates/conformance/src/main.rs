//! `conformance`: replays recorded rows against the gate, directly or through its MCP server.

mod compare;
mod library;
mod replay;
mod row;
mod world;

use std::{path::PathBuf, process::ExitCode};

const USAGE: &str = "\
Usage: conformance replay DIR... [--pairing PREFIX]... [--filter TEXT] [--show N]

Runs the recorded rows in each DIR (*.jsonl and *.jsonl.gz, in folders below it too) against the gate.

  --pairing PREFIX  only rows whose pairing starts so; may be repeated
  --filter TEXT     only rows whose id holds this text
  --show N          print the first difference of at most N failing rows (default 20)

Exit status: 0 when no row failed, 1 when one did, 2 when no row was selected or the call is wrong.
";

fn main() -> ExitCode {
    match command() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("conformance: {error}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn command() -> Result<ExitCode, lexopt::Error> {
    use lexopt::prelude::*;

    let mut parser = lexopt::Parser::from_env();
    match parser.next()? {
        Some(Value(command)) if command == "replay" => {}
        Some(Long("help")) | None => {
            print!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(other) => return Err(other.unexpected()),
    }
    let mut selection = replay::Selection { show: 20, ..Default::default() };
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("pairing") => selection.pairings.push(parser.value()?.string()?),
            Long("filter") => selection.filter = Some(parser.value()?.string()?),
            Long("show") => selection.show = parser.value()?.parse()?,
            Value(folder) => folders.push(folder.into()),
            other => return Err(other.unexpected()),
        }
    }
    if folders.is_empty() {
        return Err("name at least one folder of rows".into());
    }
    match replay::replay(&folders, &selection) {
        Ok(tally) => {
            println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
            Ok(ExitCode::from(if tally.selected() == 0 { 2 } else { u8::from(tally.failed > 0) }))
        }
        Err(error) => Err(error.to_string().into()),
    }
}
