//! `mpp/session/evm`: a deposit opens an escrow's channel whose salt is H, funded by a transaction, a signed transfer
//! (EIP-3009) or Permit2; vouchers then pay inside it.

use crate::{
    Hash, Object, Refusal, Text, Value,
    encoding::{self, uint128},
    mpp::{
        INPUT_MALFORMED, Method, Mpp, Offer, REQUEST_MALFORMED,
        challenge::EXPIRES_REQUIRED,
        credential::{Answered, CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, Credential, OneStep, Payload, Waiting},
        details,
        evm::{
            CHAIN_ID_REQUIRED, CREDENTIAL_TYPES, ESCROW_MALFORMED, Payer, authorized_signer, bytes32, chain_id, deadline, opening_choice, signature,
            token_domain,
        },
        session::{CHANNEL_NAMED, CHANNEL_NOT_BOUND, NOT_AN_OPENING, Next, Session, Sessions, Voucher, action},
    },
    pairing::{Buyer, Channel, ChannelRef, Choice, Unsigned},
    wire::evm::{
        self, Domain, Type, eip3009,
        payment_channel::PaymentChannel,
        permit2::{self, Permit},
    },
};

pub(crate) static PAIRING: Mpp<Evm> = Mpp(Evm);

pub(crate) struct Evm;

const SALT_NOT_THIS_HASH: Refusal = Refusal::new("mpp/salt-not-this-hash");
const SOURCE_REQUIRED: Refusal = Refusal::new("mpp/source-required");
const NONCE_NOT_CHANNEL: Refusal = Refusal::new("mpp/nonce-not-channel");

const WITNESS: Type<'static> = ("ChannelOpenWitness", &[("payee", "address"), ("salt", "bytes32"), ("authorizedSigner", "address")]);

/// How a deposit is made, and what a credential of it calls its type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Hash,
    Authorization,
    Permit2,
}

impl Way {
    fn of(name: &str) -> Option<Self> {
        [Self::Hash, Self::Authorization, Self::Permit2].into_iter().find(|way| way.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Authorization => "authorization",
            Self::Permit2 => "permit2",
        }
    }
}

/// The contract that holds a session's channels.
struct Escrow<'a> {
    chain_id: u64,
    contract: &'a str,
}

impl<'a> Escrow<'a> {
    /// Reads a challenge's request.
    fn of(request: &'a Object) -> Result<Self, Refusal> {
        let details = details(request);
        let contract = evm::address(details, "escrowContract").ok_or(ESCROW_MALFORMED)?;
        Ok(Self { chain_id: chain_id(details).ok_or(CHAIN_ID_REQUIRED)?, contract })
    }

    fn network(&self) -> String {
        format!("eip155:{}", self.chain_id)
    }

    fn voucher(&self, channel: &str, cumulative: u128) -> Value {
        let domain = Domain { name: "EVM Payment Channel", version: "1", chain_id: self.chain_id, contract: self.contract };
        Voucher { domain, amount: "uint128", channel, cumulative }.request()
    }
}

/// What a challenge that opens a channel asks for.
struct Terms<'a> {
    escrow: Escrow<'a>,
    currency: &'a str,
    recipient: &'a str,
    ways: Vec<Way>,
    /// The Permit2 contract.
    permit2: &'a str,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let details = offer.details();
        if details.has("channelId") || details.has("sessionSnapshot") {
            return Err(CHANNEL_NAMED);
        }
        let escrow = Escrow::of(&offer.request)?;
        let currency = evm::address(&offer.request, "currency").ok_or(REQUEST_MALFORMED)?;
        let recipient = evm::address(&offer.request, "recipient").ok_or(REQUEST_MALFORMED)?;
        let ways = match details.get("credentialTypes") {
            None => vec![Way::Hash],
            Some(listed) => {
                let names = listed.as_array().filter(|names| !names.is_empty()).ok_or(CREDENTIAL_TYPES)?;
                names.iter().map(|name| name.as_str().and_then(Way::of)).collect::<Option<_>>().ok_or(CREDENTIAL_TYPES)?
            }
        };
        let permit2 = match details.get("permit2Contract") {
            Some(contract) if ways.contains(&Way::Permit2) => {
                contract.as_str().filter(|contract| evm::is_address(contract)).ok_or(REQUEST_MALFORMED)?
            }
            _ => permit2::CONTRACT,
        };
        offer.expires.ok_or(EXPIRES_REQUIRED)?;
        Ok(Self { escrow, currency, recipient, ways, permit2 })
    }

    fn channel(&self, payer: &'a str, salt: Hash, signer: &'a str) -> PaymentChannel<'a> {
        PaymentChannel {
            payer,
            payee: self.recipient,
            token: self.currency,
            salt: *salt.bytes(),
            signer,
            escrow: self.escrow.contract,
            chain_id: self.escrow.chain_id,
        }
    }
}

