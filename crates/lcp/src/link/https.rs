//! The https links that are fetched.

use super::host::{is_bracketed_ipv6, is_name_or_ipv4, is_port, split_port};

/// Longest host name, in characters, its final dot not counted.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;
/// Most digits of a port, leading zeros counted.
const MAX_PORT_DIGITS: usize = 5;

/// Whether the text is an absolute https URL of the strict form that the gate fetches, of any length.
///
/// Between `https://` and the path stand an ASCII host (dotted labels, an IPv4 address in any of the Standard's
/// spellings, or an IPv6 address in brackets) and at most a port: no credentials, no percent-encoding, and an
/// internationalized name only in its `xn--` form, which is not decoded. The rest is free, but white space, control
/// characters and backslashes may stand nowhere.
pub fn is_https(link: &str) -> bool {
    let Some((scheme, rest)) = link.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("https") && is_authority(authority) && !link.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = split_port(authority);
    let port = port.unwrap_or_default();
    let host_is_right = if host.starts_with('[') { is_bracketed_ipv6(host) } else { is_name(host) && is_name_or_ipv4(host) };
    host_is_right && port.len() <= MAX_PORT_DIGITS && is_port(port)
}

fn is_name(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(links: &[&str], verdict: bool) {
        for link in links {
            assert_eq!(is_https(link), verdict, "{link:?}");
        }
    }

    #[test]
    fn scheme_and_rest() {
        all(
            &[
                "https://a.example",
                "HTTPS://a.example/x",
                "hTtPs://a.example?x",
                "https://a.example#frag",
                "https://a.example?//x:y@z",
                "https://a.example/@x",
                "https://a.example/é\u{200B}\u{FEFF}\u{FFFD}\u{E000}/%zz/../[]{}|^`\"<>",
                "https://a.example/\u{180E}\u{2060}\u{AD}",
            ],
            true,
        );
        all(
            &[
                "",
                "https",
                "https:",
                "https:/",
                "https://",
                "https:///",
                "https:a.example",
                "https:/a.example",
                "https:///a.example",
                "//a.example/",
                "a.example",
                "http://a.example/",
                "httpſ://a.example/",
                "xhttps://a.example/",
                " https://a.example/",
                "https ://a.example/",
                "ht\ttps://a.example/",
                "https://?q",
                "https://#f",
                "https:\\\\a.example\\",
            ],
            false,
        );
    }

    #[test]
    fn white_space_control_characters_and_backslashes_stand_nowhere() {
        let refused = ('\0'..=' ').chain('\u{7F}'..='\u{A0}').chain('\u{2000}'..='\u{200A}');
        for c in refused.chain(['\\', '\u{1680}', '\u{2028}', '\u{2029}', '\u{202F}', '\u{205F}', '\u{3000}']) {
            for link in
                [format!("https://a.example/{c}"), format!("{c}https://a.example/"), format!("https://a{c}.example/"), format!("https://a/?#{c}x")]
            {
                assert!(!is_https(&link), "{link:?}");
            }
        }
    }

    #[test]
    fn ports() {
        for port in ["", "0", "80", "443", "00443", "65535"] {
            assert!(is_https(&format!("https://a.example:{port}/")), "{port}");
            assert!(is_https(&format!("https://[::1]:{port}")), "{port}");
        }
        for port in ["65536", "99999", "000443", "065535", "80a", "-1", "+1", " 80", "４４３", "443:443", ":443", "0x1bb", "1e3", "443."] {
            assert!(!is_https(&format!("https://a.example:{port}/")), "{port}");
        }
        all(
            &["https://:443/", "https://u@a.example/", "https://@a.example/", "https://:@a/", "https://u:1@a.example/", "https://a.example:1@b/"],
            false,
        );
    }

    #[test]
    fn names() {
        all(
            &[
                "https://a",
                "https://localhost/",
                "https://a.example./",
                "https://A-b.1c.EXAMPLE",
                "https://1.a",
                "https://xn--a/",
                "https://xn--zz/",
                "https://xn--ls8h/",
                "https://XN--MNCHEN-3YA.de/",
                "https://a--b/",
            ],
            true,
        );
        all(
            &[
                "https://.",
                "https://.a",
                "https://a..b/",
                "https://a.example../",
                "https://-a.example",
                "https://a-.example",
                "https://xn--",
                "https://a_b.example",
                "https://*.example",
                "https://münchen.de/",
                "https://ａ.example/",
                "https://a。example/",
                "https://a%2eexample/",
                "https://%61.example/",
                "https://a\u{200B}.example/",
                "https://a\u{AD}.example/",
                "https://a\u{FFFD}.example/",
                "https://[a]b/",
                "https://a[",
                "https://a]",
            ],
            false,
        );
    }

    #[test]
    fn lengths() {
        let label = "a".repeat(63);
        assert!(is_https(&format!("https://{label}.example/")));
        assert!(!is_https(&format!("https://{label}a.example/")));
        let name = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert_eq!(name.len(), 253);
        for (link, verdict) in [("{}", true), ("{}.", true), ("{}.:65535/", true), ("{}a", false), ("{}a.", false), ("{}..", false)] {
            assert_eq!(is_https(&format!("https://{}", link.replace("{}", &name))), verdict, "{link}");
        }
        assert!(is_https(&format!("https://a/{}", "a".repeat(1 << 20))));
    }

    #[test]
    fn addresses() {
        for host in [
            "1.2.3.4",
            "1.2.3.4.",
            "1.2.3",
            "0",
            "0x",
            "0x7f.1",
            "0X7F000001",
            "4294967295",
            "255.255.255.255",
            "255.16777215",
            "0377.0.0.1",
            "00000000001.0x00000000000000000000000001",
            "1.2.3.4.a",
            "[::]",
            "[::1]",
            "[1:2:3:4:5:6:7::]",
            "[FFFF:0000::abcd]",
            "[::ffff:1.2.3.4]",
        ] {
            assert!(is_https(&format!("https://{host}/")), "{host}");
        }
        for host in [
            "256.1.1.1",
            "1.2.3.256",
            "1.2.3.4.5",
            "1.2.3.4.0",
            "4294967296",
            "0x100000000",
            "99999999999999999999999999999999",
            "255.16777216",
            "09.1.1.1",
            "08",
            "a.1",
            "a.0x1",
            "a.0x",
            "a.09",
            "1..2",
            "[]",
            "[:]",
            "[:::1]",
            "[1.2.3.4]",
            "[::g]",
            "[::00001]",
            "[::1.2.3.04]",
            "[::1.2.3.256]",
            "[::1.2.3]",
            "[1:2:3:4:5:6:7:8::]",
            "[::1:2:3:4:5:6:7:8]",
            "[1:2:3:4:5:6:7:1.2.3.4]",
            "[::1%25eth0]",
            "[::1",
            "::1",
            "[::1]a",
            "[[::1]]",
        ] {
            assert!(!is_https(&format!("https://{host}/")), "{host}");
        }
    }
}
