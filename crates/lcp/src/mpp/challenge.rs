//! The seller's challenges, and the legal context that they carry.

use std::sync::Arc;

use super::{Method, REQUEST_MALFORMED};
use crate::{
    Hash, Object, Refusal, Text, Value, encoding, json,
    legal_context::{Fault, LegalContext, agreement_url, atr_link},
    pairing::Advertised,
    time::Moment,
};

const CHALLENGE_MALFORMED: Refusal = Refusal::new("mpp/challenge-malformed");
pub(super) const ID_NOT_OURS: Refusal = Refusal::new("mpp/id-not-ours");
pub(super) const OPAQUE_MALFORMED: Refusal = Refusal::new("mpp/opaque-malformed");
const OPAQUE_NOT_THIS_HASH: Refusal = Refusal::new("mpp/opaque-not-this-hash");
pub(crate) const EXPIRES_REQUIRED: Refusal = Refusal::new("mpp/expires-required");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("mpp/no-legal-context");
pub(super) const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("mpp/legal-context-malformed");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("mpp/legal-context-conflict");
const LINK_NOT_HTTPS: Refusal = Refusal::new("mpp/link-not-https");

/// Most challenges a document may list.
pub(super) const MAX_CHALLENGES: usize = 32;
/// Longest base64url text of a request or an opaque: 8,192 bytes decoded.
const MAX_ENCODED: usize = (8192_usize * 4).div_ceil(3);
/// How deep a request or an opaque may nest.
const MAX_DEPTH: usize = 16;

/// The members that a credential echoes of a challenge.
const ECHOED: [&str; 10] = ["id", "realm", "method", "intent", "request", "expires", "digest", "description", "header", "opaque"];

