use super::compact;
use crate::{Refusal, wire::bytes::Reader};

const EXTRINSIC_MALFORMED: Refusal = Refusal::new("polkadot/extrinsic-malformed");
const NOT_SIGNED_V4: Refusal = Refusal::new("polkadot/not-signed-v4");
const ADDRESS_NOT_ID: Refusal = Refusal::new("polkadot/address-not-id");
const SIGNATURE_MALFORMED: Refusal = Refusal::new("polkadot/signature-malformed");

/// Most bytes of an extrinsic.
pub const MAX_EXTRINSIC: usize = 4096;

/// What stands behind the signature of a signed extrinsic of version 4: the extensions, whose form is the chain's own, and
/// the call.
pub fn behind_signature(extrinsic: &[u8]) -> Result<&[u8], Refusal> {
    let mut reader = Reader::new(extrinsic);
    let length = compact::read(&mut reader).ok_or(EXTRINSIC_MALFORMED)?;
    if length != reader.left() as u128 {
        return Err(EXTRINSIC_MALFORMED);
    }
    if reader.byte() != Some(0x84) {
        return Err(NOT_SIGNED_V4);
    }
    if reader.byte() != Some(0) || reader.take(32).is_none() {
        return Err(ADDRESS_NOT_ID);
    }
    let signature = match reader.byte() {
        // Ed25519 and Sr25519.
        Some(0 | 1) => 64,
        // ECDSA, over the one hash or the other.
        Some(2 | 3) => 65,
        _ => return Err(SIGNATURE_MALFORMED),
    };
    reader.take(signature).ok_or(SIGNATURE_MALFORMED)?;
    reader.take(reader.left()).ok_or(EXTRINSIC_MALFORMED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, encoding, json};

    /// Signed by the public library with each kind of key, its fee in the chain's coin or in another asset.
    #[test]
    fn extrinsics_of_the_library() {
        let library = json::parse(include_str!("../../../tests/peers/substrate/extrinsics.json"), json::MAX_DEPTH).unwrap();
        let list = |name: &str| library.get(name).unwrap().as_array().unwrap().to_vec();
        let bytes = |of: &Value, name: &str| encoding::from_hex(of.get(name).unwrap().as_str().unwrap()).unwrap();
        for asked in list("asked") {
            for case in asked.get("extrinsics").unwrap().as_array().unwrap() {
                let behind = [bytes(case, "extensions"), bytes(&asked, "call")].concat();
                assert_eq!(behind_signature(&bytes(case, "extrinsic")), Ok(&*behind), "{case:?}");
            }
        }
        for case in list("refused") {
            let refusal = behind_signature(&bytes(&case, "extrinsic")).unwrap_err();
            assert_eq!(case.get("refusal"), Some(&refusal.code().into()));
        }
    }

    fn extrinsic(body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        compact::put(&mut bytes, body.len() as u128);
        bytes.extend(body);
        bytes
    }

    fn body(signature: u8, length: usize) -> Vec<u8> {
        [&[0x84, 0][..], &[7; 32], &[signature], &vec![9; length], b"rest"].concat()
    }

    #[test]
    fn what_stands_behind_each_signature() {
        for (signature, length) in [(0, 64), (1, 64), (2, 65), (3, 65)] {
            assert_eq!(behind_signature(&extrinsic(&body(signature, length))), Ok(&b"rest"[..]));
        }
        let signed = body(1, 64);
        let code = |bytes: &[u8]| behind_signature(bytes).unwrap_err().code().to_owned();
        for (changed, refusal) in [
            (extrinsic(&body(4, 65)), "polkadot/signature-malformed"),
            (extrinsic(&signed[..98]), "polkadot/signature-malformed"),
            (extrinsic(&signed[..33]), "polkadot/address-not-id"),
            (extrinsic(&[&[0x84, 1], &signed[2..]].concat()), "polkadot/address-not-id"),
            (extrinsic(&[&[0x04, 0], &signed[2..]].concat()), "polkadot/not-signed-v4"),
            (extrinsic(&[&[0x85, 0], &signed[2..]].concat()), "polkadot/not-signed-v4"),
            (vec![0], "polkadot/not-signed-v4"),
            (vec![], "polkadot/extrinsic-malformed"),
            ([&extrinsic(&signed)[..], &[0]].concat(), "polkadot/extrinsic-malformed"),
            ([&[0x9D, 0x01, 0, 0][..], &signed].concat(), "polkadot/extrinsic-malformed"),
        ] {
            assert_eq!(code(&changed), refusal);
        }
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..150)) {
            if let Ok(rest) = behind_signature(&extrinsic(&bytes)) {
                prop_assert!(bytes.ends_with(rest));
            }
            let _ = behind_signature(&bytes);
        }
    }
}
