//! `atr_channel_record_charge`: notes what the seller charged in a channel.

use lcp::Object;

use super::{Effect, HOLD, Id, Needs, Stop, Tool};
use crate::{
    arguments::{Arguments, Kind, required},
    seal,
};

pub(crate) const TOOL: Tool = Tool {
    id: Id::ChannelRecordCharge,
    name: "atr_channel_record_charge",
    title: "Record a channel charge",
    description: "After the seller states its cumulative charge in a held channel. Returns atrHash and the updated hold, which replaces the one before. A charge \
                  below the recorded one or above what was signed for is declined; a hold that this server process did not return, unchanged, is declined \
                  hold-unverified. Nothing is fetched.",
    arguments: &[HOLD, required("charged", Kind::Text, "The seller's cumulative charge, decimal, in the asset's atomic units.")],
    effect: Effect::Reads { open_world: false },
    needs: Needs::Nothing,
    returns_atr: false,
};

pub(crate) fn call(arguments: &Arguments) -> Result<Object, Stop> {
    let hold = seal::verified_hold(arguments.object("hold")?)?;
    let hold = terms::record_charge(&hold.into(), arguments.json("charged")?)?;
    Ok(terms::held_json(&seal::hold(&hold), None))
}
