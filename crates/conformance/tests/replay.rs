//! Every committed row passes, on the library and through the MCP server.

#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

use std::{path::Path, process::Command};

/// Runs `conformance replay` over the rows and gives its closing line.
fn replay(folder: &Path, extra: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("replay").arg(folder).args(extra);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.lines().last().unwrap_or_default().to_owned()
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn passed(closing: &str) -> u32 {
    closing.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn committed_rows() {
    let closing = replay(&root().join("vectors"), &[]);
    assert!(passed(&closing) >= 68_561, "{closing}");
}

#[test]
fn committed_rows_through_the_mcp_server() {
    let closing = replay(&root().join("vectors"), &["--mcp"]);
    assert!(passed(&closing) >= 68_561, "{closing}");
}

#[test]
fn selecting_no_row_is_told() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let status = command.arg("replay").arg(root().join("vectors")).args(["--pairing", "no/such"]).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
