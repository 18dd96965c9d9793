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
        Ok(Self { h, link, agreement })
    }
}

/// The hash and the link of an info object, whose agreement URL is not looked at.
pub fn hash_and_link(info: &Value) -> Result<(Hash, String), Fault> {
    let (h, link) = hash_and_any_link(info)?;
    Ok((h, atr_link(link)?))
}

/// The hash of an info object whose link is an https link of any length.
pub fn hash_of_any_link(info: &Value) -> Option<Hash> {
    let (h, link) = hash_and_any_link(info).ok()?;
    link.as_str().filter(|link| link::is_https(link)).map(|_| h)
}

/// The hash and the link, which is not looked at.
fn hash_and_any_link(info: &Value) -> Result<(Hash, &Value), Fault> {
    let info = info.as_object().ok_or(Fault::Malformed)?;
    if info.get("type").and_then(Value::as_str) != Some("sha256") {
        return Err(Fault::Malformed);
    }
    let h = info.get("value").and_then(Value::as_str).and_then(Hash::parse).ok_or(Fault::Malformed)?;
    let link = spelled(info, "legalContextUrl", "legal_context_url")?.ok_or(Fault::Malformed)?;
    Ok((h, link))
}

/// The ATR's link: an https link of at most [`link::MAX_LINK`] code units.
pub fn atr_link(value: &Value) -> Result<String, Fault> {
    let text = value.as_text().ok_or(Fault::Malformed)?;
    if let Some(link) = text.as_str().filter(|link| link::is_https(link)) {
        return if text.utf16_len() <= link::MAX_LINK { Ok(link.to_owned()) } else { Err(Fault::LinkTooLong) };
    }
    // A URL parser takes each lone surrogate for U+FFFD.
    let url = String::from_utf16_lossy(&text.code_units().collect::<Vec<_>>());
    Err(if link::is_other_scheme(&url) { Fault::NotHttps } else { Fault::Malformed })
}

/// The agreement URL that an info object names in `legalContextAgreementUrl` or `legal_context_agreement_url`.
pub fn agreement(info: &Object) -> Result<Option<String>, Fault> {
    spelled(info, "legalContextAgreementUrl", "legal_context_agreement_url")?.map(agreement_url).transpose()
}

/// An agreement URL: held to the rules of the ATR's link, but one that is too long is just malformed.
pub fn agreement_url(value: &Value) -> Result<String, Fault> {
    atr_link(value).map_err(|fault| if fault == Fault::LinkTooLong { Fault::Malformed } else { fault })
}

