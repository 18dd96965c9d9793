//! `x402/exact/tvm`: H is the comment that goes on to the payee with the jettons.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding, inputs,
    pairing::{Buyer, Choice, Unsigned},
    wire::ton::{
        Address, BOC_MALFORMED, Cell, decode_text, encode, jetton,
        message::{Message, Outgoing, StateInit, merkle_nesting},
        wallet,
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{exact_on, filled, is_plain, number, timeout},
    },
};

pub(crate) static PAIRING: X402<Tvm> = X402(Tvm);

pub(crate) struct Tvm;

const NOT_PAYABLE: Refusal = Refusal::new("tvm/option-malformed");
const NETWORK_MALFORMED: Refusal = Refusal::new("tvm/network-malformed");
const NOT_JETTON_TRANSFER: Refusal = Refusal::new("tvm/not-jetton-transfer");
const PAYLOAD_NOT_LCP: Refusal = Refusal::new("tvm/payload-not-lcp");
const CARRIER_MISMATCH: Refusal = Refusal::new("tvm/carrier-mismatch");
const VALUE_TOO_LOW: Refusal = Refusal::new("tvm/value-too-low");

/// An amount is below this.
const MAX_COINS: u128 = 1 << 120;
/// Most bits of the wallet's address that its first state may leave free.
const MAX_FREE_BITS: u8 = 8;
/// Most Merkle proofs one below the other in a message.
const MAX_NESTING: u32 = 2;
/// The fees are paid beside the value, and a fault does not stop the wallet.
const MODE: u8 = 3;

const FORWARD_AMOUNT: &str = "forwardTonAmount";
const FORWARD_PAYLOAD: &str = "forwardPayload";
const RESPONSE: &str = "responseDestination";
const STATE_INIT: &str = "stateInit";
const ATTACHED: &str = "attachNanotons";

impl Scheme for Tvm {
    fn id(&self) -> &'static str {
        "x402/exact/tvm"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "tvm").ok_or(Unserved::Other)?;
        let extra = extra(option)?;
        if !is_plain(extra) {
            return Err(Unserved::Other);
        }
        if !matches!(network, "-239" | "-3") {
            return Err(NETWORK_MALFORMED.into());
        }
        let payable = extra.get("areFeesSponsored") == Some(&Value::Bool(true))
            && ["asset", "payTo"].iter().all(|name| Address::of(option, name).is_some())
            && number(option, "amount").is_some_and(|amount| (1..MAX_COINS).contains(&amount))
            && timeout(option).is_some_and(|seconds| u32::try_from(seconds).is_ok())
            && forward_amount(extra).is_some()
            && response(extra).is_ok();
        if payable { Ok(()) } else { Err(NOT_PAYABLE.into()) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Address::parse(&account.address).ok_or(NO_PAYABLE_OPTION)?;
        let number = |name| buyer.inputs.get(name).and_then(Value::as_safe_unsigned).ok_or(INPUT_MISSING);
        let state_init = match buyer.inputs.get(STATE_INIT) {
            None => None,
            Some(_) => Some(filled(buyer.inputs, STATE_INIT).ok_or(INPUT_MISSING)?.clone()),
        };
        Ok(Object::new()
            .with("wallet", account.address.as_str())
            .with("now", buyer.now)
            .with("walletId", number("walletId")?)
            .with("seqno", number("seqno")?)
            .with("jettonWallet", filled(buyer.inputs, "jettonWallet").ok_or(INPUT_MISSING)?.clone())
            .with(ATTACHED, inputs::decimal(buyer.inputs, ATTACHED).ok().flatten().ok_or(INPUT_MISSING)?)
            .with_some(STATE_INIT, state_init))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let sender = Sender::of(chosen.choice)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let extra = extra(option)?;
        let payload = jetton::comment(&chosen.h.lcp_string()).filter(|payload| carrier(option).as_ref() == Some(payload)).ok_or(CARRIER_MISMATCH)?;
        let valid_until = timeout(option).and_then(|seconds| sender.now.checked_add(seconds)).and_then(|until| until.try_into().ok());
        let valid_until = valid_until.filter(|_| sender.wallet.exists() && sender.jetton_wallet.exists()).ok_or(OPTION_MALFORMED)?;
        let forward_amount = forward_amount(extra).ok_or(NOT_PAYABLE)?;
        if sender.attached <= forward_amount {
            return Err(VALUE_TOO_LOW);
        }
        if !sender.state_init.as_ref().is_none_or(|init| makes(init, &sender.wallet)) {
            return Err(OPTION_MALFORMED);
        }
        let transfer = jetton::Transfer {
            amount: number(option, "amount").ok_or(NOT_PAYABLE)?,
            destination: Address::of(option, "payTo").ok_or(NOT_PAYABLE)?,
            response: response(extra)?,
            forward_amount,
            forward_payload: payload,
        };
        let message = |body| Outgoing { destination: sender.jetton_wallet, value: sender.attached, bounce: true, init: None, body }.build();
        let request = |message| wallet::Request { wallet_id: sender.wallet_id, valid_until, seqno: sender.seqno, mode: MODE, message }.build();
        let request = transfer.build().and_then(message).and_then(request).ok_or(OPTION_MALFORMED)?;
        let asset = option.get("asset").cloned().ok_or(NOT_PAYABLE)?;
        let payload = Signed { wallet: sender.wallet, state_init: sender.state_init, request, asset };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let text = payment.payload()?.get("settlementBoc").and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?;
        let settlement = decode_text(text)?;
        let carrier = carrier(payment.accepted).ok_or(CARRIER_MISMATCH)?;
        let payload = forward_payload(&settlement)?;
        let h = jetton::comment_text(payload).as_deref().and_then(Hash::from_lcp_string).ok_or(PAYLOAD_NOT_LCP)?;
        if *payload == carrier { Ok(h) } else { Err(CARRIER_MISMATCH) }
    }
}

