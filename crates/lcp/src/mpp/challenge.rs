//! The seller's challenges, and the legal context that they carry.

use std::sync::Arc;

use super::REQUEST_MALFORMED;
use crate::{
    Hash, Object, Refusal, Text, Value, encoding, json,
    legal_context::{Fault, LegalContext, agreement_url},
    pairing::Advertised,
};

const CHALLENGE_MALFORMED: Refusal = Refusal::new("mpp/challenge-malformed");
const ID_NOT_OURS: Refusal = Refusal::new("mpp/id-not-ours");
const OPAQUE_MALFORMED: Refusal = Refusal::new("mpp/opaque-malformed");
const OPAQUE_NOT_THIS_HASH: Refusal = Refusal::new("mpp/opaque-not-this-hash");
const EXPIRES_REQUIRED: Refusal = Refusal::new("mpp/expires-required");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("mpp/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("mpp/legal-context-malformed");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("mpp/legal-context-conflict");
const LINK_NOT_HTTPS: Refusal = Refusal::new("mpp/link-not-https");

/// Most challenges a document may list.
const MAX_CHALLENGES: usize = 32;
/// Longest base64url text of a request or an opaque: 8,192 bytes decoded.
const MAX_ENCODED: usize = (8192_usize * 4).div_ceil(3);
/// How deep a request or an opaque may nest.
const MAX_DEPTH: usize = 16;

/// A challenge of the form that every method shares. Its members are any text, a lone surrogate too.
#[derive(Clone, Copy)]
pub(crate) struct Challenge<'a> {
    pub(crate) whole: &'a Value,
    pub(super) id: Option<&'a Text>,
    realm: &'a Text,
    pub(super) intent: &'a Text,
    pub(super) method: &'a Text,
    request: &'a Text,
    expires: Option<&'a Text>,
    opaque: Option<&'a Text>,
}

impl<'a> Challenge<'a> {
    /// Reads a challenge; anything else is none. Members of other names are let be.
    pub(crate) fn read(value: &'a Value) -> Option<Self> {
        let members = value.as_object()?;
        let required = |name| members.get(name)?.as_text();
        // A member that is there must be a string.
        let optional = |name| members.get(name).map_or(Some(None), |value| value.as_text().map(Some));
        for name in ["digest", "description", "header"] {
            optional(name)?;
        }
        Some(Self {
            whole: value,
            id: optional("id")?,
            realm: required("realm")?,
            intent: required("intent")?,
            method: required("method")?,
            request: required("request")?,
            expires: optional("expires")?,
            opaque: optional("opaque")?,
        })
    }

    /// The hash that the id derives from and the opaque names, and the opaque's members.
    pub(super) fn carried(&self) -> Result<(Hash, Object), Refusal> {
        let h = self.derived().ok_or(ID_NOT_OURS)?;
        let opaque = decoded(self.opaque.ok_or(OPAQUE_NOT_THIS_HASH)?).ok_or(OPAQUE_MALFORMED)?;
        if opaque.iter().any(|(_, value)| value.as_text().is_none()) {
            return Err(OPAQUE_MALFORMED);
        }
        let named = opaque.get("legalContext").and_then(Value::as_str).and_then(Hash::from_lcp_string);
        if named == Some(h) { Ok((h, opaque)) } else { Err(OPAQUE_NOT_THIS_HASH) }
    }

    /// The hash that the id derives from: its base64url, and the challenge's position where a seller may ask for several
    /// payments at once.
    fn derived(&self) -> Option<Hash> {
        let id = self.id?.as_str()?;
        let digest = if self.intent == "subscription" && self.method == "tempo" {
            id
        } else {
            let (digest, position) = id.split_once('.')?;
            let canonical = encoding::is_decimal(position, 2) && (position == "0" || !position.starts_with('0'));
            position.parse().ok().filter(|&position: &usize| canonical && position < MAX_CHALLENGES)?;
            digest
        };
        let bytes: [u8; 32] = encoding::from_base64url(digest)?.try_into().ok()?;
        Some(bytes.into())
    }

    pub(super) fn judge_realm(&self) -> Result<(), Refusal> {
        if self.realm.as_str().is_some() { Ok(()) } else { Err(CHALLENGE_MALFORMED) }
    }

    /// The decoded request.
    pub(super) fn request(&self) -> Result<Object, Refusal> {
        decoded(self.request).ok_or(REQUEST_MALFORMED)
    }