/// A challenge of the form that every method shares. Its members are any text, a lone surrogate too.
#[derive(Clone)]
pub(crate) struct Challenge<'a> {
    pub(crate) whole: &'a Value,
    pub(crate) id: Option<&'a Text>,
    pub(crate) realm: &'a Text,
    intent: &'a Text,
    method: &'a Text,
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

    /// Whether the challenge is of a method's intent and name.
    pub(super) fn is_for(&self, method: &dyn Method) -> bool {
        [self.intent.as_str(), self.method.as_str()] == intent_and_name(method)
    }

    /// The members that a credential echoes, in the challenge's order.
    pub(crate) fn echoed(&self) -> Object {
        let members = self.whole.as_object().into_iter().flat_map(Object::iter);
        let named = members.filter(|(name, _)| name.as_str().is_some_and(|name| ECHOED.contains(&name)));
        named.fold(Object::new(), |echoed, (name, value)| echoed.with(name.clone(), value))
    }

    /// The opaque's members; `None` if there is no opaque.
    pub(super) fn opaque(&self) -> Result<Option<Object>, Refusal> {
        self.opaque.map(opaque_members).transpose()
    }

    /// The hash that the id derives from and the opaque names, and the opaque's members.
    pub(super) fn carried(&self) -> Result<(Hash, Object), Refusal> {
        let h = self.derived().ok_or(ID_NOT_OURS)?;
        let opaque = self.opaque()?.ok_or(OPAQUE_NOT_THIS_HASH)?;
        let named = opaque.get("legalContext").and_then(Value::as_str).and_then(Hash::from_lcp_string);
        if named == Some(h) { Ok((h, opaque)) } else { Err(OPAQUE_NOT_THIS_HASH) }
    }

    /// The hash that the id derives from: the id is its base64url and, but for Tempo's subscription, the challenge's place
    /// among those offered together.
    fn derived(&self) -> Option<Hash> {
        let id = self.id?.as_str()?;
        let digest = if self.intent == "subscription" && self.method == "tempo" {
            id
        } else {
            let (digest, position) = id.split_once('.')?;
            position.parse::<usize>().ok().filter(|place| *place < MAX_CHALLENGES && place.to_string() == position)?;
            digest
        };
        let bytes: [u8; 32] = encoding::from_base64url(digest)?.try_into().ok()?;
        Some(bytes.into())
    }

    pub(super) fn judge_realm(&self) -> Result<(), Refusal> {
        if self.realm.as_str().is_some() { Ok(()) } else { Err(CHALLENGE_MALFORMED) }
    }

    /// The request as the challenge writes it, if it is no text that never decodes.
    pub(super) fn request_text(&self) -> Option<&str> {
        self.request.as_str()
    }

    /// The decoded request.
    pub(crate) fn request(&self) -> Result<Object, Refusal> {
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
        let link = match opaque.get("legalContextUrl").ok_or(Fault::Malformed).and_then(atr_link) {
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

/// The intent and the method's name that a method's challenges bear, from its id.
pub(super) fn intent_and_name(method: &dyn Method) -> [Option<&'static str>; 2] {
    let mut id = method.id().split('/').skip(1);
    [id.next(), id.next()]
}

/// The members of an opaque, all strings.
pub(super) fn opaque_members(text: &Text) -> Result<Object, Refusal> {
    decoded(text).filter(|opaque| opaque.iter().all(|(_, value)| value.as_text().is_some())).ok_or(OPAQUE_MALFORMED)
}

/// The JSON object in a request or an opaque, which must have an RFC 8785 form.
pub(crate) fn decoded(text: &Text) -> Option<Object> {
    let encoded = text.as_str().filter(|text| text.len() <= MAX_ENCODED)?;
    let value = json::parse_bytes(&encoding::from_base64url(encoded)?, MAX_DEPTH).ok()?;
    json::canonical(&value)?;
    match value {
        Value::Object(object) => Some(Arc::unwrap_or_clone(object)),
        _ => None,
    }
}

/// The Unix seconds of an RFC 3339 date and time without leap second; a fraction, at most 9 digits, is dropped.
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    Moment::parse(text).filter(|moment| !moment.is_leap_second && moment.fraction_digits <= 9).map(|moment| moment.unix_seconds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mpp::sample::{AGREEMENT, LINK, challenge, encoded, opaque};

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn card() -> Object {
        challenge(&h(), "charge", "card", Object::new())
    }

    /// The challenge with another opaque.
    fn with_opaque(opaque: Object) -> Object {
        card().with("opaque", encoded(opaque))
    }

    fn document(challenges: &[Object]) -> Value {
        challenges.iter().cloned().map(Value::from).collect::<Vec<_>>().into()
    }

    fn read(challenges: &[Object]) -> Result<Advertised, String> {
        advertised(&document(challenges)).map_err(|refusal| refusal.code().to_owned())
    }

    fn code(challenges: &[Object]) -> String {
        read(challenges).unwrap_err()
    }

    #[test]
    fn advertises_what_a_challenge_carries() {
        let unread = card().without("opaque");
        let other = challenge(&h(), "session", "evm", Object::new()).with("note", 1u32);
        let read = read(&[unread, card(), other.clone()]).unwrap();
        assert_eq!((read.h, &*read.link, read.agreement.as_deref()), (h(), LINK, Some(AGREEMENT)));
        assert_eq!(read.options, [card().into(), other.into()]);
    }

    #[test]
    fn a_document_is_a_list_of_at_most_32() {
        assert_eq!(read(&vec![card(); 32]).unwrap().options.len(), 32);
        assert_eq!(code(&vec![card(); 33]), "mpp/challenge-malformed");
        assert_eq!(code(&[]), "mpp/no-legal-context");
        assert_eq!(advertised(&card().into()).unwrap_err(), CHALLENGE_MALFORMED);
        assert_eq!(advertised(&Value::Null).unwrap_err(), CHALLENGE_MALFORMED);
    }

    #[test]
    fn a_challenge_of_another_form_carries_nothing() {
        for name in ["id", "realm", "method", "intent", "request", "opaque"] {
            assert_eq!(code(&[card().without(name)]), "mpp/no-legal-context", "without {name}");
        }
        for name in ["id", "realm", "method", "intent", "request", "opaque", "expires", "digest", "description", "header"] {
            assert_eq!(code(&[card().with(name, Value::Null)]), "mpp/no-legal-context", "{name}");
            assert!(read(&[card().with(name, Value::Null), card()]).is_ok(), "{name}");
        }
    }

    #[test]
    fn an_id_derives_from_the_hash() {
        let digest = encoding::base64url(h().bytes());
        let derives = |intent: &str, method: &str, id: &str| {
            let value = Value::from(challenge(&h(), intent, method, Object::new()).with("id", id));
            Challenge::read(&value).unwrap().derived() == Some(h())
        };
        for position in ["0", "7", "10", "31"] {
            assert!(derives("charge", "card", &format!("{digest}.{position}")), "{position}");
        }
        for position in ["", "00", "01", "32", "100", "+1", "-0", "1.0", " 1", "1\n", "\u{661}"] {
            assert!(!derives("charge", "card", &format!("{digest}.{position}")), "{position}");
        }
        // The last letter's two spare bits are zero.
        for id in [digest.clone(), format!("{digest}=.0"), format!("{digest}A.0"), format!("{}.0", &digest[..42]), format!("{}1.0", &digest[..42])] {
            assert!(!derives("charge", "card", &id), "{id}");
        }
        assert!(derives("subscription", "tempo", &digest));
        assert!(!derives("subscription", "tempo", &format!("{digest}.0")));
        assert!(!derives("session", "tempo", &digest));
        let another = encoding::base64url(Hash::of(b"abd").bytes()) + ".0";
        assert_eq!(code(&[card().with("id", another)]), "mpp/no-legal-context");
    }

    #[test]
    fn an_opaque_names_the_hash_in_text_members_only() {
        for refused in [opaque(&h()).with("n", 1u32), opaque(&Hash::of(b"abd")), opaque(&h()).with("legalContext", h().to_string())] {
            assert_eq!(code(&[with_opaque(refused)]), "mpp/no-legal-context");
        }
        let upper = h().to_string().to_uppercase().replace("0X", "lcp:sha256:0x");
        assert!(read(&[with_opaque(opaque(&h()).with("legalContext", upper).with("note", "x"))]).is_ok());
    }

    #[test]
    fn a_refused_link_is_told_only_where_no_challenge_is_left() {
        let linked = |link: &str| with_opaque(opaque(&h()).with("legalContextUrl", link));
        let (other, malformed) = (linked("http://atr.seller.example/x"), linked("atr"));
        assert_eq!(code(std::slice::from_ref(&other)), "mpp/link-not-https");
        assert_eq!(code(std::slice::from_ref(&malformed)), "mpp/legal-context-malformed");
        assert_eq!(code(&[with_opaque(opaque(&h()).without("legalContextUrl"))]), "mpp/legal-context-malformed");
        assert_eq!(code(&[other.clone(), malformed.clone()]), "mpp/link-not-https");
        assert_eq!(code(&[malformed.clone(), other.clone()]), "mpp/link-not-https");
        assert!(read(&[other, malformed, card()]).is_ok());
        let long = |length: usize| linked(&format!("{LINK}/{}", "a".repeat(length - LINK.len() - 1)));
        assert!(read(&[long(2048)]).is_ok());
        assert_eq!(code(&[long(2049)]), "mpp/legal-context-malformed");
    }

    #[test]
    fn challenges_agree_on_hash_link_and_agreement() {
        let another = Hash::of(b"abd");
        let conflicting = [
            challenge(&another, "charge", "card", Object::new()),
            with_opaque(opaque(&h()).with("legalContextUrl", AGREEMENT)),
            with_opaque(opaque(&h()).with("legalContextAgreementUrl", LINK)),
        ];
        for challenge in conflicting {
            assert_eq!(code(&[card(), challenge.clone()]), "mpp/legal-context-conflict");
            assert_eq!(code(&[challenge, card()]), "mpp/legal-context-conflict");
        }
        let silent = with_opaque(opaque(&h()).without("legalContextAgreementUrl"));
        assert_eq!(read(&[card(), silent.clone()]).unwrap().agreement.as_deref(), Some(AGREEMENT));
        assert_eq!(read(&[silent.clone(), card()]).unwrap().agreement.as_deref(), Some(AGREEMENT));
        assert_eq!(read(&[silent]).unwrap().agreement, None);
    }

    #[test]
    fn a_refused_agreement_url_ends_the_read_after_a_conflict() {
        let agreed = |opaque: Object, url: &str| with_opaque(opaque.with("legalContextAgreementUrl", url));
        assert_eq!(code(&[card(), agreed(opaque(&h()), "http://agree.seller.example/a")]), "mpp/link-not-https");
        assert_eq!(code(&[card(), agreed(opaque(&h()), "")]), "mpp/legal-context-malformed");
        assert_eq!(code(&[card(), agreed(opaque(&h()).with("legalContextUrl", AGREEMENT), "")]), "mpp/legal-context-conflict");
    }

    #[test]
    fn encoded_objects_are_bounded() {
        let decodes = |json: &str| decoded(&encoding::base64url(json.as_bytes()).into()).is_some();
        let filled = |size: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(size - 8));
        assert!(decodes(&filled(8192)) && !decodes(&filled(8193)));
        let nested = |levels: usize| format!(r#"{{"a":{}1{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(decodes(&nested(16)) && !decodes(&nested(17)));
        assert!(decodes(" {} ") && decodes(r#"{"a":1,"a":2}"#));
        for json in ["", "[]", "null", "{}{}", "\u{FEFF}{}", r#"{"a":1e400}"#, r#"{"a":"\ud800"}"#, r#"{"\ud800":1}"#] {
            assert!(!decodes(json), "{json}");
        }
        for text in ["e30=", "e31", "e3 0", "e30\n", "+30"] {
            assert!(decoded(&text.into()).is_none(), "{text}");
        }
    }

    #[test]
    fn expiry_in_unix_seconds() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31t23:59:59z", -1),
            ("2000-02-29T00:00:00-00:00", 951_782_400),
            ("2027-03-01T12:00:00.999999999+01:00", 1_803_898_800),
            ("2027-03-01T12:00:00-23:59", 1_803_988_740),
            ("0000-02-29T00:00:00Z", -62_162_121_600),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(unix_seconds(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "2027-03-01",
            "2027-03-01 12:00:00Z",
            "2027-03-01T12:00:00",
            "2027-03-01T12:00:00.Z",
            "2027-03-01T12:00:00.0123456789Z",
            "2027-03-01T12:00:00,5Z",
            "2027-03-01T12:00:00Z ",
            "2027-03-01T12:00:60Z",
            "2027-03-01T12:60:00Z",
            "2027-03-01T24:00:00Z",
            "2027-03-01T12:00:00+24:00",
            "2027-03-01T12:00:00+00:60",
            "2027-03-01T12:00:00+0000",
            "2027-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2027-04-31T00:00:00Z",
            "2027-03-00T00:00:00Z",
            "2027-00-01T00:00:00Z",
            "2027-13-01T00:00:00Z",
            "+027-03-01T00:00:00Z",
            "２027-03-01T00:00:00Z",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_encoded_object_is_read_back(members in prop::collection::btree_map("[a-z\\PC]{0,8}", "\\PC{0,40}", 0..8)) {
            let object = members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value));
            let text = encoded(object.clone());
            let back = decoded(&text.clone().into()).unwrap();
            prop_assert_eq!(&back, &object);
            prop_assert_eq!(encoded(back), text);
        }

        #[test]
        fn moments_read_as_they_were_written(days in 0..3_652_059_i64, second in 0..86_400_i64) {
            // Walks the calendar year by year, another way than the one tested.
            let (mut year, mut rest) = (0, days);
            let length = |year: i64| if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 366 } else { 365 };
            while rest >= length(year) {
                rest -= length(year);
                year += 1;
            }
            let mut month = 1;
            for days in [31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
                if rest < days {
                    break;
                }
                rest -= days;
                month += 1;
            }
            let text = format!("{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z", rest + 1, second / 3600, second / 60 % 60, second % 60);
            prop_assert_eq!(unix_seconds(&text), Some((days - 719_528) * 86_400 + second), "{}", text);
        }
    }
}
