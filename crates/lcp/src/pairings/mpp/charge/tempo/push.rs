//! `mpp/charge/tempo/push`: a Tempo transaction that the buyer sends; the memo that names the challenge is read from the
//! logs of its landing.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        Method, Mpp, Offer,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, Payload, Waiting},
        evm::{Payer, bytes32, judge_type, landed},
        tempo::{Charge, Mode, address},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::{evm::Word, tempo::tip20},
};

pub(crate) static PAIRING: Mpp<Push> = Mpp(Push);

pub(crate) struct Push;

const READ_FIRST: Refusal = Refusal::new("tempo/read-first");

impl Method for Push {
    fn id(&self) -> &'static str {
        "mpp/charge/tempo/push"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Mode::Push).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::payable(offer, Mode::Push).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Charge::choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Mode::Push)?;
        let sent = Sent { request: charge.request(chosen.choice, Mode::Push)? };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(charge.chain_id)), sent)))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let charge = Charge::payable(offer, Mode::Push)?;
        judge_type(credential.payload, "hash")?;
        let logs = landed.and_then(|landed| landed.get("logs")).and_then(Value::as_array).ok_or(READ_FIRST)?;
        let memos: Vec<_> = logs.iter().filter_map(|log| memo(log, &charge)).collect();
        charge.bound(offer.h, memos.iter())
    }
}

/// The memo in a log of the token's transfers.
fn memo(log: &Value, charge: &Charge<'_>) -> Option<Word> {
    address(log.as_object()?, "address").filter(|token| charge.is_token(token))?;
    let [event, _, _, memo] = log.get("topics")?.as_array()? else { return None };
    let word = |topic: &Value| topic.as_str().and_then(Hash::parse).map(|word| *word.bytes());
    word(event).filter(|event| *event == tip20::TRANSFER_WITH_MEMO_TOPIC)?;
    word(memo)
}

/// A transaction that the wallet sends and names.
struct Sent {
    request: Value,
}

impl Payload for Sent {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let answer = answer.as_object().ok_or(CREDENTIAL_MALFORMED)?;
        let hash = answer.get("hash").filter(|_| bytes32(answer, "hash").is_some()).ok_or(CREDENTIAL_MALFORMED)?;
        Ok(Answered::Payload(Object::new().with("type", "hash").with("hash", hash), landed(answer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, h, object, parsed},
        pairing::{Completed, Pairing},
    };

    fn built() -> Box<dyn Unsigned> {
        let request = object(&format!("{{'amount':'100','currency':'{TOKEN}','recipient':'{RECIPIENT}'}}"));
        let choice = sample::choose(&PAIRING, "eip155:42431", challenge(&h(), "charge", "tempo", request), "{}").unwrap();
        sample::build(&PAIRING, &choice).unwrap()
    }

    /// The log of the transfer that is asked for.
    fn log() -> Object {
        let request = sample::request(&*built());
        let data = request.get("call").unwrap().get("data").and_then(Value::as_str).unwrap();
        let topic = crate::encoding::hex(&tip20::TRANSFER_WITH_MEMO_TOPIC);
        object(&format!("{{'address':'{}','topics':['{topic}',null,null,'0x{}']}}", TOKEN.to_lowercase(), &data[data.len() - 64..]))
    }

    fn logs(logs: &[Object]) -> Value {
        let logs: Vec<_> = logs.iter().cloned().map(Value::from).collect();
        Object::new().with("transaction", "0x").with("blockNumber", "007").with("logs", logs).into()
    }

    fn answer(landed: &Value) -> Value {
        Object::new().with("hash", &h()).with("landed", landed).into()
    }

    fn completed(answer: &Value) -> Result<(Value, Option<Value>), Refusal> {
        match built().complete(answer)? {
            Completed::Payment { signed, landed } => Ok((signed, landed)),
            Completed::Next(request) => panic!("asks for more: {request:?}"),
        }
    }

    #[test]
    fn the_buyer_sends_and_holds_the_receipt() {
        assert!(PAIRING.moves(&sample::request(&*built())));
        let landed = logs(&[log()]).as_object().unwrap().clone().with("status", "0x1").into();
        let (signed, held) = completed(&answer(&landed)).unwrap();
        assert_eq!(signed.get("payload"), Some(&Object::new().with("type", "hash").with("hash", &h()).into()));
        let expected = logs(&[log()]).as_object().unwrap().clone().with("blockNumber", "7").into();
        assert_eq!(held, Some(expected));
        assert_eq!(PAIRING.bound(&signed, held.as_ref()), Ok(h()));
        let only_hash = Value::from(Object::new().with("hash", &h()));
        assert_eq!(completed(&only_hash).unwrap().1, None);
        assert_eq!(completed(&answer(&Value::Null)).unwrap().1, None);
    }

    #[test]
    fn other_answers_are_refused() {
        let receipt = |name: &str, value: Value| answer(&logs(&[]).as_object().unwrap().clone().with(name, value).into());
        let refused = [
            Value::Null,
            h().to_string().into(),
            Object::new().into(),
            parsed("{'hash':'0x12'}"),
            answer(&parsed("[]")),
            answer(&parsed("{}")),
            receipt("transaction", Value::Null),
            receipt("blockNumber", 7u32.into()),
            receipt("blockNumber", "0x7".into()),
            receipt("blockNumber", "".into()),
            receipt("logs", Value::Null),
        ];
        for answer in refused {
            assert_eq!(completed(&answer).unwrap_err(), CREDENTIAL_MALFORMED, "{answer:?}");
        }
        assert!(completed(&answer(&logs(&[]))).is_ok());
    }

    #[test]
    fn one_log_names_the_challenge() {
        let (signed, _) = completed(&answer(&logs(&[]))).unwrap();
        let bound = |landed: &Value| PAIRING.bound(&signed, Some(landed)).map_err(|refusal| refusal.code().to_owned());
        assert_eq!(PAIRING.bound(&signed, None), Err(READ_FIRST));
        for landed in ["{}", "[]", "{'logs':null}"] {
            assert_eq!(bound(&parsed(landed)), Err("tempo/read-first".to_owned()), "{landed}");
        }
        let topics = |place: usize, value: Value| {
            let mut topics = log().get("topics").unwrap().as_array().unwrap().to_vec();
            topics[place] = value;
            log().with("topics", topics)
        };
        let more = [log().get("topics").unwrap().as_array().unwrap(), &[Value::Null]].concat();
        let passed_over = [
            Object::new(),
            log().with("address", RECIPIENT),
            log().with("address", Value::Null),
            log().with("topics", Value::Null),
            log().with("topics", more),
            topics(0, Value::Null),
            topics(0, h().to_string().into()),
            topics(3, Value::Null),
            topics(3, h().to_string().into()),
        ];
        assert_eq!(bound(&logs(&passed_over)), Err("tempo/memo-not-bound".to_owned()));
        assert_eq!(bound(&logs(&[&passed_over[..], &[log()]].concat())), Ok(h()));
        assert_eq!(bound(&parsed("{'logs':[null,1,'x',[]]}")), Err("tempo/memo-not-bound".to_owned()));
        assert_eq!(bound(&logs(&[log(), log()])), Err("tempo/ambiguous".to_owned()));
        let of_a_transaction = sample::with_payload(&signed, "type", "transaction");
        assert_eq!(PAIRING.bound(&of_a_transaction, None).unwrap_err().code(), "mpp/credential-type");
    }
}
