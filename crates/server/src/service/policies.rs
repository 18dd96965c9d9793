//! Policies: signed versions, and the one that an agent pays under.

use std::sync::Arc;

use control::{
    Instant,
    decision::NoPolicy,
    ids::{AgentId, OrgId, PolicyId},
    policy::{Agents, Policy},
};
use lcp::{Object, Value, jose::signature_text, json};
use record::{digest_text, sign_policy};
use store::{PolicyRow, Reader, Tx};

use super::{Inner, Service, clock::OsIds, page, unreadable};
use crate::{Caller, Problem};

/// A policy version, or why it cannot be decided by.
pub(super) type Loaded = Result<Policy, NoPolicy>;

/// How deep a policy document nests at most; the reader of policies is stricter.
const MAX_DEPTH: usize = 32;

impl Inner {
    /// The policy that the agent pays under now.
    pub(super) fn policy_for(&self, reader: &Reader<'_>, org: &OrgId, agent: &AgentId) -> Result<Arc<Loaded>, Problem> {
        Ok(match reader.policy_for_agent(org, agent)? {
            Some(row) => self.loaded(&row),
            None => Arc::new(Err(NoPolicy::Missing)),
        })
    }

    /// Reads a version and checks its signature, once while the process runs: a version never changes.
    fn loaded(&self, row: &PolicyRow) -> Arc<Loaded> {
        let name = (row.id.clone(), row.version);
        let mut held = self.policies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(loaded) = held.get(&name) {
            return loaded.clone();
        }
        let loaded = Arc::new(if row.sealed.check(&self.keys).is_ok() {
            Policy::parse(&row.sealed.text).map_err(NoPolicy::Unreadable)
        } else {
            Err(NoPolicy::SignatureInvalid)
        });
        held.insert(name, loaded.clone());
        loaded
    }

    /// Signs a document as a new policy, or as the next version of the one that it names.
    pub(super) fn sign_policy(&self, tx: &mut Tx<'_>, org: &OrgId, document: &Value, now: Instant) -> Result<PolicyRow, Problem> {
        let policy = Policy::read(document)?;
        let latest = match &policy.id {
            Some(id) => Some(
                tx.latest_policy(org, id)?
                    .ok_or_else(|| Problem::new(422, "policy_unknown", "Name a policy of this organization in id, or leave id out for a new one."))?,
            ),
            None => None,
        };
        let next = latest.as_ref().map_or(1, |row| row.version.saturating_add(1));
        if policy.version.is_some_and(|version| version != next) {
            return Err(Problem::new(409, "policy_version_conflict", format!("The next version is {next}: give that, or leave version out.")));
        }
        let id = policy.id.clone().unwrap_or_else(|| PolicyId::fresh(&mut OsIds));
        let document = document.as_object().cloned().unwrap_or_default().with("id", id.as_str()).with("version", next);
        let document = if document.has("created_at") { document } else { document.with("created_at", now.to_string()) };
        let sealed = sign_policy(&document, &self.key).map_err(|error| Problem::new(422, "policy_unsigned", error.to_string()))?;
        let agents = match policy.agents {
            Agents::All => None,
            Agents::These(agents) => Some(agents),
        };
        let row = PolicyRow { org: org.clone(), id, version: next, sealed, signed_at: now, agents, retired_at: None };
        tx.insert_policy(&row)?;
        Ok(row)
    }
}

impl Service {
    /// The latest version of each policy.
    pub async fn policies(&self, caller: &Caller) -> Result<Object, Problem> {
        let org = caller.org.clone();
        self.read(move |_, reader, _| {
            let rows = reader.latest_policies(&org)?;
            Ok(page(rows.iter().map(|row| to_json(row).map(Value::from)).collect::<Result<_, _>>()?, None))
        })
        .await
    }

    /// One signed version: its document, hash, signature and key.
    pub async fn policy_version(&self, caller: &Caller, id: &str, version: u32) -> Result<Object, Problem> {
        let org = caller.org.clone();
        let id = PolicyId::parse(id).ok_or_else(Problem::not_found)?;
        self.read(move |_, reader, _| to_json(&reader.policy(&org, &id, version)?.ok_or_else(Problem::not_found)?)).await
    }

    /// Signs a document as a new policy or as the next version of one.
    pub async fn sign_policy(&self, caller: &Caller, document: &Value) -> Result<Object, Problem> {
        let (org, document) = (caller.org.clone(), document.clone());
        self.write(move |inner, tx, now| to_json(&inner.sign_policy(tx, &org, &document, now)?)).await
    }
}

/// A version in the client's shape.
pub(super) fn to_json(row: &PolicyRow) -> Result<Object, Problem> {
    let document = json::parse(&row.sealed.text, MAX_DEPTH).map_err(|_| unreadable("policy"))?;
    Ok(Object::new()
        .with("id", row.id.as_str())
        .with("version", row.version)
        .with("document", document)
        .with("hash", digest_text(&row.sealed.hash))
        .with("signature", signature_text(&row.sealed.signature))
        .with("key", row.sealed.kid.as_str())
        .with("signed_at", row.signed_at.to_string()))
}
