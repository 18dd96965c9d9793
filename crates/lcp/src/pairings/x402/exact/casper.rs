//! `x402/exact/casper`: H is the nonce of a CEP-3009 transfer authorization, without `0x`.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::{
        casper::{MAX_PUBLIC_KEY, MAX_SIGNATURE, algorithm, is_hash, is_key},
        evm::{Type, eip3009, typed_data},
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{Payment, SIGNATURE_MALFORMED, version_2},
        eip155::is_payable,
        option::{amount, exact_on, extra, filled, timeout},
    },
};

pub(crate) static PAIRING: X402<Casper> = X402(Casper);

pub(crate) struct Casper;

const OPTION_MALFORMED: Refusal = Refusal::new("casper/option-malformed");
const ADDRESS_MALFORMED: Refusal = Refusal::new("casper/address-malformed");
const PAYLOAD_MALFORMED: Refusal = Refusal::new("casper/payload-malformed");
const CASPER_SIGNATURE_MALFORMED: Refusal = Refusal::new("casper/signature-malformed");
const KEY_TAG_MISMATCH: Refusal = Refusal::new("casper/key-tag-mismatch");

const DOMAIN: Type<'static> =
    ("EIP712Domain", &[("name", "string"), ("version", "string"), ("chain_name", "string"), ("contract_package_hash", "bytes32")]);

impl Scheme for Casper {
    fn id(&self) -> &'static str {
        "x402/exact/casper"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let is_chain = |name: &str| (1..=64).contains(&name.len()) && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        let text = |name| option.get(name).and_then(Value::as_str);
        let ours = exact_on(option, "casper").is_some_and(is_chain)
            && text("asset").is_some_and(is_hash)
            && text("payTo").is_some_and(is_key)
            && extra(option).is_some_and(|extra| named(extra, "name").is_some() && named(extra, "version").is_some())
            && is_payable(option);
        if ours { Ok(()) } else { Err(Unserved::Other) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new().with("from", account.address.as_str()).with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let from = chosen.choice.get("from").and_then(Value::as_str).filter(|from| is_key(from)).ok_or(ADDRESS_MALFORMED)?;
        let now = chosen.choice.get("now").and_then(Value::as_safe_unsigned).ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let extra = extra(option).ok_or(OPTION_MALFORMED)?;
        let transfer = eip3009::Authorization {
            from,
            to: option.get("payTo").and_then(Value::as_str).ok_or(OPTION_MALFORMED)?,
            value: amount(option).ok_or(OPTION_MALFORMED)?.to_owned(),
            // Both are below 2^53.
            valid_before: now + timeout(option).ok_or(OPTION_MALFORMED)?,
            nonce: *chosen.h.bytes(),
        };
        let domain = Object::new()
            .with_some("name", extra.get("name"))
            .with_some("version", extra.get("version"))
            .with_some("chain_name", option.get("network"))
            .with_some("contract_package_hash", option.get("asset"));
        let authorization = transfer.members().with("nonce", chosen.h.to_string().trim_start_matches("0x"));
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { domain, authorization })))
    }

    fn judge_envelope(&self, payment: &Value) -> Result<(), Refusal> {
        match version_2(payment) {
            Ok(payment) if !payment.has("refused") => Ok(()),
            _ => Err(PAYLOAD_MALFORMED),
        }
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload().map_err(|_| PAYLOAD_MALFORMED)?;
        let authorization = payload.get("authorization").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        let member = |name: &str| authorization.get(name).and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED);
        for (name, _) in eip3009::TRANSFER.1 {
            member(name)?;
        }
        let tagged = |name, max_digits| payload.get(name).and_then(Value::as_str).and_then(|text| algorithm(text, max_digits));
        tagged("publicKey", MAX_PUBLIC_KEY).ok_or(PAYLOAD_MALFORMED)?;
        tagged("signature", MAX_SIGNATURE).ok_or(PAYLOAD_MALFORMED)?;
        let nonce = member("nonce")?.as_str().ok_or(PAYLOAD_MALFORMED)?;
        let digits = nonce.strip_prefix("0x").unwrap_or(nonce);
        Hash::parse(&format!("0x{digits}")).ok_or(PAYLOAD_MALFORMED)
    }
}

/// A name of 1 to 64 UTF-16 code units.
fn named<'a>(extra: &'a Object, name: &str) -> Option<&'a Text> {
    filled(extra, name).filter(|text| text.utf16_len() <= 64)
}

/// A payload that waits for the wallet's key and signature.
struct Signed {
    domain: Object,
    authorization: Object,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        let typed_data = typed_data(self.domain.clone(), &[DOMAIN, eip3009::TRANSFER], self.authorization.clone());
        Ok(Object::new().with("kind", "casper-eip712").with("typedData", typed_data).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let text = |name| answer.get(name).and_then(Value::as_text).ok_or(SIGNATURE_MALFORMED);
        let (key, signature) = (text("publicKey")?, text("signature")?);
        let tag = |text: &Text, max_digits| text.as_str().and_then(|text| algorithm(text, max_digits)).ok_or(CASPER_SIGNATURE_MALFORMED);
        if tag(key, MAX_PUBLIC_KEY)? != tag(signature, MAX_SIGNATURE)? {
            return Err(KEY_TAG_MISMATCH);
        }
        Ok(Object::new().with("authorization", self.authorization.clone()).with("publicKey", key.clone()).with("signature", signature.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, peers,
        x402::solana::sample::{build, document, h, signed},
    };

    const PAYER: &str = "00d6199034908d56180d81ea5e6017a2eb82827bbb535f098f662d4e02a3fa8b4a";
    const ACCOUNT: &str = "casper:casper-test:00d6199034908d56180d81ea5e6017a2eb82827bbb535f098f662d4e02a3fa8b4a";

    fn option() -> Object {
        Object::new()
            .with("scheme", "exact")
            .with("network", "casper:casper-test")
            .with("amount", "7500000000")
            .with("asset", "ab".repeat(32))
            .with("payTo", format!("01{}", "CD".repeat(32)))
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", Object::new().with("name", "Token").with("version", "1"))
    }

    fn choice(option: &Object, account: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &Object::new(), now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document([option.clone()]))?, &buyer)
    }

