//! The world of a row: its network, clock, randomness and wallets, pinned, and what was done in it.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lcp::{Object, Value, encoding};
use terms::{Body, CancellationToken, Env, Fetch, FetchFailed, Request, Response, Signer, SignerFailed};
use tokio::sync::Notify;

use crate::row::{self, Row};

/// The world, shared by the network, the clock and the wallets it hands out.
#[derive(Clone)]
pub struct World(Arc<Pinned>);

struct Pinned {
    now: u64,
    reference: Vec<u8>,
    random: Vec<Vec<u8>>,
    drawn: AtomicUsize,
    network: Vec<Value>,
    cancel_at: Option<(String, usize)>,
    signatures: AtomicUsize,
    cancel: CancellationToken,
    /// Where a cancellation takes its way through the server: what a cancelled step waits for until it has arrived.
    arrival: Option<Notify>,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    elapsed: Duration,
    requests: Vec<Value>,
    asked: Vec<Value>,
    waits: Vec<Value>,
}

/// A row's clock, which may stand past the integers that a pairing takes from JSON.
fn clock(value: &Value) -> u64 {
    match value {
        // The cast saturates: a clock below zero reads as zero.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Value::Number(seconds) => *seconds as u64,
        _ => 0,
    }
}

impl World {
    /// The world of a row, whose cancellation is the caller's token.
    pub fn of(row: &Row) -> Self {
        Self::new(row, None)
    }

    /// The world of a row whose cancellation goes through the server: a cancelled step waits for [`World::release`].
    pub fn behind_a_server(row: &Row) -> Self {
        Self::new(row, Some(Notify::new()))
    }

    fn new(row: &Row, arrival: Option<Notify>) -> Self {
        let texts = |name: &str| row.get(name).and_then(Value::as_array).unwrap_or_default().to_vec();
        let cancel_at = row.get("cancel").and_then(|cancel| {
            let index = cancel.get("index").and_then(Value::as_safe_unsigned).unwrap_or_default();
            Some((cancel.get("at")?.as_str()?.to_owned(), usize::try_from(index).ok()?))
        });
        let cancel = CancellationToken::new();
        if cancel_at.as_ref().is_some_and(|(at, _)| at == "start") {
            cancel.cancel();
        }
        Self(Arc::new(Pinned {
            now: row.get("clock").map_or(0, clock),
            reference: row.get("ref").and_then(Value::as_str).and_then(encoding::from_base64url).unwrap_or_default(),
            random: texts("random").iter().filter_map(|hex| encoding::from_hex(hex.as_str()?)).collect(),
            drawn: AtomicUsize::new(0),
            network: texts("network"),
            cancel_at,
            signatures: AtomicUsize::new(0),
            cancel,
            arrival,
            done: Mutex::default(),
        }))
    }

    /// The caller's cancellation.
    pub fn cancel(&self) -> &CancellationToken {
        &self.0.cancel
    }

    /// The cancellation has arrived.
    pub fn release(&self) {
        if let Some(arrival) = &self.0.arrival {
            arrival.notify_one();
        }
    }

    /// A wallet of the row's `signer`, or of its `agreement`.
    pub fn wallet(&self, name: &'static str, signer: &Value) -> Wallet {
        Wallet {
            world: self.clone(),
            name,
            account: signer.get("account").and_then(Value::as_str).map(str::to_owned),
            answers: signer.get("answers").and_then(Value::as_array).unwrap_or_default().to_vec(),
            asked: AtomicUsize::new(0),
        }
    }

    /// What was done outside, in the form of a row's `effects`.
    pub fn effects(&self) -> Object {
        let done = self.done();
        [("requests", &done.requests), ("asked", &done.asked), ("waits", &done.waits)]
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .fold(Object::new(), |effects, (name, list)| effects.with(name, list.clone()))
    }

    fn done(&self) -> MutexGuard<'_, Done> {
        self.0.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cancel_if(&self, at: &str, index: usize) {
        if self.0.cancel_at.as_ref().is_some_and(|(when, which)| when == at && *which == index) {
            self.0.cancel.cancel();
            if let Some(arrival) = &self.0.arrival {
                arrival.notified().await;
            }
        }
    }
}

impl Env for World {
    fn now(&self) -> u64 {
        self.0.now
    }

