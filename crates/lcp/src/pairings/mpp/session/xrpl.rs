//! `mpp/session/xrpl`: a transaction that opens a payment channel carries H in a memo; claims then pay inside it.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::{self, uint64},
    inputs::{self, Malformed},
    mpp::{
        CARRIER_NOT_CHALLENGE, CHOICE_MALFORMED, INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Payload, Waiting},
        judge_choice,
        session::{CHANNEL_NAMED, CHANNEL_NOT_BOUND, Next, SESSION_ACTION, Session, Sessions, action},
        xrpl::{fee, is_plain, network, network_name},
    },
    pairing::{Buyer, Channel, ChannelRef, Choice, Unsigned},
    wire::xrpl::{self as wire, AccountId, account_id, channel, is_address_form},
    xrpl::{self, Number, Submission},
};

pub(crate) static PAIRING: Mpp<Xrpl> = Mpp(Xrpl);

pub(crate) struct Xrpl;

const CURRENCY_NOT_XRP: Refusal = Refusal::new("xrpl/currency-not-xrp");
const NOT_CHANNEL_CREATE: Refusal = Refusal::new("xrpl/not-channel-create");
const NO_MEMO: Refusal = Refusal::new("xrpl/no-memo");
const MEMO_COUNT: Refusal = Refusal::new("xrpl/memo-count");

/// Most memos of an opening.
const MAX_MEMOS: usize = 8;

/// What a challenge that opens a channel asks for.
struct Terms<'a> {
    network: u32,
    recipient: &'a Value,
    payee: AccountId,
    /// The first claim: its text, and its drops.
    amount: &'a Value,
    drops: u64,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let request = &offer.request;
        let names_none = request.get("channelId").is_none_or(|id| id.is_null() || is_unnamed(id));
        if !names_none || !offer.details().get("channelId").is_none_or(is_unnamed) {
            return Err(CHANNEL_NAMED);
        }
        let network = network(request)?;
        if request.get("currency").is_some_and(|currency| currency.as_str() != Some("XRP")) {
            return Err(CURRENCY_NOT_XRP);
        }
        let read = || {
            let recipient = request.get("recipient")?;
            let amount = request.get("amount")?;
            let drops = amount.as_str().filter(|drops| is_plain(drops, 20)).and_then(uint64)?;
            Some(Self { network, recipient, payee: account_id(recipient.as_str()?)?, amount, drops })
        };
        read().ok_or(REQUEST_MALFORMED)
    }
}

/// Whether a blob opens a channel on a network, over a hash.
fn judge(blob: &[u8], network: u32, h: Hash) -> Result<(), Refusal> {
    let transaction = xrpl::transaction(blob, network)?;
    if !transaction.is_channel_create() {
        return Err(NOT_CHANNEL_CREATE);
    }
    let memos = transaction.memos();
    if memos.len() > MAX_MEMOS {
        return Err(MEMO_COUNT);
    }
    let mut named = memos.filter_map(|memo| Hash::from_lcp_string(std::str::from_utf8(memo?).ok()?));
    let carried = named.next().ok_or(NO_MEMO)?;
    if named.next().is_some() {
        return Err(MEMO_COUNT);
    }
    if carried == h { Ok(()) } else { Err(CARRIER_NOT_CHALLENGE) }
}

/// Whether a channel's id is left empty.
fn is_unnamed(id: &Value) -> bool {
    id.as_str() == Some("")
}

impl Method for Xrpl {
    fn id(&self) -> &'static str {
        "mpp/session/xrpl"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        network(&offer.request).ok().map(network_name)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| is_address_form(&account.address)).ok_or(NO_PAYABLE_OPTION)?;
        let deposit = inputs::decimal(buyer.inputs, "deposit").ok().flatten().ok_or(INPUT_MISSING)?;
        let given = buyer.inputs.get("xrpl").and_then(Value::as_object).ok_or(INPUT_MISSING)?;
        let key = given.get("publicKey").and_then(Value::as_str).and_then(|key| key.strip_prefix("0x"));
        let key = key.filter(|key| is_filled_hex(key)).ok_or(INPUT_MISSING)?;
        let submission = xrpl::submission_inputs(given, &["settleDelay", "sequence", "lastLedgerSequence"]).ok_or(INPUT_MISSING)?;
        let cancel_after = inputs::member(given, "cancelAfter", Value::as_safe_unsigned).map_err(|Malformed| INPUT_MISSING)?;
        let kept = submission.with("publicKey", key).with_some("cancelAfter", cancel_after);
        Ok(Object::new().with("from", account.address).with("now", buyer.now).with("deposit", deposit).with("xrpl", kept))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_choice(choice)?;
        let deposit = inputs::decimal(choice, "deposit").map_err(|Malformed| CHOICE_MALFORMED)?;
        let given = choice.get("xrpl").and_then(Value::as_object).ok_or(INPUT_MALFORMED)?;
        let offer = Offer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        let opening = Opening::of(choice, deposit, given, terms.network).ok_or(INPUT_MALFORMED)?;
        let channel = channel::id(&opening.account, &terms.payee, opening.sequence);
        let request = Object::new()
            .with("kind", "xrpl-session-open")
            .with("txJson", opening.transaction(terms.recipient, offer.h))
            .with("claim", claim(&channel, terms.drops));
        let source = format!("did:pkh:{}:{}", network_name(terms.network), opening.from);
        let (network, h, amount) = (terms.network, offer.h, terms.amount.clone());
        let payload = move |answer: &Value| {
            let text = |name| answer.get(name).filter(|value| value.as_text().is_some()).ok_or(CREDENTIAL_MALFORMED);
            let (blob, signature) = (text("signedBlob")?, text("claimSignature")?);
            judge(&xrpl::blob(Some(blob))?, network, h)?;
            judge_signature(signature)?;
            let payload = Object::new().with("action", "open").with("transaction", blob);
            Ok(payload.with("amount", &amount).with("signature", signature))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(source), OneStep { request: request.into(), payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let terms = Terms::of(offer)?;
        if action(credential.payload) != Some("open") {
            return Err(SESSION_ACTION);
        }
        judge(&xrpl::blob(credential.payload.get("transaction"))?, terms.network, offer.h)?;
        Ok(offer.h)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(&Sessions(Self))
    }
}

