//! `chancery verify`: whether a record is genuine, by its bundle and keys that the caller trusts.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

use lcp::{
    jose::Jwks,
    json::{self, MAX_DEPTH},
};
use record::{MAX_BUNDLE, Report, Verdict, verify_bytes};

use crate::{arguments::Failure, output::put_line};

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) bundle: PathBuf,
    pub(crate) keys: Option<PathBuf>,
    pub(crate) json: bool,
}

/// Prints the report. The exit code is 0 only for a record that verifies.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let keys = options.keys.as_deref().map(read_keys).transpose()?;
    let report = verify_bytes(&read(&options.bundle)?, keys.as_ref());
    if options.json {
        put_line(json::write(&report.to_json().into()));
    } else {
        put_line(&report);
    }
    Ok(exit_code(&report))
}

fn exit_code(report: &Report) -> ExitCode {
    match report.verdict {
        Verdict::Verified => ExitCode::SUCCESS,
        Verdict::Fails => ExitCode::FAILURE,
        Verdict::Incomplete | Verdict::Open => ExitCode::from(3),
    }
}

fn read_keys(file: &Path) -> Result<Jwks, Failure> {
    let at = |why: &str| Failure::Usage(format!("{}: {why}", file.display()));
    let set = json::parse_bytes(&read(file)?, MAX_DEPTH).map_err(|_| at("it is not JSON"))?;
    Jwks::read(&set).map_err(|error| at(&format!("it is no set of public keys: {error}")))
}

/// The file's bytes, up to one more than a bundle may have.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|opened| opened.take(MAX_BUNDLE as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    Ok(bytes)
}
