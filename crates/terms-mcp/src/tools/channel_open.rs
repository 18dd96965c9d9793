//! `atr_channel_open`: keeps a channel that was opened.

use lcp::Object;

use super::{ATR, Effect, Id, LANDED, Needs, PAIRING, Stop, Tool, receipt};
use crate::{
    arguments::{Arguments, Kind, required},
    seal,
};

pub(crate) const TOOL: Tool = Tool {
    id: Id::ChannelOpen,
    name: "atr_channel_open",
    title: "Keep an opened channel",
    description: "After atr_finish or atr_transact returned a signed channel opening with its mac. Returns atrHash and hold, the channel as the later channel \
                  calls take it: opaque, and good only while this server process runs. An opening that this process did not return, with this landed \
                  receipt, is declined opening-unverified. Nothing is fetched.",
    arguments: &[
        PAIRING,
        ATR,
        required("signed", Kind::Json, "The signed opening, exactly as returned."),
        LANDED,
        required("mac", Kind::Text, "The mac returned beside the opening."),
    ],
    effect: Effect::Reads { open_world: false },
    needs: Needs::Nothing,
    returns_atr: false,
};

pub(crate) fn call(arguments: &Arguments) -> Result<Object, Stop> {
    let (pairing, atr) = (arguments.pairing()?, arguments.bytes("atr")?);
    let (signed, landed) = (arguments.json("signed")?, receipt(arguments.get("landed")));
    seal::verify_opening(pairing, signed, landed, arguments.json("mac")?)?;
    let hold = terms::open_channel(terms::pairing(pairing)?, &atr, signed, landed)?;
    Ok(terms::held_json(&seal::hold(&hold), None))
}