impl Method for Evm {
    fn id(&self) -> &'static str {
        "mpp/session/evm"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Escrow::of(&offer.request).ok().map(|escrow| escrow.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        opening_choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let choice = chosen.choice;
        let terms = Terms::of(&offer)?;
        let text = |name| choice.get(name).and_then(Value::as_str);
        let deposit = text("deposit").and_then(uint128).filter(|&deposit| deposit > 0).ok_or(INPUT_MALFORMED)?;
        let signer = authorized_signer(choice).ok_or(INPUT_MALFORMED)?;
        let way = match choice.get("credentialType") {
            None | Some(Value::Null) => terms.ways.first().copied(),
            Some(name) => name.as_str().and_then(Way::of).filter(|way| terms.ways.contains(way)),
        };
        let way = way.ok_or(CREDENTIAL_TYPES)?;
        let channel = terms.channel(payer.from, **chosen.h, signer);
        let deposit = Deposit { terms: &terms, channel: &channel, offer: &offer, amount: deposit };
        let funding = match way {
            Way::Hash => deposit.by_transaction()?,
            Way::Authorization => deposit.by_transfer(choice)?,
            Way::Permit2 => deposit.by_permit(**chosen.h)?,
        };
        let id = encoding::hex(&channel.id().ok_or(INPUT_MALFORMED)?);
        let voucher = terms.escrow.voucher(&id, 0);
        let members = Object::new()
            .with("action", "open")
            .with("channelId", id)
            .with("cumulativeAmount", "0")
            .with("authorizedSigner", signer)
            .with("salt", &**chosen.h)
            .with("type", way.name())
            .with_some("authorization", funding.authorization);
        let opening = Opening { way, request: funding.request, voucher, members };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(terms.escrow.chain_id)), opening)))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let payload = opening(credential.payload).ok_or(NOT_AN_OPENING)?;
        let way = payload.get("type").and_then(Value::as_str).and_then(Way::of).ok_or(CREDENTIAL_TYPE)?;
        let salt = bytes32(payload, "salt").ok_or(CREDENTIAL_MALFORMED)?;
        if salt != offer.h {
            return Err(SALT_NOT_THIS_HASH);
        }
        let signer = authorized_signer(payload).ok_or(CREDENTIAL_MALFORMED)?;
        let authorization = payload.get("authorization").and_then(Value::as_object);
        let authorized = |name| authorization.and_then(|authorization| authorization.get(name));
        let payer = match way {
            Way::Hash => credential.source.and_then(Text::as_str).and_then(payer_of).ok_or(SOURCE_REQUIRED)?,
            _ => authorized("from").and_then(Value::as_str).filter(|from| evm::is_address(from)).ok_or(CREDENTIAL_MALFORMED)?,
        };
        let terms = Terms::of(offer)?;
        let channel = terms.channel(payer, salt, signer);
        if bytes32(credential.payload, "channelId").map(|id| *id.bytes()) != channel.id() {
            return Err(CHANNEL_NOT_BOUND);
        }
        let named = |value: Option<&Value>| value.and_then(Value::as_str).and_then(Hash::parse);
        match way {
            Way::Authorization if named(authorized("nonce")).map(|nonce| *nonce.bytes()) != channel.deposit_nonce() => Err(NONCE_NOT_CHANNEL),
            Way::Permit2 if named(authorized("witness").and_then(|witness| witness.get("salt"))) != Some(salt) => Err(SALT_NOT_THIS_HASH),
            _ => Ok(salt),
        }
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(&Sessions(Self))
    }
}

