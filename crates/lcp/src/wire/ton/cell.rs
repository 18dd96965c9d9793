use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

use super::{Address, Slice};

const MAX_BITS: usize = 1023;
const MAX_REFERENCES: usize = 4;
const MAX_DEPTH: u16 = 1024;

/// A cell: up to 1,023 bits and up to four references to other cells.
#[derive(Clone)]
pub struct Cell(Arc<Content>);

struct Content {
    data: Bits,
    references: Vec<Cell>,
    kind: Kind,
    /// Bit i is set where the cell's hash of level i + 1 is another than that of level i.
    mask: u8,
    /// The hash and depth of levels 0 to 3.
    levels: [Level; 4],
}

/// A cell's hash and depth, as seen from so many Merkle proofs above it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) hash: [u8; 32],
    pub(super) depth: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ordinary,
    /// Stands for a branch that is left out.
    Pruned,
    Library,
    MerkleProof,
    MerkleUpdate,
}

/// Bits, the first one the highest of the first byte; the bits behind the last are zero.
#[derive(Clone, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    /// Reads bits whose last byte, if not all of its bits belong to them, holds a one behind them and zeros.
    pub(super) fn augmented(bytes: &[u8], has_tag: bool) -> Option<Self> {
        let mut bits = Self { bytes: bytes.to_vec(), count: 8 * bytes.len() };
        if has_tag {
            let last = bits.bytes.last_mut()?;
            // A tag in the first place would be a byte too many.
            let behind = last.trailing_zeros();
            if behind >= 7 {
                return None;
            }
            *last &= *last - 1;
            bits.count -= behind as usize + 1;
        }
        Some(bits)
    }

    /// The bytes, the last one with the tag if it is not full.
    fn with_tag(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(last) = bytes.last_mut().filter(|_| !self.count.is_multiple_of(8)) {
            *last |= 0x80 >> (self.count % 8);
        }
        bytes
    }

    /// The second byte that describes a cell of these bits.
    fn descriptor(&self) -> u8 {
        // At most 127 and 128.
        (self.count / 8 + self.count.div_ceil(8)).to_le_bytes()[0]
    }

    pub(super) fn get(&self, at: usize) -> Option<bool> {
        let byte = self.bytes.get(at / 8).filter(|_| at < self.count)?;
        Some(byte & (0x80 >> (at % 8)) != 0)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut().filter(|_| bit) {
            *last |= 0x80 >> (self.count % 8);
        }
        self.count += 1;
    }
}

impl Cell {
    /// A cell, exotic if its first byte is to say what it is. `None` if there is no such cell.
    pub(super) fn new(data: Bits, references: Vec<Cell>, exotic: bool) -> Option<Self> {
        if data.count > MAX_BITS || references.len() > MAX_REFERENCES {
            return None;
        }
        let below = references.iter().fold(0, |mask, cell| mask | cell.0.mask);
        let (kind, mask) = if exotic { judge_exotic(&data, &references, below)? } else { (Kind::Ordinary, below) };
        let levels = levels(&data, &references, kind, mask)?;
        Some(Self(Arc::new(Content { data, references, kind, mask, levels })))
    }

    /// The hash that names it.
    pub fn hash(&self) -> [u8; 32] {
        self.level(3).hash
    }

    /// The most references down to a cell without any.
    pub fn depth(&self) -> u16 {
        self.level(3).depth
    }

    pub(super) fn level(&self, level: usize) -> Level {
        self.0.levels.get(level).copied().unwrap_or_default()
    }

    pub(super) fn mask(&self) -> u8 {
        self.0.mask
    }

    /// The cells it refers to.
    pub fn references(&self) -> &[Cell] {
        &self.0.references
    }

    /// What it holds, to be read; `None` for an exotic cell, which holds something else.
    pub fn parse(&self) -> Option<Slice<'_>> {
        (self.0.kind == Kind::Ordinary).then(|| Slice::new(&self.0.data, &self.0.references))
    }

    /// Whether it is one that proves what stands below it.
    pub fn is_merkle(&self) -> bool {
        matches!(self.0.kind, Kind::MerkleProof | Kind::MerkleUpdate)
    }

    /// The two bytes that describe it, and its bits.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut bytes = vec![first_descriptor(&self.0.references, self.0.kind, self.0.mask), self.0.data.descriptor()];
        bytes.extend(self.0.data.with_tag());
        bytes
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cell({})", crate::encoding::hex(&self.hash()))
    }
}

/// Two cells are one if they have one hash.
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.hash() == other.hash()
    }
}

impl Eq for Cell {}

