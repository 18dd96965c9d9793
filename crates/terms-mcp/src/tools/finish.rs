//! `atr_finish`: joins the wallet's answer and reads the hash back.

use lcp::Object;

use super::{ATR, CHOSEN, Effect, Id, Needs, PAIRING, Stop, Tool, with_opening_mac};
use crate::{
    arguments::{Arguments, Kind, required},
    seal,
};

pub(crate) const TOOL: Tool = Tool {
    id: Id::Finish,
    name: "atr_finish",
    title: "Finish the signed payment",
    description: "After the wallet signed the request of atr_confirm. Rebuilds the payment from chosen and the ATR's bytes, joins the signature, and reads \
                  the hash back from the payment. Returns atrHash and signed, the payment to send, with landed where there is a receipt of its landing and mac \
                  where it opens a channel; or atrHash and next, the request to sign next in a payment signed in steps. Where the proof is the agreement \
                  payment, signed is returned without that reading. Nothing is fetched.",
    arguments: &[
        PAIRING,
        ATR,
        CHOSEN,
        required(
            "signature",
            Kind::Json,
            "The wallet's answer to request, in the form its kind names; after next, the list of all answers in order.",
        ),
    ],
    effect: Effect::Reads { open_world: false },
    needs: Needs::Nothing,
    returns_atr: false,
};

pub(crate) fn call(arguments: &Arguments) -> Result<Object, Stop> {
    let (pairing, atr) = (arguments.pairing()?, arguments.bytes("atr")?);
    let pairing = terms::pairing(pairing)?;
    let chosen = arguments.object("chosen")?;
    // Without a channel nothing is trusted that is not built again, so the mac is not read.
    let chosen = if pairing.channel().is_some() { seal::verified_chosen(chosen)? } else { chosen.without("mac") };
    let finished = terms::finish(pairing, &atr, &chosen.into(), arguments.json("signature")?)?;
    Ok(with_opening_mac(finished.to_json(), pairing))
}
