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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, h, object, paid, parsed, request},
        pairing::Pairing,
        wire::rlp,
    };

    fn built() -> Box<dyn Unsigned> {
        let request = object(&format!("{{'amount':'10','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532}}}}"));
        let choice = sample::choose(&PAIRING, "eip155:84532", challenge(&h(), "charge", "evm", request), "{}").unwrap();
        sample::build(&PAIRING, &choice).unwrap()
    }

    #[test]
    fn the_transaction_is_of_the_chain() {
        let unsigned = built();
        let request = request(&*unsigned);
        assert_eq!(request.get("broadcast"), Some(&false.into()));
        assert!(!PAIRING.moves(&request));
        // `transfer(address,uint256)` of 10 to the recipient.
        let data = format!("0xa9059cbb{:0>64}{:0>64}", RECIPIENT[2..].to_lowercase(), "a");
        assert_eq!(request.get("call"), Some(&parsed(&format!("{{'to':'{TOKEN}','data':'{data}'}}"))));
        let signed = |chain: u128| {
            let fields: Vec<_> =
                (0..12).map(|place| if place == 8 { rlp::list(&[b""; 0]) } else { rlp::uint(if place == 0 { chain } else { 1 }.into()) }).collect();
            encoding::hex(&[vec![2], rlp::list(&fields)].concat())
        };
        let payment = paid(&*unsigned, &signed(84532).into()).unwrap();
        assert_eq!(payment.get("payload"), Some(&Object::new().with("type", "transaction").with("signature", signed(84532)).into()));
        assert_eq!(PAIRING.bound(&payment, None).unwrap_err(), NO_SIGNED_PLACE);
        assert_eq!(paid(&*unsigned, &signed(1).into()).unwrap_err().code(), "evm/chain-mismatch");
        for answer in [Value::Null, "0x".into(), "0x01".into(), signed(84532)[2..].into()] {
            assert_eq!(paid(&*unsigned, &answer).unwrap_err().code(), "mpp/credential-malformed");
        }
    }
}
