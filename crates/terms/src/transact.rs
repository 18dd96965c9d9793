use lcp::{Hash, Pairing, Value, refusal::namespace};

use crate::{
    Approve, CancellationToken, Decline, Env, Exchanged, Fetch, Gate, Signer,
    agreement::{self, Exchange},
    inputs_of,
    signing::{Signing, account_of},
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
