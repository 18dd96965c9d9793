//! The key that a request carries.

use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use zeroize::Zeroizing;

use super::path_key::PresentedKey;
use crate::Problem;

/// Longest key read, in bytes.
const MAX_KEY: usize = 256;

/// Takes the key out of the request, from its `Authorization` header or from where the path's key was put; nothing
/// behind this sees it. `None` when it carries none.
pub(super) fn take(request: &mut Request) -> Result<Option<Zeroizing<String>>, Problem> {
    let in_path = request.extensions_mut().remove::<PresentedKey>().map(|key| key.0);
    let in_header = in_header(request.headers());
    request.headers_mut().remove(header::AUTHORIZATION);
    let key = match (in_header?, in_path) {
        (Some(header), Some(path)) if header != path => {
            return Err(Problem::new(400, "two_keys", "Send one key: the one in the path is not the one in the Authorization header."));
        }
        (Some(key), _) | (None, Some(key)) => Some(key),
        (None, None) => None,
    };
    match key {
        Some(key) if key.len() > MAX_KEY => Err(Problem::unauthenticated()),
        key => Ok(key),
    }
}

/// `Bearer KEY`, the scheme in any case (RFC 9110 section 11.1).
fn in_header(headers: &HeaderMap) -> Result<Option<Zeroizing<String>>, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().ok().and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        let key = key.trim_matches(' ');
        let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        (scheme.eq_ignore_ascii_case("bearer") && is_key).then(|| Zeroizing::new(key.to_owned()))
    });
    match (key, values.next()) {
        (Some(key), None) => Ok(Some(key)),
        _ => Err(Problem::unauthenticated()),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn taken(headers: &[&str], path: Option<&str>) -> Result<Option<String>, (u16, String)> {
        let builder = headers.iter().fold(Request::builder().uri("/mcp"), |builder, value| builder.header("authorization", *value));
        let mut request = builder.body(Body::empty()).unwrap();
        if let Some(key) = path {
            request.extensions_mut().insert(PresentedKey(Zeroizing::new(key.to_owned())));
        }
        let key = take(&mut request);
        assert!(request.headers().get("authorization").is_none());
        assert!(request.extensions().get::<PresentedKey>().is_none());
        key.map(|key| key.map(|key| key.to_string())).map_err(|problem| (problem.status, problem.code.into_owned()))
    }

    #[test]
    fn a_key_in_the_header() {
        for header in ["Bearer KEY", "bearer KEY", "BEARER KEY", "Bearer   KEY", "Bearer KEY "] {
            assert_eq!(taken(&[header], None), Ok(Some("KEY".to_owned())), "{header}");
        }
        assert_eq!(taken(&[], None), Ok(None));
        for header in ["", "Bearer", "Bearer ", "KEY", "Basic KEY", "Bearer KEY more", "Bearer\tKEY", "BearerKEY"] {
            assert_eq!(taken(&[header], None), Err((401, "unauthenticated".to_owned())), "{header}");
        }
        assert!(taken(&["Bearer KEY", "Bearer KEY"], None).is_err());
        assert!(taken(&[&format!("Bearer {}", "k".repeat(257))], None).is_err());
        assert!(taken(&[&format!("Bearer {}", "k".repeat(256))], None).is_ok());
    }

    #[test]
    fn a_key_in_the_path() {
        assert_eq!(taken(&[], Some("KEY")), Ok(Some("KEY".to_owned())));
        assert_eq!(taken(&["Bearer KEY"], Some("KEY")), Ok(Some("KEY".to_owned())));
        assert_eq!(taken(&["Bearer KEY"], Some("OTHER")), Err((400, "two_keys".to_owned())));
        assert_eq!(taken(&["Basic KEY"], Some("KEY")), Err((401, "unauthenticated".to_owned())));
        assert!(taken(&[], Some(&"k".repeat(257))).is_err());
    }
}
