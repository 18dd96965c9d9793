//! The real server in this process, on a port of its own, with the limits of calls off.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use control::request::Form;
use lcp::{Object, Value, json};
use server::{
    Caller, Service,
    data_folder::{DataFolder, Lock},
    http::{self, HttpSettings, Limits},
    mcp::{self, McpSettings},
    pages::{self, PageSettings},
    public_url::PublicUrl,
    service::{Paths, ServiceOptions},
};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::sync::CancellationToken;

use crate::client::Target;

/// Whom the policy lets be paid, and whom it does not.
pub(crate) const SHOP: &str = "sandbox-shop.example";
pub(crate) const CASINO: &str = "casino.example";

/// The file in a data folder that holds the keys of the first start, one a line.
const KEYS: &str = "bench.keys";

/// A server that runs.
pub(crate) struct Plane {
    pub(crate) service: Service,
    pub(crate) runtime: Runtime,
    address: SocketAddr,
    keys: Keys,
    stop: CancellationToken,
    _lock: Lock,
}

/// The keys that the first start shows.
struct Keys {
    agent: String,
    seller: String,
}

impl Plane {
    /// Starts a server on the folder, with a policy under which a million payments are allowed if this is its first start.
    pub(crate) fn start(folder: &Path, is_durable: bool) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let stop = CancellationToken::new();
        let lock = DataFolder::make(folder).unwrap().lock().unwrap();
        let (service, address, keys) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let url = PublicUrl::of(address);
            let paths = Paths { database: lock.folder().database(), master_key: lock.folder().master_key() };
            let service = Service::open(&paths, ServiceOptions { is_durable, ..ServiceOptions::sandbox(url.to_string()) }).await.unwrap();
            let keys = keys(&service, folder).await;
            let stopped = stop.clone().cancelled_owned();
            tokio::spawn(work(service.clone(), stop.clone()));
            tokio::spawn(http::serve(listener, router(service.clone(), url), stopped));
            (service, address, keys)
        });
        Self { service, runtime, address, keys, stop, _lock: lock }
    }

    /// Where the agent asks to pay.
    pub(crate) fn target(&self) -> Target {
        Target { address: self.address, key: self.keys.agent.clone() }
    }

    /// The agent and the shop, to be called in process.
    pub(crate) fn callers(&self) -> (Caller, Caller) {
        self.runtime.block_on(async {
            let (agent, seller) = (self.service.authenticate(&self.keys.agent).await, self.service.authenticate(&self.keys.seller).await);
            (agent.unwrap(), seller.unwrap())
        })
    }

    /// Ends it; the database is folded into its file.
    pub(crate) fn stop(self) {
        self.stop.cancel();
        drop(self.service);
        self.runtime.shutdown_timeout(Duration::from_secs(20));
    }
}

/// Asks to pay, in process; then the seller takes an order with the mandate, so that the record is sealed.
pub(crate) async fn pay_and_order(service: &Service, agent: &Caller, seller: &Caller, key: &str, body: &Value) {
    let answered = service.request_payment(agent, body, Form::Rest, Some(key)).await.unwrap();
    let view: Value = answered.view.into();
    let Some(jws) = view.get("mandate").and_then(|mandate| mandate.get("jws")).and_then(Value::as_str) else { return };
    let total = body.get("amount").unwrap().clone();
    let order = Object::new().with("id", key).with("total", total);
    service.observe_order(seller, &Object::new().with("mandate", jws).with("order", order).into()).await.unwrap();
}

/// The keys of the folder, made if this is its first start.
async fn keys(service: &Service, folder: &Path) -> Keys {
    if let Some(first) = service.first_start().await.unwrap() {
        fs::write(folder.join(KEYS), format!("{}\n{}\n", first.agent_key, first.seller_key)).unwrap();
        let developer = service.authenticate(&first.developer_key).await.unwrap();
        let policies: Value = service.policies(&developer).await.unwrap().into();
        let id = policies.get("data").unwrap().as_array().unwrap()[0].get("id").unwrap().clone();
        let document: Object = json::parse(include_str!("policy.json"), 8).unwrap().as_object().unwrap().clone();
        service.sign_policy(&developer, &document.with("id", id).into()).await.unwrap();
    }
    Keys::read(folder)
}

/// The agent's key of a folder that a server was started on before.
pub(crate) fn agent_key(folder: &Path) -> String {
    Keys::read(folder).agent
}

impl Keys {
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(KEYS)).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        Self { agent: lines.next().unwrap(), seller: lines.next().unwrap() }
    }
}

fn router(service: Service, url: PublicUrl) -> axum::Router {
    let random = || {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).unwrap();
        bytes
    };
    let public_url = url.to_string();
    let mut settings = HttpSettings::new(url, Instant::now, random);
    settings.limits = Limits { key: None, address: None, ..settings.limits };
    let mcp = McpSettings {
        allowed_hosts: settings.allowed_hosts.clone(),
        allowed_origins: settings.allowed_origins.clone(),
        max_body_bytes: http::MAX_BODY,
    };
    let (mcp, pages) = (mcp::router(service.clone(), mcp), pages::router(service.clone(), PageSettings { public_url, sandbox: true }));
    http::app(service, settings, mcp, pages)
}

/// Does what is due, as the binary does.
async fn work(service: Service, stop: CancellationToken) {
    const LONGEST_REST: Duration = Duration::from_secs(1);
    let mut changes = service.changes();
    while !stop.is_cancelled() {
        service.run_due().await.unwrap();
        let next = service.next_due().await.unwrap();
        let rest = next.map_or(LONGEST_REST, |at| Duration::from_millis(u64::try_from(at.millis() - service.now().millis()).unwrap_or(0)));
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(rest.min(LONGEST_REST)) => {}
            _ = changes.recv() => {}
        }
    }
}
