//! `x402/exact/near`: H is the memo of the token transfer that a delegate action makes.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::{self, MAX_DECIMAL},
    pairing::{Buyer, Choice, Unsigned},
    wire::near::{self, DelegateAction, PublicKey, Signature, ft_transfer},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{exact_on, extra, filled, is_plain, number, timeout},
    },
};

pub(crate) static PAIRING: X402<Near> = X402(Near);

pub(crate) struct Near;

const NOT_PAYABLE: Refusal = Refusal::new("near/option-malformed");
const NETWORK_MALFORMED: Refusal = Refusal::new("near/network-malformed");
const MEMO_MISSING: Refusal = Refusal::new("near/memo-missing");
const MEMO_NOT_LCP: Refusal = Refusal::new("near/memo-not-lcp");

/// The inputs that are decimals.
const DECIMALS: [&str; 2] = ["accessKeyNonce", "finalHeight"];

impl Scheme for Near {
    fn id(&self) -> &'static str {
        "x402/exact/near"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "near").ok_or(Unserved::Other)?;
        if !is_plain(extra(option).ok_or(NOT_PAYABLE)?) {
            return Err(Unserved::Other);
        }
        if !matches!(network, "mainnet" | "testnet") {
            return Err(NETWORK_MALFORMED.into());
        }
        let payable = account_id(option, "asset").is_some()
            && account_id(option, "payTo").is_some()
            && number(option, "amount").is_some_and(|amount| amount > 0)
            && timeout(option).is_some();
        if payable { Ok(()) } else { Err(NOT_PAYABLE.into()) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        if !near::is_account_id(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        let public_key = filled(buyer.inputs, "publicKey").ok_or(INPUT_MISSING)?.clone();
        let mut choice = Object::new().with("payer", account.address.as_str()).with("publicKey", public_key);
        for name in DECIMALS {
            choice.set(name, inputs::decimal(buyer.inputs, name).ok().flatten().ok_or(INPUT_MISSING)?);
        }
        Ok(choice)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let text = |name| chosen.choice.get(name).and_then(Value::as_str);
        let [nonce, height] = DECIMALS.map(text);
        if [nonce, height].iter().any(|decimal| decimal.is_none_or(|decimal| !encoding::is_decimal(decimal, MAX_DECIMAL))) {
            return Err(CHOICE_MALFORMED);
        }
        let sender = account_id(chosen.choice, "payer").ok_or(OPTION_MALFORMED)?;
        let public_key = text("publicKey").and_then(PublicKey::parse).ok_or(OPTION_MALFORMED)?;
        let nonce = nonce.and_then(encoding::uint64).and_then(|nonce| nonce.checked_add(1)).ok_or(OPTION_MALFORMED)?;
        let height = height.and_then(encoding::uint64).ok_or(OPTION_MALFORMED)?;

        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let place = |name| account_id(option, name).ok_or(OPTION_MALFORMED);
        // About a block a second.
        let max_block_height = timeout(option).and_then(|blocks| height.checked_add(blocks)).ok_or(OPTION_MALFORMED)?;
        let amount = number(option, "amount").ok_or(OPTION_MALFORMED)?;
        let args = ft_transfer::args(place("payTo")?, amount, &chosen.h.lcp_string());
        let action = DelegateAction {
            sender,
            receiver: place("asset")?,
            method: ft_transfer::METHOD,
            args: args.as_bytes(),
            gas: ft_transfer::GAS,
            deposit: ft_transfer::DEPOSIT,
            nonce,
            max_block_height,
            public_key,
        };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { action: action.encode() })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let text = payment.payload()?.get("signedDelegateAction").and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?;
        let wire = near::from_base64(text)?;
        let (action, _) = DelegateAction::decode_signed(&wire)?;
        let memo = ft_transfer::memo(&action)?.ok_or(MEMO_MISSING)?;
        memo.as_str().and_then(Hash::from_lcp_string).ok_or(MEMO_NOT_LCP)
    }
}

fn account_id<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).filter(|text| near::is_account_id(text))
}

/// A payload that waits for the signature of an encoded action.
struct Signed {
    action: Vec<u8>,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "near-delegate").with("hash", encoding::hex(&near::signing_hash(&self.action))).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let key_type = answer.get("keyType").and_then(Value::as_safe_unsigned).and_then(|kind| u8::try_from(kind).ok());
        let bytes = answer.get("bytes").and_then(Value::as_str).and_then(encoding::from_hex);
        let signature = key_type.zip(bytes).and_then(|(key_type, bytes)| Signature::of(key_type, &bytes)).ok_or(SIGNATURE_MALFORMED)?;
        Ok(Object::new().with("signedDelegateAction", encoding::base64(&near::signed(&self.action, &signature))))
    }
}
