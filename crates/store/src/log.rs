//! Each organization's log of its sealed records: size, root, proofs and tiles.

use std::collections::HashMap;

use control::ids::OrgId;
use lcp::Hash;
use record::log::{NodeId, Plan, RightEdge, Rows, Tile, entry_bundle, hash_tile};
use rusqlite::params;

use crate::{Reader, StoreError, records::stored};

impl Reader<'_> {
    /// How many records the organization's log has.
    pub fn log_size(&self, org: &OrgId) -> Result<u64, StoreError> {
        Ok(self.one("SELECT size FROM chains WHERE org = $1", [org.as_str()], |row| row.count(0))?.unwrap_or(0))
    }

    /// The root of the organization's log when it had that size; `None` if it never had.
    pub fn log_root(&self, org: &OrgId, size: u64) -> Result<Option<Hash>, StoreError> {
        if size > self.log_size(org)? {
            return Ok(None);
        }
        let nodes = self.log_nodes(org, RightEdge::nodes(size))?;
        let hashes = RightEdge::nodes(size).iter().map(|id| nodes.get(id).copied()).collect::<Option<Vec<_>>>();
        hashes.and_then(|hashes| RightEdge::new(size, hashes)).map(|edge| Some(edge.root())).ok_or_else(|| self.without_node())
    }

    /// The proof that the record of that place is in the log of that size: its hashes, from the leaf's side up; `None`
    /// if the log never had that size, or the record is not in it.
    pub fn log_inclusion(&self, org: &OrgId, seq: u64, size: u64) -> Result<Option<Vec<Hash>>, StoreError> {
        let Some(plan) = Plan::inclusion(seq, size) else { return Ok(None) };
        if size > self.log_size(org)? {
            return Ok(None);
        }
        let nodes = self.log_nodes(org, plan.nodes())?;
        plan.proof(|id| nodes.get(&id).copied()).map(Some).ok_or_else(|| self.without_node())
    }

    /// The bytes of a tile; `None` if the log does not fill it.
    pub fn log_tile(&self, org: &OrgId, tile: &Tile) -> Result<Option<Vec<u8>>, StoreError> {
        const NODES: &str = "SELECT hash FROM log_nodes WHERE org = $1 AND level = $2 AND place >= $3 AND place < $4 ORDER BY place";
        const ENTRIES: &str = "SELECT hash FROM records WHERE org = $1 AND seq >= $2 AND seq < $3 ORDER BY seq";
        if !tile.is_within(self.log_size(org)?) {
            return Ok(None);
        }
        let NodeId { level, index } = tile.first();
        let (start, end) = (stored(index), stored(index.saturating_add(tile.width.into())));
        let hashes = match tile.rows {
            Rows::Hashes(_) => self.all(NODES, params![org.as_str(), level, start, end], |row| row.hash(0))?,
            Rows::Entries => self.all(ENTRIES, params![org.as_str(), start, end], |row| row.hash(0))?,
        };
        if hashes.len() != usize::from(tile.width) {
            return Err(self.without_node());
        }
        Ok(Some(match tile.rows {
            Rows::Hashes(_) => hash_tile(hashes),
            Rows::Entries => entry_bundle(hashes),
        }))
    }

    fn log_nodes(&self, org: &OrgId, ids: impl IntoIterator<Item = NodeId>) -> Result<HashMap<NodeId, Hash>, StoreError> {
        const SQL: &str = "SELECT hash FROM log_nodes WHERE org = $1 AND level = $2 AND place = $3";
        let mut nodes = HashMap::new();
        for id in ids {
            if let Some(hash) = self.one(SQL, params![org.as_str(), id.level, stored(id.index)], |row| row.hash(0))? {
                nodes.insert(id, hash);
            }
        }
        Ok(nodes)
    }

    fn without_node(&self) -> StoreError {
        self.damaged(StoreError::Corrupt("the log of records misses a hash".into()))
    }
}
