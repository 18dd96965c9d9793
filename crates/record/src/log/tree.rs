use lcp::Hash;
use sha2::{Digest, Sha256};

/// The most leaves a log may have: the largest safe integer.
pub const MAX_SIZE: u64 = (1 << 53) - 1;

/// A complete subtree: the leaves from `index << level` up to `(index + 1) << level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The subtree's height; 0 for a leaf.
    pub level: u8,
    /// Its place among the subtrees of that height, from the left.
    pub index: u64,
}

/// A complete subtree's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Which subtree.
    pub id: NodeId,
    /// Its Merkle tree hash.
    pub hash: Hash,
}

/// The roots of the complete subtrees that a tree is made of, from which it grows: one for each bit of its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightEdge {
    size: u64,
    /// INVARIANT: `size.count_ones()` hashes, the largest subtree first.
    hashes: Vec<Hash>,
}

/// Which nodes the hashes of a proof are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(Vec<Vec<NodeId>>);

/// The hash of a leaf that holds these data.
pub fn leaf_hash(data: &[u8]) -> Hash {
    let digest: [u8; 32] = Sha256::new().chain_update([0]).chain_update(data).finalize().into();
    digest.into()
}

/// The hash of a node over its two halves.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let digest: [u8; 32] = Sha256::new().chain_update([1]).chain_update(left.bytes()).chain_update(right.bytes()).finalize().into();
    digest.into()
}

/// The root of the tree without leaves.
pub fn empty_root() -> Hash {
    Hash::of(b"")
}

impl RightEdge {
    /// The edge of the empty tree.
    pub fn empty() -> Self {
        Self { size: 0, hashes: Vec::new() }
    }

    /// The edge of a tree of that size, from the hashes of [`RightEdge::nodes`] in that order; `None` if their number
    /// is not the size's, or the size passes [`MAX_SIZE`].
    pub fn new(size: u64, hashes: Vec<Hash>) -> Option<Self> {
        let fits = size <= MAX_SIZE && hashes.len() == size.count_ones() as usize;
        fits.then_some(Self { size, hashes })
    }

    /// The subtrees whose roots are the edge of a tree of that size, largest first.
    pub fn nodes(size: u64) -> Vec<NodeId> {
        subtrees(0, size)
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The subtrees' roots, largest first.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Appends a leaf by its [`leaf_hash`] and gives what is to be stored: the leaf, and each subtree it completes.
    pub fn append(&mut self, leaf: Hash) -> Vec<Node> {
        let mut node = Node { id: NodeId { level: 0, index: self.size }, hash: leaf };
        let mut new = vec![node];
        while node.id.index % 2 == 1 {
            let Some(left) = self.hashes.pop() else { break };
            node = Node { id: NodeId { level: node.id.level + 1, index: node.id.index / 2 }, hash: node_hash(&left, &node.hash) };
            new.push(node);
        }
        self.hashes.push(node.hash);
        self.size += 1;
        new
    }

    /// The tree's root.
    pub fn root(&self) -> Hash {
        fold(self.hashes.iter().copied()).unwrap_or_else(empty_root)
    }
}

impl Plan {
    /// A proof that the leaf of that index is in the tree of that size (RFC 9162 section 2.1.3.1); `None` if it is not.
    pub fn inclusion(index: u64, size: u64) -> Option<Self> {
        if index >= size || size > MAX_SIZE {
            return None;
        }
        let mut hashes = Vec::new();
        let (mut start, mut end) = (0, size);
        while end - start > 1 {
            let middle = split(start, end);
            if index < middle {
                hashes.push(subtrees(middle, end));
                end = middle;
            } else {
                hashes.push(subtrees(start, middle));
                start = middle;
            }
        }
        hashes.reverse();
        Some(Self(hashes))
    }

    /// A proof that the tree of the new size begins with the tree of the old one (RFC 9162 section 2.1.4.1); `None` if
    /// the old is larger. It is empty if they are one size, or the old tree is.
    pub fn consistency(old: u64, new: u64) -> Option<Self> {
        if old > new || new > MAX_SIZE {
            return None;
        }
        let mut hashes = Vec::new();
        let (mut start, mut end) = (0, new);
        while old > 0 && old != end {
            let middle = split(start, end);
            if old <= middle {
                hashes.push(subtrees(middle, end));
                end = middle;
            } else {
                hashes.push(subtrees(start, middle));
                start = middle;
            }
        }
        // The verifier has the root of the old tree; another subtree at which the way ends, it has not.
        if start > 0 {
            hashes.push(subtrees(start, end));
        }
        hashes.reverse();
        Some(Self(hashes))
    }

    /// The nodes it needs.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().flatten().copied()
    }

    /// The proof's hashes, from the leaf's side up; `None` if a node is missing.
    pub fn proof(&self, lookup: impl Fn(NodeId) -> Option<Hash>) -> Option<Vec<Hash>> {
        self.0.iter().map(|range| fold(range.iter().map(|id| lookup(*id)).collect::<Option<Vec<_>>>()?)).collect()
    }
}

