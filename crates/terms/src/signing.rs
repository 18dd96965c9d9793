//! A payment on its way through the wallet.

use lcp::{ConfirmedHash, DeclineCode, Declined, Hash, Pairing, Value, pairing::Choice};

use crate::{
    Decline, Finished, Moved, Signer,
    confirm::{Chosen, request_of},
    finish::finish,
    input_malformed,
};

/// The account a wallet pays from, or the decline for one that has none.
pub(crate) fn account_of<'a>(signer: &'a impl Signer, namespace: &str) -> Result<&'a str, Declined> {
    signer.account().ok_or_else(|| input_malformed(namespace))
}

/// A confirmed payment on its way through the wallet.
pub(crate) struct Signing<'a> {
    pub(crate) pairing: &'a dyn Pairing,
    pub(crate) atr: &'a [u8],
    pub(crate) chosen: &'a Chosen,
    pub(crate) request: Option<Value>,
}

impl Signing<'_> {
    /// Builds the request of a choice that was not confirmed by a fetch of its own: the agreement's, over the same ATR.
    pub(crate) fn of<'a>(pairing: &'a dyn Pairing, atr: &'a [u8], chosen: &'a Chosen) -> Result<Signing<'a>, Declined> {
        let h = ConfirmedHash::rehash(atr);
        let choice = Choice { choice: &chosen.choice, reference: &chosen.reference, h: &h, atr };
        let request = request_of(pairing, &choice).map_err(|refusal| Declined::refused(DeclineCode::OfferUnreadable, &refusal))?;
        Ok(Signing { pairing, atr, chosen, request })
    }

    /// Asks the wallet, at most twice. `None` where there is nothing for the buyer to sign.
    pub(crate) async fn sign(self, signer: &impl Signer) -> Result<Option<(Value, Option<Value>)>, Decline> {
        let chosen = Value::from(self.chosen.to_json());
        let not_bound = || Decline::because(DeclineCode::SignedNotBound, "The payment asks for more signatures than the gate gives.");
        let Some(first) = self.request else {
            return match finish(self.pairing, self.atr, &chosen, &Value::Null) {
                Ok(Finished::Signed { signed, landed, .. }) => Ok(Some((signed, landed))),
                Ok(Finished::Next { .. }) => Err(not_bound()),
                Err(decline) if decline.leaves_nothing_to_sign() => Ok(None),
                Err(decline) => Err(decline),
            };
        };
        let moves = self.pairing.moves(&first);
        let moved = |signed: Value| moves.then(|| Moved { signed, atr: self.atr.to_vec(), h: Hash::of(self.atr) });
        let failed = || Decline::because(DeclineCode::SignerFailed, "The signer gave no signature.");

        let one = signer.sign(&first).await.map_err(|_| failed())?;
        let second = match finish(self.pairing, self.atr, &chosen, &one)? {
            Finished::Signed { signed, landed, .. } => return Ok(Some((signed, landed))),
            Finished::Next { request, .. } => request,
        };
        let two = signer.sign(&second).await.map_err(|_| failed().with_moved(moved(one.clone())))?;
        let both = Value::from([one, two]);
        match finish(self.pairing, self.atr, &chosen, &both)? {
            Finished::Signed { signed, landed, .. } => Ok(Some((signed, landed))),
            Finished::Next { .. } => Err(not_bound().with_moved(moved(both))),
        }
    }
}
