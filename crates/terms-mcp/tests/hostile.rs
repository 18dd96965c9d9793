//! Hostile sellers over a real socket: the stated decline, in bounded time and memory, from the real binary.
#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

mod support;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use lcp::{Hash, Object, Value, json};
use support::{Answer, Seller};

const ATR: &[u8] = br#"{"atrVersion":"1"}"#;

/// The real binary, allowed to reach the seller.
struct Server {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn allowed(seller: &Seller) -> Self {
        Self::with(&["--allow-net", "127.0.0.0/8", "--ca-cert", &seller.certificate()])
    }

    fn with(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_terms-mcp")).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (ask, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, ask, answers, asked: 0 };
        let client = Object::new().with("name", "test").with("version", "1");
        let hello = Object::new().with("protocolVersion", "2025-11-25").with("capabilities", Object::new()).with("clientInfo", client);
        server.request("initialize", hello);
        server
    }

    fn request(&mut self, method: &str, params: Object) -> Value {
        self.asked += 1;
        let message = Object::new().with("jsonrpc", "2.0").with("id", self.asked).with("method", method).with("params", params);
        writeln!(self.ask, "{}", json::write(&message.into())).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        json::parse(&line, 128).unwrap().get("result").unwrap().clone()
    }

    /// The code of the decline that `atr_confirm` answers a document with, or `confirmed`.
    fn confirm(&mut self, document: Value) -> String {
        let arguments = Object::new()
            .with("pairing", "x402/exact/eip155/eip3009")
            .with("document", document)
            .with("account", "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        let result = self.request("tools/call", Object::new().with("name", "atr_confirm").with("arguments", arguments));
        let structured = result.get("structuredContent").unwrap();
        match structured.get("decline") {
            Some(decline) => decline.get("code").unwrap().as_str().unwrap().to_owned(),
            None => "confirmed".to_owned(),
        }
    }

    /// The most memory the process has held, in KiB.
    fn peak(&self) -> u64 {
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

fn option() -> Object {
    Object::new()
        .with("scheme", "exact")
        .with("network", "eip155:84532")
        .with("amount", "10000")
        .with("asset", "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
        .with("payTo", "0x209693Bc6afc0C5328bA36FaF03C514EF312287C")
        .with("maxTimeoutSeconds", 60u32)
        .with("extra", Object::new().with("name", "USDC").with("version", "2"))
}

fn document(link: &str, options: Vec<Value>) -> Value {
    let info = Object::new().with("type", "sha256").with("value", &Hash::of(ATR)).with("legalContextUrl", link);
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    Object::new().with("x402Version", 2u32).with("accepts", options).with("extensions", context).into()
}

fn offer(link: &str) -> Value {
    document(link, vec![option().into()])
}

fn http(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat()
}

#[test]
fn answers_of_a_hostile_seller() {
    let lying_short = http("200 OK\r\nContent-Length: 5", ATR);
    let lying_long = http("200 OK\r\nContent-Length: 500", ATR);
    let too_long = http("200 OK\r\nContent-Length: 1048577", b"");
    let coded = http("200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 18", ATR);
    let elsewhere = http("302 Found\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0", b"");
    let good = http("200 OK\r\nContent-Length: 18", ATR);
    for (answer, code) in [
        (Answer::Bytes(good), "confirmed"),
        // Five bytes of the record are another record.
        (Answer::Bytes(lying_short), "hash-mismatch"),
        (Answer::Bytes(lying_long), "atr-unfetchable"),
        (Answer::Bytes(too_long), "atr-too-large"),
        (Answer::Bytes(coded), "atr-unfetchable"),
        (Answer::Bytes(elsewhere), "atr-unfetchable"),
        (Answer::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec()), "atr-unfetchable"),
        (Answer::Bytes(Vec::new()), "atr-unfetchable"),
        (Answer::EndlessBody, "atr-too-large"),
        (Answer::EndlessHead, "atr-unfetchable"),
    ] {
        let name = format!("{answer:?}");
        let seller = Seller::answering(answer);
        let mut server = Server::allowed(&seller);
        assert_eq!(server.confirm(offer(&format!("{}/atr", seller.origin))), code, "{}", &name[..name.len().min(80)]);
        assert!(server.peak() < 40 * 1024, "{} KiB", server.peak());
    }
}

#[test]
fn a_slow_body_ends_at_the_deadline() {
    let seller = Seller::answering(Answer::Stalls(http("200 OK\r\nContent-Length: 18", &ATR[..4])));
    let mut server = Server::allowed(&seller);
    let begun = Instant::now();
    assert_eq!(server.confirm(offer(&format!("{}/atr", seller.origin))), "atr-unfetchable");
    let took = begun.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(20)).contains(&took), "{took:?}");
}

#[test]
fn hostile_documents_reach_no_network() {
    let mut server = Server::with(&[]);
    let link = "https://atr.seller.example/1";
    let deep = (0..65).fold(Value::Null, |inner, _| vec![inner].into());
    let mut bent = option();
    bent.set("extra", Object::new().with("name", "USDC").with("version", "2").with("deep", deep));
    for (document, code) in [
        (document(link, vec![option().into(); 33]), "offer-unreadable"),
        (offer("https://atr.seller.example/\u{7}"), "offer-unreadable"),
        (offer("https://atr.seller.example/\u{202F}"), "offer-unreadable"),
        (offer("javascript:alert(1)"), "offer-unreadable"),
        (offer("https://user@atr.seller.example/"), "offer-unreadable"),
        // An address that is not public, in any spelling, and a name that resolves to one.
        (offer("https://127.0.0.1/1"), "atr-unfetchable"),
        (offer("https://0x7f.1/1"), "atr-unfetchable"),
        (offer("https://[::ffff:10.0.0.1]/1"), "atr-unfetchable"),
        (offer("https://169.254.169.254/latest/meta-data"), "atr-unfetchable"),
        (offer("https://localhost/1"), "atr-unfetchable"),
    ] {
        let text = json::write(&document);
        assert_eq!(server.confirm(document), code, "{}", &text[..text.len().min(400)]);
    }
    // 65 levels in an option are no fault of the document; the answer is the network's.
    assert_eq!(server.confirm(document(link, vec![bent.into()])), "atr-unfetchable");
}
