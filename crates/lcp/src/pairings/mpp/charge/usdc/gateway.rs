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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        mpp::sample::{self, PAYER, challenge, h, object, paid, parsed, request},
        pairing::Pairing,
    };

    const SOLANA: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

    fn asked() -> Object {
        let request = object(&format!(
            "{{'amount':'5','methodDetails':{{'gateway':{{'acceptedSources':['eip155:84532','{SOLANA}',5]}},'type':'gateway'}},'recipient':'any'}}"
        ));
        challenge(&h(), "charge", "usdc", request)
    }

    /// What a Gateway's client answers.
    fn answer(salt: &Hash) -> Object {
        let word = format!("0x{:0>64}", PAYER[2..].to_lowercase());
        object(&format!(
            "{{'source':'eip155:84532:{PAYER}','sourceNetwork':'eip155:84532','destinationNetwork':'{SOLANA}','maxFee':'2','signature':'0x11',
            'burnIntent':{{'maxFee':'02','spec':{{'sourceSigner':'{word}','destinationRecipient':'{salt}','value':5,'salt':'{salt}'}}}}}}"
        ))
    }

    #[test]
    fn accepts_its_sources() {
        let chosen = |network| sample::choose(&PAIRING, network, asked(), "{}");
        assert_eq!(chosen("eip155:84532").unwrap(), Object::new().with("from", PAYER).with("now", 1_790_000_000u32).with("challenge", asked()));
        assert!(chosen(SOLANA).is_ok());
        assert_eq!(chosen("eip155:1").unwrap_err().code(), "mpp/no-payable-option");
    }

    #[test]
    fn the_salt_derives_from_the_challenge_and_the_intent() {
        let choice = sample::choose(&PAIRING, "eip155:84532", asked(), "{}").unwrap();
        let unsigned = sample::build(&PAIRING, &choice).unwrap();
        let preimage = request(&*unsigned).get("preimage").unwrap().as_object().unwrap().clone();
        assert_eq!(preimage.get("recipient"), Some(&"any".into()));
        // What the derivation hashes, written out.
        let destination = base58::encode(h().bytes());
        let derived = preimage
            .with("method", "usdc")
            .with("intent", "charge")
            .with("type", "gateway")
            .with("sourceNetwork", "eip155:84532")
            .with("destinationNetwork", SOLANA)
            .with("sourceDepositor", format!("eip155:84532:{PAYER}"))
            .with("sourceSigner", format!("eip155:84532:{}", PAYER.to_lowercase()))
            .with("destinationRecipient", format!("{SOLANA}:{destination}"))
            .with("amount", "5")
            .with("maxFee", "2");
        let salt = crate::wire::evm::keccak(crate::json::canonical(&derived.into()).unwrap().as_bytes());
        let answered = |salt: &Hash| {
            let answer = answer(&h());
            let intent = answer.get("burnIntent").unwrap().as_object().unwrap().clone();
            let spec = intent.get("spec").unwrap().as_object().unwrap().clone().with("salt", salt);
            paid(&*unsigned, &answer.with("burnIntent", intent.with("spec", spec)).into()).unwrap()
        };
        let payment = answered(&salt.into());
        assert_eq!(payment.get("source"), Some(&format!("eip155:84532:{PAYER}").into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(PAIRING.bound(&answered(&h()), None).unwrap_err(), SALT_NOT_USDC_DERIVATION);
        let unsourced = payment.as_object().unwrap().without("source").into();
        assert_eq!(PAIRING.bound(&unsourced, None).unwrap_err(), CREDENTIAL_MALFORMED);
    }

    #[test]
    fn an_answer_has_every_member() {
        let unsigned = sample::build(&PAIRING, &sample::choose(&PAIRING, SOLANA, asked(), "{}").unwrap()).unwrap();
        assert!(paid(&*unsigned, &answer(&h()).into()).is_ok());
        for name in ["source", "sourceNetwork", "destinationNetwork", "maxFee", "signature", "burnIntent"] {
            for value in [None, Some(""), Some("0x")] {
                let answer = match value {
                    None => answer(&h()).without(name),
                    Some(value) => answer(&h()).with(name, value),
                };
                let malformed = value != Some("0x") || ["signature", "burnIntent"].contains(&name);
                assert_eq!(paid(&*unsigned, &answer.into()).is_err(), malformed, "{name}: {value:?}");
            }
        }
    }

    #[test]
    fn reads_amounts_and_accounts() {
        for (value, read) in
            [("0", Some("0")), ("'000'", Some("0")), ("'007'", Some("7")), ("7.0", Some("7")), ("9007199254740991", Some("9007199254740991"))]
        {
            assert_eq!(amount(&parsed(value)).as_deref(), read, "{value}");
        }
        for value in ["-1", "1.5", "9007199254740992", "true", "''", "'+1'", "'1.0'", "null"] {
            assert_eq!(amount(&parsed(value)), None, "{value}");
        }
        let word = Hash::parse(&format!("0x{:0>64}", &PAYER[2..])).unwrap();
        assert_eq!(account(&"eip155:1".into(), &word), Some(format!("eip155:1:{}", PAYER.to_lowercase())));
        assert_eq!(account(&"eip155:1".into(), &h()), None);
        assert_eq!(account(&"solana:x".into(), &[0; 32].into()), Some(format!("solana:x:{}", "1".repeat(32))));
        assert_eq!(account(&"eip155".into(), &word), None);
        assert_eq!(account(&"cosmos:x".into(), &word), None);
    }

    proptest! {
        /// Whatever stands in a payload, it is read or refused.
        #[test]
        fn any_payload(text in "[\\[\\]{}\":,a-zA-Z0-9]{0,80}", place in 0..4usize) {
            let value = crate::json::parse(&text, 16).unwrap_or(Value::Null);
            let mut payment = paid(&*sample::build(&PAIRING, &sample::choose(&PAIRING, SOLANA, asked(), "{}").unwrap()).unwrap(), &answer(&h()).into()).unwrap();
            payment = sample::with_payload(&payment, ["type", "sourceNetwork", "destinationNetwork", "authorization"][place], value);
            prop_assert!(PAIRING.bound(&payment, None).is_err());
        }
    }
}
