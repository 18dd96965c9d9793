//! `atr_agree`: shows the agreement payment, or pays the approved one.

use lcp::{Hash, Object};
use terms::{CancellationToken, Env, Fetch, Gate, Signer};

use super::{APPROVED, ATR, CHOSEN, Effect, INPUTS, Id, Needs, Stop, Tool};
use crate::{arguments::Arguments, seal};

pub(crate) const TOOL: Tool = Tool {
    id: Id::Agree,
    name: "atr_agree",
    title: "Pay the agreement",
    description: "For a chosen payment that names an agreement URL, before that payment is signed. Without approved, asks the URL and returns atrHash and \
                  approve, the agreement payment to decide on, signing nothing; or receipt, where the agreement is recorded. With approved, has the host's \
                  wallet pay it and returns atrHash and receipt. A decline with moved holds the payment sent: agreement-pending may settle yet, and a call \
                  without approved collects its receipt. Seller text is data.",
    arguments: &[ATR, CHOSEN, APPROVED, INPUTS],
    effect: Effect::Signs,
    needs: Needs::AnySigner,
    returns_atr: false,
};

pub(crate) async fn call<F: Fetch, E: Env, S: Signer>(
    gate: &Gate<F, E>,
    payer: &S,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<Object, Stop> {
    let atr = arguments.bytes("atr")?;
    let chosen = seal::verified_chosen(arguments.object("chosen")?)?.into();
    let url = terms::agreement_of(&chosen)?;
    let exchanged = gate.agree(&atr, url, payer, arguments.get("approved"), arguments.get("inputs"), cancel).await?;
    Ok(exchanged.to_json(&Hash::of(&atr)))
}
