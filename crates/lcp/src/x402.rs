//! x402 version 2: what its pairings share.

pub(crate) mod auth_capture;
pub(crate) mod channel;
pub mod document;
pub(crate) mod eip155;
pub(crate) mod erc7710;
pub(crate) mod hedera;
pub(crate) mod lnbtc;
pub(crate) mod option;
pub(crate) mod permit2;
pub(crate) mod solana;

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    json,
    pairing::{Advertised, Buyer, Channel, Choice, Completed, Pairing, Unsigned, broadcasts},
};
use document::{CHOICE_MALFORMED, Payment};

/// What sets one x402 pairing apart; [`X402`] makes a [`Pairing`] of it.
pub(crate) trait Scheme: Sync {
    fn id(&self) -> &'static str;

    fn public_proof(&self) -> bool {
        true
    }

    /// Whether an option of `accepts` is one this pairing pays.
    fn serves(&self, option: &Object) -> Result<(), Unserved>;

    /// Reads the payer's account.
    fn account(&self, text: &str) -> Option<Account> {
        Account::parse(text)
    }

    /// The members of the choice beside `required` and `accepted`. The option is on the account's network.
    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal>;

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal>;

    /// See [`Pairing::moves`].
    fn moves(&self, request: &Value) -> bool {
        broadcasts(request)
    }

    /// What a pairing asks of a payment's outer members before its option is looked at: at least version 2.
    fn judge_envelope(&self, payment: &Value) -> Result<(), Refusal> {
        document::version_2(payment).map(|_| ())
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal>;

    fn channel(&self) -> Option<&dyn Channel> {
        None
    }
}

/// Why an option is not served.
pub(crate) enum Unserved {
    /// It is another pairing's.
    Other,
    /// It is this pairing's, and cannot be paid.
    Refused(Refusal),
}

impl From<Refusal> for Unserved {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Unserved> for Refusal {
    fn from(unserved: Unserved) -> Self {
        match unserved {
            Unserved::Other => document::OPTION_NOT_THIS_PAIRING,
            Unserved::Refused(refusal) => refusal,
        }
    }
}

/// The option that is paid, and the document that offers it.
pub(crate) struct Order<'a> {
    pub(crate) required: &'a Value,
    pub(crate) accepted: &'a Value,
}

impl<'a> Order<'a> {
    /// The order in a choice, held to the document it came from and to the pairing's own filter.
    pub(crate) fn of(scheme: &dyn Scheme, choice: &'a Object) -> Result<Self, Refusal> {
        let order = Self::offered(choice)?;
        scheme.serves(order.option()?)?;
        Ok(order)
    }

    /// The order in a choice, held to the document it came from alone.
    pub(crate) fn offered(choice: &'a Object) -> Result<Self, Refusal> {
        let order = Self { required: choice.get("required").unwrap_or(&Value::Null), accepted: choice.get("accepted").unwrap_or(&Value::Null) };
        document::version_2(order.required)?;
        let accepts = document::accepts(order.required)?;
        if !accepts.iter().any(|option| json::same(option, order.accepted)) {
            return Err(document::OPTION_NOT_IN_DOCUMENT);
        }
        Ok(order)
    }

    /// The option's members.
    pub(crate) fn option(&self) -> Result<&'a Object, Refusal> {
        self.accepted.as_object().ok_or(document::OPTION_NOT_THIS_PAIRING)
    }
}

