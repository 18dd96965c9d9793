//! `mpp/session/tempo`: a signed Tempo transaction opens a channel whose salt is H; vouchers then pay inside it.
//!
//! A contract of either release holds the channel. In release 2 a descriptor that travels with each payment names it.

use crate::{
    Hash, Object, Refusal, Text, Value,
    encoding::{self, uint128},
    mpp::{
        INPUT_MALFORMED, Method, Mpp, Offer, REQUEST_MALFORMED,
        challenge::EXPIRES_REQUIRED,
        credential::{CREDENTIAL_MALFORMED, Credential, OneStep, Payload, credential},
        details,
        evm::{CHAIN_ID_REQUIRED, ESCROW_MALFORMED, Payer, authorized_signer, bytes32, opening_choice, signature},
        session::{CHANNEL_NAMED, CHANNEL_NOT_BOUND, NOT_AN_OPENING, NOT_BOUND_WITHIN, Next, Session, Sessions, Voucher, action},
        tempo::{TX_MALFORMED, address, chain_id},
    },
    pairing::{Buyer, Channel, ChannelRef, Choice, Completed, Pairing, Unsigned},
    wire::{
        evm,
        tempo::{
            Address, Transaction, address_of,
            channel::{Descriptor, Opening, Release},
        },
    },
};

pub(crate) static PAIRING: Mpp<Tempo> = Mpp(Tempo);

pub(crate) struct Tempo;

const SESSION_PROTOCOL: Refusal = Refusal::new("mpp/session-protocol");
const OPEN_NOT_FOUND: Refusal = Refusal::new("tempo/open-not-found");
const OPEN_AMBIGUOUS: Refusal = Refusal::new("tempo/open-ambiguous");
const SALT_NOT_BOUND: Refusal = Refusal::new("tempo/salt-not-bound");
const DESCRIPTOR_MISMATCH: Refusal = Refusal::new("tempo/descriptor-mismatch");

/// The chain of a contract of release 1 that names none.
const DEFAULT_CHAIN: u64 = 4217;

impl Method for Tempo {
    fn id(&self) -> &'static str {
        "mpp/session/tempo"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer)?;
        offer.expires.map(drop).ok_or(EXPIRES_REQUIRED)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Contract::of(&offer.request).ok().map(|contract| contract.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        opening_choice(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let Terms { contract, payee, operator, token } = Terms::of(&offer)?;
        let choice = chosen.choice;
        let deposit = choice.get("deposit").and_then(Value::as_str).and_then(uint128);
        let deposit = deposit.filter(|&deposit| deposit > 0 && contract.release.holds(deposit)).ok_or(INPUT_MALFORMED)?;
        let signer = authorized_signer(choice).ok_or(INPUT_MALFORMED)?;
        let descriptor = Object::new()
            .with("payer", payer.from)
            .with("payee", payee)
            .with("operator", operator)
            .with("token", token)
            .with("salt", &**chosen.h)
            .with("authorizedSigner", signer)
            .with("expiringNonceHash", encoding::hex(&[0; 32]));
        let opening = descriptor_of(&descriptor).ok_or(INPUT_MALFORMED)?.opening;
        let call = Object::new().with("to", contract.address.as_str()).with("data", encoding::hex(&opening.call(contract.release, deposit)));
        let request = Object::new()
            .with("kind", "tempo-call")
            .with("chainId", contract.chain_id)
            .with("call", call)
            .with("validBefore", offer.expires.ok_or(EXPIRES_REQUIRED)?)
            .with("broadcast", false);
        Ok(Box::new(Unopened {
            challenge: offer.challenge.echoed(),
            source: payer.source(contract.chain_id).into(),
            request: request.into(),
            contract,
            descriptor,
        }))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let Terms { contract, .. } = Terms::of(offer)?;
        let payload = credential.payload;
        if action(payload) != Some("open") || payload.get("type").and_then(Value::as_str) != Some("transaction") {
            return Err(NOT_AN_OPENING);
        }
        let transaction = payload.get("transaction").and_then(Value::as_str).and_then(encoding::from_hex).ok_or(CREDENTIAL_MALFORMED)?;
        let transaction = Transaction::read(&transaction).filter(|transaction| transaction.is_on(contract.chain_id)).ok_or(TX_MALFORMED)?;
        let escrow = contract.escrow()?;
        let mut calls = transaction.calls.iter().filter(|call| call.to == Some(&escrow) && contract.release.opens(call.data));
        let call = calls.next().ok_or(OPEN_NOT_FOUND)?;
        if calls.next().is_some() {
            return Err(OPEN_AMBIGUOUS);
        }
        if contract.release.salt(call.data).ok_or(TX_MALFORMED)? != offer.h.bytes() {
            return Err(SALT_NOT_BOUND);
        }
        let opening = Opening::read(contract.release, call.data).ok_or(TX_MALFORMED)?;
        let payer = transaction.sender().ok_or(TX_MALFORMED)?;
        let named = channel(payload)?;
        let opened = Descriptor { payer, opening, expiring_nonce_hash: transaction.expiring_nonce_hash(&payer) };
        match contract.release {
            Release::V1 if contract.id(&opened)? == named => Ok(offer.h),
            Release::V1 => Err(CHANNEL_NOT_BOUND),
            Release::V2 if reserved(&contract, &offer.request, payload)? == opened => Ok(offer.h),
            Release::V2 => Err(DESCRIPTOR_MISMATCH),
        }
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(&Sessions(Self))
    }
}

