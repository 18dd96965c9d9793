//! What the listener is told.

use std::{fmt, sync::Arc, time::Duration};

use axum::http::uri::Authority;

use super::log::Line;
use crate::public_url::PublicUrl;

/// How often something may happen: so many at once, then one each time the interval has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How many at once, at least 1.
    pub burst: u32,
    /// How long one takes to come back.
    pub interval: Duration,
}

impl Limit {
    /// So many at once, then one per interval.
    pub const fn new(burst: u32, interval: Duration) -> Self {
        Self { burst, interval }
    }

    /// So many in a minute, evenly, and a tenth of them at once; no limit for 0.
    pub fn per_minute(calls: u32) -> Option<Self> {
        Some(Self { burst: (calls / 10).max(1), interval: Duration::from_mins(1).checked_div(calls)? })
    }
}

/// The limits of calls. `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls with one key.
    pub key: Option<Limit>,
    /// Calls without a key in use from one address (an IPv6 address by its first 64 bits).
    pub address: Option<Limit>,
    /// New sandbox organizations from one address.
    pub sandbox_keys: Option<Limit>,
    /// How many keys, and how many addresses, are remembered at once: a limit holds for those that called last.
    pub remembered: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            key: Some(Limit::new(600, Duration::from_millis(10))),
            address: Some(Limit::new(300, Duration::from_millis(50))),
            sandbox_keys: Some(Limit::new(10, Duration::from_mins(6))),
            remembered: 1 << 16,
        }
    }
}

/// Takes the line of each request.
pub type LogSink = Arc<dyn Fn(&Line) + Send + Sync>;

/// What the listener is told. Clones are cheap.
#[derive(Clone)]
pub struct HttpSettings {
    /// The server's own origin.
    pub public_url: PublicUrl,
    /// What `Host` may be: host, and port where it is not the scheme's own, in lower case.
    pub allowed_hosts: Vec<String>,
    /// What `Origin` may be, where a browser sends one.
    pub allowed_origins: Vec<String>,
    /// Whether anybody may make a sandbox organization.
    pub sandbox: bool,
    /// How often is too often.
    pub limits: Limits,
    /// Where a line for each request goes, if anywhere.
    pub log: Option<LogSink>,
    /// The time that limits and durations are measured by. It never goes back.
    pub clock: Arc<dyn Fn() -> std::time::Instant + Send + Sync>,
    /// Sixteen fresh random bytes, for request ids.
    pub random: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
}

impl HttpSettings {
    /// The settings that follow from the server's own origin: hosts and origins are its own (on a loopback address, every
    /// name of this machine), no sandbox, the usual limits, no log.
    pub fn new(
        public_url: PublicUrl,
        clock: impl Fn() -> std::time::Instant + Send + Sync + 'static,
        random: impl Fn() -> [u8; 16] + Send + Sync + 'static,
    ) -> Self {
        let mut urls = vec![public_url.clone()];
        if !public_url.is_https() {
            let port = public_url.authority().parse::<Authority>().ok().and_then(|authority| authority.port_u16()).unwrap_or(80);
            urls.extend(PublicUrl::loopback(port).into_iter().filter(|url| *url != public_url));
        }
        Self {
            allowed_hosts: urls.iter().map(|url| url.authority().to_owned()).collect(),
            allowed_origins: urls.iter().map(PublicUrl::to_string).collect(),
            public_url,
            sandbox: false,
            limits: Limits::default(),
            log: None,
            clock: Arc::new(clock),
            random: Arc::new(random),
        }
    }

    /// The same, with a line for each request on standard error.
    #[must_use]
    pub fn log_to_stderr(mut self) -> Self {
        self.log = Some(Arc::new(|line| eprintln!("{line}")));
        self
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("public_url", &self.public_url)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("sandbox", &self.sandbox)
            .field("limits", &self.limits)
            .field("log", &self.log.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> HttpSettings {
        HttpSettings::new(PublicUrl::parse(url).unwrap(), std::time::Instant::now, || [0; 16])
    }

    #[test]
    fn hosts_and_origins_follow_from_the_origin() {
        let public = settings("https://pay.example");
        assert_eq!(public.allowed_hosts, ["pay.example"]);
        assert_eq!(public.allowed_origins, ["https://pay.example"]);
        let local = settings("http://127.0.0.1:8080");
        assert_eq!(local.allowed_hosts, ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"]);
        assert_eq!(local.allowed_origins, ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"]);
        assert_eq!(settings("http://localhost").allowed_hosts, ["localhost", "127.0.0.1", "[::1]"]);
        assert_eq!(settings("http://[::1]:81").allowed_hosts, ["[::1]:81", "127.0.0.1:81", "localhost:81"]);
    }

    #[test]
    fn limits_per_minute() {
        assert_eq!(Limit::per_minute(0), None);
        assert_eq!(Limit::per_minute(120), Some(Limit::new(12, Duration::from_millis(500))));
    }
}
