//! MPP, the Machine Payments Protocol: what its pairings share.
//!
//! A seller answers with a list of challenges. One that carries H names it in its opaque and derives its id from it; the
//! buyer's credential echoes the challenge beside the payment's payload.

pub(crate) mod attribution;
pub(crate) mod challenge;
pub(crate) mod credential;
pub(crate) mod evm;
pub(crate) mod hedera;
pub(crate) mod lightning;
pub(crate) mod session;
pub(crate) mod signs_nothing;
pub(crate) mod solana;
pub(crate) mod stripe;
pub(crate) mod tempo;
pub(crate) mod usdc;
pub(crate) mod xrpl;

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Advertised, Buyer, Channel, Choice, Pairing, Unsigned, broadcasts},
};
use challenge::{Challenge, ID_NOT_OURS};
use credential::{Credential, least};

pub(crate) const NOT_THIS_PAIRING: Refusal = Refusal::new("mpp/not-this-pairing");
pub(crate) const REQUEST_MALFORMED: Refusal = Refusal::new("mpp/request-malformed");
pub(crate) const CHOICE_MALFORMED: Refusal = Refusal::new("mpp/choice-malformed");
pub(crate) const NO_SIGNED_PLACE: Refusal = Refusal::new("mpp/no-signed-place");
/// The payment names another hash than its challenge.
pub(crate) const CARRIER_NOT_CHALLENGE: Refusal = Refusal::new("mpp/carrier-not-challenge");
pub(crate) const NO_PAYABLE_OPTION: Refusal = Refusal::new("mpp/no-payable-option");
pub(crate) const INPUT_MISSING: Refusal = Refusal::new("mpp/input-missing");
pub(crate) const INPUT_MALFORMED: Refusal = Refusal::new("mpp/input-malformed");

/// What sets one MPP pairing apart; [`Mpp`] makes a [`Pairing`] of it.
pub(crate) trait Method: Sync {
    /// The pairing's id, which names the intent and the method of its challenges: `mpp/<intent>/<method>`, and for a
    /// method with several ways to pay, the way.
    fn id(&self) -> &'static str;

    fn public_proof(&self) -> bool {
        true
    }

    /// Whether this pairing pays an offer of its intent and method. One that another pairing of them pays is
    /// [`NOT_THIS_PAIRING`].
    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal>;

    /// The CAIP-2 network that an offer is paid on, if its method names one.
    fn network(&self, _offer: &Offer<'_>) -> Option<String> {
        None
    }

    /// Whether the account can pay the offer, which most methods judge by its network.
    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        Account::parse(account).is_some_and(|account| self.network(offer) == Some(account.network))
    }

    /// The members of the choice beside `challenge`. The account can pay the offer.
    fn choose(&self, offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal>;

    /// Builds from a choice, whose challenge [`Offer::chosen`] reads.
    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal>;

    /// See [`Pairing::moves`].
    fn moves(&self, request: &Value) -> bool {
        broadcasts(request)
    }

    /// Reads H from a credential whose challenge is an offer of this pairing.
    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal>;

    fn channel(&self) -> Option<&dyn Channel> {
        None
    }
}

/// A challenge that a pairing pays.
pub(crate) struct Offer<'a> {
    pub(crate) challenge: Challenge<'a>,
    /// The hash that the challenge carries or, inside a held channel, that of the channel.
    pub(crate) h: Hash,
    /// The challenge's decoded request.
    pub(crate) request: Object,
    /// When the challenge expires, in Unix seconds, if it does.
    pub(crate) expires: Option<i64>,
}

impl<'a> Offer<'a> {
    /// Judges a challenge, which must carry a hash.
    fn of(method: &dyn Method, challenge: Challenge<'a>) -> Result<Self, Refusal> {
        challenge.judge_realm()?;
        let (h, _) = challenge.carried()?;
        Self::over(method, challenge, h)
    }

    /// Judges a challenge that is paid over a hash, whatever it carries.
    fn over(method: &dyn Method, challenge: Challenge<'a>, h: Hash) -> Result<Self, Refusal> {
        let request = challenge.request()?;
        if !challenge.is_for(method) {
            return Err(NOT_THIS_PAIRING);
        }
        let expires = challenge.expires()?;
        if request.get("methodDetails").is_some_and(|details| details.as_object().is_none()) {
            return Err(REQUEST_MALFORMED);
        }
        let offer = Self { challenge, h, request, expires };
        method.pays(&offer)?;
        Ok(offer)
    }

    /// The challenge of a choice, held to the pairing and to H.
    pub(crate) fn chosen(method: &dyn Method, chosen: &Choice<'a>) -> Result<Self, Refusal> {
        let offer = Self::kept(method, chosen)?;
        offer.judge_h(chosen)?;
        Ok(offer)
    }

    /// The challenge of a choice, held to the pairing alone.
    pub(crate) fn kept(method: &dyn Method, chosen: &Choice<'a>) -> Result<Self, Refusal> {
        Self::of(method, least(chosen.choice.get("challenge"))?)
    }