impl Session for Tempo {
    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal> {
        if !details(request).has("channelId") {
            return Ok(None);
        }
        let contract = Contract::of(request)?;
        let channel = bytes32(details(request), "channelId").ok_or(REQUEST_MALFORMED)?;
        Ok(Some(contract.channel(&channel)))
    }

    fn channel_of(&self, request: &Object, payload: &Object, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        Ok(Contract::of(request)?.channel(&channel(payload)?))
    }

    fn amount_bits(&self, request: &Object) -> Result<u32, Refusal> {
        Ok(Contract::of(request)?.release.amount_bits())
    }

    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal> {
        let contract = Contract::of(next.request)?;
        let opened = Contract::of(next.opening_request)?;
        match (contract.release, opened.release) {
            (Release::V1, Release::V1) => {}
            (Release::V1, Release::V2) => return Err(NOT_BOUND_WITHIN),
            (Release::V2, _) => drop(reserved(&contract, next.request, next.opening)?),
        }
        let request = opened.voucher(&next.held.channel, next.cumulative);
        let members = next.members().with_some("descriptor", next.opening.get("descriptor").filter(|_| opened.release == Release::V2));
        let payload = move |answer: &Value| Ok(members.clone().with("signature", signature(answer)?));
        Ok(Box::new(OneStep { request, payload }))
    }

    fn bound_inside(&self, request: &Object, payload: &Object) -> Result<Hash, Refusal> {
        let contract = Contract::of(request)?;
        match contract.release {
            Release::V1 => Err(NOT_BOUND_WITHIN),
            Release::V2 => reserved(&contract, request, payload).map(|descriptor| descriptor.opening.salt.into()),
        }
    }
}

/// The contract that a request's channels are in.
struct Contract {
    release: Release,
    chain_id: u64,
    /// As written.
    address: String,
}

impl Contract {
    fn of(request: &Object) -> Result<Self, Refusal> {
        let details = details(request);
        let release = match details.get("sessionProtocol").map(Value::as_str) {
            None | Some(Some("v1")) => Release::V1,
            Some(Some("v2")) => Release::V2,
            Some(_) => return Err(SESSION_PROTOCOL),
        };
        if release == Release::V2 && !(details.has("chainId") && details.has("escrowContract")) {
            return Err(CHAIN_ID_REQUIRED);
        }
        let chain_id = chain_id(details, DEFAULT_CHAIN).ok_or(CHAIN_ID_REQUIRED)?;
        let address = evm::address(details, "escrowContract").ok_or(ESCROW_MALFORMED)?;
        Ok(Self { release, chain_id, address: address.to_owned() })
    }

