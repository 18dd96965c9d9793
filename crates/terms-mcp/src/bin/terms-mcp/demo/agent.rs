//! The agent of the demo: an MCP client over stdio, and an HTTP client.

use std::{path::Path, process::Stdio, time::Duration};

use lcp::{Object, Value, json};
use terms::{Body, Fetch, Request};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::public_fetch::PublicFetch;

/// A server process, spoken to as an MCP client of the 2025-11-25 revision.
pub(super) struct Mcp {
    server: Child,
    ask: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Mcp {
    /// Starts the server and greets it.
    pub(super) async fn start(program: &Path, arguments: &[&str]) -> Result<Self, String> {
        let spawned = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn();
        let mut server = spawned.map_err(|error| error.to_string())?;
        let (Some(ask), Some(answers)) = (server.stdin.take(), server.stdout.take()) else { return Err("the server has no stdio".to_owned()) };
        let mut mcp = Self { server, ask, answers: BufReader::new(answers).lines(), asked: 0 };
        let hello = Object::new()
            .with("protocolVersion", "2025-11-25")
            .with("capabilities", Object::new())
            .with("clientInfo", Object::new().with("name", "terms-mcp-demo").with("version", env!("CARGO_PKG_VERSION")));
        mcp.request("initialize", hello).await?;
        mcp.send(&Object::new().with("jsonrpc", "2.0").with("method", "notifications/initialized")).await?;
        Ok(mcp)
    }

    /// The names of the server's tools.
    pub(super) async fn tools(&mut self) -> Result<Vec<String>, String> {
        let listed = self.request("tools/list", Object::new()).await?;
        let names = listed.get("tools").and_then(Value::as_array).unwrap_or_default().iter();
        Ok(names.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect())
    }

    /// Calls a tool that is to succeed, and returns its result.
    pub(super) async fn call(&mut self, tool: &str, arguments: &Object) -> Result<Value, String> {
        let (result, failed) = self.result(tool, arguments).await?;
        if failed { Err(format!("{tool}: {}", json::write(&result))) } else { Ok(result) }
    }

    /// Calls a tool that is to decline, and returns the decline.
    pub(super) async fn decline(&mut self, tool: &str, arguments: &Object) -> Result<Value, String> {
        let (result, _) = self.result(tool, arguments).await?;
        result.get("decline").cloned().ok_or_else(|| format!("{tool} did not decline"))
    }

    async fn result(&mut self, tool: &str, arguments: &Object) -> Result<(Value, bool), String> {
        let answer = self.request("tools/call", Object::new().with("name", tool).with("arguments", arguments.clone())).await?;
        let failed = answer.get("isError") == Some(&Value::Bool(true));
        Ok((answer.get("structuredContent").unwrap_or(&answer).clone(), failed))
    }

    async fn request(&mut self, method: &str, params: Object) -> Result<Value, String> {
        self.asked += 1;
        let id = Value::from(self.asked);
        self.send(&Object::new().with("jsonrpc", "2.0").with("id", &id).with("method", method).with("params", params)).await?;
        loop {
            let line = self.answers.next_line().await.map_err(|error| error.to_string())?.ok_or("the server ended")?;
            let message = json::parse(&line, 512).map_err(|error| error.to_string())?;
            if message.get("id") == Some(&id) {
                let error = message.get("error").map_or_else(String::new, json::write);
                return message.get("result").cloned().ok_or(error);
            }
        }
    }

    async fn send(&mut self, message: &Object) -> Result<(), String> {
        let line = json::write(&message.clone().into()) + "\n";
        self.ask.write_all(line.as_bytes()).await.map_err(|error| error.to_string())
    }

    /// Closes the server's stdin and waits for its end.
    pub(super) async fn stop(self) -> Result<(), String> {
        let Self { mut server, ask, answers, .. } = self;
        drop((ask, answers));
        server.wait().await.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// An HTTP answer.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())?;
        String::from_utf8(value).ok()
    }
}

/// Asks for a resource, with a payment where there is one.
pub(super) async fn get(http: &PublicFetch, url: &str, payment: Option<&str>) -> Result<Answer, String> {
    let headers: Vec<(&str, &str)> = payment.map(|payment| ("PAYMENT-SIGNATURE", payment)).into_iter().collect();
    let request = Request { url, headers: &headers, deadline: Duration::from_secs(10), body_bound: 65_536 };
    let mut response = http.get(request).await.map_err(|error| error.to_string())?;
    let mut body = Vec::new();
    while let Some(chunk) = response.body.chunk().await.map_err(|error| error.to_string())? {
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status: response.status, headers: response.headers, body })
}
