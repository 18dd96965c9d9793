//! The key in the path, for hosts that cannot send a header: `/mcp/KEY` is `/mcp` with that key.
//!
//! This stands before anything that logs, traces or routes. What follows `/mcp` never stays in the URI, whatever its
//! form, since it may be a key.

use std::fmt;

use axum::{
    extract::Request,
    http::{Uri, uri::PathAndQuery},
};
use zeroize::Zeroizing;

use crate::Problem;

/// A key that stood in the path.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PresentedKey(pub(super) Zeroizing<String>);

impl fmt::Debug for PresentedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PresentedKey(…)")
    }
}

const SEGMENT: &str = "mcp";

/// Moves the key from the path into the request's extensions. A path with more behind the key is not known here: its URI
/// becomes `/mcp` too, and 404 is the answer.
pub(super) fn take(request: &mut Request) -> Result<(), Problem> {
    let mut segments = request.uri().path().split('/').filter(|segment| !segment.is_empty());
    // Also in forms that no route matches, such as `/MCP/KEY` and `/%6dcp/KEY`.
    if !segments.next().is_some_and(|first| decoded(first).eq_ignore_ascii_case(SEGMENT)) {
        return Ok(());
    }
    let key = segments.next().map(|key| PresentedKey(Zeroizing::new(key.to_owned())));
    let is_known = segments.next().is_none();
    *request.uri_mut() = mcp_uri(request.uri());
    request.extensions_mut().remove::<PresentedKey>();
    if !is_known {
        return Err(Problem::not_found());
    }
    if let Some(key) = key {
        request.extensions_mut().insert(key);
    }
    Ok(())
}

/// `/mcp` with the same query.
fn mcp_uri(uri: &Uri) -> Uri {
    let mut parts = uri.clone().into_parts();
    let path = uri.query().map_or_else(|| format!("/{SEGMENT}"), |query| format!("/{SEGMENT}?{query}"));
    parts.path_and_query = PathAndQuery::try_from(path).ok();
    // Every part was part of a URI, so together they are one.
    Uri::from_parts(parts).unwrap_or_else(|_| Uri::from_static("/mcp"))
}

/// A segment with `%XX` decoded, as far as it is ASCII.
fn decoded(segment: &str) -> String {
    let mut rest = segment;
    let mut out = String::new();
    while let Some(c) = rest.chars().next() {
        let hex = rest.strip_prefix('%').and_then(|hex| hex.get(..2)).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        rest = rest.get(if hex.is_some() { 3 } else { c.len_utf8() }..).unwrap_or_default();
        out.push(hex.map_or(c, char::from));
    }
    out
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use proptest::prelude::*;

    use super::*;

    fn taken(uri: &str) -> (Result<(), u16>, String, Option<String>) {
        let mut request = Request::builder().uri(uri).body(Body::empty()).unwrap();
        let result = take(&mut request).map_err(|problem| problem.status);
        let key = request.extensions().get::<PresentedKey>().map(|key| key.0.to_string());
        (result, request.uri().to_string(), key)
    }

    #[test]
    fn the_key_moves_out_of_the_uri() {
        for (uri, left) in [
            ("/mcp/KEY", "/mcp"),
            ("/mcp/KEY/", "/mcp"),
            ("//mcp//KEY//", "/mcp"),
            ("/mcp/KEY?a=b", "/mcp?a=b"),
            ("/MCP/KEY", "/mcp"),
            ("/%6dcp/KEY", "/mcp"),
            ("/%4D%63p/KEY", "/mcp"),
            ("http://localhost:1/mcp/KEY", "http://localhost:1/mcp"),
        ] {
            assert_eq!(taken(uri), (Ok(()), left.to_owned(), Some("KEY".to_owned())), "{uri}");
        }
        for uri in ["/mcp", "/mcp/", "/mcp//"] {
            assert_eq!(taken(uri), (Ok(()), "/mcp".to_owned(), None), "{uri}");
        }
        assert_eq!(taken("/mcp/KEY/more?q=1"), (Err(404), "/mcp?q=1".to_owned(), None));
    }

    #[test]
    fn other_paths_stay() {
        for uri in ["/", "/v0/me", "/v0/mcp/x", "/mcpx/KEY", "/v0/records/", "/%/mcp", "/%zz", "/%6"] {
            assert_eq!(taken(uri), (Ok(()), uri.to_owned(), None), "{uri}");
        }
        assert_eq!(taken("*"), (Ok(()), "*".to_owned(), None));
    }

    proptest! {
        #[test]
        fn nothing_behind_mcp_stays(slashes in "/{1,3}", mcp in "[mM%][cC46][pPdD0-9a-f]{0,3}|mcp", rest in "(/{1,3}KEY[0-9a-z%]{0,6}){1,3}/{0,2}", query in "(\\?[a-z]{0,4})?") {
            let uri = format!("{slashes}{mcp}{rest}{query}");
            prop_assume!(uri.parse::<Uri>().is_ok());
            let (_, left, _) = taken(&uri);
            if decoded(&mcp).eq_ignore_ascii_case("mcp") {
                prop_assert_eq!(left, format!("/mcp{query}"));
            } else {
                prop_assert_eq!(left, uri);
            }
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", PresentedKey(Zeroizing::new("KEY".to_owned()))), "PresentedKey(…)");
    }
}