    fn network(&self) -> String {
        format!("eip155:{}", self.chain_id)
    }

    /// The contract's address.
    fn escrow(&self) -> Result<Address, Refusal> {
        address_of(&self.address).ok_or(ESCROW_MALFORMED)
    }

    fn channel(&self, id: &Hash) -> ChannelRef {
        ChannelRef { network: self.network(), channel: id.to_string() }
    }

    fn id(&self, descriptor: &Descriptor) -> Result<Hash, Refusal> {
        Ok(descriptor.id(self.release, &self.escrow()?, self.chain_id).into())
    }

    /// The request for a voucher.
    fn voucher(&self, channel: &str, cumulative: u128) -> Value {
        let domain = self.release.domain(self.chain_id, &self.address);
        Voucher { domain, amount: self.release.amount_type(), channel, cumulative }.request()
    }
}

/// What a challenge opens a channel for.
struct Terms<'a> {
    contract: Contract,
    payee: &'a str,
    operator: &'a str,
    token: &'a str,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let details = offer.details();
        if details.has("channelId") || details.has("sessionSnapshot") {
            return Err(CHANNEL_NAMED);
        }
        let contract = Contract::of(&offer.request)?;
        let address = |object, name| evm::address(object, name).ok_or(REQUEST_MALFORMED);
        Ok(Self {
            contract,
            payee: address(&offer.request, "recipient")?,
            operator: operator(details).ok_or(REQUEST_MALFORMED)?,
            token: address(&offer.request, "currency")?,
        })
    }
}

/// Who may act for the payee: nobody where the request names none.
fn operator(details: &Object) -> Option<&str> {
    if details.has("operator") { evm::address(details, "operator") } else { Some(evm::ZERO_ADDRESS) }
}

/// The channel that a payload names.
fn channel(payload: &Object) -> Result<Hash, Refusal> {
    bytes32(payload, "channelId").ok_or(CREDENTIAL_MALFORMED)
}

/// The descriptor in a payload, which must be the named channel's in a contract of release 2, and for the operator that the
/// request names.
fn reserved(contract: &Contract, request: &Object, payload: &Object) -> Result<Descriptor, Refusal> {
    let descriptor = payload.get("descriptor").and_then(Value::as_object).and_then(descriptor_of).ok_or(DESCRIPTOR_MISMATCH)?;
    let named = Some(contract.id(&descriptor)?) == bytes32(payload, "channelId");
    let operated = operator(details(request)).and_then(address_of) == Some(descriptor.opening.operator);
    if named && operated { Ok(descriptor) } else { Err(DESCRIPTOR_MISMATCH) }
}

fn descriptor_of(members: &Object) -> Option<Descriptor> {
    let opening = Opening {
        payee: address(members, "payee")?,
        operator: address(members, "operator")?,
        token: address(members, "token")?,
        salt: *bytes32(members, "salt")?.bytes(),
        authorized_signer: address(members, "authorizedSigner")?,
    };
    let expiring_nonce_hash = *bytes32(members, "expiringNonceHash")?.bytes();
    Some(Descriptor { payer: address(members, "payer")?, opening, expiring_nonce_hash })
}

/// A channel whose opening transaction, then whose first voucher, waits for the wallet.
struct Unopened {
    challenge: Object,
    source: Text,
    request: Value,
    contract: Contract,
    /// The channel's descriptor but for the hash of the transaction's nonce.
    descriptor: Object,
}

impl Unsigned for Unopened {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(Some(self.request.clone()))
    }

    /// Joins the transaction, then the transaction and the voucher. The opening must be read back from the transaction
    /// before the voucher is asked for.
    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let (transaction, voucher) = match answer.as_array() {
            None => (answer, None),
            Some([transaction, voucher]) => (transaction, Some(voucher)),
            Some(_) => return Err(CREDENTIAL_MALFORMED),
        };
        let (channel, payload) = self.opening(transaction.as_str().ok_or(CREDENTIAL_MALFORMED)?)?;
        let credential = |payload| credential(self.challenge.clone(), Some(self.source.clone()), payload);
        PAIRING.bound(&credential(payload.clone()), None)?;
        let Some(voucher) = voucher else { return Ok(Completed::Next(self.contract.voucher(&channel, 0))) };
        let signed = credential(payload.with("signature", signature(voucher)?));
        Credential::read(&signed)?;
        Ok(Completed::Payment { signed, landed: None })
    }
}

