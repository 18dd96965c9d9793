//! The agreement exchange of every pairing that pays an agreement first, through the tools, with a seller over TLS.
//!
//! The documents, the payment requests and the wallets' answers are recorded ones; network and server are the binary's own.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    io::Read as _,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use flate2::read::GzDecoder;
use http_body_util::Full;
use hyper::{Request, Response, body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use lcp::{Hash, Object, Value, encoding, json, registry::PAIRINGS};
use terms_mcp::{BuyerServer, Env, Fetch, FetchFailed, Signer, SignerFailed};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    net::TcpListener,
    sync::Notify,
};

use crate::{
    demo::seller::tls,
    public_fetch::{Allowed, PublicBody, PublicFetch},
};

/// A recorded `atr_transact` in which an approved agreement was paid, and then the payment.
struct Row(Value);

impl Row {
    /// One for each pairing that pays an agreement first.
    fn all() -> Vec<Self> {
        let vectors = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors"));
        let mut found = BTreeMap::new();
        for group in ["checkout", "gate", "mpp", "x402-evm", "x402-rails"] {
            for file in fs::read_dir(vectors.join(group)).unwrap() {
                let mut text = String::new();
                GzDecoder::new(fs::File::open(file.unwrap().path()).unwrap()).read_to_string(&mut text).unwrap();
                for line in text.lines().filter(|line| line.contains(r#""op":"transact""#) && line.contains(r#""approved":{"#)) {
                    let row = Self(json::parse(line, 128).unwrap());
                    let first_answer = row.at(&["network"]).as_array().unwrap().get(1).and_then(|answer| answer.get("status")?.as_safe_unsigned());
                    if row.0.get("expect").is_some_and(|expect| expect.get("agreement").is_some()) && first_answer == Some(200) {
                        found.insert(row.text(&["pairing"]).to_owned(), row);
                    }
                }
            }
        }
        let agreement_first: Vec<&str> = PAIRINGS.iter().filter(|entry| entry.agreement_first).map(|entry| entry.id).collect();
        let mut ids: Vec<&str> = found.keys().map(String::as_str).collect();
        ids.sort_unstable_by_key(|id| PAIRINGS.iter().position(|entry| entry.id == *id));
        assert_eq!(ids, agreement_first);
        found.into_values().collect()
    }

    fn at(&self, path: &[&str]) -> &Value {
        path.iter().fold(&self.0, |value, name| value.get(name).unwrap_or_else(|| panic!("{path:?}")))
    }

    fn text(&self, path: &[&str]) -> &str {
        self.at(path).as_str().unwrap()
    }

    fn pairing(&self) -> &str {
        self.text(&["pairing"])
    }

    /// The body of an answer that the network gave.
    fn served(&self, index: usize) -> Vec<u8> {
        encoding::from_base64(self.at(&["network"]).as_array().unwrap()[index].get("body").unwrap().as_str().unwrap()).unwrap()
    }

    /// The arguments of `atr_transact`.
    fn transact(&self, approved: Option<&Value>) -> Object {
        let arguments = self.at(&["args"]).as_object().unwrap().without("approved");
        arguments.with_some("approved", approved)
    }

    /// The wallet at a place.
    fn wallet(&self, place: &[&str]) -> Option<Wallet> {
        let signer = place.iter().try_fold(&self.0, |value, name| value.get(name))?;
        let answers = signer.get("answers")?.as_array()?.to_vec();
        Some(Wallet { account: signer.get("account")?.as_str()?.to_owned(), answers, asked: Arc::default() })
    }
}

/// Gives the recorded answers, one after another.
#[derive(Clone)]
struct Wallet {
    account: String,
    answers: Vec<Value>,
    asked: Arc<AtomicUsize>,
}

impl Signer for Wallet {
    fn account(&self) -> Option<&str> {
        Some(&self.account)
    }

