//! `x402/batch-settlement/solana`: a deposit opens a payment channel, by a transaction whose memo is H; vouchers then pay
//! inside it.

use crate::{
    DeclineCode, Declined, Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::{self, MAX_DECIMAL, Malformed},
    pairing::{Buyer, Channel, ChannelAct, ChannelRef, Choice, Unsigned, Within, WithinAsk, WithinBuild},
    solana::{self, Budget, INPUT_MALFORMED, PDA_NOT_FOUND},
    wire::solana::{
        Address, Message, Signature, Transaction, base58, memo,
        payment_channels::{self, Act},
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        channel::{CHANNEL_KIND_UNKNOWN, NOT_AN_OPENING, Next, unreadable},
        document::{INPUT_MISSING, OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{absent_or, extra, names},
        solana::{Payer, Places, chosen, judge_decimals, memo_hash, number, open_slot, price, serves},
    },
};

pub(crate) static PAIRING: X402<Batch> = X402(Batch);

pub(crate) struct Batch;

const CHANNEL_ID_MISMATCH: Refusal = Refusal::new("svm/channel-id-mismatch");
const NOT_BOUND_WITHIN: Refusal = Refusal::new("x402/not-bound-within");
const INPUTS_MALFORMED: Refusal = Refusal::new("x402/input-malformed");

const UNIT_LIMIT: u32 = 200_000;

/// What the second memo of an opening starts with: it names the receiver's authorizer.
const RECEIVER_BINDING: &str = "x402:batch-settlement:svm:rcvauth:v1:";

/// How the seller says that it holds no authorizer for the channel, so that the payer closes it.
const RECEIVER_BINDING_UNAVAILABLE: &str = "invalid_batch_settlement_svm_receiver_binding_unavailable";

impl Scheme for Batch {
    fn id(&self) -> &'static str {
        "x402/batch-settlement/solana"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves("batch-settlement", option, 0, |extra| {
            withdraw_delay(extra).is_some_and(|delay| outlasts(delay, option))
                && Address::of(extra, "receiverAuthorizer").is_some()
                && solana::token_program(extra).is_some()
                && absent_or(extra, "voucherSigner", &["client"])
                && absent_or(extra, "paymentFlow", &["authorization"])
        })
    }

    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let terms = extra(order.option()?).ok_or(OPTION_MALFORMED)?;
        let choice = chosen(account, buyer)?.with("now", buyer.now).needs("payerAuthorizer", solana::key_text)?;
        let choice = choice.needs("openSlot", solana::uint64)?.token_program()?;
        let choice = match solana::key_text(terms, "recentBlockhash").map_err(|_| INPUT_MISSING)? {
            Some(offered) => choice.with("recentBlockhash", offered),
            None => choice.needs("recentBlockhash", solana::key_text)?,
        };
        let choice = choice.budget()?.drawn("salt", buyer)?;
        let choice = match terms.get("minDeposit") {
            Some(least) => choice.with("deposit", least.as_str().filter(|text| encoding::is_decimal(text, MAX_DECIMAL)).ok_or(OPTION_MALFORMED)?),
            None => choice.needs("deposit", inputs::decimal)?,
        };
        Ok(choice.done())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_decimals(choice, &["deposit", "salt", "openSlot"])?;
        let payer = Payer::of(choice, UNIT_LIMIT)?;
        let authorizer = Address::of(choice, "payerAuthorizer").filter(Address::is_on_curve).ok_or(INPUT_MALFORMED)?;
        let deposit = number(choice, "deposit").ok().filter(|&deposit| deposit > 0).ok_or(INPUT_MALFORMED)?;
        let (salt, open_slot) = (number(choice, "salt")?, open_slot(choice)?);
        let order = Order::of(self, choice)?;
        let option = order.option()?;
        let places = Places::carrying(**chosen.h, &order)?;
        let receiver_authorizer = Address::of(places.extra, "receiverAuthorizer").ok_or(OPTION_MALFORMED)?;
        let channel = payment_channels::Channel {
            payer: payer.address,
            payee: places.fee_payer,
            mint: places.asset,
            authorized_signer: authorizer,
            salt,
            open_slot,
        };
        let calls = [
            channel.open(&places.opening(&payer, deposit)?).ok_or(PDA_NOT_FOUND)?,
            memo::write(&chosen.h.lcp_string()),
            memo::write(&format!("{RECEIVER_BINDING}{receiver_authorizer}")),
        ];
        let config = Object::new()
            .with("payer", payer.address)
            .with("payerAuthorizer", authorizer)
            .with("receiver", places.pay_to)
            .with("receiverAuthorizer", receiver_authorizer)
            .with("token", places.asset)
            .with_some("withdrawDelay", places.extra.get("withdrawDelay"))
            .with("salt", salt.to_string())
            .with("openSlot", open_slot);
        let opening = Opening {
            config,
            payer: payer.address,
            message: solana::compiled(places.fee_payer, payer.blockhash, payer.budget, calls)?,
            deposit,
            voucher: Voucher {
                channel: channel.address().ok_or(PDA_NOT_FOUND)?,
                signer: authorizer,
                max_claimable: price(option).ok_or(OPTION_MALFORMED)?,
            },
        };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, opening)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        if !names(payload, "type", "deposit") {
            return Err(NOT_AN_OPENING);
        }
        let transaction = deposit_transaction(payload)?;
        let (act, channel) = payment_channels::act(&transaction.message)?;
        if act != Act::Open {
            return Err(NOT_AN_OPENING);
        }
        let (bindings, memos): (Vec<_>, Vec<_>) = memo::written(&transaction.message).partition(|memo| memo.starts_with(RECEIVER_BINDING.as_bytes()));
        if bindings.len() != 1 {
            return Err(solana::MEMO_COUNT);
        }
        let h = memo_hash(memos, payment.accepted)?;
        let config = Config::of(payment)?;
        if config.id != channel {
            return Err(CHANNEL_ID_MISMATCH);
        }
        config.judge_voucher(payload)?;
        Ok(h)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }
}

