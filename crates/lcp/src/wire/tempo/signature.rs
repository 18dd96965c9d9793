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
