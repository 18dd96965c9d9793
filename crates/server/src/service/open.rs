//! Opening a data folder, and what its first start makes.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64},
    },
};

use control::{
    Instant,
    access::Role,
    agent::Agent,
    ids::{AgentId, OrgId, UserId},
    payee::Domain,
};
use lcp::{
    Object,
    jose::{Ed25519Key, Jwk, Jwks, Revocation, SigningKey},
    json,
};
use rails::SandboxCard;
use store::{OrgRow, SigningKeyRow, Store, Tx, UserRow, Vault};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Inner, Service, SystemClock,
    agents::put_agent,
    clock::{OsIds, random},
    keys::fresh_key,
    tries::Tries,
    unreadable,
};
use crate::Problem;

/// The domain of the seller that every sandbox has.
pub(super) const SANDBOX_SHOP: &str = "sandbox-shop.example";

/// What the sandbox's agent may pay until its owner signs another policy.
const SANDBOX_POLICY: &str = include_str!("sandbox_policy.json");

/// How many passwords are hashed at once, at some 20 MB each; who comes then waits.
const HASHED_AT_ONCE: usize = 2;

/// The purpose under which the key that signs is stored.
const SEALING: &str = "sealing";

/// Where a server keeps what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The database.
    pub database: PathBuf,
    /// The key that secrets are sealed under, outside the database.
    pub master_key: PathBuf,
}

/// How a server is run.
pub struct ServiceOptions {
    /// Where it is reached, without a slash at the end.
    pub base: String,
    /// Whether its money is play money: a sandbox is labelled as such, and hands out keys.
    pub is_sandbox: bool,
    /// Whether the sandbox rail fails from the start.
    pub rail_fails: bool,
    /// Whether a commit waits until it is on the disk. Only measurements turn it off.
    pub is_durable: bool,
    /// Where the time comes from.
    pub clock: Box<dyn Clock>,
}

impl ServiceOptions {
    /// A sandbox reached there.
    pub fn sandbox(base: impl Into<String>) -> Self {
        Self { base: base.into(), is_sandbox: true, rail_fails: false, is_durable: true, clock: Box::new(SystemClock) }
    }
}

/// What the first start made, to be shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct FirstStart {
    /// The sandbox's organization.
    pub org: OrgId,
    /// Its agent.
    pub agent: AgentId,
    /// The agent's key.
    pub agent_key: String,
    /// A developer's key.
    pub developer_key: String,
    /// The key of the sandbox's seller.
    pub seller_key: String,
    /// The name that the owner signs in with.
    pub owner: String,
    /// The link for the owner's first password.
    pub setup_url: String,
    /// Until when that link is good.
    pub setup_expires_at: Instant,
}

/// Keys and link stay out.
impl fmt::Debug for FirstStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstStart").field("org", &self.org).field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl FirstStart {
    /// As `POST /v0/sandbox/keys` answers it.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("org_id", self.org.as_str())
            .with("agent_id", self.agent.as_str())
            .with("agent_key", self.agent_key.as_str())
            .with("developer_key", self.developer_key.as_str())
            .with("seller_key", self.seller_key.as_str())
            .with("seller_domain", SANDBOX_SHOP)
            .with("owner_login", self.owner.as_str())
            .with("setup_url", self.setup_url.as_str())
            .with("setup_expires_at", self.setup_expires_at.to_string())
    }
}