/// The opening of a channel, of a choice.
struct Opening<'a> {
    from: &'a str,
    account: AccountId,
    /// Drops.
    deposit: u64,
    /// The key that claims are signed with, in hex.
    key: &'a str,
    /// How long the payee has to claim once the payer asks for the rest, in seconds.
    settle_delay: u32,
    /// When the channel closes, whatever happens, in seconds of the ledger's time.
    cancel_after: Option<u32>,
    sequence: u32,
    submission: Submission<'a>,
}

impl<'a> Opening<'a> {
    fn of(choice: &'a Object, deposit: Option<&str>, given: &'a Object, network: u32) -> Option<Self> {
        let from = choice.get("from")?.as_str()?;
        let uint = |name| xrpl::uint32(given, name);
        let sequence = uint("sequence")?;
        Some(Self {
            from,
            account: account_id(from)?,
            deposit: uint64(deposit?).filter(|&deposit| deposit > 0)?,
            key: given.get("publicKey")?.as_str().filter(|key| is_filled_hex(key))?,
            settle_delay: uint("settleDelay")?,
            cancel_after: if given.has("cancelAfter") { Some(uint("cancelAfter")?) } else { None },
            sequence,
            submission: Submission { fee: fee(given)?, number: Number::Sequence(sequence), last_ledger: uint("lastLedgerSequence")?, network },
        })
    }

    fn transaction(&self, recipient: &Value, h: Hash) -> Object {
        let memo = Object::new().with("Memo", Object::new().with("MemoData", wire::hex(h.lcp_string().as_bytes())));
        let transaction = xrpl::unsigned("PaymentChannelCreate", &self.from.into(), recipient)
            .with("Amount", self.deposit.to_string())
            .with("SettleDelay", self.settle_delay)
            .with("PublicKey", self.key.to_uppercase())
            .with_some("CancelAfter", self.cancel_after)
            .with("Memos", [memo.into()]);
        self.submission.write(transaction)
    }
}

/// What is signed to let the payee claim so many drops.
fn claim(channel: &[u8; 32], drops: u64) -> Object {
    Object::new().with("channelId", wire::hex(channel)).with("drops", drops.to_string()).with("bytes", encoding::hex(&channel::claim(channel, drops)))
}

/// Whether the text is bytes in hex without a prefix, at least one.
fn is_filled_hex(text: &str) -> bool {
    xrpl::bare_hex(text).is_some_and(|bytes| !bytes.is_empty())
}

/// Whether an answer has the form of a claim's signature.
fn judge_signature(answer: &Value) -> Result<(), Refusal> {
    if answer.as_str().is_some_and(is_filled_hex) { Ok(()) } else { Err(CREDENTIAL_MALFORMED) }
}

/// A channel's id, of 64 hex digits.
fn channel_id(text: &str) -> Option<[u8; 32]> {
    xrpl::bare_hex(text)?.try_into().ok()
}

/// The channel that an object's `channelId` names, on the network that a request's details name.
fn named(request: &Object, holder: &Object) -> Result<ChannelRef, Refusal> {
    let id = holder.get("channelId").and_then(Value::as_str).and_then(channel_id).ok_or(CHANNEL_NOT_BOUND)?;
    Ok(ChannelRef { network: network_name(network(request)?), channel: wire::hex(&id) })
}

impl Session for Xrpl {
    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal> {
        match request.get("channelId") {
            None => Ok(None),
            Some(id) if is_unnamed(id) => Ok(None),
            Some(_) => named(request, request).map(Some),
        }
    }

    fn channel_of(&self, request: &Object, payload: &Object, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        if !self.opens(payload) {
            return named(request, payload);
        }
        let network = network(request)?;
        let blob = xrpl::blob(payload.get("transaction"))?;
        let id = xrpl::transaction(&blob, network)?.channel_id().ok_or(NOT_CHANNEL_CREATE)?;
        Ok(ChannelRef { network: network_name(network), channel: wire::hex(&id) })
    }

    fn amount_bits(&self, _request: &Object) -> Result<u32, Refusal> {
        Ok(u64::BITS)
    }

    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal> {
        let channel = channel_id(&next.held.channel).ok_or(CHANNEL_NOT_BOUND)?;
        let drops = u64::try_from(next.cumulative).map_err(|_| INPUT_MALFORMED)?;
        let claim = claim(&channel, drops);
        let members =
            Object::new().with("action", next.action).with_some("channelId", claim.get("channelId")).with_some("amount", claim.get("drops"));
        let payload = move |answer: &Value| {
            judge_signature(answer)?;
            Ok(members.clone().with("signature", answer))
        };
        Ok(Box::new(OneStep { request: claim.with("kind", "xrpl-claim").into(), payload }))
    }
}