impl Unopened {
    /// The channel that the signed transaction is to open, and the payload but for the voucher's signature.
    fn opening(&self, transaction: &str) -> Result<(String, Object), Refusal> {
        let payer = address(&self.descriptor, "payer").ok_or(INPUT_MALFORMED)?;
        let bytes = encoding::from_hex(transaction).ok_or(CREDENTIAL_MALFORMED)?;
        // One that cannot be read is refused when the opening is read back.
        let nonce = Transaction::read(&bytes).map_or([0; 32], |transaction| transaction.expiring_nonce_hash(&payer));
        let descriptor = self.descriptor.clone().with("expiringNonceHash", encoding::hex(&nonce));
        let channel = self.contract.id(&descriptor_of(&descriptor).ok_or(INPUT_MALFORMED)?)?.to_string();
        let payload = Object::new()
            .with("action", "open")
            .with("type", "transaction")
            .with("channelId", channel.as_str())
            .with("transaction", transaction)
            .with_some("authorizedSigner", descriptor.get("authorizedSigner"))
            .with("cumulativeAmount", "0")
            .with_some("descriptor", Some(descriptor).filter(|_| self.contract.release == Release::V2));
        Ok((channel, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, DeclineCode, Declined,
        mpp::sample::{self, ATR, PAYER, RECIPIENT, TOKEN, challenge, encoded, h, object, parsed, with_payload},
        pairing::{ChannelAct, Within, WithinAsk, WithinBuild},
        wire::tempo::sample::signed,
    };

    const NETWORK: &str = "eip155:42431";
    const ESCROW: &str = "0x4D50500000000000000000000000000000000000";
    const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    /// A request with more members of `methodDetails`.
    fn session(protocol: &str, details: &str) -> Object {
        let details = format!("'chainId':42431,'escrowContract':'{ESCROW}','sessionProtocol':'{protocol}'{details}");
        object(&format!("{{'amount':'5','currency':'{TOKEN}','recipient':'{RECIPIENT}','methodDetails':{{{details}}}}}"))
    }

    fn asked(protocol: &str) -> Object {
        challenge(&h(), "session", "tempo", session(protocol, ""))
    }

    fn choice(protocol: &str, inputs: &str) -> Object {
        sample::choose(&PAIRING, NETWORK, asked(protocol), inputs).unwrap()
    }

    fn built(protocol: &str) -> Box<dyn Unsigned> {
        sample::build(&PAIRING, &choice(protocol, "{'deposit':'0100'}")).unwrap()
    }

    /// The data of the call that is asked for.
    fn data(protocol: &str) -> Vec<u8> {
        let request = sample::request(&*built(protocol));
        encoding::from_hex(request.get("call").unwrap().get("data").and_then(Value::as_str).unwrap()).unwrap()
    }

    fn transaction(data: Vec<u8>) -> Value {
        signed(42431, &[(address_of(ESCROW).unwrap(), data)])
    }

    fn opening(protocol: &str) -> Value {
        sample::paid(&*built(protocol), &[transaction(data(protocol)), "0xab".into()].into()).unwrap()
    }

    fn channel() -> Sessions<Tempo> {
        Sessions(Tempo)
    }

    fn held(protocol: &str) -> ChannelRef {
        channel().reference(&opening(protocol), None).unwrap()
    }

    #[test]
    fn opens_a_channel_then_signs_its_voucher() {
        for (protocol, domain, amount) in [("v1", "Tempo Stream Channel", "uint128"), ("v2", "TIP20 Channel Reserve", "uint96")] {
            let unsigned = built(protocol);
            let request = sample::request(&*unsigned);
            assert_eq!(request.get("validBefore"), Some(&1_893_456_000u32.into()));
            assert!(!PAIRING.moves(&request));
            let Ok(Completed::Next(voucher)) = unsigned.complete(&transaction(data(protocol))) else { panic!("{protocol}") };
            let typed_data = voucher.get("typedData").unwrap();
            assert_eq!(typed_data.get("domain").unwrap().get("name"), Some(&domain.into()));
            assert_eq!(typed_data.get("types").unwrap().get("Voucher").unwrap().as_array().unwrap()[1].get("type"), Some(&amount.into()));
            let opening = opening(protocol);
            let payload = opening.get("payload").unwrap();
            assert_eq!(typed_data.get("message").unwrap().get("channelId"), payload.get("channelId"));
            assert_eq!(payload.get("descriptor").is_some(), protocol == "v2");
            assert_eq!(opening.get("source"), Some(&format!("did:pkh:{NETWORK}:{PAYER}").into()));
            assert_eq!(PAIRING.bound(&opening, None), Ok(h()), "{protocol}");
            assert_eq!(channel().kind(&opening), Ok(ChannelAct::Open));
            assert_eq!(held(protocol).channel, payload.get("channelId").and_then(Value::as_str).unwrap());
        }
    }

    #[test]
    fn the_transaction_is_read_back_before_the_voucher() {
        for (protocol, other_channel) in [("v1", "mpp/channel-not-bound"), ("v2", "tempo/descriptor-mismatch")] {
            let data = data(protocol);
            let changed = |place: usize| {
                let mut data = data.clone();
                data[place] ^= 1;
                transaction(data)
            };
            let other_salt = data.len() - 64;
            let (escrow, other) = (address_of(ESCROW).unwrap(), address_of(OTHER).unwrap());
            let call = (escrow, data.clone());
            for (transaction, code) in [
                (signed(42431, &[(other, data.clone())]), "tempo/open-not-found"),
                (changed(0), "tempo/open-not-found"),
                (signed(42431, &[call.clone(), call.clone()]), "tempo/open-ambiguous"),
                (transaction([&*data, &[0]].concat()), "tempo/tx-malformed"),
                (signed(4217, &[call]), "tempo/tx-malformed"),
                ("0x".into(), "tempo/tx-malformed"),
                (changed(other_salt), "tempo/salt-not-bound"),
                (changed(4), "tempo/tx-malformed"),
                (changed(16), other_channel),
                ("x".into(), "mpp/credential-malformed"),
                (format!("0x{}", "00".repeat(32_768)).into(), "mpp/credential-malformed"),
            ] {
                let unsigned = built(protocol);
                assert_eq!(unsigned.complete(&transaction).unwrap_err().code(), code, "{protocol}");
                assert_eq!(unsigned.complete(&[transaction, "no voucher".into()].into()).unwrap_err().code(), code, "{protocol}");
            }
            let unsigned = built(protocol);
            for answer in [Value::Null, Vec::new().into(), vec![transaction(data.clone()); 3].into(), [transaction(data.clone()), "0x".into()].into()]
            {
                assert_eq!(unsigned.complete(&answer), Err(CREDENTIAL_MALFORMED));
            }
        }
    }

    #[test]
    fn a_challenge_names_a_contract() {
        let code = |request: Object| {
            let choice = choice("v2", "{'deposit':'1'}").with("challenge", asked("v2").with("request", encoded(request)));
            sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        for (details, expected) in [
            ("'channelId':null,'sessionProtocol':1", "mpp/channel-named"),
            ("'sessionSnapshot':{}", "mpp/channel-named"),
            ("'sessionProtocol':'v3','chainId':0", "mpp/session-protocol"),
            ("'chainId':0,'escrowContract':'x'", "mpp/chain-id-required"),
            ("'escrowContract':'x','operator':1", "mpp/escrow-malformed"),
            ("'operator':null", "mpp/request-malformed"),
            (&format!("'operator':'{OTHER}'"), ""),
        ] {
            assert_eq!(code(session("v2", &format!(",{details}"))), expected, "{details}");
        }
        let without = |protocol: &str, name: &str| {
            let request = session(protocol, "");
            let details = request.get("methodDetails").unwrap().as_object().unwrap().without(name);
            code(request.with("methodDetails", details))
        };
        assert_eq!((without("v2", "chainId"), without("v2", "escrowContract")), ("mpp/chain-id-required".into(), "mpp/chain-id-required".into()));
        assert_eq!((without("v1", "chainId"), without("v1", "escrowContract")), (String::new(), "mpp/escrow-malformed".into()));
        assert_eq!(
            (code(session("v2", "").without("recipient")), code(session("v2", "").without("amount"))),
            ("mpp/request-malformed".into(), String::new())
        );
        let unlimited = choice("v2", "{'deposit':'1'}").with("challenge", asked("v2").without("expires"));
        assert_eq!(sample::build(&PAIRING, &unlimited).err(), Some(EXPIRES_REQUIRED));
    }

    #[test]
    fn a_deposit_fits_the_contract() {
        let code = |protocol: &str, deposit: u128| {
            let choice = choice(protocol, &format!("{{'deposit':'{deposit}'}}"));
            sample::build(&PAIRING, &choice).err()
        };
        assert_eq!((code("v1", u128::MAX), code("v2", (1 << 96) - 1)), (None, None));
        assert_eq!((code("v1", 0), code("v2", 1 << 96)), (Some(INPUT_MALFORMED), Some(INPUT_MALFORMED)));
        let signer = choice("v2", "{'deposit':'1'}").with("authorizedSigner", "x");
        assert_eq!(sample::build(&PAIRING, &signer).err(), Some(INPUT_MALFORMED));
    }

    #[test]
    fn an_opening_is_refused_for_its_first_fault() {
        for protocol in ["v1", "v2"] {
            let opening = opening(protocol);
            let code =
                |name: &str, value: Value| PAIRING.bound(&with_payload(&opening, name, value), None).err().map(|refusal| refusal.code().to_owned());
            let mismatch = if protocol == "v1" { "mpp/channel-not-bound" } else { "tempo/descriptor-mismatch" };
            for (name, value, expected) in [
                ("action", "voucher".into(), "mpp/not-an-opening"),
                ("type", "hash".into(), "mpp/not-an-opening"),
                ("transaction", Value::Null, "mpp/credential-malformed"),
                ("channelId", "x".into(), "mpp/credential-malformed"),
                ("channelId", h().to_string().into(), mismatch),
            ] {
                assert_eq!(code(name, value).as_deref(), Some(expected), "{protocol} {name}");
            }
            let no_descriptor = code("descriptor", Value::Null);
            assert_eq!(no_descriptor.as_deref(), (protocol == "v2").then_some(mismatch));
        }
        // A descriptor that names the channel, of another payer than the transaction's sender.
        let opening = opening("v2");
        let descriptor = opening.get("payload").unwrap().get("descriptor").unwrap().as_object().unwrap().clone().with("payer", OTHER);
        let contract = Contract::of(&session("v2", "")).unwrap();
        let id = contract.id(&descriptor_of(&descriptor).unwrap()).unwrap();
        let other = with_payload(&with_payload(&opening, "descriptor", descriptor), "channelId", id.to_string());
        assert!(reserved(&contract, &session("v2", ""), other.get("payload").unwrap().as_object().unwrap()).is_ok());
        assert_eq!(PAIRING.bound(&other, None), Err(DESCRIPTOR_MISMATCH));
    }

    fn within(held_protocol: &str, request: Object, charged: &str, refund: Option<&Object>) -> Result<WithinBuild, Declined> {
        Within::build(
            &channel(),
            &WithinAsk {
                document: &[challenge(&h(), "session", "tempo", request).into()].into(),
                h: &ConfirmedHash::rehash(ATR),
                held: &held(held_protocol),
                opening: &opening(held_protocol),
                landed: None,
                charged,
                refund,
                inputs: &Object::new(),
                reference: &Value::Null,
            },
        )
    }

    /// A request that names the held channel.
    fn named(protocol: &str, held_protocol: &str, details: &str) -> Object {
        session(protocol, &format!(",'channelId':'{}'{details}", held(held_protocol).channel))
    }

    #[test]
    fn vouchers_pay_inside_and_one_closes() {
        for protocol in ["v1", "v2"] {
            for (refund, action, act, total) in [(None, "voucher", ChannelAct::Within, "12"), (Some(Object::new()), "close", ChannelAct::Close, "7")]
            {
                for request in [named(protocol, protocol, ""), session(protocol, "")] {
                    let build = within(protocol, request, "07", refund.as_ref()).unwrap();
                    assert_eq!((&*build.signed_for, build.act), (total, act));
                    let payment = sample::paid(&*build.unsigned, &["0xab".into()].into()).unwrap();
                    let payload = payment.get("payload").unwrap();
                    assert_eq!((payload.get("action"), payload.get("cumulativeAmount")), (Some(&action.into()), Some(&total.into())));
                    assert_eq!(payload.get("descriptor"), opening(protocol).get("payload").unwrap().get("descriptor"));
                    assert_eq!((channel().kind(&payment), channel().reference(&payment, None)), (Ok(act), Ok(held(protocol))));
                    let carried = if protocol == "v2" { Ok(h()) } else { Err(NOT_BOUND_WITHIN) };
                    assert_eq!(Within::bound(&channel(), &payment), carried);
                }
            }
        }
    }

    #[test]
    fn a_voucher_is_for_the_held_channel_only() {
        let declined =
            |held_protocol: &str, request: Object| within(held_protocol, request, "0", None).err().map(|declined| (declined.code, declined.detail));
        let unreadable = |code: &str| Some((DeclineCode::OfferUnreadable, code.to_owned()));
        assert_eq!(declined("v2", named("v1", "v2", "")), unreadable("mpp/not-bound-within"));
        assert_eq!(declined("v1", named("v2", "v1", "")), unreadable("tempo/descriptor-mismatch"));
        for details in [format!(",'escrowContract':'{OTHER}'"), format!(",'operator':'{OTHER}'"), ",'operator':'x'".to_owned()] {
            assert_eq!(declined("v2", named("v2", "v2", &details)), unreadable("tempo/descriptor-mismatch"), "{details}");
        }
        // In release 1 the held contract's voucher is signed, whatever the challenge says of it.
        let build = within("v1", named("v1", "v1", &format!(",'escrowContract':'{OTHER}'")), "0", None).unwrap();
        let requests = sample::request(&*build.unsigned);
        let domain = requests.get("requests").unwrap().as_array().unwrap()[0].get("typedData").unwrap().get("domain").unwrap();
        assert_eq!(domain.get("verifyingContract"), Some(&ESCROW.into()));
        for details in [",'chainId':4217", ",'chainId':0", ",'sessionProtocol':'v3'", ",'escrowContract':'x'", ",'channelId':'x'"] {
            assert_eq!(declined("v2", named("v2", "v2", details)).unwrap().1, "mpp/no-payable-option", "{details}");
        }
        let past = |protocol: &str, amount: u128| declined(protocol, named(protocol, protocol, "").with("amount", amount.to_string()));
        assert_eq!((past("v2", (1 << 96) - 1), past("v1", u128::MAX)), (None, None));
        assert_eq!(past("v2", 1 << 96), unreadable("mpp/input-malformed"));
    }

    #[test]
    fn inputs_are_of_their_form() {
        let refused = |inputs: &str| sample::choose(&PAIRING, NETWORK, asked("v2"), inputs).unwrap_err().code().to_owned();
        for inputs in ["{}", "{'deposit':1}", "{'deposit':'1','authorizedSigner':null}", "{'deposit':'1','credentialType':'x'}"] {
            assert_eq!(refused(inputs), "mpp/input-missing", "{inputs}");
        }
        let choice = choice("v2", &format!("{{'deposit':'1','authorizedSigner':'{OTHER}','credentialType':'hash','tokenDomain':{{}}}}"));
        assert_eq!(choice.get("authorizedSigner"), Some(&OTHER.into()));
        assert_eq!(choice.get("tokenDomain"), Some(&parsed("{}")));
    }
}
