//! Cookies: the session, the token of forms before there is a session, and the link for a first password.
//!
//! Where people reach us over https, each is `Secure` and carries the prefix `__Host-`: no other host, and no plain
//! connection, can set it. On the machine itself over plain http the name carries the port instead, for cookies of one
//! host are shared by all its ports.

use axum::http::{HeaderMap, HeaderValue, header};
use url::Url;

use crate::service::{SETUP_SECONDS, SessionToken};

/// Longest value that is read.
const MAX_VALUE: usize = 512;

/// How the cookies of this server are named and set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cookies {
    prefix: &'static str,
    suffix: String,
    is_secure: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Session,
    Form,
    Setup,
}

impl Cookies {
    /// The cookies of a server at that URL.
    pub(super) fn of(public_url: &str) -> Self {
        let url = Url::parse(public_url).ok();
        if url.as_ref().is_none_or(|url| url.scheme() != "http") {
            return Self { prefix: "__Host-", suffix: String::new(), is_secure: true };
        }
        let port = url.and_then(|url| url.port_or_known_default()).unwrap_or_default();
        Self { prefix: "", suffix: format!("_{port}"), is_secure: false }
    }

    /// The session's secret.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<String> {
        self.read(headers, Kind::Session)
    }

    /// The token that forms before a session must send back.
    pub(super) fn form(&self, headers: &HeaderMap) -> Option<String> {
        self.read(headers, Kind::Form)
    }

    /// The secret of the link for a first password.
    pub(super) fn setup(&self, headers: &HeaderMap) -> Option<String> {
        self.read(headers, Kind::Setup)
    }

    /// Keeps the session until the browser is closed or the server ends it; `None` if the secret is no cookie's value.
    pub(super) fn set_session(&self, token: &SessionToken) -> Option<HeaderValue> {
        self.set(Kind::Session, &token.0, None)
    }

    /// Keeps the token of forms.
    pub(super) fn set_form(&self, token: &str) -> Option<HeaderValue> {
        self.set(Kind::Form, token, None)
    }

    /// Keeps the link's secret for as long as a link is good.
    pub(super) fn set_setup(&self, token: &str) -> Option<HeaderValue> {
        self.set(Kind::Setup, token, Some(SETUP_SECONDS))
    }

    /// Forgets the session.
    pub(super) fn clear_session(&self) -> Option<HeaderValue> {
        self.set(Kind::Session, "", Some(0))
    }

    /// Forgets the link's secret.
    pub(super) fn clear_setup(&self) -> Option<HeaderValue> {
        self.set(Kind::Setup, "", Some(0))
    }

    fn name(&self, kind: Kind) -> String {
        let name = match kind {
            Kind::Session => "session",
            Kind::Form => "form",
            Kind::Setup => "setup",
        };
        format!("{}chancery_{name}{}", self.prefix, self.suffix)
    }

    /// `None` also if two cookies bear the name: one of them was not set by us.
    fn read(&self, headers: &HeaderMap, kind: Kind) -> Option<String> {
        let name = self.name(kind);
        let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut values = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('=')).filter(|(key, _)| *key == name);
        let (_, value) = values.next()?;
        (values.next().is_none() && !value.is_empty() && is_value(value)).then(|| value.to_owned())
    }

    fn set(&self, kind: Kind, value: &str, max_age: Option<u32>) -> Option<HeaderValue> {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let max_age = max_age.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        let mut header = is_value(value)
            .then(|| format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{max_age}", self.name(kind)))
            .and_then(|text| HeaderValue::from_str(&text).ok())?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// RFC 6265's `cookie-octet`.
fn is_value(text: &str) -> bool {
    text.len() <= MAX_VALUE && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(text).unwrap())])
    }

    fn text(value: Option<HeaderValue>) -> String {
        value.unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn over_https_they_are_this_hosts_alone() {
        let cookies = Cookies::of("https://pay.example.com");
        assert_eq!(
            text(cookies.set_session(&SessionToken("s3cret".into()))),
            "__Host-chancery_session=s3cret; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(text(cookies.clear_session()), "__Host-chancery_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0");
        assert_eq!(text(cookies.set_setup("t")), "__Host-chancery_setup=t; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=900");
        assert_eq!(cookies.session(&sent("__Host-chancery_session=s3cret")), Some("s3cret".into()));
        assert_eq!(cookies.session(&sent("chancery_session=s3cret")), None);
        assert_eq!(Cookies::of("no url"), cookies);
    }

    #[test]
    fn on_the_machine_itself_they_are_this_ports() {
        let cookies = Cookies::of("http://127.0.0.1:8080");
        assert_eq!(text(cookies.set_form("a")), "chancery_form_8080=a; Path=/; HttpOnly; SameSite=Lax");
        assert_eq!(cookies.form(&sent("chancery_form_8081=b; chancery_form_8080=a")), Some("a".into()));
    }

    #[test]
    fn a_value_that_could_break_out_is_none() {
        let cookies = Cookies::of("https://pay.example.com");
        for value in ["a;b", "a b", "a\r\nb", "a,b", "\"a\"", "é"] {
            assert_eq!(cookies.set_session(&SessionToken(value.into())), None, "{value}");
        }
        assert_eq!(cookies.set_form(&"a".repeat(MAX_VALUE + 1)), None);
    }

    #[test]
    fn of_two_with_one_name_neither_counts() {
        let cookies = Cookies::of("https://pay.example.com");
        assert_eq!(cookies.setup(&sent("__Host-chancery_setup=a; __Host-chancery_setup=b")), None);
        assert_eq!(cookies.setup(&sent("__Host-chancery_setup=")), None);
    }
}
