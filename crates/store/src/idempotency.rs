//! Answers that a repeated call gets again.

use control::ids::{AgentId, OrgId, RequestId};
use rusqlite::params;

use crate::{Reader, StoreError, Tx};

/// The answer to a call with an idempotency key.
#[derive(Clone, PartialEq, Eq)]
pub struct IdempotencyRow {
    /// The SHA-256 of what was asked.
    pub body_hash: [u8; 32],
    /// The request that it made.
    pub request: RequestId,
    /// The answer, sealed by a [`crate::Vault`].
    pub answer: Vec<u8>,
}

impl Reader<'_> {
    /// The answer to an agent's call with that key.
    pub fn idempotency(&self, org: &OrgId, agent: &AgentId, key: &str) -> Result<Option<IdempotencyRow>, StoreError> {
        const SQL: &str = "SELECT body_hash, request, answer FROM idempotency WHERE org = $1 AND agent = $2 AND idempotency_key = $3";
        self.one(SQL, [org.as_str(), agent.as_str(), key], |row| {
            Ok(IdempotencyRow { body_hash: row.get(0)?, request: row.id(1)?, answer: row.get(2)? })
        })
    }
}

impl Tx<'_> {
    /// Keeps the answer to an agent's call with that key; `false`, and nothing happens, if there is one.
    pub fn insert_idempotency(&mut self, org: &OrgId, agent: &AgentId, key: &str, row: &IdempotencyRow) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO idempotency (org, agent, idempotency_key, body_hash, request, answer) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (org, agent, idempotency_key) DO NOTHING";
        let row = params![org.as_str(), agent.as_str(), key, &row.body_hash[..], row.request.as_str(), row.answer];
        self.run(SQL, row).map(|added| added == 1)
    }
}

impl std::fmt::Debug for IdempotencyRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdempotencyRow").field("request", &self.request).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{agent, alone, org, request};

    #[test]
    fn the_first_answer_stays() {
        alone(|tx| {
            tx.insert_request(&request(1)).unwrap();
            let row = |byte| IdempotencyRow { body_hash: [byte; 32], request: request(1).id, answer: vec![byte; 99] };
            assert_eq!(tx.insert_idempotency(&org(), &agent(1), "key", &row(1)), Ok(true));
            assert_eq!(tx.insert_idempotency(&org(), &agent(1), "key", &row(2)), Ok(false));
            assert_eq!(tx.insert_idempotency(&org(), &agent(2), "key", &row(3)), Ok(true), "each agent has its own keys");
            assert_eq!(tx.idempotency(&org(), &agent(1), "key"), Ok(Some(row(1))));
            assert_eq!(tx.idempotency(&org(), &agent(1), "KEY"), Ok(None));
        });
    }
}