/// What a payload opens a channel by: itself, or the deposit that comes with its voucher.
fn opening(payload: &Object) -> Option<&Object> {
    let opens = |payload: &&Object| action(payload) == Some("open");
    match action(payload) {
        Some("voucher") => payload.get("deposit")?.as_object().filter(opens),
        _ => Some(payload).filter(opens),
    }
}

/// The payer that a credential's source names.
fn payer_of(source: &str) -> Option<&str> {
    let (network, address) = source.strip_prefix("did:pkh:")?.rsplit_once(':')?;
    (evm::chain_id(network).is_some() && evm::is_address(address)).then_some(address)
}

impl Session for Evm {
    fn opens(&self, payload: &Object) -> bool {
        opening(payload).is_some()
    }

    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal> {
        let details = details(request);
        if !details.has("channelId") {
            return Ok(None);
        }
        self.channel_of(request, details, None).map(Some)
    }

    fn channel_of(&self, request: &Object, named: &Object, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let channel = bytes32(named, "channelId").ok_or(CHANNEL_NOT_BOUND)?;
        Ok(ChannelRef { network: Escrow::of(request)?.network(), channel: channel.to_string() })
    }

    fn amount_bits(&self, request: &Object) -> Result<u32, Refusal> {
        Escrow::of(request).map(|_| 128)
    }

    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal> {
        let request = Escrow::of(next.opening_request)?.voucher(&next.held.channel, next.cumulative);
        let members = next.members();
        let payload = move |answer: &Value| Ok(members.clone().with("signature", signature(answer)?));
        Ok(Box::new(OneStep { request, payload }))
    }
}

/// The deposit that opens a channel.
struct Deposit<'a> {
    terms: &'a Terms<'a>,
    channel: &'a PaymentChannel<'a>,
    offer: &'a Offer<'a>,
    amount: u128,
}

/// How a deposit is asked for, and what the payload says of it.
struct Funding {
    request: Value,
    authorization: Option<Object>,
}

impl Deposit<'_> {
    /// By calls that the payer sends: the escrow may take the deposit, and takes it.
    fn by_transaction(&self) -> Result<Funding, Refusal> {
        let escrow = &self.terms.escrow;
        let approve = self.channel.approve_call(self.amount).ok_or(INPUT_MALFORMED)?;
        let open = self.channel.open_call(self.amount).ok_or(INPUT_MALFORMED)?;
        let call = |to: &str, data: String| Value::from(Object::new().with("to", to).with("data", data));
        let calls = [call(self.terms.currency, approve), call(escrow.contract, open)];
        let request = Object::new().with("kind", "evm-calls").with("chainId", escrow.chain_id).with("calls", calls).with("broadcast", true);
        Ok(Funding { request: request.into(), authorization: None })
    }

    /// By a transfer that only the escrow may submit, the nonce naming the channel.
    fn by_transfer(&self, choice: &Object) -> Result<Funding, Refusal> {
        let escrow = &self.terms.escrow;
        let domain = token_domain(choice, escrow.chain_id, self.terms.currency)?;
        let authorization = eip3009::Authorization {
            from: self.channel.payer,
            to: escrow.contract,
            value: self.amount.to_string(),
            valid_before: deadline(self.offer)?,
            nonce: self.channel.deposit_nonce().ok_or(INPUT_MALFORMED)?,
        };
        Ok(Funding { request: authorization.request(eip3009::RECEIVE, domain), authorization: Some(authorization.members()) })
    }

    /// By a permit to the escrow whose witness names the channel.
    fn by_permit(&self, h: Hash) -> Result<Funding, Refusal> {
        let escrow = &self.terms.escrow;
        let permit = Permit {
            token: self.terms.currency,
            amount: self.amount.to_string(),
            spender: escrow.contract,
            nonce: (*h.bytes()).into(),
            deadline: deadline(self.offer)?,
        };
        let witness = Object::new().with("payee", self.terms.recipient).with("salt", &h).with("authorizedSigner", self.channel.signer);
        let authorization = Object::new()
            .with("from", self.channel.payer)
            .with("permitted", permit.permitted())
            .with("nonce", permit.nonce.to_string())
            .with("deadline", permit.deadline.to_string())
            .with("witness", witness.clone());
        let request = permit.request_at(self.terms.permit2, escrow.chain_id, &[], Some((WITNESS, witness)));
        Ok(Funding { request, authorization: Some(authorization) })
    }
}

