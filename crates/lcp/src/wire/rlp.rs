//! RLP, Ethereum's serialization. Our own: the public crate keeps no raw spans, which hashes and signatures are over.

use super::evm::U256;

/// An item of canonical RLP: every length in its one shortest form, lists to a bounded depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    raw: &'a [u8],
    payload: &'a [u8],
    is_list: bool,
}

impl<'a> Item<'a> {
    /// Reads data that are one item, in which lists nest at most `depth` levels.
    pub fn read(data: &'a [u8], depth: usize) -> Option<Self> {
        let (item, rest) = Self::split(data)?;
        (rest.is_empty() && item.nests_within(depth)).then_some(item)
    }

    /// The item as it stands in the data, its header included.
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The byte string, if it is one.
    pub fn bytes(self) -> Option<&'a [u8]> {
        (!self.is_list).then_some(self.payload)
    }

    /// The unsigned integer, if it is one: a byte string of at most 32 bytes that does not begin with a zero.
    pub fn uint(self) -> Option<U256> {
        let bytes = self.bytes().filter(|bytes| bytes.first() != Some(&0))?;
        let mut word = [0; 32];
        word.get_mut(32_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
        Some(word.into())
    }

    /// The items, if it is a list.
    pub fn items(self) -> Option<Vec<Self>> {
        if !self.is_list {
            return None;
        }
        let (mut items, mut rest) = (Vec::new(), self.payload);
        while !rest.is_empty() {
            let (item, after) = Self::split(rest)?;
            items.push(item);
            rest = after;
        }
        Some(items)
    }

    /// Whether what it holds is canonical, with lists in at most `depth` levels.
    fn nests_within(self, depth: usize) -> bool {
        !self.is_list || depth > 0 && self.items().is_some_and(|items| items.into_iter().all(|item| item.nests_within(depth - 1)))
    }

    /// The first item, and what follows.
    fn split(data: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&first, after) = data.split_first()?;
        if first < STRING {
            let (raw, rest) = data.split_at(1);
            return Some((Self { raw, payload: raw, is_list: false }, rest));
        }
        let is_list = first >= LIST;
        let short = usize::from(first - if is_list { LIST } else { STRING });
        let (length, after) = match short.checked_sub(MAX_SHORT) {
            None | Some(0) => (short, after),
            Some(digits) => {
                let (digits, after) = after.split_at_checked(digits)?;
                let length = digits.iter().try_fold(0_usize, |length, &digit| length.checked_mul(256)?.checked_add(digit.into()))?;
                (digits.first() != Some(&0) && length > MAX_SHORT).then_some((length, after))?
            }
        };
        let (payload, rest) = after.split_at_checked(length)?;
        if !is_list && matches!(payload, [byte] if *byte < STRING) {
            return None;
        }
        let (raw, _) = data.split_at_checked(data.len() - rest.len())?;
        Some((Self { raw, payload, is_list }, rest))
    }
}

/// The header of an empty byte string.
const STRING: u8 = 0x80;
/// The header of an empty list.
const LIST: u8 = 0xC0;
/// Longest payload whose length stands in the header's first byte.
const MAX_SHORT: usize = 55;

/// A byte string as an item.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [byte] if *byte < STRING => vec![*byte],
        _ => item(STRING, bytes),
    }
}

/// An unsigned integer as an item.
pub fn uint(value: U256) -> Vec<u8> {
    let zeros = value.bytes().iter().take_while(|&&byte| byte == 0).count();
    string(value.bytes().get(zeros..).unwrap_or_default())
}

/// A list of items as an item.
pub fn list(items: &[impl AsRef<[u8]>]) -> Vec<u8> {
    item(LIST, &items.iter().flat_map(AsRef::as_ref).copied().collect::<Vec<_>>())
}

