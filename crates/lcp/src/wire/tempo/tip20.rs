//! TIP-20, the chain's token standard: transfers, which may bear a memo of 32 bytes.

use super::{Address, address, word, words};
use crate::wire::evm::{U256, Word};

/// The selector of `transferWithMemo(address,uint256,bytes32)`.
pub const TRANSFER_WITH_MEMO: [u8; 4] = [0x95, 0x77, 0x7D, 0x59];
/// The selector of `transfer(address,uint256)`.
const TRANSFER: [u8; 4] = [0xA9, 0x05, 0x9C, 0xBB];
/// The first topic of the event `TransferWithMemo(address,address,uint256,bytes32)`; the fourth is the memo.
pub const TRANSFER_WITH_MEMO_TOPIC: Word = [
    0x57, 0xBC, 0x73, 0x54, 0xAA, 0x85, 0xAE, 0xD3, 0x39, 0xE0, 0x00, 0xBC, 0xCF, 0xFA, 0xBB, 0xC5, 0x29, 0x46, 0x6A, 0xF3, 0x5F, 0x07, 0x72, 0xC8,
    0xF8, 0xEE, 0x11, 0x45, 0x92, 0x7D, 0xE7, 0xF0,
];

/// The data of a call that transfers an amount.
pub fn transfer(recipient: &Address, amount: &U256, memo: Option<&Word>) -> Vec<u8> {
    let selector = if memo.is_some() { TRANSFER_WITH_MEMO } else { TRANSFER };
    let words = [word(recipient), *amount.bytes()].into_iter().chain(memo.copied());
    selector.into_iter().chain(words.flatten()).collect()
}

/// The memo of the transfer that a call's data are, if they are one with a memo.
pub fn memo(data: &[u8]) -> Option<&Word> {
    let [recipient, _, memo] = words(data.strip_prefix(&TRANSFER_WITH_MEMO)?)? else { return None };
    address(recipient)?;
    Some(memo)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::evm::keccak;

    #[test]
    fn selectors_and_topic_are_of_their_signatures() {
        assert!(keccak(b"transferWithMemo(address,uint256,bytes32)").starts_with(&TRANSFER_WITH_MEMO));
        assert!(keccak(b"transfer(address,uint256)").starts_with(&TRANSFER));
        assert_eq!(keccak(b"TransferWithMemo(address,address,uint256,bytes32)"), TRANSFER_WITH_MEMO_TOPIC);
    }

    proptest! {
        #[test]
        fn a_memo_is_read_from_its_transfer_only(recipient: Address, amount: [u8; 32], written: Word) {
            let amount = amount.into();
            let data = transfer(&recipient, &amount, Some(&written));
            prop_assert_eq!(memo(&data), Some(&written));
            prop_assert_eq!(&data[16..36], recipient);
            prop_assert_eq!(&data[36..68], amount.bytes());
            for other in [&transfer(&recipient, &amount, None), &data[..data.len() - 1], &[&*data, &[0]].concat(), &[&*data, &[0; 32]].concat()] {
                prop_assert_eq!(memo(other), None);
            }
            for place in 0..16 {
                let mut changed = data.clone();
                changed[place] ^= 1;
                prop_assert_eq!(memo(&changed), None);
            }
        }
    }
}
