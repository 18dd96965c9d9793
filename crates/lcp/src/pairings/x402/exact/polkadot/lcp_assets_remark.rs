//! `x402/exact/polkadot/lcp-assets-remark`: H is a remark in the batch that moves the asset.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::substrate::{AccountId, MAX_EXTRINSIC, asset_hub::TransferWithRemark, behind_signature},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_PAYABLE_OPTION, Payment, SIGNATURE_MALFORMED},
        option::{absent_or, exact_on, extra, names, number, timeout},
    },
};

pub(crate) static PAIRING: X402<AssetsRemark> = X402(AssetsRemark);

pub(crate) struct AssetsRemark;

const NETWORK_UNSUPPORTED: Refusal = Refusal::new("polkadot/network-unsupported");
const NOT_PAYABLE: Refusal = Refusal::new("polkadot/option-malformed");
const ADDRESS_MALFORMED: Refusal = Refusal::new("polkadot/address-malformed");
const EXTRINSIC_MALFORMED: Refusal = Refusal::new("polkadot/extrinsic-malformed");
const EXTRINSIC_TOO_LARGE: Refusal = Refusal::new("polkadot/extrinsic-too-large");
const CALL_NOT_SUFFIX: Refusal = Refusal::new("polkadot/call-not-suffix");
const CALL_NOT_PROFILE: Refusal = Refusal::new("polkadot/call-not-profile");
const REMARK_NOT_LCP: Refusal = Refusal::new("polkadot/remark-not-lcp");

/// Asset Hub of Polkadot and of Paseo, whose calls have the same indexes.
const NETWORKS: [&str; 2] = ["68d56f15f85d3136970ec16946040bc1", "67f9723393ef76214df0118c34bbbd3d"];

/// Longest timeout in seconds.
const MAX_TIMEOUT: u64 = 3600;

/// Bytes of the remark.
const REMARK: usize = 77;

impl Scheme for AssetsRemark {
    fn id(&self) -> &'static str {
        "x402/exact/polkadot/lcp-assets-remark"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "polkadot").ok_or(Unserved::Other)?;
        if !NETWORKS.contains(&network) {
            return Err(NETWORK_UNSUPPORTED.into());
        }
        let carries = extra(option).is_some_and(|extra| {
            names(extra, "assetTransferMethod", "lcp-assets-remark") && absent_or(extra, "paymentFlow", &["authorization", "upfront"])
        });
        let payable = carries
            && asset(option).is_some()
            && number(option, "amount").is_some_and(|amount| amount > 0)
            && timeout(option).is_some_and(|seconds| seconds <= MAX_TIMEOUT);
        if !payable {
            return Err(NOT_PAYABLE.into());
        }
        AccountId::of(option, "payTo").map(|_| ()).ok_or(ADDRESS_MALFORMED.into())
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        AccountId::parse(&account.address).map(|_| Object::new()).ok_or(NO_PAYABLE_OPTION)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let remark = chosen.h.lcp_string();
        let call = TransferWithRemark {
            asset: asset(option).ok_or(NOT_PAYABLE)?,
            to: AccountId::of(option, "payTo").ok_or(ADDRESS_MALFORMED)?,
            amount: number(option, "amount").ok_or(NOT_PAYABLE)?,
            remark: remark.as_bytes(),
        };
        let network = option.get("network").cloned().ok_or(NETWORK_UNSUPPORTED)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { network, call: call.encode() })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        // Lower-case hex only.
        let bytes = |name| payload.get(name).and_then(Value::as_str)?.strip_prefix("0x").and_then(encoding::from_bare_hex);
        let extrinsic = bytes("extrinsic").ok_or(EXTRINSIC_MALFORMED)?;
        judge_size(&extrinsic)?;
        let call = bytes("call").ok_or(CALL_NOT_PROFILE)?;
        judge_suffix(&extrinsic, &call)?;
        let remark = TransferWithRemark::decode(&call).map(|call| call.remark).filter(|remark| remark.len() == REMARK);
        let text = std::str::from_utf8(remark.ok_or(CALL_NOT_PROFILE)?).map_err(|_| REMARK_NOT_LCP)?;
        Hash::from_lcp_string(text).filter(|h| h.lcp_string() == text).ok_or(REMARK_NOT_LCP)
    }
}

