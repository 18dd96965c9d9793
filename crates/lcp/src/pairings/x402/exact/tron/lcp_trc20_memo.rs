//! `x402/exact/tron/lcp-trc20-memo`: H is the memo of the transaction that calls the token.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::{self, MAX_DECIMAL},
    pairing::{Buyer, Choice, Unsigned},
    wire::{
        base58,
        evm::{self, U256},
        tron::{Address, Call, Raw, Signature, TX_MALFORMED, Transaction, signed, trc20_transfer},
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{absent_or, amount, exact_on, extra, names, timeout},
    },
};

pub(crate) static PAIRING: X402<Trc20Memo> = X402(Trc20Memo);

pub(crate) struct Trc20Memo;

const NOT_PAYABLE: Refusal = Refusal::new("tron/option-malformed");
const NETWORK_MALFORMED: Refusal = Refusal::new("tron/network-malformed");
const ADDRESS_MALFORMED: Refusal = Refusal::new("tron/address-malformed");
const FEE_LIMIT: Refusal = Refusal::new("tron/fee-limit");
const TX_TOO_LARGE: Refusal = Refusal::new("tron/tx-too-large");
const RECOVERY_MALFORMED: Refusal = Refusal::new("tron/signature-malformed");
const NOT_TRANSFER: Refusal = Refusal::new("tron/not-transfer");
const MEMO_NOT_LCP: Refusal = Refusal::new("tron/memo-not-lcp");

/// Longest timeout in seconds: a node takes no transaction that expires a day from now or later, and a minute is left for
/// its way there.
const MAX_TIMEOUT: u64 = 86_340;
/// The most that a node lets a call burn, in sun.
const MAX_FEE_LIMIT: u64 = 15_000_000_000;
/// Longest text of a transaction, in hex digits.
const MAX_TEXT: usize = 8192;

impl Scheme for Trc20Memo {
    fn id(&self) -> &'static str {
        "x402/exact/tron/lcp-trc20-memo"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "tron").ok_or(Unserved::Other)?;
        let ours = extra(option).is_some_and(|extra| {
            names(extra, "assetTransferMethod", "lcp-trc20-memo") && absent_or(extra, "paymentFlow", &["authorization", "upfront"])
        });
        if !ours {
            return Err(Unserved::Other);
        }
        if !is_chain_id(network) {
            return Err(NETWORK_MALFORMED.into());
        }
        if ["asset", "payTo"].iter().any(|name| Address::of(option, name).is_none()) {
            return Err(ADDRESS_MALFORMED.into());
        }
        let payable = price(option).is_some() && timeout(option).is_some_and(|seconds| seconds <= MAX_TIMEOUT);
        if payable { Ok(()) } else { Err(NOT_PAYABLE.into()) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        // Its checksum is judged at build.
        let address = &account.address;
        if address.len() != 34 || !address.starts_with('T') || !address.bytes().all(base58::is_letter) {
            return Err(NO_PAYABLE_OPTION);
        }
        let ref_block = buyer.inputs.get("refBlock").filter(|block| RefBlock::of(Some(block)).is_some()).ok_or(INPUT_MISSING)?;
        let fee_limit = inputs::decimal(buyer.inputs, "feeLimit").ok().flatten().ok_or(INPUT_MISSING)?;
        Ok(Object::new()
            .with("payer", address.as_str())
            .with("now", (u128::from(buyer.now) * 1000).to_string())
            .with("refBlock", ref_block)
            .with("feeLimit", fee_limit))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        let decimal = |name| inputs::decimal(choice, name).ok().flatten().ok_or(CHOICE_MALFORMED);
        let now = decimal("now")?;
        let fee_limit = decimal("feeLimit")?;
        let ref_block = RefBlock::of(choice.get("refBlock")).ok_or(CHOICE_MALFORMED)?;

        let payer = Address::of(choice, "payer").ok_or(ADDRESS_MALFORMED)?;
        let fee_limit = encoding::uint64(fee_limit).filter(|limit| (1..=MAX_FEE_LIMIT).contains(limit)).ok_or(FEE_LIMIT)?;
        let timestamp = int64(now).filter(|&now| now > 0).ok_or(TX_MALFORMED)?;
        let number = int64(ref_block.number).ok_or(TX_MALFORMED)?.to_be_bytes();

        let order = Order::of(self, choice)?;
        let option = order.option()?;
        let place = |name| Address::of(option, name).ok_or(ADDRESS_MALFORMED);
        let token = place("asset")?;
        // At most a day: the sum is below 2^64.
        let expiration = timestamp + 1000 * timeout(option).ok_or(NOT_PAYABLE)?;
        if i64::try_from(expiration).is_err() {
            return Err(TX_MALFORMED);
        }
        let memo = chosen.h.lcp_string();
        let call_data = trc20_transfer(&place("payTo")?, &price(option).ok_or(NOT_PAYABLE)?);
        let raw = Raw {
            ref_block_bytes: &number[6..],
            ref_block_hash: &ref_block.id[8..16],
            expiration,
            data: memo.as_bytes(),
            call: Call { owner: payer.bytes(), contract: token.bytes(), data: &call_data },
            timestamp,
            fee_limit,
        };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { raw: raw.encode() })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let text = payment.payload()?.get("transaction").and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?;
        if text.utf16_len() > MAX_TEXT {
            return Err(TX_TOO_LARGE);
        }
        let bytes = text.as_str().and_then(encoding::from_bare_hex).ok_or(TX_MALFORMED)?;
        let raw = Raw::decode(Transaction::read(&bytes)?.raw)?;
        if !raw.call.is_transfer() {
            return Err(NOT_TRANSFER);
        }
        std::str::from_utf8(raw.data).ok().and_then(Hash::from_lcp_string).ok_or(MEMO_NOT_LCP)
    }
}

