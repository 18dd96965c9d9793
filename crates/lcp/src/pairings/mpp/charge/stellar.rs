//! `mpp/charge/stellar`: the first 8 bytes of H are the id of the subaccount that is paid.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::{hex_into, uint128},
    mpp::{
        INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer,
        challenge::EXPIRES_REQUIRED,
        credential::{CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, Credential, OneStep, Waiting},
        judge_choice,
    },
    pairing::{Buyer, Choice, Unsigned},
    stellar::{self, Charge, NO_ADDRESS_AUTH, TX_MALFORMED},
    wire::stellar::{Address, Credentials, Network, Transaction},
};

pub(crate) static PAIRING: Mpp<Stellar> = Mpp(Stellar);

pub(crate) struct Stellar;

const OPTION_MALFORMED: Refusal = Refusal::new("stellar/option-malformed");
const READ_FIRST: Refusal = Refusal::new("stellar/read-first");

/// What a challenge asks for.
struct Terms {
    charge: Charge,
    /// Whether the seller sends the transaction, as its own.
    sponsored: bool,
    /// Unix seconds.
    expires: i64,
}

impl Terms {
    fn of(offer: &Offer<'_>) -> Result<Self, Refusal> {
        let details = offer.details();
        let text = |name| offer.request.get(name).and_then(Value::as_str);
        let charge = || {
            Some(Charge {
                network: details.get("network").and_then(Value::as_str).and_then(Network::parse)?,
                asset: stellar::contract(text("currency")?)?,
                amount: uint128(text("amount")?)?.try_into().ok()?,
                pay_to: stellar::payee(text("recipient")?)?,
            })
        };
        let sponsored = match details.get("feePayer") {
            None => false,
            Some(Value::Bool(sponsored)) => *sponsored,
            Some(_) => return Err(OPTION_MALFORMED),
        };
        let charge = charge().ok_or(OPTION_MALFORMED)?;
        Ok(Self { charge, sponsored, expires: offer.expires.ok_or(EXPIRES_REQUIRED)? })
    }

    /// Whether a transaction that landed under its hash pays the payee. The ledger has held it to its entries; here it must
    /// be seen that its payer allowed this transfer, by an entry or by sending it.
    fn judge_landed(&self, transaction: &Transaction<'_>, hash: Option<&Value>) -> Result<(), Refusal> {
        let (invocation, transfer) = stellar::transfer(transaction)?;
        let entries: Vec<_> = invocation.entries_of(transfer.from).collect();
        if !entries.is_empty() {
            let only = entries.first().filter(|_| entries.len() == 1);
            let allowing = || entries.iter().find(|entry| entry.allows(invocation));
            return self.charge.judge_entry(invocation, only.or_else(allowing).ok_or(NO_ADDRESS_AUTH)?);
        }
        let sent = [Some(transaction.source), invocation.source].into_iter().flatten().all(|key| transfer.from == Address::Account(key));
        let allowed = invocation.entries.iter().any(|entry| matches!(entry.credentials, Credentials::Source) && entry.allows(invocation));
        if !sent || !allowed {
            return Err(NO_ADDRESS_AUTH);
        }
        hash.and_then(Value::as_str).and_then(|hash| hex_into(hash, &mut [0; 32])).ok_or(CREDENTIAL_MALFORMED)?;
        self.charge.judge_payee(&transfer)
    }
}

impl Method for Stellar {
    fn id(&self) -> &'static str {
        "mpp/charge/stellar"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        offer.details().get("network").and_then(Value::as_str).map(str::to_owned)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
        Ok(stellar::chosen(&account, buyer.inputs, NO_PAYABLE_OPTION, INPUT_MISSING)?.with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_choice(choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        let ledger = stellar::ledger(choice)?;
        let now = choice.get("now").and_then(Value::as_safe_integer).ok_or(TX_MALFORMED)?;
        let payer = stellar::payer(choice)?;
        let envelope = stellar::envelope(choice.get("simulatedXdr"))?;
        let transaction = stellar::simulated(&envelope)?;
        let seconds = terms.expires.saturating_sub(now);
        let expiration = stellar::expiration(ledger, u64::try_from(seconds).unwrap_or(0))?;
        terms.charge.judge_carrier(**chosen.h)?;
        let unsigned = terms.charge.unsigned(&transaction, payer, expiration, !terms.sponsored)?;
        let request = stellar::request(&unsigned).into();
        let payload = move |answer: &Value| {
            let signature = stellar::signature(answer).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(Object::new().with("type", "transaction").with("transaction", stellar::signed(&unsigned, &signature)?))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request, payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let terms = Terms::of(offer)?;
        let payload = credential.payload;
        match payload.get("type").and_then(Value::as_str) {
            Some("transaction") => {
                terms.charge.judge_carrier(offer.h)?;
                let envelope = stellar::envelope(payload.get("transaction"))?;
                terms.charge.judge_payment(&stellar::transaction(&envelope)?)?;
            }
            // The payer's own sending, which a seller that sends itself does not take.
            Some("hash") if !terms.sponsored => {
                let landed = landed.and_then(|landed| landed.get("transaction")).filter(|transaction| transaction.as_text().is_some());
                let landed = landed.ok_or(READ_FIRST)?;
                terms.charge.judge_carrier(offer.h)?;
                let envelope = stellar::envelope(Some(landed))?;
                terms.judge_landed(&stellar::transaction(&envelope)?, payload.get("hash"))?;
            }
            _ => return Err(CREDENTIAL_TYPE),
        }
        Ok(offer.h)
    }
}
