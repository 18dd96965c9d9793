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
