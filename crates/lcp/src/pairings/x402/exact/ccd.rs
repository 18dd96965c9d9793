//! `x402/exact/ccd`: H is the memo of the transfer on Concordium.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding, json,
    pairing::{Buyer, Choice, Unsigned},
    wire::concordium::{TRANSACTION_MALFORMED, is_address, memo, memo_text, text_memo, token_form},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{Payment, SIGNATURE_MALFORMED},
        option::{exact_on, extra, timeout, uint64_amount},
    },
};

pub(crate) static PAIRING: X402<Ccd> = X402(Ccd);

pub(crate) struct Ccd;

const OPTION_MALFORMED: Refusal = Refusal::new("ccd/option-malformed");
const MEMO_NOT_LCP: Refusal = Refusal::new("ccd/memo-not-lcp");

/// The name of the chain's own coin among assets; any other names a token.
const CCD: &str = "CCD";

impl Scheme for Ccd {
    fn id(&self) -> &'static str {
        "x402/exact/ccd"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let is_genesis = |name: &str| name.len() == 32 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let text = |name| option.get(name).and_then(Value::as_str);
        let ours = exact_on(option, "ccd").is_some_and(is_genesis)
            && text("asset").is_some_and(|asset| (1..=128).contains(&asset.len()) && asset.bytes().all(|b| b.is_ascii_graphic()))
            && text("payTo").is_some_and(is_address)
            && sponsor(option).is_some()
            && uint64_amount(option).is_some()
            && timeout(option).is_some();
        if ours { Ok(()) } else { Err(Unserved::Other) }
    }

    fn choose(&self, _order: &Order<'_>, _account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new().with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let now = chosen.choice.get("now").and_then(Value::as_safe_unsigned).ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let memo = text_memo(&chosen.h.lcp_string());
        let is_coin = option.get("asset").and_then(Value::as_str) == Some(CCD);
        let memo = memo.and_then(|memo| if is_coin { Some(memo) } else { token_form(&memo) }).ok_or(OPTION_MALFORMED)?;
        let request = Object::new()
            .with("kind", "ccd-transfer")
            .with_some("network", option.get("network"))
            .with_some("sponsor", sponsor(option))
            .with_some("toAddress", option.get("payTo"))
            .with_some("asset", option.get("asset"))
            .with_some("amount", option.get("amount"))
            .with("memo", encoding::hex(&memo))
            // Both are below 2^53.
            .with("expiresBy", now + timeout(option).ok_or(OPTION_MALFORMED)?);
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed(request.into()))))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let transaction = payment.payload().ok().and_then(|payload| payload.get("signedTransaction"));
        let memo = memo(transaction.ok_or(TRANSACTION_MALFORMED)?)?;
        let h = Hash::from_lcp_string(&memo_text(&memo)?).ok_or(MEMO_NOT_LCP)?;
        if text_memo(&h.lcp_string()) == Some(memo) { Ok(h) } else { Err(MEMO_NOT_LCP) }
    }
}

/// Who pays the fee.
fn sponsor(option: &Object) -> Option<&str> {
    extra(option)?.get("feePayer").and_then(Value::as_str).filter(|address| is_address(address))
}

