//! Charges of the method `evm`, which a challenge may offer to pay in several ways.

use super::{CREDENTIAL_TYPES, chain_id, text_or_empty};
use crate::{
    Object, Refusal, Text, Value,
    mpp::{INPUT_MALFORMED, NOT_THIS_PAIRING, Offer, REQUEST_MALFORMED, challenge::EXPIRES_REQUIRED},
    wire::evm::{self, U256, permit2},
};

const SPLITS_MALFORMED: Refusal = Refusal::new("mpp/splits-malformed");

/// The selector of `transfer(address,uint256)`.
const TRANSFER: [u8; 4] = [0xA9, 0x05, 0x9C, 0xBB];

/// Most parts that go to others than the recipient.
const MAX_SPLITS: usize = 10;

/// A way to pay, and what a credential of it calls its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Permit2,
    Authorization,
    Transaction,
    Hash,
}

impl Way {
    fn of(name: &str) -> Option<Self> {
        [Self::Permit2, Self::Authorization, Self::Transaction, Self::Hash].into_iter().find(|way| way.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Permit2 => "permit2",
            Self::Authorization => "authorization",
            Self::Transaction => "transaction",
            Self::Hash => "hash",
        }
    }

    /// Whether what is signed ends with the challenge.
    fn expires(self) -> bool {
        matches!(self, Self::Permit2 | Self::Authorization)
    }
}

/// What a challenge charges.
pub(crate) struct Charge<'a> {
    pub(crate) chain_id: u64,
    pub(crate) currency: &'a str,
    pub(crate) recipient: &'a str,
    /// In the token's smallest unit, decimal, as written.
    pub(crate) amount: &'a str,
    value: U256,
    ways: Vec<Way>,
    /// What Permit2 moves, where it can pay.
    pub(crate) permit2: Option<Parts<'a>>,
}

/// What Permit2 moves.
pub(crate) struct Parts<'a> {
    pub(crate) contract: &'a str,
    pub(crate) external_id: Text,
    /// What is left for the recipient.
    pub(crate) rest: U256,
    /// The parts that go to others, each with its recipient.
    pub(crate) splits: Vec<(&'a str, U256)>,
}

impl<'a> Charge<'a> {
    /// Reads the offer's request.
    pub(crate) fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let details = offer.details();
        let chain_id = chain_id(details).ok_or(REQUEST_MALFORMED)?;
        let currency = evm::address(&offer.request, "currency").ok_or(REQUEST_MALFORMED)?;
        let recipient = evm::address(&offer.request, "recipient").ok_or(REQUEST_MALFORMED)?;
        let (amount, value) = amount(&offer.request).ok_or(REQUEST_MALFORMED)?;
        let mut ways = ways(details.get("credentialTypes"))?;
        let splits = match details.get("splits") {
            None => Vec::new(),
            Some(splits) => {
                // Only Permit2 pays several at once.
                let splits = read_splits(splits).ok_or(SPLITS_MALFORMED)?;
                only(&mut ways, |way| way == Way::Permit2, CREDENTIAL_TYPES)?;
                splits
            }
        };
        let expires = offer.expires.is_some();
        let permit2 = if expires && ways.contains(&Way::Permit2) {
            let contract = details.get("permit2Address").map_or(Some(permit2::CONTRACT), |value| value.as_str().filter(|text| evm::is_address(text)));
            let contract = contract.ok_or(REQUEST_MALFORMED)?;
            let external_id = text_or_empty(&offer.request, "externalId").ok_or(REQUEST_MALFORMED)?;
            let rest = splits.iter().try_fold(value, |rest, (_, split)| rest.checked_sub(*split)).filter(|rest| *rest > U256::from(0));
            rest.map(|rest| Parts { contract, external_id, rest, splits })
        } else {
            None
        };
        if permit2.is_none() && expires {
            only(&mut ways, |way| way != Way::Permit2, INPUT_MALFORMED)?;
        }
        only(&mut ways, |way| expires || !way.expires(), EXPIRES_REQUIRED)?;
        Ok(Self { chain_id, currency, recipient, amount, value, ways, permit2 })
    }

    /// Reads the request of an offer that must be payable in a way.
    pub(crate) fn payable(offer: &'a Offer<'_>, way: Way) -> Result<Self, Refusal> {
        let charge = Self::of(offer)?;
        if charge.ways.contains(&way) { Ok(charge) } else { Err(NOT_THIS_PAIRING) }
    }

    pub(crate) fn network(&self) -> String {
        format!("eip155:{}", self.chain_id)
    }

    /// The request for a transaction that transfers the amount, which the signer sends if `broadcast` says so.
    pub(crate) fn transfer_request(&self, broadcast: bool) -> Result<Value, Refusal> {
        let recipient = evm::address_word(self.recipient).ok_or(REQUEST_MALFORMED)?;
        let data = evm::call_data(TRANSFER, &[recipient, *self.value.bytes()]);
        let call = Object::new().with("to", self.currency).with("data", data);
        Ok(Object::new().with("kind", "evm-call").with("chainId", self.chain_id).with("call", call).with("broadcast", broadcast).into())
    }
}

