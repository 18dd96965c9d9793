//! An organization's settings. Secrets go in and never come back.

use std::fmt;

use lcp::{Object, Value};

use crate::{Fault, Refusal, card_number, payee::HttpsUrl, read::Field, stored::Stored};

const MAX_PROFILE: usize = 200;
const MAX_CLIENT: usize = 255;
const MAX_SECRET: usize = 1024;
/// What a provider gave, which may be a long number: bare digits are spared by the card-number guard.
pub const TYPED_FIELDS: &[&str] = &["/sso/client_id", "/sso/client_secret"];

/// An organization's settings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where Slack takes messages; whoever has the URL may post, so it is a secret.
    slack_webhook_url: Option<HttpsUrl>,
    /// The name of the profile at the payment service provider.
    pub psp_profile: Option<String>,
    /// How people sign in with the organization's own accounts.
    pub sso: Option<Sso>,
}

/// A provider of OIDC sign-in.
#[derive(Clone, PartialEq, Eq)]
pub struct Sso {
    /// The provider's issuer.
    pub issuer: HttpsUrl,
    /// Who we are to it.
    pub client_id: String,
    client_secret: Option<String>,
}

impl Settings {
    /// Changes the settings that the body names: `{"slack_webhook_url", "psp_profile", "sso"}`, where null takes one
    /// away. At a fault nothing changes.
    ///
    /// `sso` is `{"issuer", "client_id", "client_secret"}`; it is replaced whole, but that an absent secret keeps the one
    /// held for the same issuer and client.
    pub fn update(&mut self, body: &Value) -> Result<(), Refusal> {
        let members = Field::root(body).members(&["slack_webhook_url", "psp_profile", "sso"])?;
        let slack = members.read("slack_webhook_url", |field| or_null(field, |field| field.parsed(HttpsUrl::parse)))?;
        let profile = members.read("psp_profile", |field| or_null(field, |field| field.text(MAX_PROFILE).map(str::to_owned)))?;
        let sso = members.read("sso", |field| or_null(field, Sso::read))?;
        card_number::refuse(body, TYPED_FIELDS)?;
        if let Some(slack) = slack {
            self.slack_webhook_url = slack;
        }
        if let Some(profile) = profile {
            self.psp_profile = profile;
        }
        if let Some(sso) = sso {
            let held = self.sso.take();
            self.sso = sso.map(|sso| sso.with_secret_of(held.as_ref()));
        }
        Ok(())
    }

    /// `{"slack_webhook_url_set", "psp_profile", "sso"}`, without secrets.
    pub fn to_json(&self) -> Object {
        let sso = self.sso.as_ref().map(|sso| sso.shown().with("client_secret_set", sso.client_secret.is_some()));
        Object::new()
            .with("slack_webhook_url_set", self.slack_webhook_url.is_some())
            .with("psp_profile", self.psp_profile.as_deref().map_or(Value::Null, Value::from))
            .with("sso", sso.map_or(Value::Null, Value::from))
    }

    /// The state without its secrets.
    pub fn to_stored(&self) -> Object {
        Object::new().with_some("psp_profile", self.psp_profile.as_deref()).with_some("sso", self.sso.as_ref().map(Sso::shown))
    }

    /// The secrets, to be stored encrypted; `None` if there are none.
    pub fn secrets(&self) -> Option<Object> {
        let secrets = Object::new()
            .with_some("slack_webhook_url", self.slack_webhook_url.as_ref().map(HttpsUrl::as_str))
            .with_some("sso_client_secret", self.sso.as_ref().and_then(|sso| sso.client_secret.as_deref()));
        (!secrets.is_empty()).then_some(secrets)
    }

    /// Reads [`Settings::to_stored`] and [`Settings::secrets`] back.
    pub fn from_stored(stored: &Value, secrets: Option<&Value>) -> Option<Self> {
        let stored = Stored::of(stored)?;
        let owned = |text: &str| Some(text.to_owned());
        let url = |text: &str| HttpsUrl::parse(text).ok();
        let no_secrets = Object::new().into();
        let secrets = Stored::of(secrets.unwrap_or(&no_secrets))?;
        let client_secret = secrets.optional_text("sso_client_secret", owned)?;
        let sso = |sso: &Value| {
            let sso = Stored::of(sso)?;
            Some(Sso { issuer: sso.parsed("issuer", url)?, client_id: sso.text("client_id")?.to_owned(), client_secret: client_secret.clone() })
        };
        Some(Self {
            slack_webhook_url: secrets.optional_text("slack_webhook_url", url)?,
            psp_profile: stored.optional_text("psp_profile", owned)?,
            sso: stored.optional("sso", sso)?,
        })
    }
}