impl Channel for Batch {
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal> {
        let payload = Payment::read(self, payment)?.payload()?;
        match payload.get("type").and_then(Value::as_str) {
            Some("deposit") => match payment_channels::act(&deposit_transaction(payload)?.message)? {
                (Act::Open, _) => Ok(ChannelAct::Open),
                (Act::TopUp, _) => Ok(ChannelAct::Within),
                (Act::RequestClose, _) => Err(CHANNEL_KIND_UNKNOWN),
            },
            Some("voucher") => Ok(ChannelAct::Within),
            Some("refund") if !payload.has("amount") => Ok(ChannelAct::Close),
            _ => Err(CHANNEL_KIND_UNKNOWN),
        }
    }

    fn reference(&self, payment: &Value, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let payment = Payment::read(self, payment)?;
        let config = Config::of(&payment)?;
        config.judge_voucher(payment.payload()?)?;
        let network = payment.accepted.get("network").and_then(Value::as_str).ok_or(PAYLOAD_MALFORMED)?;
        Ok(ChannelRef { network: network.to_owned(), channel: config.id.to_string() })
    }

    fn within(&self) -> Option<&dyn Within> {
        Some(self)
    }
}

impl Within for Batch {
    fn build(&self, ask: &WithinAsk<'_>) -> Result<WithinBuild, Declined> {
        let next = Next::of(&PAIRING, ask)?;
        let taken_again = match next.refund() {
            Some(refund) => TakenAgain::of(refund, &next).map_err(|refusal| Declined::refused(DeclineCode::NoPayableOption, &refusal))?,
            None => None,
        };
        let payload = Inside::of(&next, taken_again.as_ref()).map_err(|refusal| unreadable(&refusal))?;
        next.payment(self, payload)
    }

    fn bound(&self, _payment: &Value) -> Result<Hash, Refusal> {
        Err(NOT_BOUND_WITHIN)
    }
}

/// How long the payer waits for a close that the receiver does not sign, in seconds: 15 minutes to 30 days.
fn withdraw_delay(extra: &Object) -> Option<u32> {
    let delay = extra.get("withdrawDelay").and_then(Value::as_safe_unsigned).and_then(|delay| u32::try_from(delay).ok());
    delay.filter(|delay| (900..=2_592_000).contains(delay))
}

/// Whether the delay is no less than the option's timeout, if that is a number.
fn outlasts(delay: u32, option: &Object) -> bool {
    !matches!(option.get("maxTimeoutSeconds"), Some(Value::Number(timeout)) if f64::from(delay) < *timeout)
}