    fn answer(key: &str, signature: &str) -> Object {
        Object::new().with("publicKey", key).with("signature", signature)
    }

    #[test]
    fn the_nonce_is_h() {
        let choice = choice(&option(), ACCOUNT).unwrap();
        assert_eq!(choice.without("required").without("accepted"), Object::new().with("from", PAYER).with("now", 1_790_000_000_u64));
        let unsigned = build(&PAIRING, &choice).unwrap();
        let request = unsigned.request().unwrap().unwrap();
        let message = request.get("typedData").unwrap().get("message").unwrap();
        assert_eq!(message.get("nonce"), Some(&h().to_string()[2..].into()));
        assert_eq!(message.get("validBefore"), Some(&"1790000060".into()));
        let domain = request.get("typedData").unwrap().get("domain").unwrap();
        assert_eq!(domain.get("chain_name"), Some(&"casper:casper-test".into()));
        let payment = signed(&*unsigned, answer("01ab", "01cd"));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let refused = payment.as_object().unwrap().clone().with("refused", Value::Null);
        assert_eq!(PAIRING.bound(&refused.into(), None), Err(PAYLOAD_MALFORMED));
        assert_eq!(PAIRING.bound(&Value::Null, None), Err(PAYLOAD_MALFORMED));
    }

    #[test]
    fn an_answer_is_a_key_and_a_signature_of_one_algorithm() {
        let unsigned = build(&PAIRING, &choice(&option(), ACCOUNT).unwrap()).unwrap();
        let refused = |answer: Value| unsigned.complete(&answer).unwrap_err();
        assert_eq!(refused(Value::Null), SIGNATURE_MALFORMED);
        assert_eq!(refused(answer("01ab", "01cd").without("signature").into()), SIGNATURE_MALFORMED);
        assert_eq!(refused(answer("01ab", "0x01cd").into()), CASPER_SIGNATURE_MALFORMED);
        assert_eq!(refused(answer("03ab", "03cd").into()), CASPER_SIGNATURE_MALFORMED);
        assert_eq!(refused(answer("01ab", "02cd").into()), KEY_TAG_MISMATCH);
    }

    #[test]
    fn a_payer_is_judged_at_the_build() {
        for account in ["casper:casper-test:x", &ACCOUNT.replace(":00", ":02")] {
            assert_eq!(build(&PAIRING, &choice(&option(), account).unwrap()).err(), Some(ADDRESS_MALFORMED));
        }
    }

    #[test]
    fn options() {
        for (name, value) in [
            ("network", "casper:Casper"),
            ("network", "casper:"),
            ("asset", "hash-00"),
            ("payTo", "00ab"),
            ("amount", "0"),
            ("amount", "115792089237316195423570985008687907853269984665640564039457584007913129639936"),
        ] {
            assert!(PAIRING.read(&document([option().with(name, value)])).is_err(), "{name} {value}");
        }
        for name in ["", &"a".repeat(65)] {
            let extra = Object::new().with("name", name).with("version", "1");
            assert!(PAIRING.read(&document([option().with("extra", extra)])).is_err());
        }
    }

    /// Casper's SDK signs our requests by keys of both algorithms, and reads in our payloads, with valid signatures, the call
    /// that settles them; the digests are those of another library's EIP-712.
    #[test]
    fn the_sdk_pays_and_reads() {
        let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let package = format!("01{}", "cd".repeat(32));
        let cases = [
            ("003d5de8c609159a0954e773dd686fb7724428316cb30e00bdc899976127747f55", option().with("payTo", &*package)),
            ("0034820335640ad323038cbcd312a6fffaa44a63a07508ca640db7186bcef63bc3", option().with("payTo", PAYER).with("amount", largest)),
        ];
        let chosen = |(payer, option): &(&str, Object)| choice(option, &format!("casper:casper-test:{payer}")).unwrap();
        let unsigned: Vec<_> = cases.iter().map(|case| build(&PAIRING, &chosen(case)).unwrap()).collect();
        for ((place, (payer, option)), (payment, read)) in cases.iter().enumerate().zip(peers::paid("casper", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let members = Object::new()
                .with("algorithm", place as u64 + 1)
                .with("package", option.get("asset").unwrap())
                .with("from", *payer)
                .with("to", option.get("payTo").unwrap())
                .with("value", option.get("amount").unwrap())
                .with("validAfter", "0")
                .with("validBefore", "1790000060")
                .with("nonce", &h().to_string()[2..]);
            for (name, value) in members.iter() {
                assert_eq!(Some(value), read.get(name.as_str().unwrap()), "{name:?}");
            }
        }
    }
}
