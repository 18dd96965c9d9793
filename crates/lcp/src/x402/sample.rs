//! Documents, choices and payments to test the x402 pairings with, over the hash of [`ATR`].

use crate::{
    ConfirmedHash, Hash, Object, Refusal, Value,
    pairing::{Buyer, Choice, Completed, Pairing, Unsigned},
};

pub(crate) use crate::mpp::sample::{object, parsed};

pub(crate) const ATR: &[u8] = b"abc";

pub(crate) fn h() -> Hash {
    Hash::of(ATR)
}

pub(crate) fn document(options: impl IntoIterator<Item = Object>) -> Object {
    document_over(ATR, options)
}

/// A document over the hash of another ATR.
pub(crate) fn document_over(atr: &[u8], options: impl IntoIterator<Item = Object>) -> Object {
    let info = Object::new().with("type", "sha256").with("value", &Hash::of(atr)).with("legalContextUrl", "https://atr.seller.example/x");
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    let options: Vec<Value> = options.into_iter().map(Value::from).collect();
    Object::new().with("x402Version", 2u32).with("accepts", options).with("extensions", context)
}

/// What a pairing chooses of one option.
pub(crate) fn choose(pairing: &dyn Pairing, account: &str, option: Object, inputs: &Object) -> Result<Object, Refusal> {
    choose_of(pairing, account, &document([option]).into(), inputs)
}

pub(crate) fn choose_of(pairing: &dyn Pairing, account: &str, document: &Value, inputs: &Object) -> Result<Object, Refusal> {
    let buyer = Buyer { account, inputs, now: 1_790_000_000, random: &|bytes| bytes.fill(7) };
    pairing.choose(&pairing.read(document)?, &buyer)
}

pub(crate) fn build(pairing: &dyn Pairing, choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
    build_over(pairing, ATR, choice)
}

pub(crate) fn build_over(pairing: &dyn Pairing, atr: &[u8], choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
    pairing.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(atr), atr })
}

pub(crate) fn request(unsigned: &dyn Unsigned) -> Value {
    unsigned.request().unwrap().unwrap()
}

/// The payment that an answer makes.
pub(crate) fn paid(unsigned: &dyn Unsigned, answer: impl Into<Value>) -> Result<Value, Refusal> {
    match unsigned.complete(&answer.into())? {
        Completed::Payment { signed, .. } => Ok(signed),
        Completed::Next(request) => panic!("asks for more: {request:?}"),
    }
}

/// The payment with a member of its payload changed.
pub(crate) fn with_payload(payment: &Value, name: &str, value: impl Into<Value>) -> Value {
    let payment = payment.as_object().unwrap().clone();
    let payload = payment.get("payload").unwrap().as_object().unwrap().clone().with(name, value);
    payment.with("payload", payload).into()
}

/// The code with which a pairing refuses an option that is paid or was chosen.
pub(crate) fn unserved(pairing: &dyn Pairing, option: Object) -> String {
    let payment = Object::new().with("x402Version", 2u32).with("accepted", option.clone()).into();
    let code = pairing.bound(&payment, None).unwrap_err().code().to_owned();
    assert_eq!(pairing.read(&document([option]).into()).err().map(|refusal| refusal.code().to_owned()), Some("x402/no-payable-option".to_owned()));
    code
}

/// The choice with another option, which its document offers.
pub(crate) fn with_option(choice: &Object, option: Object) -> Object {
    let required = choice.get("required").unwrap().as_object().unwrap().clone().with("accepts", [option.clone().into()]);
    choice.clone().with("required", required).with("accepted", option)
}

/// What a buyer pays an option with.
pub(crate) struct Sample<'a> {
    pub(crate) pairing: &'a dyn Pairing,
    pub(crate) option: Object,
    pub(crate) account: &'a str,
    pub(crate) inputs: Object,
    /// The wallet's answer.
    pub(crate) answer: Value,
}

impl Sample<'_> {
    pub(crate) fn choice(&self) -> Object {
        choose(self.pairing, self.account, self.option.clone(), &self.inputs).unwrap()
    }

    /// The request, and the payment or the refusal.
    pub(crate) fn paid(&self, choice: &Object) -> Result<(Value, Value), String> {
        let choice = Choice { choice, reference: &"r".repeat(32).into(), h: &ConfirmedHash::rehash(ATR), atr: ATR };
        let finish = || {
            let unsigned = self.pairing.build(&choice)?;
            let request = unsigned.request()?.unwrap();
            match unsigned.complete(&self.answer)? {
                Completed::Payment { signed, .. } => Ok((request, signed)),
                Completed::Next(_) => panic!("one answer is all that is asked"),
            }
        };
        finish().map_err(|refusal: crate::Refusal| refusal.code().to_owned())
    }

    pub(crate) fn refused(&self, choice: &Object) -> String {
        self.paid(choice).unwrap_err()
    }

    /// A choice with faults in many members is refused for the one that is looked at first; each is mended in turn.
    pub(crate) fn assert_order(&self, faults: &[(&str, Value, &str)]) {
        let good = self.choice();
        let mut choice = faults.iter().fold(good.clone(), |choice, (name, fault, _)| choice.with(*name, fault));
        for (name, _, code) in faults {
            assert_eq!(self.refused(&choice), *code, "{name}");
            match good.get(name) {
                Some(value) => choice.set(*name, value),
                None => choice = choice.without(name),
            }
        }
        assert_eq!(choice, good);
    }
}
