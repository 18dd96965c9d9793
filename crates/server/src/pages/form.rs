//! Forms: read strictly, and taken from our own pages alone.
//!
//! Every form carries a token. In a session it is the session's own; before one it is a random token that the browser
//! also holds in a cookie, which another site can neither read nor set. Browsers also say where a form comes from
//! (`Sec-Fetch-Site`, `Origin`), and what they say of another site is refused before anything is read. `Origin: null` says
//! nothing: it is what our own pages send under `Referrer-Policy: no-referrer`.

use axum::http::{HeaderMap, HeaderValue, header};
use subtle::ConstantTimeEq;
use url::{Url, form_urlencoded};

use super::Site;
use crate::Problem;

/// A form's fields, each at most once.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded`; refuses a field that is not one of these or stands twice.
    pub(super) fn read(body: &[u8], fields: &[&str]) -> Result<Self, Problem> {
        let read: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
        let is_once = |name: &str| read.iter().filter(|(other, _)| other == name).count() == 1;
        if read.iter().all(|(name, _)| fields.contains(&&**name) && is_once(name)) { Ok(Self(read)) } else { Err(unreadable()) }
    }

    /// A field's text; empty if it was not sent.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| &**value).unwrap_or_default()
    }

    /// Refuses the form unless it sends that token back.
    pub(super) fn hold_to(&self, token: &str) -> Result<(), Problem> {
        let is_same = bool::from(self.get("csrf").as_bytes().ct_eq(token.as_bytes()));
        if is_same && !token.is_empty() { Ok(()) } else { Err(stale()) }
    }
}

/// Refuses what a browser says comes from another site.
pub(super) fn from_our_pages(site: &Site, headers: &HeaderMap) -> Result<(), Problem> {
    let is_ours = |header: Option<&HeaderValue>, ours: &dyn Fn(&str) -> bool| header.is_none_or(|value| value.to_str().is_ok_and(ours));
    let by_fetch = is_ours(headers.get("sec-fetch-site"), &|from| from == "same-origin" || from == "none");
    let origin = Url::parse(&site.settings.public_url).map(|url| url.origin().ascii_serialization());
    let by_origin = is_ours(headers.get(header::ORIGIN), &|from| from == "null" || origin.as_ref().is_ok_and(|origin| from == origin));
    if by_fetch && by_origin { Ok(()) } else { Err(foreign()) }
}

/// The token of a form before a session, and the cookie to set if the browser has none yet.
pub(super) fn token(site: &Site, headers: &HeaderMap) -> Result<(String, Option<HeaderValue>), Problem> {
    if let Some(token) = site.cookies.form(headers) {
        return Ok((token, None));
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::new(503, "no_randomness", "The server has no random numbers now: try again."))?;
    let token = format!("{:032x}", u128::from_be_bytes(bytes));
    let cookie = site.cookies.set_form(&token);
    Ok((token, cookie))
}

fn unreadable() -> Problem {
    Problem::new(400, "form_unreadable", "The form could not be read: go back, load the page again, and send it once more.")
}

fn stale() -> Problem {
    Problem::new(
        403,
        "form_stale",
        "Nothing was done: the form is from before you last signed in, or cookies are off. Go back, load the page again, and send it once more.",
    )
}

fn foreign() -> Problem {
    Problem::new(403, "form_foreign", "Nothing was done: the form was sent from another site. Open the page from its own link, and decide there.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{PageSettings, cookies::Cookies};

    fn site(public_url: &str) -> Site {
        Site { settings: PageSettings { public_url: public_url.into(), sandbox: true }, cookies: Cookies::of(public_url) }
    }

    #[test]
    fn strict_fields() {
        let form = Form::read(b"csrf=a%2Bb&verdict=approve", &["csrf", "verdict", "digest"]).unwrap();
        assert_eq!((form.get("csrf"), form.get("verdict"), form.get("digest")), ("a+b", "approve", ""));
        for body in ["verdict=approve&verdict=decline", "other=1", "csrf=a&csrf=a"] {
            assert_eq!(Form::read(body.as_bytes(), &["csrf", "verdict"]).err(), Some(unreadable()), "{body}");
        }
    }

    #[test]
    fn the_token_must_come_back() {
        let form = Form::read(b"csrf=abc", &["csrf"]).unwrap();
        assert_eq!(form.hold_to("abc"), Ok(()));
        for token in ["", "ab", "abcd", "abd"] {
            assert_eq!(form.hold_to(token), Err(stale()), "{token}");
        }
        assert_eq!(Form::read(b"", &["csrf"]).unwrap().hold_to(""), Err(stale()));
    }

    #[test]
    fn other_sites_are_refused() {
        let site = site("https://pay.example.com/");
        let said = |pairs: &[(&'static str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
            from_our_pages(&site, &headers.collect()).is_ok()
        };
        assert!(said(&[]));
        assert!(said(&[("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(said(&[("origin", "https://pay.example.com")]));
        assert!(!said(&[("sec-fetch-site", "cross-site")]));
        assert!(!said(&[("sec-fetch-site", "same-site"), ("origin", "https://pay.example.com")]));
        assert!(!said(&[("origin", "https://pay.example.com.evil.example")]));
        assert!(!said(&[("origin", "http://pay.example.com")]));
    }

    #[test]
    fn a_browser_keeps_its_token() {
        let site = site("http://127.0.0.1:8080");
        let (fresh, cookie) = token(&site, &HeaderMap::new()).unwrap();
        assert_eq!(fresh.len(), 32);
        let pair = cookie.unwrap().to_str().unwrap().split(';').next().unwrap().to_owned();
        let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(&pair).unwrap())]);
        assert_eq!(token(&site, &headers), Ok((fresh, None)));
    }
}
