//! `mpp/session/evm`: a deposit opens an escrow's channel whose salt is H, funded by a transaction, a signed transfer
//! (EIP-3009) or Permit2; vouchers then pay inside it.

use crate::{
    Hash, Object, Refusal, Text, Value,
    encoding::{self, uint128},
    inputs,
    mpp::{
        INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, Offer, REQUEST_MALFORMED,
        challenge::EXPIRES_REQUIRED,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, OneStep, Payload, Waiting},
        details,
        evm::{CREDENTIAL_TYPE, CREDENTIAL_TYPES, Payer, bytes32, chain_id, deadline, signature, token_domain, token_domain_input},
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

const ESCROW_MALFORMED: Refusal = Refusal::new("mpp/escrow-malformed");
const CHAIN_ID_REQUIRED: Refusal = Refusal::new("mpp/chain-id-required");
const SALT_NOT_THIS_HASH: Refusal = Refusal::new("mpp/salt-not-this-hash");
const SOURCE_REQUIRED: Refusal = Refusal::new("mpp/source-required");
const NONCE_NOT_CHANNEL: Refusal = Refusal::new("mpp/nonce-not-channel");

/// The selector of `approve(address,uint256)`.
const APPROVE: [u8; 4] = [0x09, 0x5E, 0xA7, 0xB3];

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
        let payer = Payer::members(buyer)?;
        let text = |name, is_form: fn(&str) -> bool| {
            inputs::member(buyer.inputs, name, |value| value.as_str().filter(|text| is_form(text))).map_err(|_| INPUT_MISSING)
        };
        let deposit = inputs::decimal(buyer.inputs, "deposit").ok().flatten().ok_or(INPUT_MISSING)?;
        Ok(payer
            .with("deposit", deposit)
            .with_some("authorizedSigner", text("authorizedSigner", evm::is_address)?)
            .with_some("credentialType", text("credentialType", |name| Way::of(name).is_some())?)
            .with_some("tokenDomain", token_domain_input(buyer.inputs)?))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let choice = chosen.choice;
        let terms = Terms::of(&offer)?;
        let text = |name| choice.get(name).and_then(Value::as_str);
        let deposit = text("deposit").and_then(uint128).filter(|&deposit| deposit > 0).ok_or(INPUT_MALFORMED)?;
        let signer = match choice.get("authorizedSigner") {
            None | Some(Value::Null) => evm::ZERO_ADDRESS,
            Some(_) => evm::address(choice, "authorizedSigner").ok_or(INPUT_MALFORMED)?,
        };
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
        let signer = match payload.get("authorizedSigner") {
            None | Some(Value::Null) => evm::ZERO_ADDRESS,
            Some(_) => evm::address(payload, "authorizedSigner").ok_or(CREDENTIAL_MALFORMED)?,
        };
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
        let spender = evm::address_word(escrow.contract).ok_or(INPUT_MALFORMED)?;
        let approve = evm::call_data(APPROVE, &[spender, evm::uint_word(self.amount)]);
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