/// The asset's id, without leading zeros.
fn asset(option: &Object) -> Option<u32> {
    number(option, "asset").and_then(|asset| asset.try_into().ok())
}

fn judge_size(extrinsic: &[u8]) -> Result<(), Refusal> {
    if extrinsic.len() <= MAX_EXTRINSIC { Ok(()) } else { Err(EXTRINSIC_TOO_LARGE) }
}

/// Whether a signed extrinsic ends with the call.
fn judge_suffix(extrinsic: &[u8], call: &[u8]) -> Result<(), Refusal> {
    if behind_signature(extrinsic)?.ends_with(call) { Ok(()) } else { Err(CALL_NOT_SUFFIX) }
}

/// A payload that waits for the extrinsic that makes a call.
struct Signed {
    network: Value,
    call: Vec<u8>,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        let request = Object::new().with("kind", "substrate-call").with("network", &self.network);
        Ok(request.with("call", encoding::hex(&self.call)).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let extrinsic = answer.as_str().and_then(encoding::from_hex).filter(|bytes| !bytes.is_empty()).ok_or(SIGNATURE_MALFORMED)?;
        judge_size(&extrinsic)?;
        judge_suffix(&extrinsic, &self.call)?;
        Ok(Object::new().with("extrinsic", encoding::hex(&extrinsic)).with("call", encoding::hex(&self.call)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, json,
        wire::substrate::compact,
        x402::sample::{Sample, h},
    };

    fn sample(answer: Value) -> Sample<'static> {
        let option = Object::new()
            .with("scheme", "exact")
            .with("network", "polkadot:68d56f15f85d3136970ec16946040bc1")
            .with("amount", "1500000")
            .with("asset", "1337")
            .with("payTo", "12rtbtu7LTkvHzA2wo8NbTDFJTMLm6sA8hRD977o1nkEBrLr")
            .with("maxTimeoutSeconds", 300u32)
            .with("extra", Object::new().with("assetTransferMethod", "lcp-assets-remark"));
        let account = "polkadot:68d56f15f85d3136970ec16946040bc1:14a9ZCUGaJ1CaUqit3uW6hdCHP7xzxEZbF7Y9zC6aWUEJJ1D";
        Sample { pairing: &PAIRING, option, account, inputs: Object::new(), answer }
    }

    /// A wallet's extrinsic that ends with these bytes.
    fn extrinsic(end: &[u8]) -> Vec<u8> {
        let body = [&[0x84, 0][..], &[7; 32], &[1], &[9; 64], &[0, 4, 0], end].concat();
        let mut extrinsic = Vec::new();
        compact::put(&mut extrinsic, body.len() as u128);
        [extrinsic, body].concat()
    }

    fn call() -> Vec<u8> {
        let remark = h().lcp_string();
        let to = AccountId::parse("12rtbtu7LTkvHzA2wo8NbTDFJTMLm6sA8hRD977o1nkEBrLr").unwrap();
        TransferWithRemark { asset: 1337, to, amount: 1_500_000, remark: remark.as_bytes() }.encode()
    }

    #[test]
    fn the_call_moves_the_amount_and_carries_h() {
        let wallet = encoding::hex(&extrinsic(&call())).to_uppercase().replacen("0X", "0x", 1);
        let sample = sample(wallet.into());
        let (request, payment) = sample.paid(&sample.choice()).unwrap();
        assert_eq!(request.get("call"), Some(&encoding::hex(&call()).into()));
        let payload = Object::new().with("extrinsic", encoding::hex(&extrinsic(&call()))).with("call", encoding::hex(&call()));
        assert_eq!(payment.get("payload"), Some(&payload.into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
    }

    /// The public library reads the call that is asked for by Asset Hub's metadata and signs it, and H is in what it signs.
    #[test]
    fn the_library_reads_and_signs_the_call() {
        let requests = json::lines(include_str!("../../../../../tests/peers/substrate/requests.jsonl"));
        let library = json::parse(include_str!("../../../../../tests/peers/substrate/extrinsics.json"), json::MAX_DEPTH).unwrap();
        let asked = library.get("asked").unwrap().as_array().unwrap();
        let options = [("1337", "1500000"), ("4294967295", "340282366920938463463374607431768211455"), ("0", "1")];
        assert_eq!((requests.len(), asked.len()), (options.len(), options.len()));
        for ((request, read), (asset, amount)) in requests.iter().zip(asked).zip(options) {
            let extrinsics = read.get("extrinsics").unwrap().as_array().unwrap();
            assert_eq!(extrinsics.len(), 9);
            for extrinsic in extrinsics {
                let mut sample = sample(extrinsic.get("extrinsic").unwrap().clone());
                sample.option = sample.option.with("asset", asset).with("amount", amount);
                let (ours, payment) = sample.paid(&sample.choice()).unwrap();
                assert_eq!(ours, *request);
                assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
                for (name, value) in [("asset", asset), ("amount", amount), ("remark", &h().lcp_string())] {
                    assert_eq!(read.get(name), Some(&value.into()));
                }
                assert_eq!(read.get("to"), sample.option.get("payTo"));
            }
        }
    }

    #[test]
    fn an_answer_is_an_extrinsic_that_ends_with_the_call() {
        let code = |answer: Value| {
            let sample = sample(answer);
            sample.paid(&sample.choice()).err()
        };
        let of = |bytes: Vec<u8>| code(encoding::hex(&bytes).into());
        assert_eq!(of(extrinsic(&call().repeat(2))), None);
        let longest = MAX_EXTRINSIC - extrinsic(&[&vec![0; 3000][..], &call()].concat()).len() + 3000;
        assert_eq!(of(extrinsic(&[&vec![0; longest][..], &call()].concat())), None);
        assert_eq!(of(extrinsic(&[&vec![0; longest + 1][..], &call()].concat())).as_deref(), Some("polkadot/extrinsic-too-large"));
        assert_eq!(of(extrinsic(&call()[1..])).as_deref(), Some("polkadot/call-not-suffix"));
        assert_eq!(of(extrinsic(&[&call()[..], &[0]].concat())).as_deref(), Some("polkadot/call-not-suffix"));
        for answer in [Value::Null, "0x".into(), "0x1".into(), "84".into()] {
            assert_eq!(code(answer).as_deref(), Some("x402/signature-malformed"));
        }
    }

    #[test]
    fn a_remark_is_the_lcp_string_in_lower_case() {
        let read = |remark: &[u8]| {
            let call = TransferWithRemark { asset: 1, to: [7; 32].into(), amount: 1, remark }.encode();
            let payload = Object::new().with("extrinsic", encoding::hex(&extrinsic(&call))).with("call", encoding::hex(&call));
            let sample = sample(Value::Null);
            let payment = Object::new().with("x402Version", 2u32).with("accepted", sample.option).with("payload", payload);
            PAIRING.bound(&payment.into(), None).map_err(|refusal| refusal.code().to_owned())
        };
        let text = h().lcp_string();
        assert_eq!(read(text.as_bytes()), Ok(h()));
        for (remark, code) in [
            (text.to_uppercase().replace("LCP:SHA256:0X", "lcp:sha256:0x"), "polkadot/remark-not-lcp"),
            (format!("{text} "), "polkadot/call-not-profile"),
            ("a".repeat(77), "polkadot/remark-not-lcp"),
        ] {
            assert_eq!(read(remark.as_bytes()), Err(code.to_owned()));
        }
    }
}
