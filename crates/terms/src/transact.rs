use lcp::{DeclineCode, Declined, Hash, Pairing, Value, pairing::Choice, refusal::namespace};

use crate::{
    Approve, CancellationToken, Decline, Env, Exchanged, Fetch, Finished, Gate, Moved, Signer,
    agreement::{self, Exchange},
    confirm::Chosen,
    finish::finish,
    input_malformed, inputs_of,
};

/// What a payment is made with.
#[derive(Debug)]
pub struct Transact<'a, S, A> {
    /// The wallet that pays.
    pub signer: &'a S,
    /// The wallet that pays agreements, where it is another.
    pub agreement_signer: Option<&'a A>,
    /// The buyer's own values that the builds need.
    pub inputs: Option<&'a Value>,
    /// The agreement payment that was approved, as an earlier call returned it.
    pub approved: Option<&'a Value>,
    /// Ends the agreement exchange.
    pub cancel: &'a CancellationToken,
}

/// What a transaction came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Transacted {
    /// The payment, which carries H.
    Signed {
        /// The payment to send; `None` where there is nothing for the buyer to sign.
        signed: Option<Value>,
        /// The receipt of its landing.
        landed: Option<Value>,
        /// The agreement's receipt, where one was needed.
        agreement: Option<Value>,
        /// The ATR's bytes.
        atr: Vec<u8>,
        /// H.
        h: Hash,
    },
    /// An agreement payment to approve first; nothing was signed.
    ToApprove {
        /// The agreement payment.
        approve: Approve,
        /// The ATR's bytes.
        atr: Vec<u8>,
        /// H.
        h: Hash,
    },
}

impl<F: Fetch, E: Env> Gate<F, E> {
    /// Confirms H and, only on a match, has the wallet sign the payment, paying first any agreement that was approved.
    pub async fn transact<S: Signer, A: Signer>(
        &self,
        pairing: &dyn Pairing,
        document: &Value,
        options: Transact<'_, S, A>,
    ) -> Result<Transacted, Decline> {
        let namespace = namespace(pairing.id());
        inputs_of(options.inputs, namespace)?;
        let account = account_of(options.signer, namespace)?;
        if let Some(signer) = options.agreement_signer {
            account_of(signer, namespace)?;
        }
        let approved = agreement::approved_of(options.approved, namespace)?;
        let confirmed = self.confirm(pairing, document, account, options.inputs).await?;
        let (atr, h) = (confirmed.atr, *confirmed.h);

        let agreement = match &confirmed.chosen.agreement {
            None => None,
            Some(url) => {
                let exchange = Exchange { url, atr: &atr, namespace, approved, inputs: options.inputs, cancel: options.cancel };
                let exchanged = match options.agreement_signer {
                    Some(signer) => self.exchange(signer, exchange).await?,
                    None => self.exchange(options.signer, exchange).await?,
                };
                match exchanged {
                    Exchanged::Agreed(receipt) => Some(receipt),
                    Exchanged::ToApprove(approve) => return Ok(Transacted::ToApprove { approve, atr, h }),
                }
            }
        };
        let signing = Signing { pairing, atr: &atr, chosen: &confirmed.chosen, request: confirmed.request };
        let (signed, landed) = match signing.sign(options.signer).await? {
            Some((signed, landed)) => (Some(signed), landed),
            None => (None, None),
        };
        Ok(Transacted::Signed { signed, landed, agreement, atr, h })
    }
}

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
        let h = lcp::ConfirmedHash::rehash(atr);
        let choice = Choice { choice: &chosen.choice, reference: &chosen.reference, h: &h, atr };
        let request = crate::confirm::request_of(pairing, &choice).map_err(|refusal| Declined::refused(DeclineCode::OfferUnreadable, &refusal))?;
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

impl<F: Fetch, E: Env> Gate<F, E> {
    /// The agreement payment at an agreement URL: shows it for approval, or, approved, pays it and returns the receipt.
    ///
    /// `url` comes from a confirmed payment's `chosen.agreement`.
    pub async fn agree<S: Signer>(
        &self,
        atr: &[u8],
        url: &str,
        signer: &S,
        approved: Option<&Value>,
        inputs: Option<&Value>,
        cancel: &CancellationToken,
    ) -> Result<Exchanged, Decline> {
        crate::finish::at_most_1_mib(atr)?;
        crate::confirm::https_or_decline(url, agreement::NAMESPACE)?;
        inputs_of(inputs, agreement::NAMESPACE)?;
        let approved = agreement::approved_of(approved, agreement::NAMESPACE)?;
        self.exchange(signer, Exchange { url, atr, namespace: agreement::NAMESPACE, approved, inputs, cancel }).await
    }
}
