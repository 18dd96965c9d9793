//! `mpp/session/hedera`: the buyer's deposit opens an escrow's channel whose salt is H, which is read from the log of the
//! landing; vouchers then pay inside it.

use crate::{
    Hash, Object, Refusal, Value,
    encoding::{self, from_hex, hex_len, uint128},
    inputs,
    mpp::{
        CARRIER_NOT_CHALLENGE, INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, Offer, REQUEST_MALFORMED,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, OneStep, Payload, Waiting},
        details,
        evm::{Payer, bytes32, landed},
        hedera::Network,
        judge_choice,
        session::{CHANNEL_NAMED, CHANNEL_NOT_BOUND, Next, SESSION_ACTION, Session, Sessions, Voucher},
    },
    pairing::{Buyer, Channel, ChannelRef, Choice, Unsigned},
    wire::evm::{self, AbiReader, Domain, Word, ZERO_ADDRESS, payment_channel::PaymentChannel},
};

pub(crate) static PAIRING: Mpp<Hedera> = Mpp(Hedera);

pub(crate) struct Hedera;

const READ_FIRST: Refusal = Refusal::new("hedera/read-first");
const CHANNEL_LOG_NOT_FOUND: Refusal = Refusal::new("hedera/channel-log-not-found");
const CHANNEL_ID_MISMATCH: Refusal = Refusal::new("hedera/channel-id-mismatch");

/// The gas that the wallet is to give the call that lets the escrow take the deposit, and the one that opens the channel.
const APPROVE_GAS: &str = "1000000";
const OPEN_GAS: &str = "1500000";

/// The topic of the escrow's log of an opened channel.
const OPENED: &str = "0xcd6e60364f8ee4c2b0d62afc07a1fb04fd267ce94693f93f8f85daaa099b5c94";
/// Its data: token, signer, salt, deposit.
const OPENED_WORDS: usize = 4;

/// The contract that holds a session's channels.
struct Escrow<'a> {
    network: Network,
    contract: &'a str,
}

impl<'a> Escrow<'a> {
    /// Reads a challenge's request.
    fn of(request: &'a Object) -> Result<Self, Refusal> {
        let network = network(request)?;
        Ok(Self { network, contract: evm::address(details(request), "escrowContract").ok_or(REQUEST_MALFORMED)? })
    }

    fn voucher(&self, channel: &str, cumulative: u128) -> Value {
        let contract = &self.contract.to_ascii_lowercase();
        let domain = Domain { name: "Hedera Stream Channel", version: "1", chain_id: self.network.chain_id(), contract };
        Voucher { domain, amount: "uint128", channel, cumulative }.typed_data().into()
    }
}

/// The network of a request; the main one where it names none.
fn network(request: &Object) -> Result<Network, Refusal> {
    match details(request).get("chainId") {
        None | Some(Value::Null) => Ok(Network::Mainnet),
        Some(chain_id) => Network::of(chain_id),
    }
}

/// What a challenge that opens a channel asks for.
struct Terms<'a> {
    escrow: Escrow<'a>,
    currency: &'a str,
    recipient: &'a str,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        if offer.details().has("channelId") {
            return Err(CHANNEL_NAMED);
        }
        let escrow = Escrow::of(&offer.request)?;
        let address = |name| evm::address(&offer.request, name).ok_or(REQUEST_MALFORMED);
        Ok(Self { escrow, currency: address("currency")?, recipient: address("recipient")? })
    }
}

