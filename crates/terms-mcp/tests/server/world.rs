//! A scripted network, clock and wallet, which note what is done with them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use lcp::{Value, encoding, json};
use terms_mcp::{Body, Env, Fetch, FetchFailed, Request, Response, Signer, SignerFailed};
use tokio::{sync::Notify, time::Instant};

/// What the network answers to a request: for its URL, the payment it carries, and how many came before it.
type Network = dyn Fn(&str, Option<Value>, usize) -> Served + Send + Sync;

pub(crate) enum Served {
    Answer {
        status: u16,
        headers: Vec<(String, Vec<u8>)>,
        body: Vec<u8>,
    },
    /// Nothing, for ever.
    Silence,
}

impl Served {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Answer { status: 200, headers: Vec::new(), body: body.into() }
    }

    /// A 402 with a payment request in its header.
    pub(crate) fn payment_required(required: &Value) -> Self {
        let header = encoding::base64(json::write(required).as_bytes());
        Self::Answer { status: 402, headers: vec![("PAYMENT-REQUIRED".to_owned(), header.into())], body: Vec::new() }
    }
}

/// A network, and the clock of the test's runtime.
#[derive(Clone)]
pub(crate) struct World(Arc<Shared>);

struct Shared {
    network: Box<Network>,
    start: Instant,
    requests: Mutex<Vec<String>>,
    asked: Mutex<Vec<Value>>,
    /// A request met silence.
    silent: Notify,
    /// The future of one that met silence was dropped.
    gave_up: Arc<Notify>,
}

impl World {
    pub(crate) fn new(network: impl Fn(&str, Option<Value>, usize) -> Served + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            network: Box::new(network),
            start: Instant::now(),
            requests: Mutex::default(),
            asked: Mutex::default(),
            silent: Notify::new(),
            gave_up: Arc::default(),
        }))
    }

    /// The URLs that were asked, in order.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.requests.lock().unwrap().clone()
    }

    /// What the wallets were asked to sign.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.0.asked.lock().unwrap().clone()
    }

    pub(crate) async fn until_silent(&self) {
        self.0.silent.notified().await;
    }

    pub(crate) async fn until_given_up(&self) {
        self.0.gave_up.notified().await;
    }

    /// A wallet that signs whatever it is asked, with signatures of the right form.
    pub(crate) fn wallet(&self) -> Wallet {
        Wallet { world: self.clone(), panics: false }
    }

    pub(crate) fn panicking_wallet(&self) -> Wallet {
        Wallet { world: self.clone(), panics: true }
    }
}

impl Fetch for World {
    type Body = Whole;

    async fn get(&self, request: Request<'_>) -> Result<Response<Whole>, FetchFailed> {
        let payment = request.headers.iter().find(|(name, _)| *name == "PAYMENT-SIGNATURE");
        let payment = payment.map(|(_, value)| json::parse_bytes(&encoding::from_base64(value).unwrap(), 64).unwrap());
        let before = {
            let mut requests = self.0.requests.lock().unwrap();
            requests.push(request.url.to_owned());
            requests.len() - 1
        };
        match (self.0.network)(request.url, payment, before) {
            Served::Answer { status, headers, body } => Ok(Response { status, headers, body: Whole(Some(body)) }),
            Served::Silence => {
                let _given_up = GivenUp(self.0.gave_up.clone());
                self.0.silent.notify_one();
                std::future::pending().await
            }
        }
    }
}

struct GivenUp(Arc<Notify>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

pub(crate) struct Whole(Option<Vec<u8>>);

impl Body for Whole {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        Ok(self.0.take())
    }
}

impl Env for World {
    fn now(&self) -> u64 {
        1_790_000_000
    }

    fn elapsed(&self) -> Duration {
        self.0.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

pub(crate) struct Wallet {
    world: World,
    panics: bool,
}

pub(crate) const ACCOUNT: &str = "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

pub(crate) fn signature() -> String {
    format!("0x{}1b", "11".repeat(64))
}

impl Signer for Wallet {
    fn account(&self) -> Option<&str> {
        Some(ACCOUNT)
    }

    async fn sign(&self, request: &Value) -> Result<Value, SignerFailed> {
        assert!(!self.panics, "the wallet of this test panics");
        self.world.0.asked.lock().unwrap().push(request.clone());
        let signature = Value::from(signature());
        Ok(match request.get("requests").and_then(Value::as_array) {
            Some(requests) => vec![signature; requests.len()].into(),
            None => signature,
        })
    }
}
