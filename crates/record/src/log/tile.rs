use std::fmt;

use lcp::Hash;

use super::NodeId;

/// A tile's hashes stand this many levels above those of the tile below it.
const HEIGHT: u8 = 8;

/// The width of a full tile.
const WIDTH: u16 = 1 << HEIGHT;

/// A tile of the C2SP tlog-tiles layout: consecutive hashes of one level, or the entries of the lowest.
///
/// ```
/// use record::log::{Rows, Tile};
/// let tile = Tile::parse("tile/0/x001/x234/067.p/5").unwrap();
/// assert_eq!(tile, Tile { rows: Rows::Hashes(0), index: 1_234_067, width: 5 });
/// assert_eq!(tile.to_string(), "tile/0/x001/x234/067.p/5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// What it holds.
    pub rows: Rows,
    /// Its place among the tiles of its level, from the left.
    pub index: u64,
    /// How many hashes or entries, 1 to 256; below 256 it is a partial tile.
    pub width: u16,
}

/// What a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The hashes of the tile level, 0 to 6: subtrees of 8 levels each.
    Hashes(u8),
    /// The entries: the records' hashes.
    Entries,
}

impl Tile {
    /// Reads a tile's path below the log's prefix, in its one spelling. Levels that no log reaches name no tile.
    pub fn parse(path: &str) -> Option<Self> {
        if path.len() > 64 {
            return None;
        }
        let (rows, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let rows = match rows {
            "entries" => Rows::Entries,
            digit => Rows::Hashes(digit.parse().ok().filter(|level| *level < 7)?),
        };
        let (index, width) = match rest.split_once(".p/") {
            Some((index, width)) => (index, width.parse().ok().filter(|width| (1..WIDTH).contains(width))?),
            None => (rest, WIDTH),
        };
        let mut number = 0_u64;
        for element in index.split('/') {
            number = number.checked_mul(1000)?.checked_add(element.strip_prefix('x').unwrap_or(element).parse().ok()?)?;
        }
        let tile = Self { rows, index: number, width };
        (tile.to_string() == path).then_some(tile)
    }

    /// The nodes whose hashes it holds, or whose entries: level and first index; `width` of them follow one another.
    pub fn first(&self) -> NodeId {
        let level = match self.rows {
            Rows::Hashes(level) => level * HEIGHT,
            Rows::Entries => 0,
        };
        NodeId { level, index: self.index.saturating_mul(WIDTH.into()) }
    }

    /// Whether a tree of that size has all its rows.
    pub fn is_within(&self, size: u64) -> bool {
        let NodeId { level, index } = self.first();
        index.saturating_add(self.width.into()) <= size >> level
    }
}

/// The path below the log's prefix.
impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows {
            Rows::Hashes(level) => write!(f, "tile/{level}/")?,
            Rows::Entries => f.write_str("tile/entries/")?,
        }
        let digits = self.index.to_string();
        let digits = format!("{digits:0>width$}", width = digits.len().div_ceil(3) * 3);
        let last = digits.len() - 3;
        for (place, digit) in digits.char_indices() {
            if place % 3 == 0 {
                f.write_str(if place == 0 { "" } else { "/" })?;
                f.write_str(if place < last { "x" } else { "" })?;
            }
            write!(f, "{digit}")?;
        }
        if self.width < WIDTH { write!(f, ".p/{}", self.width) } else { Ok(()) }
    }
}

/// A tile's bytes: its hashes, one behind the other.
pub fn hash_tile(hashes: impl IntoIterator<Item = Hash>) -> Vec<u8> {
    hashes.into_iter().flat_map(|hash| *hash.bytes()).collect()
}

/// An entry bundle's bytes: each record's hash behind its length, 32, in two bytes.
pub fn entry_bundle(records: impl IntoIterator<Item = Hash>) -> Vec<u8> {
    records.into_iter().flat_map(|hash| [0, 32].into_iter().chain(*hash.bytes())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_of_the_layout() {
        let path = |rows, index, width| Tile { rows, index, width }.to_string();
        assert_eq!(path(Rows::Hashes(0), 1_234_067, 256), "tile/0/x001/x234/067");
        assert_eq!(path(Rows::Hashes(2), 0, 1), "tile/2/000.p/1");
        assert_eq!(path(Rows::Entries, 273, 112), "tile/entries/273.p/112");
        for other in [
            "tile/0/67",
            "tile/0/x000/067",
            "tile/0/001/067",
            "tile/0/x067",
            "tile/00/067",
            "tile/7/067",
            "tile/-1/067",
            "tile/0/067.p/0",
            "tile/0/067.p/256",
            "tile/0/067.p/01",
            "tile/0/067.p/+1",
            "tile/0/067/",
            "tile/0/+67",
            "/tile/0/067",
            "tile/data/067",
            "tile/0/x999/x999/x999/x999/x999/x999/999",
            "",
        ] {
            assert_eq!(Tile::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_tree_of_70_000_leaves_as_the_page_counts_it() {
        let has = |level, index, width| Tile { rows: Rows::Hashes(level), index, width }.is_within(70_000);
        assert!(has(0, 272, 256) && has(0, 273, 112) && !has(0, 273, 113));
        assert!(has(1, 0, 256) && has(1, 1, 17) && !has(1, 1, 18));
        assert!(has(2, 0, 1) && !has(2, 0, 2) && !has(3, 0, 1));
        assert!(!has(6, u64::MAX, 256));
    }

    #[test]
    fn bytes_of_a_tile() {
        let hashes = [Hash::of(b"a"), Hash::of(b"b")];
        assert_eq!(hash_tile(hashes), [*hashes[0].bytes(), *hashes[1].bytes()].concat());
        let bundle = entry_bundle(hashes);
        assert_eq!((bundle.len(), &bundle[..3], &bundle[34..37]), (68, &[0, 32, hashes[0].bytes()[0]][..], &[0, 32, hashes[1].bytes()[0]][..]));
    }

    proptest! {
        #[test]
        fn a_path_reads_back(level in 0..7_u8, index: u64, width in 1..=256_u16, entries: bool) {
            let tile = Tile { rows: if entries { Rows::Entries } else { Rows::Hashes(level) }, index, width };
            prop_assert_eq!(Tile::parse(&tile.to_string()), Some(tile));
        }

        #[test]
        fn one_path_names_a_tile(path in "tile/(entries|[0-9]{1,2})/(x[0-9]{1,3}/){0,3}[0-9]{1,4}(\\.p/[0-9]{1,3})?") {
            if let Some(tile) = Tile::parse(&path) {
                prop_assert_eq!(tile.to_string(), path);
            }
        }
    }
}