    /// When the challenge expires, in Unix seconds, if it does.
    pub(super) fn expires(&self) -> Result<Option<i64>, Refusal> {
        self.expires.map(|text| text.as_str().and_then(unix_seconds).ok_or(EXPIRES_REQUIRED)).transpose()
    }
}

/// What a document of challenges advertises; the options are the challenges that carry it, whichever pairing pays them.
///
/// A challenge that carries no hash is passed over. Those that do must agree on the hash, the link and the agreement URL.
pub(super) fn advertised(document: &Value) -> Result<Advertised, Refusal> {
    let challenges = document.as_array().filter(|challenges| challenges.len() <= MAX_CHALLENGES).ok_or(CHALLENGE_MALFORMED)?;
    let mut context: Option<LegalContext> = None;
    let mut options = Vec::new();
    let mut unlinked = None;
    for value in challenges {
        let Some((h, opaque)) = Challenge::read(value).and_then(|challenge| challenge.carried().ok()) else { continue };
        // The link is held to the very rule of the agreement URL.
        let link = match opaque.get("legalContextUrl").ok_or(Fault::Malformed).and_then(agreement_url) {
            Ok(link) => link,
            Err(fault) => {
                if unlinked != Some(Fault::NotHttps) {
                    unlinked = Some(fault);
                }
                continue;
            }
        };
        if context.as_ref().is_some_and(|context| context.h != h || context.link != link) {
            return Err(LEGAL_CONTEXT_CONFLICT);
        }
        let agreement = opaque.get("legalContextAgreementUrl").map(agreement_url).transpose().map_err(link_refusal)?;
        let context = context.get_or_insert(LegalContext { h, link, agreement: None });
        if context.agreement.is_some() && agreement.is_some() && context.agreement != agreement {
            return Err(LEGAL_CONTEXT_CONFLICT);
        }
        context.agreement = context.agreement.take().or(agreement);
        options.push(value.clone());
    }
    let context = context.ok_or_else(|| unlinked.map_or(NO_LEGAL_CONTEXT, link_refusal))?;
    Ok(Advertised { h: context.h, link: context.link, agreement: context.agreement, document: document.clone(), options })
}

fn link_refusal(fault: Fault) -> Refusal {
    match fault {
        Fault::NotHttps => LINK_NOT_HTTPS,
        Fault::Malformed | Fault::LinkTooLong => LEGAL_CONTEXT_MALFORMED,
    }
}

/// The JSON object in a request or an opaque, which must have an RFC 8785 form.
fn decoded(text: &Text) -> Option<Object> {
    let encoded = text.as_str().filter(|text| text.len() <= MAX_ENCODED)?;
    let value = json::parse_bytes(&encoding::from_base64url(encoded)?, MAX_DEPTH).ok()?;
    json::canonical(&value)?;
    match value {
        Value::Object(object) => Some(Arc::unwrap_or_clone(object)),
        _ => None,
    }
}

/// The Unix seconds of an RFC 3339 date and time without leap second; a fraction, at most 9 digits, is dropped.
fn unix_seconds(text: &str) -> Option<i64> {
    let (head, mut rest) = text.as_bytes().split_first_chunk::<19>()?;
    let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T' | b't', h1, h2, b':', mi1, mi2, b':', s1, s2] = head else { return None };
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let month = number(&[*mo1, *mo2])?;
    let day = number(&[*d1, *d2])?;
    let seconds = time(&[*h1, *h2], &[*mi1, *mi2])? + number(&[*s1, *s2]).filter(|seconds| *seconds < 60)?;

    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }

    if let Some((b'.', fraction)) = rest.split_first() {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = fraction.get(digits..).filter(|_| (1..=9).contains(&digits))?;
    }
    let offset = match rest {
        b"Z" | b"z" => 0,
        [b'+', h1, h2, b':', m1, m2] => time(&[*h1, *h2], &[*m1, *m2])?,
        [b'-', h1, h2, b':', m1, m2] => -time(&[*h1, *h2], &[*m1, *m2])?,
        _ => return None,
    };
    Some(days_since_1970(year, month, day) * 86_400 + seconds - offset)
}

/// The seconds of `hh:mm`, below 24 hours.
fn time(hours: &[u8], minutes: &[u8]) -> Option<i64> {
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)
}

/// The number that a few digits write.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

/// The days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (months * 153 + 2) / 5 + day - 1 - 719_468
}
