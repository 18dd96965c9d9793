//! Signed transactions in their EIP-2718 envelopes.

use super::U256;
use crate::wire::rlp::Item;

/// Most bytes of a signed transaction.
pub const MAX_TRANSACTION: usize = 65_536;

/// The envelope's type of an EIP-1559 transaction.
const EIP_1559: u8 = 2;
/// The fields' list, the access list, its entries, and their lists of storage keys.
const MAX_DEPTH: usize = 4;

/// The chain of a signed EIP-1559 transaction; `None` if the bytes are no such transaction in canonical RLP.
///
/// Of the other fields only the form is read: integers, byte strings, and for the access list a list of any items.
pub fn eip_1559_chain(transaction: &[u8]) -> Option<U256> {
    let (&EIP_1559, fields) = transaction.split_first()? else { return None };
    let fields: [Item<'_>; 12] = Item::read(fields, MAX_DEPTH)?.items()?.try_into().ok()?;
    let [chain, nonce, priority_fee, fee, gas, to, value, data, access_list, parity, r, s] = fields;
    for integer in [nonce, priority_fee, fee, gas, value, parity, r, s] {
        integer.uint()?;
    }
    to.bytes()?;
    data.bytes()?;
    access_list.items()?;
    chain.uint()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::rlp;

    fn fields() -> Vec<Vec<u8>> {
        let uint = |value: u128| rlp::uint(value.into());
        let address = rlp::string(&[7; 20]);
        let entry = rlp::list(&[address.clone(), rlp::list(&[rlp::string(&[1; 32])])]);
        let (to, data, access_list) = (address, rlp::string(b"data"), rlp::list(&[entry]));
        vec![uint(84532), uint(7), uint(1), uint(2), uint(21_000), to, uint(0), data, access_list, uint(1), uint(5), uint(6)]
    }

    fn enveloped(fields: &[Vec<u8>]) -> Vec<u8> {
        [vec![EIP_1559], rlp::list(fields)].concat()
    }

    fn with(place: usize, field: Vec<u8>) -> Option<U256> {
        let mut fields = fields();
        fields[place] = field;
        eip_1559_chain(&enveloped(&fields))
    }

    #[test]
    fn reads_the_chain() {
        assert_eq!(eip_1559_chain(&enveloped(&fields())), Some(84532.into()));
        assert_eq!(with(0, rlp::string(b"")), Some(0.into()));
        for (place, field) in [(5, b"".as_slice()), (5, &[7; 19]), (7, b""), (9, &[2])] {
            assert_eq!(with(place, rlp::string(field)), Some(84532.into()), "{place}");
        }
        assert_eq!(with(8, rlp::list(&[b""; 0])), Some(84532.into()));
    }

    #[test]
    fn refuses_other_forms() {
        let (list, empty) = (rlp::list(&[b""; 0]), rlp::string(b""));
        for place in [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11] {
            assert_eq!(with(place, list.clone()), None, "{place}");
        }
        for place in [0, 1, 2, 3, 4, 6, 9, 10, 11] {
            assert_eq!(with(place, rlp::string(&[0])), None, "{place}");
            assert_eq!(with(place, rlp::string(&[1; 33])), None, "{place}");
        }
        assert_eq!(with(8, empty.clone()), None);
        let deep = rlp::list(&[rlp::list(&[rlp::list(&[rlp::list(&[empty])])])]);
        assert_eq!(with(8, deep), None);
        let whole = enveloped(&fields());
        for other in [&whole[1..], &[&[1], &whole[1..]].concat(), &[&*whole, &[0]].concat(), &whole[..whole.len() - 1], b"", &[EIP_1559]] {
            assert_eq!(eip_1559_chain(other), None);
        }
        assert_eq!(eip_1559_chain(&enveloped(&fields()[..11])), None);
        assert_eq!(eip_1559_chain(&enveloped(&[fields(), vec![list]].concat())), None);
    }

    proptest! {
        /// One changed byte never panics.
        #[test]
        fn is_total(place: prop::sample::Index, byte: u8) {
            let mut transaction = enveloped(&fields());
            let place = place.index(transaction.len());
            transaction[place] = byte;
            eip_1559_chain(&transaction);
        }
    }
}