impl Method for Hedera {
    fn id(&self) -> &'static str {
        "mpp/session/hedera"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        network(&offer.request).ok().map(|network| network.name().to_owned())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(buyer)?;
        let deposit = inputs::decimal(buyer.inputs, "deposit").ok().flatten().ok_or(INPUT_MISSING)?;
        Ok(payer.with("deposit", deposit))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_choice(chosen.choice)?;
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        let deposit = chosen.choice.get("deposit").and_then(Value::as_str).and_then(uint128).filter(|&deposit| deposit > 0).ok_or(INPUT_MALFORMED)?;
        let channel = PaymentChannel {
            payer: payer.from,
            payee: terms.recipient,
            token: terms.currency,
            salt: *chosen.h.bytes(),
            signer: ZERO_ADDRESS,
            escrow: terms.escrow.contract,
            chain_id: terms.escrow.network.chain_id(),
        };
        let call = |to: &str, data: Option<String>, gas: &str| {
            let call = Object::new().with("to", to.to_ascii_lowercase()).with("data", data.ok_or(INPUT_MALFORMED)?).with("gas", gas);
            Ok::<_, Refusal>(Value::from(call))
        };
        let calls =
            [call(terms.currency, channel.approve_call(deposit), APPROVE_GAS)?, call(terms.escrow.contract, channel.open_call(deposit), OPEN_GAS)?];
        let id = encoding::hex(&channel.id().ok_or(INPUT_MALFORMED)?);
        let request = Object::new()
            .with("kind", "hedera-session-open")
            .with("chainId", channel.chain_id)
            .with("calls", calls)
            .with("voucher", terms.escrow.voucher(&id, 0));
        Ok(Box::new(Waiting::new(&offer.challenge, None, Opening { request: request.into(), channel: id })))
    }

    /// The wallet sends the deposit.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let payload = credential.payload;
        if !self.opens(payload) {
            return Err(SESSION_ACTION);
        }
        let logs = landed.and_then(|landed| landed.get("logs")).and_then(Value::as_array).ok_or(READ_FIRST)?;
        let channel = bytes32(payload, "channelId").ok_or(CREDENTIAL_MALFORMED)?;
        let escrow = Terms::of(offer)?.escrow;
        let opened = Opened::find(logs, &escrow, &channel.to_string()).ok_or(CHANNEL_LOG_NOT_FOUND)?;
        if opened.salt != *offer.h.bytes() {
            return Err(CARRIER_NOT_CHALLENGE);
        }
        if opened.channel(&escrow) == Some(*channel.bytes()) { Ok(offer.h) } else { Err(CHANNEL_ID_MISMATCH) }
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(&Sessions(Self))
    }
}

impl Session for Hedera {
    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal> {
        let details = details(request);
        if !details.has("channelId") {
            return Ok(None);
        }
        self.channel_of(request, details, None).map(Some)
    }

    fn channel_of(&self, request: &Object, named: &Object, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let channel = bytes32(named, "channelId").ok_or(CHANNEL_NOT_BOUND)?;
        Ok(ChannelRef { network: network(request)?.name().to_owned(), channel: channel.to_string() })
    }

    fn amount_bits(&self, _request: &Object) -> Result<u32, Refusal> {
        Ok(128)
    }

    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal> {
        let voucher = Escrow::of(next.opening_request)?.voucher(&next.held.channel, next.cumulative);
        let request = Object::new().with("kind", "eip712").with("typedData", voucher).into();
        let members = next.members();
        let payload = move |answer: &Value| {
            let signature = answer.as_str().filter(|text| hex_len(text).is_some_and(|length| length > 0)).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(members.clone().with("signature", signature))
        };
        Ok(Box::new(OneStep { request, payload }))
    }
}

/// The opening: the deposit that the wallet sends, and the first voucher, over nothing.
struct Opening {
    request: Value,
    channel: String,
}

impl Payload for Opening {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let answer = answer.as_object().ok_or(CREDENTIAL_MALFORMED)?;
        bytes32(answer, "openTx").ok_or(CREDENTIAL_MALFORMED)?;
        let signature = answer.get("signature").filter(|signature| signature.as_str().is_some_and(|text| hex_len(text).is_some()));
        let payload = Object::new()
            .with("action", "open")
            .with("channelId", self.channel.as_str())
            .with_some("txHash", answer.get("openTx"))
            .with("cumulativeAmount", "0")
            .with("signature", signature.ok_or(CREDENTIAL_MALFORMED)?);
        Ok(Answered::Payload(payload, landed(answer)?))
    }
}

