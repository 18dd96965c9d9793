//! `mpp/charge/lightning`: an invoice that the seller describes by H, which the buyer pays; it is no proof to the public, so
//! an agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    lightning::{pay_request, preimage},
    mpp::{
        Method, Mpp, Offer,
        credential::{Credential, OneStep, Waiting},
        lightning::Asked,
    },
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<Lightning> = Mpp(Lightning);

pub(crate) struct Lightning;

fn asked<'a>(offer: &'a Offer<'_>) -> Result<Asked<'a>, Refusal> {
    Asked::of(offer, offer.details(), "invoice")
}

impl Method for Lightning {
    fn id(&self) -> &'static str {
        "mpp/charge/lightning"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        asked(offer).map(drop)
    }

    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        asked(offer).is_ok_and(|asked| asked.serves_account(account))
    }

    fn choose(&self, _offer: &Offer<'_>, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let offer = Offer::kept(self, chosen)?;
        let asked = asked(&offer)?;
        asked.carried(&offer)?;
        offer.judge_h(chosen)?;
        let payload = |answer: &Value| Ok(Object::new().with("preimage", preimage(answer)?));
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request: pay_request(asked.invoice), payload })))
    }

    /// Who pays an invoice has moved the money.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, offer: &Offer<'_>, _credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        asked(offer)?.carried(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        mpp::sample::{self, challenge, h, object, paid, parsed, request},
        wire::bolt11::tests::{hash_field, invoice},
    };

    const PREIMAGE: &str = "abababababababababababababababababababababababababababababababab";

    fn invoice_over(prefix: &str, h: &Hash) -> String {
        invoice(prefix, 1_900_000_000, &[hash_field(b'p', &[1; 32]), hash_field(b'h', h.bytes())])
    }

    fn charge(h: &Hash, prefix: &str, described: &Hash) -> Object {
        let details = Object::new().with("invoice", invoice_over(prefix, described)).with("paymentHash", "01".repeat(32));
        challenge(h, "charge", "lightning", object("{'amount':'1','currency':'sat'}").with("methodDetails", details))
    }

    fn choose(account: &str, challenge: Object) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &Object::new(), now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[challenge.into()].into())?, &buyer)
    }

    #[test]
    fn the_invoice_is_paid() {
        let choice = choose("lnbtc:000000000019d6689c085ae165831e93:any", charge(&h(), "lnbc1u", &h())).unwrap();
        assert_eq!(choice.len(), 1);
        let unsigned = sample::build(&PAIRING, &choice).unwrap();
        let asked = Object::new().with("kind", "bolt11-pay").with("invoice", invoice_over("lnbc1u", &h()));
        assert_eq!(request(&*unsigned), asked.into());
        assert!(PAIRING.moves(&request(&*unsigned)));
        let payment = paid(&*unsigned, &PREIMAGE.into()).unwrap();
        assert_eq!(payment.get("payload"), Some(&parsed(&format!("{{'preimage':'{PREIMAGE}'}}"))));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        for answer in [Value::Null, "".into(), PREIMAGE[1..].into(), format!("0x{PREIMAGE}").into(), PREIMAGE.to_uppercase().into()] {
            assert_eq!(paid(&*unsigned, &answer).unwrap_err().code(), "ln/preimage-malformed", "{answer:?}");
        }
    }

    #[test]
    fn accounts_are_of_the_invoices_currency() {
        for (prefix, network) in [
            ("lnbc", "000000000019d6689c085ae165831e93"),
            ("lntb", "000000000933ea01ad0ee984209779ba"),
            ("lntb", "00000000da84f2bafbbc53dee25a72ae"),
            ("lntbs", "00000008819873e925422c1ff0f99f7c"),
            ("lnbcrt", "0f9188f13cb7b2c71f2a335e3a4fc328"),
        ] {
            for other in ["lnbc", "lntb", "lntbs", "lnbcrt"] {
                assert_eq!(choose(&format!("lnbtc:{network}:x"), charge(&h(), other, &h())).is_ok(), other == prefix, "{network} {other}");
            }
        }
        for account in ["lnbtc:mainnet:x", "bip122:000000000019d6689c085ae165831e93:x", "lnbtc:000000000019d6689c085ae165831e93"] {
            assert_eq!(choose(account, charge(&h(), "lnbc", &h())).unwrap_err().code(), "mpp/no-payable-option", "{account}");
        }
    }

    #[test]
    fn the_invoice_carries_the_challenges_hash() {
        let other = Hash::of(b"abd");
        let code = |challenge: Object| sample::build(&PAIRING, &Object::new().with("challenge", challenge)).err().unwrap().code().to_owned();
        assert_eq!(code(charge(&h(), "lnbc", &other)), "mpp/carrier-not-challenge");
        assert_eq!(code(charge(&other, "lnbc", &h())), "mpp/carrier-not-challenge");
        assert_eq!(code(charge(&other, "lnbc", &other)), "mpp/id-not-ours");
        let credential = sample::credential(charge(&h(), "lnbc", &other));
        assert_eq!(PAIRING.bound(&credential, None).unwrap_err().code(), "mpp/carrier-not-challenge");
    }
}