/// The transaction that makes a deposit.
fn deposit_transaction(payload: &Object) -> Result<Transaction, Refusal> {
    let deposit = payload.get("deposit").and_then(Value::as_object).filter(|deposit| deposit.has("transaction"));
    Transaction::read(deposit.ok_or(PAYLOAD_MALFORMED)?.get("transaction"))
}

/// A channel's configuration, which with the fee payer of the option names it.
struct Config {
    /// The channel's address.
    id: Address,
    payer: Address,
    authorizer: Address,
}

impl Config {
    /// The configuration in a payment's payload.
    fn of(payment: &Payment<'_>) -> Result<Self, Refusal> {
        let config = payment.payload()?.get("channelConfig").and_then(Value::as_object);
        config.and_then(|config| Self::read(config, payment.accepted)).ok_or(PAYLOAD_MALFORMED)
    }

    fn read(config: &Object, option: &Object) -> Option<Self> {
        let (payer, authorizer) = (Address::of(config, "payer")?, Address::of(config, "payerAuthorizer").filter(Address::is_on_curve)?);
        Address::of(config, "receiver")?;
        if config.has("receiverAuthorizer") {
            Address::of(config, "receiverAuthorizer")?;
        }
        let delay = config.get("withdrawDelay").and_then(Value::as_safe_unsigned)?;
        u32::try_from(delay).ok().filter(|&delay| delay > 0)?;
        let channel = payment_channels::Channel {
            payer,
            payee: Address::of(extra(option)?, "feePayer")?,
            mint: Address::of(config, "token")?,
            authorized_signer: authorizer,
            salt: config.get("salt").and_then(Value::as_str).filter(|salt| salt.len() <= 20).and_then(encoding::uint64)?,
            open_slot: config.get("openSlot").and_then(Value::as_safe_unsigned)?,
        };
        Some(Self { id: channel.address()?, payer, authorizer })
    }

    /// Whether the payload's voucher, if it has one, names this channel.
    fn judge_voucher(&self, payload: &Object) -> Result<(), Refusal> {
        let names_it = |voucher: &Value| voucher.get("channelId").and_then(Value::as_str) == Some(&self.id.to_string());
        if payload.get("voucher").is_none_or(names_it) { Ok(()) } else { Err(CHANNEL_ID_MISMATCH) }
    }
}

/// What the seller may claim in all.
struct Voucher {
    channel: Address,
    signer: Address,
    max_claimable: u64,
}

impl Voucher {
    fn request(&self) -> Value {
        solana::raw_request(&payment_channels::voucher(&self.channel, self.max_claimable), &self.signer.to_string())
    }

    fn signed(&self, answer: &Value) -> Result<Object, Refusal> {
        Ok(Object::new()
            .with("channelId", self.channel)
            .with("maxClaimableAmount", self.max_claimable.to_string())
            .with("expiresAt", 0u32)
            .with("signature", base58::encode(&signature(answer)?)))
    }
}

/// The opening: a deposit and the first voucher.
struct Opening {
    config: Object,
    payer: Address,
    message: Message,
    deposit: u64,
    voucher: Voucher,
}

impl Payload for Opening {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(batch(vec![solana::message_request(&self.message), self.voucher.request()]))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let [deposit, voucher] = texts(answer)?;
        let transaction = solana::signed(&self.message, &self.payer, signature(deposit)?)?;
        Ok(Object::new()
            .with("type", "deposit")
            .with("channelConfig", self.config.clone())
            .with("voucher", self.voucher.signed(voucher)?)
            .with("deposit", Object::new().with("amount", self.deposit.to_string()).with("transaction", transaction)))
    }
}

/// A payment inside the channel, or a refund of all that is not charged.
struct Inside {
    config: Object,
    voucher: Voucher,
    kind: &'static str,
    /// The payer, and the message by which it asks for the channel's close.
    close: Option<(Address, Message)>,
}