/// A channel as the escrow's log of its opening tells it; addresses as text.
struct Opened {
    payer: String,
    payee: String,
    token: String,
    signer: String,
    salt: Word,
}

impl Opened {
    /// The one log of the channel's opening.
    fn find(logs: &[Value], escrow: &Escrow<'_>, channel: &str) -> Option<Self> {
        let mut found = logs.iter().filter_map(|log| Log::of(log, escrow, channel));
        match (found.next(), found.next()) {
            (Some(log), None) => log.read(),
            _ => None,
        }
    }

    fn channel(&self, escrow: &Escrow<'_>) -> Option<Word> {
        let channel = PaymentChannel {
            payer: &self.payer,
            payee: &self.payee,
            token: &self.token,
            salt: self.salt,
            signer: &self.signer,
            escrow: escrow.contract,
            chain_id: escrow.network.chain_id(),
        };
        channel.id()
    }
}

/// A log that says of a channel that it was opened.
struct Log<'a> {
    payer: &'a Value,
    payee: &'a Value,
    data: Vec<u8>,
}

impl<'a> Log<'a> {
    fn of(log: &'a Value, escrow: &Escrow<'_>, channel: &str) -> Option<Self> {
        let is = |value: &Value, text: &str| value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(text));
        let [event, named, payer, payee] = log.get("topics")?.as_array()? else { return None };
        let are_texts = [payer, payee].iter().all(|topic| topic.as_text().is_some());
        if !(are_texts && is(log.get("address")?, escrow.contract) && is(event, OPENED) && is(named, channel)) {
            return None;
        }
        let data = log.get("data")?.as_str().filter(|data| hex_len(data) == Some(OPENED_WORDS * 32))?;
        Some(Self { payer, payee, data: from_hex(data)? })
    }

    fn read(&self) -> Option<Opened> {
        let address = |word: &[u8]| AbiReader::new(word)?.address(0).map(encoding::hex);
        let topic = |topic: &Value| address(Hash::parse(topic.as_str()?)?.bytes());
        let data = AbiReader::new(&self.data)?;
        Some(Opened {
            payer: topic(self.payer)?,
            payee: topic(self.payee)?,
            token: data.address(0).map(encoding::hex)?,
            signer: data.address(1).map(encoding::hex)?,
            salt: *data.word(2)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, DeclineCode, Declined,
        mpp::sample::{self, ATR, PAYER, RECIPIENT, TOKEN, challenge, encoded, h, object, parsed, request, with_payload},
        pairing::{ChannelAct, Completed, Pairing, Within, WithinAsk, WithinBuild},
        wire::evm::keccak,
    };

    const ESCROW: &str = "0x00000000000000000000000000000000005A0001";
    const NETWORK: &str = "hedera:testnet";

    fn session(details: &str) -> Object {
        object(&format!(
            "{{'amount':'5','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':296,'escrowContract':'{ESCROW}'{details}}}}}"
        ))
    }

    fn choice() -> Object {
        let asked = challenge(&h(), "session", "hedera", session(""));
        sample::choose(&PAIRING, NETWORK, asked, "{'deposit':'0100'}").unwrap()
    }

    fn asked() -> Value {
        request(&*sample::build(&PAIRING, &choice()).unwrap())
    }

    fn channel_id() -> String {
        asked().get("voucher").unwrap().get("message").unwrap().get("channelId").and_then(Value::as_str).unwrap().to_owned()
    }

    fn word(address: &str) -> String {
        format!("0x{:0>64}", address[2..].to_lowercase())
    }

    /// The escrow's log of the opening.
    fn log() -> Object {
        let data = [TOKEN, ZERO_ADDRESS].map(|address| word(address)[2..].to_owned()).concat();
        let data = format!("0x{data}{}{:0>64}", &h().to_string()[2..], "64");
        let topics = [OPENED.to_owned(), channel_id(), word(PAYER), word(RECIPIENT)].map(Value::from);
        Object::new().with("address", ESCROW).with("topics", topics).with("data", data)
    }

    fn receipt(logs: &[Object]) -> Object {
        let logs: Vec<_> = logs.iter().cloned().map(Value::from).collect();
        Object::new().with("transaction", "0x").with("blockNumber", "007").with("logs", logs)
    }

    fn answer(landed: impl Into<Value>) -> Object {
        Object::new().with("openTx", &h()).with("signature", "0x22").with("landed", landed)
    }

    fn completed(answer: Object) -> Result<(Value, Option<Value>), Refusal> {
        match sample::build(&PAIRING, &choice()).unwrap().complete(&answer.into())? {
            Completed::Payment { signed, landed } => Ok((signed, landed)),
            Completed::Next(request) => panic!("asks for more: {request:?}"),
        }
    }

    fn opening() -> Value {
        completed(answer(receipt(&[log()]))).unwrap().0
    }

    fn channel() -> &'static dyn Channel {
        PAIRING.channel().unwrap()
    }

    #[test]
    fn the_calls_let_the_escrow_take_the_deposit_and_open_the_channel() {
        assert!(PAIRING.moves(&asked()));
        let approve = format!("0x095ea7b3{}{:0>64}", &word(ESCROW)[2..], "64");
        let tail = format!("{:0>64}{}{:0>64}", "64", &h().to_string()[2..], "");
        let open = format!("0xc79ea485{}{}{tail}", &word(RECIPIENT)[2..], &word(TOKEN)[2..]);
        let (token, escrow) = (TOKEN.to_lowercase(), ESCROW.to_lowercase());
        let calls = format!("[{{'to':'{token}','data':'{approve}','gas':'1000000'}},{{'to':'{escrow}','data':'{open}','gas':'1500000'}}]");
        assert_eq!(asked().get("calls"), Some(&parsed(&calls)));
        let domain = format!("{{'name':'Hedera Stream Channel','version':'1','chainId':296,'verifyingContract':'{escrow}'}}");
        assert_eq!(asked().get("voucher").unwrap().get("domain"), Some(&parsed(&domain)));
        let event = "ChannelOpened(bytes32,address,address,address,address,bytes32,uint256)";
        assert_eq!(OPENED, encoding::hex(&keccak(event.as_bytes())));
    }

    #[test]
    fn an_opening_is_bound_through_its_log() {
        let (signed, landed) = completed(answer(receipt(&[Object::new(), log()]).with("status", "0x1"))).unwrap();
        let payload = format!("{{'action':'open','channelId':'{}','txHash':'{}','cumulativeAmount':'0','signature':'0x22'}}", channel_id(), h());
        assert_eq!(signed.get("payload"), Some(&parsed(&payload)));
        assert_eq!(landed, Some(receipt(&[Object::new(), log()]).with("blockNumber", "7").into()));
        assert_eq!(PAIRING.bound(&signed, landed.as_ref()), Ok(h()));
        assert_eq!(channel().kind(&signed), Ok(ChannelAct::Open));
        assert_eq!(channel().reference(&signed, None), Ok(ChannelRef { network: NETWORK.to_owned(), channel: channel_id() }));
        assert_eq!(completed(answer(Value::Null)).unwrap().1, None);
        for (name, values) in [("openTx", "[null,'0x12']"), ("signature", "[null,5,'22','0x2']"), ("landed", "[5,[],{},{'logs':[]}]")] {
            for value in parsed(values).as_array().unwrap() {
                assert_eq!(completed(answer(receipt(&[])).with(name, value)), Err(CREDENTIAL_MALFORMED), "{name}: {value:?}");
            }
        }
        assert!(completed(answer(Value::Null).with("signature", "0x")).is_ok());
    }

    fn code(signed: &Value, landed: &Value) -> String {
        PAIRING.bound(signed, Some(landed)).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    #[test]
    fn an_opening_is_refused_for_its_first_fault() {
        let good = receipt(&[log()]).into();
        let unread = parsed("{'logs':null}");
        let closes = with_payload(&with_payload(&opening(), "action", "close"), "channelId", "x");
        assert_eq!(code(&closes, &unread), "mpp/session-action");
        let unnamed = with_payload(&opening(), "channelId", "x");
        assert_eq!(code(&unnamed, &unread), "hedera/read-first");
        assert_eq!(code(&unnamed, &good), "mpp/credential-malformed");
        let other = with_payload(&opening(), "channelId", h().to_string());
        assert_eq!(code(&other, &good), "hedera/channel-log-not-found");
        assert_eq!(code(&with_payload(&opening(), "channelId", channel_id().to_uppercase().replace("0X", "0x")), &good), "");
        assert_eq!(PAIRING.bound(&opening(), None), Err(READ_FIRST));
    }

    #[test]
    fn the_one_log_of_the_channel_counts() {
        let code = |logs: &[Object]| code(&opening(), &receipt(logs).into());
        let data = |from: usize, hex: &str| {
            let mut data = log().get("data").and_then(Value::as_str).unwrap().to_owned();
            data.replace_range(from..from + hex.len(), hex);
            log().with("data", data)
        };
        let topic = |place: usize, value: &Value| {
            let mut topics = log().get("topics").unwrap().as_array().unwrap().to_vec();
            topics[place] = value.clone();
            log().with("topics", topics)
        };
        let high = Value::from(word(PAYER).replacen("0x00", "0x01", 1));
        assert_eq!(code(&[log()]), "");
        let upper = |name: &str| log().with(name, log().get(name).and_then(Value::as_str).unwrap().to_uppercase().replace("0X", "0x"));
        assert_eq!((code(&[upper("address")]), code(&[upper("data")])), (String::new(), String::new()));
        // These are no logs of an opening, and are passed over.
        let more = [log().get("topics").unwrap().as_array().unwrap(), &[Value::Null]].concat();
        for passed in [
            log().with("address", TOKEN),
            log().with("address", Value::Null),
            log().with("topics", more),
            topic(0, &h().to_string().into()),
            topic(1, &h().to_string().into()),
            topic(3, &Value::Null),
            log().with("data", "0x"),
            log().with("data", format!("{}00", log().get("data").and_then(Value::as_str).unwrap())),
        ] {
            assert_eq!(code(&[passed.clone(), log()]), "", "{passed:?}");
            assert_eq!(code(&[passed]), "hedera/channel-log-not-found");
        }
        // These are, and a second one is as bad as none.
        for second in [log(), topic(2, &high), topic(3, &"0x".into()), data(2, "01"), data(66, "01"), data(130, "00")] {
            assert_eq!(code(&[log(), second.clone()]), "hedera/channel-log-not-found", "{second:?}");
        }
        for malformed in [topic(2, &high), topic(3, &"0x".into()), data(2, "01"), data(66, "01")] {
            assert_eq!(code(&[malformed]), "hedera/channel-log-not-found");
        }
        assert_eq!(code(&[data(130, "00")]), "mpp/carrier-not-challenge");
        assert_eq!(code(&[data(64, "99")]), "hedera/channel-id-mismatch");
        // What was deposited is not told by the channel.
        assert_eq!(code(&[data(256, "99")]), "");
    }

    #[test]
    fn a_challenge_opens_a_channel_in_an_escrow() {
        let code = |request: Object| {
            let choice = choice().with("challenge", challenge(&h(), "session", "hedera", request));
            sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        let details = |details: &str| session("").with("methodDetails", parsed(details));
        assert_eq!(code(details(&format!("{{'escrowContract':'{ESCROW}'}}"))), "");
        assert_eq!(code(details(&format!("{{'escrowContract':'{ESCROW}','chainId':null}}"))), "");
        assert_eq!(code(details("{'channelId':null,'chainId':5}")), "mpp/channel-named");
        assert_eq!(code(details("{'chainId':5}")), "hedera/chain-id-unnamed");
        assert_eq!(code(details("{}")), "mpp/request-malformed");
        for name in ["currency", "recipient"] {
            assert_eq!(code(session("").with(name, "0.0.5449")), "mpp/request-malformed");
        }
        let built = |name: &str, value: Value| sample::build(&PAIRING, &choice().with(name, value)).err().unwrap().code().to_owned();
        for (name, value, expected) in [
            ("challenge", Value::Null, "mpp/choice-malformed"),
            ("deposit", 5u32.into(), "mpp/choice-malformed"),
            ("deposit", "0".into(), "mpp/input-malformed"),
            ("deposit", "340282366920938463463374607431768211456".into(), "mpp/input-malformed"),
            ("from", "0.0.5555".into(), "mpp/input-malformed"),
        ] {
            assert_eq!(built(name, value), expected, "{name}");
        }
        let mainnet = challenge(&h(), "session", "hedera", session("").with("methodDetails", parsed(&format!("{{'escrowContract':'{ESCROW}'}}"))));
        let choose = |network: &str, inputs: &str| sample::choose(&PAIRING, network, mainnet.clone(), inputs).map(|_| ());
        assert_eq!(choose("hedera:mainnet", "{'deposit':'1'}"), Ok(()));
        assert_eq!(choose(NETWORK, "{'deposit':'1'}").unwrap_err().code(), "mpp/no-payable-option");
        assert_eq!(choose("hedera:mainnet", "{'deposit':1}").unwrap_err().code(), "mpp/input-missing");
    }

    fn within(request: Object, landed: Option<&Value>) -> Result<WithinBuild, Declined> {
        let challenge = Object::new().with("id", "1").with("realm", "r").with("method", "hedera").with("intent", "session");
        let held = channel().reference(&opening(), None).unwrap();
        Within::build(
            &Sessions(Hedera),
            &WithinAsk {
                document: &[challenge.with("request", encoded(request)).into()].into(),
                h: &ConfirmedHash::rehash(ATR),
                held: &held,
                opening: &opening(),
                landed,
                charged: "7",
                refund: None,
                inputs: &Object::new(),
                reference: &Value::Null,
            },
        )
    }

    #[test]
    fn vouchers_are_for_the_openings_escrow() {
        let landed = receipt(&[log()]).into();
        let details = format!("{{'chainId':296,'channelId':'{}'}}", channel_id());
        let build = within(session("").with("methodDetails", parsed(&details)), Some(&landed)).unwrap();
        assert_eq!(build.signed_for, "12");
        let [asked] = request(&*build.unsigned).get("requests").unwrap().as_array().unwrap().to_vec().try_into().unwrap();
        let typed = asked.get("typedData").unwrap();
        assert_eq!(typed.get("domain").unwrap().get("verifyingContract"), Some(&ESCROW.to_lowercase().into()));
        assert_eq!(typed.get("message"), Some(&parsed(&format!("{{'channelId':'{}','cumulativeAmount':'12'}}", channel_id()))));
        let payment = sample::paid(&*build.unsigned, &["0x33".into()].into()).unwrap();
        let payload = format!("{{'action':'voucher','channelId':'{}','cumulativeAmount':'12','signature':'0x33'}}", channel_id());
        assert_eq!(payment.get("payload"), Some(&parsed(&payload)));
        for answer in ["0x", "x", "0x3"] {
            assert_eq!(sample::paid(&*build.unsigned, &[answer.into()].into()), Err(CREDENTIAL_MALFORMED));
        }
        for chain_id in ["295", "5", "null"] {
            let details = format!("{{'chainId':{chain_id},'channelId':'{}'}}", channel_id());
            let declined = within(session("").with("methodDetails", parsed(&details)), Some(&landed)).err().unwrap();
            assert_eq!((declined.code, &*declined.detail), (DeclineCode::NoPayableOption, "mpp/no-payable-option"), "{chain_id}");
        }
    }
}
