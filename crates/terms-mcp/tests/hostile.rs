//! Hostile sellers over a real socket: the stated decline, in bounded time and memory, from the real binary.
#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

mod support;

use std::time::{Duration, Instant};

use lcp::{Object, Value, json};
use support::{
    Answer, Seller,
    binary::{ATR, Server, document, offer, option},
};

/// The code of the decline that `atr_confirm` answers a document with, or `confirmed`.
fn confirm(server: &mut Server, document: Value) -> String {
    let arguments = Object::new()
        .with("pairing", "x402/exact/eip155/eip3009")
        .with("document", document)
        .with("account", "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    let result = server.call("atr_confirm", arguments);
    match result.get("structuredContent").unwrap().get("decline") {
        Some(decline) => decline.get("code").unwrap().as_str().unwrap().to_owned(),
        None => "confirmed".to_owned(),
    }
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
        assert_eq!(confirm(&mut server, offer(&format!("{}/atr", seller.origin))), code, "{}", &name[..name.len().min(80)]);
        assert!(server.peak() < 40 * 1024, "{} KiB", server.peak());
    }
}

#[test]
fn a_slow_body_ends_at_the_deadline() {
    let seller = Seller::answering(Answer::Stalls(http("200 OK\r\nContent-Length: 18", &ATR[..4])));
    let mut server = Server::allowed(&seller);
    let begun = Instant::now();
    assert_eq!(confirm(&mut server, offer(&format!("{}/atr", seller.origin))), "atr-unfetchable");
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
        assert_eq!(confirm(&mut server, document), code, "{}", &text[..text.len().min(400)]);
    }
    // 65 levels in an option are no fault of the document; the answer is the network's.
    assert_eq!(confirm(&mut server, document(link, vec![bent.into()])), "atr-unfetchable");
}