impl Inside {
    fn of(next: &Next<'_>, taken_again: Option<&TakenAgain<'_>>) -> Result<Self, Refusal> {
        // Part of a deposit is not refunded.
        if next.refund().is_some_and(|refund| refund.has("amount")) {
            return Err(INPUT_MALFORMED);
        }
        let order = next.order();
        let option = order.option()?;
        let config = next.config().ok_or(INPUT_MALFORMED)?;
        let Config { id, payer, authorizer } = Config::read(config, option).ok_or(INPUT_MALFORMED)?;
        let max_claimable = next.max_claimable.and_then(|amount| u64::try_from(amount).ok()).ok_or(INPUT_MALFORMED)?;
        let close = taken_again.map(|again| again.message(payer, id, option)).transpose()?;
        Ok(Self {
            config: config.clone(),
            voucher: Voucher { channel: id, signer: authorizer, max_claimable },
            kind: if next.refund().is_some() { "refund" } else { "voucher" },
            close: close.map(|message| (payer, message)),
        })
    }
}

impl Payload for Inside {
    fn request(&self) -> Result<Value, Refusal> {
        let close = self.close.iter().map(|(_, message)| solana::message_request(message));
        Ok(batch(close.chain([self.voucher.request()]).collect()))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let payload = Object::new().with("type", self.kind).with("channelConfig", self.config.clone());
        match &self.close {
            None => {
                let [voucher] = texts(answer)?;
                Ok(payload.with("voucher", self.voucher.signed(voucher)?))
            }
            Some((payer, message)) => {
                let [close, voucher] = texts(answer)?;
                let transaction = solana::signed(message, payer, signature(close)?)?;
                Ok(payload.with("voucher", self.voucher.signed(voucher)?).with("transaction", transaction))
            }
        }
    }
}

/// A refund to be taken again with the payer's own transaction, since the seller cannot close the channel.
struct TakenAgain<'a> {
    blockhash: &'a str,
    budget: Budget,
}

impl<'a> TakenAgain<'a> {
    /// Reads the inputs of a refund, and whether the seller's answer to the refund or else its document asks for it to be
    /// taken again.
    fn of(refund: &Object, next: &'a Next<'_>) -> Result<Option<Self>, Refusal> {
        let inputs = next.inputs();
        let blockhash = solana::key_text(inputs, "recentBlockhash");
        let budget = Budget::of_inputs(inputs, UNIT_LIMIT);
        let (Ok(blockhash), Some(budget), Ok(reason)) = (blockhash, budget, failure(refund)) else { return Err(INPUTS_MALFORMED) };
        let reason = reason.or_else(|| next.order().required.get("error"));
        if reason.and_then(Value::as_str) != Some(RECEIVER_BINDING_UNAVAILABLE) {
            return Ok(None);
        }
        Ok(Some(Self { blockhash: blockhash.ok_or(INPUT_MISSING)?, budget }))
    }

    /// The message by which the payer asks for the channel's close.
    fn message(&self, payer: Address, channel: Address, option: &Object) -> Result<Message, Refusal> {
        let terms = extra(option).ok_or(OPTION_MALFORMED)?;
        let fee_payer = Address::of(terms, "feePayer").ok_or(OPTION_MALFORMED)?;
        let blockhash = base58::decode(self.blockhash).ok_or(INPUT_MALFORMED)?;
        let memo = terms.get("memo").map(|memo| memo.as_str().ok_or(INPUT_MALFORMED)).transpose()?.map(memo::write);
        solana::compiled(fee_payer, blockhash, self.budget, [payment_channels::request_close(payer, channel)].into_iter().chain(memo))
    }
}

/// Why the seller refused a refund before, if its answer is at hand and says so.
fn failure(refund: &Object) -> Result<Option<&Value>, Malformed> {
    let Some(response) = refund.get("paymentResponse") else { return Ok(None) };
    match response.as_object().ok_or(Malformed)?.get("errorReason") {
        None | Some(Value::Null) => Ok(None),
        Some(reason) if reason.as_text().is_some() => Ok(Some(reason)),
        Some(_) => Err(Malformed),
    }
}

fn batch(requests: Vec<Value>) -> Value {
    Object::new().with("kind", "batch").with("requests", requests).into()
}

/// An answer of exactly `N` strings.
fn texts<const N: usize>(answer: &Value) -> Result<&[Value; N], Refusal> {
    let answers: Option<&[Value; N]> = answer.as_array().and_then(|answers| answers.try_into().ok());
    answers.filter(|answers| answers.iter().all(|answer| answer.as_text().is_some())).ok_or(SIGNATURE_MALFORMED)
}

