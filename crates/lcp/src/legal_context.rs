//! The legal context: the hash of the ATR, the link that serves it, and where an agreement is paid.

use crate::{Hash, Object, Value, link};

/// What a legal context's info object says.
#[derive(Clone, Debug, PartialEq)]
pub struct LegalContext {
    /// The advertised hash.
    pub h: Hash,
    /// The ATR's link, as written.
    pub link: String,
    /// The agreement URL, if one is named.
    pub agreement: Option<String>,
}

/// What is wrong with a legal context. Each protocol gives it a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not of the form.
    Malformed,
    /// Right but for a link of another scheme than https.
    NotHttps,
    /// Right but for a link longer than [`link::MAX_LINK`].
    LinkTooLong,
}

impl LegalContext {
    /// Reads `{type: "sha256", value, legalContextUrl | legal_context_url, [agreement URL]}`.
    pub fn read(info: &Value) -> Result<Self, Fault> {
        let (h, link) = hash_and_link(info)?;
        let agreement = info.as_object().map_or(Ok(None), agreement)?;
        Ok(Self { h, link: link.to_owned(), agreement })
    }
}

/// The hash and the link of an info object, whose agreement URL is not looked at.
pub fn hash_and_link(info: &Value) -> Result<(Hash, &str), Fault> {
    let info = info.as_object().ok_or(Fault::Malformed)?;
    if info.get("type").and_then(Value::as_str) != Some("sha256") {
        return Err(Fault::Malformed);
    }
    let h = info.get("value").and_then(Value::as_str).and_then(Hash::parse).ok_or(Fault::Malformed)?;
    let link = spelled(info, "legalContextUrl", "legal_context_url")?.ok_or(Fault::Malformed)?;
    let link = link.as_str().ok_or(Fault::Malformed)?;
    if !link::is_https(link) {
        return Err(if link::is_other_scheme(link) { Fault::NotHttps } else { Fault::Malformed });
    }
    if link.encode_utf16().count() > link::MAX_LINK {
        return Err(Fault::LinkTooLong);
    }
    Ok((h, link))
}

/// The agreement URL that an info object names in `legalContextAgreementUrl` or `legal_context_agreement_url`.
pub fn agreement(info: &Object) -> Result<Option<String>, Fault> {
    match spelled(info, "legalContextAgreementUrl", "legal_context_agreement_url")? {
        None => Ok(None),
        Some(value) => agreement_url(value).map(Some),
    }
}

/// An agreement URL: an https link of at most [`link::MAX_LINK`] code units.
pub fn agreement_url(value: &Value) -> Result<String, Fault> {
    let text = value.as_text().ok_or(Fault::Malformed)?;
    match text.as_str() {
        Some(url) if text.utf16_len() <= link::MAX_LINK && link::is_https(url) => Ok(url.to_owned()),
        Some(url) if link::is_other_scheme(url) => Err(Fault::NotHttps),
        _ => Err(Fault::Malformed),
    }
}

/// A member in either of its two spellings; both, if they are equal.
fn spelled<'a>(info: &'a Object, camel: &str, snake: &str) -> Result<Option<&'a Value>, Fault> {
    match (info.get(camel), info.get(snake)) {
        (Some(a), Some(b)) if a != b => Err(Fault::Malformed),
        (a, b) => Ok(a.or(b)),
    }
}
