//! What the x402 pairings on Hedera share.

use super::{
    Unserved,
    option::{amount, names, timeout},
};
use crate::{
    Object, Value,
    hedera::{self, OPTION_MALFORMED},
    wire::hedera::EntityId,
};

/// How an option's money moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// By a transaction of the buyer's.
    CryptoTransfer,
    /// By an executor that the buyer authorizes.
    TransferExecutor,
}

/// Whether an option is of scheme `exact` on Hedera and of a method, and what a pairing asks of its `extra` is there. One of
/// a method that neither pairing knows is refused by both.
pub(crate) fn serves(method: Method, option: &Object, test: impl Fn(&Object) -> bool) -> Result<(), Unserved> {
    let on_hedera = |network: &str| network.starts_with("hedera:");
    let network = option.get("network").and_then(Value::as_str).filter(|network| on_hedera(network));
    let (true, Some(network)) = (names(option, "scheme", "exact"), network) else { return Err(Unserved::Other) };
    let extra = option.get("extra").and_then(Value::as_object);
    let named = match extra.and_then(|extra| extra.get("assetTransferMethod")).map(Value::as_str) {
        None | Some(Some("cryptoTransfer")) => Some(Method::CryptoTransfer),
        Some(Some("transferExecutor")) => Some(Method::TransferExecutor),
        Some(_) => None,
    };
    if named.is_some_and(|named| named != method) {
        return Err(Unserved::Other);
    }
    let payable = named.is_some()
        && hedera::is_network(network)
        && ["asset", "payTo"].iter().all(|name| EntityId::of(option, name).is_some())
        && price(option).is_some()
        && timeout(option).is_some()
        && extra.is_some_and(test);
    if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
}

/// The option's amount, positive.
pub(crate) fn price(option: &Object) -> Option<i64> {
    amount(option).and_then(hedera::amount).filter(|price| *price > 0)
}