/// A signature in base58.
fn signature(answer: &Value) -> Result<Signature, Refusal> {
    answer.as_str().and_then(base58::decode).ok_or(INPUT_MALFORMED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, Pairing,
        x402::solana::sample::{self, ATR, BLOCKHASH, FEE_PAYER, PAYER, SELLER, TOKEN_PROGRAM, document, h, option},
    };

    const AUTHORIZER: &str = "Esfaf4JvbAY2qa6qaY2StFH4tbVJ8CV2R1xdYdz9oXR8";
    /// Not a point of the curve.
    const OFF_CURVE: &str = "54EzdPWCtV8DyB7PPnXHLdcZDoxFCkUA73XNMiYakdEE";

    fn extra() -> Object {
        sample::terms()
            .with("receiverAuthorizer", SELLER)
            .with("withdrawDelay", 900u32)
            .with("tokenProgram", TOKEN_PROGRAM)
            .with("minDeposit", "0100000")
    }

    fn inputs() -> Object {
        sample::inputs().with("payerAuthorizer", AUTHORIZER).with("openSlot", "312345678")
    }

    fn offer() -> Value {
        document([option("batch-settlement", extra())])
    }

    fn choice() -> Object {
        sample::choose(&PAIRING, &offer(), &inputs()).unwrap()
    }

    fn opening() -> Value {
        let answer = [base58::encode(&[5; 64]).into(), base58::encode(&[6; 64]).into()];
        sample::signed(&*sample::build(&PAIRING, &choice()).unwrap(), answer)
    }

    fn with_payload(payment: &Value, edit: impl FnOnce(&mut Object)) -> Value {
        let mut payload = payment.get("payload").unwrap().as_object().unwrap().clone();
        edit(&mut payload);
        payment.as_object().unwrap().clone().with("payload", payload).into()
    }

    fn held() -> ChannelRef {
        Batch.reference(&opening(), None).unwrap()
    }

    fn within(document: &Value, charged: &str, refund: Option<&Object>, inputs: &Object) -> Result<WithinBuild, Declined> {
        let (h, held, opening) = (ConfirmedHash::rehash(ATR), held(), opening());
        let ask = WithinAsk { document, h: &h, held: &held, opening: &opening, landed: None, charged, refund, inputs, reference: &Value::Null };
        Within::build(&Batch, &ask)
    }

    fn later(error: Option<&str>) -> Value {
        let later = document([option("batch-settlement", extra()).with("amount", "700")]);
        later.as_object().unwrap().clone().with_some("error", error).into()
    }

    #[test]
    fn a_choice_takes_the_sellers_least_deposit_and_draws_a_salt() {
        let kept = choice().without("required").without("accepted");
        let expected = Object::new()
            .with("payer", PAYER)
            .with("now", 1_790_000_000u32)
            .with("payerAuthorizer", AUTHORIZER)
            .with("openSlot", "312345678")
            .with("tokenProgram", TOKEN_PROGRAM)
            .with("recentBlockhash", BLOCKHASH)
            .with("salt", u64::from_be_bytes([7; 8]).to_string())
            .with("deposit", "0100000");
        assert_eq!(kept, expected);
        let refused = |extra: Object, inputs: Object| {
            let offer = document([option("batch-settlement", extra)]);
            sample::choose(&PAIRING, &offer, &inputs).unwrap_err().code().to_owned()
        };
        assert_eq!(refused(extra().with("minDeposit", 5u32), inputs()), "x402/option-malformed");
        assert_eq!(refused(extra().without("minDeposit"), inputs()), "x402/input-missing");
        assert_eq!(refused(extra().with("recentBlockhash", "x"), inputs()), "x402/input-missing");
        assert_eq!(refused(extra(), inputs().with("payerAuthorizer", "x")), "x402/input-missing");
        assert_eq!(refused(extra().with("withdrawDelay", 899u32), inputs()), "x402/no-payable-option");
        assert_eq!(refused(extra().with("voucherSigner", "server"), inputs()), "x402/no-payable-option");
        let slow = document([option("batch-settlement", extra()).with("maxTimeoutSeconds", 901u32)]);
        assert_eq!(sample::choose(&PAIRING, &slow, &inputs()).unwrap_err().code(), "x402/no-payable-option");
    }

    #[test]
    fn an_opening_carries_h_and_names_its_channel() {
        let opening = opening();
        assert_eq!(PAIRING.bound(&opening, None), Ok(h()));
        assert_eq!(Batch.kind(&opening), Ok(ChannelAct::Open));
        assert_eq!(held().network, sample::NETWORK);
        let payload = opening.get("payload").unwrap();
        let voucher = Object::new()
            .with("channelId", held().channel)
            .with("maxClaimableAmount", "2500")
            .with("expiresAt", 0u32)
            .with("signature", base58::encode(&[6; 64]));
        assert_eq!(payload.get("voucher"), Some(&voucher.into()));
        let deposit = payload.get("deposit").unwrap();
        assert_eq!(deposit.get("amount"), Some(&"100000".into()));
        let transaction = Transaction::read(deposit.get("transaction")).unwrap();
        assert_eq!(transaction.signatures, [[0; 64], [5; 64]]);
        assert_eq!(payment_channels::act(&transaction.message).unwrap().1.to_string(), held().channel);
        let memos: Vec<_> = memo::written(&transaction.message).map(|memo| std::str::from_utf8(memo).unwrap()).collect();
        assert_eq!(memos, [h().lcp_string(), format!("x402:batch-settlement:svm:rcvauth:v1:{SELLER}")]);
    }

    #[test]
    fn another_payload_is_no_opening() {
        let refused = |edit: &dyn Fn(&mut Object)| PAIRING.bound(&with_payload(&opening(), edit), None).unwrap_err().code().to_owned();
        let config = |name: &'static str, value: Value| {
            move |payload: &mut Object| {
                let config = payload.get("channelConfig").unwrap().as_object().unwrap().clone().with(name, &value);
                payload.set("channelConfig", config);
            }
        };
        assert_eq!(refused(&|payload| payload.set("type", "voucher")), "x402/not-an-opening");
        assert_eq!(refused(&|payload| payload.set("deposit", Object::new())), "x402/payload-malformed");
        assert_eq!(refused(&|payload| payload.set("deposit", Object::new().with("transaction", "x"))), "svm/tx-malformed");
        assert_eq!(refused(&config("salt", "000000000000000000001".into())), "x402/payload-malformed");
        assert_eq!(refused(&config("salt", "1".into())), "svm/channel-id-mismatch");
        assert_eq!(refused(&config("payerAuthorizer", OFF_CURVE.into())), "x402/payload-malformed");
        assert_eq!(refused(&config("receiverAuthorizer", Value::Null)), "x402/payload-malformed");
        assert_eq!(refused(&|payload| payload.set("voucher", Object::new().with("channelId", PAYER))), "svm/channel-id-mismatch");
        let edited = |edit: fn(&mut Message)| {
            refused(&|payload| {
                let mut transaction = deposit_transaction(payload).unwrap();
                edit(&mut transaction.message);
                payload.set("deposit", Object::new().with("transaction", encoding::base64(&transaction.encode())));
            })
        };
        assert_eq!(edited(|message| message.instructions.truncate(4)), "svm/memo-count");
        assert_eq!(edited(|message| drop(message.instructions.remove(3))), "svm/memo-count");
        assert_eq!(edited(|message| drop(message.instructions.remove(2))), "svm/no-channel-instruction");
        assert_eq!(edited(|message| message.instructions[2].accounts.truncate(13)), "svm/channel-instruction");
        assert_eq!(edited(|message| message.instructions[2].accounts[5] = 0), "svm/channel-id-mismatch");
    }

    #[test]
    fn a_voucher_and_a_refund() {
        for (refund, signed_for, kind, act) in
            [(None, "707", "voucher", ChannelAct::Within), (Some(&Object::new()), "7", "refund", ChannelAct::Close)]
        {
            let build = within(&later(None), "7", refund, &Object::new()).unwrap();
            assert_eq!((build.signed_for.as_str(), build.act), (signed_for, act));
            let payment = sample::signed(&*build.unsigned, [Value::from("1".repeat(64))]);
            assert_eq!(Batch.kind(&payment), Ok(act));
            assert_eq!(Batch.reference(&payment, None), Ok(held()));
            let payload = payment.get("payload").unwrap();
            assert_eq!(payload.get("type"), Some(&kind.into()));
            assert_eq!(payload.get("voucher").unwrap().get("maxClaimableAmount"), Some(&signed_for.into()));
            assert_eq!(payload.get("channelConfig"), opening().get("payload").unwrap().get("channelConfig"));
            assert_eq!(payload.get("transaction"), None);
            assert_eq!(Within::bound(&Batch, &payment).unwrap_err().word(), "not-bound-within");
        }
    }

    #[test]
    fn a_refund_is_taken_again_by_the_payers_transaction() {
        let inputs = Object::new().with("recentBlockhash", BLOCKHASH).with("computeUnitLimit", 9u32);
        let answered = Object::new().with("paymentResponse", Object::new().with("errorReason", RECEIVER_BINDING_UNAVAILABLE));
        let silent = Object::new().with("paymentResponse", Object::new().with("errorReason", Value::Null));
        for (document, refund) in [(later(None), &answered), (later(Some(RECEIVER_BINDING_UNAVAILABLE)), &silent)] {
            let build = within(&document, "0", Some(refund), &inputs).unwrap();
            let payment = sample::signed(&*build.unsigned, [Value::from(base58::encode(&[5; 64])), "1".repeat(64).into()]);
            assert_eq!(Batch.kind(&payment), Ok(ChannelAct::Close));
            let message = Transaction::read(payment.get("payload").unwrap().get("transaction")).unwrap().message;
            let (act, channel) = payment_channels::act(&message).unwrap();
            assert_eq!((act, channel.to_string()), (Act::RequestClose, held().channel));
            assert_eq!(message.keys[..2], [FEE_PAYER, PAYER].map(|text| Address::parse(text).unwrap()));
            assert_eq!(memo::written(&message).collect::<Vec<_>>(), [h().lcp_string().as_bytes()]);
        }
        // The seller's answer counts before its document.
        let other = Object::new().with("paymentResponse", Object::new().with("errorReason", "x"));
        let build = within(&later(Some(RECEIVER_BINDING_UNAVAILABLE)), "0", Some(&other), &Object::new()).unwrap();
        assert_eq!(build.unsigned.request().unwrap().unwrap().get("requests").unwrap().as_array().unwrap().len(), 1);
    }

    #[test]
    fn declines_before_anything_is_signed() {
        let declined = |document: &Value, charged: &str, refund: Option<&Object>, inputs: &Object| {
            within(document, charged, refund, inputs).err().map(|declined| (declined.code.as_str(), declined.detail))
        };
        let unreadable = Some(("offer-unreadable", "svm/input-malformed".to_owned()));
        let none = Object::new();
        assert_eq!(declined(&later(None), &(u64::MAX - 699).to_string(), None, &none), unreadable);
        assert_eq!(declined(&later(None), "0", Some(&Object::new().with("amount", "1")), &none), unreadable);
        let malformed = Some(("no-payable-option", "x402/input-malformed".to_owned()));
        for inputs in [
            Object::new().with("recentBlockhash", "x"),
            Object::new().with("computeUnitLimit", Value::Null),
            Object::new().with("computeUnitPrice", "18446744073709551616"),
        ] {
            assert_eq!(declined(&later(None), "0", Some(&none), &inputs), malformed);
            assert_eq!(declined(&later(None), "0", None, &inputs), None);
        }
        for response in [Value::Null, "x".into(), Object::new().with("errorReason", 5u32).into()] {
            assert_eq!(declined(&later(None), "0", Some(&Object::new().with("paymentResponse", response)), &none), malformed);
        }
        let again = later(Some(RECEIVER_BINDING_UNAVAILABLE));
        assert_eq!(declined(&again, "0", Some(&none), &none), Some(("no-payable-option", "x402/input-missing".to_owned())));
        let other_fee_payer = document([option("batch-settlement", extra().with("feePayer", PAYER))]);
        assert_eq!(declined(&other_fee_payer, "0", None, &none).unwrap().0, "no-payable-option");
    }

    #[test]
    fn answers_are_base58_signatures() {
        let unsigned = sample::build(&PAIRING, &choice()).unwrap();
        let refused = |answer: Value| unsigned.complete(&answer).unwrap_err().code().to_owned();
        let [one, short] = ["1".repeat(64), "1".repeat(63)].map(Value::from);
        for answer in [one.clone(), [one.clone()].into(), [one.clone(), 5u32.into()].into(), [&one, &one, &one].map(Value::from).into()] {
            assert_eq!(refused(answer), "x402/signature-malformed");
        }
        assert_eq!(refused([one, short].into()), "svm/input-malformed");
    }
}
