//! Signed versions of policies, and which policy an agent is under.

use control::{
    Instant,
    ids::{AgentId, OrgId, PolicyId},
};
use record::Sealed;
use rusqlite::params;

use crate::{
    Reader, StoreError, Tx,
    sql::{Columns, Flag},
};

/// A signed version of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRow {
    /// The policy.
    pub id: PolicyId,
    /// Its version.
    pub version: u32,
    /// The organization.
    pub org: OrgId,
    /// The signed document.
    pub sealed: Sealed,
    /// When it was signed.
    pub signed_at: Instant,
    /// The agents that it names; `None` if it is for all.
    pub agents: Option<Vec<AgentId>>,
    /// When the policy was retired, whatever the version.
    pub retired_at: Option<Instant>,
}

const POLICY: &str = "SELECT p.id, p.version, p.org, p.text, p.hash, p.signature, p.kid, p.signed_at, p.agents, h.retired_at
    FROM policies p JOIN policy_heads h ON h.id = p.id";

fn policy(row: &Columns<'_>) -> rusqlite::Result<PolicyRow> {
    let agents = |text: &str| text.split_ascii_whitespace().map(AgentId::parse).collect::<Option<Vec<_>>>();
    Ok(PolicyRow {
        id: row.id(0)?,
        version: row.small(1)?,
        org: row.id(2)?,
        sealed: row.sealed(3)?,
        signed_at: row.at(7)?,
        agents: if row.is_null(8)? { None } else { Some(row.parsed(8, agents)?) },
        retired_at: row.opt_at(9)?,
    })
}

impl Reader<'_> {
    /// One version of one of the organization's policies.
    pub fn policy(&self, org: &OrgId, id: &PolicyId, version: u32) -> Result<Option<PolicyRow>, StoreError> {
        self.one(&format!("{POLICY} WHERE p.id = $1 AND p.version = $2 AND p.org = $3"), params![id.as_str(), version, org.as_str()], policy)
    }

    /// The latest version of one of the organization's policies.
    pub fn latest_policy(&self, org: &OrgId, id: &PolicyId) -> Result<Option<PolicyRow>, StoreError> {
        self.one(&format!("{POLICY} AND h.version = p.version WHERE p.id = $1 AND p.org = $2"), [id.as_str(), org.as_str()], policy)
    }

    /// The latest version of each of the organization's policies, the most recently signed first, retired ones too.
    pub fn latest_policies(&self, org: &OrgId) -> Result<Vec<PolicyRow>, StoreError> {
        let sql = format!("{POLICY} AND h.version = p.version WHERE h.org = $1 ORDER BY h.signed_at DESC, h.id DESC");
        self.all(&sql, [org.as_str()], policy)
    }

    /// The latest version of the policy that an agent is under: of those whose latest version names the agent the most
    /// recently signed, else of those that are for all. Retired ones do not count.
    pub fn policy_for_agent(&self, org: &OrgId, agent: &AgentId) -> Result<Option<PolicyRow>, StoreError> {
        const NAMED: &str = "SELECT h.id, h.version FROM policy_agents a JOIN policy_heads h ON h.id = a.policy
            WHERE a.org = $1 AND a.agent = $2 AND h.retired_at IS NULL ORDER BY h.signed_at DESC, h.id DESC LIMIT 1";
        const FOR_ALL: &str = "SELECT id, version FROM policy_heads
            WHERE org = $1 AND is_for_all = 1 AND retired_at IS NULL ORDER BY signed_at DESC, id DESC LIMIT 1";
        let found = |row: &Columns<'_>| Ok((row.id(0)?, row.small(1)?));
        let head = match self.one(NAMED, [org.as_str(), agent.as_str()], found)? {
            None => self.one(FOR_ALL, [org.as_str()], found)?,
            named => named,
        };
        head.map_or(Ok(None), |(id, version)| self.policy(org, &id, version))
    }
}

impl Tx<'_> {
    /// Adds a version, which becomes its policy's latest, and takes the policy back from retirement; `false`, and nothing
    /// happens, if its number is not the one behind the latest (1 for the first), or the policy is another
    /// organization's. The row's `retired_at` is not looked at.
    pub fn insert_policy(&mut self, row: &PolicyRow) -> Result<bool, StoreError> {
        const VERSION: &str = "INSERT INTO policies (org, id, version, text, hash, signature, kid, signed_at, agents)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        const HEAD: &str = "INSERT INTO policy_heads (id, org, version, signed_at, is_for_all) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id) DO UPDATE SET version = excluded.version, signed_at = excluded.signed_at,
                is_for_all = excluded.is_for_all, retired_at = NULL";
        const AGENT: &str = "INSERT INTO policy_agents (org, agent, policy) VALUES ($1, $2, $3) ON CONFLICT (org, agent, policy) DO NOTHING";
        let (id, org) = (row.id.as_str(), row.org.as_str());
        let head = self.one("SELECT org, version FROM policy_heads WHERE id = $1", [id], |head| Ok((head.text(0)?, head.small(1)?)))?;
        let is_next = match head {
            Some((owner, latest)) => owner == org && latest.checked_add(1) == Some(row.version),
            None => row.version == 1,
        };
        if !is_next {
            return Ok(false);
        }
        let Sealed { text, hash, signature, kid } = &row.sealed;
        let agents = row.agents.as_ref().map(|agents| agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(" "));
        let signed_at = row.signed_at.millis();
        self.run(VERSION, params![org, id, row.version, text, &hash.bytes()[..], &signature[..], kid, signed_at, agents])?;
        self.run(HEAD, params![id, org, row.version, signed_at, Flag(row.agents.is_none())])?;
        self.run("DELETE FROM policy_agents WHERE policy = $1", [id])?;
        for agent in row.agents.iter().flatten() {
            self.run(AGENT, [org, agent.as_str(), id])?;
        }
        Ok(true)
    }

    /// Takes a policy out of use, until a new version of it is signed; `false` if the organization has none in use.
    pub fn retire_policy(&mut self, org: &OrgId, id: &PolicyId, at: Instant) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE policy_heads SET retired_at = $1 WHERE id = $2 AND org = $3 AND retired_at IS NULL";
        self.run(SQL, params![at.millis(), id.as_str(), org.as_str()]).map(|found| found == 1)
    }
}