impl Service {
    /// Opens the database and the master key, making what is not there. It blocks while it opens the files.
    ///
    /// # Errors
    ///
    /// The folder cannot be used, the database is of another version or broken, or the master key is not the one that the
    /// database was written under.
    pub async fn open(paths: &Paths, options: ServiceOptions) -> Result<Self, Problem> {
        // A fresh key opens nothing of a database that is there, and would stand where the right one is to be put back.
        let is_lost = paths.database.metadata().is_ok_and(|database| database.len() > 0) && !paths.master_key.exists();
        if is_lost {
            let sentence = "The master key is gone, and the database is nothing without it: put back the one it was made with.";
            return Err(Problem::new(500, "master_key_missing", sentence));
        }
        let vault = Vault::open_or_create(&paths.master_key)?;
        let store = Store::open(&paths.database, &store::Options { synchronous: options.is_durable, ..store::Options::default() })?;
        let now = options.clock.now();
        let vault = Arc::new(vault);
        let opener = vault.clone();
        let (key, keys) = store.write(move |tx| signing_keys(tx, &opener, now)).await?;
        let rail_fails = Arc::new(AtomicBool::new(options.rail_fails));
        let inner = Inner {
            store,
            vault,
            clock: options.clock,
            latest: AtomicI64::new(now.millis()),
            key,
            keys,
            base: options.base,
            // Play money has no place where money is real.
            rails: if options.is_sandbox { vec![Box::new(SandboxCard::new(rail_fails.clone()))] } else { Vec::new() },
            rail_fails,
            is_sandbox: options.is_sandbox,
            policies: Mutex::new(HashMap::new()),
            tries: Tries::default(),
            hashing: Arc::new(Semaphore::new(HASHED_AT_ONCE)),
            ending: CancellationToken::new(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Makes the sandbox organization if there is no organization yet, and says what it made.
    pub async fn first_start(&self) -> Result<Option<FirstStart>, Problem> {
        if !self.inner.is_sandbox {
            return Ok(None);
        }
        self.write(|inner, tx, now| if tx.orgs()?.is_empty() { inner.sandbox(tx, "owner", now).map(Some) } else { Ok(None) }).await
    }

    /// A sandbox organization of its own, with keys and an owner's link.
    pub async fn sandbox_keys(&self) -> Result<Object, Problem> {
        if !self.inner.is_sandbox {
            return Err(Problem::not_a_sandbox());
        }
        self.write(|inner, tx, now| {
            let login = format!("owner-{}", &AgentId::fresh(&mut OsIds).as_str()[4..16]);
            Ok(inner.sandbox(tx, &login, now)?.to_json())
        })
        .await
    }

    /// Whether its money is play money.
    pub fn is_sandbox(&self) -> bool {
        self.inner.is_sandbox
    }

    /// Where it is reached, without a slash at the end.
    pub fn base(&self) -> &str {
        &self.inner.base
    }
}

impl Inner {
    /// A sandbox organization: an owner, an agent, a policy, and a key for each role that the sandbox plays.
    fn sandbox(&self, tx: &mut Tx<'_>, owner: &str, now: Instant) -> Result<FirstStart, Problem> {
        let org = OrgId::fresh(&mut OsIds);
        tx.insert_org(&OrgRow { id: org.clone(), name: "Sandbox".to_owned(), created_at: now })?;
        let user = UserId::fresh(&mut OsIds);
        tx.insert_user(&UserRow {
            id: user.clone(),
            org: org.clone(),
            login: owner.to_owned(),
            name: "Owner".to_owned(),
            role: "owner".to_owned(),
            password_hash: None,
            created_at: now,
        })?;
        let (setup_url, setup_expires_at) = self.fresh_setup_link(tx, &user, now)?;
        let agent = Agent::create(&Object::new().with("name", "Sandbox agent").into(), now, &mut OsIds)?;
        put_agent(tx, &org, &agent)?;
        let policy = json::parse(SANDBOX_POLICY, 16).map_err(|_| unreadable("sandbox policy"))?;
        self.sign_policy(tx, &org, &policy, now)?;
        let shop = Domain::parse(SANDBOX_SHOP).map_err(|_| unreadable("sandbox shop"))?;
        let agent_key = fresh_key(tx, &org, Role::Agent, (Some(&agent.id), None), "Sandbox agent", now)?.text;
        let developer_key = fresh_key(tx, &org, Role::Developer, (None, None), "Sandbox developer", now)?.text;
        let seller_key = fresh_key(tx, &org, Role::Seller, (None, Some(&shop)), "Sandbox shop", now)?.text;
        Ok(FirstStart { org, agent: agent.id, agent_key, developer_key, seller_key, owner: owner.to_owned(), setup_url, setup_expires_at })
    }
}

/// The key that signs, made on the first start, and the public halves of all there ever were.
fn signing_keys(tx: &mut Tx<'_>, vault: &Vault, now: Instant) -> Result<(Ed25519Key, Jwks), Problem> {
    let mut rows = tx.signing_keys()?;
    if rows.iter().all(|row| row.retired_at.is_some()) {
        let seed = random::<32>();
        let kid = Ed25519Key::from_seed(&seed).public().thumbprint();
        let row =
            SigningKeyRow { purpose: SEALING.to_owned(), seed: vault.seal(&seed_context(&kid), &seed)?, kid, created_at: now, retired_at: None };
        tx.insert_signing_key(&row)?;
        rows.push(row);
    }
    let mut active = None;
    let mut published = Vec::new();
    for row in &rows {
        let wrong = || Problem::new(500, "master_key_wrong", "The master key does not open this database: put back the one it was made with.");
        let seed: [u8; 32] =
            vault.open(&seed_context(&row.kid), &row.seed).ok().and_then(|seed| seed.as_slice().try_into().ok()).ok_or_else(wrong)?;
        let key = Ed25519Key::from_seed(&seed);
        let mut jwk = Jwk::new(key.public());
        if let Some(retired_at) = row.retired_at {
            jwk.validity.revoked = Some(Revocation { at: u64::try_from(retired_at.seconds()).unwrap_or(0), superseded: true });
        } else {
            active = Some(key);
        }
        published.push(jwk);
    }
    let keys = Jwks::new(published).map_err(|_| unreadable("signing key"))?;
    Ok((active.ok_or_else(|| unreadable("signing key"))?, keys))
}

fn seed_context(kid: &str) -> String {
    format!("signing_keys/{kid}/seed")
}
