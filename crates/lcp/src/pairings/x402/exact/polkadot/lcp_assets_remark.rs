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
