//! `mpp/charge/hedera`: one transaction moves the token, and its memo names the challenge. The buyer sends it, or the seller
//! to whom the buyer gives it signed.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    hedera::{self, Inputs, OPTION_MALFORMED, Sending, body_request, filled},
    inputs,
    mpp::{
        CHOICE_MALFORMED, INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer,
        attribution::Attribution,
        challenge::decoded,
        credential::{CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, Credential, credential},
        hedera::Network,
    },
    pairing::{Buyer, Choice, Completed, Unsigned},
    wire::{
        evm::Word,
        hedera::{self as wire, EntityId, Token, TransactionId, Transfer},
    },
};

pub(crate) static PAIRING: Mpp<Hedera> = Mpp(Hedera);

pub(crate) struct Hedera;

const TX_MISMATCH: Refusal = Refusal::new("hedera/tx-mismatch");
const READ_FIRST: Refusal = Refusal::new("hedera/read-first");
const ATTRIBUTION_MALFORMED: Refusal = Refusal::new("mpp/attribution-malformed");
const ATTRIBUTION_MISMATCH: Refusal = Refusal::new("mpp/attribution-mismatch");

/// Most transfers that go to others than the recipient.
const MAX_SPLITS: usize = 8;

/// The input that says who sends.
const WAY: &str = "credentialType";
const CLIENT_ID: &str = "clientId";
const NETWORK: &str = "network";

/// Who sends the transaction; a credential calls it its type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The buyer, who then names it.
    Hash,
    /// The seller.
    Transaction,
}

impl Way {
    fn of(name: &str) -> Option<Self> {
        match name {
            "hash" => Some(Self::Hash),
            "transaction" => Some(Self::Transaction),
            _ => None,
        }
    }
}

/// What a challenge charges.
struct Charge {
    token: EntityId,
    /// What each account receives, the recipient first; all positive or zero.
    payments: Vec<(EntityId, i64)>,
    total: i64,
    /// The network, where the challenge names it.
    network: Option<Network>,
}

impl Charge {
    fn of(offer: &Offer<'_>) -> Result<Self, Refusal> {
        let read = || {
            let total = amount(&offer.request).filter(|total| *total > 0)?;
            let token = EntityId::of(&offer.request, "currency")?;
            let recipient = EntityId::of(&offer.request, "recipient")?;
            let splits = splits(&offer.request)?;
            let rest = splits.iter().try_fold(total, |rest, (_, amount)| rest.checked_sub(*amount)).filter(|rest| *rest > 0)?;
            let payments: Vec<_> = std::iter::once((recipient, rest)).chain(splits).collect();
            are_distinct(&payments).then_some((total, token, payments))
        };
        let (total, token, payments) = read().ok_or(OPTION_MALFORMED)?;
        let network = offer.details().get("chainId").map(Network::of).transpose()?;
        Ok(Self { token, payments, total, network })
    }

    /// What each account receives or gives, the payer first.
    fn amounts(self, payer: EntityId) -> Option<Vec<(EntityId, i64)>> {
        let amounts: Vec<_> = std::iter::once((payer, -self.total)).chain(self.payments).collect();
        are_distinct(&amounts).then_some(amounts)
    }
}

fn amount(object: &Object) -> Option<i64> {
    object.get("amount").and_then(Value::as_str).and_then(hedera::amount)
}

fn splits(request: &Object) -> Option<Vec<(EntityId, i64)>> {
    let Some(splits) = request.get("splits").filter(|splits| !splits.is_null()) else { return Some(Vec::new()) };
    let split = |split: &Value| {
        let split = split.as_object()?;
        Some((EntityId::of(split, "recipient")?, amount(split)?))
    };
    splits.as_array().filter(|splits| splits.len() <= MAX_SPLITS)?.iter().map(split).collect()
}

/// Whether no account stands twice; there are few.
fn are_distinct(amounts: &[(EntityId, i64)]) -> bool {
    amounts.iter().enumerate().all(|(place, (account, _))| amounts.iter().take(place).all(|(other, _)| other != account))
}

