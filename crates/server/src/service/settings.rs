//! An organization's settings: secrets go in and never come back.

use control::{ids::OrgId, settings::Settings};
use lcp::{Object, Value, json};
use store::{Reader, SettingsRow};

use super::{Inner, Service, stored};
use crate::{Caller, Problem};

impl Service {
    /// The organization's settings.
    pub async fn settings(&self, caller: &Caller) -> Result<Object, Problem> {
        let org = caller.org.clone();
        self.read(move |inner, reader, _| Ok(inner.settings(reader, &org)?.to_json())).await
    }

    /// Changes the settings that the body names.
    pub async fn update_settings(&self, caller: &Caller, body: &Value) -> Result<Object, Problem> {
        let (org, body) = (caller.org.clone(), body.clone());
        self.write(move |inner, tx, _| {
            let mut settings = inner.settings(tx, &org)?;
            settings.update(&body)?;
            let secrets = settings.secrets().map(|secrets| inner.seal_secrets(&secrets_place(&org), secrets)).transpose()?;
            tx.put_settings(&org, &SettingsRow { doc: json::write(&settings.to_stored().into()), secret: secrets })?;
            Ok(settings.to_json())
        })
        .await
    }
}

impl Inner {
    fn settings(&self, reader: &Reader<'_>, org: &OrgId) -> Result<Settings, Problem> {
        let Some(row) = reader.settings(org)? else { return Ok(Settings::default()) };
        let secrets = row.secret.map(|sealed| self.open_secrets(&secrets_place(org), &sealed, "settings")).transpose()?;
        stored(&row.doc, "settings", |doc| Settings::from_stored(doc, secrets.as_ref()))
    }
}

fn secrets_place(org: &OrgId) -> String {
    format!("settings/{org}/secrets")
}