/// The kind and mask of an exotic cell, if it is well formed over cells of that mask.
fn judge_exotic(data: &Bits, references: &[Cell], below: u8) -> Option<(Kind, u8)> {
    let tag = *data.bytes.first().filter(|_| data.count >= 8)?;
    // A hash and a depth take 272 bits.
    let proves = |place: usize, cell: &Cell, of: usize| {
        let level = cell.level(0);
        let hash = data.bytes.get(1 + 32 * place..33 + 32 * place);
        let depth = data.bytes.get(1 + 32 * of + 2 * place..3 + 32 * of + 2 * place);
        hash == Some(&level.hash) && depth == Some(&level.depth.to_be_bytes())
    };
    match (tag, references) {
        (1, []) => {
            let mask = *data.bytes.get(1).filter(|mask| (1..8).contains(*mask))?;
            (data.count == 16 + 272 * mask.count_ones() as usize).then_some((Kind::Pruned, mask))
        }
        (2, []) => (data.count == 8 + 256).then_some((Kind::Library, 0)),
        (3, [cell]) => (data.count == 8 + 272 && proves(0, cell, 1)).then_some((Kind::MerkleProof, below >> 1)),
        (4, [old, new]) => (data.count == 8 + 2 * 272 && proves(0, old, 2) && proves(1, new, 2)).then_some((Kind::MerkleUpdate, below >> 1)),
        _ => None,
    }
}

/// The first byte that describes a cell.
fn first_descriptor(references: &[Cell], kind: Kind, mask: u8) -> u8 {
    let exotic = if kind == Kind::Ordinary { 0 } else { 8 };
    // At most four references.
    references.len().to_le_bytes()[0] | exotic | mask << 5
}

/// The hash and depth of each level. `None` if the cell is too deep.
fn levels(data: &Bits, references: &[Cell], kind: Kind, mask: u8) -> Option<[Level; 4]> {
    let mut levels = [Level::default(); 4];
    let mut below: Option<Level> = None;
    for (level, entry) in levels.iter_mut().enumerate() {
        let lower = mask & ((1 << level) - 1);
        *entry = match below {
            Some(below) if lower >> (level - 1) & 1 == 0 => below,
            // Below its own level, a pruned cell has the hashes of what it stands for.
            _ if kind == Kind::Pruned && lower != mask => {
                let place = lower.count_ones() as usize;
                let depths = 2 + 32 * mask.count_ones() as usize;
                let hash = data.bytes.get(2 + 32 * place..)?.first_chunk()?;
                let depth = data.bytes.get(depths + 2 * place..)?.first_chunk()?;
                Level { hash: *hash, depth: u16::from_be_bytes(*depth) }
            }
            _ => {
                let seen = if matches!(kind, Kind::MerkleProof | Kind::MerkleUpdate) { (level + 1).min(3) } else { level };
                let depth = references.iter().map(|cell| cell.level(seen).depth + 1).max().unwrap_or(0);
                let mut hash = Sha256::new_with_prefix([first_descriptor(references, kind, lower), data.descriptor()]);
                match below.filter(|_| kind != Kind::Pruned) {
                    Some(below) => hash.update(below.hash),
                    None => hash.update(data.with_tag()),
                }
                for cell in references {
                    hash.update(cell.level(seen).depth.to_be_bytes());
                }
                for cell in references {
                    hash.update(cell.level(seen).hash);
                }
                Level { hash: hash.finalize().into(), depth }
            }
        };
        if entry.depth > MAX_DEPTH {
            return None;
        }
        below = Some(*entry);
    }
    Some(levels)
}

/// Builds an ordinary cell.
#[derive(Clone, Default)]
pub struct Builder {
    data: Bits,
    references: Vec<Cell>,
}

impl Builder {
    /// Without bits and references.
    pub fn new() -> Self {
        Self::default()
    }

    /// A bit.
    #[must_use]
    pub fn bit(mut self, bit: bool) -> Self {
        self.data.push(bit);
        self
    }

    /// The lowest bits of a number, at most 128.
    #[must_use]
    pub fn uint(self, value: u128, bits: u32) -> Self {
        (0..bits).rev().fold(self, |builder, place| builder.bit(value.checked_shr(place).is_some_and(|rest| rest & 1 == 1)))
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |builder, &byte| builder.uint(byte.into(), 8))
    }

    /// An amount below 2^120: the number of its bytes, and the bytes.
    #[must_use]
    pub fn coins(self, amount: u128) -> Self {
        let bytes = (u128::BITS - amount.leading_zeros()).div_ceil(8);
        self.uint(bytes.into(), 4).uint(amount, 8 * bytes)
    }

    /// An address, or that there is none.
    #[must_use]
    pub fn address(self, address: Option<Address>) -> Self {
        match address {
            None => self.uint(0b00, 2),
            Some(address) => self.uint(0b100, 3).bytes(&address.workchain.to_be_bytes()).bytes(&address.hash),
        }
    }

    /// A reference.
    #[must_use]
    pub fn reference(mut self, cell: Cell) -> Self {
        self.references.push(cell);
        self
    }

    /// The cell; `None` if it would hold too much.
    pub fn build(self) -> Option<Cell> {
        Cell::new(self.data, self.references, false)
    }
}
