use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};

use super::Address;
use crate::wire::evm::{Word, keccak};

/// A secp256k1 signature has no type byte and is told by its length: r, s and the recovery id.
const SECP256K1: usize = 65;
/// r, s, the key's coordinates, and whether the digest was hashed again.
const P256: u8 = 1;
/// The authenticator's data, then r, s and the key's coordinates.
const WEB_AUTHN: u8 = 2;
/// The first form of a keychain signature, which did not cover the account.
const KEYCHAIN_V1: u8 = 3;
/// The account, then the signature of one of its access keys.
const KEYCHAIN_V2: u8 = 4;

/// The account that a signature over a digest speaks for.
///
/// Of P-256 and WebAuthn signatures only the form is looked at, and the key that stands in them; a keychain signature
/// names the account itself, whose list of access keys is on the chain.
pub(super) fn account(signature: &[u8], digest: &Word) -> Option<Address> {
    match signature.split_first() {
        Some((&KEYCHAIN_V2, rest)) if signature.len() != SECP256K1 => {
            let (account, access) = rest.split_first_chunk()?;
            key_account(access, &keccak(&[&[KEYCHAIN_V2], digest.as_slice(), account].concat()))?;
            Some(*account)
        }
        _ => key_account(signature, digest),
    }
}

/// Whether a signature is of the keychain's first form.
pub(super) fn is_keychain_v1(signature: &[u8]) -> bool {
    signature.first() == Some(&KEYCHAIN_V1) && signature.len() != SECP256K1
}

/// The account of the key that made a signature.
fn key_account(signature: &[u8], digest: &Word) -> Option<Address> {
    if signature.len() == SECP256K1 {
        return recover(signature, digest);
    }
    let (&kind, rest) = signature.split_first()?;
    let key = match (kind, rest.len()) {
        (P256, 129) => rest.get(64..128),
        (WEB_AUTHN, 128..=2048) => rest.last_chunk::<64>().map(<[u8; 64]>::as_slice),
        _ => None,
    };
    address(key?)
}

fn recover(signature: &[u8], digest: &Word) -> Option<Address> {
    let (signature, recovery) = signature.split_at_checked(64)?;
    let y_is_odd = match *recovery.first()? {
        0 | 27 => false,
        1 | 28 => true,
        // With a chain id, as before typed transactions.
        id @ 35.. => id % 2 == 0,
        _ => return None,
    };
    let signature = Signature::from_slice(signature).ok()?;
    if signature.normalize_s() != signature {
        return None;
    }
    let key = VerifyingKey::recover_from_prehash(digest, &signature, RecoveryId::new(y_is_odd, false)).ok()?;
    address(key.to_sec1_point(false).as_bytes().get(1..)?)
}

/// The address of a key, given as its coordinates.
fn address(key: &[u8]) -> Option<Address> {
    keccak(key).last_chunk().copied()
}

#[cfg(test)]
mod tests {
    use k256::ecdsa::SigningKey;
    use proptest::prelude::*;

    use super::*;

    fn signer(seed: [u8; 32]) -> (SigningKey, Address) {
        // Below the order, and not zero.
        let mut seed = seed;
        seed[0] &= 0x7F;
        seed[31] |= 1;
        let key = SigningKey::from_slice(&seed).unwrap();
        let account = address(&key.verifying_key().to_sec1_point(false).as_bytes()[1..]).unwrap();
        (key, account)
    }

    fn signed(key: &SigningKey, digest: &Word) -> (Vec<u8>, u8) {
        let (signature, recovery) = key.sign_prehash_recoverable(digest);
        (signature.to_bytes().to_vec(), recovery.to_byte())
    }

    /// A key's coordinates behind `data`, and its address.
    fn embedded(kind: u8, data: usize, key: [u8; 64]) -> Vec<u8> {
        [&[kind], &*vec![9; data], &key].concat()
    }

    proptest! {
        #[test]
        fn a_secp256k1_signature_is_its_keys(seed: [u8; 32], digest: Word) {
            let (key, account) = signer(seed);
            let (rs, parity) = signed(&key, &digest);
            let by = |rs: &[u8], v: u8| super::account(&[rs, &[v]].concat(), &digest);
            for v in [parity, 27 + parity, 35 + parity, 37 + parity, 253 + parity] {
                prop_assert_eq!(by(&rs, v), Some(account));
            }
            for v in [1 - parity, 28 - parity, 36 - parity] {
                prop_assert_ne!(by(&rs, v), Some(account));
            }
            for v in [2, 3, 26, 29, 34] {
                prop_assert_eq!(by(&rs, v), None);
            }
            // The other s of the same signature.
            let signature = Signature::from_slice(&rs).unwrap();
            let high = Signature::from_scalars(signature.r(), -signature.s()).unwrap();
            prop_assert_eq!(by(&high.to_bytes(), 1 - parity), None);
            for cut in [&rs[..], &rs[..63], &[&rs[..], &[27, 0]].concat()] {
                prop_assert_eq!(super::account(cut, &digest), None);
            }
        }

        #[test]
        fn a_keychain_signature_is_the_accounts(seed: [u8; 32], digest: Word, owner: Address) {
            let (key, _) = signer(seed);
            let (rs, parity) = signed(&key, &digest);
            let keychain = |inner: &[u8]| super::account(&[&[4], owner.as_slice(), inner].concat(), &digest);
            let access = [&rs[..], &[parity]].concat();
            // Another digest recovers another key, which is for the chain to judge.
            prop_assert!(keychain(&access).is_none_or(|account| account == owner));
            prop_assert_eq!(keychain(&embedded(1, 64, [7; 64])), None);
            prop_assert_eq!(keychain(&[&*embedded(1, 64, [7; 64]), &[0]].concat()), Some(owner));
            prop_assert_eq!(keychain(&embedded(2, 64, [7; 64])), Some(owner));
            for inner in [&[][..], &rs, &[&[4], owner.as_slice(), &access].concat(), &[&[3], owner.as_slice(), &access].concat()] {
                prop_assert_eq!(keychain(inner), None);
            }
            prop_assert_eq!(super::account(&[&[3], owner.as_slice(), &access].concat(), &digest), None);
            prop_assert_eq!(super::account(&[&[5], owner.as_slice(), &access].concat(), &digest), None);
        }

        #[test]
        fn is_total(signature in prop::collection::vec(any::<u8>(), 0..150), digest: Word) {
            super::account(&signature, &digest);
            super::account(&[&[4], &*signature].concat(), &digest);
        }
    }

    #[test]
    fn embedded_keys_have_their_accounts() {
        let key: [u8; 64] = std::array::from_fn(|place| place.to_le_bytes()[0]);
        let expected = address(&key);
        let by = |signature: &[u8]| account(signature, &[0; 32]);
        for hashed_again in [0, 1, 0xFF] {
            assert_eq!(by(&[&*embedded(1, 64, key), &[hashed_again]].concat()), expected);
        }
        assert_eq!(by(&embedded(1, 64, key)), None);
        assert_eq!(by(&[&*embedded(1, 64, key), &[0, 0]].concat()), None);
        for (data, expected) in [(63, None), (64, expected), (65, expected), (1984, expected), (1985, None)] {
            assert_eq!(by(&embedded(2, data, key)), expected, "{data}");
        }
        // 65 bytes are a secp256k1 signature, whatever the first.
        for first in 0..=5 {
            assert!(!is_keychain_v1(&[first; 65]));
            assert_eq!(is_keychain_v1(&[first; 64]), first == 3);
        }
        assert_eq!((by(&[]), is_keychain_v1(&[])), (None, false));
    }
}
