//! The tools over Streamable HTTP on a loopback port, for the MCP conformance suite: `http PORT`.
//!
//! It has no wallet and no network, so `atr_confirm` declines. Stateless, JSON answers, loopback hosts and origins only.

use std::{error::Error, net::Ipv4Addr, sync::Arc, time::Duration};

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::never::NeverSessionManager};
use terms_mcp::{Body, BuyerServer, Env, Fetch, FetchFailed, Request, Response};
use tokio::{net::TcpListener, time::Instant};

/// A network that reaches nothing.
struct Unplugged;

impl Fetch for Unplugged {
    type Body = Unplugged;

    async fn get(&self, _request: Request<'_>) -> Result<Response<Unplugged>, FetchFailed> {
        Err(FetchFailed::new("this server has no network"))
    }
}

impl Body for Unplugged {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        Ok(None)
    }
}

/// The system's clock and randomness.
struct System {
    start: Instant,
}

impl Env for System {
    fn now(&self) -> u64 {
        std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).unwrap_or_else(|error| panic!("no random bytes: {error}"));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("usage: http PORT")?.parse()?;
    let server = BuyerServer::new(Unplugged, System { start: Instant::now() });
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true).with_allowed_origins([
        "http://localhost:*",
        "http://127.0.0.1:*",
        "http://[::1]:*",
    ]);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), TowerToHyperService::new(service.clone()));
        tokio::spawn(connection);
    }
}
