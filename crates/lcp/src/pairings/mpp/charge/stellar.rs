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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, encoding,
        mpp::sample::{build, challenge, encoded, h, object, paid, request},
        wire::stellar::sample::{PAYER, SELLER, TOKEN, call, entry, envelope, envelope_from, invoke, simulated, source_entry, transfer, words},
    };

    const NETWORK: &str = "stellar:testnet";

    fn payer() -> Address {
        Address::Account(PAYER)
    }

    fn payee() -> Address {
        Address::Muxed { key: SELLER, id: u64::from_be_bytes(*h().bytes().first_chunk().unwrap()) }
    }

    /// A challenge's request, of its details.
    fn asked(details: &str) -> Object {
        object(&format!(
            "{{'amount':'1000','currency':'{}','recipient':'{}','methodDetails':{{'network':'{NETWORK}'{details}}}}}",
            Address::Contract(TOKEN),
            payee()
        ))
    }

    fn charge(request: Object) -> Object {
        challenge(&h(), "charge", "stellar", request).with("expires", "2026-09-21T14:14:21Z")
    }

    fn inputs(envelope: &[u8]) -> Object {
        Object::new().with("simulatedXdr", encoding::base64(envelope)).with("currentLedger", 1000u32)
    }

    fn choose(challenge: Object, account: &str, inputs: &Object) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs, now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[challenge.into()].into())?, &buyer)
    }

    fn choice(request: Object) -> Object {
        choose(charge(request), &format!("{NETWORK}:{}", payer()), &inputs(&simulated(payee()))).unwrap()
    }

    fn refused(choice: &Object) -> String {
        build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    #[test]
    fn the_payers_entry_is_signed() {
        for (details, source) in [("", SELLER), (",'feePayer':false", SELLER), (",'feePayer':true", [0; 32])] {
            let unsigned = build(&PAIRING, &choice(asked(details))).unwrap();
            let preimage = encoding::from_hex(request(&*unsigned).get("preimage").and_then(Value::as_str).unwrap()).unwrap();
            assert_eq!(preimage[44..48], 1013_u32.to_be_bytes());
            let payment = paid(&*unsigned, &encoding::hex(&[3; 64]).into()).unwrap();
            let payload = payment.get("payload").unwrap();
            assert_eq!((payload.get("type"), payment.get("source")), (Some(&"transaction".into()), None));
            let envelope = stellar::envelope(payload.get("transaction")).unwrap();
            assert_eq!(Transaction::read(&envelope).unwrap().source, source, "{details}");
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            assert_eq!(paid(&*unsigned, &encoding::hex(&[3; 63]).into()), Err(CREDENTIAL_MALFORMED));
        }
    }

    #[test]
    fn an_account_inputs_and_the_time_are_kept() {
        let good = inputs(&simulated(payee()));
        let kept = choice(asked(""));
        assert_eq!((kept.get("now"), kept.get("payer")), (Some(&1_790_000_000_u64.into()), Some(&payer().to_string().into())));
        for account in ["stellar:pubnet:", "stellar:testnet:M", "eip155:1:"].map(|prefix| format!("{prefix}{}", payer())) {
            assert_eq!(choose(charge(asked("")), &account, &good), Err(NO_PAYABLE_OPTION), "{account}");
        }
        assert_eq!(choose(charge(asked("")), &format!("{NETWORK}:{}", payer()), &good.without("currentLedger")), Err(INPUT_MISSING));
    }

    #[test]
    fn a_signature_holds_until_the_challenge_expires() {
        let expiration = |expires: &str| {
            let choice = choice(asked("")).with("challenge", charge(asked("")).with("expires", expires));
            let preimage = build(&PAIRING, &choice).map(|unsigned| request(&*unsigned).get("preimage").cloned())?;
            let preimage = encoding::from_hex(preimage.as_ref().and_then(Value::as_str).unwrap()).unwrap();
            Ok::<_, Refusal>(u32::from_be_bytes(*preimage[44..].first_chunk().unwrap()))
        };
        for (expires, ledger) in
            [("2026-01-01T00:00:00Z", 1000), ("2026-09-21T14:13:20.9Z", 1000), ("2026-09-21T14:13:21Z", 1001), ("2026-09-21T14:13:26Z", 1002)]
        {
            assert_eq!(expiration(expires), Ok(ledger), "{expires}");
        }
        assert_eq!(expiration("9999-12-31T23:59:59Z"), Err(TX_MALFORMED));
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let code = |request: Object| refused(&choice(asked("")).with("challenge", charge(request)));
        for (name, value) in [
            ("amount", "x".into()),
            ("amount", (1u128 << 127).to_string().into()),
            ("currency", payer().to_string().into()),
            ("recipient", Address::Contract(TOKEN).to_string().into()),
            ("methodDetails", object("{'network':'testnet'}").into()),
            ("methodDetails", object("{'network':'stellar:testnet','feePayer':null}").into()),
        ] {
            assert_eq!(code(asked("").with(name, Value::clone(&value))), "stellar/option-malformed", "{name}: {value:?}");
        }
        assert_eq!(code(asked("").with("amount", "01000")), "");
        assert_eq!(code(asked("").with("recipient", payer().to_string())), "stellar/carrier-mismatch");
        assert_eq!(refused(&choice(asked("")).with("challenge", charge(asked("")).without("expires"))), "mpp/expires-required");
        let faults = [("challenge", Value::Null), ("now", "5".into()), ("payer", "x".into()), ("simulatedXdr", "AAAA".into())];
        for (nth, code) in ["mpp/choice-malformed", "stellar/tx-malformed", "stellar/payer-mismatch", "stellar/tx-malformed"].iter().enumerate() {
            let choice = faults[nth..].iter().fold(choice(asked("")), |choice, (name, value)| choice.with(*name, value));
            assert_eq!(refused(&choice), *code, "{nth}");
        }
    }

    /// What is read of a payment that landed under its hash, as this transaction.
    fn landed(envelope: &[u8]) -> Result<Hash, String> {
        let landed = Object::new().with("transaction", encoding::base64(envelope)).into();
        let payload = Object::new().with("type", "hash").with("hash", "ab".repeat(32));
        bound("", payload, Some(&landed))
    }

    fn bound(details: &str, payload: Object, landed: Option<&Value>) -> Result<Hash, String> {
        let payment = Object::new().with("challenge", charge(asked(details))).with("payload", payload).into();
        PAIRING.bound(&payment, landed).map_err(|refusal| refusal.code().to_owned())
    }

    #[test]
    fn a_landed_transaction_is_read_by_its_hash() {
        let good = transfer(payee());
        let of = |entries: &[Vec<u8>]| landed(&envelope(&[invoke(&good, entries)]));
        let code = |code: &str| Err(code.to_owned());
        let more = call(*b"transfer", payer(), payee(), 1001);
        assert_eq!(of(&[entry(1, payer(), &good)]), Ok(h()));
        // One entry must allow the transfer; of several, one of them.
        assert_eq!(of(&[entry(1, payer(), &more)]), code("stellar/not-one-transfer"));
        assert_eq!(of(&[entry(1, payer(), &more), entry(1, payer(), &good)]), Ok(h()));
        assert_eq!(of(&[entry(1, payer(), &more), entry(1, payer(), &more)]), code("stellar/no-address-auth"));
        assert_eq!(of(&[entry(1, payee(), &good)]), code("stellar/no-address-auth"));
        // A payer that sends the transaction allows it by its source's entry.
        let by = |source: &[u8; 32], entries: &[Vec<u8>]| landed(&envelope_from(source, &[invoke(&good, entries)]));
        assert_eq!(by(&PAYER, &[source_entry(&more), source_entry(&good)]), Ok(h()));
        assert_eq!(by(&PAYER, &[source_entry(&more)]), code("stellar/no-address-auth"));
        assert_eq!(by(&SELLER, &[source_entry(&good)]), code("stellar/no-address-auth"));
        let for_another = [words(&[1, 0]), SELLER.to_vec(), invoke(&good, &[source_entry(&good)])[4..].to_vec()].concat();
        assert_eq!(landed(&envelope_from(&PAYER, &[for_another])), code("stellar/no-address-auth"));
        let elsewhere = transfer(Address::Muxed { key: SELLER, id: 1 });
        assert_eq!(landed(&envelope_from(&PAYER, &[invoke(&elsewhere, &[source_entry(&elsewhere)])])), code("stellar/carrier-mismatch"));
    }

    #[test]
    fn a_payment_is_refused_for_its_first_fault() {
        let code = |code: &str| Err(code.to_owned());
        let transaction = |text: &str| Object::new().with("type", "transaction").with("transaction", text);
        assert_eq!(bound("", Object::new(), None), code("mpp/credential-type"));
        assert_eq!(bound("", transaction("AAAA"), None), code("stellar/tx-malformed"));
        let hash = |hash: &str| Object::new().with("type", "hash").with("hash", hash);
        let sent = envelope_from(&PAYER, &[invoke(&transfer(payee()), &[source_entry(&transfer(payee()))])]);
        let landed = |text: &str| Value::from(Object::new().with("transaction", text));
        let sent = encoding::base64(&sent);
        assert_eq!(bound("", hash(""), None), code("stellar/read-first"));
        assert_eq!(bound("", hash(""), Some(&Object::new().with("transaction", 5u32).into())), code("stellar/read-first"));
        assert_eq!(bound("", hash(""), Some(&landed("x"))), code("stellar/tx-malformed"));
        assert_eq!(bound("", hash("0x"), Some(&landed(&sent))), code("mpp/credential-malformed"));
        assert_eq!(bound("", hash(&"AB".repeat(32)), Some(&landed(&sent))), Ok(h()));
        // A seller that sends the transaction itself takes no hash.
        assert_eq!(bound(",'feePayer':true", hash(&"AB".repeat(32)), Some(&landed(&sent))), code("mpp/credential-type"));
    }

    #[test]
    fn a_request_names_its_network() {
        let encoded = encoded(asked("").with("methodDetails", object("{'network':'stellar:pubnet'}")));
        let pubnet = charge(asked("")).with("request", encoded);
        let good = inputs(&simulated(payee()));
        assert!(choose(pubnet.clone(), &format!("stellar:pubnet:{}", payer()), &good).is_ok());
        assert_eq!(choose(pubnet, &format!("{NETWORK}:{}", payer()), &good), Err(NO_PAYABLE_OPTION));
    }
}
