//! Charges of the method `usdc`, which name the one profile that they are paid by.

use super::{
    Offer, REQUEST_MALFORMED,
    challenge::EXPIRES_REQUIRED,
    evm,
    solana::{self, Cluster},
};
use crate::{
    Object, Refusal, Text, Value, encoding, json,
    wire::{
        evm::{self as wire, Word},
        stacks,
    },
};

const USDC_PROFILE: Refusal = Refusal::new("mpp/usdc-profile");
const REQUEST_NOT_JCS: Refusal = Refusal::new("mpp/request-not-jcs");

const PROFILES: [&str; 4] = ["evm", "solana", "stacks", "gateway"];

/// Most digits of an amount.
const MAX_DIGITS: usize = 78;

/// A charge.
pub(crate) struct Charge<'a> {
    pub(crate) profile: Profile<'a>,
    /// A positive decimal of at most 78 digits.
    pub(crate) amount: &'a str,
    pub(crate) recipient: &'a Text,
}

/// How a charge is paid.
pub(crate) enum Profile<'a> {
    Evm { chain_id: u64, currency: &'a str, recipient: &'a str },
    Gateway(&'a Object),
    Solana(solana::Charge<'a>),
    Stacks(Stacks<'a>),
}

/// The token's contract on Stacks.
#[derive(Clone, Copy)]
pub(crate) struct Stacks<'a> {
    pub(crate) chain_id: u32,
    pub(crate) address: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> Stacks<'a> {
    fn of(profile: &'a Object) -> Option<Self> {
        let text = |name| profile.get(name).and_then(Value::as_str);
        let chain_id = text("chainId").filter(|digits| encoding::is_decimal(digits, 10) && encoding::plain_decimal(digits) == *digits)?;
        let address = text("contractAddress").filter(|address| stacks::is_address(address))?;
        let name = text("contractName").filter(|name| stacks::is_contract_name(name))?;
        Some(Self { chain_id: chain_id.parse().ok()?, address, name })
    }
}

impl<'a> Charge<'a> {
    /// Reads the offer's request.
    pub(crate) fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let (request, details) = (&offer.request, offer.details());
        let named = details.get("type").and_then(Value::as_str).filter(|named| PROFILES.contains(named)).ok_or(USDC_PROFILE)?;
        let profile = details.get(named).and_then(Value::as_object).ok_or(USDC_PROFILE)?;
        if PROFILES.into_iter().any(|other| other != named && details.has(other)) {
            return Err(USDC_PROFILE);
        }
        let amount = request.get("amount").and_then(Value::as_str);
        let amount = amount.filter(|amount| amount.len() <= MAX_DIGITS && wire::is_amount(amount)).ok_or(REQUEST_MALFORMED)?;
        let recipient = request.get("recipient").and_then(Value::as_text).ok_or(REQUEST_MALFORMED)?;
        let profile = match named {
            "evm" => {
                let chain_id = evm::chain_id(profile).ok_or(REQUEST_MALFORMED)?;
                let address = |name| wire::address(request, name).ok_or(REQUEST_MALFORMED);
                Profile::Evm { chain_id, currency: address("currency")?, recipient: address("recipient")? }
            }
            "gateway" => Profile::Gateway(profile),
            "solana" => Profile::Solana(solana::Charge::of(request, profile, Cluster::named(profile)?)?),
            _ => Profile::Stacks(Stacks::of(profile).ok_or(REQUEST_MALFORMED)?),
        };
        if let Profile::Evm { .. } | Profile::Gateway(_) = profile {
            request_hash(offer)?;
        }
        if let Profile::Evm { .. } = profile {
            offer.expires.ok_or(EXPIRES_REQUIRED)?;
        }
        Ok(Self { profile, amount, recipient })
    }
}

/// The hash of a request that must be written in its RFC 8785 form.
pub(crate) fn request_hash(offer: &Offer<'_>) -> Result<String, Refusal> {
    let canonical = json::canonical(&offer.request.clone().into()).ok_or(REQUEST_NOT_JCS)?;
    let is_written_so = offer.challenge.request_text() == Some(encoding::base64url(canonical.as_bytes()).as_str());
    if is_written_so { Ok(encoding::hex(&wire::keccak(canonical.as_bytes()))) } else { Err(REQUEST_NOT_JCS) }
}