/// Whether the proof leads from the leaf of that hash and index to the root of a tree of that size (RFC 9162 section
/// 2.1.3.2).
pub fn verify_inclusion(leaf: &Hash, index: u64, size: u64, proof: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    // Place of the node reached so far and of the last one, on the level reached so far.
    let (mut place, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if place % 2 == 1 || place == last {
            hash = node_hash(sibling, &hash);
            // A last node without a sibling goes up as it is.
            while place.is_multiple_of(2) && place != 0 {
                (place, last) = (place / 2, last / 2);
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        (place, last) = (place / 2, last / 2);
    }
    last == 0 && hash == *root
}

/// Whether the proof shows that the tree of the new size and root begins with the tree of the old size and root (RFC
/// 9162 section 2.1.4.2).
pub fn verify_consistency(old: u64, old_root: &Hash, new: u64, new_root: &Hash, proof: &[Hash]) -> bool {
    if old == new {
        return proof.is_empty() && old_root == new_root && (old > 0 || *old_root == empty_root());
    }
    if old == 0 || old > new {
        return proof.is_empty() && old == 0 && *old_root == empty_root();
    }
    // A complete old tree is a node of the new one: the proof starts from it and leaves it out.
    let (first, rest) = if old.is_power_of_two() {
        (old_root, proof)
    } else {
        let Some((first, rest)) = proof.split_first() else { return false };
        (first, rest)
    };
    let (mut place, mut last) = (old - 1, new - 1);
    while place % 2 == 1 {
        (place, last) = (place / 2, last / 2);
    }
    let (mut old_hash, mut new_hash) = (*first, *first);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if place % 2 == 1 || place == last {
            (old_hash, new_hash) = (node_hash(sibling, &old_hash), node_hash(sibling, &new_hash));
            while place.is_multiple_of(2) && place != 0 {
                (place, last) = (place / 2, last / 2);
            }
        } else {
            new_hash = node_hash(&new_hash, sibling);
        }
        (place, last) = (place / 2, last / 2);
    }
    last == 0 && old_hash == *old_root && new_hash == *new_root
}

/// Where a range of more than one leaf splits: behind the largest power of two below its length.
fn split(start: u64, end: u64) -> u64 {
    start + (1 << (end - start - 1).ilog2())
}

/// The complete subtrees that make up a range of leaves whose start is aligned to its length, largest first.
fn subtrees(mut start: u64, end: u64) -> Vec<NodeId> {
    let mut ids = Vec::new();
    while let Some(level) = (end - start).checked_ilog2() {
        #[allow(clippy::cast_possible_truncation)] // a level is below 64
        ids.push(NodeId { level: level as u8, index: start >> level });
        start += 1 << level;
    }
    ids
}

/// The root over subtrees of falling size; `None` over none.
fn fold(hashes: impl IntoIterator<Item = Hash, IntoIter: DoubleEndedIterator>) -> Option<Hash> {
    hashes.into_iter().rev().reduce(|right, left| node_hash(&left, &right))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn hash(hex: &str) -> Hash {
        Hash::parse(&format!("0x{hex}")).unwrap()
    }

    /// RFC 6962 section 2.1 as it is written, over leaf hashes.
    fn mth(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => empty_root(),
            [one] => *one,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node_hash(&mth(left), &mth(right))
            }
        }
    }

    struct Tree {
        leaves: Vec<Hash>,
        nodes: HashMap<NodeId, Hash>,
        edge: RightEdge,
    }

    impl Tree {
        fn of(size: u64) -> Self {
            let mut tree = Self { leaves: Vec::new(), nodes: HashMap::new(), edge: RightEdge::empty() };
            for index in 0..size {
                let leaf = leaf_hash(&index.to_be_bytes());
                tree.leaves.push(leaf);
                tree.nodes.extend(tree.edge.append(leaf).into_iter().map(|node| (node.id, node.hash)));
            }
            tree
        }

        fn root(&self, size: u64) -> Hash {
            let hashes = RightEdge::nodes(size).iter().map(|id| self.nodes[id]).collect();
            RightEdge::new(size, hashes).unwrap().root()
        }

        fn proof(&self, plan: &Plan) -> Vec<Hash> {
            plan.proof(|id| self.nodes.get(&id).copied()).unwrap()
        }
    }

    #[test]
    fn vectors_of_rfc_6962() {
        let root = |data: &[&[u8]]| {
            let mut edge = RightEdge::empty();
            for data in data {
                edge.append(leaf_hash(data));
            }
            edge.root()
        };
        assert_eq!(root(&[]), hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        assert_eq!(root(&[b""]), hash("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"));
        assert_eq!(root(&[b"a", b"b"]), hash("b137985ff484fb600db93107c77b0365c80d78f5b429ded0fd97361d077999eb"));
        assert_eq!(root(&[b"a", b"b", b"c"]), hash("36642e73c2540ab121e3a6bf9545b0a24982cd830eb13d3cd19de3ce6c021ec1"));
    }

    #[test]
    fn every_leaf_of_every_size_up_to_300() {
        let tree = Tree::of(300);
        for size in 0..=300 {
            let root = tree.root(size);
            let leaves = &tree.leaves[..usize::try_from(size).unwrap()];
            assert_eq!(root, mth(leaves), "{size}");
            for (index, leaf) in (0..).zip(leaves) {
                let proof = tree.proof(&Plan::inclusion(index, size).unwrap());
                assert!(verify_inclusion(leaf, index, size, &proof, &root), "{index} in {size}");
                assert!(!verify_inclusion(leaf, index + 1, size, &proof, &root) && !verify_inclusion(leaf, index, size, &proof, &empty_root()));
            }
            assert_eq!(Plan::inclusion(size, size), None);
        }
    }

    #[test]
    fn every_two_sizes_up_to_150() {
        let tree = Tree::of(150);
        for new in 0..=150 {
            for old in 0..=new {
                let proof = tree.proof(&Plan::consistency(old, new).unwrap());
                assert!(verify_consistency(old, &tree.root(old), new, &tree.root(new), &proof), "{old} in {new}");
                let other = leaf_hash(b"other");
                assert!(!verify_consistency(old, &other, new, &tree.root(new), &proof), "{old} in {new}");
                assert!(old == 0 || !verify_consistency(old, &tree.root(old), new, &other, &proof), "{old} in {new}");
            }
            assert_eq!(Plan::consistency(new + 1, new), None);
        }
    }

    #[test]
    fn two_nodes_are_stored_for_each_leaf() {
        let tree = Tree::of(256);
        assert_eq!(tree.nodes.len(), 2 * 256 - 1);
        assert_eq!(tree.edge.hashes(), [tree.nodes[&NodeId { level: 8, index: 0 }]]);
    }

    #[test]
    fn an_edge_has_one_hash_for_each_bit() {
        assert_eq!(RightEdge::new(6, vec![empty_root(); 3]), None);
        assert_eq!(RightEdge::new(6, vec![empty_root(); 2]).unwrap().size(), 6);
        assert_eq!(RightEdge::new(MAX_SIZE + 1, vec![empty_root()]), None);
        let mut large = RightEdge::new(MAX_SIZE, vec![empty_root(); 53]).unwrap();
        assert_eq!(large.append(empty_root()).len(), 54);
        assert_eq!((large.size(), large.hashes().len()), (1 << 53, 1));
        assert!(Plan::inclusion(0, MAX_SIZE).unwrap().nodes().count() > 52);
    }

    #[test]
    fn a_missing_node_gives_no_proof() {
        assert_eq!(Plan::inclusion(1, 3).unwrap().proof(|_| None), None);
        assert_eq!(Plan::inclusion(0, 1).unwrap().proof(|_| None), Some(vec![]));
    }

    proptest! {
        #[test]
        fn a_changed_proof_proves_nothing(size in 2..2000_u64, a: prop::sample::Index, at: prop::sample::Index, bit in 0..256_usize) {
            let tree = Tree::of(size);
            let index = a.index(usize::try_from(size).unwrap());
            let (leaf, root) = (tree.leaves[index], tree.edge.root());
            let proof = tree.proof(&Plan::inclusion(index as u64, size).unwrap());
            prop_assert!(verify_inclusion(&leaf, index as u64, size, &proof, &root));
            prop_assert_eq!(root, mth(&tree.leaves));

            let mut flipped = proof.clone();
            let place = at.index(proof.len());
            let mut bytes = *flipped[place].bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            flipped[place] = bytes.into();
            let shorter = &proof[..proof.len() - 1];
            let longer = [&proof[..], &[root]].concat();
            for changed in [&flipped[..], shorter, &longer] {
                prop_assert!(!verify_inclusion(&leaf, index as u64, size, changed, &root));
            }
        }

        #[test]
        fn any_old_tree_is_in_any_new_one(new in 1..1500_u64, old: prop::sample::Index, at: prop::sample::Index, bit in 0..256_usize) {
            let tree = Tree::of(new);
            let old = old.index(usize::try_from(new).unwrap() + 1) as u64;
            let (old_root, new_root) = (tree.root(old), tree.root(new));
            let proof = tree.proof(&Plan::consistency(old, new).unwrap());
            prop_assert!(verify_consistency(old, &old_root, new, &new_root, &proof));
            let longer = [&proof[..], &[new_root]].concat();
            prop_assert!(!verify_consistency(old, &old_root, new, &new_root, &longer));
            if !proof.is_empty() {
                let mut flipped = proof.clone();
                let place = at.index(proof.len());
                let mut bytes = *flipped[place].bytes();
                bytes[bit / 8] ^= 1 << (bit % 8);
                flipped[place] = bytes.into();
                prop_assert!(!verify_consistency(old, &old_root, new, &new_root, &flipped));
                prop_assert!(!verify_consistency(old, &old_root, new, &new_root, &proof[1..]));
            }
        }

        #[test]
        fn verifying_ends_on_anything(a: u64, b: u64, proof in proptest::collection::vec(any::<[u8; 32]>(), 0..80)) {
            let proof: Vec<Hash> = proof.into_iter().map(Hash::from).collect();
            let root = empty_root();
            prop_assert!(!verify_inclusion(&root, a, b, &proof, &root));
            let _ = verify_consistency(a, &root, b, &root, &proof);
        }
    }
}
