//! What tests share: folders that are removed, stores and connections in them, ids, and rows.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use control::{
    Instant,
    ids::{AgentId, KeyId, OrgId, RecordId, RequestId},
};
use rusqlite::Connection;

use crate::{Options, OrgRow, RequestRow, Store, StoreError, Tx, open};

/// A folder of its own, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("store-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The store in this folder.
    pub(crate) fn open(&self, options: &Options) -> Result<Store, StoreError> {
        Store::open(&self.path("store.db"), options)
    }

    /// The store in this folder, with the organization [`org`].
    pub(crate) async fn store(&self) -> Store {
        let store = self.open(&Options::default()).unwrap();
        store.write(|tx| tx.insert_org(&org_row())).await.unwrap();
        store
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs on a database that holds the organization [`org`], without threads and inside one transaction.
pub(crate) fn alone<T>(run: impl FnOnce(&mut Tx<'_>) -> T) -> T {
    let folder = Folder::new();
    let connection = open::writer(&folder.path("store.db"), &Options { synchronous: false, ..Options::default() }).unwrap();
    // Faster, and rolled back in the end.
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut tx = Tx::new(&connection);
    tx.insert_org(&org_row()).unwrap();
    let done = run(&mut tx);
    assert_eq!(tx.fault(), None);
    done
}

/// Every statement that a test runs finds its rows by an index and in its order, but for lists that stay short: of
/// organizations, of their policies, of keys that sign.
pub(crate) fn is_by_index(connection: &Connection, sql: &str) {
    const SHORT: [&str; 4] = ["FROM orgs ", "FROM policy_agents ", "JOIN policy_heads ", "FROM signing_keys "];
    if sql.starts_with("PRAGMA") || SHORT.iter().any(|short| sql.contains(short)) {
        return;
    }
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().unwrap() {
        let step: String = row.get(3).unwrap();
        let is_first_of_all = step.contains("USING COVERING INDEX") && sql.ends_with("LIMIT 1");
        assert!(is_first_of_all || !(step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{sql}: {step}");
    }
}

/// Sixteen bytes that start with the number, so that ids have its order.
pub(crate) fn bits(number: u64) -> [u8; 16] {
    let mut bits = [0; 16];
    bits[..8].copy_from_slice(&number.to_be_bytes());
    bits
}

pub(crate) fn org() -> OrgId {
    OrgId::of(bits(1))
}

pub(crate) fn org_row() -> OrgRow {
    OrgRow { id: org(), name: "One".into(), created_at: at(0) }
}

pub(crate) fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

pub(crate) fn agent(number: u64) -> AgentId {
    AgentId::of(bits(number))
}

/// A request of agent 1, made at the number.
pub(crate) fn request(number: u64) -> RequestRow {
    RequestRow {
        id: RequestId::of(bits(number)),
        org: org(),
        agent: agent(1),
        key: KeyId::of(bits(1)),
        record_id: RecordId::of(bits(number)),
        state: "decided".into(),
        outcome: "live".into(),
        created_at: at(i64::try_from(number).unwrap()),
        fact_key: "facts".into(),
        attempt_key: "attempts".into(),
        doc: format!(r#"{{"number":{number}}}"#),
        secrets: None,
    }
}
