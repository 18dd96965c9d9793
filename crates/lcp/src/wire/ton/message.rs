//! Internal messages, by the rules of the network's global version 15.

use super::{Address, Builder, Cell, Slice};

/// Most cells of a dictionary of libraries that are read.
const MAX_DICTIONARY: u32 = 1024;

/// An internal message without extra currencies.
pub struct Message<'a> {
    /// Who sends it; `None` where the sender's contract is to be filled in.
    pub source: Option<Address>,
    /// Who receives it.
    pub destination: Address,
    /// What it says.
    pub body: Slice<'a>,
}

impl<'a> Message<'a> {
    /// Reads a message that a validator takes, between addresses of the two workchains that there are.
    pub fn read(cell: &'a Cell) -> Option<Self> {
        let mut slice = cell.parse()?;
        let external = slice.bit()?;
        // Whether hypercube routing is disabled, whether it bounces, and whether it did.
        slice.skip(3)?;
        let source = match slice.uint(2)? {
            0 => None,
            2 => Some(plain_address(&mut slice)?),
            _ => return None,
        };
        let destination = match slice.uint(2)? {
            2 => plain_address(&mut slice)?,
            3 => variable_address(&mut slice)?,
            _ => return None,
        };
        let (_, value_is_short) = slice.coins()?;
        let has_currencies = slice.bit()?;
        let (flags, flags_are_short) = slice.coins()?;
        // The forwarding fee, which the validator writes anew, as it does the times.
        slice.coins()?;
        slice.skip(64 + 32)?;
        if external || !value_is_short || has_currencies || !flags_are_short || flags > 3 {
            return None;
        }
        if slice.bit()? {
            if slice.bit()? {
                StateInit::read(slice.reference()?)?;
            } else {
                StateInit::of(&mut slice)?;
            }
        }
        let body = if slice.bit()? {
            let body = slice.reference()?.parse()?;
            if !slice.is_empty() {
                return None;
            }
            body
        } else {
            slice
        };
        Some(Self { source, destination, body })
    }
}

/// A standard address of a workchain that there is, without anycast.
fn plain_address(slice: &mut Slice<'_>) -> Option<Address> {
    slice.standard_address().filter(|(address, anycast)| !anycast && address.exists()).map(|(address, _)| address)
}

/// An address of variable length that names what a standard one could.
fn variable_address(slice: &mut Slice<'_>) -> Option<Address> {
    let anycast = slice.bit()?;
    let length = slice.uint(9)?;
    let workchain = match u32::try_from(slice.uint(32)?).ok()?.cast_signed() {
        -1 => -1,
        0 => 0,
        _ => return None,
    };
    let hash = slice.hash()?;
    (!anycast && length == 256).then_some(Address { workchain, hash })
}

/// A message to write: without a source, which the contract fills in.
pub struct Outgoing {
    /// Who receives it.
    pub destination: Address,
    /// In nanotons, below 2^120.
    pub value: u128,
    /// Whether it comes back if it fails.
    pub bounce: bool,
    /// What makes the receiver's account, if there is none.
    pub init: Option<Cell>,
    /// What it says.
    pub body: Cell,
}

impl Outgoing {
    /// The message. `None` if it is too deep.
    pub fn build(self) -> Option<Cell> {
        let head = Builder::new().bit(false).bit(true).bit(self.bounce).bit(false);
        // No currencies, flags, fees and times.
        let head = head.address(None).address(Some(self.destination)).coins(self.value).bit(false).coins(0).coins(0).uint(0, 64 + 32);
        let with_init = match self.init {
            Some(init) => head.bit(true).bit(true).reference(init),
            None => head.bit(false),
        };
        with_init.bit(true).reference(self.body).build()
    }
}

/// What an account begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateInit {
    /// How many of the first bits of the account's address are free.
    pub free_bits: u8,
    /// Whether it names libraries.
    pub has_libraries: bool,
}

impl StateInit {
    /// Reads a cell that holds nothing else.
    pub fn read(cell: &Cell) -> Option<Self> {
        let mut slice = cell.parse()?;
        Self::of(&mut slice).filter(|_| slice.is_empty())
    }

    fn of(slice: &mut Slice<'_>) -> Option<Self> {
        let free_bits = if slice.bit()? { slice.uint(5)?.try_into().ok()? } else { 0 };
        if slice.bit()? {
            // Whether it is called at every tick and tock.
            slice.skip(2)?;
        }
        // Code and data.
        for _ in 0..2 {
            if slice.bit()? {
                slice.reference()?;
            }
        }
        let has_libraries = slice.bit()?;
        if has_libraries {
            libraries(slice.reference()?, 256, &mut { MAX_DICTIONARY })?;
        }
        Some(Self { free_bits, has_libraries })
    }

    /// Whether an account of this hash may begin with the cell.
    pub fn makes(&self, cell: &Cell, hash: &[u8; 32]) -> bool {
        let free = usize::from(self.free_bits);
        let differs = |place: usize| {
            let byte = |bytes: &[u8; 32]| bytes.get(place / 8).map(|byte| byte >> (7 - place % 8) & 1);
            byte(hash) != byte(&cell.hash())
        };
        !(free..256).any(differs)
    }
}

/// Judges a dictionary of libraries whose keys have so many bits left. Each step down takes a bit: there are at most 256.
fn libraries(cell: &Cell, bits: u32, budget: &mut u32) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    let mut slice = cell.parse()?;
    let left = bits.checked_sub(label(&mut slice, bits)?)?;
    if left == 0 {
        // Whether the library is public, and its root.
        slice.bit()?;
        slice.reference()?;
    } else {
        let branches = [slice.reference()?, slice.reference()?];
        for branch in branches {
            libraries(branch, left - 1, budget)?;
        }
    }
    slice.is_empty().then_some(())
}

/// Reads a label of at most so many bits: how many it has.
fn label(slice: &mut Slice<'_>, most: u32) -> Option<u32> {
    let width = u32::BITS - most.leading_zeros();
    if !slice.bit()? {
        let mut length = 0;
        while slice.bit()? {
            length += 1;
        }
        slice.skip(length as usize)?;
        return Some(length);
    }
    let same = slice.bit()?;
    if same {
        slice.bit()?;
    }
    let length = u32::try_from(slice.uint(width)?).ok()?;
    if !same {
        slice.skip(length as usize)?;
    }
    Some(length)
}

/// Most Merkle proofs and updates that stand one below the other.
pub fn merkle_nesting(root: &Cell) -> u32 {
    let mut deepest = std::collections::HashMap::new();
    nesting(root, &mut deepest)
}

fn nesting(cell: &Cell, known: &mut std::collections::HashMap<[u8; 32], u32>) -> u32 {
    if let Some(&nesting) = known.get(&cell.hash()) {
        return nesting;
    }
    let below = cell.references().iter().map(|cell| nesting(cell, known)).max().unwrap_or(0);
    let all = below + u32::from(cell.is_merkle());
    known.insert(cell.hash(), all);
    all
}