/// A decimal without leading zeros that is a safe integer.
fn is_chain_id(text: &str) -> bool {
    encoding::uint64(text).is_some_and(|id| id < 1 << 53 && id.to_string() == text)
}

/// The option's amount: positive, below 2^256, without leading zeros.
fn price(option: &Object) -> Option<U256> {
    amount(option).filter(|amount| evm::is_amount(amount)).and_then(U256::from_decimal)
}

/// A decimal below 2^63.
fn int64(decimal: &str) -> Option<u64> {
    encoding::uint64(decimal).filter(|&value| i64::try_from(value).is_ok())
}

/// A recent block that the transaction names, so that it holds on that chain only.
struct RefBlock<'a> {
    /// A decimal.
    number: &'a str,
    id: [u8; 32],
}

impl<'a> RefBlock<'a> {
    fn of(value: Option<&'a Value>) -> Option<Self> {
        let value = value?;
        let number = value.get("number").and_then(Value::as_str).filter(|number| encoding::is_decimal(number, MAX_DECIMAL))?;
        let mut id = [0; 32];
        encoding::hex_into(value.get("id").and_then(Value::as_str)?.strip_prefix("0x")?, &mut id)?;
        Some(Self { number, id })
    }
}

/// A payload that waits for the signature of raw bytes.
struct Signed {
    raw: Vec<u8>,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "tron-txid").with("txid", encoding::hex(&Raw::txid(&self.raw))).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let bytes = answer.as_str().and_then(encoding::from_hex).ok_or(SIGNATURE_MALFORMED)?;
        let signature: Signature = bytes.try_into().map_err(|_| SIGNATURE_MALFORMED)?;
        if !matches!(signature[64], 0 | 1 | 27 | 28) {
            return Err(RECOVERY_MALFORMED);
        }
        Ok(Object::new().with("transaction", encoding::bare_hex(&signed(&self.raw, &signature))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, peers,
        x402::sample::{Sample, build, h},
    };

    fn sample() -> Sample<'static> {
        let option = Object::new()
            .with("scheme", "exact")
            .with("network", "tron:728126428")
            .with("amount", "1000000")
            .with("asset", "TMQWZ8dQS6A6mKNYDWTnAy9JBT41PNgEmj")
            .with("payTo", "TWRTqbxDJcvhedxZibQYizb88T549SWgTX")
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", Object::new().with("assetTransferMethod", "lcp-trc20-memo"));
        let block = Object::new().with("number", "65537").with("id", encoding::hex(&[5; 32]));
        Sample {
            pairing: &PAIRING,
            option,
            account: "tron:728126428:TV8KNoryFTom7nt9tZtFAwgLMnCKi5zqS9",
            inputs: Object::new().with("refBlock", block).with("feeLimit", "0100"),
            answer: encoding::hex(&[1; 65]).into(),
        }
    }

    #[test]
    fn the_transaction_moves_the_amount_and_carries_h() {
        let (request, payment) = sample().paid(&sample().choice()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let text = payment.get("payload").unwrap().get("transaction").unwrap().as_str().unwrap();
        let bytes = encoding::from_bare_hex(text).unwrap();
        let transaction = Transaction::read(&bytes).unwrap();
        assert_eq!(request.get("txid"), Some(&encoding::hex(&Raw::txid(transaction.raw)).into()));
        let raw = Raw::decode(transaction.raw).unwrap();
        assert_eq!((raw.ref_block_bytes, raw.ref_block_hash), (&[0, 1][..], &[5; 8][..]));
        assert_eq!((raw.timestamp, raw.expiration, raw.fee_limit), (1_790_000_000_000, 1_790_000_060_000, 100));
        assert_eq!(raw.call.owner, Address::parse("TV8KNoryFTom7nt9tZtFAwgLMnCKi5zqS9").unwrap().bytes());
        let pay_to = Address::parse("TWRTqbxDJcvhedxZibQYizb88T549SWgTX").unwrap();
        assert_eq!(raw.call.data, trc20_transfer(&pay_to, &U256::from(1_000_000)));
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let past = "9223372036854775808";
        sample().assert_order(&[
            ("refBlock", Object::new().with("number", past).with("id", "0x").into(), "x402/choice-malformed"),
            ("payer", "x".into(), "tron/address-malformed"),
            ("feeLimit", "15000000001".into(), "tron/fee-limit"),
            ("now", "0".into(), "tron/tx-malformed"),
            ("accepted", Value::Null, "x402/option-not-in-document"),
        ]);
        let last = |now: &str| sample().paid(&sample().choice().with("now", now)).err();
        assert_eq!(last("9223372036854715807"), None);
        assert_eq!(last("9223372036854715808").as_deref(), Some("tron/tx-malformed"));
    }

    #[test]
    fn a_signature_ends_with_a_recovery_id() {
        for (last, refused) in [(0, false), (1, false), (2, true), (26, true), (27, false), (28, false), (29, true)] {
            let answer = encoding::hex(&[&[1; 64][..], &[last]].concat());
            let refusal = Sample { answer: answer.into(), ..sample() }.paid(&sample().choice()).err();
            assert_eq!(refusal.as_deref(), refused.then_some("tron/signature-malformed"), "{last}");
        }
    }

    /// `TronWeb` makes the same transactions, signs our requests, and reads in our payloads, by the payer's signature, what was
    /// asked for.
    #[test]
    fn the_library_pays_and_reads() {
        let account = "tron:728126428:TGkWdpawVNfeset3P6uTBbLaPY7nZVZvXY";
        let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let cases = ["1000000", largest].map(|amount| Sample { option: sample().option.with("amount", amount), account, ..sample() });
        let unsigned: Vec<_> = cases.iter().map(|sample| build(&PAIRING, &sample.choice()).unwrap()).collect();
        for (sample, (payment, read)) in cases.iter().zip(peers::paid("tron", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            for name in ["asset", "payTo", "amount"] {
                assert_eq!(read.get(name), sample.option.get(name), "{name}");
            }
            let members = Object::new()
                .with("payer", &account[15..])
                .with("memo", h().lcp_string())
                .with("block", format!("0001 {}", "05".repeat(8)))
                .with("timestamp", 1_790_000_000_000_u64)
                .with("expiration", 1_790_000_060_000_u64)
                .with("feeLimit", 100u32)
                .with("same", true);
            for (name, value) in members.iter() {
                assert_eq!(Some(value), read.get(name.as_str().unwrap()), "{name:?}");
            }
        }
    }
}