    async fn sign(&self, _request: &Value) -> Result<Value, SignerFailed> {
        let index = self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.get(index).cloned().ok_or_else(|| SignerFailed::new("asked more than was recorded"))
    }
}

/// What the agreement URL answers to a payment.
#[derive(Clone, Copy)]
enum Answer {
    Fails,
    Settles,
    Records,
}

/// A seller's two hosts on one loopback port.
struct Seller {
    port: u16,
    certificate: String,
    shop: Arc<Shop>,
}

struct Shop {
    atr: Vec<u8>,
    required: String,
    receipt: Vec<u8>,
    /// What the next payments are answered with; the last one stays.
    answers: Mutex<Vec<Answer>>,
    recorded: Mutex<bool>,
    /// The payments that came in.
    payments: Mutex<Vec<Value>>,
}

impl Seller {
    async fn start(row: &Row, answers: &[Answer]) -> Self {
        let shop = Arc::new(Shop {
            atr: row.served(0),
            required: encoding::base64(json::write(row.at(&["args", "approved", "required"])).as_bytes()),
            receipt: row.served(1),
            answers: Mutex::new(answers.iter().rev().copied().collect()),
            recorded: Mutex::new(false),
            payments: Mutex::default(),
        });
        let (certificate, acceptor) = tls().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = shop.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, shop) = (acceptor.clone(), serving.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = service_fn(move |request| {
                        let answer = shop.answer(&request);
                        async move { Ok::<_, Infallible>(answer) }
                    });
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { port, certificate, shop }
    }

    fn payments(&self) -> Vec<Value> {
        self.shop.payments.lock().unwrap().clone()
    }

    /// The payment settled after all.
    fn record(&self) {
        *self.shop.recorded.lock().unwrap() = true;
    }
}

impl Shop {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let answer = |status: u16, body: &[u8]| Response::builder().status(status).body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        if request.uri().path().starts_with("/atr.seller.example/") {
            return answer(200, &self.atr);
        }
        let mut recorded = self.recorded.lock().unwrap();
        let Some(payment) = request.headers().get("payment-signature") else {
            if *recorded {
                return answer(200, &self.receipt);
            }
            let mut required = answer(402, b"");
            required.headers_mut().insert("payment-required", self.required.parse().unwrap());
            return required;
        };
        let payment = encoding::from_base64(payment.to_str().unwrap()).unwrap();
        self.payments.lock().unwrap().push(json::parse_bytes(&payment, json::MAX_DEPTH).unwrap());
        let mut answers = self.answers.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop() } else { answers.last().copied() };
        match next.unwrap() {
            Answer::Fails => answer(503, b"busy"),
            Answer::Settles => {
                let mut settling = answer(202, b"");
                settling.headers_mut().insert("retry-after", "7".parse().unwrap());
                settling
            }
            Answer::Records => {
                *recorded = true;
                answer(200, &self.receipt)
            }
        }
    }
}

/// The binary's network, turned to the seller's port.
struct ToSeller {
    fetch: PublicFetch,
    port: u16,
}

impl Fetch for ToSeller {
    type Body = PublicBody;

    async fn get(&self, request: terms_mcp::Request<'_>) -> Result<terms_mcp::Response<PublicBody>, FetchFailed> {
        let url = request.url.replacen("https://", &format!("https://127.0.0.1:{}/", self.port), 1);
        self.fetch.get(terms_mcp::Request { url: &url, ..request }).await
    }
}

/// The recorded clock. Waiting moves it, at once.
#[derive(Clone, Default)]
struct Clock(Arc<Waits>);

#[derive(Default)]
struct Waits {
    elapsed: AtomicU64,
    /// The waits.
    seconds: Mutex<Vec<u64>>,
    /// Waiting does not end.
    stands: bool,
    waiting: Notify,
}

impl Clock {
    fn standing() -> Self {
        Self(Arc::new(Waits { stands: true, ..Waits::default() }))
    }

    fn waits(&self) -> Vec<u64> {
        self.0.seconds.lock().unwrap().clone()
    }
}

