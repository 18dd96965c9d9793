//! For whom the request is, and which page sent it: a page elsewhere that a browser shows must not speak to this server.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, header, uri::Authority},
};

use super::HttpSettings;
use crate::Problem;

/// Refuses a request whose `Host` is not one of ours, or whose `Origin` is there and is not one of ours.
///
/// A page's own form may come with `Origin: null`, since under `Referrer-Policy: no-referrer` browsers send that (Fetch
/// standard, "append a request Origin header"): whoever takes forms tells its own by other marks.
pub(super) fn check(request: &Request, settings: &HttpSettings, takes_forms: bool) -> Result<(), Problem> {
    let is_host = |host: &str| settings.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(without_own_port(host, settings)));
    let in_header = one(request.headers(), &header::HOST).ok_or_else(host_not_allowed)?;
    let in_uri = request.uri().authority().map(Authority::as_str);
    if !is_host(in_header) || !in_uri.is_none_or(is_host) {
        return Err(host_not_allowed());
    }
    let is_ours = |origin: &str| {
        let is_allowed = settings.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
        is_allowed || (takes_forms && origin == "null")
    };
    let is_from_ours = !request.headers().contains_key(header::ORIGIN) || one(request.headers(), &header::ORIGIN).is_some_and(is_ours);
    is_from_ours.then_some(()).ok_or_else(origin_not_allowed)
}

/// The header's text, if it is there once and is a text.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A client may write the scheme's own port, too.
fn without_own_port<'a>(host: &'a str, settings: &HttpSettings) -> &'a str {
    let own = if settings.public_url.is_https() { ":443" } else { ":80" };
    // Not `name:8080:443`.
    let is_without_port = |host: &&str| !host.contains(':') || host.ends_with(']');
    host.strip_suffix(own).filter(is_without_port).unwrap_or(host)
}

fn host_not_allowed() -> Problem {
    Problem::new(403, "host_not_allowed", "Reach this server by its public URL, or add this host to its configuration.")
}

fn origin_not_allowed() -> Problem {
    Problem::new(403, "origin_not_allowed", "Pages of another origin may not call this server.")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;
    use crate::public_url::PublicUrl;

    fn checked(url: &str, uri: &str, headers: &[(&str, &str)]) -> Result<(), String> {
        let settings = HttpSettings::new(PublicUrl::parse(url).unwrap(), std::time::Instant::now, || [0; 16]);
        let builder = headers.iter().fold(Request::builder().uri(uri), |builder, (name, value)| builder.header(*name, *value));
        check(&builder.body(Body::empty()).unwrap(), &settings, uri == "/page").map_err(|problem| problem.code.into_owned())
    }

    #[test]
    fn hosts() {
        let host = |url: &str, host: &str| checked(url, "/v0/me", &[("host", host)]);
        for name in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert_eq!(host("http://127.0.0.1:8080", name), Ok(()), "{name}");
        }
        for name in ["localhost", "localhost:8081", "evil.example", "evil.example:8080", "127.0.0.1:8080.evil.example", "localhost:8080:80", ""] {
            assert_eq!(host("http://127.0.0.1:8080", name), Err("host_not_allowed".to_owned()), "{name}");
        }
        assert_eq!(host("https://pay.example", "pay.example"), Ok(()));
        assert_eq!(host("https://pay.example", "pay.example:443"), Ok(()));
        assert!(host("https://pay.example", "pay.example:80").is_err());
        assert!(host("https://pay.example", "127.0.0.1").is_err());
    }

    #[test]
    fn a_host_is_named_once_and_everywhere_the_same() {
        let url = "http://localhost:8080";
        assert!(checked(url, "/", &[]).is_err());
        assert!(checked(url, "/", &[("host", "localhost:8080"), ("host", "localhost:8080")]).is_err());
        assert!(checked(url, "http://localhost:8080/", &[("host", "localhost:8080")]).is_ok());
        assert!(checked(url, "http://evil.example/", &[("host", "localhost:8080")]).is_err());
        assert!(checked(url, "http://localhost:8080/", &[("host", "evil.example")]).is_err());
    }

    #[test]
    fn origins() {
        assert_eq!(checked("http://localhost:8080", "/page", &[("host", "localhost:8080"), ("origin", "null")]), Ok(()));
        assert!(checked("http://localhost:8080", "/page", &[("host", "localhost:8080"), ("origin", "http://evil.example")]).is_err());
        let origin = |origins: &[&str]| {
            let mut headers = vec![("host", "localhost:8080")];
            headers.extend(origins.iter().map(|origin| ("origin", *origin)));
            checked("http://localhost:8080", "/", &headers)
        };
        assert_eq!(origin(&[]), Ok(()));
        assert_eq!(origin(&["http://localhost:8080"]), Ok(()));
        assert_eq!(origin(&["http://127.0.0.1:8080"]), Ok(()));
        for other in ["null", "https://localhost:8080", "http://localhost", "http://localhost:80800", "http://evil.example", ""] {
            assert_eq!(origin(&[other]), Err("origin_not_allowed".to_owned()), "{other}");
        }
        assert!(origin(&["http://localhost:8080", "http://localhost:8080"]).is_err());
    }
}