    fn elapsed(&self) -> Duration {
        self.done().elapsed
    }

    async fn sleep(&self, duration: Duration) {
        let index = {
            let mut done = self.done();
            done.elapsed += duration;
            done.waits.push(duration.as_secs().into());
            done.waits.len() - 1
        };
        self.cancel_if("wait", index).await;
    }

    /// A reference is 24 bytes long; every other draw has another length.
    fn random(&self, bytes: &mut [u8]) {
        let drawn = if bytes.len() == 24 { Some(&self.0.reference) } else { self.0.random.get(self.0.drawn.fetch_add(1, Ordering::Relaxed)) };
        if let Some(drawn) = drawn.filter(|drawn| drawn.len() == bytes.len()) {
            bytes.copy_from_slice(drawn);
        }
    }
}

impl Fetch for World {
    type Body = ServedBody;

    async fn get(&self, request: Request<'_>) -> Result<Response<ServedBody>, FetchFailed> {
        let sent = request.headers.iter().find(|(name, _)| *name == "PAYMENT-SIGNATURE").map(|(_, value)| *value);
        let index = {
            let mut done = self.done();
            done.requests.push(Object::new().with("method", "GET").with("url", request.url).with_some("payment_signature", sent).into());
            done.requests.len() - 1
        };
        self.cancel_if("request", index).await;
        let refused = || FetchFailed::new("refused");
        let answer = self.0.network.get(index).ok_or_else(refused)?;
        let delay = answer.get("delay").and_then(Value::as_safe_unsigned).map(Duration::from_secs).unwrap_or_default();
        let error = answer.get("error").and_then(Value::as_str);
        let never = error == Some("timeout") || delay >= request.deadline;
        self.done().elapsed += if never { request.deadline } else { delay };
        if never || error.is_some_and(|error| error != "truncated") {
            return Err(refused());
        }
        let header = |(name, value): (&str, &Value)| {
            (name.to_owned(), value.as_text().into_iter().flat_map(lcp::Text::code_units).map(|unit| u8::try_from(unit).unwrap_or(b'?')).collect())
        };
        let headers = match answer.get("headers") {
            Some(Value::Array(pairs)) => {
                pairs.iter().filter_map(|pair| Some(header((pair.as_array()?.first()?.as_str()?, pair.as_array()?.get(1)?)))).collect()
            }
            Some(Value::Object(headers)) => headers.iter().filter_map(|(name, value)| Some(header((name.as_str()?, value)))).collect(),
            _ => Vec::new(),
        };
        let status = answer.get("status").and_then(Value::as_safe_unsigned).and_then(|status| u16::try_from(status).ok()).ok_or_else(refused)?;
        let mut body = row::bytes_of(answer).or_else(|| row::bytes_of(answer.get("body")?)).unwrap_or_default();
        let truncated = error == Some("truncated");
        if truncated {
            body.truncate(body.len() / 2);
        }
        Ok(Response { status, headers, body: ServedBody { rest: body, truncated } })
    }
}

/// A body of the recorded network.
pub struct ServedBody {
    rest: Vec<u8>,
    truncated: bool,
}

impl Body for ServedBody {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        let tail = self.rest.split_off(self.rest.len().min(64 * 1024));
        let chunk = std::mem::replace(&mut self.rest, tail);
        match (chunk.is_empty(), self.truncated) {
            (false, _) => Ok(Some(chunk)),
            (true, true) => Err(FetchFailed::new("the body broke off")),
            (true, false) => Ok(None),
        }
    }
}

/// A wallet with recorded answers.
pub struct Wallet {
    world: World,
    name: &'static str,
    account: Option<String>,
    answers: Vec<Value>,
    asked: AtomicUsize,
}

impl Signer for Wallet {
    fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    async fn sign(&self, request: &Value) -> Result<Value, SignerFailed> {
        self.world.done().asked.push(Object::new().with("signer", self.name).with("request", request).into());
        self.world.cancel_if("sign", self.world.0.signatures.fetch_add(1, Ordering::Relaxed)).await;
        let answer = self.answers.get(self.asked.fetch_add(1, Ordering::Relaxed));
        match answer {
            Some(answer) if answer.get("throw").is_none() => Ok(answer.clone()),
            _ => Err(SignerFailed::new("the recorded wallet throws")),
        }
    }
}