/// Whether a choice holds a document and an option at all, as it must but where [`Order::of`] alone judges it.
pub(crate) fn judge_order(choice: &Object) -> Result<(), Refusal> {
    let holds = |name| choice.get(name).is_some_and(|value| value.as_object().is_some());
    if holds("required") && holds("accepted") { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// A [`Scheme`] as a [`Pairing`].
pub(crate) struct X402<S>(pub(crate) S);

impl<S: Scheme> Pairing for X402<S> {
    fn id(&self) -> &'static str {
        self.0.id()
    }

    fn public_proof(&self) -> bool {
        self.0.public_proof()
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        let context = document::legal_context(document)?;
        let options: Vec<Value> = document::accepts(document)?
            .iter()
            .filter(|option| option.as_object().is_some_and(|option| self.0.serves(option).is_ok()))
            .cloned()
            .collect();
        if options.is_empty() {
            return Err(document::NO_PAYABLE_OPTION);
        }
        Ok(Advertised { h: context.h, link: context.link, agreement: context.agreement, document: document.clone(), options })
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = self.0.account(buyer.account).ok_or(document::NO_PAYABLE_OPTION)?;
        let on_network = |option: &&Value| option.get("network").and_then(Value::as_str) == Some(&account.network);
        let accepted = advertised.options.iter().find(on_network).ok_or(document::NO_PAYABLE_OPTION)?;
        let order = Order { required: &advertised.document, accepted };
        let mut choice = Object::new().with("required", order.required).with("accepted", order.accepted);
        for (name, value) in self.0.choose(&order, &account, buyer)?.iter() {
            choice.set(name.clone(), value);
        }
        Ok(choice)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        self.0.build(chosen)
    }

    fn moves(&self, request: &Value) -> bool {
        self.0.moves(request)
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        self.0.bound(&Payment::read(&self.0, payment)?)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        self.0.channel()
    }
}

/// The wallet's part of a payment: what it is asked, and the payload its answer makes.
pub(crate) trait Payload: Send {
    fn request(&self) -> Result<Value, Refusal>;

    fn complete(&self, answer: &Value) -> Result<Object, Refusal>;
}

/// A payload in its x402 envelope.
pub(crate) struct Enveloped<P> {
    required: Value,
    accepted: Value,
    reference: Value,
    payload: P,
}

impl<P: Payload> Enveloped<P> {
    pub(crate) fn new(order: &Order<'_>, reference: &Value, payload: P) -> Self {
        Self { required: order.required.clone(), accepted: order.accepted.clone(), reference: reference.clone(), payload }
    }
}

impl<P: Payload> Unsigned for Enveloped<P> {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        self.payload.request().map(Some)
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let payload = self.payload.complete(answer)?;
        let extensions = document::echoed_extensions(&self.required, &self.reference)?;
        let signed = Object::new()
            .with("x402Version", 2u32)
            .with_some("resource", self.required.get("resource"))
            .with("accepted", &self.accepted)
            .with("payload", payload)
            .with_some("extensions", extensions);
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}

/// Documents and choices to test with, over the hash of [`sample::ATR`].
#[cfg(test)]
pub(crate) mod sample {
    use super::*;
    use crate::ConfirmedHash;

    pub(crate) use crate::mpp::sample::{object, parsed};

    pub(crate) const ATR: &[u8] = b"terms";

    pub(crate) fn h() -> Hash {
        Hash::of(ATR)
    }

    /// A document of options, over the hash of an ATR.
    pub(crate) fn document(atr: &[u8], options: &[Object]) -> Object {
        let info = Object::new().with("type", "sha256").with("value", &Hash::of(atr)).with("legalContextUrl", "https://a.example/");
        let context = Object::new().with("legalContext", Object::new().with("info", info));
        let options: Vec<Value> = options.iter().cloned().map(Value::from).collect();
        Object::new().with("x402Version", 2u32).with("accepts", options).with("extensions", context)
    }

    pub(crate) fn choose(pairing: &dyn Pairing, account: &str, document: &Value, inputs: &Object) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs, now: 1_790_000_000, random: &|bytes| bytes.fill(7) };
        pairing.choose(&pairing.read(document)?, &buyer)
    }

    pub(crate) fn build(pairing: &dyn Pairing, atr: &[u8], choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        pairing.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(atr), atr })
    }

    pub(crate) fn request(unsigned: &dyn Unsigned) -> Value {
        unsigned.request().unwrap().unwrap()
    }

    /// The payment that an answer makes.
    pub(crate) fn paid(unsigned: &dyn Unsigned, answer: &Value) -> Result<Value, Refusal> {
        match unsigned.complete(answer)? {
            Completed::Payment { signed, .. } => Ok(signed),
            Completed::Next(request) => panic!("asks for more: {request:?}"),
        }
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
            let info = Object::new().with("type", "sha256").with("value", &h()).with("legalContextUrl", "https://a.example/");
            let context = Object::new().with("legalContext", Object::new().with("info", info));
            let document = Object::new().with("x402Version", 2u32).with("accepts", [self.option.clone().into()]).with("extensions", context);
            let buyer = Buyer { account: self.account, inputs: &self.inputs, now: 1_790_000_000, random: &|_| {} };
            self.pairing.choose(&self.pairing.read(&document.into()).unwrap(), &buyer).unwrap()
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
}
