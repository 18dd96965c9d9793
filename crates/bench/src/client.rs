//! Clients that ask to pay over HTTP, each on one connection that it keeps, all on one thread of this process.

use std::{
    net::SocketAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use lcp::{Object, Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::plane::{CASINO, SHOP};

/// The name of the thread that the clients run on.
pub(crate) const THREAD: &str = "clients";

/// Where to ask, and with which key.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

/// What is to come of each request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A mandate is issued; the record stays open.
    Allow,
    /// The record is sealed at once.
    Deny,
}

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Time(Duration),
    Count(u64),
}

/// What came of it.
pub(crate) struct Driven {
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    /// How long each answer took, in seconds, sorted.
    latencies: Vec<f64>,
}

impl Driven {
    /// Requests answered in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// The latency that so many percent of the answers kept below.
    pub(crate) fn latency(&self, percent: usize) -> f64 {
        let place = self.latencies.len() * percent / 100;
        self.latencies[place.min(self.latencies.len() - 1)]
    }
}

/// A number that no other request has, on this folder or another, in letters: digits might look like a card number.
/// Numbers that follow on each other lie far apart, as ids of clients do.
pub(crate) fn fresh_name() -> String {
    static NEXT: OnceLock<AtomicU64> = OnceLock::new();
    let next = NEXT.get_or_init(|| AtomicU64::new(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()));
    // A bijection.
    let mut bits = next.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    format!("{:016x}", bits ^ (bits >> 32))
        .bytes()
        .map(|digit| char::from(b'a' + (digit & 0x0f) + if digit.is_ascii_digit() { 0 } else { 9 }))
        .collect()
}

/// A payment of its own.
pub(crate) fn body(asked: Asked, name: &str) -> Value {
    let payee = if asked == Asked::Allow { SHOP } else { CASINO };
    let amount = Object::new().with("value", "1.00").with("currency", "USD");
    let slots = Object::new().with("category", "office_supplies").with("max_total", "20.00");
    Object::new()
        .with("payee", Object::new().with("domain", payee).with("name", "The shop around the corner"))
        .with("amount", amount)
        .with("purpose", format!("Printer paper, order {name}"))
        .with("intent", Object::new().with("text", "Buy five reams of printer paper for at most 20 dollars").with("slots", slots))
        .into()
}

/// So many clients ask, each again and again, until it is time to stop.
pub(crate) fn drive(target: &Target, clients: usize, asked: Asked, until: Until) -> Driven {
    let target = target.clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let begun = Instant::now();
            let left = Arc::new(AtomicU64::new(if let Until::Count(count) = until { count } else { u64::MAX }));
            let end = if let Until::Time(time) = until { Some(begun + time) } else { None };
            let clients: Vec<_> = (0..clients)
                .map(|_| {
                    let (target, left) = (target.clone(), left.clone());
                    tokio::spawn(async move { client(&target, asked, end, &left).await })
                })
                .collect();
            let mut latencies = Vec::new();
            for client in clients {
                latencies.extend(client.await.unwrap());
            }
            let seconds = begun.elapsed().as_secs_f64();
            latencies.sort_by(f64::total_cmp);
            Driven { requests: latencies.len() as u64, seconds, latencies }
        })
    };
    thread::Builder::new().name(THREAD.to_owned()).spawn(run).unwrap().join().unwrap()
}

async fn client(target: &Target, asked: Asked, end: Option<Instant>, left: &AtomicU64) -> Vec<f64> {
    let mut stream = TcpStream::connect(target.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut latencies, mut answer) = (Vec::new(), Vec::with_capacity(16 << 10));
    let wanted = if asked == Asked::Allow { r#""result":"allow""# } else { r#""result":"deny""# };
    while end.is_none_or(|end| Instant::now() < end) && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        let name = fresh_name();
        let body = json::write(&body(asked, &name));
        let request = format!(
            "POST /v0/payment-requests HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {name}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            target.address,
            target.key,
            body.len()
        );
        let begun = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        read(&mut stream, &mut answer).await;
        latencies.push(begun.elapsed().as_secs_f64());
        let text = std::str::from_utf8(&answer).unwrap();
        assert!(text.starts_with("HTTP/1.1 201 "), "{text}");
        if latencies.len() == 1 {
            assert!(text.contains(wanted), "{text}");
        }
    }
    latencies
}

/// Reads one answer, whose length its head says.
async fn read(stream: &mut TcpStream, answer: &mut Vec<u8>) {
    answer.clear();
    let mut whole = usize::MAX;
    while answer.len() < whole {
        assert!(stream.read_buf(answer).await.unwrap() > 0, "the server hung up");
        if whole == usize::MAX
            && let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let text = std::str::from_utf8(&answer[..head]).unwrap().to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap();
            whole = head + 4 + length.trim().parse::<usize>().unwrap();
        }
    }
}
