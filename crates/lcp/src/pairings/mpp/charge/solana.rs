//! `mpp/charge/solana`: H is a memo of the transaction that moves lamports or tokens.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        Method, Mpp, Offer,
        credential::{CREDENTIAL_TYPE, Credential},
        solana::{Charge, Cluster, chosen},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::solana::{TX_MALFORMED, Transaction},
};

pub(crate) static PAIRING: Mpp<Solana> = Mpp(Solana);

pub(crate) struct Solana;

const BUNDLE_EMPTY: Refusal = Refusal::new("svm/bundle-empty");
const READ_FIRST: Refusal = Refusal::new("svm/read-first");

/// Most transactions of a bundle.
const MAX_BUNDLE: usize = 8;

fn charge<'a>(offer: &'a Offer<'_>) -> Result<Charge<'a>, Refusal> {
    let details = offer.details();
    let cluster = Cluster::of(details)?.unwrap_or(Cluster::Mainnet);
    Charge::of(&offer.request, details, cluster)
}

impl Method for Solana {
    fn id(&self) -> &'static str {
        "mpp/charge/solana"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        charge(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        charge(offer).ok()?.cluster.network().map(str::to_owned)
    }

    fn choose(&self, offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let charge = charge(offer)?;
        charge.choose(buyer, charge.mint.is_some())
    }

    fn build(&self, choice: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let offer = chosen(self, choice)?;
        charge(&offer)?.build(&offer, choice.choice)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        charge(offer)?.carried(&transaction(credential.payload, landed)?, offer.h)
    }
}

/// The transaction that pays: the payload's own, the last of its bundle, or the one that landed under its signature.
fn transaction(payload: &Object, landed: Option<&Value>) -> Result<Transaction, Refusal> {
    match payload.get("type").and_then(Value::as_str) {
        Some("transaction") => Transaction::read(payload.get("transaction")),
        Some("bundle") => {
            let bundle = payload.get("transactions").and_then(Value::as_array).filter(|bundle| bundle.len() <= MAX_BUNDLE).ok_or(TX_MALFORMED)?;
            Transaction::read(Some(bundle.last().ok_or(BUNDLE_EMPTY)?))
        }
        Some("signature") => {
            let landed = landed.and_then(|landed| landed.get("transaction")).filter(|transaction| transaction.as_text().is_some());
            Transaction::read(Some(landed.ok_or(READ_FIRST)?))
        }
        _ => Err(CREDENTIAL_TYPE),
    }
}
