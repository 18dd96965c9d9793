//! `chancery policy check`, and reading the documents that other commands carry.

use std::{fs, path::Path, process::ExitCode};

use control::policy::Policy;
use lcp::{
    Value,
    json::{self, MAX_DEPTH},
};

use crate::{arguments::Failure, output::put_line};

/// Says what is wrong with a policy document.
pub(crate) fn check(file: &Path) -> Result<ExitCode, Failure> {
    let source = source(file)?;
    match Policy::parse(&source) {
        Ok(policy) => {
            put_line(format_args!("{}: a policy in {}, digest {}", file.display(), policy.currency.code(), record::digest_text(policy.hash())));
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            put_line(format_args!("{}: {fault}", file.display()));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A JSON document, whatever it says.
pub(crate) fn read(file: &Path) -> Result<Value, Failure> {
    json::parse_unique(&source(file)?, MAX_DEPTH).map_err(|error| Failure::Usage(format!("{}: it does not read: {error}", file.display())))
}

fn source(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))
}