impl Env for Clock {
    fn now(&self) -> u64 {
        1_790_000_000
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.elapsed.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        self.0.seconds.lock().unwrap().push(duration.as_secs());
        self.0.waiting.notify_one();
        if self.0.stands {
            std::future::pending::<()>().await;
        }
        self.0.elapsed.fetch_add(u64::try_from(duration.as_millis()).unwrap(), Ordering::SeqCst);
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// An MCP client of the server in this process.
struct Client {
    ask: WriteHalf<DuplexStream>,
    answers: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: u32,
}

impl Client {
    async fn connected(row: &Row, seller: &Seller, clock: &Clock) -> Self {
        let file = std::env::temp_dir().join(format!("terms-mcp-agreement-{}.pem", seller.port));
        fs::write(&file, &seller.certificate).unwrap();
        let fetch = PublicFetch::new(Allowed { nets: vec!["127.0.0.0/8".parse().unwrap()], ca_certs: vec![file.clone()] }).unwrap();
        fs::remove_file(file).unwrap();
        let server = BuyerServer::new(ToSeller { fetch, port: seller.port }, clock.clone()).signer(row.wallet(&["signer"]).unwrap());
        let (near, far) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(far);
        match row.wallet(&["signer", "agreement"]) {
            Some(payer) => drop(tokio::spawn(terms_mcp::serve(server.agreement_signer(payer), reader, writer))),
            None => drop(tokio::spawn(terms_mcp::serve(server, reader, writer))),
        }
        let (answers, ask) = tokio::io::split(near);
        let mut client = Self { ask, answers: BufReader::new(answers).lines(), asked: 0 };
        let hello = Object::new()
            .with("protocolVersion", "2025-11-25")
            .with("capabilities", Object::new())
            .with("clientInfo", Object::new().with("name", "test").with("version", "1"));
        client.request("initialize", hello).await;
        client
    }

    async fn send(&mut self, message: Object) {
        self.ask.write_all(format!("{}\n", json::write(&message.with("jsonrpc", "2.0").into())).as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, params: Object) -> u32 {
        self.asked += 1;
        self.send(Object::new().with("id", self.asked).with("method", method).with("params", params)).await;
        self.asked
    }

    async fn request(&mut self, method: &str, params: Object) -> Value {
        let id = self.ask(method, params).await;
        let answer = json::parse(&self.answers.next_line().await.unwrap().unwrap(), 256).unwrap();
        assert_eq!(answer.get("id"), Some(&id.into()));
        answer.get("result").unwrap_or_else(|| panic!("{answer:?}")).clone()
    }

    async fn call(&mut self, tool: &str, arguments: Object) -> Value {
        let result = self.request("tools/call", Object::new().with("name", tool).with("arguments", arguments)).await;
        result.get("structuredContent").unwrap_or_else(|| panic!("{result:?}")).clone()
    }
}

/// The agreement payment in what a tool shows: the one the row approves. Nothing is paid for it.
fn shown(row: &Row, seller: &Seller, content: &Value) -> Value {
    let approve = content.get("approve").unwrap_or_else(|| panic!("{}: {content:?}", row.pairing()));
    assert!(json::same(approve, row.at(&["args", "approved"])), "{}", row.pairing());
    assert!(seller.payments().is_empty());
    approve.clone()
}

/// The receipt and the main payment in what `atr_transact` returns.
fn assert_paid(row: &Row, content: &Value) {
    for name in ["atrHash", "agreement", "signed"] {
        let expected = row.at(&["expect"]).get(name);
        assert!(expected.is_some() && content.get(name) == expected, "{}: {name} of {content:?}", row.pairing());
    }
}

fn assert_one_payment(row: &Row, seller: &Seller, times: usize) -> Value {
    let payments = seller.payments();
    assert_eq!(payments.len(), times, "{}", row.pairing());
    assert!(payments.iter().all(|payment| *payment == payments[0]), "{}: signed anew", row.pairing());
    let h = Hash::of(&row.served(0)).to_string();
    assert!(json::write(&payments[0]).contains(&h), "{}", row.pairing());
    payments[0].clone()
}

#[tokio::test]
async fn shown_then_paid_through_a_failure_and_a_settling_and_the_main_payment_follows() {
    for row in Row::all() {
        let seller = Seller::start(&row, &[Answer::Fails, Answer::Settles, Answer::Records]).await;
        let clock = Clock::default();
        let mut client = Client::connected(&row, &seller, &clock).await;
        let approve = shown(&row, &seller, &client.call("atr_transact", row.transact(None)).await);
        assert_paid(&row, &client.call("atr_transact", row.transact(Some(&approve))).await);
        assert_one_payment(&row, &seller, 3);
        assert_eq!(clock.waits(), [2, 7]);
    }
}

#[tokio::test]
async fn the_agreement_alone_is_shown_and_paid() {
    for row in Row::all() {
        let seller = Seller::start(&row, &[Answer::Settles, Answer::Records]).await;
        let mut client = Client::connected(&row, &seller, &Clock::default()).await;
        let confirm = row.transact(None).with("account", row.text(&["signer", "account"]));
        let confirmed = client.call("atr_confirm", confirm.clone()).await;
        assert_eq!(confirmed.get("request"), None, "{}: nothing is signed before the agreement", row.pairing());
        let (atr, chosen) = (confirmed.get("atr").unwrap().get("base64").unwrap(), confirmed.get("chosen").unwrap());
        let agree = Object::new().with("atr", atr).with("chosen", chosen);
        let approve = shown(&row, &seller, &client.call("atr_agree", agree.clone()).await);
        let agreed = client.call("atr_agree", agree.clone().with("approved", approve)).await;
        let receipt = agreed.get("receipt").unwrap_or_else(|| panic!("{}: {agreed:?}", row.pairing()));
        assert_eq!(receipt, row.at(&["expect", "agreement"]));
        assert_one_payment(&row, &seller, 2);
        let with_receipt = client.call("atr_confirm", confirm.with("receipt", receipt)).await;
        assert!(with_receipt.get("decline").is_none() && with_receipt.get("request").is_some(), "{}: {with_receipt:?}", row.pairing());
    }
}

#[tokio::test]
async fn cancelled_midway_nothing_more_is_sent_and_the_receipt_is_collected_later() {
    for row in Row::all() {
        let seller = Seller::start(&row, &[Answer::Settles]).await;
        let clock = Clock::standing();
        let mut client = Client::connected(&row, &seller, &clock).await;
        let approve = shown(&row, &seller, &client.call("atr_transact", row.transact(None)).await);
        let call = Object::new().with("name", "atr_transact").with("arguments", row.transact(Some(&approve)));
        let id = client.ask("tools/call", call).await;
        clock.0.waiting.notified().await;
        let cancelled = Object::new().with("method", "notifications/cancelled").with("params", Object::new().with("requestId", id));
        client.send(cancelled).await;
        // A cancelled call has no answer: the next line answers the next request.
        client.request("ping", Object::new()).await;
        seller.record();
        assert_paid(&row, &client.call("atr_transact", row.transact(None)).await);
        assert_one_payment(&row, &seller, 1);
    }
}

#[tokio::test]
async fn a_seller_that_keeps_failing_leaves_the_payment_with_the_caller() {
    for row in Row::all() {
        let seller = Seller::start(&row, &[Answer::Fails]).await;
        let clock = Clock::default();
        let mut client = Client::connected(&row, &seller, &clock).await;
        let approve = shown(&row, &seller, &client.call("atr_transact", row.transact(None)).await);
        let content = client.call("atr_transact", row.transact(Some(&approve))).await;
        assert_eq!(content.get("decline").and_then(|decline| decline.get("code")), Some(&"agreement-pending".into()), "{}", row.pairing());
        let timeout = approve.get("option").and_then(|option| option.get("maxTimeoutSeconds")?.as_safe_unsigned()).unwrap();
        let waited: u64 = clock.waits().iter().sum();
        assert_eq!(waited, timeout + 180);
        let payment = assert_one_payment(&row, &seller, clock.waits().len());
        assert_eq!(content.get("moved").and_then(|moved| moved.get("signed")), Some(&payment), "{}", row.pairing());
        // It settled after all.
        seller.record();
        assert_paid(&row, &client.call("atr_transact", row.transact(None)).await);
        assert_eq!(seller.payments().len(), clock.waits().len());
    }
}
