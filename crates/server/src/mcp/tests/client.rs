//! An MCP client: one JSON-RPC message a line.

use control::access::Role;
use lcp::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

use super::{at, desk::caller, read, text_at};
use crate::{
    Caller,
    mcp::{operations::Operations, stdio},
};

pub(super) struct Client {
    to_server: WriteHalf<DuplexStream>,
    from_server: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinHandle<std::io::Result<()>>,
    requests: u32,
}

impl Client {
    /// Starts a server for that caller, and says nothing to it yet.
    pub(super) fn silent(operations: impl Operations, caller: Caller) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let serving = tokio::spawn(stdio::serve(operations, caller, reader, writer));
        let (from_server, to_server) = tokio::io::split(near);
        Self { to_server, from_server: BufReader::new(from_server).lines(), serving, requests: 0 }
    }

    /// Starts a server for an agent and shakes hands with it.
    pub(super) async fn agent(operations: impl Operations) -> Self {
        Self::connected(operations, Role::Agent).await
    }

    /// Starts a server for a key of that role and shakes hands with it.
    pub(super) async fn connected(operations: impl Operations, role: Role) -> Self {
        let mut client = Self::silent(operations, caller(role));
        let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}"#;
        let initialized = client.request("initialize", params).await;
        assert!(initialized.get("result").is_some(), "{initialized:?}");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    /// Writes one line.
    pub(super) async fn send(&mut self, line: &str) {
        self.to_server.write_all(line.replace('\n', " ").as_bytes()).await.unwrap();
        self.to_server.write_all(b"\n").await.unwrap();
    }

    /// The next line.
    pub(super) async fn answer(&mut self) -> Value {
        read(&self.from_server.next_line().await.unwrap().expect("the server ended"))
    }

    /// Sends a request and returns its id.
    pub(super) async fn ask(&mut self, method: &str, params: &str) -> u32 {
        self.requests += 1;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.requests)).await;
        self.requests
    }

    /// Sends a request and waits for its answer, the next line.
    pub(super) async fn request(&mut self, method: &str, params: &str) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answer().await;
        assert_eq!(answer.get("id"), Some(&Value::from(id)), "{answer:?}");
        answer
    }

    /// Calls a tool and returns the text of its result and whether it is an error, having looked at the framing.
    pub(super) async fn call_for_text(&mut self, tool: &str, arguments: &str) -> (String, bool) {
        let answer = self.request("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)).await;
        judge(answer.get("result").unwrap_or_else(|| panic!("{tool}: {answer:?}")))
    }

    /// Calls a tool that succeeds and returns its JSON.
    pub(super) async fn call(&mut self, tool: &str, arguments: &str) -> Value {
        let (text, is_error) = self.call_for_text(tool, arguments).await;
        assert!(!is_error, "{tool}: {text}");
        read(&text)
    }

    /// Calls a tool that refuses and returns the error.
    pub(super) async fn refused(&mut self, tool: &str, arguments: &str) -> Value {
        let (text, is_error) = self.call_for_text(tool, arguments).await;
        assert!(is_error, "{tool} {arguments}: {text}");
        read(&text).get("error").unwrap().clone()
    }

    /// The listed tools.
    pub(super) async fn tools(&mut self) -> Vec<Value> {
        let listed = self.request("tools/list", "{}").await;
        at(&listed, "result.tools").and_then(Value::as_array).unwrap().to_vec()
    }

    /// Ends the input, waits for the server to end, and returns what it still answered.
    pub(super) async fn end(mut self) -> Vec<Value> {
        self.to_server.shutdown().await.unwrap();
        let mut answers = Vec::new();
        while let Some(line) = self.from_server.next_line().await.unwrap() {
            answers.push(read(&line));
        }
        self.serving.await.unwrap().unwrap();
        answers
    }
}

/// The text of a result, which is its structured content too, and whether it is an error.
pub(super) fn judge(result: &Value) -> (String, bool) {
    let text = text_at(result, "content.0.text");
    assert_eq!(at(result, "content").unwrap().as_array().unwrap().len(), 1);
    assert_eq!(json::write(result.get("structuredContent").unwrap()), text);
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    assert_eq!(read(text).get("error").is_some(), is_error, "{text}");
    (text.to_owned(), is_error)
}

/// The code of a protocol error.
pub(super) fn error_code(answer: &Value) -> i64 {
    at(answer, "error.code").and_then(Value::as_safe_integer).unwrap_or_else(|| panic!("{answer:?}"))
}
