use lcp::{DeclineCode, Declined, Hash, Pairing, Value};

use crate::{
    Decline,
    finish::{NOT_BOUND, at_most_1_mib},
};

/// Confirms that the H which the pairing reads from a payment is the SHA-256 of the ATR's bytes, and returns it.
///
/// `landed` is the receipt that was returned beside the payment, if one was; null is none. A `landed` member written
/// into the payment is not read.
pub fn check(pairing: &dyn Pairing, atr: &[u8], presented: &Value, landed: Option<&Value>) -> Result<Hash, Decline> {
    at_most_1_mib(atr)?;
    let landed = held_beside(presented, landed)?;
    let h = Hash::of(atr);
    match pairing.bound(presented, landed) {
        Ok(read) if read == h => Ok(h),
        _ => Err(Decline::because(DeclineCode::SignedNotBound, NOT_BOUND)),
    }
}

/// A receipt held beside a payment: where there is one, both are objects.
pub(crate) fn held_beside<'a>(payment: &Value, landed: Option<&'a Value>) -> Result<Option<&'a Value>, Declined> {
    let landed = landed.filter(|landed| !landed.is_null());
    match landed {
        Some(receipt) if receipt.as_object().is_none() || payment.as_object().is_none() => {
            Err(Declined::because(DeclineCode::SignedNotBound, "A payment and the receipt held beside it are both JSON objects."))
        }
        _ => Ok(landed),
    }
}
