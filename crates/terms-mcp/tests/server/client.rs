//! An MCP client: one JSON-RPC message a line.

use lcp::{Object, Value, json};
use terms_mcp::{BuyerServer, Env, Fetch, Signer};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

use crate::seller::read;

pub(crate) struct Client {
    to_server: WriteHalf<DuplexStream>,
    from_server: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinHandle<std::io::Result<()>>,
    requests: u32,
}

impl Client {
    /// Starts a server, and says nothing to it yet.
    pub(crate) fn silent<F, E, S, A>(server: BuyerServer<F, E, S, A>) -> Self
    where
        F: Fetch + 'static,
        E: Env + 'static,
        S: Signer + 'static,
        A: Signer + 'static,
    {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let serving = tokio::spawn(terms_mcp::serve(server, reader, writer));
        let (from_server, to_server) = tokio::io::split(near);
        Self { to_server, from_server: BufReader::new(from_server).lines(), serving, requests: 0 }
    }

    /// Starts a server and shakes hands with it.
    pub(crate) async fn connected<F, E, S, A>(server: BuyerServer<F, E, S, A>) -> Self
    where
        F: Fetch + 'static,
        E: Env + 'static,
        S: Signer + 'static,
        A: Signer + 'static,
    {
        let mut client = Self::silent(server);
        let params = read(r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}"#);
        let initialized = client.request("initialize", params).await;
        assert!(initialized.get("result").is_some(), "{initialized:?}");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    /// Writes one line.
    pub(crate) async fn send(&mut self, line: &str) {
        self.to_server.write_all(line.as_bytes()).await.unwrap();
        self.to_server.write_all(b"\n").await.unwrap();
    }

    /// The next line's text.
    pub(crate) async fn line(&mut self) -> String {
        self.from_server.next_line().await.unwrap().expect("the server ended")
    }

    /// The next line.
    pub(crate) async fn answer(&mut self) -> Value {
        read(&self.line().await)
    }

    /// Sends a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: &str) -> u32 {
        self.requests += 1;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.requests)).await;
        self.requests
    }

    /// Sends a request and waits for its answer, the next line.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, &json::write(&params)).await;
        let answer = self.answer().await;
        assert_eq!(answer.get("id"), Some(&Value::from(id)), "{answer:?}");
        answer
    }

    /// Calls a tool with arguments as text and returns its result.
    pub(crate) async fn call_with_text(&mut self, tool: &str, arguments: &str) -> Value {
        let id = self.ask("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)).await;
        let answer = self.answer().await;
        assert_eq!(answer.get("id"), Some(&Value::from(id)), "{answer:?}");
        answer.get("result").unwrap_or_else(|| panic!("{answer:?}")).clone()
    }

    /// Calls a tool that gives a result or declines, and returns its JSON, having looked at the framing.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call_with_text(tool, &json::write(arguments)).await;
        let content = result.get("structuredContent").unwrap_or_else(|| panic!("{tool}: {result:?}")).clone();
        assert_eq!(text_of(&result), json::write(&content));
        let is_decline = content.get("decline").is_some();
        assert_eq!(result.get("isError"), is_decline.then_some(&Value::Bool(true)));
        content
    }

    /// The code with which a tool declines.
    pub(crate) async fn declined(&mut self, tool: &str, arguments: &Value) -> String {
        let content = self.call(tool, arguments).await;
        content.get("decline").and_then(|decline| decline.get("code")?.as_str()).unwrap_or_else(|| panic!("{tool}: {content:?}")).to_owned()
    }

    /// The sentence with which a tool refuses its arguments.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: &str) -> String {
        let result = self.call_with_text(tool, arguments).await;
        assert_eq!(result.get("isError"), Some(&Value::Bool(true)), "{result:?}");
        assert_eq!(result.get("structuredContent"), None);
        text_of(&result)
    }

    /// The listed tools.
    pub(crate) async fn tools(&mut self) -> Vec<Object> {
        let listed = self.request("tools/list", read("{}")).await;
        let tools = listed.get("result").and_then(|result| result.get("tools")?.as_array()).unwrap();
        tools.iter().map(|tool| tool.as_object().unwrap().clone()).collect()
    }

    /// Ends the input, waits for the server to end, and returns what it still answered.
    pub(crate) async fn end(mut self) -> Vec<Value> {
        self.to_server.shutdown().await.unwrap();
        let mut answers = Vec::new();
        while let Some(line) = self.from_server.next_line().await.unwrap() {
            answers.push(read(&line));
        }
        self.serving.await.unwrap().unwrap();
        answers
    }
}

/// The text of a result's one block.
pub(crate) fn text_of(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].get("type"), Some(&Value::from("text")));
    blocks[0].get("text").and_then(Value::as_str).unwrap().to_owned()
}

/// The code of a JSON-RPC error.
pub(crate) fn error_code(answer: &Value) -> i64 {
    answer.get("error").and_then(|error| error.get("code")?.as_safe_integer()).unwrap_or_else(|| panic!("{answer:?}"))
}
