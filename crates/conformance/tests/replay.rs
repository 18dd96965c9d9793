//! Every committed row of a built pairing passes, and so do those of `../shared/vectors` where that folder is.

#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

use std::{path::Path, process::Command};

/// Runs `conformance replay` over the built pairings' rows and gives its closing line.
fn replay(folder: &Path, extra: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("replay").arg(folder).arg("--built").args(extra);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.lines().last().unwrap_or_default().to_owned()
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn committed_rows() {
    let closing = replay(&root().join("vectors"), &[]);
    assert!(closing.contains(" 0 failed"), "{closing}");
    assert!(closing.split(' ').next().unwrap().parse::<u32>().unwrap() > 11_000, "{closing}");
}
