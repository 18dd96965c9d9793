//! `mpp/charge/evm/transaction`: a signed transfer transaction that the seller sends, in which nothing has a place for H;
//! the agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    mpp::{
        Method, Mpp, NO_SIGNED_PLACE, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Waiting},
        evm::{
            Payer,
            charge::{Charge, Way},
            hex_bytes,
        },
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::transaction::{MAX_TRANSACTION, eip_1559_chain},
};

pub(crate) static PAIRING: Mpp<Transaction> = Mpp(Transaction);

pub(crate) struct Transaction;

const CHAIN_MISMATCH: Refusal = Refusal::new("evm/chain-mismatch");

impl Method for Transaction {
    fn id(&self) -> &'static str {
        "mpp/charge/evm/transaction"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Way::Transaction).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Way::Transaction)?;
        let (request, chain_id) = (charge.transfer_request(false)?, charge.chain_id);
        let payload = move |answer: &Value| {
            let transaction = hex_bytes(answer, MAX_TRANSACTION)?;
            let chain = encoding::from_hex(transaction).and_then(|bytes| eip_1559_chain(&bytes)).ok_or(CREDENTIAL_MALFORMED)?;
            if chain != u128::from(chain_id).into() {
                return Err(CHAIN_MISMATCH);
            }
            Ok(Object::new().with("type", Way::Transaction.name()).with("signature", transaction))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(chain_id)), OneStep { request, payload })))
    }

    fn bound(&self, _offer: &Offer<'_>, _credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NO_SIGNED_PLACE)
    }
}
