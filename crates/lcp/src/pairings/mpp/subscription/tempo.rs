//! `mpp/subscription/tempo`: leave for the seller's key to pay itself each period, in which a witness that the account signs is
//! H.

use crate::{
    Hash, Object, Refusal, Value, encoding,
    mpp::{
        Method, Mpp, Offer, REQUEST_MALFORMED,
        challenge::unix_seconds,
        credential::{Credential, OneStep, ReadBack, Waiting},
        evm::{CHAIN_ID_REQUIRED, Payer, chain_id, signature},
        session::{NOT_AN_OPENING, SESSION_ACTION},
    },
    pairing::{Buyer, Channel, ChannelAct, ChannelRef, Choice, Unsigned},
    wire::{
        evm::{self, U256},
        tempo::{AccessKey, KeyAuthorization, address_of, tip20},
    },
};

pub(crate) static PAIRING: Mpp<Subscription> = Mpp(Subscription);

pub(crate) struct Subscription;

const ACCESS_KEY_MALFORMED: Refusal = Refusal::new("mpp/access-key-malformed");
const KEY_AUTHORIZATION_MALFORMED: Refusal = Refusal::new("tempo/key-authorization-malformed");
const NO_WITNESS: Refusal = Refusal::new("tempo/no-witness");
const WITNESS_NOT_BOUND: Refusal = Refusal::new("tempo/witness-not-bound");
const KEY_NOT_AUTHORIZED: Refusal = Refusal::new("tempo/key-not-authorized");

impl Method for Subscription {
    fn id(&self) -> &'static str {
        "mpp/subscription/tempo"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(drop)
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        chain_id(offer.details()).map(network)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        let key = terms.access_key(chosen.h).ok_or(REQUEST_MALFORMED)?;
        let request = terms.request(&key);
        let payload = move |answer: &Value| {
            let signature = encoding::from_hex(signature(answer)?).unwrap_or_default();
            Ok(Object::new().with("type", "keyAuthorization").with("signature", encoding::hex(&key.signed(&signature))))
        };
        let unsigned = Waiting::new(&offer.challenge, Some(payer.source(terms.chain_id)), OneStep { request, payload });
        Ok(Box::new(ReadBack { pairing: &PAIRING, unsigned }))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let terms = Terms::of(offer)?;
        if !authorizes(credential.payload) {
            return Err(NOT_AN_OPENING);
        }
        let authorization = key_authorization(credential.payload)?;
        let witness = Hash::from(authorization.witness.ok_or(NO_WITNESS)?);
        if witness != offer.h {
            return Err(WITNESS_NOT_BOUND);
        }
        let authorized = authorization.chain_id == u128::from(terms.chain_id).into()
            && authorization.kind == u128::from(terms.kind).into()
            && Some(authorization.key) == address_of(terms.key);
        if authorized { Ok(witness) } else { Err(KEY_NOT_AUTHORIZED) }
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(self)
    }
}

/// The seller's key, which the authorization names, pays without the buyer: no payment inside is built here.
impl Channel for Subscription {
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal> {
        if authorizes(Credential::read(payment)?.payload) { Ok(ChannelAct::Open) } else { Err(SESSION_ACTION) }
    }

    fn reference(&self, payment: &Value, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let credential = Credential::read(payment)?;
        let request = credential.challenge.request()?;
        let chain_id = chain_id(crate::mpp::details(&request)).ok_or(CHAIN_ID_REQUIRED)?;
        let authorization = key_authorization(credential.payload)?;
        Ok(ChannelRef { network: network(chain_id), channel: encoding::hex(&authorization.digest) })
    }
}

fn network(chain_id: u64) -> String {
    format!("eip155:{chain_id}")
}

/// Whether a payload gives a key leave.
fn authorizes(payload: &Object) -> bool {
    payload.get("type").and_then(Value::as_str) == Some("keyAuthorization")
}

