//! `conformance`: replays recorded rows against the gate, directly or through its MCP server, asks the reference for fresh
//! ones, and simulates the control plane's core.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use conformance::{guide, oracle, pairings, replay, simulate};
use lexopt::prelude::*;

const USAGE: &str = "\
Usage: conformance replay DIR... [--pairing PREFIX]... [--filter TEXT] [--mcp] [--show N]
       conformance oracle --seed S --rows N [--from DIR] [--cache DIR] [the options of replay]
       conformance simulate --seed S --steps N
       conformance pairings

replay runs the recorded rows in each DIR (*.jsonl and *.jsonl.gz, in folders below it too) against the gate.
oracle asks the public Python package for N fresh mutants of each file of recorded rows, and replays those. It needs
python3; the package is installed with pip into the cache folder.

simulate runs N steps of the control plane's core in a world drawn from the seed, checks after each what must always hold,
and prints the first rule that does not, with seed and step.

pairings writes the README's table of pairings and docs/pairings.md, from the registry and the recorded rows.

  --pairing PREFIX  only rows whose pairing starts so; may be repeated
  --filter TEXT     only rows whose id holds this text
  --mcp             run each row through the MCP server, over in-memory stdio
  --show N          print the first difference of at most N failing rows (default 20)
  --seed S          what the mutants, or the world, are drawn from: the same seed gives the same ones
  --rows N          how many mutants to make of each file
  --steps N         how many steps to simulate
  --from DIR        the recorded rows to mutate (default: this repository's vectors/)
  --cache DIR       where the package and the mutants are kept (default: target/oracle)

Exit status: 0 when no row and no rule failed, 1 when one did, 2 when no row was selected or the call is wrong.
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
    let mut parser = lexopt::Parser::from_env();
    match parser.next()? {
        Some(Value(command)) if command == "replay" => {
            let mut folders: Vec<PathBuf> = Vec::new();
            let mut selection = replay::Selection::default();
            while let Some(argument) = parser.next()? {
                match argument {
                    Value(folder) => folders.push(folder.into()),
                    Long(name) => {
                        let name = name.to_owned();
                        selection.option(&name, &mut parser)?;
                    }
                    other @ Short(_) => return Err(other.unexpected()),
                }
            }
            if folders.is_empty() {
                return Err("name at least one folder of rows".into());
            }
            report(&folders, &selection)
        }
        Some(Value(command)) if command == "oracle" => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let (mut seed, mut rows, mut from, mut cache) = (None, None, root.join("vectors"), root.join("target/oracle"));
            let mut selection = replay::Selection::default();
            while let Some(argument) = parser.next()? {
                match argument {
                    Long("seed") => seed = Some(parser.value()?.parse()?),
                    Long("rows") => rows = Some(parser.value()?.parse()?),
                    Long("from") => from = parser.value()?.into(),
                    Long("cache") => cache = parser.value()?.into(),
                    Long(name) => {
                        let name = name.to_owned();
                        selection.option(&name, &mut parser)?;
                    }
                    other => return Err(other.unexpected()),
                }
            }
            let (Some(seed), Some(rows)) = (seed, rows) else { return Err("oracle needs --seed and --rows".into()) };
            let fresh = oracle::mutants(&cache, &from, seed, rows).map_err(|error| error.to_string())?;
            report(&[fresh], &selection)
        }
        Some(Value(command)) if command == "simulate" => {
            let (mut seed, mut steps) = (None, None);
            while let Some(argument) = parser.next()? {
                match argument {
                    Long("seed") => seed = Some(parser.value()?.parse()?),
                    Long("steps") => steps = Some(parser.value()?.parse()?),
                    other => return Err(other.unexpected()),
                }
            }
            let (Some(seed), Some(steps)) = (seed, steps) else { return Err("simulate needs --seed and --steps".into()) };
            Ok(simulated(seed, steps))
        }
        Some(Value(command)) if command == "pairings" => {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
            let readme = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
            let written = pairings::written_into(&readme).ok_or("the README has no place for the table")?;
            std::fs::write(&file, written).map_err(|error| error.to_string())?;
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let guide = guide::written(&root.join("vectors")).map_err(|error| error.to_string())?;
            std::fs::write(root.join("docs/pairings.md"), guide).map_err(|error| error.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Long("help")) => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Some(other) => Err(other.unexpected()),
        None => Err("say what to do".into()),
    }
}

fn simulated(seed: u64, steps: u64) -> ExitCode {
    match simulate::simulate(seed, steps) {
        Ok(tally) => {
            println!("seed {seed}, {steps} steps: every rule held\n{tally}");
            ExitCode::SUCCESS
        }
        Err(violation) => {
            println!("{violation}");
            ExitCode::FAILURE
        }
    }
}

fn report(folders: &[PathBuf], selection: &replay::Selection) -> Result<ExitCode, lexopt::Error> {
    let tally = replay::replay(folders, selection).map_err(|error| error.to_string())?;
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped);
    Ok(ExitCode::from(if tally.selected() == 0 { 2 } else { u8::from(tally.failed > 0) }))
}
