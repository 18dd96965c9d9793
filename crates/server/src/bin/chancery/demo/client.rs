//! A small HTTP client for the demo: one connection a request, cookies as a browser keeps them.

use std::{collections::BTreeMap, net::SocketAddr};

use axum::http::{HeaderMap, Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};
use tokio::net::TcpStream;

use super::form::{self, Form};

/// How long an answer may be.
const MAX_ANSWER: usize = 16 << 20;

/// How many redirects in a row are followed.
const MAX_REDIRECTS: usize = 5;

/// An answer.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    /// The body's JSON, if the status is one of success.
    pub(super) fn json(&self) -> Result<Value, String> {
        let value = json::parse_bytes(&self.body, MAX_DEPTH).map_err(|_| format!("{}: no JSON", self.status))?;
        if self.status.is_success() { Ok(value) } else { Err(format!("{}: {}", self.status, json::write(&value))) }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Somebody who calls the server: a program with a key, or a browser with cookies.
pub(super) struct Client {
    address: SocketAddr,
    key: Option<String>,
    cookies: BTreeMap<String, String>,
}

impl Client {
    /// A browser.
    pub(super) fn browser(address: SocketAddr) -> Self {
        Self { address, key: None, cookies: BTreeMap::new() }
    }

    /// A program with a key.
    pub(super) fn program(address: SocketAddr, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..Self::browser(address) }
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Reply, String> {
        self.send("GET", path, &[], Bytes::new()).await
    }

    /// Sends JSON.
    pub(super) async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &Object) -> Result<Reply, String> {
        let headers: Vec<_> = [("content-type", "application/json")].iter().chain(headers).copied().collect();
        self.send("POST", path, &headers, json::write(&body.clone().into()).into()).await
    }

    /// Opens a page as a browser does: redirects of this server are followed.
    pub(super) async fn open(&mut self, path: &str) -> Result<Reply, String> {
        let reply = self.get(path).await?;
        self.follow(reply).await
    }

    /// Sends a form as a browser does, with what is typed into its fields.
    pub(super) async fn submit(&mut self, form: &Form, typed: &[(&str, &str)]) -> Result<Reply, String> {
        let origin = format!("http://{}", self.address);
        let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
        let reply = self.send("POST", &form.action, &headers, form.encoded(typed).into()).await?;
        self.follow(reply).await
    }

    async fn follow(&mut self, mut reply: Reply) -> Result<Reply, String> {
        for _ in 0..MAX_REDIRECTS {
            let Some(location) = reply.headers.get(header::LOCATION).filter(|_| reply.status.is_redirection()) else { return Ok(reply) };
            let location = location.to_str().map_err(|_| "a redirect that is no text")?.to_owned();
            reply = self.get(&self.path_of(&location)?).await?;
        }
        Err("redirects without end".to_owned())
    }

    /// The path of a link of this server.
    pub(super) fn path_of(&self, link: &str) -> Result<String, String> {
        let path = link.strip_prefix(&format!("http://{}", self.address)).unwrap_or(link);
        if path.starts_with('/') && !path.starts_with("//") { Ok(path.to_owned()) } else { Err("a link to another server".to_owned()) }
    }

    async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: Bytes) -> Result<Reply, String> {
        let mut request = Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if !self.cookies.is_empty() {
            let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header("cookie", cookies.join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
        let stream = TcpStream::connect(self.address).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = answer.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| error.to_string())?.to_bytes();
        connection.abort();
        for cookie in parts.headers.get_all(header::SET_COOKIE) {
            self.keep(cookie.to_str().unwrap_or_default());
        }
        Ok(Reply { status: parts.status, headers: parts.headers, body })
    }

    /// Keeps a cookie, or forgets it if it is over at once.
    fn keep(&mut self, cookie: &str) {
        let mut parts = cookie.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        if parts.any(|attribute| attribute.eq_ignore_ascii_case("max-age=0")) {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// The form of a page that sends this value in a field of that name, or that has a field of that name if no value is given.
pub(super) fn form_with(page: &Reply, name: &str, value: Option<&str>) -> Result<Form, String> {
    let forms = form::forms(&page.text());
    let found = forms.into_iter().find(|form| form.fields.iter().any(|(field, held)| field == name && value.is_none_or(|value| held == value)));
    found.ok_or_else(|| format!("{}: the page has no form with {name}", page.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser() -> Client {
        Client::browser(SocketAddr::from(([127, 0, 0, 1], 4000)))
    }

    #[test]
    fn cookies_come_and_go() {
        let mut browser = browser();
        browser.keep("session=abc; HttpOnly; Path=/; SameSite=Lax");
        browser.keep("form=1=2; Max-Age=60");
        browser.keep("nonsense");
        assert_eq!(browser.cookies.iter().map(|(name, value)| (&**name, &**value)).collect::<Vec<_>>(), [("form", "1=2"), ("session", "abc")]);
        browser.keep("session=; max-age=0; Path=/");
        assert!(!browser.cookies.contains_key("session"));
    }

    #[test]
    fn links_stay_on_the_server() {
        assert_eq!(browser().path_of("http://127.0.0.1:4000/approve/apv_1").as_deref(), Ok("/approve/apv_1"));
        assert_eq!(browser().path_of("/setup").as_deref(), Ok("/setup"));
        for link in ["http://127.0.0.1:4001/", "https://shop.example/", "//shop.example/", "setup", ""] {
            assert!(browser().path_of(link).is_err(), "{link}");
        }
    }
}
