//! The URL under which people and agents reach the server.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use axum::http::Uri;

/// A scheme, a host and a port: `https://pay.example`. Plain http is for loopback hosts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    https: bool,
    authority: String,
}

impl PublicUrl {
    /// Reads `https://host[:port]` or `http://loopback[:port]`, with or without a `/` at the end.
    ///
    /// # Errors
    /// What to write instead, in a sentence.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "write scheme, host and port and nothing else, such as https://pay.example";
        if text.contains(['?', '#', '@']) {
            return Err(FORM);
        }
        let uri: Uri = text.parse().map_err(|_| FORM)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(FORM) };
        let host = authority.host().to_ascii_lowercase();
        if !matches!(uri.path(), "" | "/")
            || !is_host(&host)
            || (authority.as_str().len() > host.len() && authority.port_u16().is_none_or(|port| port == 0))
        {
            return Err(FORM);
        }
        let (https, usual) = match scheme {
            "https" => (true, 443),
            "http" => (false, 80),
            _ => return Err(FORM),
        };
        if !https && !is_loopback_host(&host) {
            return Err("plain http is for loopback hosts alone: use https");
        }
        let authority = match authority.port_u16() {
            Some(port) if port != usual => format!("{host}:{port}"),
            _ => host,
        };
        Ok(Self { https, authority })
    }

    /// The plain URLs under which programs on this machine reach a port of its loopback.
    pub fn loopback(port: u16) -> [Self; 3] {
        ["127.0.0.1", "localhost", "[::1]"].map(|host| Self::plain(host, port))
    }

    fn plain(host: &str, port: u16) -> Self {
        Self { https: false, authority: if port == 80 { host.to_owned() } else { format!("{host}:{port}") } }
    }

    /// The plain URL of an address of this machine.
    pub fn of(address: SocketAddr) -> Self {
        let host = match address.ip().to_canonical() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Self::plain(&host, address.port())
    }

    /// Whether it is https.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// Host and port, as a Host header names them.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

/// The origin: no `/` at the end.
impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.https { "https" } else { "http" }, self.authority)
    }
}

/// Whether an address is this machine's own, however it is written.
pub fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

fn is_loopback_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || address.parse().is_ok_and(is_loopback)
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_origins() {
        for (text, origin) in [
            ("https://pay.example", "https://pay.example"),
            ("https://PAY.example:443/", "https://pay.example"),
            ("https://pay.example:8443", "https://pay.example:8443"),
            ("http://127.0.0.1:7420", "http://127.0.0.1:7420"),
            ("http://localhost", "http://localhost"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(PublicUrl::parse(text).map(|url| url.to_string()).as_deref(), Ok(origin), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            "pay.example",
            "/",
            "https://",
            "https://pay.example/plane",
            "https://pay.example?x",
            "https://pay.example#x",
            "https://ada@pay.example",
            "https://pay.example:0",
            "https://pay.example:99999",
            "https://pay_example",
            "http://pay.example",
            "http://127.0.0.1.example",
            "ftp://127.0.0.1",
            "https://[::g]",
        ] {
            assert!(PublicUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_url_of_an_address() {
        assert_eq!(PublicUrl::of("127.0.0.1:80".parse().unwrap()).to_string(), "http://127.0.0.1");
        assert_eq!(PublicUrl::of("[::1]:7420".parse().unwrap()).to_string(), "http://[::1]:7420");
        assert_eq!(PublicUrl::of("[::ffff:127.0.0.1]:7420".parse().unwrap()).authority(), "127.0.0.1:7420");
    }
}
