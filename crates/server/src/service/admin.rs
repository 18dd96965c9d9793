//! What the operator does, from the command line: nobody calls it over the network.

use std::sync::atomic::Ordering;

use control::{
    Instant,
    actor::Actor,
    agent::{Agent, PauseReason},
    ids::{AgentId, KeyId, OrgId, PolicyId, UserId},
};
use lcp::{Object, Value};
use store::{KeyRow, MAX_PAGE, OrgRow, Reader, Tx, UserRow};

use super::{
    Inner, Service,
    agents::{agent, known_agent, put_agent},
    clock::OsIds,
    keys::{self, fresh_key},
    page, policies,
};
use crate::{
    Caller, Problem,
    admin::{AdminCommand, KeyHolder},
};

impl Service {
    /// Runs a command of the operator.
    pub async fn admin(&self, command: AdminCommand) -> Result<Object, Problem> {
        match command {
            AdminCommand::PolicySimulate { org, document } => self.simulate_policy(org, &document).await,
            AdminCommand::RailFail { on } => {
                self.inner.rail_fails.store(on, Ordering::Relaxed);
                Ok(Object::new().with("rail", "sandbox_card").with("fails", on))
            }
            command => self.write(move |inner, tx, now| inner.admin(tx, command, now)).await,
        }
    }

    /// Whom a development session on this machine speaks for: the holder of a key, an agent by its id, or else the only
    /// agent there is.
    pub async fn local_caller(&self, key: Option<&str>, agent: Option<&str>) -> Result<Caller, Problem> {
        if let Some(key) = key {
            return self.authenticate(key).await;
        }
        let agent = agent.map(|id| AgentId::parse(id).ok_or_else(Problem::not_found)).transpose()?;
        self.read(move |_, reader, now| {
            let mut found = None;
            for org in reader.orgs()? {
                for row in reader.keys(&org.id)? {
                    let is_asked_for = row.agent.is_some() && agent.as_ref().is_none_or(|agent| row.agent.as_ref() == Some(agent));
                    if is_asked_for && row.is_in_use(now) {
                        let other = found.replace(row.clone());
                        if other.is_some_and(|other: KeyRow| other.agent != row.agent) {
                            return Err(Problem::new(422, "agent_missing", "There is more than one agent: say which with --agent, or give its key."));
                        }
                    }
                }
            }
            let none = || Problem::new(404, "agent_missing", "There is no such agent with a key in use: chancery admin key create agent makes one.");
            keys::caller(&found.ok_or_else(none)?)
        })
        .await
    }
}

impl Inner {
    fn admin(&self, tx: &mut Tx<'_>, command: AdminCommand, now: Instant) -> Result<Object, Problem> {
        match command {
            AdminCommand::Status => self.status(tx),
            AdminCommand::OrgList => Ok(page(tx.orgs()?.iter().map(|org| org_json(org).into()).collect(), None)),
            AdminCommand::OrgCreate { name } => {
                let org = OrgRow { id: OrgId::fresh(&mut OsIds), name, created_at: now };
                tx.insert_org(&org)?;
                Ok(org_json(&org))
            }
            AdminCommand::UserList { org } => {
                let users = tx.users(&one_org(tx, org)?)?;
                Ok(page(users.iter().map(|user| user_json(user).into()).collect(), None))
            }
            AdminCommand::UserCreate { org, login } => self.create_user(tx, one_org(tx, org)?, &login, now),
            AdminCommand::UserLink { login } => {
                let user = tx.user_by_login(&login)?.ok_or_else(|| Problem::new(404, "not_found", "Nobody signs in with that name."))?;
                self.with_setup_link(tx, &user, now)
            }
            AdminCommand::AgentList { org } => {
                let rows = tx.agents(&one_org(tx, org)?, None, MAX_PAGE)?.rows;
                Ok(page(rows.iter().map(|row| agent(row).map(|agent| agent.to_json().into())).collect::<Result<_, _>>()?, None))
            }
            AdminCommand::AgentCreate { org, name } => {
                let org = one_org(tx, org)?;
                let agent = Agent::create(&Object::new().with("name", name).into(), now, &mut OsIds)?;
                put_agent(tx, &org, &agent)?;
                Ok(agent.to_json())
            }
            AdminCommand::AgentPause { agent, reason } => {
                let reason = reason.unwrap_or_else(|| "The operator paused it.".to_owned());
                let reason = PauseReason::read(&Object::new().with("reason", reason).into())?;
                self.pause(tx, &org_of_agent(tx, &agent)?, &agent, reason, Actor::System, now)
            }
            AdminCommand::AgentResume { agent } => self.resume(tx, &org_of_agent(tx, &agent)?, &agent, &Actor::System, now),
            AdminCommand::KeyList { org } => {
                let keys = tx.keys(&one_org(tx, org)?)?;
                Ok(page(keys.iter().map(|key| key_json(key).into()).collect(), None))
            }
            AdminCommand::KeyCreate { org, holder, name } => create_key(tx, org, &holder, name, now),
            AdminCommand::KeyRevoke { key } => revoke_key(tx, &key, now),
            AdminCommand::PolicyList { org } => {
                let rows = tx.latest_policies(&one_org(tx, org)?)?;
                let shown = rows.iter().map(|row| {
                    let retired = row.retired_at.map_or(Value::Null, |at| at.to_string().into());
                    policies::to_json(row).map(|policy| policy.without("document").with("retired_at", retired).into())
                });
                Ok(page(shown.collect::<Result<_, _>>()?, None))
            }
            AdminCommand::PolicySign { org, document } => {
                let org = one_org(tx, org)?;
                policies::to_json(&self.sign_policy(tx, &org, &document, now)?)
            }
            AdminCommand::PolicyRetire { policy } => retire_policy(tx, &policy, now),
            // Answered before a command is written.
            AdminCommand::PolicySimulate { .. } | AdminCommand::RailFail { .. } => Err(Problem::not_available()),
        }
    }