fn key_authorization(payload: &Object) -> Result<KeyAuthorization, Refusal> {
    let signed = payload.get("signature").and_then(Value::as_str).and_then(encoding::from_hex);
    signed.as_deref().and_then(KeyAuthorization::read).ok_or(KEY_AUTHORIZATION_MALFORMED)
}

/// What a challenge asks leave for; addresses as written.
struct Terms<'a> {
    chain_id: u64,
    /// The kind of key, as the chain numbers it.
    kind: u8,
    key: &'a str,
    expiry: u64,
    token: &'a str,
    amount: U256,
    period: u64,
    recipient: &'a str,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let (details, request) = (offer.details(), &offer.request);
        let key = details.get("accessKey").and_then(Value::as_object);
        let (key, kind) = key.and_then(|key| Some((evm::address(key, "accessKeyAddress")?, kind(key)?))).ok_or(ACCESS_KEY_MALFORMED)?;
        let text = |name| request.get(name).and_then(Value::as_str);
        let expiry = text("subscriptionExpires").and_then(unix_seconds).and_then(|expiry| expiry.try_into().ok()).ok_or(REQUEST_MALFORMED)?;
        let chain_id = chain_id(details).ok_or(CHAIN_ID_REQUIRED)?;
        let address = |name| evm::address(request, name).ok_or(REQUEST_MALFORMED);
        Ok(Self {
            chain_id,
            kind,
            key,
            expiry,
            token: address("currency")?,
            amount: text("amount").and_then(U256::from_decimal).ok_or(REQUEST_MALFORMED)?,
            period: period(text("periodUnit"), text("periodCount")).ok_or(REQUEST_MALFORMED)?,
            recipient: address("recipient")?,
        })
    }

    fn access_key(&self, h: &Hash) -> Option<AccessKey> {
        Some(AccessKey {
            chain_id: self.chain_id,
            kind: self.kind,
            key: address_of(self.key)?,
            expiry: self.expiry,
            token: address_of(self.token)?,
            limit: self.amount,
            period: self.period,
            selector: tip20::TRANSFER_WITH_MEMO,
            recipient: address_of(self.recipient)?,
            witness: *h.bytes(),
        })
    }

    fn request(&self, key: &AccessKey) -> Value {
        let limit = Object::new().with("token", self.token).with("limit", self.amount.to_string()).with("period", self.period.to_string());
        let rule = Object::new().with("selector", encoding::hex(&key.selector)).with("recipients", [self.recipient.into()]);
        let scope = Object::new().with("target", self.token).with("selectorRules", [rule.into()]);
        let authorization = Object::new()
            .with("chainId", self.chain_id.to_string())
            .with("keyType", u32::from(self.kind))
            .with("keyId", self.key)
            .with("expiry", self.expiry.to_string())
            .with("limits", [limit.into()])
            .with("allowedCalls", [scope.into()])
            .with("witness", encoding::hex(&key.witness));
        let digest = evm::keccak(&key.authorization());
        Object::new().with("kind", "tempo-key-authorization").with("authorization", authorization).with("digest", encoding::hex(&digest)).into()
    }
}

/// The chain's number of the kind of key that a challenge names.
fn kind(key: &Object) -> Option<u8> {
    match key.get("keyType")?.as_str()? {
        "secp256k1" => Some(0),
        "p256" => Some(1),
        "webAuthn" => Some(2),
        _ => None,
    }
}

