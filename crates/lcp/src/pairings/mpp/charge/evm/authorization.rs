//! `mpp/charge/evm/authorization`: a signed transfer (EIP-3009) whose nonce is the challenge's hash; the challenge's id
//! is H.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        INPUT_MISSING, Method, Mpp, Offer,
        credential::Credential,
        evm::{
            Payer, Transfer, challenge_hash,
            charge::{Charge, Way},
            token_domain_input, transfer_nonce,
        },
    },
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<Authorization> = Mpp(Authorization);

pub(crate) struct Authorization;

const NONCE_NOT_CHALLENGE_HASH: Refusal = Refusal::new("mpp/nonce-not-challenge-hash");

impl Method for Authorization {
    fn id(&self) -> &'static str {
        "mpp/charge/evm/authorization"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Way::Authorization).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(buyer)?;
        Ok(payer.with("tokenDomain", token_domain_input(buyer.inputs)?.ok_or(INPUT_MISSING)?))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Way::Authorization)?;
        let transfer = Transfer {
            chain_id: charge.chain_id,
            token: charge.currency,
            to: charge.recipient,
            amount: charge.amount,
            nonce: challenge_hash(&offer),
        };
        transfer.build(&offer, payer, chosen.choice)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        if transfer_nonce(credential.payload)? == challenge_hash(offer) { Ok(offer.h) } else { Err(NONCE_NOT_CHALLENGE_HASH) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, PAYER, RECIPIENT, TOKEN, challenge, h, object, paid, parsed, request, with_payload},
        pairing::Pairing,
    };

    const INPUTS: &str = "{'tokenDomain':{'name':'USDC','version':'2'}}";

    fn asked() -> Object {
        let request = object(&format!(
            "{{'amount':'010','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532,'credentialTypes':['authorization']}}}}"
        ));
        challenge(&h(), "charge", "evm", request)
    }

    fn choose(challenge: Object, inputs: &str) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, "eip155:84532", challenge, inputs)
    }

    #[test]
    fn the_nonce_names_the_challenge() {
        let choice = choose(asked(), INPUTS).unwrap();
        assert_eq!(
            choice,
            Object::new()
                .with("from", PAYER)
                .with("now", 1_790_000_000u32)
                .with_some("tokenDomain", object(INPUTS).get("tokenDomain"))
                .with("challenge", asked())
        );
        let unsigned = sample::build(&PAIRING, &choice).unwrap();
        // Keccak-256 of `["ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0.0","api.seller.example"]`, by eth-hash.
        let nonce = "0xa4da723d91b17c5dedd76267a68bd5d5794f139a560dedf618762e5e369232c3";
        let message = request(&*unsigned).get("typedData").unwrap().get("message").unwrap().clone();
        assert_eq!(message.get("nonce"), Some(&nonce.into()));
        assert_eq!(message.get("value"), Some(&"10".into()));

        let payment = paid(&*unsigned, &"0x11".into()).unwrap();
        assert_eq!(payment.get("source"), Some(&format!("did:pkh:eip155:84532:{PAYER}").into()));
        assert_eq!(payment.get("payload").unwrap().get("value"), Some(&"010".into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        for (name, value, code) in [
            ("type", "permit2".into(), "mpp/credential-type"),
            ("nonce", Value::Null, "mpp/credential-malformed"),
            ("nonce", h().to_string().into(), "mpp/nonce-not-challenge-hash"),
        ] {
            assert_eq!(PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err().code(), code);
        }
    }

    #[test]
    fn takes_a_signature_in_hex() {
        let unsigned = sample::build(&PAIRING, &choose(asked(), INPUTS).unwrap()).unwrap();
        let longest = format!("0x{}", "11".repeat(8192));
        assert!(paid(&*unsigned, &longest.as_str().into()).is_ok());
        for answer in [Value::Null, "".into(), "0x".into(), "0x1".into(), "11".into(), (longest + "11").into(), ["0x11".into()].into()] {
            assert_eq!(paid(&*unsigned, &answer).unwrap_err().code(), "mpp/credential-malformed");
        }
    }

    #[test]
    fn a_choice_is_held_to_its_challenge() {
        let choice = choose(asked(), INPUTS).unwrap();
        let code = |choice: Object| sample::build(&PAIRING, &choice).err().unwrap().code().to_owned();
        let other = challenge(&Hash::of(b"abd"), "charge", "evm", Object::new()).with("request", asked().get("request").unwrap());
        for (name, value, expected) in [
            ("deposit", 5u32.into(), "mpp/choice-malformed"),
            ("challenge", Value::Null, "mpp/credential-malformed"),
            ("challenge", asked().without("id").into(), "mpp/credential-malformed"),
            ("challenge", asked().with("description", "x".repeat(66_000)).into(), "mpp/credential-malformed"),
            ("challenge", asked().without("expires").into(), "mpp/expires-required"),
            ("challenge", asked().with("expires", "1969-12-31T23:59:59Z").into(), "evm/field-malformed"),
            ("challenge", other.into(), "mpp/id-not-ours"),
            ("from", "0x1".into(), "mpp/input-malformed"),
            ("tokenDomain", parsed("{'name':'','version':'2'}"), "mpp/input-malformed"),
        ] {
            assert_eq!(code(choice.clone().with(name, value)), expected, "{name}");
        }
    }

    #[test]
    fn needs_the_tokens_domain_and_the_chains_account() {
        for inputs in ["{}", "{'tokenDomain':null}", "{'tokenDomain':'USDC'}"] {
            assert_eq!(choose(asked(), inputs).unwrap_err().code(), "mpp/input-missing");
        }
        let elsewhere = sample::choose(&PAIRING, "eip155:1", asked(), INPUTS);
        assert_eq!(elsewhere.unwrap_err().code(), "mpp/no-payable-option");
    }
}
