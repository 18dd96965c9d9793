//! Charges of the method `usdc`, which name the one profile that they are paid by.

use super::{NOT_THIS_PAIRING, Offer, REQUEST_MALFORMED};
use crate::{
    Object, Refusal, Value, encoding, json,
    wire::evm::{self, Word},
};

const USDC_PROFILE: Refusal = Refusal::new("mpp/usdc-profile");
const REQUEST_NOT_JCS: Refusal = Refusal::new("mpp/request-not-jcs");

const PROFILES: [&str; 4] = ["evm", "solana", "stacks", "gateway"];

/// Most digits of an amount.
const MAX_DIGITS: usize = 78;

/// A charge of one profile.
pub(crate) struct Charge<'a> {
    /// The profile's own details.
    pub(crate) profile: &'a Object,
    /// A positive decimal of at most 78 digits.
    pub(crate) amount: &'a str,
    pub(crate) recipient: &'a Value,
}

impl<'a> Charge<'a> {
    /// Reads the offer's request, which must be of that profile.
    pub(crate) fn of(offer: &'a Offer<'_>, name: &str) -> Result<Self, Refusal> {
        let details = offer.details();
        let named = details.get("type").and_then(Value::as_str).filter(|named| PROFILES.contains(named)).ok_or(USDC_PROFILE)?;
        let profile = details.get(named).and_then(Value::as_object).ok_or(USDC_PROFILE)?;
        if PROFILES.into_iter().any(|other| other != named && details.has(other)) {
            return Err(USDC_PROFILE);
        }
        let amount = offer.request.get("amount").and_then(Value::as_str);
        let amount = amount.filter(|amount| amount.len() <= MAX_DIGITS && evm::is_amount(amount)).ok_or(REQUEST_MALFORMED)?;
        let recipient = offer.request.get("recipient").filter(|recipient| recipient.as_text().is_some()).ok_or(REQUEST_MALFORMED)?;
        if named == name { Ok(Self { profile, amount, recipient }) } else { Err(NOT_THIS_PAIRING) }
    }
}

/// The hash of a request that must be written in its RFC 8785 form.
pub(crate) fn request_hash(offer: &Offer<'_>) -> Result<String, Refusal> {
    let canonical = json::canonical(&offer.request.clone().into()).ok_or(REQUEST_NOT_JCS)?;
    let is_written_so = offer.challenge.request_text() == Some(encoding::base64url(canonical.as_bytes()).as_str());
    if is_written_so { Ok(encoding::hex(&evm::keccak(canonical.as_bytes()))) } else { Err(REQUEST_NOT_JCS) }
}

/// Names the challenge: Keccak-256 of the RFC 8785 form of its id, its realm, its request's hash, and `more`.
pub(crate) fn derivation(offer: &Offer<'_>, more: Object) -> Result<Word, Refusal> {
    let preimage = more
        .with_some("id", offer.challenge.id.cloned())
        .with("realm", offer.challenge.realm.clone())
        .with("requestHash", request_hash(offer)?)
        .with("method", "usdc")
        .with("intent", "charge");
    json::canonical(&preimage.into()).map(|text| evm::keccak(text.as_bytes())).ok_or(REQUEST_MALFORMED)
}