/// The opening: the deposit, then the first voucher, over nothing.
struct Opening {
    way: Way,
    request: Value,
    voucher: Value,
    members: Object,
}

impl Opening {
    /// The answer to the deposit's request.
    fn funded<'a>(&self, answer: &'a Value) -> Result<&'a str, Refusal> {
        match self.way {
            Way::Hash => answer.as_str().filter(|text| Hash::parse(text).is_some()).ok_or(CREDENTIAL_MALFORMED),
            _ => signature(answer),
        }
    }
}

impl Payload for Opening {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let (funded, voucher) = match answer.as_array() {
            None => {
                self.funded(answer)?;
                return Ok(Answered::Next(self.voucher.clone()));
            }
            Some([funded, voucher]) => (self.funded(funded)?, signature(voucher)?),
            Some(_) => return Err(CREDENTIAL_MALFORMED),
        };
        let payload = self.members.clone();
        let payload = match self.way {
            Way::Hash => payload.with("hash", funded).with("signature", voucher),
            _ => payload.with("signature", funded).with("voucherSignature", voucher),
        };
        Ok(Answered::Payload(payload, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, DeclineCode, Declined,
        mpp::sample::{self, ATR, PAYER, RECIPIENT, TOKEN, challenge, encoded, h, object, paid, parsed, request, with_payload},
        pairing::{ChannelAct, Completed, Pairing, Within, WithinAsk, WithinBuild},
    };

    const ESCROW: &str = "0x1234567890AbcdEF1234567890aBcdef12345678";
    const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const NETWORK: &str = "eip155:84532";
    const INPUTS: &str = "{'deposit':'0100','credentialType':'WAY','tokenDomain':{'name':'USDC','version':'2'}}";

    /// A challenge's request, of its details.
    fn session(details: &str) -> Object {
        object(&format!(
            "{{'amount':'5','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{'chainId':84532,'escrowContract':'{ESCROW}'{details}}}}}"
        ))
    }

    fn asked() -> Object {
        challenge(&h(), "session", "evm", session(",'credentialTypes':['authorization','permit2','hash']"))
    }

    fn built(way: &str) -> Box<dyn Unsigned> {
        let choice = sample::choose(&PAIRING, NETWORK, asked(), &INPUTS.replace("WAY", way)).unwrap();
        sample::build(&PAIRING, &choice).unwrap()
    }

    fn opening(way: &str) -> Value {
        paid(&*built(way), &[h().to_string().into(), "0x22".into()].into()).unwrap()
    }

    fn channel() -> &'static dyn Channel {
        PAIRING.channel().unwrap()
    }

    fn held() -> ChannelRef {
        channel().reference(&opening("hash"), None).unwrap()
    }

    #[test]
    fn each_way_opens_the_same_channel() {
        for (way, kind, funded) in [("hash", "evm-calls", "hash"), ("authorization", "eip712", "signature"), ("permit2", "eip712", "signature")] {
            let unsigned = built(way);
            let first = request(&*unsigned);
            assert_eq!(first.get("kind"), Some(&kind.into()));
            assert_eq!(PAIRING.moves(&first), way == "hash");
            let Ok(Completed::Next(voucher)) = unsigned.complete(&h().to_string().into()) else { panic!("{way}") };
            let message = voucher.get("typedData").unwrap().get("message").unwrap();
            assert_eq!(message, &parsed(&format!("{{'channelId':'{}','cumulativeAmount':'0'}}", held().channel)));
            let opening = opening(way);
            assert_eq!(opening.get("payload").unwrap().get(funded), Some(&h().to_string().into()));
            assert_eq!(PAIRING.bound(&opening, None), Ok(h()), "{way}");
            assert_eq!(channel().kind(&opening), Ok(ChannelAct::Open));
            assert_eq!(channel().reference(&opening, None), Ok(held()));
            for answer in
                [Value::Null, "0x".into(), ["0x11".into()].into(), [h().to_string().into(), "0x".into()].into(), vec![Value::from("0x11"); 3].into()]
            {
                assert_eq!(unsigned.complete(&answer), Err(CREDENTIAL_MALFORMED), "{way}");
            }
        }
    }