/// A member in either of its two spellings; both, if they are equal.
fn spelled<'a>(info: &'a Object, camel: &str, snake: &str) -> Result<Option<&'a Value>, Fault> {
    match (info.get(camel), info.get(snake)) {
        (Some(a), Some(b)) if a != b => Err(Fault::Malformed),
        (a, b) => Ok(a.or(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    const H: &str = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const LINK: &str = "https://a.example/";

    fn info() -> Object {
        Object::new().with("type", "sha256").with("value", H)
    }

    fn read(info: Object) -> Result<LegalContext, Fault> {
        LegalContext::read(&info.into())
    }

    fn link_of(length: usize) -> String {
        format!("{LINK}{}", "a".repeat(length - LINK.len()))
    }

    #[test]
    fn either_spelling_or_both_alike() {
        let plain = LegalContext { h: Hash::of(b"abc"), link: LINK.to_owned(), agreement: None };
        for info in [
            info().with("legalContextUrl", LINK),
            info().with("legal_context_url", LINK).with("other", 1u32),
            info().with("legalContextUrl", LINK).with("legal_context_url", LINK),
        ] {
            assert_eq!(read(info), Ok(plain.clone()));
        }
        for other in [Value::Null, "https://b.example/".into(), "http://a.example/".into()] {
            assert_eq!(read(info().with("legalContextUrl", LINK).with("legal_context_url", &other)), Err(Fault::Malformed));
            assert_eq!(read(info().with("legalContextUrl", &other).with("legal_context_url", LINK)), Err(Fault::Malformed));
        }
    }

    #[test]
    fn another_scheme_is_named_only_where_the_rest_is_right() {
        let http = |info: Object| read(info.with("legalContextUrl", "http://a.example/"));
        assert_eq!(http(info()), Err(Fault::NotHttps));
        assert_eq!(http(info().with("legalContextAgreementUrl", 1u32)), Err(Fault::NotHttps));
        assert_eq!(http(info().with("type", "sha512")), Err(Fault::Malformed));
        assert_eq!(http(info().without("type")), Err(Fault::Malformed));
        assert_eq!(http(info().with("value", &H[2..])), Err(Fault::Malformed));
        assert_eq!(http(info().with("legal_context_url", LINK)), Err(Fault::Malformed));
        assert_eq!(LegalContext::read(&Value::Null), Err(Fault::Malformed));
        assert_eq!(read(info()), Err(Fault::Malformed));
    }

    #[test]
    fn links() {
        assert_eq!(atr_link(&link_of(2048).into()), Ok(link_of(2048)));
        assert_eq!(atr_link(&link_of(2049).into()), Err(Fault::LinkTooLong));
        let of_any = |link: String| hash_of_any_link(&info().with("legalContextUrl", link).into());
        assert_eq!(of_any(link_of(2049)), Some(Hash::of(b"abc")));
        assert_eq!(of_any(link_of(2049).replace("https", "http")), None);
        // 2048 code units, of which a pair counts as two.
        assert!(atr_link(&format!("{}😀", link_of(2046)).into()).is_ok());
        assert_eq!(atr_link(&format!("{}😀", link_of(2047)).into()), Err(Fault::LinkTooLong));
        assert_eq!(atr_link(&link_of(2049).replace("https", "http").into()), Err(Fault::NotHttps));
        assert_eq!(atr_link(&link_of(2050).replace("https", "http").into()), Err(Fault::Malformed));
        for value in [Value::Null, 1u32.into(), "".into(), "a.example".into(), "https://a b/".into(), Value::from([LINK.into()])] {
            assert_eq!(atr_link(&value), Err(Fault::Malformed));
        }
    }

    #[test]
    fn lone_surrogates() {
        let judge = |source: &str| atr_link(&json::parse(source, 0).unwrap());
        assert_eq!(judge(r#""https://a.example/\ud800""#), Err(Fault::Malformed));
        assert_eq!(judge(r#""http://a.example/\ud800""#), Err(Fault::NotHttps));
        assert_eq!(judge(r#""http://\udc00@a.example/""#), Err(Fault::NotHttps));
        assert_eq!(judge(r#""http://a\ud800.example/""#), Err(Fault::Malformed));
    }

    #[test]
    fn agreements() {
        let read = |info: Object| read(info.with("legalContextUrl", LINK)).map(|context| context.agreement);
        let url = "https://agree.example/1";
        assert_eq!(read(info().with("legalContextAgreementUrl", url)), Ok(Some(url.to_owned())));
        assert_eq!(read(info().with("legal_context_agreement_url", url)), Ok(Some(url.to_owned())));
        assert_eq!(read(info().with("legalContextAgreementUrl", url).with("legal_context_agreement_url", url)), Ok(Some(url.to_owned())));
        assert_eq!(read(info().with("legalContextAgreementUrl", Value::Null).with("legal_context_agreement_url", url)), Err(Fault::Malformed));
        assert_eq!(read(info().with("legalContextAgreementUrl", Value::Null)), Err(Fault::Malformed));
        assert_eq!(read(info().with("legalContextAgreementUrl", "http://agree.example/")), Err(Fault::NotHttps));
        assert_eq!(read(info().with("legalContextAgreementUrl", link_of(2049))), Err(Fault::Malformed));
    }
}
