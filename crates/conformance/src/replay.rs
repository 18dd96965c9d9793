//! Replays rows and tells where we differ.

use std::{io, path::PathBuf};

use lexopt::ValueExt as _;

use crate::{
    compare, library,
    row::{self, Row},
    world::World,
};

/// Which rows to run, and how much to print.
pub(crate) struct Selection {
    pub(crate) pairings: Vec<String>,
    pub(crate) filter: Option<String>,
    pub(crate) show: usize,
}

impl Default for Selection {
    fn default() -> Self {
        Self { pairings: Vec::new(), filter: None, show: 20 }
    }
}

impl Selection {
    /// Takes one of the options that select rows.
    pub(crate) fn option(&mut self, name: &str, parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
        match name {
            "pairing" => self.pairings.push(parser.value()?.string()?),
            "filter" => self.filter = Some(parser.value()?.string()?),
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

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    pub(crate) fn selected(&self) -> usize {
        self.passed + self.failed + self.skipped
    }
}

pub(crate) fn replay(folders: &[PathBuf], selection: &Selection) -> io::Result<Tally> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
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
                match runtime.block_on(difference(&row)) {
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

async fn difference(row: &Row) -> Option<String> {
    let world = World::of(row);
    let ran = library::run(row, &world).await;
    compare::difference(row, &ran.answer, &library::as_written(&world.effects().into())).or_else(|| {
        let (expected, found) = (row.get("bound")?, ran.bound.as_ref()?);
        (expected != found).then(|| format!("/bound: expected {expected:?}, found {found:?}"))
    })
}
