use std::collections::{HashMap, HashSet};

use super::cell::{Bits, Cell};
use crate::{Refusal, Text, encoding, wire::bytes::Reader};

/// The bytes are no bag of one root.
pub const BOC_MALFORMED: Refusal = Refusal::new("tvm/boc-malformed");
const BOC_TOO_LARGE: Refusal = Refusal::new("tvm/boc-too-large");

/// Most bytes of a bag that is read.
pub const MAX_BAG: usize = 8192;
/// Most distinct cells below a root, itself counted.
const MAX_CELLS: usize = 512;
/// Deepest root.
const MAX_DEPTH: u16 = 32;

const GENERIC: [u8; 4] = [0xB5, 0xEE, 0x9C, 0x72];
const INDEXED: [u8; 4] = [0x68, 0xFF, 0x65, 0xF3];
const INDEXED_CRC: [u8; 4] = [0xAC, 0xC3, 0xA7, 0x28];

/// Reads the base64 of a bag.
pub fn decode_text(text: &Text) -> Result<Cell, Refusal> {
    decode(&text.as_str().and_then(encoding::from_base64).ok_or(BOC_MALFORMED)?)
}

/// Reads a bag of one root, of level 0, in any of the layouts that a node reads; cells beside the root's are read too, and
/// bytes may follow.
pub fn decode(bytes: &[u8]) -> Result<Cell, Refusal> {
    if bytes.len() > MAX_BAG {
        return Err(BOC_TOO_LARGE);
    }
    let root = root(bytes).filter(|root| root.mask() == 0).ok_or(BOC_MALFORMED)?;
    if root.depth() > MAX_DEPTH || distinct_cells(&root) > MAX_CELLS {
        return Err(BOC_TOO_LARGE);
    }
    Ok(root)
}

/// A cell as it stands in a bag.
struct Written<'a> {
    first: u8,
    data: Bits,
    /// The hashes and depths that stand before its bits, if any do.
    stored: Option<(&'a [u8], &'a [u8])>,
    references: Vec<usize>,
}

fn root(bytes: &[u8]) -> Option<Cell> {
    let mut reader = Reader::new(bytes);
    let magic = reader.array::<4>()?;
    let flags = reader.byte()?;
    let generic = magic == GENERIC;
    let set = |bit: u8| generic && flags & bit != 0;
    let (has_index, has_crc, has_cache) = match magic {
        GENERIC => (set(0x80), set(0x40), set(0x20)),
        INDEXED => (true, false, false),
        INDEXED_CRC => (true, true, false),
        _ => return None,
    };
    if has_crc {
        let (covered, crc) = bytes.split_last_chunk()?;
        if crc32c(covered).to_le_bytes() != *crc {
            return None;
        }
        // Five bytes were read; those of the checksum are not to be read as anything else.
        reader = Reader::new(covered);
        reader.take(5)?;
    }
    let reference_size = usize::from(flags & 7);
    let offset_size = usize::from(reader.byte()?);
    if has_cache && !has_index || !(1..=4).contains(&reference_size) || !(1..=8).contains(&offset_size) {
        return None;
    }
    let count = uint(&mut reader, reference_size)?;
    let roots = uint(&mut reader, reference_size)?;
    let absent = uint(&mut reader, reference_size)?;
    let size = uint(&mut reader, offset_size)?;
    let least = count.checked_mul(2 + reference_size)?.checked_sub(reference_size)?;
    if roots != 1 || absent > count || size < least || size > count.checked_mul(1024)? {
        return None;
    }
    let root = if generic { uint(&mut reader, reference_size)? } else { 0 };
    let index = if has_index { reader.take(count.checked_mul(offset_size)?)? } else { &[] };
    let data = reader.take(size)?;

    // Each cell takes two bytes at least: there are no more than the bag can hold.
    let mut written = Vec::with_capacity(count);
    let mut cached = Vec::new();
    if has_index {
        let mut start = 0;
        for entry in index.chunks(offset_size) {
            let entry = uint(&mut Reader::new(entry), offset_size)?;
            let end = if has_cache { entry >> 1 } else { entry };
            cached.push(entry & 1 == 1);
            let mut cell = Reader::new(data.get(start..end)?);
            written.push(read(&mut cell, reference_size).filter(|_| cell.left() == 0)?);
            start = end;
        }
    } else {
        let mut cells = Reader::new(data);
        for _ in 0..count {
            written.push(read(&mut cells, reference_size)?);
        }
        if cells.left() != 0 {
            return None;
        }
    }
    if has_cache {
        let mut uses = vec![0; count];
        for &used in written.iter().flat_map(|cell| &cell.references).chain([&root]) {
            *uses.get_mut(used)? += 1;
        }
        // What is used more than once is to be kept at hand.
        if uses.iter().zip(cached).any(|(&uses, cached): (&u32, bool)| (uses > 1) != cached) {
            return None;
        }
    }
    build(written)?.into_iter().rev().nth(root)
}

