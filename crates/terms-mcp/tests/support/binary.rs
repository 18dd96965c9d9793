//! The real binary as an MCP client drives it, and what a seller's document looks like.
#![allow(dead_code)] // each test file uses its own

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use lcp::{Hash, Object, Value, json};

use super::Seller;

/// The record that the documents advertise.
pub(crate) const ATR: &[u8] = br#"{"atrVersion":"1"}"#;

/// The real binary, allowed to reach the seller.
pub(crate) struct Server {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    pub(crate) fn allowed(seller: &Seller) -> Self {
        Self::with(&["--allow-net", "127.0.0.0/8", "--ca-cert", &seller.certificate()])
    }

    /// The binary with these options, greeted.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_terms-mcp")).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (ask, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, ask, answers, asked: 0 };
        let client = Object::new().with("name", "test").with("version", "1");
        let hello = Object::new().with("protocolVersion", "2025-11-25").with("capabilities", Object::new()).with("clientInfo", client);
        server.request("initialize", hello);
        server
    }

    /// The result of a request.
    pub(crate) fn request(&mut self, method: &str, params: Object) -> Value {
        self.asked += 1;
        let message = Object::new().with("jsonrpc", "2.0").with("id", self.asked).with("method", method).with("params", params);
        writeln!(self.ask, "{}", json::write(&message.into())).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        json::parse(&line, 128).unwrap().get("result").unwrap().clone()
    }

    /// The result of a tool's call.
    pub(crate) fn call(&mut self, tool: &str, arguments: Object) -> Value {
        self.request("tools/call", Object::new().with("name", tool).with("arguments", arguments))
    }

    /// The most memory the process has held, in KiB.
    pub(crate) fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The quickstart's option.
pub(crate) fn option() -> Object {
    Object::new()
        .with("scheme", "exact")
        .with("network", "eip155:84532")
        .with("amount", "10000")
        .with("asset", "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
        .with("payTo", "0x209693Bc6afc0C5328bA36FaF03C514EF312287C")
        .with("maxTimeoutSeconds", 60u32)
        .with("extra", Object::new().with("name", "USDC").with("version", "2"))
}

/// A payment request under the record's hash.
pub(crate) fn document(link: &str, options: Vec<Value>) -> Value {
    let info = Object::new().with("type", "sha256").with("value", &Hash::of(ATR)).with("legalContextUrl", link);
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    Object::new().with("x402Version", 2u32).with("accepts", options).with("extensions", context).into()
}

/// A payment request of one option.
pub(crate) fn offer(link: &str) -> Value {
    document(link, vec![option().into()])
}
