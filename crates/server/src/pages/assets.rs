//! The stylesheet, the script and the icon: part of the binary, named by their hash, kept by browsers for good.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use lcp::{Hash, encoding};

/// A file and where it is served.
pub(super) struct Asset {
    path: String,
    media_type: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, media_type: &'static str, text: &'static str) -> Self {
        let hash = encoding::bare_hex(&Hash::of(text.as_bytes()).bytes()[..8]);
        Self { path: format!("/assets/{name}.{hash}.{ending}"), media_type, text }
    }

    /// The path, which changes with the content.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// What pages look like.
pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("pages", "css", "text/css; charset=utf-8", include_str!("../../assets/pages.css")));
/// The live countdown and the local time.
pub(super) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("time", "js", "text/javascript; charset=utf-8", include_str!("../../assets/time.js")));
/// The seal.
pub(super) static ICON: LazyLock<Asset> = LazyLock::new(|| Asset::new("seal", "svg", "image/svg+xml", include_str!("../../assets/seal.svg")));

/// Serves one by its exact name.
pub(super) async fn serve(Path(name): Path<String>) -> Response {
    let known = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.path.strip_prefix("/assets/") == Some(&*name));
    match known {
        Some(asset) => {
            ([(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")], asset.text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