    #[test]
    fn the_calls_approve_and_open() {
        let word = |address: &str| format!("{:0>64}", address[2..].to_lowercase());
        let amount = format!("{:0>64}", "64");
        let approve = format!("0x095ea7b3{}{amount}", word(ESCROW));
        let open = format!("0xc79ea485{}{}{amount}{}{:0>64}", word(RECIPIENT), word(TOKEN), &h().to_string()[2..], "");
        let calls = format!("[{{'to':'{TOKEN}','data':'{approve}'}},{{'to':'{ESCROW}','data':'{open}'}}]");
        assert_eq!(request(&*built("hash")).get("calls"), Some(&parsed(&calls)));
    }

    #[test]
    fn pays_by_the_first_way_listed_unless_told() {
        let choose = |challenge: Object, inputs: &str| sample::choose(&PAIRING, NETWORK, challenge, inputs);
        let kind = |details: &str, inputs: &str| {
            let choice = choose(challenge(&h(), "session", "evm", session(details)), inputs).unwrap();
            sample::build(&PAIRING, &choice).map(|unsigned| request(&*unsigned).get("kind").cloned())
        };
        assert_eq!(kind("", "{'deposit':'1'}"), Ok(Some("evm-calls".into())));
        assert_eq!(kind(",'credentialTypes':['permit2','hash']", "{'deposit':'1'}"), Ok(Some("eip712".into())));
        assert_eq!(kind("", "{'deposit':'1','credentialType':'permit2'}").unwrap_err(), CREDENTIAL_TYPES);
        assert_eq!(kind("", "{'deposit':'0'}").unwrap_err(), INPUT_MALFORMED);
        assert_eq!(kind(",'credentialTypes':['authorization']", "{'deposit':'1'}").unwrap_err(), INPUT_MALFORMED);
        for inputs in [
            "{}",
            "{'deposit':1}",
            "{'deposit':'1','credentialType':'x'}",
            "{'deposit':'1','authorizedSigner':null}",
            "{'deposit':'1','tokenDomain':[]}",
        ] {
            assert_eq!(choose(asked(), inputs).unwrap_err(), crate::mpp::INPUT_MISSING, "{inputs}");
        }
    }

