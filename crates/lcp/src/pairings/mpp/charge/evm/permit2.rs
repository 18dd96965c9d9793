//! `mpp/charge/evm/permit2`: a Permit2 transfer, to several recipients if the challenge splits it, whose witness is the
//! challenge's hash; the challenge's id is H.

use crate::{
    Hash, Object, Refusal, Value, encoding, inputs,
    mpp::{
        INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Waiting},
        evm::{
            Payer, bytes32, challenge_hash,
            charge::{Charge, Way},
            deadline, judge_type, signature,
        },
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::{self, Type, permit2::Permit},
};

pub(crate) static PAIRING: Mpp<Permit2> = Mpp(Permit2);

pub(crate) struct Permit2;

const WITNESS_NOT_CHALLENGE_HASH: Refusal = Refusal::new("mpp/witness-not-challenge-hash");

const WITNESS: Type<'static> = ("PaymentWitness", &[("challengeHash", "bytes32"), ("externalId", "string")]);

impl Method for Permit2 {
    fn id(&self) -> &'static str {
        "mpp/charge/evm/permit2"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Way::Permit2).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(buyer)?;
        let filled = |value: &'_ Value| value.as_text().filter(|text| text.utf16_len() > 0).cloned();
        let spender = inputs::member(buyer.inputs, "spender", filled).ok().flatten().ok_or(INPUT_MISSING)?;
        Ok(payer.with("spender", spender))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let spender = evm::address(chosen.choice, "spender").ok_or(INPUT_MALFORMED)?;
        let charge = Charge::payable(&offer, Way::Permit2)?;
        let parts = charge.permit2.as_ref().ok_or(INPUT_MALFORMED)?;
        let hash = challenge_hash(&offer);
        let permit = Permit { token: charge.currency, amount: parts.rest.to_string(), spender, nonce: hash.into(), deadline: deadline(&offer)? };
        let witness = Object::new().with("challengeHash", encoding::hex(&hash)).with("externalId", parts.external_id.clone());
        let splits: Vec<String> = parts.splits.iter().map(|(_, amount)| amount.to_string()).collect();
        let request = permit.request_at(parts.contract, charge.chain_id, &splits, Some((WITNESS, witness.clone())));

        let recipients = std::iter::once(charge.recipient).chain(parts.splits.iter().map(|(recipient, _)| *recipient));
        let amounts = || std::iter::once(&permit.amount).chain(&splits).map(String::as_str);
        let permitted = amounts().map(|amount| permit.permitted().with("amount", amount).into()).collect::<Vec<Value>>();
        let detail = |(to, amount)| Object::new().with("to", to).with("requestedAmount", amount).into();
        let details = recipients.zip(amounts()).map(detail).collect::<Vec<Value>>();
        let members = Object::new()
            .with("type", Way::Permit2.name())
            .with(
                "permit",
                Object::new().with("permitted", permitted).with("nonce", permit.nonce.to_string()).with("deadline", permit.deadline.to_string()),
            )
            .with("transferDetails", details)
            .with("witness", witness);
        let payload = move |answer: &Value| Ok(members.clone().with("signature", signature(answer)?));
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), OneStep { request, payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        judge_type(credential.payload, Way::Permit2.name())?;
        let witness = credential.payload.get("witness").and_then(Value::as_object);
        let named = witness.and_then(|witness| bytes32(witness, "challengeHash")).ok_or(CREDENTIAL_MALFORMED)?;
        if *named.bytes() == challenge_hash(offer) { Ok(offer.h) } else { Err(WITNESS_NOT_CHALLENGE_HASH) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, h, object, paid, parsed, request, with_payload},
        pairing::Pairing,
    };

    const SPENDER: &str = "0x4020CD856C882D5fb903D99CE35316A085Bb0001";
    const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    fn built(details: &str) -> Box<dyn Unsigned> {
        let request = object(&format!(
            "{{'amount':'10','currency':'{TOKEN}','externalId':'order','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532,'credentialTypes':['permit2']{details}}}}}"
        ));
        let choice = sample::choose(&PAIRING, "eip155:84532", challenge(&h(), "charge", "evm", request), &format!("{{'spender':'{SPENDER}'}}"));
        sample::build(&PAIRING, &choice.unwrap()).unwrap()
    }

    #[test]
    fn the_witness_names_the_challenge() {
        let unsigned = built("");
        let typed = request(&*unsigned).get("typedData").unwrap().clone();
        assert_eq!(typed.get("primaryType"), Some(&"PermitWitnessTransferFrom".into()));
        assert_eq!(typed.get("domain").unwrap().get("verifyingContract"), Some(&"0x000000000022D473030F116dDEE9F6B43aC78BA3".into()));
        let payment = paid(&*unsigned, &"0x11".into()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let witness = |hash: &str| parsed(&format!("{{'challengeHash':'{hash}','externalId':'order'}}"));
        for (name, value, code) in [
            ("type", "authorization".into(), "mpp/credential-type"),
            ("witness", Value::Null, "mpp/credential-malformed"),
            ("witness", witness("0x"), "mpp/credential-malformed"),
            ("witness", witness(&h().to_string()), "mpp/witness-not-challenge-hash"),
        ] {
            assert_eq!(PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err().code(), code);
        }
    }

    #[test]
    fn parts_go_to_their_recipients() {
        let unsigned = built(&format!(",'permit2Address':'{OTHER}','splits':[{{'amount':'03','recipient':'{OTHER}'}}]"));
        let typed = request(&*unsigned).get("typedData").unwrap().clone();
        assert_eq!(typed.get("primaryType"), Some(&"PermitBatchWitnessTransferFrom".into()));
        assert_eq!(typed.get("domain").unwrap().get("verifyingContract"), Some(&OTHER.into()));
        let permitted = parsed(&format!("[{{'token':'{TOKEN}','amount':'7'}},{{'token':'{TOKEN}','amount':'3'}}]"));
        assert_eq!(typed.get("message").unwrap().get("permitted"), Some(&permitted));
        let payload = paid(&*unsigned, &"0x11".into()).unwrap().get("payload").unwrap().clone();
        assert_eq!(payload.get("permit").unwrap().get("permitted"), Some(&permitted));
        let details = format!("[{{'to':'{RECIPIENT}','requestedAmount':'7'}},{{'to':'{OTHER}','requestedAmount':'3'}}]");
        assert_eq!(payload.get("transferDetails"), Some(&parsed(&details)));
    }
}
