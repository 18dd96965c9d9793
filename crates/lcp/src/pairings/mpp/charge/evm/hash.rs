//! `mpp/charge/evm/hash`: a transfer transaction that the payer sends and names by its hash, in which nothing has a place
//! for H; the agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        Method, Mpp, NO_SIGNED_PLACE, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Waiting},
        evm::{
            Payer,
            charge::{Charge, Way},
        },
    },
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<TransactionHash> = Mpp(TransactionHash);

pub(crate) struct TransactionHash;

impl Method for TransactionHash {
    fn id(&self) -> &'static str {
        "mpp/charge/evm/hash"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Way::Hash).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Way::Hash)?;
        let request = charge.transfer_request(true)?;
        let payload = |answer: &Value| {
            let hash = answer.as_str().filter(|text| Hash::parse(text).is_some()).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(Object::new().with("type", Way::Hash.name()).with("hash", hash))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), OneStep { request, payload })))
    }

    fn bound(&self, _offer: &Offer<'_>, _credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NO_SIGNED_PLACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, h, object, paid, request},
        pairing::Pairing,
    };

    fn built() -> Box<dyn Unsigned> {
        let request = object(&format!("{{'amount':'10','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532}}}}"));
        let choice = sample::choose(&PAIRING, "eip155:84532", challenge(&h(), "charge", "evm", request), "{}").unwrap();
        sample::build(&PAIRING, &choice).unwrap()
    }

    #[test]
    fn the_payer_sends_the_transaction() {
        let unsigned = built();
        let request = request(&*unsigned);
        assert!(PAIRING.moves(&request));
        let hash = h().to_string();
        let payment = paid(&*unsigned, &hash.as_str().into()).unwrap();
        assert_eq!(payment.get("payload"), Some(&Object::new().with("type", "hash").with("hash", hash.as_str()).into()));
        assert_eq!(PAIRING.bound(&payment, None).unwrap_err(), NO_SIGNED_PLACE);
        for answer in [Value::Null, "0x".into(), hash[2..].into(), (hash.clone() + "00").into()] {
            assert_eq!(paid(&*unsigned, &answer).unwrap_err().code(), "mpp/credential-malformed");
        }
    }
}
