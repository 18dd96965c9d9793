//! Seeded chance: the same seed draws the same world.

use control::Ids;

/// `SplitMix64` (Steele, Lea and Flood, 2014): every seed is good, and the state is the seed and a count.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0. The bias of the remainder is below 2^-32 for the bounds used here.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // a remainder of a u32
        let number = (self.next() % u64::from(bound.max(1))) as u32;
        number
    }

    /// A number in the range, its ends included.
    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True once in so many times.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of them, of which there is at least one.
    pub(super) fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// One of them.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.index(items.len())) }
    }
}

impl Ids for Chance {
    fn draw(&mut self) -> [u8; 16] {
        (u128::from(self.next()) << 64 | u128::from(self.next())).to_be_bytes()
    }
}