impl Sso {
    fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["issuer", "client_id", "client_secret"])?;
        Ok(Self {
            issuer: members.required("issuer")?.parsed(HttpsUrl::parse)?,
            client_id: members.required("client_id")?.text(MAX_CLIENT)?.to_owned(),
            client_secret: members.read("client_secret", |field| field.text(MAX_SECRET).map(str::to_owned))?,
        })
    }

    /// Keeps the secret held for the same issuer and client, if none was given.
    fn with_secret_of(mut self, held: Option<&Self>) -> Self {
        let same = held.filter(|held| held.issuer == self.issuer && held.client_id == self.client_id);
        self.client_secret = self.client_secret.or_else(|| same.and_then(|held| held.client_secret.clone()));
        self
    }

    fn shown(&self) -> Object {
        Object::new().with("issuer", self.issuer.as_str()).with("client_id", self.client_id.as_str())
    }
}

/// Reads a value, or null as none.
fn or_null<'a, T>(field: &Field<'a>, read: impl FnOnce(&Field<'a>) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
    if field.value().is_null() { Ok(None) } else { read(field).map(Some) }
}

/// Secrets stay out.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("psp_profile", &self.psp_profile).field("sso", &self.sso).finish_non_exhaustive()
    }
}

/// The secret stays out.
impl fmt::Debug for Sso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sso").field("issuer", &self.issuer).field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(source: &str) -> Value {
        lcp::json::parse(source, 8).unwrap()
    }

    fn updated(bodies: &[&str]) -> Settings {
        let mut settings = Settings::default();
        for body in bodies {
            settings.update(&json(body)).unwrap();
        }
        settings
    }

    const ALL: &str = r#"{"slack_webhook_url":"https://hooks.slack.com/services/T0/B0/hush","psp_profile":"acct_1",
        "sso":{"issuer":"https://id.shop.example/","client_id":"c1","client_secret":"whisper"}}"#;

    #[test]
    fn secrets_go_in_and_never_come_back() {
        let settings = updated(&[ALL]);
        assert_eq!(
            lcp::json::write(&settings.to_json().into()),
            r#"{"slack_webhook_url_set":true,"psp_profile":"acct_1","sso":{"issuer":"https://id.shop.example/","client_id":"c1","client_secret_set":true}}"#
        );
        let shown = format!("{settings:?} {} {}", lcp::json::write(&settings.to_json().into()), lcp::json::write(&settings.to_stored().into()));
        assert!(!shown.contains("hush") && !shown.contains("whisper"), "{shown}");
        assert_eq!(settings.slack_webhook_url.as_ref().map(HttpsUrl::as_str), Some("https://hooks.slack.com/services/T0/B0/hush"));
    }

    #[test]
    fn what_is_absent_stays_and_null_takes_away() {
        assert_eq!(updated(&[ALL, "{}"]), updated(&[ALL]));
        assert_eq!(updated(&[ALL, r#"{"slack_webhook_url":null,"psp_profile":null,"sso":null}"#]), Settings::default());
        let sso = |body| updated(&[ALL, body]).sso.and_then(|sso| sso.client_secret);
        assert_eq!(sso(r#"{"sso":{"issuer":"https://id.shop.example/","client_id":"c1"}}"#).as_deref(), Some("whisper"));
        assert_eq!(sso(r#"{"sso":{"issuer":"https://id.shop.example/","client_id":"c2"}}"#), None);
    }

    #[test]
    fn faults_change_nothing() {
        for (body, code, pointer) in [
            (r#"{"psp_profile":"new","slack_webhook_url":"http://hooks.slack.com/"}"#, "url_malformed", "/slack_webhook_url"),
            (r#"{"psp_profile":""}"#, "too_short", "/psp_profile"),
            (r#"{"psp_profile":"4242 4242 4242 4242"}"#, "card_number_rejected", "/psp_profile"),
            (r#"{"sso":{"issuer":"https://id.shop.example/"}}"#, "missing_member", "/sso/client_id"),
            (r#"{"sso":{"issuer":"https://id.shop.example/","client_id":"c","x":1}}"#, "unknown_member", "/sso/x"),
            (r#"{"sso":[]}"#, "wrong_type", "/sso"),
            (r#"{"theme":"dark"}"#, "unknown_member", "/theme"),
            ("null", "wrong_type", ""),
        ] {
            let mut settings = updated(&[ALL]);
            let refusal = settings.update(&json(body)).unwrap_err();
            assert_eq!((refusal.code, refusal.pointer.unwrap().as_str()), (code, pointer), "{body}");
            assert_eq!(settings, updated(&[ALL]));
        }
    }

    #[test]
    fn the_stored_state_reads_back() {
        for bodies in [&[][..], &[ALL], &[ALL, r#"{"sso":null}"#], &[ALL, r#"{"slack_webhook_url":null}"#], &[r#"{"psp_profile":"p"}"#]] {
            let settings = updated(bodies);
            let secrets = settings.secrets().map(Value::from);
            assert_eq!(Settings::from_stored(&settings.to_stored().into(), secrets.as_ref()), Some(settings), "{bodies:?}");
        }
        assert_eq!(Settings::default().secrets(), None);
        assert_eq!(Settings::from_stored(&json(r#"{"psp_profile":1}"#), None), None);
    }
}
