use lcp::{
    ConfirmedHash, DeclineCode, Declined, Hash, Pairing, Value,
    pairing::{Choice, Completed},
};

use crate::{Decline, MAX_ATR, Moved};

/// What a wallet's answer came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Finished {
    /// The payment to send, which carries H.
    Signed {
        /// The payment.
        signed: Value,
        /// The receipt of its landing, to be kept beside it.
        landed: Option<Value>,
        /// H.
        h: Hash,
    },
    /// The payment is signed in steps: this is to be signed next, and all answers so far given in order as a list.
    Next {
        /// The next request.
        request: Value,
        /// H.
        h: Hash,
    },
}

/// Rebuilds the payment from a choice over the hash of the ATR's bytes, joins the wallet's answer, and returns it only
/// when H is read back from it (or, where the proof is the agreement payment, when there is no place to read it from).
///
/// `chosen` is the JSON form that confirm returned. Nothing here is random, timed or fetched: the same arguments give
/// the same result.
pub fn finish(pairing: &dyn Pairing, atr: &[u8], chosen: &Value, signature: &Value) -> Result<Finished, Decline> {
    at_most_1_mib(atr)?;
    let unreadable = |sentence: &str| Decline::because(DeclineCode::OfferUnreadable, sentence);
    let choice = chosen.get("choice").and_then(Value::as_object).ok_or_else(|| unreadable("The chosen payment holds no choice to build from."))?;
    let reference = chosen.get("ref").unwrap_or(&Value::Null);
    if chosen.get("pairing").and_then(Value::as_str) != Some(pairing.id()) {
        return Err(Decline::because(DeclineCode::PairingNotSupported, "The chosen payment is of another pairing."));
    }

    let h = ConfirmedHash::rehash(atr);
    let unsigned =
        pairing.build(&Choice { choice, reference, h: &h, atr }).map_err(|refusal| Declined::refused(DeclineCode::OfferUnreadable, &refusal))?;
    // Asked only where the payment is declined after the wallet acted.
    let moves = || !signature.is_null() && unsigned.request().ok().flatten().is_some_and(|request| pairing.moves(&request));
    let moved = |signed: &Value| moves().then(|| Moved { signed: signed.clone(), atr: atr.to_vec(), h: *h });

    let (signed, landed) = match unsigned.complete(signature) {
        Ok(Completed::Next(request)) => return Ok(Finished::Next { request, h: *h }),
        Ok(Completed::Payment { signed, landed }) => (signed, landed),
        Err(refusal) => return Err(Decline::from(Declined::refused(DeclineCode::SignedNotBound, &refusal)).with_moved(moved(signature))),
    };
    let bound = match pairing.bound(&signed, landed.as_ref()) {
        Ok(read) => read == *h,
        Err(refusal) => !pairing.public_proof() && refusal.leaves_nothing_to_sign(),
    };
    if !bound {
        return Err(Decline::because(DeclineCode::SignedNotBound, NOT_BOUND).with_moved(moved(&signed)));
    }
    Ok(Finished::Signed { signed, landed, h: *h })
}

pub(crate) const NOT_BOUND: &str = "The hash of the ATR's bytes is not read from the payment.";

pub(crate) fn at_most_1_mib(atr: &[u8]) -> Result<(), Declined> {
    if atr.len() <= MAX_ATR { Ok(()) } else { Err(Declined::because(DeclineCode::AtrTooLarge, "The ATR is larger than 1048576 bytes.")) }
}