/// The payload that goes on to the payee when a settlement is delivered.
fn forward_payload(settlement: &Cell) -> Result<&Cell, Refusal> {
    let delivered = Message::read(settlement).filter(|_| merkle_nesting(settlement) <= MAX_NESTING).ok_or(BOC_MALFORMED)?;
    let (mode, message) = wallet::sent(delivered.body)?;
    let sent = Message::read(message).filter(|sent| wallet::is_mode(mode) && sent.source.is_none_or(|source| source == delivered.destination));
    let payload = sent.and_then(|sent| jetton::forward_payload(sent.body)).ok_or(NOT_JETTON_TRANSFER)?;
    payload.ok_or(PAYLOAD_NOT_LCP)
}

fn extra(option: &Object) -> Result<&Object, Refusal> {
    option.get("extra").and_then(Value::as_object).ok_or(NOT_PAYABLE)
}

/// The nanotons that go on to the payee: none if the option does not say. More than they are attached, and that is an
/// amount too.
fn forward_amount(extra: &Object) -> Option<u128> {
    let amount = inputs::decimal(extra, FORWARD_AMOUNT).ok()?.unwrap_or("0");
    encoding::uint128(amount).filter(|&amount| amount < MAX_COINS - 1)
}

/// Who gets what is left of the fees, if the option says.
fn response(extra: &Object) -> Result<Option<Address>, Refusal> {
    inputs::member(extra, RESPONSE, |value| value.as_str().and_then(Address::parse)).map_err(|_| NOT_PAYABLE)
}

/// The payload that the option asks for.
fn carrier(option: &Object) -> Option<Cell> {
    decode_text(extra(option).ok()?.get(FORWARD_PAYLOAD)?.as_text()?).ok()
}

/// Whether a wallet may begin with this state.
fn makes(init: &Cell, wallet: &Address) -> bool {
    StateInit::read(init).is_some_and(|state| state.free_bits <= MAX_FREE_BITS && !state.has_libraries && state.makes(init, &wallet.hash))
        && merkle_nesting(init) <= MAX_NESTING
}

/// What a choice says of the buyer's wallet.
struct Sender {
    wallet: Address,
    jetton_wallet: Address,
    wallet_id: u32,
    seqno: u32,
    /// Unix seconds.
    now: u64,
    /// Nanotons.
    attached: u128,
    state_init: Option<Cell>,
}

impl Sender {
    fn of(choice: &Object) -> Result<Self, Refusal> {
        let attached = inputs::decimal(choice, ATTACHED).ok().flatten().ok_or(CHOICE_MALFORMED)?;
        let read = || {
            let uint = |name| choice.get(name).and_then(Value::as_safe_unsigned);
            let uint32 = |name| uint(name).and_then(|value| value.try_into().ok());
            Some(Self {
                wallet: Address::of(choice, "wallet")?,
                jetton_wallet: Address::of(choice, "jettonWallet")?,
                wallet_id: uint32("walletId")?,
                seqno: uint32("seqno")?,
                now: uint("now")?,
                attached: encoding::uint128(attached).filter(|&amount| amount < MAX_COINS)?,
                state_init: None,
            })
        };
        let sender = read().ok_or(OPTION_MALFORMED)?;
        let state_init = match choice.get(STATE_INIT) {
            None => None,
            Some(init) => Some(decode_text(init.as_text().ok_or(BOC_MALFORMED)?)?),
        };
        Ok(Self { state_init, ..sender })
    }
}

