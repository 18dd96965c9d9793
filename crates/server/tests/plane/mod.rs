//! A server process of the real binary, and a small HTTP client that blocks.
#![allow(dead_code)] // each test uses its part

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use lcp::{Object, Value, json};

/// The revision of MCP that a single call needs no session in.
const MCP_REVISION: &str = "2026-07-28";

/// A running server, killed when it is dropped.
pub(crate) struct Plane {
    /// Where it is reached.
    pub(crate) base: String,
    /// What the first start showed, if this was one.
    pub(crate) first: Option<First>,
    child: Child,
}

/// What the first start shows once.
#[derive(Clone, Default)]
pub(crate) struct First {
    pub(crate) agent: String,
    pub(crate) developer: String,
    pub(crate) seller: String,
    pub(crate) setup: String,
}

/// The binary, without the settings of whoever runs the tests.
pub(crate) fn chancery() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chancery"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHANCERY_") {
            command.env_remove(name);
        }
    }
    command
}

impl Plane {
    /// Starts `chancery serve` on a free port, with its data in that folder and no limit of calls.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &["--key-calls-per-minute", "0", "--address-calls-per-minute", "0"])
    }

    /// Starts it with these options more.
    pub(crate) fn start_with(folder: &Path, options: &[&str]) -> Self {
        let mut child =
            chancery().args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder).args(options).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut base = None;
        let mut first = First::default();
        for line in lines.by_ref() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["at", url] => base = Some((*url).to_owned()),
                [url] if url.contains("/setup/") => (*url).clone_into(&mut first.setup),
                ["agent", key] => (*key).clone_into(&mut first.agent),
                ["developer", key] => (*key).clone_into(&mut first.developer),
                ["seller", key, ..] => {
                    (*key).clone_into(&mut first.seller);
                    break;
                }
                ["A", "new", "key:", ..] => break,
                _ => {}
            }
        }
        // What is still printed must find its reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { base: base.expect("the server says where it is"), first: (!first.agent.is_empty()).then_some(first), child }
    }

    /// Ends it at once, as SIGKILL does.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A client with a key.
    pub(crate) fn client(&self, key: &str) -> Client {
        Client { host: self.base.trim_start_matches("http://").to_owned(), key: key.to_owned(), stream: None }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An HTTP/1.1 client that keeps one connection.
pub(crate) struct Client {
    host: String,
    key: String,
    stream: Option<BufReader<TcpStream>>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        json::parse(&self.body, 64).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&mut self, path: &str, body: &Object) -> io::Result<Answer> {
        self.send("POST", path, &[], &json::write(&body.clone().into()))
    }

    /// Asks to pay under an idempotency key.
    pub(crate) fn pay(&mut self, key: &str, body: &Object) -> io::Result<Answer> {
        self.send("POST", "/v0/payment-requests", &[("Idempotency-Key", key)], &json::write(&body.clone().into()))
    }

    /// Calls an MCP tool, and gives what it answers.
    pub(crate) fn call_tool(&mut self, name: &str, arguments: Object) -> Value {
        let meta = Object::new()
            .with("io.modelcontextprotocol/protocolVersion", MCP_REVISION)
            .with("io.modelcontextprotocol/clientCapabilities", Object::new());
        let params = Object::new().with("_meta", meta).with("name", name).with("arguments", arguments);
        let call = Object::new().with("jsonrpc", "2.0").with("id", 1u32).with("method", "tools/call").with("params", params);
        let headers = [
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", MCP_REVISION),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        let answer = self.send("POST", "/mcp", &headers, &json::write(&call.into())).unwrap();
        let content = answer.json().get("result").and_then(|result| result.get("structuredContent")).cloned();
        content.unwrap_or_else(|| panic!("{name}: {}", answer.body))
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<Answer> {
        let answer = self.exchange(method, path, headers, body);
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<Answer> {
        if self.stream.is_none() {
            self.stream = Some(BufReader::new(TcpStream::connect(&self.host)?));
        }
        let stream = self.stream.as_mut().ok_or_else(broken)?;
        let (host, key, length) = (&self.host, &self.key, body.len());
        let content_type = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let more: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n{more}{content_type}Content-Length: {length}\r\n\r\n{body}"
        );
        stream.get_mut().write_all(head.as_bytes())?;
        let status = line(stream)?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        let mut headers = Vec::new();
        let mut length = 0usize;
        loop {
            let line = line(stream)?;
            let Some((name, value)) = line.split_once(':') else { break };
            let (name, value) = (name.to_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().map_err(|_| broken())?;
            }
            headers.push((name, value));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(Answer { status, headers, body: String::from_utf8(body).map_err(|_| broken())? })
    }
}

fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 { Err(broken()) } else { Ok(line.trim_end().to_owned()) }
}

fn broken() -> io::Error {
    io::Error::other("the connection broke")
}

/// A request for that much, for that purpose, at the sandbox's shop.
pub(crate) fn purchase(value: &str, purpose: &str) -> Object {
    Object::new()
        .with("payee", Object::new().with("domain", "sandbox-shop.example"))
        .with("amount", Object::new().with("value", value).with("currency", "USD"))
        .with("purpose", purpose)
}

/// The member at that path, as text.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    path.iter().try_fold(value, |value, name| value.get(name)).and_then(Value::as_str).unwrap_or_else(|| panic!("{path:?} in {value:?}"))
}

/// A small generator of numbers that a seed reproduces.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below that one.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}