impl Method for Hedera {
    fn id(&self) -> &'static str {
        "mpp/charge/hedera"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::of(offer).map(drop)
    }

    /// A challenge that names no network is paid on the account's own.
    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        let Some(account) = Account::parse(account) else { return false };
        match Charge::of(offer).map(|charge| charge.network) {
            Ok(Some(network)) => account.network == network.name(),
            Ok(None) => hedera::is_network(&account.network),
            Err(_) => false,
        }
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| EntityId::parse(&account.address).is_some()).ok_or(NO_PAYABLE_OPTION)?;
        let inputs = Inputs::of(buyer.inputs).map_err(|_| INPUT_MISSING)?;
        let client = filled(buyer.inputs, CLIENT_ID).map_err(|_| INPUT_MISSING)?;
        let way = filled(buyer.inputs, WAY).map_err(|_| INPUT_MISSING)?;
        if way.is_some_and(|way| way.as_str().and_then(Way::of).is_none()) {
            return Err(INPUT_MALFORMED);
        }
        Ok(inputs
            .members()
            .map_err(|_| INPUT_MISSING)?
            .with("payer", account.address)
            .with_some(CLIENT_ID, client.cloned())
            .with_some(WAY, way.cloned())
            .with(NETWORK, account.network))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_choice(choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let charge = Charge::of(&offer)?;
        Ok(Box::new(Paying::of(&offer, charge, choice, &attribution(&offer)?).ok_or(OPTION_MALFORMED)?))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let transaction;
        let memo = match credential.payload.get("type").and_then(Value::as_str).and_then(Way::of) {
            Some(Way::Hash) => landed.and_then(|landed| landed.get("memo")).and_then(Value::as_text).ok_or(READ_FIRST)?.as_str(),
            Some(Way::Transaction) => {
                transaction = hedera::transaction(credential.payload)?;
                Some(wire::memo(&transaction)?)
            }
            None => return Err(CREDENTIAL_TYPE),
        };
        let memo: Word = *memo.and_then(Hash::parse).ok_or(ATTRIBUTION_MALFORMED)?.bytes();
        if attribution(offer)?.is_in(&memo) { Ok(offer.h) } else { Err(ATTRIBUTION_MISMATCH) }
    }
}

/// The memos that name an offer's challenge, which has an id and a realm.
fn attribution(offer: &Offer<'_>) -> Result<Attribution, Refusal> {
    Attribution::of(&offer.challenge).ok_or(OPTION_MALFORMED)
}

/// Whether a choice has the form that is kept, before any of it is judged.
fn judge_choice(choice: &Object) -> Result<(), Refusal> {
    let text = |name| choice.get("challenge").and_then(|challenge| challenge.get(name)).and_then(Value::as_text);
    let challenge = text("id").is_some() && text("request").is_some_and(|request| decoded(request).is_some());
    if challenge && hedera::judge_decimals(choice).is_ok() { Ok(()) } else { Err(CHOICE_MALFORMED) }
}

/// The transaction of a charge, which waits for the wallet.
struct Paying {
    /// The challenge, which this credential echoes with members of any name.
    challenge: Object,
    way: Way,
    id: TransactionId,
    body: Vec<u8>,
    /// What is read of the landing: the network and the memo.
    landed: Object,
}

impl Paying {
    fn of(offer: &Offer<'_>, charge: Charge, choice: &Object, attribution: &Attribution) -> Option<Self> {
        let way = inputs::member(choice, WAY, |way| way.as_str().and_then(Way::of)).ok()?;
        let client = inputs::member(choice, CLIENT_ID, Value::as_str).ok()?;
        let sending = Sending::of(choice)?;
        let memo = encoding::hex(&attribution.memo(client));
        let transfer = Transfer {
            id: sending.id,
            node: sending.node,
            max_fee: sending.max_fee,
            memo: &memo,
            token: Some(Token { id: charge.token, decimals: None }),
            amounts: charge.amounts(sending.id.account)?,
        };
        Some(Self {
            challenge: offer.challenge.whole.as_object()?.clone(),
            way: way.unwrap_or(Way::Hash),
            id: transfer.id,
            body: transfer.body(),
            landed: Object::new().with(NETWORK, choice.get(NETWORK).unwrap_or(&Value::Null)).with("memo", memo),
        })
    }

    /// The payload of a transaction that the wallet sent and names.
    fn sent(&self, answer: &Value) -> Result<Object, Refusal> {
        let name = answer.get("transactionId").and_then(Value::as_str).ok_or(CREDENTIAL_MALFORMED)?;
        if TransactionId::parse(name).ok_or(CREDENTIAL_MALFORMED)? != self.id {
            return Err(TX_MISMATCH);
        }
        Ok(Object::new().with("type", "hash").with("transactionId", name))
    }
}

