//! The whole server in this process: what owns the data folder, and what serves it to others.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use server::{
    Problem, Service,
    config::Config,
    data_folder::Lock,
    http::{self, HttpSettings, Limit},
    local::Channel,
    mcp::{self, McpSettings},
    pages::{self, PageSettings},
    public_url::{PublicUrl, is_loopback},
    service::{FirstStart, Paths, ServiceOptions},
};
use tokio::{net::TcpListener, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::arguments::Failure;

/// How long work that time brings may wait at most, should it come without a word.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// How long to wait before work is tried again that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A server that runs. It ends with [`Plane::stop`].
pub(crate) struct Plane {
    pub(crate) service: Service,
    pub(crate) base: String,
    pub(crate) first_start: Option<FirstStart>,
    stop: CancellationToken,
    tasks: JoinSet<Result<(), Failure>>,
    /// The folder is given back last.
    _lock: Lock,
}

/// Opens what is in the folder. `bound` is where the server listens, or would.
pub(crate) async fn open(lock: &Lock, config: &Config, bound: SocketAddr) -> Result<Service, Problem> {
    let folder = lock.folder();
    let paths = Paths { database: folder.database(), master_key: folder.master_key() };
    let options = ServiceOptions {
        is_sandbox: config.sandbox,
        rail_fails: config.sandbox_rail_fails,
        ..ServiceOptions::sandbox(base(config, bound).to_string())
    };
    Service::open(&paths, options).await
}

impl Plane {
    /// Starts everything: the local channel, the work that time brings, and, with a listener, HTTP.
    pub(crate) async fn start(lock: Lock, config: &Config, listener: Option<TcpListener>) -> Result<Self, Failure> {
        let bound = listener.as_ref().map_or(Ok(config.listen), TcpListener::local_addr).map_err(Failure::of)?;
        let service = open(&lock, config, bound).await.map_err(Failure::of)?;
        let first_start = service.first_start().await.map_err(Failure::of)?;
        let channel = Channel::bind(&lock).map_err(Failure::of)?;
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        let (owner, stopped) = (service.clone(), stop.clone());
        tasks.spawn(async move {
            channel.serve(owner, stopped).await;
            Ok(())
        });
        tasks.spawn(work(service.clone(), stop.clone()));
        if let Some(listener) = listener {
            let router = router(service.clone(), config, bound);
            let stopped = stop.clone().cancelled_owned();
            tasks.spawn(async move { http::serve(listener, router, stopped).await.map_err(Failure::of) });
        }
        Ok(Self { base: service.base().to_owned(), service, first_start, stop, tasks, _lock: lock })
    }

    /// Waits for a part of the server that ends by itself, as none does while all is well.
    pub(crate) async fn ended(&mut self) -> Result<(), Failure> {
        match self.tasks.join_next().await {
            Some(ended) => ended.map_err(Failure::of)?,
            None => Ok(()),
        }
    }

    /// Takes nothing new, finishes what was begun, and gives the folder back.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.stop.cancel();
        self.service.end_waiting();
        while let Some(ended) = self.tasks.join_next().await {
            ended.map_err(Failure::of)??;
        }
        Ok(())
    }
}

/// Does what is due, whenever something is.
async fn work(service: Service, stop: CancellationToken) -> Result<(), Failure> {
    let mut changes = service.changes();
    loop {
        let worked = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            worked = service.run_due() => worked,
        };
        let rest = match (worked, service.next_due().await) {
            (Ok(_), Ok(Some(at))) => Duration::from_millis(u64::try_from(at.millis() - service.now().millis()).unwrap_or(0)).min(LONGEST_REST),
            (Ok(_), Ok(None)) => LONGEST_REST,
            (Err(problem), _) | (_, Err(problem)) => {
                eprintln!("chancery: work that is due waits: {problem}");
                AFTER_FAILURE
            }
        };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = sleep(rest) => {}
            // What changed may be due sooner than what was known. A change that was missed is one too.
            _ = changes.recv() => {}
        }
    }
}