/// Builds the cells from the last one, which refers to none, to the first.
fn build(written: Vec<Written<'_>>) -> Option<Vec<Cell>> {
    let count = written.len();
    let mut cells: Vec<Cell> = Vec::with_capacity(count);
    for (place, cell) in written.into_iter().enumerate().rev() {
        // References lead to later cells only, which are built: the last one stands first.
        let reference = |&to: &usize| if to > place { cells.get((count - 1).checked_sub(to)?).cloned() } else { None };
        let references: Option<Vec<Cell>> = cell.references.iter().map(reference).collect();
        let built = Cell::new(cell.data, references?, cell.first & 8 != 0)?;
        if built.mask() != cell.first >> 5 || !stores_its_own(&built, cell.stored) {
            return None;
        }
        cells.push(built);
    }
    Some(cells)
}

/// Whether the hashes and depths that stand with a cell are those it has.
fn stores_its_own(cell: &Cell, stored: Option<(&[u8], &[u8])>) -> bool {
    let Some((hashes, depths)) = stored else { return true };
    let significant = (0..4).filter(|level| *level == 0 || cell.mask() >> (level - 1) & 1 == 1).map(|level| cell.level(level));
    significant.zip(hashes.chunks(32)).zip(depths.chunks(2)).all(|((level, hash), depth)| level.hash == hash && level.depth.to_be_bytes() == depth)
}

fn read<'a>(reader: &mut Reader<'a>, reference_size: usize) -> Option<Written<'a>> {
    let first = reader.byte()?;
    let second = reader.byte()?;
    let references = first & 7;
    if references > 4 {
        return None;
    }
    let stored = if first & 0x10 == 0 {
        None
    } else {
        let count = (first >> 5).count_ones() as usize + 1;
        Some((reader.take(32 * count)?, reader.take(2 * count)?))
    };
    let data = Bits::augmented(reader.take(usize::from(second).div_ceil(2))?, second & 1 == 1)?;
    let references = (0..references).map(|_| uint(reader, reference_size)).collect::<Option<_>>()?;
    Some(Written { first, data, stored, references })
}

/// A big-endian number of at most 8 bytes.
fn uint(reader: &mut Reader<'_>, bytes: usize) -> Option<usize> {
    let value = reader.take(bytes)?.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    value.try_into().ok()
}

fn distinct_cells(root: &Cell) -> usize {
    let mut seen = HashSet::new();
    let mut left = vec![root];
    while let Some(cell) = left.pop() {
        if seen.insert(cell.hash()) {
            left.extend(cell.references());
        }
    }
    seen.len()
}

/// Writes a bag of one root: each distinct cell once and before those it refers to, with a checksum and without an index.
/// The root is no deeper than one that is read and a few cells above it.
pub fn encode(root: &Cell) -> Vec<u8> {
    let mut cells = Vec::new();
    order(root, &mut HashSet::new(), &mut cells);
    cells.reverse();
    let places: HashMap<[u8; 32], usize> = cells.iter().enumerate().map(|(place, cell)| (cell.hash(), place)).collect();
    let size_of = |value: usize| (usize::BITS - value.leading_zeros()).div_ceil(8).max(1) as usize;
    let reference_size = size_of(cells.len());

    let mut data = Vec::new();
    for cell in &cells {
        data.extend(cell.written());
        for reference in cell.references() {
            put(&mut data, places.get(&reference.hash()).copied().unwrap_or_default(), reference_size);
        }
    }
    let offset_size = size_of(data.len());
    let mut bag = GENERIC.to_vec();
    // Both are at most 8.
    bag.extend([0x40 | reference_size.to_le_bytes()[0], offset_size.to_le_bytes()[0]]);
    for value in [cells.len(), 1, 0] {
        put(&mut bag, value, reference_size);
    }
    put(&mut bag, data.len(), offset_size);
    put(&mut bag, 0, reference_size);
    bag.extend(data);
    bag.extend(crc32c(&bag).to_le_bytes());
    bag
}

/// Collects the cells below a root, each behind all that it refers to.
fn order<'a>(cell: &'a Cell, seen: &mut HashSet<[u8; 32]>, cells: &mut Vec<&'a Cell>) {
    if seen.insert(cell.hash()) {
        for reference in cell.references().iter().rev() {
            order(reference, seen, cells);
        }
        cells.push(cell);
    }
}

/// A big-endian number of so many bytes.
fn put(bytes: &mut Vec<u8>, value: usize, size: usize) {
    let all = value.to_be_bytes();
    bytes.extend(all.iter().skip(all.len() - size.min(all.len())));
}