impl Unsigned for Paying {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        let request = body_request(&self.body);
        Ok(Some(if self.way == Way::Hash { request.with("broadcast", true) } else { request }.into()))
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let (payload, landed) = match self.way {
            Way::Hash => (self.sent(answer)?, Some(self.landed.clone().into())),
            Way::Transaction => {
                let transaction = hedera::signed(&self.body, answer, CREDENTIAL_MALFORMED)?;
                (Object::new().with("type", "transaction").with("transaction", transaction), None)
            }
        };
        Ok(Completed::Payment { signed: credential(self.challenge.clone(), None, payload), landed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        mpp::sample::{self, ATR, challenge, encoded, h, object, parsed, request, with_payload},
        wire::hedera::Signature,
    };

    const ACCOUNT: &str = "hedera:testnet:0.0.5555";
    const REQUEST: &str = "{'amount':'1050000','currency':'0.0.5449','recipient':'0.0.1234','splits':[{'recipient':'0.0.67890','amount':'50000'}],
                           'methodDetails':{'chainId':296}}";
    const INPUTS: &str = "{'node':'0.0.3','validStart':{'seconds':'1790000000','nanos':5},'maxFee':'100'}";
    const ID: &str = "0.0.5555@1790000000.000000005";

    fn charge(request: &Object) -> Object {
        challenge(&h(), "charge", "hedera", request.clone())
    }