/// A period in seconds, from its unit and how many of them it has: 1 to 16 digits that do not begin with a zero.
fn period(unit: Option<&str>, count: Option<&str>) -> Option<u64> {
    const DAY: u64 = 86_400;
    let unit = match unit? {
        "day" => DAY,
        "week" => 7 * DAY,
        _ => return None,
    };
    let count = count.filter(|count| encoding::is_decimal(count, 16) && !count.starts_with('0'))?;
    count.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash,
        mpp::sample::{self, ATR, RECIPIENT, TOKEN, challenge, encoded, h, object, parsed, with_payload},
        pairing::Pairing,
    };

    const NETWORK: &str = "eip155:42431";
    const KEY: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    fn request() -> Object {
        let details = format!("'chainId':42431,'accessKey':{{'accessKeyAddress':'{KEY}','keyType':'p256'}}");
        let period = "'periodUnit':'day','periodCount':'30','subscriptionExpires':'2026-12-20T00:00:00Z'";
        object(&format!("{{'amount':'0100','currency':'{TOKEN}','recipient':'{RECIPIENT}',{period},'methodDetails':{{{details}}}}}"))
    }

    fn asked(request: Object) -> Object {
        challenge(&h(), "subscription", "tempo", request).with("id", encoding::base64url(h().bytes()))
    }

    fn built() -> Box<dyn Unsigned> {
        sample::build(&PAIRING, &sample::choose(&PAIRING, NETWORK, asked(request()), "{}").unwrap()).unwrap()
    }

    fn signed() -> Value {
        sample::paid(&*built(), &"0xabcd".into()).unwrap()
    }

    #[test]
    fn asks_leave_for_a_key() {
        let asked = sample::request(&*built());
        let limit = format!("{{'token':'{TOKEN}','limit':'100','period':'2592000'}}");
        let calls = format!("{{'target':'{TOKEN}','selectorRules':[{{'selector':'0x95777d59','recipients':['{RECIPIENT}']}}]}}");
        let members = format!("'chainId':'42431','keyType':1,'keyId':'{KEY}','expiry':'1797724800','limits':[{limit}],'allowedCalls':[{calls}]");
        let authorization = parsed(&format!("{{{members},'witness':'{}'}}", h()));
        assert_eq!((asked.get("kind"), asked.get("authorization")), (Some(&"tempo-key-authorization".into()), Some(&authorization)));
        assert!(!PAIRING.moves(&asked));
        assert_eq!(PAIRING.bound(&signed(), None), Ok(h()));
        // The account signs the digest that names the channel.
        let named = ChannelRef { network: NETWORK.to_owned(), channel: asked.get("digest").and_then(Value::as_str).unwrap().to_owned() };
        let channel = PAIRING.channel().unwrap();
        assert_eq!((channel.kind(&signed()), channel.reference(&signed(), None)), (Ok(ChannelAct::Open), Ok(named)));
        assert!(channel.within().is_none());
    }

    #[test]
    fn a_request_is_refused_for_its_first_fault() {
        let code = |request: Object| {
            let choice = Object::new().with("from", sample::PAYER).with("challenge", asked(request));
            sample::build(&PAIRING, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        assert_eq!(code(request()), "");
        for (name, value, expected) in [
            ("methodDetails", parsed("{}"), "mpp/access-key-malformed"),
            ("methodDetails", parsed("{'accessKey':{'accessKeyAddress':'x','keyType':'p256'}}"), "mpp/access-key-malformed"),
            ("methodDetails", parsed(&format!("{{'accessKey':{{'accessKeyAddress':'{KEY}','keyType':'P256'}}}}")), "mpp/access-key-malformed"),
            ("methodDetails", parsed(&format!("{{'accessKey':{{'accessKeyAddress':'{KEY}','keyType':'webAuthn'}}}}")), "mpp/chain-id-required"),
            ("subscriptionExpires", "1969-12-31T23:59:59Z".into(), "mpp/request-malformed"),
            ("subscriptionExpires", "1970-01-01T00:00:00Z".into(), ""),
            ("periodUnit", "month".into(), "mpp/request-malformed"),
            ("amount", "0".into(), ""),
            ("amount", "x".into(), "mpp/request-malformed"),
            ("currency", Value::Null, "mpp/request-malformed"),
            ("recipient", "x".into(), "mpp/request-malformed"),
        ] {
            assert_eq!(code(request().with(name, value)), expected, "{name}");
        }
        let choice = Object::new().with("from", "x").with("challenge", asked(request()));
        assert_eq!(sample::build(&PAIRING, &choice).err().unwrap().code(), "mpp/input-malformed");
        assert_eq!(sample::choose(&PAIRING, "eip155:4217", asked(request()), "{}").unwrap_err().code(), "mpp/no-payable-option");
        // It needs no expiry of the challenge.
        assert!(sample::choose(&PAIRING, NETWORK, asked(request()).without("expires"), "{}").is_ok());
    }

    #[test]
    fn periods_in_seconds() {
        let seconds = |unit: &str, count: &str| period(Some(unit), Some(count));
        assert_eq!((seconds("day", "1"), seconds("week", "2")), (Some(86_400), Some(1_209_600)));
        assert_eq!((seconds("day", "213503982334601"), seconds("day", "213503982334602")), (Some(213_503_982_334_601 * 86_400), None));
        assert_eq!((seconds("week", "30500568904943"), seconds("week", "30500568904944")), (Some(30_500_568_904_943 * 604_800), None));
        for count in ["", "0", "01", "-1", "1.0", "1e3", "12345678901234567"] {
            assert_eq!(seconds("day", count), None, "{count}");
        }
        assert_eq!((period(None, Some("1")), period(Some("day"), None)), (None, None));
    }

    #[test]
    fn answers_are_signatures() {
        for answer in [Value::Null, "0x".into(), "ab".into(), ["0xab".into()].into(), format!("0x{}", "00".repeat(8193)).into()] {
            assert_eq!(built().complete(&answer).unwrap_err().code(), "mpp/credential-malformed");
        }
        let code = built().complete(&format!("0x{}", "00".repeat(8192)).into()).unwrap_err();
        assert_eq!(code, KEY_AUTHORIZATION_MALFORMED);
    }

    #[test]
    fn a_payment_is_refused_for_its_first_fault() {
        let (signed, terms) = (signed(), request());
        let challenge = asked(terms.clone());
        let choice = Object::new().with("challenge", challenge.clone());
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR };
        let offer = Offer::chosen(&Subscription, &chosen).unwrap();
        let key = Terms::of(&offer).unwrap().access_key(&h()).unwrap();
        let code = |key: &AccessKey| {
            PAIRING.bound(&with_payload(&signed, "signature", encoding::hex(&key.signed(&[1]))), None).map_err(|refusal| refusal.code().to_owned())
        };
        assert_eq!(code(&key), Ok(h()));
        for other in [AccessKey { chain_id: 1, ..key }, AccessKey { kind: 0, ..key }, AccessKey { key: [7; 20], ..key }] {
            assert_eq!(code(&other), Err("tempo/key-not-authorized".to_owned()));
            assert_eq!(code(&AccessKey { witness: [7; 32], ..other }), Err("tempo/witness-not-bound".to_owned()));
        }
        // What the key may do is not held to the challenge.
        assert_eq!(code(&AccessKey { limit: 1.into(), period: 1, expiry: 0, recipient: [7; 20], ..key }), Ok(h()));
        let bound = |name: &str, value: Value| PAIRING.bound(&with_payload(&signed, name, value), None).unwrap_err();
        assert_eq!(bound("type", "signature".into()), NOT_AN_OPENING);
        assert_eq!(bound("signature", "0x".into()), KEY_AUTHORIZATION_MALFORMED);
        assert_eq!(PAIRING.channel().unwrap().kind(&with_payload(&signed, "type", "signature")), Err(SESSION_ACTION));
        let elsewhere =
            signed.as_object().unwrap().clone().with("challenge", challenge.with("request", encoded(terms.with("methodDetails", parsed("{}")))));
        assert_eq!(PAIRING.channel().unwrap().reference(&elsewhere.into(), None), Err(CHAIN_ID_REQUIRED));
    }
}
