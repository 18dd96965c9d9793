//! The links a seller advertises: where the ATR is served, and where an agreement is paid.

/// Longest link or agreement URL a read takes, in UTF-16 code units.
pub const MAX_LINK: usize = 2048;

/// Whether the text is an absolute https URL of the strict form that the gate fetches.
pub fn is_https(link: &str) -> bool {
    link.starts_with("https://")
}

/// Whether the text is an absolute URL, at most [`MAX_LINK`] long, of a scheme other than https.
pub fn is_other_scheme(link: &str) -> bool {
    link.starts_with("http://")
}
