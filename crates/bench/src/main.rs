//! Measurements of the control plane, outside CI: `cargo run --release -p bench -- [decision|http|records|memory]...`
//!
//! Prints a table for each; without a name, all. `--records N` loads so many instead of a million. `--folder PATH` keeps
//! the loaded database there, and takes it from there if it is whole; without it, it is made in the system's folder for
//! temporary files and goes away. What is measured is described in `docs/benchmarks.md`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a measurement that cannot run fails by panicking
#![allow(clippy::cast_precision_loss)] // counts and times become figures to read

mod binary;
mod client;
mod decision;
mod http;
mod load;
mod machine;
mod memory;
mod plane;
mod records;
mod table;

use std::path::PathBuf;

use lexopt::{Arg, ValueExt};

/// What was asked for.
struct Options {
    parts: Vec<String>,
    records: u64,
    folder: Option<PathBuf>,
}

const PARTS: [&str; 4] = ["decision", "http", "records", "memory"];

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options { parts: Vec::new(), records: 1_000_000, folder: None };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("records") => options.records = arguments.value()?.parse()?,
            Arg::Long("folder") => options.folder = Some(arguments.value()?.into()),
            Arg::Value(part) if PARTS.iter().any(|known| part == *known) => options.parts.push(part.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if options.parts.is_empty() {
        options.parts = PARTS.iter().map(ToString::to_string).collect();
    }
    Ok(options)
}

fn main() -> Result<(), lexopt::Error> {
    let options = options()?;
    let is_asked = |part: &str| options.parts.iter().any(|asked| asked == part);
    println!("{}\n", machine::described());
    if is_asked("decision") {
        decision::measure();
    }
    if is_asked("http") {
        http::measure();
    }
    if is_asked("records") || is_asked("memory") {
        let loaded = load::loaded(options.folder.as_deref(), options.records);
        if is_asked("records") {
            records::measure(&loaded);
        }
        if is_asked("memory") {
            memory::measure(&loaded);
        }
    }
    println!("{}", machine::load());
    Ok(())
}
