//! API keys: whose they are. Only their hashes are stored.

use control::{
    Instant,
    access::Role,
    ids::{AgentId, KeyId, OrgId},
    payee::Domain,
};
use lcp::{Object, Value};
use store::{KeyRow, Tx};

use super::{Service, clock::OsIds, secret, unreadable};
use crate::{Caller, Problem};

/// A key that was made: its text is shown once.
pub(super) struct FreshKey {
    pub(super) id: KeyId,
    pub(super) text: String,
    pub(super) prefix: String,
}

impl Service {
    /// Whose key this is. A key that is unknown and one that was revoked are answered the same.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, Problem> {
        if key.is_empty() || key.len() > 128 {
            return Err(Problem::unauthenticated());
        }
        let hash = secret::hash(key);
        self.read(move |_, reader, now| {
            let row = reader.key_by_hash(&hash)?.filter(|row| row.is_in_use(now)).ok_or_else(Problem::unauthenticated)?;
            caller(&row)
        })
        .await
    }

    /// Who the key is.
    #[allow(clippy::unused_async)] // as the others of its kind
    pub async fn me(&self, caller: &Caller) -> Result<Object, Problem> {
        Ok(Object::new()
            .with("agent_id", caller.agent.as_ref().map_or(Value::Null, Value::from))
            .with("org_id", caller.org.as_str())
            .with("role", caller.role.as_str())
            .with("key_prefix", caller.prefix.as_str()))
    }
}

/// A fresh key. An agent's speaks for that agent, a seller's for that domain.
pub(super) fn fresh_key(
    tx: &mut Tx<'_>,
    org: &OrgId,
    role: Role,
    (agent, domain): (Option<&AgentId>, Option<&Domain>),
    name: &str,
    now: Instant,
) -> Result<FreshKey, Problem> {
    let (text, prefix) = secret::fresh_key(role);
    let id = KeyId::fresh(&mut OsIds);
    tx.insert_key(&KeyRow {
        id: id.clone(),
        hash: secret::hash(&text),
        role: role.as_str().to_owned(),
        org: org.clone(),
        agent: agent.cloned(),
        domain: domain.map(|domain| domain.as_str().to_owned()),
        prefix: prefix.clone(),
        name: name.to_owned(),
        created_at: now,
        revoked_at: None,
    })?;
    Ok(FreshKey { id, text, prefix })
}

pub(super) fn caller(row: &KeyRow) -> Result<Caller, Problem> {
    Ok(Caller {
        org: row.org.clone(),
        role: Role::parse(&row.role).ok_or_else(|| unreadable("key"))?,
        agent: row.agent.clone(),
        domain: row.domain.as_deref().map(|domain| Domain::parse(domain).map_err(|_| unreadable("key"))).transpose()?,
        key: row.id.clone(),
        prefix: row.prefix.clone(),
    })
}
