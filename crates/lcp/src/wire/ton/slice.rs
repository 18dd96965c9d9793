use super::{Address, Cell, cell::Bits};

/// What is left to read of a cell. A read past the end is `None`.
#[derive(Clone)]
pub struct Slice<'a> {
    data: &'a Bits,
    at: usize,
    references: &'a [Cell],
}

impl<'a> Slice<'a> {
    pub(super) fn new(data: &'a Bits, references: &'a [Cell]) -> Self {
        Self { data, at: 0, references }
    }

    /// The next bit.
    pub fn bit(&mut self) -> Option<bool> {
        let bit = self.data.get(self.at)?;
        self.at += 1;
        Some(bit)
    }

    /// The number that the next bits are; at most 128.
    pub fn uint(&mut self, bits: u32) -> Option<u128> {
        (0..bits).try_fold(0, |value, _| Some(value << 1 | u128::from(self.bit()?)))
    }

    /// The next 32 bytes.
    pub fn hash(&mut self) -> Option<[u8; 32]> {
        let mut hash = [0; 32];
        for byte in &mut hash {
            *byte = self.byte()?;
        }
        Some(hash)
    }

    fn byte(&mut self) -> Option<u8> {
        self.uint(8).and_then(|byte| byte.try_into().ok())
    }

    /// Passes over bits.
    pub fn skip(&mut self, bits: usize) -> Option<()> {
        self.at = self.at.checked_add(bits).filter(|&at| at <= self.data.count())?;
        Some(())
    }

    /// The next reference.
    pub fn reference(&mut self) -> Option<&'a Cell> {
        let (first, rest) = self.references.split_first()?;
        self.references = rest;
        Some(first)
    }

    /// How many bits are left.
    pub fn bits_left(&self) -> usize {
        self.data.count() - self.at
    }

    /// Whether neither bits nor references are left.
    pub fn is_empty(&self) -> bool {
        self.bits_left() == 0 && self.references.is_empty()
    }

    /// All that is left, if it is whole bytes and no reference.
    pub fn rest_as_bytes(mut self) -> Option<Vec<u8>> {
        if !self.references.is_empty() || !self.bits_left().is_multiple_of(8) {
            return None;
        }
        (0..self.bits_left() / 8).map(|_| self.byte()).collect()
    }

    /// An amount below 2^120, and whether it has no byte too many.
    pub fn coins(&mut self) -> Option<(u128, bool)> {
        let bytes = u32::from(self.byte_of(4)?);
        let amount = self.uint(8 * bytes)?;
        Some((amount, (u128::BITS - amount.leading_zeros()).div_ceil(8) == bytes))
    }

    /// The workchain and hash of a standard address, whose tag was read, and whether it is rewritten for anycast.
    pub fn standard_address(&mut self) -> Option<(Address, bool)> {
        let anycast = self.bit()?;
        if anycast {
            let depth = self.byte_of(5)?;
            self.skip(depth.into())?;
        }
        let [workchain] = [self.byte()?].map(u8::cast_signed);
        Some((Address { workchain, hash: self.hash()? }, anycast))
    }

    /// A number of at most 8 bits.
    fn byte_of(&mut self, bits: u32) -> Option<u8> {
        self.uint(bits).and_then(|byte| byte.try_into().ok())
    }
}
