//! The https URLs of payees: where a resource is paid for, or a checkout is handed over.

use std::fmt;

use url::{Host, Url};

use super::Domain;
use crate::FaultCode;

/// An https URL of a [`Domain`], normalised: no user, no fragment, no default port.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HttpsUrl {
    text: Box<str>,
    host: Domain,
}

/// Longest URL, in bytes, as it is given and as it is normalised.
pub const MAX_URL: usize = 2048;

impl HttpsUrl {
    /// Reads an absolute https URL without user or password whose host is a domain name.
    pub fn parse(text: &str) -> Result<Self, FaultCode> {
        // The parser would drop or mend these.
        let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
        let has_scheme = text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        if !is_plain || !has_scheme || text.len() > MAX_URL {
            return Err(FaultCode::UrlMalformed);
        }
        let mut url = Url::parse(text).map_err(|_| FaultCode::UrlMalformed)?;
        // An `@` before the path is refused even where the user it ends is empty.
        let authority = text.get(8..).unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
        let Some(Host::Domain(host)) = url.host() else { return Err(FaultCode::UrlMalformed) };
        if authority.contains('@') {
            return Err(FaultCode::UrlMalformed);
        }
        let host = Domain::parse(host)?;
        url.set_fragment(None);
        // Encoding triples what is not ASCII, and what is kept must read again.
        if url.as_str().len() > MAX_URL {
            return Err(FaultCode::UrlMalformed);
        }
        Ok(Self { text: url.as_str().trim_end_matches('#').into(), host })
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host.
    pub fn host(&self) -> &Domain {
        &self.host
    }
}

impl fmt::Display for HttpsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for HttpsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised() {
        for (text, normal) in [
            ("https://Shop.Example:443", "https://shop.example/"),
            ("HTTPS://shop.example/a/../b?x=1#top", "https://shop.example/b?x=1"),
            ("https://shop.example/#", "https://shop.example/"),
            ("https://shop.example:8443/x", "https://shop.example:8443/x"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ] {
            assert_eq!(HttpsUrl::parse(text).unwrap().as_str(), normal, "{text}");
        }
        assert_eq!(HttpsUrl::parse("https://a.shop.co.uk/").unwrap().host().registrable(), "shop.co.uk");
    }

    #[test]
    fn refuses() {
        for text in [
            "",
            "https://",
            "http://shop.example/",
            "https:shop.example",
            "//shop.example/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://0x7f000001/",
            "https://u@shop.example/",
            "https://@shop.example/",
            "https://u:p@shop.example/",
            " https://shop.example/",
            "https://shop.example/a b",
            "https://shop\t.example/",
            "https:\\\\shop.example\\",
            "https://shop.example\\@evil.example/",
            "https://shop.example:99999/",
            "https://%73hop.example:x/",
        ] {
            assert_eq!(HttpsUrl::parse(text), Err(FaultCode::UrlMalformed), "{text}");
        }
        assert_eq!(HttpsUrl::parse("https://localhost/"), Err(FaultCode::DomainMalformed));
        assert_eq!(HttpsUrl::parse("https://pаypal.com/"), Err(FaultCode::DomainConfusable));
        let path = |text: &str, times| HttpsUrl::parse(&format!("https://shop.example/{}", text.repeat(times))).map(|url| url.as_str().len());
        assert_eq!((path("a", 2027), path("a", 2028)), (Ok(MAX_URL), Err(FaultCode::UrlMalformed)));
        assert_eq!((path("é", 337), path("é", 338)), (Ok(2043), Err(FaultCode::UrlMalformed)), "each is six bytes in the normalised text");
    }
}