/// A payload that waits for the wallet's transaction.
struct Signed(Value);

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.0.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        answer.as_object().ok_or(SIGNATURE_MALFORMED)?;
        json::canonical(answer).ok_or(TRANSACTION_MALFORMED)?;
        Ok(Object::new().with("signedTransaction", answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        x402::solana::sample::{build, document, h, signed},
    };

    const ADDRESS: &str = "3JqaGkNwBTgTMm5G6XAc4gbhLUPxvSmQPbaJGBvwLVgXA6D9o1";
    const ACCOUNT: &str = "ccd:4221332d34e1694168c2a0c0b3fd0f27:any";

    fn option() -> Object {
        Object::new()
            .with("scheme", "exact")
            .with("network", "ccd:4221332d34e1694168c2a0c0b3fd0f27")
            .with("amount", "5000000")
            .with("asset", "CCD")
            .with("payTo", ADDRESS)
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", Object::new().with("feePayer", ADDRESS))
    }

    fn choice(option: &Object, account: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &Object::new(), now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document([option.clone()]))?, &buyer)
    }

    fn transaction(memo: &[u8]) -> Value {
        let memo = encoding::hex(&[&[0, u8::try_from(memo.len()).unwrap()], memo].concat());
        let payload = Object::new().with("type", "transferWithMemo").with("memo", memo.trim_start_matches("0x"));
        let header = Object::new().with("sender", ADDRESS).with("expiry", 1_790_000_060_u64);
        Object::new().with("version", 1u32).with("header", header).with("payload", payload).into()
    }

    #[test]
    fn the_memo_is_h() {
        let memo = text_memo(&h().lcp_string()).unwrap();
        for (asset, written) in [("CCD", memo.clone()), ("EURR", token_form(&memo).unwrap())] {
            let unsigned = build(&PAIRING, &choice(&option().with("asset", asset), ACCOUNT).unwrap()).unwrap();
            let request = unsigned.request().unwrap().unwrap();
            assert_eq!(request.get("memo"), Some(&encoding::hex(&written).into()));
            assert_eq!(request.get("expiresBy"), Some(&1_790_000_060_u64.into()));
            assert_eq!(request.get("sponsor"), Some(&ADDRESS.into()));
            let payment = signed(&*unsigned, transaction(&memo));
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        }
    }

    /// Concordium's own SDK makes of each request a transaction, in which it reads what was asked for, and we read H.
    #[test]
    fn the_sdk_reads_the_requests() {
        let requests = json::lines(include_str!("../../../../tests/peers/concordium/requests.jsonl"));
        let sdk = json::parse(include_str!("../../../../tests/peers/concordium/transactions.json"), json::MAX_DEPTH).unwrap();
        let answers = sdk.get("asked").unwrap().as_array().unwrap();
        assert_eq!(requests.len(), answers.len());
        let sponsor = "3CoWrsRbVeLnuzX7VCFrkEQ2YxXbWoZVtUiD2GSenaRD7qjBZV";
        for ((request, answer), asset) in requests.iter().zip(answers).zip(["CCD", "EURR"]) {
            let option = option().with("asset", asset).with("extra", Object::new().with("feePayer", sponsor));
            let unsigned = build(&PAIRING, &choice(&option, ACCOUNT).unwrap()).unwrap();
            assert_eq!(unsigned.request().unwrap().as_ref(), Some(request));
            assert_eq!(answer.get("text"), Some(&h().lcp_string().into()));
            for name in ["sponsor", "expiresBy", "toAddress", "asset", "amount"] {
                assert_eq!(answer.get(name), request.get(name), "{name}");
            }
            let payment = signed(&*unsigned, answer.get("transaction").unwrap().clone());
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        }
    }

    #[test]
    fn a_memo_has_one_form() {
        let unsigned = build(&PAIRING, &choice(&option(), ACCOUNT).unwrap()).unwrap();
        let text = h().lcp_string();
        let refused = |memo: &[u8]| PAIRING.bound(&signed(&*unsigned, transaction(memo)), None).unwrap_err();
        assert_eq!(refused(&[&[0x79, 0, 77], text.as_bytes()].concat()), MEMO_NOT_LCP);
        assert_eq!(refused(&text_memo(&text.to_uppercase()).unwrap()), MEMO_NOT_LCP);
        assert_eq!(refused(&text_memo(&text.replace(&h().to_string()[2..], &h().to_string()[2..].to_uppercase())).unwrap()), MEMO_NOT_LCP);
        assert_eq!(refused(text.as_bytes()).code(), "ccd/memo-not-cbor-text");
        assert_eq!(unsigned.complete(&"x".into()).unwrap_err(), SIGNATURE_MALFORMED);
    }

    #[test]
    fn options() {
        for (name, value) in [
            ("network", "ccd:4221332D34E1694168C2A0C0B3FD0F27"),
            ("network", "ccd:testnet"),
            ("asset", "a b"),
            ("asset", ""),
            ("payTo", "x"),
            ("amount", "18446744073709551616"),
        ] {
            assert!(PAIRING.read(&document([option().with(name, value)])).is_err(), "{name} {value}");
        }
        assert!(PAIRING.read(&document([option().without("extra")])).is_err());
        assert_eq!(build(&PAIRING, &Object::new()).err(), Some(OPTION_MALFORMED));
    }
}
