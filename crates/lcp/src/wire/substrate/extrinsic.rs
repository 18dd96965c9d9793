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
