//! Replays rows and tells where we differ.

use std::{io, path::PathBuf};

use lexopt::ValueExt as _;

use crate::{
    compare, library, mcp,
    row::{self, Row},
    world::World,
};

/// Which rows to run, and how much to print.
pub struct Selection {
    /// Only rows whose pairing starts with one of these; none means all.
    pub pairings: Vec<String>,
    /// Only rows whose id holds this text.
    pub filter: Option<String>,
    /// Whether to run the rows through the MCP server.
    pub mcp: bool,
    /// How many failing rows to print.
    pub show: usize,
}

impl Default for Selection {
    fn default() -> Self {
        Self { pairings: Vec::new(), filter: None, mcp: false, show: 20 }
    }
}

impl Selection {
    /// Takes one of the options that select rows.
    pub fn option(&mut self, name: &str, parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
        match name {
            "pairing" => self.pairings.push(parser.value()?.string()?),
            "filter" => self.filter = Some(parser.value()?.string()?),
            "mcp" => self.mcp = true,
            "show" => self.show = parser.value()?.parse()?,
            _ => return Err(lexopt::Error::UnexpectedOption(format!("--{name}"))),
        }
        Ok(())
    }

    fn takes(&self, row: &Row) -> bool {
        (self.pairings.is_empty() || self.pairings.iter().any(|prefix| row.pairing().starts_with(prefix.as_str())))
            && self.filter.as_ref().is_none_or(|text| row.id().contains(text.as_str()))
    }
}

/// How the rows went.
#[derive(Default)]
pub struct Tally {
    /// Answered and did what the row records.
    pub passed: usize,
    /// Differ.
    pub failed: usize,
    /// Marked as not to be compared.
    pub skipped: usize,
}

impl Tally {
    /// All rows that were taken.
    pub fn selected(&self) -> usize {
        self.passed + self.failed + self.skipped
    }
}

/// Replays the rows in these folders, printing the first difference of failing ones.
pub fn replay(folders: &[PathBuf], selection: &Selection) -> io::Result<Tally> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut tally = Tally::default();
    for folder in folders {
        for file in row::files(folder)? {
            for line in row::text(&file)?.lines().filter(|line| !line.is_empty()) {
                let row = Row::read(line).map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
                if !selection.takes(&row) {
                    continue;
                }
                if row.skipped().is_some() {
                    tally.skipped += 1;
                    continue;
                }
                match runtime.block_on(difference(&row, selection.mcp)) {
                    None => tally.passed += 1,
                    Some(difference) => {
                        tally.failed += 1;
                        if tally.failed <= selection.show {
                            println!("FAIL {}\n     {difference}", row.id());
                        }
                    }
                }
            }
        }
    }
    Ok(tally)
}

async fn difference(row: &Row, through_mcp: bool) -> Option<String> {
    let (ran, effects) = if through_mcp {
        let world = World::behind_a_server(row);
        match mcp::run(row, &world).await {
            Ok(ran) => (ran, world.effects()),
            Err(fault) => return Some(fault),
        }
    } else {
        let world = World::of(row);
        (library::run(row, &world).await, world.effects())
    };
    compare::difference(row, &ran.answer, &library::as_written(&effects.into()), through_mcp).or_else(|| {
        let (expected, found) = (row.get("bound")?, ran.bound.as_ref()?);
        (expected != found).then(|| format!("/bound: expected {expected:?}, found {found:?}"))
    })
}
