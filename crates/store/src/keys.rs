//! API keys, of which only a hash is stored, and the sealed keys that sign.

use control::{
    Instant,
    ids::{AgentId, KeyId, OrgId},
};
use rusqlite::params;

use crate::{Reader, StoreError, Tx, sql::Columns};

/// An API key.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its name.
    pub id: KeyId,
    /// The organization.
    pub org: OrgId,
    /// The SHA-256 of the key.
    pub hash: [u8; 32],
    /// What it may do: `agent`, `developer`, `auditor` or `seller`.
    pub role: String,
    /// Whose it is, if it is an agent's.
    pub agent: Option<AgentId>,
    /// Whose it is, if it is a seller's.
    pub domain: Option<String>,
    /// What the key starts with, so that people can tell it.
    pub prefix: String,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Instant,
    /// When it was revoked.
    pub revoked_at: Option<Instant>,
}

/// A key that signs.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRow {
    /// Its thumbprint.
    pub kid: String,
    /// What it signs.
    pub purpose: String,
    /// Its seed, sealed by a [`crate::Vault`].
    pub seed: Vec<u8>,
    /// When it was made.
    pub created_at: Instant,
    /// When it was replaced.
    pub retired_at: Option<Instant>,
}

impl KeyRow {
    /// Whether it is not revoked at that time.
    pub fn is_in_use(&self, now: Instant) -> bool {
        self.revoked_at.is_none_or(|at| at > now)
    }
}

const KEY: &str = "SELECT id, org, hash, role, agent, domain, prefix, name, created_at, revoked_at FROM keys";

fn key(row: &Columns<'_>) -> rusqlite::Result<KeyRow> {
    Ok(KeyRow {
        id: row.id(0)?,
        org: row.id(1)?,
        hash: row.get(2)?,
        role: row.text(3)?,
        agent: row.opt_id(4)?,
        domain: row.get(5)?,
        prefix: row.text(6)?,
        name: row.text(7)?,
        created_at: row.at(8)?,
        revoked_at: row.opt_at(9)?,
    })
}

impl Reader<'_> {
    /// The key of that hash, revoked ones too.
    pub fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRow>, StoreError> {
        self.one(&format!("{KEY} WHERE hash = $1"), params![&hash[..]], key)
    }

    /// One of the organization's keys.
    pub fn key(&self, org: &OrgId, id: &KeyId) -> Result<Option<KeyRow>, StoreError> {
        self.one(&format!("{KEY} WHERE id = $1 AND org = $2"), [id.as_str(), org.as_str()], key)
    }

    /// The organization's keys, the oldest first.
    pub fn keys(&self, org: &OrgId) -> Result<Vec<KeyRow>, StoreError> {
        self.all(&format!("{KEY} WHERE org = $1 ORDER BY created_at, id"), [org.as_str()], key)
    }

    /// Every key that signs or did, the oldest first.
    pub fn signing_keys(&self) -> Result<Vec<SigningKeyRow>, StoreError> {
        self.all("SELECT kid, purpose, seed, created_at, retired_at FROM signing_keys ORDER BY created_at, kid", [], |row| {
            Ok(SigningKeyRow { kid: row.text(0)?, purpose: row.text(1)?, seed: row.get(2)?, created_at: row.at(3)?, retired_at: row.opt_at(4)? })
        })
    }
}

impl Tx<'_> {
    /// Adds a key.
    pub fn insert_key(&mut self, key: &KeyRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO keys (id, org, hash, role, agent, domain, prefix, name, created_at, revoked_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let row = params![
            key.id.as_str(),
            key.org.as_str(),
            &key.hash[..],
            key.role,
            key.agent.as_ref().map(AgentId::as_str),
            key.domain,
            key.prefix,
            key.name,
            key.created_at.millis(),
            key.revoked_at.map(Instant::millis)
        ];
        self.run(SQL, row).map(drop)
    }

    /// Revokes one of the organization's keys; `false` if there is none in use.
    pub fn revoke_key(&mut self, org: &OrgId, id: &KeyId, at: Instant) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE keys SET revoked_at = $1 WHERE id = $2 AND org = $3 AND revoked_at IS NULL";
        self.run(SQL, params![at.millis(), id.as_str(), org.as_str()]).map(|found| found == 1)
    }

    /// Adds a key that signs.
    pub fn insert_signing_key(&mut self, key: &SigningKeyRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO signing_keys (kid, purpose, seed, created_at, retired_at) VALUES ($1, $2, $3, $4, $5)";
        self.run(SQL, params![key.kid, key.purpose, key.seed, key.created_at.millis(), key.retired_at.map(Instant::millis)]).map(drop)
    }

    /// Says that a key signs no more; `false` if there is none that does.
    pub fn retire_signing_key(&mut self, kid: &str, at: Instant) -> Result<bool, StoreError> {
        let row = params![at.millis(), kid];
        self.run("UPDATE signing_keys SET retired_at = $1 WHERE kid = $2 AND retired_at IS NULL", row).map(|found| found == 1)
    }
}

impl std::fmt::Debug for KeyRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyRow").field("id", &self.id).field("org", &self.org).field("role", &self.role).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SigningKeyRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKeyRow").field("kid", &self.kid).field("purpose", &self.purpose).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{agent, alone, at, bits, org};

    #[test]
    fn keys_are_found_by_their_hash_and_revoked_once() {
        alone(|tx| {
            let mut key = KeyRow {
                id: KeyId::of(bits(1)),
                org: org(),
                hash: [1; 32],
                role: "agent".into(),
                agent: Some(agent(1)),
                domain: None,
                prefix: "ek_test_ab".into(),
                name: "first".into(),
                created_at: at(1),
                revoked_at: None,
            };
            tx.insert_key(&key).unwrap();
            let seller = KeyRow { id: KeyId::of(bits(2)), hash: [2; 32], agent: None, domain: Some("shop.example".into()), ..key.clone() };
            tx.insert_key(&seller).unwrap();
            assert_eq!(tx.key_by_hash(&[1; 32]), Ok(Some(key.clone())));
            assert_eq!(tx.key_by_hash(&[3; 32]), Ok(None));
            let other = OrgId::of(bits(2));
            assert_eq!((tx.key(&other, &key.id), tx.revoke_key(&other, &key.id, at(5))), (Ok(None), Ok(false)));
            assert_eq!((tx.revoke_key(&org(), &key.id, at(5)), tx.revoke_key(&org(), &key.id, at(6))), (Ok(true), Ok(false)));
            key.revoked_at = Some(at(5));
            assert_eq!(tx.keys(&org()), Ok(vec![key.clone(), seller]));
            assert!(!format!("{key:?}").contains('['));
        });
    }

    #[test]
    fn signing_keys_are_retired() {
        alone(|tx| {
            let mut key = SigningKeyRow { kid: "kid".into(), purpose: "records".into(), seed: vec![9; 72], created_at: at(1), retired_at: None };
            tx.insert_signing_key(&key).unwrap();
            assert_eq!((tx.retire_signing_key("kid", at(2)), tx.retire_signing_key("kid", at(3))), (Ok(true), Ok(false)));
            key.retired_at = Some(at(2));
            assert!(!format!("{key:?}").contains('9'));
            assert_eq!(tx.signing_keys(), Ok(vec![key]));
        });
    }
}