fn item(kind: u8, payload: &[u8]) -> Vec<u8> {
    let header = match u8::try_from(payload.len()) {
        Ok(length) if payload.len() <= MAX_SHORT => vec![kind + length],
        _ => {
            let digits: Vec<u8> = payload.len().to_be_bytes().into_iter().skip_while(|&digit| digit == 0).collect();
            // A length has at most eight digits.
            #[allow(clippy::cast_possible_truncation)]
            let count = digits.len() as u8;
            [vec![kind + 55 + count], digits].concat()
        }
    };
    [&header, payload].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    enum Tree {
        Leaf(Vec<u8>),
        Node(Vec<Tree>),
    }

    impl Tree {
        fn encoded(&self) -> Vec<u8> {
            match self {
                Self::Leaf(bytes) => string(bytes),
                Self::Node(trees) => list(&trees.iter().map(Self::encoded).collect::<Vec<_>>()),
            }
        }

        fn of(item: Item<'_>) -> Self {
            match item.items() {
                Some(items) => Self::Node(items.into_iter().map(Self::of).collect()),
                None => Self::Leaf(item.bytes().unwrap().to_vec()),
            }
        }

        fn depth(&self) -> usize {
            match self {
                Self::Leaf(_) => 0,
                Self::Node(trees) => 1 + trees.iter().map(Self::depth).max().unwrap_or(0),
            }
        }
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let bytes = prop_oneof![prop::collection::vec(any::<u8>(), 0..3), prop::collection::vec(any::<u8>(), 50..300)];
        bytes.prop_map(Tree::Leaf).prop_recursive(5, 40, 6, |inner| prop::collection::vec(inner, 0..6).prop_map(Tree::Node))
    }

    proptest! {
        #[test]
        fn reads_what_was_written(tree in tree()) {
            let data = tree.encoded();
            let item = Item::read(&data, tree.depth()).unwrap();
            prop_assert_eq!(item.raw(), &*data);
            prop_assert_eq!(&Tree::of(item), &tree);
            if let Some(shallow) = tree.depth().checked_sub(1) {
                prop_assert_eq!(Item::read(&data, shallow), None);
            }
        }

        /// Whatever is read is the one encoding of what it holds.
        #[test]
        fn any_bytes(data in prop::collection::vec(prop_oneof![any::<u8>(), 0x80..0x83u8, 0xB7..0xBAu8, 0xC0..0xC4u8, 0xF7..0xFAu8], 0..80)) {
            if let Some(item) = Item::read(&data, 8) {
                prop_assert_eq!(Tree::of(item).encoded(), data);
            }
        }

        #[test]
        fn integers(value: [u8; 32], zeros in 0..=32usize) {
            let mut value = value;
            value[..zeros].fill(0);
            let data = uint(value.into());
            prop_assert_eq!(Item::read(&data, 0).unwrap().uint(), Some(value.into()));
        }
    }

    #[test]
    fn the_yellow_papers_examples() {
        assert_eq!(string(b"dog"), b"\x83dog");
        assert_eq!(list(&[string(b"cat"), string(b"dog")]), b"\xC8\x83cat\x83dog");
        assert_eq!((string(b""), list(&[b""; 0]), string(&[0]), string(&[0x0F])), (vec![0x80], vec![0xC0], vec![0], vec![0x0F]));
        assert_eq!(uint(1024.into()), b"\x82\x04\x00");
        assert_eq!(string(&[7; 56]), [&[0xB8, 56], [7; 56].as_slice()].concat());
        assert_eq!(string(&[7; 1024]), [&[0xB9, 4, 0], [7; 1024].as_slice()].concat());
    }

    #[test]
    fn refuses_what_is_not_canonical() {
        let long = |header: &[u8]| [header, &[7; 56]].concat();
        assert!(Item::read(&long(&[0xB8, 56]), 0).is_some());
        for data in [
            &*long(&[0xB9, 0, 56]),
            &[0xB8, 1, 0x80],
            &[0x81, 0x7F],
            &[0x82, 0],
            &[0xC1],
            &[0xC2, 0x81, 1],
            &[1, 1],
            &[0xBF, 255, 255, 255, 255, 255, 255, 255, 255],
            b"",
        ] {
            assert_eq!(Item::read(data, 8), None, "{data:02x?}");
        }
        let uint = |data: &[u8]| Item::read(data, 1).unwrap().uint();
        assert_eq!(uint(&[0x80]), Some(0.into()));
        for data in [&[0][..], &[0x82, 0, 1], &[0xC0], &[&[0xA1], [1; 33].as_slice()].concat()] {
            assert_eq!(uint(data), None, "{data:02x?}");
        }
    }
}
