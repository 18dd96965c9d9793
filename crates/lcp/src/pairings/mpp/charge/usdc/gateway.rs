//! `mpp/charge/usdc/gateway`: a burn intent for Circle's Gateway, whose salt derives from the challenge and from what it
//! moves; the challenge's id is H.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    encoding,
    inputs::MAX_DECIMAL,
    mpp::{
        Method, Mpp, NO_PAYABLE_OPTION, NOT_THIS_PAIRING, Offer,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, Payload, Waiting},
        evm::{bytes32, judge_type, signature},
        judge_choice,
        usdc::{Charge, Profile, derivation, request_hash},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::solana::base58,
};

pub(crate) static PAIRING: Mpp<Gateway> = Mpp(Gateway);

pub(crate) struct Gateway;

const GATEWAY_UNREAD: Refusal = Refusal::new("mpp/gateway-unread");
const SALT_NOT_USDC_DERIVATION: Refusal = Refusal::new("mpp/salt-not-usdc-derivation");

const TYPE: &str = "transfer";
const FORMAT: &str = "circle-gateway-v1";

/// The recipient of an offer, and the profile's details.
fn charged<'a>(offer: &'a Offer<'_>) -> Result<(&'a Text, &'a Object), Refusal> {
    match Charge::of(offer)? {
        Charge { profile: Profile::Gateway(details), recipient, .. } => Ok((recipient, details)),
        _ => Err(NOT_THIS_PAIRING),
    }
}

impl Method for Gateway {
    fn id(&self) -> &'static str {
        "mpp/charge/usdc/gateway"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        charged(offer).map(|_| ())
    }

    /// An account on any network that the offer accepts.
    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        let accepted = charged(offer).ok().and_then(|(_, details)| details.get("acceptedSources")?.as_array());
        let network = Account::parse(account).map(|account| account.network);
        accepted.zip(network).is_some_and(|(accepted, network)| accepted.iter().any(|source| source.as_str() == Some(&network)))
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
        Ok(Object::new().with("from", account.address).with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_choice(chosen.choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let (recipient, _) = charged(&offer)?;
        let preimage = Object::new()
            .with_some("id", offer.challenge.id.cloned())
            .with("realm", offer.challenge.realm.clone())
            .with("requestHash", request_hash(&offer)?)
            .with("recipient", recipient.clone());
        let request = Object::new().with("kind", "gateway-burn-intent").with("preimage", preimage).into();
        Ok(Box::new(Waiting::new(&offer.challenge, None, Transfer { request })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        judge_type(credential.payload, TYPE)?;
        let text = |name| credential.payload.get(name).and_then(Value::as_text).ok_or(CREDENTIAL_MALFORMED);
        let source = credential.source.ok_or(CREDENTIAL_MALFORMED)?;
        let (source_network, destination_network) = (text("sourceNetwork")?, text("destinationNetwork")?);
        let intent = Intent::of(credential.payload).ok_or(GATEWAY_UNREAD)?;
        let signer = account(source_network, &intent.signer).ok_or(GATEWAY_UNREAD)?;
        let destination = account(destination_network, &intent.recipient).ok_or(GATEWAY_UNREAD)?;
        let (recipient, _) = charged(offer)?;
        let more = Object::new()
            .with("sourceNetwork", source_network.clone())
            .with("destinationNetwork", destination_network.clone())
            .with("sourceDepositor", source.clone())
            .with("sourceSigner", signer)
            .with("recipient", recipient.clone())
            .with("destinationRecipient", destination)
            .with("amount", intent.value)
            .with("maxFee", intent.max_fee)
            .with("type", "gateway");
        if *intent.salt.bytes() == derivation(offer, more)? { Ok(offer.h) } else { Err(SALT_NOT_USDC_DERIVATION) }
    }
}

/// What a payload's burn intent moves. Its other members are let be.
struct Intent {
    signer: Hash,
    recipient: Hash,
    /// Decimal, without leading zeros.
    value: String,
    max_fee: String,
    salt: Hash,
}

impl Intent {
    fn of(payload: &Object) -> Option<Self> {
        let authorization = payload.get("authorization")?.as_object()?;
        if authorization.get("format").is_some_and(|format| format.as_str() != Some(FORMAT)) {
            return None;
        }
        let transfer = authorization.get("transfer")?.as_object().filter(|transfer| !transfer.has("burnIntentSet"))?;
        transfer.get("signature")?.as_text()?;
        let intent = transfer.get("burnIntent")?.as_object()?;
        let spec = intent.get("spec")?.as_object()?;
        Some(Self {
            signer: bytes32(spec, "sourceSigner")?,
            recipient: bytes32(spec, "destinationRecipient")?,
            value: amount(spec.get("value")?)?,
            max_fee: amount(intent.get("maxFee")?)?,
            salt: bytes32(spec, "salt")?,
        })
    }
}

/// An amount in an intent, a decimal or a number, without leading zeros.
fn amount(value: &Value) -> Option<String> {
    if let Some(number) = value.as_safe_unsigned() {
        return Some(number.to_string());
    }
    let digits = value.as_str().filter(|text| encoding::is_decimal(text, MAX_DECIMAL))?.trim_start_matches('0');
    Some(if digits.is_empty() { "0" } else { digits }.to_owned())
}

/// The account that a word of an intent names on a network; an address on an EVM network has no bits above it.
fn account(network: &Text, word: &Hash) -> Option<String> {
    let network = network.as_str()?;
    let address = match network.split_once(':')?.0 {
        "eip155" => {
            let (padding, address) = word.bytes().split_at(12);
            padding.iter().all(|&byte| byte == 0).then(|| encoding::hex(address))?
        }
        "solana" => base58::encode(word.bytes()),
        _ => return None,
    };
    Some(format!("{network}:{address}"))
}

/// A transfer that waits for its burn intent.
struct Transfer {
    request: Value,
}

impl Payload for Transfer {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let text = |name| answer.get(name).and_then(Value::as_text).filter(|text| text.utf16_len() > 0).cloned().ok_or(CREDENTIAL_MALFORMED);
        let intent = answer.get("burnIntent").filter(|intent| intent.as_object().is_some()).ok_or(CREDENTIAL_MALFORMED)?;
        let signature = answer.get("signature").ok_or(CREDENTIAL_MALFORMED).and_then(signature)?;
        let transfer = Object::new().with("burnIntent", intent).with("signature", signature);
        let payload = Object::new()
            .with("type", TYPE)
            .with("sourceNetwork", text("sourceNetwork")?)
            .with("destinationNetwork", text("destinationNetwork")?)
            .with("maxFee", text("maxFee")?)
            .with("authorization", Object::new().with("format", FORMAT).with("transfer", transfer));
        Ok(Answered::Sent { source: text("source")?, payload })
    }
}
