//! Each organization's settings.

use control::ids::OrgId;
use rusqlite::params;

use crate::{Reader, StoreError, Tx};

/// An organization's settings.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsRow {
    /// The settings as stored, without secrets.
    pub doc: String,
    /// Their secrets, sealed by a [`crate::Vault`].
    pub secret: Option<Vec<u8>>,
}

impl Reader<'_> {
    /// The organization's settings, if any were made.
    pub fn settings(&self, org: &OrgId) -> Result<Option<SettingsRow>, StoreError> {
        self.one("SELECT doc, secret FROM settings WHERE org = $1", [org.as_str()], |row| Ok(SettingsRow { doc: row.text(0)?, secret: row.get(1)? }))
    }
}

impl Tx<'_> {
    /// Sets the organization's settings.
    pub fn put_settings(&mut self, org: &OrgId, settings: &SettingsRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO settings (org, doc, secret) VALUES ($1, $2, $3)
            ON CONFLICT (org) DO UPDATE SET doc = excluded.doc, secret = excluded.secret";
        self.run(SQL, params![org.as_str(), settings.doc, settings.secret]).map(drop)
    }
}

impl std::fmt::Debug for SettingsRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SettingsRow").field("doc", &self.doc).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        RequestRow, Vault,
        testing::{Folder, alone, bits, org, request},
    };

    #[test]
    fn settings_are_kept_and_replaced() {
        alone(|tx| {
            assert_eq!(tx.settings(&org()), Ok(None));
            for secret in [None, Some(vec![1])] {
                let settings = SettingsRow { doc: r#"{"a":1}"#.into(), secret };
                tx.put_settings(&org(), &settings).unwrap();
                assert_eq!((tx.settings(&org()), tx.settings(&OrgId::of(bits(2)))), (Ok(Some(settings)), Ok(None)));
            }
        });
    }

    #[tokio::test]
    async fn no_secret_stands_in_the_file() {
        let folder = Folder::new();
        let vault = Vault::create(&folder.path("master.key")).unwrap();
        let (token, hook) = ("tok_sandbox_0123456789", "whsec_0123456789");
        let secrets = vault.seal("requests/1", token.as_bytes()).unwrap();
        let settings =
            SettingsRow { doc: r#"{"hook":"https://example.com"}"#.into(), secret: Some(vault.seal("settings", hook.as_bytes()).unwrap()) };
        let store = folder.store().await;
        let write = move |tx: &mut Tx<'_>| {
            tx.put_settings(&org(), &settings)?;
            tx.insert_request(&RequestRow { secrets: Some(secrets), ..request(1) })
        };
        store.write(write).await.unwrap();
        let row = store.read::<_, StoreError>(|reader| reader.request(&org(), &request(1).id)).await.unwrap().unwrap();
        assert_eq!(*vault.open("requests/1", &row.secrets.unwrap()).unwrap(), token.as_bytes());
        for name in ["store.db", "store.db-wal"] {
            let bytes = std::fs::read(folder.path(name)).unwrap();
            let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!has(token) && !has(hook), "{name}");
            assert!(name == "store.db" || has("https://example.com"), "the search finds what is there");
        }
    }
}
