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