#[cfg(test)]
mod tests {
    use lcp::Hash;

    use super::*;
    use crate::testing::{agent, alone, at, bits, org};

    fn version(policy: u64, version: u32, signed_at: i64, agents: Option<&[u64]>) -> PolicyRow {
        PolicyRow {
            id: PolicyId::of(bits(policy)),
            version,
            org: org(),
            sealed: Sealed { text: format!("{policy} {version}"), hash: Hash::of(b""), signature: [7; 64], kid: "kid".into() },
            signed_at: at(signed_at),
            agents: agents.map(|agents| agents.iter().map(|number| agent(*number)).collect()),
            retired_at: None,
        }
    }

    #[test]
    fn the_most_recently_signed_policy_that_names_the_agent_counts() {
        alone(|tx| {
            let of = |tx: &Tx<'_>, number| tx.policy_for_agent(&org(), &agent(number)).unwrap().map(|row| (row.id, row.version));
            assert_eq!(of(tx, 1), None);
            for row in [version(1, 1, 1, None), version(2, 1, 2, Some(&[1, 2])), version(3, 1, 3, None), version(4, 1, 4, Some(&[2]))] {
                assert_eq!(tx.insert_policy(&row), Ok(true));
            }
            let policy = |number, version| Some((PolicyId::of(bits(number)), version));
            assert_eq!((of(tx, 1), of(tx, 2), of(tx, 3)), (policy(2, 1), policy(4, 1), policy(3, 1)));
            // A later version that names the agent no more leaves it to the others.
            assert_eq!(tx.insert_policy(&version(4, 2, 5, Some(&[3]))), Ok(true));
            assert_eq!((of(tx, 1), of(tx, 2), of(tx, 3)), (policy(2, 1), policy(2, 1), policy(4, 2)));
            assert_eq!(tx.insert_policy(&version(1, 2, 6, None)), Ok(true));
            assert_eq!(of(tx, 4), policy(1, 2));
            for number in [2, 1] {
                assert_eq!(tx.retire_policy(&org(), &PolicyId::of(bits(number)), at(9)), Ok(true));
                assert_eq!(tx.retire_policy(&org(), &PolicyId::of(bits(number)), at(9)), Ok(false));
            }
            assert_eq!((of(tx, 1), of(tx, 4)), (policy(3, 1), policy(3, 1)));
            assert_eq!(tx.policy_for_agent(&org(), &agent(3)), Ok(Some(version(4, 2, 5, Some(&[3])))));
            assert_eq!(tx.policy_for_agent(&OrgId::of(bits(2)), &agent(3)), Ok(None));
        });
    }

    #[test]
    fn versions_follow_one_another() {
        alone(|tx| {
            let (first, second) = (version(1, 1, 1, None), version(1, 2, 2, Some(&[1])));
            assert_eq!(tx.insert_policy(&second), Ok(false), "the first is 1");
            assert_eq!((tx.insert_policy(&first), tx.insert_policy(&first)), (Ok(true), Ok(false)));
            assert_eq!(tx.insert_policy(&PolicyRow { org: OrgId::of(bits(2)), ..second.clone() }), Ok(false));
            assert_eq!(tx.insert_policy(&second), Ok(true));
            assert_eq!(tx.policy(&org(), &first.id, 1), Ok(Some(first.clone())));
            assert_eq!(tx.policy(&OrgId::of(bits(2)), &first.id, 1), Ok(None));
            assert_eq!(tx.latest_policy(&org(), &first.id), Ok(Some(second.clone())));
            assert_eq!(tx.latest_policies(&org()), Ok(vec![second]));
            tx.retire_policy(&org(), &first.id, at(5)).unwrap();
            assert_eq!(tx.policy(&org(), &first.id, 1).unwrap().unwrap().retired_at, Some(at(5)));
            assert_eq!(tx.insert_policy(&version(1, 3, 6, None)), Ok(true));
            assert_eq!(tx.latest_policies(&org()).unwrap()[0].retired_at, None, "a new version brings it back");
        });
    }
}
