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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, DeclineCode, Declined, Pairing,
        mpp::sample::{ATR, build, challenge, encoded, h, object, paid, request, with_payload},
        pairing::{ChannelAct, Within, WithinAsk, WithinBuild},
    };

    const PAYER: &str = "rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD";
    const SELLER: &str = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe";
    /// The channel that they open by the payer's transaction 7.
    const CHANNEL: &str = "92ABF8261CCC54FB4A2F7A2349BCB7C2D839346CC3938C1F9686E5C8A18F827E";

    fn asked(more: &str) -> Object {
        object(&format!("{{'amount':'100','currency':'XRP','recipient':'{SELLER}','methodDetails':{{'network':'testnet'}}{more}}}"))
    }

    fn session(request: Object) -> Object {
        challenge(&h(), "session", "xrpl", request)
    }

    fn given(more: &str) -> String {
        format!("{{'deposit':'05000000','xrpl':{{'publicKey':'0xed01','settleDelay':60,'fee':'12','sequence':7,'lastLedgerSequence':90{more}}}}}")
    }

    fn choose(account: &str, inputs: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &object(inputs), now: 5, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[session(asked("")).into()].into())?, &buyer)
    }

    fn choice() -> Object {
        choose(&format!("xrpl:1:{PAYER}"), &given("")).unwrap()
    }

    fn refused(choice: &Object) -> String {
        build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    /// A blob of a kind, by the payer to the seller, of members of its memos.
    fn blob(kind: u8, sequence: u32, memos: &[Vec<u8>]) -> String {
        let ids = [PAYER, SELLER].map(|address| wire::hex(&account_id(address).unwrap()));
        let memos = wire::hex(&memos.concat());
        format!("1200{kind:02X}24{sequence:08X}8114{}8314{}F9{memos}F1", ids[0], ids[1])
    }

    fn memo(text: &[u8]) -> Vec<u8> {
        [&[0xEA, 0x7D, u8::try_from(text.len()).unwrap()], text, &[0xE1]].concat()
    }

    fn opening_blob() -> String {
        blob(13, 7, &[memo(h().lcp_string().as_bytes())])
    }

    fn answer(blob: &str) -> Value {
        Object::new().with("signedBlob", blob).with("claimSignature", "AB").into()
    }

    fn opening() -> Value {
        paid(&*build(&PAIRING, &choice()).unwrap(), &answer(&opening_blob())).unwrap()
    }

    fn channel() -> &'static dyn Channel {
        PAIRING.channel().unwrap()
    }

    #[test]
    fn the_wallet_is_asked_for_a_channel_and_a_claim() {
        let request = request(&*build(&PAIRING, &choice()).unwrap());
        let memo = wire::hex(h().lcp_string().as_bytes());
        let transaction = format!(
            "{{'TransactionType':'PaymentChannelCreate','Flags':0,'Account':'{PAYER}','Destination':'{SELLER}','Amount':'5000000','SettleDelay':60,'PublicKey':'ED01','Memos':[{{'Memo':{{'MemoData':'{memo}'}}}}],'Fee':'12','Sequence':7,'LastLedgerSequence':90}}"
        );
        assert_eq!(request.get("txJson"), Some(&object(&transaction).into()));
        let claim = format!("{{'channelId':'{CHANNEL}','drops':'100','bytes':'0x434c4d00{}0000000000000064'}}", CHANNEL.to_lowercase());
        assert_eq!(request.get("claim"), Some(&object(&claim).into()));
        let cancelled = choose(&format!("xrpl:1:{PAYER}"), &given(",'cancelAfter':8")).unwrap();
        let transaction = request_of(&cancelled).get("txJson").unwrap().clone();
        assert_eq!(transaction.get("CancelAfter"), Some(&8u32.into()));
    }

    fn request_of(choice: &Object) -> Value {
        request(&*build(&PAIRING, choice).unwrap())
    }

    #[test]
    fn the_opening_names_the_channel() {
        let opening = opening();
        assert_eq!(opening.get("source"), Some(&format!("did:pkh:xrpl:1:{PAYER}").into()));
        let payload = format!("{{'action':'open','transaction':'{}','amount':'100','signature':'AB'}}", opening_blob());
        assert_eq!(opening.get("payload"), Some(&object(&payload).into()));
        assert_eq!(PAIRING.bound(&opening, None), Ok(h()));
        let held = ChannelRef { network: "xrpl:1".to_owned(), channel: CHANNEL.to_owned() };
        assert_eq!((channel().kind(&opening), channel().reference(&opening, None)), (Ok(ChannelAct::Open), Ok(held)));
        // Without a number there is no channel; a ticket is one.
        let numbered = |blob: String| channel().reference(&with_payload(&opening, "transaction", blob), None);
        assert_eq!(numbered(blob(13, 0, &[])), Err(NOT_CHANNEL_CREATE));
        let ticket = blob(13, 0, &[]).replace("8114", "2029000000078114");
        assert_eq!(numbered(ticket).unwrap().channel, CHANNEL);
        assert_eq!(numbered(blob(0, 7, &[])), Err(NOT_CHANNEL_CREATE));
    }

    #[test]
    fn an_answer_is_refused_for_its_first_fault() {
        let unsigned = build(&PAIRING, &choice()).unwrap();
        let code = |answer: Value| paid(&*unsigned, &answer).unwrap_err().code().to_owned();
        for malformed in [Value::Null, opening_blob().into(), answer("x").as_object().unwrap().without("claimSignature").into()] {
            assert_eq!(code(malformed), "mpp/credential-malformed");
        }
        for signature in ["", "ABC", "0xAB", "zz"] {
            assert_eq!(
                code(answer(&opening_blob()).as_object().unwrap().clone().with("claimSignature", signature).into()),
                "mpp/credential-malformed"
            );
        }
        let lcp = memo(h().lcp_string().as_bytes());
        let other = memo(Hash::of(b"x").lcp_string().as_bytes());
        let more = memo(&[0xFF]);
        for (blob, expected) in [
            ("x".to_owned(), "xrpl/blob-malformed"),
            (blob(0, 7, std::slice::from_ref(&lcp)), "xrpl/not-channel-create"),
            (blob(13, 7, &[]), "xrpl/no-memo"),
            (blob(13, 7, std::slice::from_ref(&more)), "xrpl/no-memo"),
            (blob(13, 7, &[lcp.clone(), lcp.clone()]), "xrpl/memo-count"),
            (blob(13, 7, &[other]), "mpp/carrier-not-challenge"),
            (blob(13, 7, &[vec![more.clone(); 8], vec![lcp.clone()]].concat()), "xrpl/memo-count"),
            // A memo by another name is none.
            (blob(13, 7, &[[&[0xEB], &lcp[1..]].concat()]), "xrpl/no-memo"),
        ] {
            let answer = answer(&blob).as_object().unwrap().clone().with("claimSignature", "");
            assert_eq!(code(answer.into()), expected, "{blob}");
        }
        let eight = blob(13, 7, &[vec![more; 7], vec![lcp]].concat());
        assert!(paid(&*unsigned, &answer(&eight)).is_ok());
        assert_eq!(PAIRING.bound(&with_payload(&opening(), "action", "voucher"), None), Err(SESSION_ACTION));
    }

    #[test]
    fn requests_have_their_forms() {
        let code = |request: Object| refused(&choice().with("challenge", session(request)));
        for (more, expected) in [
            ("", ""),
            (",'channelId':''", ""),
            (",'channelId':null", ""),
            (",'channelId':5,'currency':'USD'", "mpp/channel-named"),
            (",'methodDetails':{'network':'x','channelId':null}", "mpp/channel-named"),
            (",'methodDetails':{'network':'testnet','channelId':''}", ""),
            (",'methodDetails':{},'currency':'USD'", "xrpl/network-missing"),
            (",'methodDetails':{'network':'xrpl:1'}", "xrpl/network-malformed"),
            (",'currency':null,'amount':'x'", "xrpl/currency-not-xrp"),
            (",'amount':'01'", "mpp/request-malformed"),
            (",'amount':'0'", ""),
            (",'amount':'18446744073709551616'", "mpp/request-malformed"),
            (",'recipient':'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYf'", "mpp/request-malformed"),
        ] {
            assert_eq!(code(asked(more)), expected, "{more}");
        }
        assert_eq!(code(asked("").without("currency")), "");
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let account = format!("xrpl:1:{PAYER}");
        for inputs in [
            "{}",
            "{'deposit':5,'xrpl':{}}",
            &given("").replace("0xed01", "ed01"),
            &given("").replace("0xed01", "0x"),
            &given("").replace("60", "'60'"),
            &given(",'cancelAfter':null"),
        ] {
            assert_eq!(choose(&account, inputs), Err(INPUT_MISSING), "{inputs}");
        }
        assert_eq!(choose("xrpl:1:x", &given("")), Err(NO_PAYABLE_OPTION));
        let kept = choice();
        assert_eq!(kept.get("xrpl").and_then(|kept| kept.get("publicKey")), Some(&"ed01".into()));
        let faults =
            [("deposit", Value::from("x")), ("xrpl", Value::Null), ("challenge", session(asked("")).with("id", "x").into()), ("from", "x".into())];
        for (nth, code) in ["mpp/choice-malformed", "mpp/input-malformed", "mpp/id-not-ours", "mpp/input-malformed"].iter().enumerate() {
            let choice = faults[nth..].iter().fold(kept.clone(), |choice, (name, value)| choice.with(*name, value));
            assert_eq!(refused(&choice), *code, "{nth}");
        }
        for deposit in ["0", "18446744073709551616"] {
            assert_eq!(refused(&kept.clone().with("deposit", deposit)), "mpp/input-malformed");
        }
        let members = kept.get("xrpl").and_then(Value::as_object).unwrap();
        for (name, value) in
            [("publicKey", Value::from("0xed01")), ("fee", "012".into()), ("settleDelay", (1u64 << 32).into()), ("cancelAfter", Value::Null)]
        {
            assert_eq!(refused(&kept.clone().with("xrpl", members.clone().with(name, value))), "mpp/input-malformed", "{name}");
        }
    }

    fn within(document: Vec<Value>, charged: &str, refund: Option<&Object>) -> Result<WithinBuild, Declined> {
        let opening = opening();
        Within::build(
            &Sessions(Xrpl),
            &WithinAsk {
                document: &document.into(),
                h: &ConfirmedHash::rehash(ATR),
                held: &channel().reference(&opening, None).unwrap(),
                opening: &opening,
                landed: None,
                charged,
                refund,
                inputs: &Object::new(),
                reference: &Value::Null,
            },
        )
    }

    /// A challenge of the seller's own.
    fn own(more: &str) -> Value {
        object("{'id':'1','realm':'r','method':'xrpl','intent':'session'}").with("request", encoded(asked(more))).into()
    }

    #[test]
    fn claims_pay_inside_the_channel() {
        let naming = own(&format!(",'channelId':'{}','currency':'USD'", CHANNEL.to_lowercase()));
        let all = Object::new();
        for (refund, action, act, drops) in [(None, "voucher", ChannelAct::Within, 107), (Some(&all), "close", ChannelAct::Close, 7)] {
            let build = within(vec![Value::Null, naming.clone()], "7", refund).unwrap();
            assert_eq!((build.signed_for, build.act), (drops.to_string(), act));
            let claim = format!(
                "{{'kind':'batch','requests':[{{'channelId':'{CHANNEL}','drops':'{drops}','bytes':'0x434c4d00{}{drops:016x}','kind':'xrpl-claim'}}]}}",
                CHANNEL.to_lowercase()
            );
            assert_eq!(request(&*build.unsigned), object(&claim).into());
            let payment = paid(&*build.unsigned, &["ab".into()].into()).unwrap();
            let payload = format!("{{'action':'{action}','channelId':'{CHANNEL}','amount':'{drops}','signature':'ab'}}");
            assert_eq!((payment.get("payload"), payment.get("source")), (Some(&object(&payload).into()), None));
            assert_eq!(channel().kind(&payment), Ok(act));
            assert_eq!(channel().reference(&payment, None), channel().reference(&opening(), None));
            assert_eq!(Within::bound(&Sessions(Xrpl), &payment).unwrap_err().word(), "not-bound-within");
            for answer in [Value::Null, ["".into()].into(), ["0xAB".into()].into(), [5u32.into()].into()] {
                assert_eq!(paid(&*build.unsigned, &answer), Err(CREDENTIAL_MALFORMED), "{answer:?}");
            }
        }
    }

    #[test]
    fn the_first_challenge_of_the_channel_is_paid() {
        let declined = |document: Vec<Value>, charged: &str| within(document, charged, None).err().map(|declined| (declined.code, declined.detail));
        let naming = || own(&format!(",'channelId':'{CHANNEL}'"));
        let unpayable = Some((DeclineCode::NoPayableOption, "mpp/no-payable-option".to_owned()));
        assert_eq!(declined(vec![own(",'channelId':'AB'"), own(",'channelId':null"), own(&format!(",'channelId':'0x{CHANNEL}'"))], "0"), unpayable);
        let elsewhere = own(&format!(",'channelId':'{}','methodDetails':{{'network':'mainnet'}}", "AB".repeat(32)));
        assert_eq!(declined(vec![elsewhere, naming()], "0"), None);
        assert_ne!(declined(vec![own(&format!(",'channelId':'{}'", "AB".repeat(32))), naming()], "0"), None);
        assert_eq!(declined(vec![session(asked(",'channelId':''")).into()], "0"), None);
        let too_much = Some((DeclineCode::OfferUnreadable, "mpp/input-malformed".to_owned()));
        assert_eq!(declined(vec![naming()], &(u64::MAX - 100).to_string()), None);
        assert_eq!(declined(vec![naming()], &(u64::MAX - 99).to_string()), too_much);
    }
}