    fn status(&self, reader: &Reader<'_>) -> Result<Object, Problem> {
        let orgs = reader.orgs()?;
        let mut records = 0u64;
        for org in &orgs {
            records = records.saturating_add(reader.log_size(&org.id)?);
        }
        Ok(Object::new()
            .with("url", self.base.as_str())
            .with("sandbox", self.is_sandbox)
            .with("organizations", orgs.len() as u64)
            .with("sealed_records", records)
            .with("sandbox_rail_fails", self.rail_fails.load(Ordering::Relaxed)))
    }

    fn create_user(&self, tx: &mut Tx<'_>, org: OrgId, login: &str, now: Instant) -> Result<Object, Problem> {
        let user = UserRow {
            id: UserId::fresh(&mut OsIds),
            org,
            name: login.to_owned(),
            login: login.to_lowercase(),
            role: "approver".to_owned(),
            password_hash: None,
            created_at: now,
        };
        if !tx.insert_user(&user)? {
            return Err(Problem::new(409, "login_taken", "Somebody signs in with that name already: choose another."));
        }
        self.with_setup_link(tx, &user, now)
    }

    /// The person, with a fresh link to set the password.
    fn with_setup_link(&self, tx: &mut Tx<'_>, user: &UserRow, now: Instant) -> Result<Object, Problem> {
        let (url, expires_at) = self.fresh_setup_link(tx, &user.id, now)?;
        Ok(user_json(user).with("setup_url", url).with("setup_expires_at", expires_at.to_string()))
    }
}

/// The organization named, or the only one there is.
pub(super) fn one_org(reader: &Reader<'_>, org: Option<OrgId>) -> Result<OrgId, Problem> {
    let orgs = reader.orgs()?;
    let missing = || Problem::new(422, "org_missing", "Say which organization with --org: chancery admin org list shows them.");
    match (org, orgs.as_slice()) {
        (Some(org), orgs) => orgs.iter().find(|row| row.id == org).map(|row| row.id.clone()).ok_or_else(Problem::not_found),
        (None, [one]) => Ok(one.id.clone()),
        (None, _) => Err(missing()),
    }
}

fn org_of_agent(reader: &Reader<'_>, agent: &AgentId) -> Result<OrgId, Problem> {
    for org in reader.orgs()? {
        if reader.agent(&org.id, agent)?.is_some() {
            return Ok(org.id);
        }
    }
    Err(Problem::not_found())
}

fn revoke_key(tx: &mut Tx<'_>, key: &KeyId, now: Instant) -> Result<Object, Problem> {
    for org in tx.orgs()? {
        if tx.key(&org.id, key)?.is_some() {
            tx.revoke_key(&org.id, key, now)?;
            return Ok(tx.key(&org.id, key)?.map(|row| key_json(&row)).unwrap_or_default());
        }
    }
    Err(Problem::not_found())
}

fn retire_policy(tx: &mut Tx<'_>, policy: &PolicyId, now: Instant) -> Result<Object, Problem> {
    for org in tx.orgs()? {
        if tx.retire_policy(&org.id, policy, now)? {
            return Ok(Object::new().with("id", policy.as_str()).with("retired_at", now.to_string()));
        }
    }
    Err(Problem::not_found())
}

fn org_json(org: &OrgRow) -> Object {
    Object::new().with("id", org.id.as_str()).with("name", org.name.as_str()).with("created_at", org.created_at.to_string())
}

fn user_json(user: &UserRow) -> Object {
    Object::new()
        .with("id", user.id.as_str())
        .with("login", user.login.as_str())
        .with("role", user.role.as_str())
        .with("has_password", user.password_hash.is_some())
}

fn key_json(key: &KeyRow) -> Object {
    Object::new()
        .with("id", key.id.as_str())
        .with("role", key.role.as_str())
        .with("prefix", key.prefix.as_str())
        .with("name", key.name.as_str())
        .with("agent_id", key.agent.as_ref().map_or(Value::Null, Value::from))
        .with("domain", key.domain.as_deref().map_or(Value::Null, Value::from))
        .with("created_at", key.created_at.to_string())
        .with("revoked_at", key.revoked_at.map_or(Value::Null, |at| at.to_string().into()))
}

fn create_key(tx: &mut Tx<'_>, org: Option<OrgId>, holder: &KeyHolder, name: Option<String>, now: Instant) -> Result<Object, Problem> {
    let (agent, domain) = match holder {
        KeyHolder::Agent(agent) => (Some(agent), None),
        KeyHolder::Seller(domain) => (None, Some(domain)),
        KeyHolder::Developer | KeyHolder::Auditor => (None, None),
    };
    let org = match (org, agent) {
        (None, Some(agent)) => org_of_agent(tx, agent)?,
        (org, _) => one_org(tx, org)?,
    };
    if let Some(agent) = agent {
        known_agent(tx, &org, agent)?;
    }
    let name = name.unwrap_or_else(|| holder.role().as_str().to_owned());
    let key = fresh_key(tx, &org, holder.role(), (agent, domain), &name, now)?;
    Ok(Object::new()
        .with("id", key.id.as_str())
        .with("key", key.text)
        .with("prefix", key.prefix)
        .with("role", holder.role().as_str())
        .with("org", org.as_str())
        .with("name", name))
}
