//! `mpp/charge/tempo/memo`: a signed Tempo transaction that the seller sends, in which a transfer's memo names the challenge.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    mpp::{
        Method, Mpp, Offer,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, ReadBack, Waiting},
        evm::{Payer, judge_type},
        tempo::{Charge, Mode, TX_MALFORMED},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::tempo::{Transaction, tip20},
};

pub(crate) static PAIRING: Mpp<Memo> = Mpp(Memo);

pub(crate) struct Memo;

impl Method for Memo {
    fn id(&self) -> &'static str {
        "mpp/charge/tempo/memo"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Mode::Pull).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::payable(offer, Mode::Pull).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Charge::choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Mode::Pull)?;
        let payload = |answer: &Value| {
            let transaction = answer.as_str().filter(|text| encoding::hex_len(text).is_some()).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(Object::new().with("type", "transaction").with("signature", transaction))
        };
        let step = OneStep { request: charge.request(chosen.choice, Mode::Pull)?, payload };
        let unsigned = Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), step);
        Ok(Box::new(ReadBack { pairing: &PAIRING, unsigned }))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let charge = Charge::payable(offer, Mode::Pull)?;
        judge_type(credential.payload, "transaction")?;
        let transaction = credential.payload.get("signature").and_then(Value::as_str).and_then(encoding::from_hex).ok_or(CREDENTIAL_MALFORMED)?;
        let transaction = Transaction::read(&transaction).filter(|transaction| transaction.is_on(charge.chain_id)).ok_or(TX_MALFORMED)?;
        let calls = transaction.calls.iter().filter(|call| call.to.is_some_and(|to| charge.is_token(to)));
        charge.bound(offer.h, calls.filter_map(|call| tip20::memo(call.data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, encoded, h, object, parsed, with_payload},
        pairing::Pairing,
        wire::tempo::{address_of, sample::signed},
    };

    const NETWORK: &str = "eip155:42431";
    const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    /// A request with members of `methodDetails`.
    fn charge(details: &str) -> Object {
        object(&format!("{{'amount':'0100','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{{details}}}}}"))
    }

    fn asked(details: &str) -> Object {
        challenge(&h(), "charge", "tempo", charge(details))
    }

    fn choice(details: &str, inputs: &str) -> Object {
        sample::choose(&PAIRING, NETWORK, asked(details), inputs).unwrap()
    }

    fn request(details: &str, inputs: &str) -> Value {
        sample::request(&*sample::build(&PAIRING, &choice(details, inputs)).unwrap())
    }

    /// The data of a call, as words.
    fn words(call: &Value) -> Vec<String> {
        let data = call.get("data").and_then(Value::as_str).unwrap();
        let words = data.as_bytes()[10..].chunks(64).map(|word| String::from_utf8(word.to_vec()).unwrap());
        std::iter::once(data[..10].to_owned()).chain(words).collect()
    }

    fn word(value: &str) -> String {
        format!("{value:0>64}")
    }

    #[test]
    fn one_transfer_bears_the_memo() {
        let request = request("", "{}");
        let call = request.get("call").unwrap();
        let memo = words(call).pop().unwrap();
        assert_eq!(words(call), ["0x95777d59", &word(&RECIPIENT[2..].to_lowercase()), &word("64"), &memo]);
        let expected = Object::new()
            .with("kind", "tempo-call")
            .with("call", Object::new().with("to", TOKEN).with_some("data", call.get("data")))
            .with("chainId", 42431u32)
            .with("validBefore", 1_893_456_000u32)
            .with("broadcast", false);
        assert_eq!(request, expected.into());
        assert!(!PAIRING.moves(&request));
        // Tag, version and fingerprints; no client.
        assert!(memo.starts_with("ef1ed71201") && memo[30..50] == *"00000000000000000000");
    }

    #[test]
    fn the_recipient_gets_what_the_splits_leave() {
        let memo = h().to_string();
        let splits = format!("'splits':[{{'recipient':'{OTHER}','amount':'3'}},{{'recipient':'{OTHER}','amount':'007','memo':'{memo}'}}]");
        let request = request(&splits, "{'clientId':'agent-7'}");
        assert_eq!(request.get("kind"), Some(&"tempo-calls".into()));
        let calls: Vec<_> = request.get("calls").unwrap().as_array().unwrap().iter().map(words).collect();
        let other = word(&OTHER[2..].to_lowercase());
        assert_eq!((&*calls[0][0], &calls[0][2]), ("0x95777d59", &word("5a")));
        assert_ne!(calls[0][3][30..50], *"00000000000000000000");
        assert_eq!(calls[1], ["0xa9059cbb", &other, &word("3")]);
        assert_eq!(calls[2], ["0x95777d59", &other, &word("7"), &memo[2..]]);
    }

    #[test]
    fn a_request_is_refused_for_its_first_fault() {
        let code = |request: Object| {
            let choice = choice("", "{}").with("challenge", asked("").with("request", encoded(request)));
            sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        let split = format!("{{'recipient':'{OTHER}','amount':'1'}}");
        for (details, expected) in [
            ("", ""),
            ("'feePayer':true", ""),
            ("'feePayer':true,'supportedModes':['push']", "mpp/modes-pull-only"),
            ("'supportedModes':[]", "mpp/modes-pull-only"),
            ("'supportedModes':['push']", "mpp/not-this-pairing"),
            ("'supportedModes':['pull','x']", "mpp/request-malformed"),
            ("'chainId':null", "mpp/request-malformed"),
            ("'memo':null,'supportedModes':[]", "mpp/carrier-taken"),
            ("'splits':[],'supportedModes':['push']", "mpp/splits-malformed"),
            ("'splits':null", "mpp/splits-malformed"),
            (&format!("'splits':[{}]", [&*split; 10].join(",")), ""),
            (&format!("'splits':[{}]", [&*split; 11].join(",")), "mpp/splits-malformed"),
            (&format!("'splits':[{}]", split.replace("'1'", "'0'")), "mpp/splits-malformed"),
            (&format!("'splits':[{}]", split.replace("'1'", "'1','memo':null")), "mpp/splits-malformed"),
            (&format!("'splits':[{}]", split.replace("'1'", "'99'")), ""),
            (&format!("'splits':[{}]", split.replace("'1'", "'100'")), "mpp/input-malformed"),
        ] {
            assert_eq!(code(charge(details)), expected, "{details}");
        }
        assert_eq!(code(charge("'memo':1").with("amount", "0")), "mpp/not-this-pairing");
        for (name, value) in [("amount", "x"), ("currency", "x"), ("recipient", "x")] {
            assert_eq!(code(charge("").with(name, value)), "mpp/request-malformed", "{name}");
        }
        let unlimited = choice("", "{}").with("challenge", asked("").without("expires"));
        assert_eq!(sample::build(&PAIRING, &unlimited).err().unwrap().code(), "mpp/expires-required");
        for (name, value) in [("from", Value::from("x")), ("clientId", Value::Null)] {
            assert_eq!(sample::build(&PAIRING, &choice("", "{}").with(name, value)).err().unwrap().code(), "mpp/input-malformed");
        }
        for inputs in ["{'clientId':''}", "{'clientId':null}", "{'clientId':1}"] {
            assert_eq!(sample::choose(&PAIRING, NETWORK, asked(""), inputs).unwrap_err().code(), "mpp/input-missing", "{inputs}");
        }
        assert_eq!(sample::choose(&PAIRING, "eip155:4217", asked(""), "{}").unwrap_err().code(), "mpp/no-payable-option");
    }

    #[test]
    fn the_memo_is_read_back_from_the_transaction() {
        let unsigned = sample::build(&PAIRING, &choice("", "{}")).unwrap();
        let call = encoding::from_hex(sample::request(&*unsigned).get("call").unwrap().get("data").and_then(Value::as_str).unwrap()).unwrap();
        let (token, other) = (address_of(TOKEN).unwrap(), address_of(OTHER).unwrap());
        let good = signed(42431, &[(other, call.clone()), (token, vec![]), (token, call.clone())]);
        let paid = sample::paid(&*unsigned, &good).unwrap();
        assert_eq!(paid.get("source"), Some(&format!("did:pkh:{NETWORK}:{}", sample::PAYER).into()));
        assert_eq!(paid.get("payload"), Some(&Object::new().with("type", "transaction").with("signature", &good).into()));
        assert_eq!(PAIRING.bound(&paid, None), Ok(h()));
        for (answer, code) in [
            (signed(4217, &[(token, call.clone())]), "tempo/tx-malformed"),
            ("0x".into(), "tempo/tx-malformed"),
            (signed(42431, &[(other, call.clone())]), "tempo/memo-not-bound"),
            (signed(42431, &[(token, call.clone()), (token, call)]), "tempo/ambiguous"),
            ("76".into(), "mpp/credential-malformed"),
            (Value::Null, "mpp/credential-malformed"),
            (format!("0x{}", "00".repeat(32_768)).into(), "mpp/credential-malformed"),
        ] {
            assert_eq!(unsigned.complete(&answer).unwrap_err().code(), code);
        }
        let bound = |name, value: Value| PAIRING.bound(&with_payload(&paid, name, value), None).unwrap_err().code().to_owned();
        assert_eq!(bound("type", "hash".into()), "mpp/credential-type");
        assert_eq!(bound("signature", parsed("[]")), "mpp/credential-malformed");
    }
}
