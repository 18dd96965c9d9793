//! What a pairing is: how H rides in one payment protocol, scheme and rail.
//!
//! A document's way: [`Pairing::read`] finds what is advertised, [`Pairing::choose`] picks what this buyer pays, the
//! gate compares the served bytes, [`Pairing::build`] makes the unsigned payment over the confirmed hash,
//! [`Unsigned::complete`] joins the wallet's answer, and [`Pairing::bound`] reads H back.

use crate::{ConfirmedHash, Declined, Hash, Object, Refusal, Value, legal_context::LegalContext};

/// One pairing of payment protocol, scheme and rail.
pub trait Pairing: Sync {
    /// The pairing's id, such as `x402/exact/eip155/eip3009`.
    fn id(&self) -> &'static str;

    /// Whether the payment itself proves the agreement to the public. If not, an agreement is paid first.
    fn public_proof(&self) -> bool {
        true
    }

    /// Finds what the seller's document advertises for this pairing.
    fn read(&self, document: &Value) -> Result<Advertised, Refusal>;

    /// Chooses what this buyer pays. The answer is kept by the caller between confirm and finish, as JSON.
    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal>;

    /// Builds the unsigned payment over H from a choice. A refusal that
    /// [leaves nothing to sign](Refusal::leaves_nothing_to_sign) is no fault: the buyer signs nothing here.
    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal>;

    /// Whether the signer's acting on this request moves the money, so that its answer must not be lost.
    fn moves(&self, request: &Value) -> bool {
        broadcasts(request)
    }

    /// Reads H from a payment, with the receipt of its landing beside it where the caller holds one.
    fn bound(&self, payment: &Value, landed: Option<&Value>) -> Result<Hash, Refusal>;

    /// The channel that this pairing's payments open, if it has one.
    fn channel(&self) -> Option<&dyn Channel> {
        None
    }
}

/// Whether a request asks the signer to send what it signs.
pub(crate) fn broadcasts(request: &Value) -> bool {
    request.get("broadcast") == Some(&Value::Bool(true))
}

/// What a document advertises.
#[derive(Clone, Debug)]
pub struct Advertised {
    /// The advertised hash.
    pub h: Hash,
    /// The ATR's link, as written.
    pub link: String,
    /// The agreement URL, if one is named.
    pub agreement: Option<String>,
    /// The document.
    pub document: Value,
    /// What can be paid, in the document's order: x402 options or MPP challenges. Empty where the document is the offer.
    pub options: Vec<Value>,
}

impl Advertised {
    /// What a document advertises that is the offer itself.
    pub(crate) fn whole(context: LegalContext, document: &Value) -> Self {
        let LegalContext { h, link, agreement } = context;
        Self { h, link, agreement, document: document.clone(), options: Vec::new() }
    }
}

/// Who pays, and what the choice may draw on.
pub struct Buyer<'a> {
    /// The payer, CAIP-10; judged by the pairing.
    pub account: &'a str,
    /// The buyer's own values.
    pub inputs: &'a Object,
    /// Unix seconds.
    pub now: u64,
    /// Fills a buffer with random bytes.
    pub random: &'a (dyn Fn(&mut [u8]) + Sync),
}

/// A choice to build, over the hash of the confirmed bytes.
pub struct Choice<'a> {
    /// What [`Pairing::choose`] gave.
    pub choice: &'a Object,
    /// What names the payment where a seller asks for a payment identifier: the 32 characters drawn at confirm. What came
    /// back in their place is written as it stands.
    pub reference: &'a Value,
    /// H.
    pub h: &'a ConfirmedHash,
    /// The ATR's bytes.
    pub atr: &'a [u8],
}

/// A payment that waits for the wallet.
pub trait Unsigned: Send {
    /// What the wallet is asked to sign; `None` where the build already is the payment.
    fn request(&self) -> Result<Option<Value>, Refusal>;

    /// Joins the wallet's answer: the first answer alone, or all answers in order for a payment signed in steps.
    fn complete(&self, answer: &Value) -> Result<Completed, Refusal>;
}

/// What an answer made of an unsigned payment.
#[derive(Clone, Debug, PartialEq)]
pub enum Completed {
    /// Another request is to be signed.
    Next(Value),
    /// The payment to send.
    Payment {
        /// The payment.
        signed: Value,
        /// The receipt of its landing, which is held beside it and never sent.
        landed: Option<Value>,
    },
}

/// A channel: one opening that carries H, then many payments inside it.
pub trait Channel: Sync {
    /// What a payment does to a channel.
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal>;

    /// The channel that a payment names.
    fn reference(&self, payment: &Value, landed: Option<&Value>) -> Result<ChannelRef, Refusal>;

    /// How later payments are built inside it, if this gate can.
    fn within(&self) -> Option<&dyn Within> {
        None
    }
}

/// What a payment does to its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAct {
    /// Opens it.
    Open,
    /// Pays inside it, or takes part of it back.
    Within,
    /// Closes it.
    Close,
}

/// A channel's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRef {
    /// The CAIP-2 network.
    pub network: String,
    /// The channel's id on it.
    pub channel: String,
}

/// Payments inside a held channel.
pub trait Within: Sync {
    /// Builds the next payment that a document asks for, or a refund.
    fn build(&self, ask: &WithinAsk<'_>) -> Result<WithinBuild, Declined>;

    /// Reads H from a payment inside a channel. A payment that carries none is refused `.../not-bound-within`.
    fn bound(&self, payment: &Value) -> Result<Hash, Refusal>;
}

/// What is asked of a held channel.
pub struct WithinAsk<'a> {
    /// The seller's new document.
    pub document: &'a Value,
    /// H of the held ATR.
    pub h: &'a ConfirmedHash,
    /// The held channel.
    pub held: &'a ChannelRef,
    /// The signed opening.
    pub opening: &'a Value,
    /// The opening's receipt, where one is held.
    pub landed: Option<&'a Value>,
    /// The seller's cumulative charge, decimal.
    pub charged: &'a str,
    /// A refund instead of a payment.
    pub refund: Option<&'a Object>,
    /// The buyer's own values.
    pub inputs: &'a Object,
    /// 32 characters drawn for this payment.
    pub reference: &'a Value,
}

/// A payment inside a channel that waits for the wallet.
pub struct WithinBuild {
    /// The payment; its request is a batch.
    pub unsigned: Box<dyn Unsigned>,
    /// What is signed for in all, decimal.
    pub signed_for: String,
    /// What the payment must turn out to do.
    pub act: ChannelAct,
}
