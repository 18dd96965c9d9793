//! The links a seller advertises: where the ATR is served, and where an agreement is paid.
//!
//! A link to fetch is held to a grammar of our own, narrower than the URL Standard, so that every HTTP client reads the
//! same host out of it. The Standard itself only decides how a link that fails is reported: whether it is a URL of
//! another scheme, or no URL.

mod host;
mod https;
mod other_scheme;

pub use https::is_https;
pub use other_scheme::is_other_scheme;
pub(crate) use other_scheme::is_url;

/// Longest link or agreement URL a read takes, in UTF-16 code units.
pub const MAX_LINK: usize = 2048;

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};
    use url::Url;

    use super::*;

    const PIECES: &[&str] = &[
        "http:",
        "https:",
        "ftp:",
        "file:",
        "foo:",
        "HTTP:",
        "wss:",
        "x",
        "//",
        "/",
        "\\",
        "://",
        "@",
        ":",
        "[",
        "]",
        "[::1]",
        "::",
        "1",
        "256",
        "0x1",
        "08",
        ".",
        "..",
        ":80",
        ":65536",
        "a",
        "a.example",
        "é",
        "ß",
        "א",
        "ب",
        "\u{200D}",
        "。",
        "１",
        "%",
        "%41",
        "%2e",
        "%ff",
        "%c3%a9",
        "?",
        "#",
        " ",
        "\t",
        "\n",
        "\u{0}",
        "^",
        "|",
        "<",
        "_",
        "-",
        "C|",
        "C:",
        "\u{AD}",
        "\u{FFFD}",
    ];

    fn link_like() -> impl Strategy<Value = String> {
        let start = select(vec!["http://", "http://", "ftp:", "file://", "foo://", "https://", ""]);
        (start, vec(select(PIECES), 0..9)).prop_map(|(start, pieces)| start.to_owned() + &pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// No `xn--` label is made here: the crate still decodes it. Nor does the crate refuse every wrong authority of
        /// a scheme it does not know (`foo://@`, `foo://a:\\`).
        #[test]
        fn other_schemes_are_what_the_url_crate_parses(link in link_like()) {
            let parsed = Url::parse(&link).ok().filter(|url| url.scheme() != "https");
            if is_other_scheme(&link) {
                prop_assert!(parsed.is_some());
            } else {
                prop_assert!(parsed.is_none_or(|url| !url.is_special()));
            }
        }

        #[test]
        fn https_links_are_parsed_to_the_host_that_is_written(link in link_like()) {
            if is_https(&link) {
                let url = Url::parse(&link).unwrap();
                prop_assert_eq!(url.scheme(), "https");
                prop_assert_eq!((url.username(), url.password()), ("", None));
                prop_assert!(url.has_host());
            }
        }

        #[test]
        fn any_text_is_judged(link in any::<String>()) {
            prop_assert!(!(is_https(&link) && is_other_scheme(&link)));
        }
    }
}