/// Names the challenge: Keccak-256 of the RFC 8785 form of its id, its realm, its request's hash, and `more`.
pub(crate) fn derivation(offer: &Offer<'_>, more: Object) -> Result<Word, Refusal> {
    let preimage = more
        .with_some("id", offer.challenge.id.cloned())
        .with("realm", offer.challenge.realm.clone())
        .with("requestHash", request_hash(offer)?)
        .with("method", "usdc")
        .with("intent", "charge");
    json::canonical(&preimage.into()).map(|text| wire::keccak(text.as_bytes())).ok_or(REQUEST_MALFORMED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpp::{
        challenge::Challenge,
        sample::{RECIPIENT, TOKEN, challenge, encoded, h, object},
    };

    fn evm() -> Object {
        object(&format!("{{'amount':'5','currency':'{TOKEN}','methodDetails':{{'evm':{{'chainId':1}},'type':'evm'}},'recipient':'{RECIPIENT}'}}"))
    }

    fn read(request: Object, written: &str) -> Result<(), String> {
        let value = challenge(&h(), "charge", "usdc", Object::new()).with("request", written).into();
        let offer = Offer { challenge: Challenge::read(&value).unwrap(), h: h(), request, expires: Some(1) };
        Charge::of(&offer).map(|_| ()).map_err(|refusal| refusal.code().to_owned())
    }

    fn refused(request: Object) -> String {
        let written = encoded(request.clone());
        read(request, &written).unwrap_err()
    }

    #[test]
    fn is_of_exactly_one_profile() {
        assert_eq!(read(evm(), &encoded(evm())), Ok(()));
        for details in [
            "{}",
            "{'type':'evm'}",
            "{'type':'evm','evm':[]}",
            "{'type':'solana','evm':{'chainId':1}}",
            "{'type':'EVM','evm':{'chainId':1}}",
            "{'type':'evm','evm':{'chainId':1},'gateway':null}",
        ] {
            assert_eq!(refused(evm().with("methodDetails", object(details))), "mpp/usdc-profile", "{details}");
        }
        assert_eq!(refused(Object::new()), "mpp/usdc-profile");
    }

    #[test]
    fn needs_an_amount_and_a_recipient() {
        for amount in ["0", "01", "-1", "", &"9".repeat(79)] {
            assert_eq!(refused(evm().with("amount", amount)), "mpp/request-malformed", "{amount}");
        }
        for name in ["amount", "recipient", "currency"] {
            assert_eq!(refused(evm().without(name)), "mpp/request-malformed", "{name}");
        }
        assert_eq!(refused(evm().with("recipient", "x")), "mpp/request-malformed");
    }

    #[test]
    fn is_written_in_its_canonical_form() {
        let spaced = encoding::base64url(format!(" {}", json::write(&evm().into())).as_bytes());
        assert_eq!(read(evm(), &spaced).unwrap_err(), "mpp/request-not-jcs");
        let gateway = object("{'amount':'5','methodDetails':{'gateway':{},'type':'gateway'},'recipient':'any'}");
        assert_eq!(read(gateway.clone(), &encoded(gateway.clone())), Ok(()));
        assert_eq!(read(gateway, &spaced).unwrap_err(), "mpp/request-not-jcs");
        // The others' requests are not hashed.
        assert_eq!(read(stacks(&contract()), &spaced), Ok(()));
    }

    fn contract() -> Object {
        object(&format!("{{'chainId':'1','contractAddress':'S{}','contractName':'usdcx'}}", "T".repeat(40)))
    }

    fn stacks(contract: &Object) -> Object {
        let details = Object::new().with("type", "stacks").with("stacks", contract.clone());
        Object::new().with("amount", "5").with("recipient", "any").with("methodDetails", details)
    }

    #[test]
    fn a_stacks_profile_names_a_contract() {
        for (name, value) in [("chainId", "4294967295"), ("chainId", "0"), ("contractName", "a_b-c"), ("contractAddress", &"S".repeat(39))] {
            let request = stacks(&contract().with(name, value));
            assert_eq!(read(request.clone(), &encoded(request)), Ok(()), "{value}");
        }
        for (name, value) in [
            ("chainId", "4294967296"),
            ("chainId", "01"),
            ("chainId", "+1"),
            ("chainId", ""),
            ("contractName", "__transient"),
            ("contractName", "1a"),
            ("contractName", ""),
            ("contractAddress", "ST"),
        ] {
            assert_eq!(refused(stacks(&contract().with(name, value))), "mpp/request-malformed", "{value}");
        }
        for name in ["chainId", "contractName", "contractAddress"] {
            assert_eq!(refused(stacks(&contract().without(name))), "mpp/request-malformed", "{name}");
        }
    }
}
