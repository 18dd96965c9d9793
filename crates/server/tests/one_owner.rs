//! The data folder has one owner: a server, a development session and the operator's commands at once, as real processes.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use lcp::{
    Value,
    json::{self, MAX_DEPTH},
};
use server::temp_folder::TempFolder;

/// How long a process may take over what takes it a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// The binary, with the folder and without the settings of whoever runs the tests.
fn chancery(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = plane::chancery();
    command.args(arguments).arg("--data").arg(folder).env("CHANCERY_LISTEN", "127.0.0.1:0").stderr(Stdio::piped());
    command
}

/// A process that runs, and the lines that it writes.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Running {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = chancery(folder, arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (out, (send, lines)) = (BufReader::new(child.stdout.take().unwrap()), mpsc::channel());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { input: child.stdin.take(), child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// Sends an MCP message and reads the answer.
    fn call(&mut self, message: &str) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        json::parse(&self.line(), MAX_DEPTH).unwrap()
    }

    /// Opens an MCP session, and says how many tools there are.
    fn count_tools(&mut self) -> usize {
        let greeting = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        assert!(self.call(greeting).get("result").is_some());
        writeln!(self.input.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        let listed = self.call(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        listed.get("result").and_then(|result| result.get("tools")?.as_array()).map_or(0, <[Value]>::len)
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits for the process to end, and says how, with what it wrote to standard error.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let (mut child, (send, ended)) = (self.child, mpsc::channel());
        let waiting = thread::spawn(move || {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            send.send((child.wait().unwrap(), said)).unwrap();
        });
        let ended = ended.recv_timeout(PATIENCE).unwrap();
        waiting.join().unwrap();
        ended
    }
}

/// A server that says where it is.
struct Server {
    process: Running,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let process = Running::start(folder, &["serve"]);
        loop {
            if let Some(url) = process.line().trim().strip_prefix("at    http://") {
                return Self { address: url.to_owned(), process };
            }
        }
    }

    /// The status of an answer over HTTP.
    fn status(&self, path: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn stop(self) {
        self.process.signal("-TERM");
        let (status, said) = self.process.end();
        assert!(status.success(), "{status} {said}");
    }
}

/// A folder that a server made.
fn made() -> TempFolder {
    let folder = TempFolder::new().unwrap();
    Server::start(folder.path()).stop();
    folder
}

/// Runs an operator's command and reads its answer.
fn admin(folder: &Path, words: &[&str]) -> Value {
    let output = run_admin(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    json::parse_bytes(&output.stdout, MAX_DEPTH).unwrap()
}

fn run_admin(folder: &Path, words: &[&str]) -> Output {
    let arguments: Vec<_> = ["admin"].iter().chain(words).chain(&["--json"]).copied().collect();
    chancery(folder, &arguments).output().unwrap()
}

fn count_agents(folder: &Path) -> usize {
    admin(folder, &["agent", "list"]).get("data").and_then(Value::as_array).unwrap().len()
}

#[test]
fn a_server_a_session_and_commands_at_once() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path();
    let server = Server::start(path);
    let mut session = Running::start(path, &["mcp"]);
    assert_eq!(session.count_tools(), 7);
    thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || admin(path, &["agent", "create", &format!("Agent {number}")]));
        }
        assert!(
            session
                .call(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_mandates","arguments":{}}}"#)
                .get("result")
                .is_some()
        );
        assert_eq!(server.status("/.well-known/jwks.json"), 200);
    });
    assert_eq!(count_agents(path), 7);

    // A second server is told who is there.
    let (status, said) = Running::start(path, &["serve"]).end();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains(&format!("process {} owns the data folder", server.process.child.id())), "{said}");

    // The session ends with its server; commands go on without one.
    server.stop();
    assert!(session.end().0.success());
    assert_eq!(count_agents(path), 7);
}

#[test]
fn commands_without_a_server_take_turns() {
    let folder = made();
    let path = folder.path();
    thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || admin(path, &["agent", "create", &format!("Agent {number}")]));
        }
    });
    assert_eq!(count_agents(path), 7);
    // One that waits for its turn gives way to none: a server starts in the middle of them.
    thread::scope(|scope| {
        for number in 6..10 {
            scope.spawn(move || admin(path, &["agent", "create", &format!("Agent {number}")]));
        }
        Server::start(path).stop();
    });
    assert_eq!(count_agents(path), 11);
}

#[test]
fn a_session_owns_the_folder_where_no_server_runs() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path();
    let mut session = Running::start(path, &["mcp"]);
    assert_eq!(session.count_tools(), 7);
    assert_eq!(count_agents(path), 1);
    let mut second = Running::start(path, &["mcp"]);
    assert_eq!(second.count_tools(), 7);
    let (status, said) = Running::start(path, &["serve"]).end();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains(&format!("process {} owns", session.child.id())), "{said}");
    assert!(second.end().0.success());
    let (status, said) = session.end();
    assert!(status.success(), "{said}");
    // What a first start shows once was not written where MCP clients keep what they are told.
    assert!(!said.contains("enruta_") && !said.contains("/setup/"), "{said}");
    let server = Server::start(path);
    assert_eq!(count_agents(path), 1);
    server.stop();
}

#[test]
fn a_server_that_was_killed_is_followed_by_another() {
    let folder = TempFolder::new().unwrap();
    let path = folder.path();
    let server = Server::start(path);
    admin(path, &["agent", "create", "Kept"]);
    server.process.signal("-KILL");
    assert!(!server.process.end().0.success());
    assert!(path.join("control.sock").exists());
    assert_eq!(count_agents(path), 2);
    let server = Server::start(path);
    assert_eq!(admin(path, &["status"]).get("url").and_then(Value::as_str), Some(format!("http://{}", server.address).as_str()));
    assert_eq!(count_agents(path), 2);
    server.stop();
}

#[test]
fn a_refusal_is_said_with_its_code() {
    let folder = made();
    let output = run_admin(folder.path(), &["user", "link", "nobody"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("(not_found)"));
    let output = run_admin(&folder.path().join("nowhere"), &["status"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no data folder"));
}

#[test]
fn the_rail_fails_by_the_operator_and_keys_are_shown_once() {
    let folder = made();
    let path = folder.path();
    let server = Server::start(path);
    assert_eq!(admin(path, &["rail", "fail", "on"]).get("fails"), Some(&Value::Bool(true)));
    assert_eq!(admin(path, &["status"]).get("sandbox_rail_fails"), Some(&Value::Bool(true)));
    let made = admin(path, &["key", "create", "auditor", "--name", "Ada"]);
    let (id, key) = (made.get("id").and_then(Value::as_str).unwrap(), made.get("key").and_then(Value::as_str).unwrap());
    assert!(key.starts_with("enruta_aud_"));
    assert!(!json::write(&admin(path, &["key", "list"])).contains(key));
    assert!(admin(path, &["key", "revoke", id]).get("revoked_at").is_some_and(|at| !at.is_null()));
    server.stop();
}
