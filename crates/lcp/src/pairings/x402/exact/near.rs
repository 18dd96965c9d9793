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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pairing::Pairing,
        peers,
        x402::sample::{self, build, h, object, paid, request, unserved, with_payload},
    };

    fn option() -> Object {
        object(
            "{'scheme':'exact','network':'near:testnet','amount':'1000000','asset':'usdc.fakes.testnet','payTo':'seller.testnet','maxTimeoutSeconds':60}",
        )
    }

    fn inputs() -> Object {
        object("{'publicKey':'3asbSsbWzgmn6AEpxe9y3h4qaReJ2zBkhhCGfXVgbWLJ','accessKeyNonce':'103066617000686','finalHeight':'165000000'}")
    }

    fn choose(inputs: &Object) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, "near:testnet:buyer.testnet", option(), inputs)
    }

    fn answer() -> Object {
        Object::new().with("keyType", 0u32).with("bytes", encoding::hex(&[7; 64]))
    }

    #[test]
    fn options() {
        for (name, value, code) in [
            ("scheme", "upto".into(), "x402/option-not-this-pairing"),
            ("network", "near".into(), "x402/option-not-this-pairing"),
            ("network", "near:localnet".into(), "near/network-malformed"),
            ("extra", Value::Null, "near/option-malformed"),
            ("extra", object("{'assetTransferMethod':null}").into(), "x402/option-not-this-pairing"),
            ("extra", object("{'paymentFlow':'upfront'}").into(), "x402/option-not-this-pairing"),
            ("asset", "A".into(), "near/option-malformed"),
            ("payTo", Value::Null, "near/option-malformed"),
            ("amount", "0".into(), "near/option-malformed"),
            ("amount", "01".into(), "near/option-malformed"),
            ("amount", "340282366920938463463374607431768211456".into(), "near/option-malformed"),
            ("maxTimeoutSeconds", 0u32.into(), "near/option-malformed"),
        ] {
            assert_eq!(unserved(&PAIRING, option().with(name, &value)), code, "{name}: {value:?}");
            // The form of `extra` is judged before the network, and the network before the rest.
            let elsewhere = unserved(&PAIRING, option().with("network", "near:localnet").with(name, &value));
            assert!(name == "network" || elsewhere == if matches!(name, "scheme" | "extra") { code } else { "near/network-malformed" });
        }
    }

    #[test]
    fn inputs_are_asked_for() {
        let choice = choose(&inputs()).unwrap();
        assert_eq!(choice.get("payer"), Some(&"buyer.testnet".into()));
        for name in ["publicKey", "accessKeyNonce", "finalHeight"] {
            assert_eq!(choice.get(name), inputs().get(name));
            for value in [Value::Null, "".into(), 5u32.into()] {
                assert_eq!(choose(&inputs().with(name, value)), Err(INPUT_MISSING));
            }
            assert_eq!(choose(&inputs().without(name)), Err(INPUT_MISSING));
        }
        assert_eq!(sample::choose(&PAIRING, "near:testnet:A", option(), &inputs()), Err(NO_PAYABLE_OPTION));
        assert_eq!(sample::choose(&PAIRING, "near:mainnet:buyer.near", option(), &inputs()), Err(NO_PAYABLE_OPTION));
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let refused = |edits: &[(&str, Value)]| {
            let choice = edits.iter().fold(choose(&inputs()).unwrap(), |choice, (name, value)| choice.with(*name, value));
            build(&PAIRING, &choice).err().unwrap().code().to_owned()
        };
        let unlisted = ("accepted", option().with("amount", "5").into());
        assert_eq!(refused(&[("payer", "A".into()), ("finalHeight", "x".into())]), "x402/choice-malformed");
        let max = u64::MAX.to_string();
        for (name, value) in [("payer", "A"), ("publicKey", "x"), ("accessKeyNonce", &*max), ("finalHeight", "18446744073709551616")] {
            assert_eq!(refused(&[(name, value.into()), unlisted.clone()]), "x402/option-malformed");
        }
        // Past the last block there is none.
        let last = ("finalHeight", (u64::MAX - 59).to_string().into());
        assert_eq!(refused(std::slice::from_ref(&last)), "x402/option-malformed");
        assert_eq!(refused(&[last, unlisted]), "x402/option-not-in-document");
        assert_eq!(refused(&[("required", Value::Null)]), "x402/not-v2");
    }

    #[test]
    fn the_memo_is_the_hash() {
        let unsigned = build(&PAIRING, &choose(&inputs()).unwrap()).unwrap();
        let payment = paid(&*unsigned, answer()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let signed = payment.get("payload").unwrap().get("signedDelegateAction").unwrap().as_text().unwrap();
        let wire = near::from_base64(signed).unwrap();
        let (action, signature) = DelegateAction::decode_signed(&wire).unwrap();
        assert_eq!((action.sender, action.receiver, action.method), ("buyer.testnet", "usdc.fakes.testnet", "ft_transfer"));
        assert_eq!((action.nonce, action.max_block_height, signature), (103_066_617_000_687, 165_000_060, Signature::Ed25519([7; 64])));
        let asked = Object::new().with("kind", "near-delegate").with("hash", encoding::hex(&near::signing_hash(&action.encode())));
        assert_eq!(request(&*unsigned), asked.into());
        for (memo, code) in [(None, "near/memo-missing"), (Some("x"), "near/memo-not-lcp")] {
            let args = Object::new().with("receiver_id", "ab").with("amount", "1").with_some("memo", memo);
            let args = crate::json::write(&args.into());
            let other = DelegateAction { args: args.as_bytes(), ..action.clone() };
            let other = encoding::base64(&near::signed(&other.encode(), &signature));
            assert_eq!(PAIRING.bound(&with_payload(&payment, "signedDelegateAction", other), None).unwrap_err().code(), code);
        }
        assert_eq!(PAIRING.bound(&with_payload(&payment, "signedDelegateAction", Value::Null), None), Err(PAYLOAD_MALFORMED));
    }

    #[test]
    fn answers() {
        let unsigned = build(&PAIRING, &choose(&inputs()).unwrap()).unwrap();
        assert!(paid(&*unsigned, Object::new().with("keyType", 1u32).with("bytes", encoding::hex(&[0xFF; 65]))).is_ok());
        for odd in [
            Value::Null,
            "0x".into(),
            answer().without("keyType").into(),
            answer().with("keyType", true).into(),
            answer().with("keyType", 2u32).into(),
            answer().with("keyType", 256u32).into(),
            answer().with("keyType", 1u32).into(),
            answer().with("bytes", encoding::hex(&[0x20; 64])).into(),
            answer().with("bytes", encoding::base64(&[7; 64])).into(),
        ] {
            assert_eq!(paid(&*unsigned, odd), Err(SIGNATURE_MALFORMED));
        }
    }

    /// NEAR's library signs our requests, and reads in our payloads, with a valid signature, what was asked for.
    #[test]
    fn the_library_pays_and_reads() {
        let secp256k1 = "secp256k1:4rVpE8szS4i7D5vkB31sgtku3ecQHVCX3rFqsjpYuJeS6NqrFxbvbwxasR5L3VQQw59XU45YWY9KXsNU8Ygewjp1";
        let keys = [inputs(), inputs().with("publicKey", secp256k1)];
        let unsigned: Vec<_> = keys.iter().map(|inputs| build(&PAIRING, &choose(inputs).unwrap()).unwrap()).collect();
        for (inputs, (payment, read)) in keys.iter().zip(peers::paid("near", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let args = Object::new().with("receiver_id", "seller.testnet").with("amount", "1000000").with("memo", h().lcp_string());
            let expected = object(
                "{'sender':'buyer.testnet','receiver':'usdc.fakes.testnet','method':'ft_transfer','gas':'30000000000000','deposit':'1','nonce':'103066617000687','height':'165000060'}",
            );
            for (name, value) in expected.with("args", args).iter() {
                assert_eq!(Some(value), read.get(name.as_str().unwrap()), "{name:?}");
            }
            let key = inputs.get("publicKey").unwrap().as_str().unwrap();
            assert!(read.get("publicKey").unwrap().as_str().unwrap().ends_with(key));
        }
    }
}