    #[test]
    fn a_challenge_opens_a_channel_in_an_escrow() {
        let code = |request: Object| {
            let choice = sample::choose(&PAIRING, NETWORK, asked(), "{'deposit':'1','credentialType':'hash'}").unwrap();
            let choice = choice.with("challenge", asked().with("request", encoded(request)));
            sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        assert_eq!(code(session("")), "");
        for (details, expected) in [
            ("'channelId':null", "mpp/channel-named"),
            ("'sessionSnapshot':{}", "mpp/channel-named"),
            ("'escrowContract':'0x1'", "mpp/escrow-malformed"),
            ("'chainId':0", "mpp/chain-id-required"),
            ("'credentialTypes':[]", "mpp/credential-types"),
            ("'credentialTypes':['hash','transaction']", "mpp/credential-types"),
            ("'credentialTypes':['hash','permit2'],'permit2Contract':'x'", "mpp/request-malformed"),
            ("'credentialTypes':['hash'],'permit2Contract':'x'", ""),
        ] {
            assert_eq!(code(session(&format!(",{details}"))), expected, "{details}");
        }
        assert_eq!(code(session("").with("recipient", "x")), "mpp/request-malformed");
    }

    #[test]
    fn an_opening_is_refused_for_its_first_fault() {
        let code = |payment: Value| PAIRING.bound(&payment, None).unwrap_err().code().to_owned();
        let (by_hash, by_transfer, by_permit) = (opening("hash"), opening("authorization"), opening("permit2"));
        for (name, value, expected) in [
            ("action", "topUp".into(), "mpp/not-an-opening"),
            ("type", "transaction".into(), "mpp/credential-type"),
            ("salt", "0x".into(), "mpp/credential-malformed"),
            ("salt", Hash::of(b"abd").to_string().into(), "mpp/salt-not-this-hash"),
            ("authorizedSigner", "0x".into(), "mpp/credential-malformed"),
            ("authorizedSigner", OTHER.into(), "mpp/channel-not-bound"),
            ("channelId", Value::Null, "mpp/channel-not-bound"),
        ] {
            for opening in [&by_hash, &by_transfer, &by_permit] {
                assert_eq!(code(with_payload(opening, name, &value)), expected, "{name}");
            }
        }
        let authorization = |opening: &Value, name: &str, value: Value| {
            let authorization = opening.get("payload").unwrap().get("authorization").unwrap().as_object().unwrap().clone();
            with_payload(opening, "authorization", authorization.with(name, value))
        };
        assert_eq!(code(authorization(&by_transfer, "from", Value::Null)), "mpp/credential-malformed");
        assert_eq!(code(authorization(&by_transfer, "from", OTHER.into())), "mpp/channel-not-bound");
        assert_eq!(code(authorization(&by_transfer, "nonce", Value::Null)), "mpp/nonce-not-channel");
        assert_eq!(code(authorization(&by_permit, "witness", Value::Null)), "mpp/salt-not-this-hash");
        let source = |source: &str| by_hash.as_object().unwrap().clone().with("source", source).into();
        for malformed in ["", "did:pkh:eip155:0:0x", &format!("did:pkh:eip155:01:{PAYER}"), &format!("{NETWORK}:{PAYER}")] {
            assert_eq!(code(source(malformed)), "mpp/source-required", "{malformed}");
        }
        assert_eq!(code(source(&format!("did:pkh:{NETWORK}:{OTHER}"))), "mpp/channel-not-bound");
        assert_eq!(PAIRING.bound(&source(&format!("did:pkh:eip155:1:{}", PAYER.to_lowercase())), None), Ok(h()));
    }

    #[test]
    fn a_voucher_may_bring_the_opening() {
        let opening = opening("authorization");
        let payload = opening.get("payload").unwrap().as_object().unwrap().clone();
        let voucher = Object::new().with("action", "voucher").with_some("channelId", payload.get("channelId"));
        let with_deposit = |deposit: Object| {
            let payload = voucher.clone().with("deposit", deposit);
            Value::from(opening.as_object().unwrap().clone().with("payload", payload))
        };
        let opens = with_deposit(payload.clone().without("channelId"));
        assert_eq!((PAIRING.bound(&opens, None), channel().kind(&opens)), (Ok(h()), Ok(ChannelAct::Open)));
        let tops_up = with_deposit(payload.with("action", "topUp"));
        assert_eq!((PAIRING.bound(&tops_up, None), channel().kind(&tops_up)), (Err(NOT_AN_OPENING), Ok(ChannelAct::Within)));
    }

    fn within(document: Vec<Value>, charged: &str, refund: Option<&Object>) -> Result<WithinBuild, Declined> {
        Within::build(
            &Sessions(Evm),
            &WithinAsk {
                document: &document.into(),
                h: &ConfirmedHash::rehash(ATR),
                held: &held(),
                opening: &opening("hash"),
                landed: None,
                charged,
                refund,
                inputs: &Object::new(),
                reference: &Value::Null,
            },
        )
    }

    /// A challenge of the seller's own that names a channel.
    fn naming(channel: &str) -> Object {
        Object::new()
            .with("id", "1")
            .with("realm", "r")
            .with("method", "evm")
            .with("intent", "session")
            .with("request", encoded(session(&format!(",'channelId':'{channel}'"))))
    }

    #[test]
    fn vouchers_and_a_close_inside_the_channel() {
        let held = held();
        let document = vec![Value::Null, naming(&held.channel.to_uppercase().replace("0X", "0x")).into()];
        let all = Object::new();
        for (refund, action, act, cumulative) in [(None, "voucher", ChannelAct::Within, "12"), (Some(&all), "close", ChannelAct::Close, "7")] {
            let build = within(document.clone(), "7", refund).unwrap();
            assert_eq!((build.signed_for.as_str(), build.act), (cumulative, act));
            assert_eq!(request(&*build.unsigned).get("requests").and_then(Value::as_array).map(<[Value]>::len), Some(1));
            let payment = paid(&*build.unsigned, &["0x33".into()].into()).unwrap();
            let payload = format!("{{'action':'{action}','channelId':'{}','cumulativeAmount':'{cumulative}','signature':'0x33'}}", held.channel);
            assert_eq!(payment.get("payload"), Some(&parsed(&payload)));
            assert!(payment.get("source").is_none());
            assert_eq!((channel().kind(&payment), channel().reference(&payment, None)), (Ok(act), Ok(held.clone())));
            assert_eq!(Within::bound(&Sessions(Evm), &payment).unwrap_err().word(), "not-bound-within");
            for answer in [Value::Null, "0x33".into(), Vec::new().into(), ["0x".into()].into()] {
                assert_eq!(paid(&*build.unsigned, &answer), Err(CREDENTIAL_MALFORMED));
            }
        }
    }

    #[test]
    fn the_first_challenge_of_the_channel_is_paid() {
        let held = held();
        let declined = |document: Vec<Value>| within(document, "7", None).err().map(|declined| (declined.code, declined.detail));
        let payable = || Value::from(naming(&held.channel));
        let unpayable = Some((DeclineCode::NoPayableOption, "mpp/no-payable-option".to_owned()));
        let elsewhere = naming(OTHER).with(
            "request",
            encoded(session("").with("methodDetails", object(&format!("{{'chainId':1,'escrowContract':'{ESCROW}','channelId':'{}'}}", h())))),
        );
        assert_eq!(declined(vec![]), unpayable);
        assert_eq!(declined(vec![elsewhere.clone().into()]), unpayable);
        assert_eq!(declined(vec![elsewhere.into(), naming("0x").into(), payable()]), None);
        // One that would open a channel is paid from the held one; without an expiry it would open none.
        assert_eq!(declined(vec![asked().into()]), None);
        assert_eq!(declined(vec![asked().without("expires").into()]), unpayable);
        // Another channel of the network ends the search.
        let (code, detail) = declined(vec![naming(&h().to_string()).into(), payable()]).unwrap();
        assert_eq!(code, DeclineCode::NoPayableOption);
        assert_ne!(detail, "mpp/no-payable-option");
        let mut many = vec![Value::Null; 31];
        many.push(payable());
        assert_eq!(declined(many.clone()), None);
        many.insert(0, Value::Null);
        assert_eq!(declined(many), unpayable);
    }

    #[test]
    fn a_challenge_inside_is_declined_for_its_first_fault() {
        let held = held();
        let declined = |challenge: Object, charged: &str, refund: Option<&Object>| {
            within(vec![challenge.into()], charged, refund).err().map(|declined| (declined.code, declined.detail))
        };
        let unreadable = |code: &str| Some((DeclineCode::OfferUnreadable, code.to_owned()));
        let naming = || naming(&held.channel);
        let opaque = |text: &str| naming().with("opaque", encoded(object(text)));
        assert_eq!(declined(naming().with("opaque", 5u32), "0", None), unreadable("mpp/opaque-malformed"));
        assert_eq!(declined(opaque("{'n':1}"), "0", None), unreadable("mpp/opaque-malformed"));
        assert_eq!(declined(opaque("{'legalContext':'x'}"), "0", None), unreadable("mpp/legal-context-malformed"));
        assert_eq!(declined(opaque("{'note':'x'}"), "0", None), None);
        assert_eq!(declined(naming().with("opaque", encoded(sample::opaque(&h()))), "0", None), None);
        let other = naming().with("opaque", encoded(sample::opaque(&Hash::of(b"abd"))));
        assert_eq!(declined(other, "0", None).unwrap().0, DeclineCode::HashMismatch);
        let priced = |amount: Value| {
            let request = session(&format!(",'channelId':'{}'", held.channel)).with("amount", amount);
            naming().with("request", encoded(request)).without("id")
        };
        assert_eq!(declined(priced(5u32.into()), "0", None), unreadable("mpp/request-malformed"));
        assert_eq!(declined(priced("9".repeat(78).into()), "0", None), unreadable("mpp/credential-malformed"));
        assert_eq!(declined(priced("9".repeat(78).into()).with("id", "1"), "0", None), unreadable("mpp/input-malformed"));
        assert_eq!(declined(naming(), &(u128::MAX - 5).to_string(), None), None);
        assert_eq!(declined(naming(), &(u128::MAX - 4).to_string(), None), unreadable("mpp/input-malformed"));
        let part = Object::new().with("amount", "1");
        let not_built = Some((DeclineCode::PairingNotSupported, "mpp/within-action-not-built".to_owned()));
        assert_eq!(declined(naming().with("opaque", 5u32), "0", Some(&part)), not_built);
    }
}
