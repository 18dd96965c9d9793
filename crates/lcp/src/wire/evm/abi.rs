use super::U256;
use crate::encoding;

/// A word of ABI-encoded data.
pub type Word = [u8; 32];

const WORD: usize = 32;

/// An address as a word, or `None` if the text is no address.
pub fn address_word(text: &str) -> Option<Word> {
    let mut word = [0; WORD];
    encoding::hex_into(text.strip_prefix("0x")?, &mut word[12..])?;
    Some(word)
}

/// An unsigned integer as a word.
pub fn uint_word(value: u128) -> Word {
    *U256::from(value).bytes()
}

/// A contract call's data in hex: the function's selector, and its arguments' words.
pub fn call_data(selector: [u8; 4], arguments: &[Word]) -> String {
    encoding::hex(&[&selector, arguments.as_flattened()].concat())
}

/// Reads ABI-encoded data: a tuple, or an array's elements, whose offsets count from its first word.
///
/// Strict where a decoder must be: data are whole words, an address has no bits above it, an offset is a multiple of 32
/// that leads into the data, a byte string lies in the data with its padding. Not asked for: that parts stand in the
/// encoder's order, apart, and with zero padding.
#[derive(Clone, Copy, Debug)]
pub struct AbiReader<'a>(&'a [Word]);

impl<'a> AbiReader<'a> {
    /// Reads from the first word; `None` if the data are not whole words.
    pub fn new(data: &'a [u8]) -> Option<Self> {
        let (words, rest) = data.as_chunks();
        rest.is_empty().then_some(Self(words))
    }

    /// The word at a place.
    pub fn word(self, place: usize) -> Option<&'a Word> {
        self.0.get(place)
    }

    /// The address at a place, without its padding.
    pub fn address(self, place: usize) -> Option<&'a [u8]> {
        let (padding, address) = self.word(place)?.split_at(12);
        padding.iter().all(|&byte| byte == 0).then_some(address)
    }

    /// What the offset at a place leads to.
    pub fn tail(self, place: usize) -> Option<Self> {
        let offset = small(self.word(place)?)?;
        (offset % WORD == 0).then(|| self.0.get(offset / WORD..)).flatten().map(Self)
    }

    /// The byte string, of at most `max` bytes, that the offset at a place leads to.
    pub fn bytes(self, place: usize, max: usize) -> Option<&'a [u8]> {
        let (length, data) = self.tail(place)?.0.split_first()?;
        let length = small(length).filter(|&length| length <= max)?;
        data.get(..length.div_ceil(WORD))?.as_flattened().get(..length)
    }

    /// The elements, at most `max`, of the array of tuples that the offset at a place leads to.
    pub fn tuples(self, place: usize, max: usize) -> Option<Vec<Self>> {
        let (count, elements) = self.tail(place)?.0.split_first()?;
        let count = small(count).filter(|&count| count <= max)?;
        (0..count).map(|index| Self(elements).tail(index)).collect()
    }
}

/// A word as a count or an offset.
fn small(word: &Word) -> Option<usize> {
    let (high, low) = word.split_last_chunk::<8>()?;
    high.iter().all(|&byte| byte == 0).then(|| usize::try_from(u64::from_be_bytes(*low)).ok())?
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A member of a tuple, as an encoder sees it.
    #[derive(Clone, Debug)]
    pub(in super::super) enum Part {
        Word(Word),
        /// Encoded data behind an offset.
        Tail(Vec<u8>),
    }

    pub(in super::super) fn encode(parts: &[Part]) -> Vec<u8> {
        let (mut heads, mut tails) = (Vec::new(), Vec::<u8>::new());
        for part in parts {
            match part {
                Part::Word(word) => heads.extend(word),
                Part::Tail(data) => {
                    heads.extend(uint_word((parts.len() * WORD + tails.len()) as u128));
                    tails.extend(data);
                }
            }
        }
        heads.extend(tails);
        heads
    }

    pub(in super::super) fn encode_bytes(bytes: &[u8]) -> Vec<u8> {
        let mut data = uint_word(bytes.len() as u128).to_vec();
        data.extend(bytes);
        data.resize(WORD + bytes.len().next_multiple_of(WORD), 0);
        data
    }

    pub(in super::super) fn encode_tuples(tuples: Vec<Vec<u8>>) -> Vec<u8> {
        let mut data = uint_word(tuples.len() as u128).to_vec();
        data.extend(encode(&tuples.into_iter().map(Part::Tail).collect::<Vec<_>>()));
        data
    }

    type Tuple = ([u8; 20], Vec<u8>, Word, Vec<u8>);

    fn encoded(tuples: &[Tuple]) -> Vec<u8> {
        let tuple = |(address, first, word, second): &Tuple| {
            let mut padded = [0; WORD];
            padded[12..].copy_from_slice(address);
            encode(&[Part::Word(padded), Part::Tail(encode_bytes(first)), Part::Word(*word), Part::Tail(encode_bytes(second))])
        };
        encode(&[Part::Tail(encode_tuples(tuples.iter().map(tuple).collect()))])
    }

    fn decoded(data: &[u8]) -> Option<Vec<Tuple>> {
        let tuple = |at: AbiReader<'_>| Some((at.address(0)?.try_into().ok()?, at.bytes(1, 100)?.to_vec(), *at.word(2)?, at.bytes(3, 100)?.to_vec()));
        AbiReader::new(data)?.tuples(0, 4)?.into_iter().map(tuple).collect()
    }

    fn tuples(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Tuple>> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..=100);
        prop::collection::vec((any::<[u8; 20]>(), bytes(), any::<Word>(), bytes()), count)
    }

    proptest! {
        #[test]
        fn reads_what_was_encoded(tuples in tuples(0..=4)) {
            prop_assert_eq!(decoded(&encoded(&tuples)), Some(tuples));
        }

        #[test]
        fn refuses_a_cut(tuples in tuples(1..=4), cut in 1..64usize) {
            let data = encoded(&tuples);
            prop_assert_eq!(decoded(&data[..data.len() - cut]), None);
        }

        #[test]
        fn refuses_what_is_not_canonical(tuples in tuples(1..=4), padding in 0..12usize) {
            let data = encoded(&tuples);
            // The first tuple starts behind the offset, the count and the elements' offsets.
            let first = (2 + tuples.len()) * WORD;
            let mut dirty = data.clone();
            dirty[first + padding] = 1;
            prop_assert_eq!(decoded(&dirty), None);
            let mut unaligned = data.clone();
            unaligned[first + 2 * WORD - 1] += 1;
            prop_assert_eq!(decoded(&unaligned), None);
            let mut far = data.clone();
            far[first + WORD] = 1;
            prop_assert_eq!(decoded(&far), None);
        }

        #[test]
        fn is_total(words in prop::collection::vec(prop_oneof![any::<Word>(), (0..12u128).prop_map(|n| uint_word(n * 32))], 0..12)) {
            decoded(words.as_flattened());
        }
    }

    #[test]
    fn bounds_counts_and_lengths() {
        let empty: Tuple = ([0; 20], vec![], [0; WORD], vec![]);
        assert!(decoded(&encoded(&vec![empty.clone(); 4])).is_some());
        assert!(decoded(&encoded(&vec![empty; 5])).is_none());
        assert!(decoded(&encoded(&[([0; 20], vec![0; 101], [0; WORD], vec![])])).is_none());
        assert!(decoded(&[]).is_none());
    }
}
