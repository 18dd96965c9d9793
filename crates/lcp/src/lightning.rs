//! What the pairings on Lightning share, whichever protocol they speak.

use crate::{Object, Refusal, Value, wire::bolt11::Currency};

/// An invoice is of another currency than the network's.
pub(crate) const CURRENCY_NETWORK: Refusal = Refusal::new("ln/currency-network");
const PREIMAGE_MALFORMED: Refusal = Refusal::new("ln/preimage-malformed");

/// The currency of invoices on a CAIP-2 network.
pub(crate) fn currency(network: &str) -> Option<Currency> {
    match network.strip_prefix("lnbtc:")? {
        "000000000019d6689c085ae165831e93" => Some(Currency::Bitcoin),
        // The third and the fourth test network.
        "000000000933ea01ad0ee984209779ba" | "00000000da84f2bafbbc53dee25a72ae" => Some(Currency::Testnet),
        "00000008819873e925422c1ff0f99f7c" => Some(Currency::Signet),
        "0f9188f13cb7b2c71f2a335e3a4fc328" => Some(Currency::Regtest),
        _ => None,
    }
}

/// What asks the wallet to pay an invoice.
pub(crate) fn pay_request(invoice: &Value) -> Value {
    Object::new().with("kind", "bolt11-pay").with("invoice", invoice).into()
}

/// The wallet's answer: the preimage of the payment hash.
pub(crate) fn preimage(answer: &Value) -> Result<&str, Refusal> {
    answer.as_str().filter(|text| is_hex(text, 32)).ok_or(PREIMAGE_MALFORMED)
}

/// Whether the text is that many bytes in small hex digits, without a prefix.
pub(crate) fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