    /// Whether the challenge carries H.
    pub(crate) fn judge_h(&self, chosen: &Choice<'_>) -> Result<(), Refusal> {
        if self.h == **chosen.h { Ok(()) } else { Err(ID_NOT_OURS) }
    }

    /// The request's `methodDetails`; none where they are absent.
    pub(crate) fn details(&self) -> &Object {
        details(&self.request)
    }
}

/// Whether a choice holds a challenge, as it must but where [`Offer::chosen`] alone judges it.
pub(crate) fn judge_choice(choice: &Object) -> Result<(), Refusal> {
    if choice.get("challenge").is_some_and(|challenge| challenge.as_object().is_some()) { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// The `methodDetails` of a request; none where they are absent.
pub(crate) fn details(request: &Object) -> &Object {
    static NONE: Object = Object::new();
    request.get("methodDetails").and_then(Value::as_object).unwrap_or(&NONE)
}

/// A [`Method`] as a [`Pairing`].
pub(crate) struct Mpp<M>(pub(crate) M);

impl<M: Method> Pairing for Mpp<M> {
    fn id(&self) -> &'static str {
        self.0.id()
    }

    fn public_proof(&self) -> bool {
        self.0.public_proof()
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        challenge::advertised(document)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let mut offers = advertised.options.iter().filter_map(|option| Offer::of(&self.0, Challenge::read(option)?).ok());
        let offer = offers.find(|offer| self.0.serves_account(offer, buyer.account)).ok_or(NO_PAYABLE_OPTION)?;
        Ok(self.0.choose(&offer, buyer)?.with("challenge", offer.challenge.whole))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        self.0.build(chosen)
    }

    fn moves(&self, request: &Value) -> bool {
        self.0.moves(request)
    }

    fn bound(&self, payment: &Value, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let credential = Credential::read(payment)?;
        let offer = Offer::of(&self.0, credential.challenge.clone())?;
        self.0.bound(&offer, &credential, landed)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        self.0.channel()
    }
}

/// Challenges to test with, over the hash of [`sample::ATR`].
#[cfg(test)]
pub(crate) mod sample {
    use crate::{
        ConfirmedHash, Hash, Object, Refusal, Value, encoding, json,
        pairing::{Buyer, Choice, Completed, Pairing, Unsigned},
    };

    pub(crate) const LINK: &str = "https://atr.seller.example/x";
    pub(crate) const AGREEMENT: &str = "https://agree.seller.example/a";
    pub(crate) const ATR: &[u8] = b"abc";
    pub(crate) const PAYER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    pub(crate) const TOKEN: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    pub(crate) const RECIPIENT: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

    pub(crate) fn h() -> Hash {
        Hash::of(ATR)
    }

    /// A request or an opaque as a challenge writes it.
    pub(crate) fn encoded(object: Object) -> String {
        encoding::base64url(json::write(&object.into()).as_bytes())
    }

    pub(crate) fn opaque(h: &Hash) -> Object {
        Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", LINK).with("legalContextAgreementUrl", AGREEMENT)
    }

    /// The first challenge over H of an intent and method.
    pub(crate) fn challenge(h: &Hash, intent: &str, method: &str, request: Object) -> Object {
        Object::new()
            .with("id", encoding::base64url(h.bytes()) + ".0")
            .with("realm", "api.seller.example")
            .with("method", method)
            .with("intent", intent)
            .with("request", encoded(request))
            .with("opaque", encoded(opaque(h)))
            .with("expires", "2030-01-01T00:00:00Z")
    }

    pub(crate) fn credential(challenge: Object) -> Value {
        Object::new().with("challenge", challenge).with("payload", Object::new()).into()
    }

    /// JSON to test with, of single quotes.
    pub(crate) fn parsed(text: &str) -> Value {
        json::parse(&text.replace('\'', "\""), json::MAX_DEPTH).unwrap()
    }

    pub(crate) fn object(text: &str) -> Object {
        parsed(text).as_object().unwrap().clone()
    }

    /// What a pairing chooses of one challenge, for the payer on a network.
    pub(crate) fn choose(pairing: &dyn Pairing, network: &str, challenge: Object, inputs: &str) -> Result<Object, Refusal> {
        let account = format!("{network}:{PAYER}");
        let buyer = Buyer { account: &account, inputs: &object(inputs), now: 1_790_000_000, random: &|_| () };
        pairing.choose(&pairing.read(&[challenge.into()].into())?, &buyer)
    }

    pub(crate) fn build(pairing: &dyn Pairing, choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        pairing.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR })
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

    /// The payment with a member of its payload changed.
    pub(crate) fn with_payload(payment: &Value, name: &str, value: impl Into<Value>) -> Value {
        let payment = payment.as_object().unwrap().clone();
        let payload = payment.get("payload").unwrap().as_object().unwrap().clone().with(name, value);
        payment.with("payload", payload).into()
    }
}