/// An `amount`, a decimal below 2^256, as written and as a number.
fn amount(object: &Object) -> Option<(&str, U256)> {
    let text = object.get("amount").and_then(Value::as_str)?;
    U256::from_decimal(text).map(|value| (text, value))
}

/// The ways that a challenge lists.
fn ways(listed: Option<&Value>) -> Result<Vec<Way>, Refusal> {
    let Some(listed) = listed else { return Ok(vec![Way::Transaction, Way::Hash]) };
    let names = listed.as_array().filter(|names| !names.is_empty()).ok_or(CREDENTIAL_TYPES)?;
    names.iter().map(|name| name.as_str().and_then(Way::of)).collect::<Option<_>>().ok_or(CREDENTIAL_TYPES)
}

/// Keeps some of the ways; with none left, refuses.
fn only(ways: &mut Vec<Way>, kept: impl Fn(Way) -> bool, refusal: Refusal) -> Result<(), Refusal> {
    ways.retain(|way| kept(*way));
    if ways.is_empty() { Err(refusal) } else { Ok(()) }
}

fn read_splits(splits: &Value) -> Option<Vec<(&str, U256)>> {
    let splits = splits.as_array().filter(|splits| (1..=MAX_SPLITS).contains(&splits.len()))?;
    splits.iter().map(|split| split.as_object().and_then(|split| Some((evm::address(split, "recipient")?, amount(split)?.1)))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mpp::{
        challenge::Challenge,
        sample::{RECIPIENT, TOKEN, challenge, h, object},
    };

    const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    /// A challenge's request, of its details.
    fn charge(details: &str) -> Object {
        object(&format!("{{'amount':'010','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532{details}}}}}"))
    }

    /// The ways in which a request can be paid, in the order listed.
    fn ways(request: Object, expires: bool) -> Result<Vec<&'static str>, String> {
        let offer = |value| Offer { challenge: Challenge::read(value).unwrap(), h: h(), request: request.clone(), expires: expires.then_some(1) };
        let charge = Charge::of(&offer(&challenge(&h(), "charge", "evm", Object::new()).into())).map(|charge| charge.ways);
        charge.map(|ways| ways.into_iter().map(Way::name).collect()).map_err(|refusal| refusal.code().to_owned())
    }

    fn listed(details: &str, expires: bool) -> Result<Vec<&'static str>, String> {
        ways(charge(details), expires)
    }

    fn refused(details: &str, expires: bool) -> String {
        listed(details, expires).unwrap_err()
    }

    #[test]
    fn needs_a_chain_a_token_a_recipient_and_an_amount() {
        assert_eq!(ways(charge(""), false), Ok(vec!["transaction", "hash"]));
        for name in ["amount", "currency", "recipient", "methodDetails"] {
            assert_eq!(ways(charge("").without(name), true).unwrap_err(), "mpp/request-malformed", "{name}");
        }
        for amount in ["", "-1", "1.0", &"9".repeat(78), &format!("{:0>79}", 1)] {
            assert_eq!(ways(charge("").with("amount", amount), true).unwrap_err(), "mpp/request-malformed", "{amount}");
        }
        for chain in ["0", "-1", "1.5", "'84532'", "9007199254740992", "true"] {
            let details = object(&format!("{{'chainId':{chain}}}"));
            assert_eq!(ways(charge("").with("methodDetails", details), true).unwrap_err(), "mpp/request-malformed", "{chain}");
        }
    }

    #[test]
    fn lists_known_ways() {
        assert_eq!(listed(",'credentialTypes':['hash','authorization','hash']", true), Ok(vec!["hash", "authorization", "hash"]));
        for types in ["[]", "null", "'hash'", "['hash','x']", "[5]", "['HASH']"] {
            assert_eq!(refused(&format!(",'credentialTypes':{types}"), true), "mpp/credential-types", "{types}");
        }
    }

    #[test]
    fn what_is_signed_needs_an_expiry() {
        assert_eq!(listed(",'credentialTypes':['permit2','hash','authorization']", false), Ok(vec!["hash"]));
        assert_eq!(refused(",'credentialTypes':['permit2','authorization']", false), "mpp/expires-required");
        // Permit2's own members are read only where it can pay.
        assert_eq!(listed(",'credentialTypes':['permit2','hash'],'permit2Address':'x'", false), Ok(vec!["hash"]));
        assert_eq!(refused(",'credentialTypes':['permit2','hash'],'permit2Address':'x'", true), "mpp/request-malformed");
        assert_eq!(listed(",'credentialTypes':['hash'],'permit2Address':'x'", true), Ok(vec!["hash"]));
    }

    #[test]
    fn only_permit2_splits() {
        let splits = |splits: &str| format!(",'credentialTypes':['permit2','authorization','hash'],'splits':{splits}");
        let split = |amount: &str| format!("{{'amount':'{amount}','recipient':'{OTHER}'}}");
        assert_eq!(listed(&splits(&format!("[{}]", split("9"))), true), Ok(vec!["permit2"]));
        assert_eq!(refused(&splits(&format!("[{}]", split("9"))), false), "mpp/expires-required");
        assert_eq!(refused(&splits(&format!("[{}]", split("10"))), true), "mpp/input-malformed");
        assert_eq!(refused(&splits(&format!("[{},{}]", split("9"), split("2"))), true), "mpp/input-malformed");
        assert_eq!(refused(&format!(",'credentialTypes':['hash'],'splits':[{}]", split("1")), true), "mpp/credential-types");
        assert_eq!(listed(&splits(&format!("[{}]", vec![split("0"); 10].join(","))), true), Ok(vec!["permit2"]));
        for malformed in ["[]", "null", "{}", "[5]", &format!("[{}]", vec![split("0"); 11].join(",")), &format!("[{}]", split("x"))] {
            assert_eq!(refused(&splits(malformed), true), "mpp/splits-malformed", "{malformed}");
        }
    }

    proptest! {
        /// Permit2 moves the whole amount: the rest and the parts add up.
        #[test]
        fn parts_add_up(amount: u64, parts in prop::collection::vec(0..u64::MAX / 8, 1..=10)) {
            let splits: Vec<Value> = parts.iter().map(|part| Object::new().with("amount", part.to_string()).with("recipient", OTHER).into()).collect();
            let details = object("{'chainId':1,'credentialTypes':['permit2']}").with("splits", splits);
            let request = charge("").with("amount", amount.to_string()).with("methodDetails", details);
            let value = challenge(&h(), "charge", "evm", Object::new()).into();
            let offer = Offer { challenge: Challenge::read(&value).unwrap(), h: h(), request, expires: Some(1) };
            let left = parts.iter().try_fold(amount, |left, part| left.checked_sub(*part)).filter(|left| *left > 0);
            let rest = Charge::of(&offer).ok().and_then(|charge| charge.permit2).map(|permit2| permit2.rest);
            prop_assert_eq!(rest, left.map(|left| u128::from(left).into()));
        }
    }
}
