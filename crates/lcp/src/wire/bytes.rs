//! A reader of bytes, for the binary formats whose numbers have a fixed width.

/// What is left to read. A read past the end is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads from the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_to_the_end_and_not_past_it() {
        let mut reader = Reader::new(&[1, 2, 3, 4, 5]);
        assert_eq!(reader.byte(), Some(1));
        assert_eq!(reader.array(), Some([2, 3]));
        assert_eq!((reader.take(3), reader.array::<3>(), reader.left()), (None, None, 2));
        assert_eq!(reader.take(2), Some([4, 5].as_slice()));
        assert_eq!((reader.byte(), reader.take(0), reader.left()), (None, Some([].as_slice()), 0));
    }
}