    fn choose_for(account: &str, request: &Object, inputs: &Object) -> Result<Object, String> {
        let document = [charge(request).into()].into();
        let buyer = Buyer { account, inputs, now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document).unwrap(), &buyer).map_err(|refusal| refusal.code().to_owned())
    }

    fn choice(inputs: &str) -> Object {
        let inputs = object(inputs).iter().fold(object(INPUTS), |inputs, (name, value)| inputs.with(name.clone(), value));
        choose_for(ACCOUNT, &object(REQUEST), &inputs).unwrap()
    }

    fn refused(choice: &Object) -> String {
        sample::build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    fn completed(inputs: &str, answer: &Value) -> Result<(Value, Option<Value>), String> {
        match sample::build(&PAIRING, &choice(inputs)).unwrap().complete(answer) {
            Ok(Completed::Payment { signed, landed }) => Ok((signed, landed)),
            Ok(Completed::Next(request)) => panic!("asks for more: {request:?}"),
            Err(refusal) => Err(refusal.code().to_owned()),
        }
    }

    fn memo(client: Option<&str>) -> String {
        let challenge = charge(&object(REQUEST)).into();
        let challenge = crate::mpp::challenge::Challenge::read(&challenge).unwrap();
        encoding::hex(&Attribution::of(&challenge).unwrap().memo(client))
    }

    fn body(memo: &str) -> Vec<u8> {
        let entity = |text| EntityId::parse(text).unwrap();
        let transfer = Transfer {
            id: TransactionId::parse(ID).unwrap(),
            node: entity("0.0.3"),
            max_fee: 100,
            memo,
            token: Some(Token { id: entity("0.0.5449"), decimals: None }),
            amounts: vec![(entity("0.0.5555"), -1_050_000), (entity("0.0.1234"), 1_000_000), (entity("0.0.67890"), 50_000)],
        };
        transfer.body()
    }

    #[test]
    fn the_buyer_sends_and_names_the_transaction() {
        for inputs in ["{}", "{'credentialType':'hash'}"] {
            let unsigned = sample::build(&PAIRING, &choice(inputs)).unwrap();
            let asked = request(&*unsigned);
            assert_eq!(asked, body_request(&body(&memo(None))).with("broadcast", true).into());
            assert!(PAIRING.moves(&asked));
        }
        let (signed, landed) = completed("{'clientId':'agent'}", &parsed(&format!("{{'transactionId':'{ID}','more':1}}"))).unwrap();
        assert_eq!(signed.get("payload"), Some(&parsed(&format!("{{'type':'hash','transactionId':'{ID}'}}"))));
        let expected = Object::new().with("network", "hedera:testnet").with("memo", memo(Some("agent")));
        assert_eq!(landed, Some(expected.into()));
        assert_eq!(PAIRING.bound(&signed, landed.as_ref()), Ok(h()));
        for (name, code) in [
            ("'0.0.5555@1790000000.000000006'", "hedera/tx-mismatch"),
            ("'0.0.5555@1790000001.000000005'", "hedera/tx-mismatch"),
            ("'0.0.5556@1790000000.000000005'", "hedera/tx-mismatch"),
            ("'0.0.5555-1790000000-000000005'", "mpp/credential-malformed"),
            ("5", "mpp/credential-malformed"),
        ] {
            assert_eq!(completed("{}", &parsed(&format!("{{'transactionId':{name}}}"))).unwrap_err(), code, "{name}");
        }
        assert_eq!(completed("{}", &ID.into()).unwrap_err(), "mpp/credential-malformed");
    }

    #[test]
    fn the_seller_sends_what_the_buyer_signed() {
        let inputs = "{'credentialType':'transaction'}";
        let unsigned = sample::build(&PAIRING, &choice(inputs)).unwrap();
        assert_eq!(request(&*unsigned), body_request(&body(&memo(None))).into());
        assert!(!PAIRING.moves(&request(&*unsigned)));
        let answer = |kind: &str| {
            Object::new().with("publicKey", encoding::hex(&[1; 32])).with("signature", encoding::hex(&[2; 64])).with("type", kind).into()
        };
        let (signed, landed) = completed(inputs, &answer("ed25519")).unwrap();
        let transaction = wire::signed(&body(&memo(None)), &Signature::Ed25519([1; 32], [2; 64]));
        let payload = Object::new().with("type", "transaction").with("transaction", encoding::base64(&transaction));
        assert_eq!((signed.get("payload"), landed), (Some(&payload.into()), None));
        assert_eq!(PAIRING.bound(&signed, None), Ok(h()));
        assert_eq!(completed(inputs, &answer("ecdsa-secp256k1")).unwrap_err(), "hedera/tx-malformed");
        assert_eq!(completed(inputs, &answer("x")).unwrap_err(), "mpp/credential-malformed");
    }

    /// Unlike other credentials, which echo what a challenge is known to have.
    #[test]
    fn the_whole_challenge_is_echoed() {
        let choice = choice("{}");
        let challenge = choice.get("challenge").unwrap().as_object().unwrap().clone().with("note", 1u32);
        let unsigned = sample::build(&PAIRING, &choice.with("challenge", challenge.clone())).unwrap();
        let signed = sample::paid(&*unsigned, &parsed(&format!("{{'transactionId':'{ID}'}}"))).unwrap();
        assert_eq!(signed.get("challenge"), Some(&challenge.into()));
    }

    #[test]
    fn a_charge_pays_distinct_accounts_within_its_amount() {
        let code = |name: &str, value: &str| {
            let request = object(REQUEST).with(name, parsed(value));
            refused(&choice("{}").with("challenge", charge(&request)))
        };
        let splits = |count: usize, amount: &str| {
            let splits: Vec<_> = (0..count).map(|place| format!("{{'recipient':'0.0.{}','amount':'{amount}'}}", 70_000 + place)).collect();
            format!("[{}]", splits.join(","))
        };
        for (name, value) in [
            ("amount", "'9223372036854775807'"),
            ("amount", "'50001'"),
            ("currency", "'0.0.0'"),
            ("splits", "null"),
            ("splits", "[]"),
            ("splits", &splits(8, "0")),
            ("methodDetails", "{}"),
            ("methodDetails", "{'chainId':295}"),
        ] {
            assert_eq!(code(name, value), "", "{name}: {value}");
        }
        for (name, value) in [
            ("amount", "'0'"),
            ("amount", "'01050000'"),
            ("amount", "'50000'"),
            ("amount", "'9223372036854775808'"),
            ("currency", "'HBAR'"),
            ("recipient", "null"),
            ("recipient", "'0.0.67890'"),
            ("recipient", "'0.0.5555'"),
            ("splits", "{}"),
            ("splits", "[5]"),
            ("splits", "[{'recipient':'0.0.1'}]"),
            ("splits", "[{'recipient':'0.0.1234','amount':'1'}]"),
            ("splits", "[{'recipient':'0.0.1','amount':'007'}]"),
            ("splits", "[{'recipient':'0.0.1','amount':'1'},{'recipient':'0.0.1','amount':'1'}]"),
            ("splits", &splits(9, "1")),
            ("splits", &splits(2, "9223372036854775807")),
        ] {
            assert_eq!(code(name, value), "hedera/option-malformed", "{name}: {value}");
        }
        for chain_id in ["297", "null", "'296'"] {
            assert_eq!(code("methodDetails", &format!("{{'chainId':{chain_id}}}")), "hedera/chain-id-unnamed", "{chain_id}");
        }
    }

    #[test]
    fn is_paid_from_an_account_on_its_network_or_on_any() {
        let unnamed = object(REQUEST).without("methodDetails");
        let network =
            |account: &str, request: &Object| choose_for(account, request, &object(INPUTS)).map(|choice| choice.get("network").unwrap().clone());
        assert_eq!(network(ACCOUNT, &object(REQUEST)), Ok("hedera:testnet".into()));
        assert_eq!(network("hedera:devnet:0.0.1", &unnamed), Ok("hedera:devnet".into()));
        for (account, request) in [
            ("hedera:mainnet:0.0.5555", object(REQUEST)),
            ("hedera:testnet:5555", object(REQUEST)),
            ("hedera:localnet:0.0.1", unnamed.clone()),
            ("0.0.5555", unnamed),
        ] {
            assert_eq!(network(account, &request).unwrap_err(), "mpp/no-payable-option", "{account}");
        }
    }

    #[test]
    fn inputs_are_judged_in_order() {
        let code = |inputs: Object| choose_for(ACCOUNT, &object(REQUEST), &inputs).unwrap_err();
        let inputs = || object(INPUTS);
        for name in ["node", "validStart", "maxFee"] {
            assert_eq!(code(inputs().without(name).with("credentialType", "x")), "mpp/input-missing", "{name}");
        }
        for name in ["clientId", "credentialType"] {
            assert_eq!(code(inputs().with(name, Value::Null)), "mpp/input-missing", "{name}");
            assert_eq!(code(inputs().with(name, "")), "mpp/input-missing", "{name}");
        }
        let unstarted = inputs().with("validStart", Object::new());
        assert_eq!(code(unstarted.clone()), "mpp/input-missing");
        assert_eq!(code(unstarted.with("credentialType", "x")), "mpp/input-malformed");
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let good = charge(&object(REQUEST));
        let broken = good.clone().with("id", "x").with("request", encoded(object(REQUEST).with("amount", "0")));
        let mut choice = choice("{}").with("challenge", broken.without("id")).with("maxFee", 5u32).with("node", "x");
        for (code, name, value) in [
            ("mpp/choice-malformed", "maxFee", Value::from("100")),
            ("mpp/choice-malformed", "challenge", broken.clone().with("request", "x").into()),
            ("mpp/choice-malformed", "challenge", broken.into()),
            ("mpp/id-not-ours", "challenge", good.clone().with("request", encoded(object(REQUEST).with("amount", "0"))).into()),
            ("hedera/option-malformed", "challenge", challenge(&Hash::of(b"abd"), "charge", "hedera", object(REQUEST)).into()),
            ("mpp/id-not-ours", "challenge", good.into()),
            ("hedera/option-malformed", "node", "0.0.3".into()),
        ] {
            assert_eq!(refused(&choice), code, "{name}: {value:?}");
            choice.set(name, value);
        }
        assert_eq!(refused(&choice), "");
        for (name, value) in
            [("payer", Value::from("0.0.1234")), ("clientId", Value::Null), ("credentialType", "x".into()), ("maxFee", "9".repeat(78).into())]
        {
            assert_eq!(refused(&choice.clone().with(name, value)), "hedera/option-malformed", "{name}");
        }
    }

    #[test]
    fn a_credential_names_its_challenge_by_a_memo() {
        let (signed, _) = completed("{}", &parsed(&format!("{{'transactionId':'{ID}'}}"))).unwrap();
        let landed = |landed: &str| PAIRING.bound(&signed, Some(&parsed(landed))).map_err(|refusal| refusal.code().to_owned());
        assert_eq!(landed(&format!("{{'memo':'{}'}}", memo(Some("another")))), Ok(h()));
        assert_eq!(landed(&format!("{{'memo':'{}'}}", memo(None).to_uppercase().replace("0X", "0x"))), Ok(h()));
        for (receipt, code) in [
            ("{}", "hedera/read-first"),
            ("[]", "hedera/read-first"),
            ("{'memo':5}", "hedera/read-first"),
            ("{'memo':'x'}", "mpp/attribution-malformed"),
            (&format!("{{'memo':'{}'}}", h()), "mpp/attribution-mismatch"),
        ] {
            assert_eq!(landed(receipt).unwrap_err(), code, "{receipt}");
        }
        assert_eq!(PAIRING.bound(&signed, None).unwrap_err(), READ_FIRST);
        let code = |payment: &Value| PAIRING.bound(payment, None).unwrap_err().code().to_owned();
        assert_eq!(code(&with_payload(&signed, "type", "x")), "mpp/credential-type");
        assert_eq!(code(&with_payload(&signed, "type", "transaction")), "hedera/tx-malformed");
        let of = |memo: &str| {
            let transaction = wire::signed(&body(memo), &Signature::Ed25519([1; 32], [2; 64]));
            with_payload(&with_payload(&signed, "type", "transaction"), "transaction", encoding::base64(&transaction))
        };
        assert_eq!(PAIRING.bound(&of(&memo(Some("x"))), None), Ok(h()));
        assert_eq!(code(&of(&h().lcp_string())), "mpp/attribution-malformed");
        let other = Hash::of(ATR).to_string().replace("0xba", "0xbb");
        assert_eq!(code(&of(&other)), "mpp/attribution-mismatch");
    }
}
