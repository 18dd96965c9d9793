//! The Delegation Framework: permission contexts, which ERC-7710 redeems.

use super::{AbiReader, Word};

/// Most bytes of a permission context.
pub const MAX_CONTEXT: usize = 32 * 1024;
const MAX_DELEGATIONS: usize = 8;
const MAX_CAVEATS: usize = 16;
const MAX_BYTES: usize = 8 * 1024;

/// The framework's own `DelegationManager`, at the same address on every chain it is deployed to.
pub const REFERENCE_MANAGER: &str = "0xdb9B1e94B5b69Df7e401DDbedE43491141047dB3";

/// The chains it is deployed to, ascending.
const REFERENCE_CHAINS: [u64; 51] = [
    1, 10, 56, 97, 100, 130, 137, 143, 146, 1155, 1301, 1328, 1329, 2020, 2021, 4114, 4217, 4663, 5000, 5003, 5042, 5115, 6342, 6343, 8453, 10143,
    10200, 13579, 14601, 42161, 42170, 42220, 42431, 46630, 50312, 57073, 59141, 59144, 80002, 80069, 80094, 84532, 421_614, 560_048, 737_373,
    747_474, 763_373, 5_042_002, 11_142_220, 11_155_111, 11_155_420,
];

/// Whether the address, in any case, is the reference manager on a chain it is deployed to.
pub fn is_reference_manager(chain_id: u64, address: &str) -> bool {
    address.eq_ignore_ascii_case(REFERENCE_MANAGER) && REFERENCE_CHAINS.binary_search(&chain_id).is_ok()
}

/// A permission context that is no ABI-encoded list of delegations, or exceeds a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The salt of the leaf, the first delegation of the chain in a permission context; `None` if there is no delegation.
/// Every delegation is read.
pub fn leaf_salt(context: &[u8]) -> Result<Option<Word>, Malformed> {
    let delegations = AbiReader::new(context).and_then(|context| context.tuples(0, MAX_DELEGATIONS)).ok_or(Malformed)?;
    let salts = delegations.into_iter().map(salt).collect::<Option<Vec<_>>>().ok_or(Malformed)?;
    Ok(salts.first().copied())
}

/// The salt of `(address delegate, address delegator, bytes32 authority, Caveat[] caveats, uint256 salt, bytes signature)`
/// with caveats `(address enforcer, bytes terms, bytes args)`.
fn salt(delegation: AbiReader<'_>) -> Option<Word> {
    delegation.address(0)?;
    delegation.address(1)?;
    for caveat in delegation.tuples(3, MAX_CAVEATS)? {
        caveat.address(0)?;
        caveat.bytes(1, MAX_BYTES)?;
        caveat.bytes(2, MAX_BYTES)?;
    }
    delegation.bytes(5, MAX_BYTES)?;
    delegation.word(4).copied()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            abi::tests::{Part, encode, encode_bytes, encode_tuples},
            address_word,
        },
        *,
    };

    fn context(delegations: &[(Word, usize, usize)]) -> Vec<u8> {
        let address = || Part::Word(address_word(REFERENCE_MANAGER).unwrap());
        let delegation = |&(salt, caveats, signature): &(Word, usize, usize)| {
            let caveat = encode(&[address(), Part::Tail(encode_bytes(b"terms")), Part::Tail(encode_bytes(b""))]);
            let caveats = Part::Tail(encode_tuples(vec![caveat; caveats]));
            encode(&[address(), address(), Part::Word([0xFF; 32]), caveats, Part::Word(salt), Part::Tail(encode_bytes(&vec![1; signature]))])
        };
        encode(&[Part::Tail(encode_tuples(delegations.iter().map(delegation).collect()))])
    }

    #[test]
    fn the_leaf_stands_first() {
        assert_eq!(leaf_salt(&context(&[([1; 32], 1, 65), ([2; 32], 0, 65)])), Ok(Some([1; 32])));
        assert_eq!(leaf_salt(&context(&[])), Ok(None));
    }

    #[test]
    fn bounds() {
        assert!(leaf_salt(&context(&[([1; 32], 0, 0); 8])).is_ok());
        assert_eq!(leaf_salt(&context(&[([1; 32], 0, 0); 9])), Err(Malformed));
        assert!(leaf_salt(&context(&[([1; 32], 16, 8192)])).is_ok());
        assert_eq!(leaf_salt(&context(&[([1; 32], 17, 0)])), Err(Malformed));
        assert_eq!(leaf_salt(&context(&[([1; 32], 0, 8193)])), Err(Malformed));
        assert_eq!(leaf_salt(&context(&[([1; 32], 0, 0), ([1; 32], 17, 0)])), Err(Malformed));
        assert_eq!(leaf_salt(b""), Err(Malformed));
    }

    #[test]
    fn reference_manager_in_any_case_on_listed_chains() {
        assert!(REFERENCE_CHAINS.is_sorted());
        assert!(is_reference_manager(84532, &REFERENCE_MANAGER.to_lowercase()));
        assert!(!is_reference_manager(31337, REFERENCE_MANAGER));
        assert!(!is_reference_manager(84532, "0x90F79bf6EB2c4f870365E785982E1f101E93b906"));
    }
}
