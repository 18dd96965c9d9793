//! What the URL Standard's parser, given no base, accepts as a URL, above all one of another scheme than https.
//!
//! It fails only for want of a scheme, or for an authority that is wrong: so no URL is built here, and the rest of the
//! text is not looked at. Written by hand rather than with the `url` crate because that crate still decodes the `xn--`
//! labels of an ASCII domain, which the Standard now takes as they are.

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::{
    MAX_LINK,
    host::{is_bracketed_ipv6, is_name_or_ipv4, is_port, split_port},
};
use crate::encoding;

/// Whether the text is an absolute URL, at most [`MAX_LINK`] long, of a scheme other than https.
///
/// A domain is taken for wrong if a label of it has more than the 1000 characters, not all ASCII, that `idna` takes.
pub fn is_other_scheme(text: &str) -> bool {
    text.encode_utf16().count() <= MAX_LINK && scheme_of_url(text).is_some_and(|scheme| scheme != "https")
}

/// Whether the text is an absolute URL of any scheme and length; domains are judged as [`is_other_scheme`] does.
pub(crate) fn is_url(text: &str) -> bool {
    scheme_of_url(text).is_some()
}

/// The scheme, in small letters, of a text that is an absolute URL.
fn scheme_of_url(text: &str) -> Option<String> {
    let text: String = text.trim_matches(|c| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let (scheme, rest) = text.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    let is_url = match scheme.as_str() {
        "ftp" | "http" | "https" | "ws" | "wss" => {
            let authority = until(rest.trim_start_matches(['/', '\\']), &['/', '\\', '?', '#']);
            is_authority(authority, |host| !host.is_empty() && is_host(host))
        }
        "file" => is_file(rest),
        scheme if is_scheme(scheme) => rest.strip_prefix("//").is_none_or(|rest| is_authority(until(rest, &['/', '?', '#']), is_opaque_host)),
        _ => false,
    };
    is_url.then_some(scheme)
}

fn until<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// `[credentials@]host[:port]`, where only a host that stands alone may be empty.
fn is_authority(authority: &str, is_host: impl Fn(&str) -> bool) -> bool {
    let (credentials, address) = authority.rsplit_once('@').map_or((None, authority), |(credentials, address)| (Some(credentials), address));
    let (host, port) = split_port(address);
    let alone = credentials.is_none() && port.is_none();
    (alone || !host.is_empty()) && is_host(host) && port.is_none_or(is_port)
}

/// A file URL has a host only after two slashes, and there is none where a drive letter stands in its place.
fn is_file(rest: &str) -> bool {
    let slash = ['/', '\\'];
    let Some(rest) = rest.strip_prefix(slash).and_then(|rest| rest.strip_prefix(slash)) else { return true };
    let host = until(rest, &['/', '\\', '?', '#']);
    let is_drive = matches!(host.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic());
    is_drive || host.is_empty() || is_host(host)
}

/// A host of a scheme that the Standard calls special: an IP address, or a domain once percent-decoded.
fn is_host(host: &str) -> bool {
    if host.starts_with('[') {
        return is_bracketed_ipv6(host);
    }
    let host = percent_decoded(host);
    // An ASCII domain is only lower-cased; any other is mapped and checked by UTS #46. Its ASCII form is not needed to
    // judge it, and takes quadratic time to encode.
    match str::from_utf8(&host) {
        Ok(domain) if domain.is_ascii() => is_domain(domain),
        _ => {
            let (domain, result) = Uts46::new().to_unicode(&host, AsciiDenyList::URL, Hyphens::Allow);
            result.is_ok() && is_domain(&domain)
        }
    }
}

fn is_domain(domain: &str) -> bool {
    !domain.is_empty() && !domain.contains(|c| is_forbidden(c) || c.is_ascii_control() || c == '%') && is_name_or_ipv4(domain)
}

/// A host of any other scheme.
fn is_opaque_host(host: &str) -> bool {
    if host.starts_with('[') { is_bracketed_ipv6(host) } else { !host.contains(is_forbidden) }
}

/// A forbidden host code point, but for the tab and the line ends, which are gone.
fn is_forbidden(c: char) -> bool {
    matches!(c, '\0' | ' ' | '#' | '/' | ':' | '<' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '|')
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let mut byte = [0];
        match part.split_at_checked(2) {
            Some((digits, rest)) if encoding::hex_into(digits, &mut byte).is_some() => {
                decoded.extend(byte);
                decoded.extend(rest.bytes());
            }
            _ => {
                decoded.push(b'%');
                decoded.extend(part.bytes());
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(urls: &[&str], verdict: bool) {
        for url in urls {
            assert_eq!(is_other_scheme(url), verdict, "{url:?}");
        }
    }

    /// Judges each as the host of an http URL.
    fn hosts(hosts: &[&str], verdict: bool) {
        for host in hosts {
            assert_eq!(is_other_scheme(&format!("http://{host}/x")), verdict, "{host:?}");
        }
    }

    #[test]
    fn schemes() {
        all(
            &[
                "x:",
                "mailto:x",
                "data:,x",
                "javascript:alert(1)",
                "a+b-c.1:\u{0} é",
                "urn:",
                "HTTP://a",
                "foo:",
                "foo:/",
                "foo:/a b^",
                "foo:////",
                " \u{1}http://a/\u{1F} ",
                "ht\ttp:\n//\ra/",
                "ftp://a",
                "ws:a",
                "wss:\\a",
            ],
            true,
        );
        all(
            &[
                "",
                ":",
                "a",
                "a.example",
                "//a/",
                "/x",
                "1x:a",
                "+x:a",
                "a_b:x",
                "a b:x",
                "é:x",
                "httpſ://a",
                "\u{A0}http://a/",
                "\u{FEFF}http://a/",
                "https://a.example/",
                "HTTPS:a",
                "ht\ntps://a b/",
                "https://[",
            ],
            false,
        );
    }

    #[test]
    fn any_scheme_and_length() {
        for url in ["https://a", "HTTPS:a", "https://a b@c/ d", &format!("http://a/{}", "x".repeat(9000)), "foo:"] {
            assert!(is_url(url), "{url:?}");
        }
        for url in ["", "https://", "https://a b/", "https://a^/", "//a"] {
            assert!(!is_url(url), "{url:?}");
        }
    }

    #[test]
    fn authorities() {
        all(
            &[
                "http:a",
                "http:/a",
                "http:///a",
                "http:\\/\\a",
                "http://u:p@a@b:80",
                "http://u:p@a:?",
                "http://:@a",
                "http://@a",
                "http://a:000000000000000000080",
                "http://a:65535\\x",
                "http://[::1]:80",
                "http://a/@:x",
                "foo://",
                "foo:///x",
                "foo://?",
                "foo://u@a:1",
                "foo://a:65535#",
                "foo://\u{FFFD}@h",
            ],
            true,
        );
        all(
            &[
                "http:",
                "http://",
                "http:///",
                "http://?a",
                "http://:80",
                "http://u@",
                "http://u@/a",
                "http://u@:80",
                "http://a:65536",
                "http://a:8a",
                "http://a:８",
                "http://a:80:80",
                "http://a:-1",
                "http://[::1",
                "http://[::1]a",
                "http://[::1]:a",
                "http://[::1%25a]",
                "ftp://",
                "ws://a b/",
                "foo://@",
                "foo://:80",
                "foo://u@:80",
                "foo://u@/",
                "foo://a:65536",
                "foo://a:b",
            ],
            false,
        );
    }

    #[test]
    fn opaque_hosts() {
        all(&["foo://%zz", "foo://é。", "foo://256.256.256.256", "foo://a\u{1}\u{7F}", "foo://a..b", "foo://{}`\"", "foo://[::1]:1"], true);
        for c in ['\0', ' ', '<', '>', '[', '\\', ']', '^', '|'] {
            let url = format!("foo://a{c}b");
            assert!(!is_other_scheme(&url), "{url:?}");
        }
        all(&["foo://[", "foo://[::g]", "foo://[::1]x"], false);
    }

    #[test]
    fn files() {
        let right = ["", "x", "/x", "//", "///x", "//a/x", "//localhost", "//C:/x", "\\/c|", "//C:", "//c|?", "/C:/x", "//é", "//1.2.3.4", "//[::1]"];
        for rest in right {
            assert!(is_other_scheme(&format!("file:{rest}")), "{rest}");
        }
        for rest in ["//a b", "//a:80/", "//u@a", "//CC:/", "//1:", "//C:x", "//[x]", "//256.256.256.256", "//%43:/"] {
            assert!(!is_other_scheme(&format!("file:{rest}")), "{rest}");
        }
    }

    #[test]
    fn ascii_domains_are_not_decoded() {
        hosts(
            &["xn--a", "XN--zz", "xn--", "%78n--a", "a..b", ".", "..", "-", "a_b", "a!$&'()*+,;=`{}~\"", "1.2.3.4.", "1.2.3.4..", "0x.a", "%41%2e1a"],
            true,
        );
        hosts(&["a.1", "a.0x1", "1.2.3.4.5", "256.1.1.1", "1.2.%33.256", "08", "a<b", "a^b", "a|b", "a\u{7F}", "a\u{1}", "a%"], false);
        hosts(&["a%00", "a%zz", "a%2", "a%20b", "a%25", "a%2f", "a%3ab", "a%40b", "a%5bb", "a%09b", "a%7f"], false);
    }

    #[test]
    fn other_domains_are_processed_by_uts_46() {
        hosts(
            &[
                "münchen.de",
                "ＡＢ．example",
                "a。b",
                "faß.de",
                "a\u{AD}b",
                "b%C3%BCcher",
                "xn--bcher-kva.é",
                "א.example",
                "א1",
                "قاب",
                "क्\u{200D}ष",
                "ب\u{200C}ب",
                "é--é",
                "א١",
                "１.２",
                "😀",
                "é_!",
                "é..",
            ],
            true,
        );
        hosts(
            &[
                // Nothing left, not UTF-8, unassigned, disallowed, a mark first, forbidden once mapped.
                "\u{AD}",
                "%C2%AD",
                "%FF",
                "%C3",
                "\u{FFFD}",
                "\u{378}",
                "\u{E000}",
                "\u{301}a",
                "é／",
                "é℀",
                // An xn-- label that does not decode, decodes to ASCII, or to what is not its normal form.
                "xn--a.é",
                "xn--a-.é",
                "xn--.é",
                "xn--a-ecp.é",
                // Direction and joining rules.
                "aب",
                "אa",
                "א1٠",
                "1.א",
                "a\u{200D}b",
                "a\u{200C}b",
                // Numbers once mapped.
                "1.2.3.２５６",
                "é.１",
                "０x１００００００００",
            ],
            false,
        );
    }

    #[test]
    fn unicode_is_of_edition_17() {
        hosts(&["a\u{11DB0}"], true);
        // Assigned in edition 18.
        hosts(&["a\u{107BB}", "a\u{10ECB}"], false);
    }

    #[test]
    fn lengths_in_utf16_code_units() {
        for (fill, units) in [("a", 1), ("é", 1), ("😀", 2)] {
            let url = |room: usize| format!("foo:{}{}", "a".repeat(room % units), fill.repeat(room / units));
            assert!(is_other_scheme(&url(2044)));
            assert!(!is_other_scheme(&url(2045)));
        }
        assert!(is_other_scheme(&format!("http://{}/", "é".repeat(1000))));
    }
}
