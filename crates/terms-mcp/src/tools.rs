//! The eight tools. Each file says all of one: its name and words, its arguments, its effect, and its call of the gate.

pub(crate) mod agree;
pub(crate) mod channel_open;
pub(crate) mod channel_record_charge;
pub(crate) mod channel_within;
pub(crate) mod check;
pub(crate) mod confirm;
pub(crate) mod finish;
pub(crate) mod transact;

use lcp::{Declined, Object, Pairing, Value};
use terms::Decline;

use crate::{
    arguments::{Argument, Kind, Refused, optional, required},
    seal::{self, Unverified},
};

/// A tool.
pub(crate) struct Tool {
    pub(crate) id: Id,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) effect: Effect,
    pub(crate) needs: Needs,
    /// Whether its result holds an ATR, twice and in text too, which is more than a host expects of a tool.
    pub(crate) returns_atr: bool,
}

/// Which tool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Id {
    Confirm,
    Finish,
    Check,
    Transact,
    Agree,
    ChannelOpen,
    ChannelRecordCharge,
    ChannelWithin,
}

/// What a tool does to the world.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Nothing.
    Reads {
        /// Whether it reaches the network.
        open_world: bool,
    },
    /// The host's wallet signs.
    Signs,
}

/// Which wallet a tool needs.
#[derive(Clone, Copy)]
pub(crate) enum Needs {
    Nothing,
    Signer,
    /// The signer or the agreement signer.
    AnySigner,
}

/// All tools, in the order in which they are listed.
pub(crate) static TOOLS: [&Tool; 8] = [
    &confirm::TOOL,
    &finish::TOOL,
    &check::TOOL,
    &transact::TOOL,
    &agree::TOOL,
    &channel_open::TOOL,
    &channel_record_charge::TOOL,
    &channel_within::TOOL,
];

/// Why a call gives no result.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The arguments do not fit the schema. This is no decline: the gate was not asked.
    Refused(Refused),
    /// The gate declined.
    Declined(Box<Decline>),
    /// A value does not bear its mac. The gate was not asked.
    Unverified(Unverified),
    /// The server has no wallet for this tool.
    NotOffered,
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Decline> for Stop {
    fn from(decline: Decline) -> Self {
        Self::Declined(Box::new(decline))
    }
}

impl From<Declined> for Stop {
    fn from(declined: Declined) -> Self {
        Decline::from(declined).into()
    }
}

impl From<Unverified> for Stop {
    fn from(unverified: Unverified) -> Self {
        Self::Unverified(unverified)
    }
}

// Arguments that several tools take.

const PAIRING: Argument = required("pairing", Kind::Pairing, "The pairing of payment protocol, scheme and rail.");
const ATR: Argument = required(
    "atr",
    Kind::Base64,
    "The ATR's bytes: atr.base64 as returned. Padded standard base64 in its canonical form; anything else is malformed.",
);
const CHOSEN: Argument = required("chosen", Kind::Object(&[]), "chosen from atr_confirm, exactly as returned, mac included.");
const HOLD: Argument = required("hold", Kind::Object(&[]), "The latest hold of the channel, exactly as returned, mac included.");
const DOCUMENT: Argument =
    required("document", Kind::Json, "The seller's payment request as JSON: an x402 PaymentRequired, MPP challenges, or the pairing's own document.");
const INPUTS: Argument = optional(
    "inputs",
    Kind::Object(&[]),
    "The buyer's own values that the pairing's build needs. A decline whose detail ends in input-missing says that one is absent.",
);
const LANDED: Argument = optional(
    "landed",
    Kind::Json,
    "The landed receipt that atr_finish or atr_transact returned beside the payment, exactly as returned. Null is none. A value from another party does not belong here.",
);
const APPROVED: Argument = optional(
    "approved",
    Kind::Object(&[
        required("url", Kind::Text, "The agreement URL."),
        required("option", Kind::Object(&[]), "The option to pay."),
        required("required", Kind::Object(&[]), "The payment request that offers it."),
    ]),
    "approve from an earlier call, unchanged: the agreement payment that was approved. Each call with it signs and sends a new payment.",
);

/// Adds the mac of a channel's opening beside it: for a pairing with a channel, where a payment was signed.
fn with_opening_mac(result: Object, pairing: &dyn Pairing) -> Object {
    let signed = result.get("signed").filter(|signed| !signed.is_null() && pairing.channel().is_some());
    let mac = signed.map(|signed| seal::opening(pairing.id(), signed, result.get("landed")));
    result.with_some("mac", mac)
}

/// A receipt that a caller gave: null is none.
fn receipt(landed: Option<&Value>) -> Option<&Value> {
    landed.filter(|landed| !landed.is_null())
}