/// Where the server is reached when it listens there.
fn base(config: &Config, bound: SocketAddr) -> PublicUrl {
    config.public_url.clone().unwrap_or_else(|| PublicUrl::of(bound))
}

fn router(service: Service, config: &Config, bound: SocketAddr) -> axum::Router {
    let settings = settings(config, bound);
    let mcp = McpSettings {
        allowed_hosts: settings.allowed_hosts.clone(),
        allowed_origins: settings.allowed_origins.clone(),
        max_body_bytes: http::MAX_BODY,
    };
    let pages = PageSettings { public_url: settings.public_url.to_string(), sandbox: config.sandbox };
    let (mcp, pages) = (mcp::router(service.clone(), mcp), pages::router(service.clone(), pages));
    http::app(service, settings, mcp, pages)
}

fn settings(config: &Config, bound: SocketAddr) -> HttpSettings {
    let random = || {
        let mut bytes = [0; 16];
        // An id of zeroes tells a request from others no worse than none.
        let _ = getrandom::fill(&mut bytes);
        bytes
    };
    let mut settings = HttpSettings::new(base(config, bound), Instant::now, random);
    settings.sandbox = config.sandbox;
    // Behind a proxy, programs on this machine still reach it by its address.
    if settings.public_url.is_https() && is_loopback(bound.ip()) {
        settings.allowed_hosts.extend(PublicUrl::loopback(bound.port()).iter().map(|url| url.authority().to_owned()));
    }
    settings.allowed_hosts.extend(config.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()));
    settings.allowed_origins.extend(config.allowed_origins.iter().map(ToString::to_string));
    if let Some(calls) = config.key_calls_per_minute {
        settings.limits.key = Limit::per_minute(calls);
    }
    if let Some(calls) = config.address_calls_per_minute {
        settings.limits.address = Limit::per_minute(calls);
    }
    if config.log { settings.log_to_stderr() } else { settings }
}

#[cfg(test)]
mod tests {
    use server::config::Flags;

    use super::*;

    fn settings_of(flags: &[(&str, &str)], bound: &str) -> HttpSettings {
        let mut given = Flags::default();
        for (flag, value) in flags {
            given.set(Flags::setting(flag).unwrap(), (*value).to_owned()).unwrap();
        }
        settings(&Config::load(&given, &[]).unwrap(), bound.parse().unwrap())
    }

    #[test]
    fn hosts_and_origins_follow_from_the_url() {
        let own = settings_of(&[], "127.0.0.1:4000");
        assert_eq!(own.public_url.to_string(), "http://127.0.0.1:4000");
        assert_eq!(own.allowed_hosts, ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"]);
        assert_eq!(own.allowed_origins, ["http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000"]);
        let public = [
            ("listen", "0.0.0.0:4000"),
            ("public-url", "https://Pay.example"),
            ("allowed-hosts", "Plane:4000"),
            ("allowed-origins", "https://a.example/"),
        ];
        let public = settings_of(&public, "0.0.0.0:4000");
        assert_eq!(public.allowed_hosts, ["pay.example", "plane:4000"]);
        assert_eq!(public.allowed_origins, ["https://pay.example", "https://a.example"]);
        let behind = settings_of(&[("public-url", "https://pay.example")], "127.0.0.1:4000");
        assert_eq!(behind.allowed_hosts, ["pay.example", "127.0.0.1:4000", "localhost:4000", "[::1]:4000"]);
        assert_eq!(behind.allowed_origins, ["https://pay.example"]);
    }

    #[test]
    fn limits() {
        let usual = HttpSettings::new(PublicUrl::parse("http://127.0.0.1:1").unwrap(), Instant::now, || [0; 16]).limits;
        assert_eq!(settings_of(&[], "127.0.0.1:1").limits, usual);
        let limits = settings_of(&[("key-calls-per-minute", "0"), ("address-calls-per-minute", "60")], "127.0.0.1:1").limits;
        assert_eq!(limits.key, None);
        assert_eq!(limits.address, Some(Limit::new(6, Duration::from_secs(1))));
    }
}