/// CRC-32C (Castagnoli).
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82F6_3B78 } else { crc >> 1 }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, json, wire::ton::Builder};

    /// As pytoniq-core 0.2.1 writes them.
    #[test]
    fn the_library_writes_the_same_bags() {
        let cases = json::parse(include_str!("../../../tests/peers/ton/cases.json"), 8).unwrap();
        for case in cases.get("bags").unwrap().as_array().unwrap() {
            let name = case.get("name").unwrap();
            let bags = case.get("bags").unwrap().as_array().unwrap().iter().map(|bag| encoding::from_bare_hex(bag.as_str().unwrap()).unwrap());
            for bag in bags {
                let root = decode(&bag).unwrap();
                assert_eq!(Some(&Value::from(encoding::bare_hex(&root.hash()))), case.get("hash"), "{name:?}");
                assert_eq!(Some(&Value::from(u32::from(root.depth()))), case.get("depth"));
                assert_eq!(decode(&encode(&root)), Ok(root));
            }
        }
    }

    /// What @ton/core 0.63.1 writes and reads, with and without an index. Ours are those with a checksum only, byte for byte.
    #[test]
    fn bags_with_an_index() {
        let cases = json::parse(include_str!("../../../tests/peers/ton/bags.json"), 8).unwrap();
        let cases = cases.get("bags").unwrap().as_array().unwrap();
        let bags = |case: &Value| -> Vec<_> {
            let bags = case.get("bags").unwrap().as_array().unwrap().iter();
            bags.map(|bag| encoding::from_bare_hex(bag.as_str().unwrap()).unwrap()).collect()
        };
        for case in cases {
            for bag in bags(case) {
                let root = decode(&bag).unwrap();
                assert_eq!(case.get("hash"), Some(&encoding::bare_hex(&root.hash()).into()), "{case:?}");
                assert_eq!(case.get("depth"), Some(&u32::from(root.depth()).into()));
                assert_eq!(case.get("cells"), Some(&u32::try_from(distinct_cells(&root)).unwrap().into()));
                assert_eq!(encode(&root), bags(case)[1]);
            }
        }
        // An entry of an index that is not where its cell ends.
        for (layout, entry) in [(2, 11), (4, 10)] {
            let mut bag = bags(&cases[1]).swap_remove(layout);
            assert_eq!(code(&bag), None);
            bag[entry] += 1;
            assert_eq!(code(&bag).as_deref(), Some("tvm/boc-malformed"));
        }
    }

    fn leaf(number: u128) -> Cell {
        Builder::new().uint(number, 32).build().unwrap()
    }

    fn over(cells: impl IntoIterator<Item = Cell>) -> Cell {
        cells.into_iter().fold(Builder::new(), Builder::reference).build().unwrap()
    }

    fn code(bag: &[u8]) -> Option<String> {
        decode(bag).err().map(|refusal| refusal.code().to_owned())
    }

    #[test]
    fn bags_are_bounded() {
        let chain = |levels| (0..levels).fold(leaf(0), |cell, _| over([cell]));
        assert_eq!(code(&encode(&chain(32))), None);
        assert_eq!(code(&encode(&chain(33))).as_deref(), Some("tvm/boc-too-large"));
        // A tree of 341 cells over 256 distinct ones, and one of 597.
        let tree = |mut cells: Vec<Cell>| {
            while cells.len() > 1 {
                cells = cells.chunks(4).map(|four| over(four.iter().cloned())).collect();
            }
            cells.remove(0)
        };
        assert_eq!(code(&encode(&tree((0..256).map(leaf).collect()))), None);
        let wide = over([tree((0..256).map(leaf).collect()), tree((256..512).map(leaf).collect())]);
        assert_eq!(code(&encode(&wide)).as_deref(), Some("tvm/boc-too-large"));
        assert_eq!(code(&[0; MAX_BAG + 1]).as_deref(), Some("tvm/boc-too-large"));
        assert_eq!(code(&[0; MAX_BAG]).as_deref(), Some("tvm/boc-malformed"));
    }

    #[test]
    fn shared_cells_stand_once() {
        let shared = over([leaf(1)]);
        let root = over([shared.clone(), over([shared.clone(), leaf(2)]), shared]);
        let bag = encode(&root);
        assert_eq!(bag[6], 5);
        assert_eq!(decode(&bag), Ok(root));
    }

    #[test]
    fn a_checksum_is_checked() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        let mut bag = encode(&leaf(1));
        assert_eq!(code(&bag), None);
        let last = bag.len() - 1;
        bag[last] ^= 1;
        assert_eq!(code(&bag).as_deref(), Some("tvm/boc-malformed"));
    }

    proptest! {
        /// What is read is written and read as itself.
        #[test]
        fn changed_bytes(at in 0..100usize, to: u8) {
            let mut bag = encode(&over([leaf(1), over([leaf(2)]), leaf(1)]));
            // Without the checksum.
            bag[4] &= !0x40;
            bag.truncate(bag.len() - 4);
            if let Some(byte) = bag.get_mut(at) {
                *byte = to;
            }
            if let Ok(root) = decode(&bag) {
                prop_assert_eq!(decode(&encode(&root)), Ok(root));
            }
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
            let _ = decode(&[&GENERIC[..], &bytes].concat());
        }
    }
}
