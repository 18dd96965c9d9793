//! The development wallet as a process.

#![allow(clippy::unwrap_used)] // clippy spares only test functions, not their helpers

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

const BINARY: &str = env!("CARGO_BIN_EXE_terms-mcp");

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(BINARY).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

struct KeyFile(PathBuf);

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn speaks_the_protocol_and_keeps_the_key() {
    let file = KeyFile(std::env::temp_dir().join(format!("terms-mcp-dev-signer-{}", std::process::id())));
    let path = file.0.to_str().unwrap();
    let request = r#"{"kind":"eip712","typedData":{"domain":{"name":"x"},"types":{"Empty":[]},"primaryType":"Empty","message":{}}}"#;
    let calls = format!("{{\"id\":1,\"method\":\"account\"}}\n{{\"id\":2,\"method\":\"sign\",\"request\":{request}}}\n");

    let first = run(&["dev-signer", "--key-file", path, "--chain", "10"], &calls);
    assert!(first.status.success());
    let lines: Vec<&str> = text(&first.stdout).lines().collect();
    assert!(lines[0].starts_with(r#"{"id":1,"account":"eip155:10:0x"#), "{}", lines[0]);
    assert!(lines[1].starts_with(r#"{"id":2,"answer":"0x"#), "{}", lines[1]);
    assert_eq!(lines.len(), 2);
    assert!(text(&first.stderr).contains("for development only"));

    let key = fs::read_to_string(&file.0).unwrap();
    let digits = key.trim_end().strip_prefix("0x").unwrap();
    assert_eq!(digits.len(), 64);
    for stream in [&first.stdout, &first.stderr] {
        assert!(!text(stream).contains(digits));
    }

    // The key stays, and signs the same.
    let second = run(&["dev-signer", "--chain", "10", "--key-file", path], &calls);
    assert_eq!(second.stdout, first.stdout);
}

#[test]
fn ends_on_a_line_that_is_no_call() {
    let ended = run(&["dev-signer"], "{\"id\":1,\"method\":\"account\"}\nhello\n");
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stdout).starts_with(r#"{"id":1,"account":"eip155:84532:0x"#));
    assert!(text(&ended.stderr).ends_with("terms-mcp: a call that is not JSON at byte 0\n"));
}

#[test]
fn help_version_and_usage_errors() {
    let help = run(&["--help"], "");
    assert!(help.status.success());
    assert!(text(&help.stdout).contains("dev-signer"));
    assert_eq!(text(&run(&["--version"], "").stdout), format!("terms-mcp {}\n", env!("CARGO_PKG_VERSION")));
    let refused = run(&["--allow-net", "127.0.0.1"], "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("127.0.0.0/8"), "{}", text(&refused.stderr));
}
