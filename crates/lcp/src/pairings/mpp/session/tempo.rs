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
