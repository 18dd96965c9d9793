//! Domain names of payees: one spelling, registrable by one owner, and no look-alikes.

use std::fmt;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::{FaultCode, confusable};

/// A payee's domain in its ASCII form (A-labels), lower case, without a final dot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(Box<str>);

/// Most bytes that are looked at; encoding a label takes quadratic time.
const MAX_BYTES: usize = 1000;

impl Domain {
    /// Reads a bare domain name: no scheme, user, port or path, no IP address, no `localhost`, at least two labels.
    ///
    /// It is mapped by UTS #46. A public suffix is refused, for nobody alone owns it; so is a label that mixes scripts or
    /// imitates ASCII in another script.
    ///
    /// ```
    /// use control::payee::Domain;
    /// assert_eq!(Domain::parse("Bücher.Example.").unwrap().as_str(), "xn--bcher-kva.example");
    /// ```
    pub fn parse(text: &str) -> Result<Self, FaultCode> {
        const MALFORMED: FaultCode = FaultCode::DomainMalformed;
        if text.len() > MAX_BYTES {
            return Err(MALFORMED);
        }
        // UTS #46 maps the ideographic full stops to a dot.
        let name = text.strip_suffix(['.', '。', '．', '｡']).unwrap_or(text);
        let ascii = Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify).map_err(|_| MALFORMED)?;
        let Some((_, top)) = ascii.rsplit_once('.') else { return Err(MALFORMED) };
        // The URL Standard reads a name that ends in a number as an IPv4 address.
        let is_number = top.bytes().all(|byte| byte.is_ascii_digit())
            || top.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_number || top == "localhost" {
            return Err(MALFORMED);
        }
        let domain = Self(ascii.into());
        if psl::domain_str(domain.as_str()).is_none() {
            return Err(FaultCode::DomainPublicSuffix);
        }
        if domain.is_confusable() {
            return Err(FaultCode::DomainConfusable);
        }
        Ok(domain)
    }

    /// A name that was read before: a domain, or a parent of one down to the registrable.
    pub(crate) fn known(ascii: &str) -> Self {
        Self(ascii.into())
    }

    /// The ASCII form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that people read.
    pub fn unicode(&self) -> String {
        if !self.has_unicode() {
            return self.0.to_string();
        }
        Uts46::new().to_unicode(self.0.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast).0.into_owned()
    }

    /// The name that one owner registered, by the public suffix list: `shop.example` of `www.shop.example`.
    pub fn registrable(&self) -> &str {
        psl::domain_str(self.as_str()).unwrap_or(self.as_str())
    }

    /// This name and those above it, down to the registrable one.
    pub fn and_parents(&self) -> impl Iterator<Item = &str> {
        let stop = self.registrable().len();
        std::iter::successors(Some(self.as_str()), move |name| name.split_once('.').map(|(_, parent)| parent).filter(|parent| parent.len() >= stop))
    }

    /// Whether this is the other domain or a name under it, label by label: `evilshop.test` is not on `shop.test`.
    pub fn is_on(&self, other: &Self) -> bool {
        self.and_parents().any(|name| name == other.as_str())
    }

    /// Whether a label of it is the ASCII form of another.
    fn has_unicode(&self) -> bool {
        self.0.contains("xn--")
    }

    fn is_confusable(&self) -> bool {
        if !self.has_unicode() {
            return false;
        }
        let unicode = self.unicode();
        // Under a top-level domain of its own script, a word of that script imitates nothing.
        let top_is_ascii = unicode.rsplit('.').next().is_some_and(str::is_ascii);
        unicode.split('.').any(|label| confusable::mixes_scripts(label) || (top_is_ascii && confusable::imitates_ascii(label)))
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn domain(text: &str) -> Domain {
        Domain::parse(text).unwrap_or_else(|code| panic!("{text}: {code}"))
    }

    #[test]
    fn one_spelling() {
        for (text, ascii) in [
            ("shop.example", "shop.example"),
            ("SHOP.Example.", "shop.example"),
            ("Ｓhop.example", "shop.example"),
            ("shop。example", "shop.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("faß.example", "xn--fa-hia.example"),
            ("яндекс.рф", "xn--d1acpjx3f.xn--p1ai"),
            ("сосо.рф", "xn--n1aahb.xn--p1ai"),
            ("日本語.jp", "xn--wgv71a119e.jp"),
            ("a--b.example", "a--b.example"),
        ] {
            assert_eq!(domain(text).as_str(), ascii, "{text}");
        }
        assert_eq!(domain("bücher.example").unicode(), "bücher.example");
    }

    #[test]
    fn refuses_what_is_no_domain() {
        for text in [
            "",
            ".",
            "..",
            "example",
            "localhost",
            "a.localhost",
            "1.2.3.4",
            "1.2.3.0x4",
            "0x7f.1",
            "a.1",
            "[::1]",
            "::1",
            "https://shop.example",
            "shop.example/",
            "shop.example:443",
            "user@shop.example",
            "shop..example",
            ".shop.example",
            "shop.example..",
            "-shop.example",
            "shop-.example",
            "sh op.example",
            "shop.example ",
            "shop_1.example",
            "*.example",
            "shop%2eexample",
            "xn--a.example",
            "shop.ex\u{0}ample",
            "a\\b.example",
            "shop.example?x",
            "shop.example#x",
        ] {
            assert_eq!(Domain::parse(text), Err(FaultCode::DomainMalformed), "{text}");
        }
        assert_eq!(Domain::parse(&format!("{}.example", "a".repeat(64))), Err(FaultCode::DomainMalformed));
        assert_eq!(Domain::parse(&"é.".repeat(1 << 19)), Err(FaultCode::DomainMalformed));
    }

    #[test]
    fn refuses_what_nobody_owns() {
        for text in ["co.uk", "CO.UK.", "github.io", "s3.amazonaws.com"] {
            assert_eq!(Domain::parse(text), Err(FaultCode::DomainPublicSuffix), "{text}");
        }
    }

    #[test]
    fn refuses_look_alikes() {
        for text in ["pаypal.com", "раураӏ.com", "xn--pypal-4ve.com", "gооgle.example", "shop.раураӏ.com"] {
            assert_eq!(Domain::parse(text), Err(FaultCode::DomainConfusable), "{text}");
        }
    }

    #[test]
    fn on_the_domain() {
        let shop = domain("shop.test");
        for host in ["shop.test", "www.shop.test", "a.b.shop.test", "SHOP.test."] {
            assert!(domain(host).is_on(&shop), "{host}");
        }
        for host in ["evilshop.test", "shop.test.evil.example", "test.shop", "shop.tes.t"] {
            assert!(!domain(host).is_on(&shop), "{host}");
        }
        assert!(!shop.is_on(&domain("www.shop.test")));
        assert_eq!(domain("a.b.shop.co.uk").registrable(), "shop.co.uk");
        assert_eq!(domain("a.b.shop.co.uk").and_parents().collect::<Vec<_>>(), ["a.b.shop.co.uk", "b.shop.co.uk", "shop.co.uk"]);
    }

    proptest! {
        #[test]
        fn reading_is_idempotent(text in "[a-zA-Z0-9éжü日.-]{0,30}|\\PC{0,30}") {
            if let Ok(domain) = Domain::parse(&text) {
                prop_assert!(domain.as_str().is_ascii());
                prop_assert!(domain.is_on(&domain));
                prop_assert_eq!(Domain::parse(domain.as_str()), Ok(domain.clone()));
                prop_assert_eq!(Domain::parse(&domain.unicode()), Ok(domain));
            }
        }
    }
}