/// A payload that waits for the signature of a wallet's request.
struct Signed {
    wallet: Address,
    state_init: Option<Cell>,
    request: wallet::Unsigned,
    asset: Value,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        let hash = self.request.hash().ok_or(OPTION_MALFORMED)?;
        Ok(Object::new().with("kind", "ton-w5").with("hash", encoding::hex(&hash)).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let bytes = answer.as_str().and_then(encoding::from_hex).ok_or(SIGNATURE_MALFORMED)?;
        let signature: wallet::Signature = bytes.try_into().map_err(|_| SIGNATURE_MALFORMED)?;
        let deliver = |body| Outgoing { destination: self.wallet, value: 0, bounce: false, init: self.state_init.clone(), body }.build();
        let settlement = self.request.signed(&signature).and_then(deliver).ok_or(OPTION_MALFORMED)?;
        Ok(Object::new().with("settlementBoc", encoding::base64(&encode(&settlement))).with("asset", &self.asset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        wire::ton::Builder,
        x402::sample::{Sample, h},
    };

    fn raw(byte: &str) -> String {
        format!("0:{}", byte.repeat(32))
    }

    fn comment() -> String {
        encoding::base64(&encode(&jetton::comment(&h().lcp_string()).unwrap()))
    }

    fn sample() -> Sample<'static> {
        let extra = Object::new()
            .with("areFeesSponsored", true)
            .with(FORWARD_PAYLOAD, comment())
            .with(FORWARD_AMOUNT, "01")
            .with(RESPONSE, format!("-1:{}", "ee".repeat(32)));
        let option = Object::new()
            .with("scheme", "exact")
            .with("network", "tvm:-239")
            .with("amount", "1000000")
            .with("asset", raw("aa"))
            .with("payTo", raw("bb"))
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", extra);
        Sample {
            pairing: &PAIRING,
            option,
            account: "tvm:-239:0%3Acccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
            inputs: Object::new().with("walletId", 7u32).with("seqno", 8u32).with("jettonWallet", raw("dd")).with(ATTACHED, "0050000000"),
            answer: encoding::hex(&[1; 64]).into(),
        }
    }

    #[test]
    fn the_settlement_moves_the_amount_and_carries_h() {
        let (request, payment) = sample().paid(&sample().choice()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(payment.get("payload").unwrap().get("asset"), Some(&raw("aa").into()));
        let text = payment.get("payload").unwrap().get("settlementBoc").unwrap().as_text().unwrap().clone();
        let settlement = decode_text(&text).unwrap();
        let delivered = Message::read(&settlement).unwrap();
        assert_eq!(Some(delivered.destination), Address::parse(&raw("cc")));
        let mut signed = delivered.body.clone();
        assert_eq!(signed.uint(32), Some(0x7369_6E74));
        assert_eq!([7, 1_790_000_060, 8].map(Some), [(); 3].map(|()| signed.uint(32)));
        let (mode, message) = wallet::sent(delivered.body).unwrap();
        assert_eq!(mode, 3);
        let unsigned = wallet::Request { wallet_id: 7, valid_until: 1_790_000_060, seqno: 8, mode: 3, message: message.clone() }.build().unwrap();
        assert_eq!(request.get("hash"), Some(&encoding::hex(&unsigned.hash().unwrap()).into()));
        let mut body = Message::read(message).unwrap().body;
        assert_eq!((body.uint(32), body.uint(64), body.coins()), (Some(0x0F8A_7EA5), Some(0), Some((1_000_000, true))));
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        sample().assert_order(&[
            (ATTACHED, "x".into(), "x402/choice-malformed"),
            ("wallet", "x".into(), "x402/option-malformed"),
            (STATE_INIT, "x".into(), "tvm/boc-malformed"),
            ("accepted", Value::Null, "x402/option-not-in-document"),
        ]);
        let choice = || sample().choice();
        let refused = |choice: Object| sample().refused(&choice);
        assert_eq!(refused(choice().with(ATTACHED, "1")), "tvm/value-too-low");
        // 2^32 - 60 is the first second from which a timeout of 60 is past 32 bits.
        assert_eq!(refused(choice().with(ATTACHED, "1").with("now", (1u64 << 32) - 60)), "x402/option-malformed");
        for name in ["wallet", "jettonWallet"] {
            assert_eq!(refused(choice().with(name, raw("cc").replace("0:", "1:"))), "x402/option-malformed", "{name}");
        }
        let state = encoding::base64(&encode(&Builder::new().uint(0, 5).build().unwrap()));
        assert_eq!(refused(choice().with(STATE_INIT, state)), "x402/option-malformed");
        let other = sample().option.with("extra", extra(&sample().option).unwrap().without(FORWARD_PAYLOAD));
        let offer = Sample { option: other, ..sample() };
        assert_eq!(offer.refused(&offer.choice()), "tvm/carrier-mismatch");
    }

    #[test]
    fn a_payment_carries_what_its_option_asks_for() {
        let (_, payment) = sample().paid(&sample().choice()).unwrap();
        let payment = payment.as_object().unwrap();
        let with_payload = |payload: &str| {
            let extra = extra(&sample().option).unwrap().clone().with(FORWARD_PAYLOAD, payload);
            let payment = payment.clone().with("accepted", sample().option.with("extra", extra));
            PAIRING.bound(&payment.into(), None).map_err(|refusal| refusal.code().to_owned())
        };
        assert_eq!(with_payload(&comment()), Ok(h()));
        let other = encoding::base64(&encode(&jetton::comment("other").unwrap()));
        for payload in ["", "x", &other] {
            assert_eq!(with_payload(payload), Err("tvm/carrier-mismatch".to_owned()));
        }
    }
}
