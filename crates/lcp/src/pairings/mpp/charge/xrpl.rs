//! `mpp/charge/xrpl`: H is the payment's `InvoiceID`.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::{is_decimal, uint64},
    mpp::{
        CARRIER_NOT_CHALLENGE, INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED,
        challenge::EXPIRES_REQUIRED,
        credential::{CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, Credential, OneStep, Waiting},
        judge_choice,
        xrpl::{fee, is_plain, network, network_name},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::xrpl::is_address_form,
    xrpl::{self, CARRIER_MISMATCH, Number, Submission},
};

pub(crate) static PAIRING: Mpp<Xrpl> = Mpp(Xrpl);

pub(crate) struct Xrpl;

const MEMOS_NOT_CARRIED: Refusal = Refusal::new("xrpl/memos-not-carried");
const READ_FIRST: Refusal = Refusal::new("xrpl/read-first");

/// Most digits on either side of the point of a value.
const MAX_DIGITS: usize = 40;

/// What a challenge asks for.
struct Terms<'a> {
    network: u32,
    recipient: &'a Value,
    amount: Value,
    invoice_id: Option<[u8; 32]>,
    destination_tag: Option<u32>,
    source_tag: Option<u32>,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let network = network(&offer.request)?;
        let details = offer.details();
        let tag = |name| if details.has(name) { xrpl::uint32(details, name).map(Some) } else { Some(None) };
        let read = || {
            Some(Self {
                network,
                recipient: offer.request.get("recipient").filter(|recipient| recipient.as_str().is_some_and(is_address_form))?,
                amount: amount(&offer.request)?,
                invoice_id: match details.get("invoiceId") {
                    None => None,
                    Some(id) => Some(xrpl::bare_hex(id.as_str()?)?.try_into().ok()?),
                },
                destination_tag: tag("destinationTag")?,
                source_tag: tag("sourceTag")?,
            })
        };
        let terms = read().ok_or(REQUEST_MALFORMED)?;
        if details.has("memos") {
            return Err(MEMOS_NOT_CARRIED);
        }
        offer.expires.map(|_| terms).ok_or(EXPIRES_REQUIRED)
    }
}

/// The amount to pay: drops, tokens of an issuer, or of an issuance.
fn amount(request: &Object) -> Option<Value> {
    let amount = request.get("amount")?;
    let value = amount.as_str()?;
    match request.get("currency")? {
        Value::String(currency) if currency == "XRP" => {
            let drops = uint64(value).filter(|_| is_plain(value, 20)).filter(|&drops| drops > 0);
            drops.map(|_| amount.clone())
        }
        Value::Object(token) => {
            let text = |name| token.get(name).and_then(Value::as_str);
            let named = match token.len() {
                1 => text("mpt_issuance_id").is_some_and(|id| is_bytes(id, 24)),
                2 => text("currency").is_some_and(is_currency) && text("issuer").is_some_and(is_address_form),
                _ => false,
            };
            (named && is_value(value)).then(|| (**token).clone().with("value", amount).into())
        }
        _ => None,
    }
}

/// Whether the text is a positive decimal.
fn is_value(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    is_plain(whole, MAX_DIGITS)
        && fraction.is_none_or(|fraction| is_decimal(fraction, MAX_DIGITS))
        && text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Whether the text is a currency's code: three letters, digits or signs, or 20 bytes in hex.
fn is_currency(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"?!@#$%^&*<>(){}[]|".contains(&letter);
    match text.len() {
        3 => text != "XRP" && text.bytes().all(is_letter),
        40 => is_bytes(text, 20),
        _ => false,
    }
}

/// Whether the text is so many bytes in hex.
fn is_bytes(text: &str, count: usize) -> bool {
    xrpl::bare_hex(text).is_some_and(|bytes| bytes.len() == count)
}

impl Method for Xrpl {
    fn id(&self) -> &'static str {
        "mpp/charge/xrpl"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        network(&offer.request).ok().map(network_name)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| is_address_form(&account.address)).ok_or(NO_PAYABLE_OPTION)?;
        let chosen = xrpl::submission_inputs(buyer.inputs, &["sequence", "lastLedgerSequence"]).ok_or(INPUT_MISSING)?;
        Ok(chosen.with("account", account.address))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_choice(choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        if terms.invoice_id != Some(*offer.h.bytes()) {
            return Err(CARRIER_MISMATCH);
        }
        let network = terms.network;
        let account = choice.get("account").filter(|account| account.as_text().is_some()).ok_or(INPUT_MALFORMED)?;
        let submission = Submission {
            fee: fee(choice).ok_or(INPUT_MALFORMED)?,
            number: xrpl::uint32(choice, "sequence").map(Number::Sequence).ok_or(INPUT_MALFORMED)?,
            last_ledger: xrpl::uint32(choice, "lastLedgerSequence").ok_or(INPUT_MALFORMED)?,
            network,
        };
        let payment = xrpl::payment(account, terms.recipient, &terms.amount, offer.h.bytes())
            .with_some("DestinationTag", terms.destination_tag)
            .with_some("SourceTag", terms.source_tag);
        let request = xrpl::request(submission.write(payment));
        let payload = move |answer: &Value| {
            answer.as_text().ok_or(CREDENTIAL_MALFORMED)?;
            xrpl::transaction(&xrpl::blob(Some(answer))?, network)?;
            Ok(Object::new().with("type", "transaction").with("blob", answer))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request, payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let terms = Terms::of(offer)?;
        let payload = credential.payload;
        let blob = match payload.get("type").and_then(Value::as_str) {
            Some("transaction") => xrpl::blob(payload.get("blob"))?,
            Some("hash") => {
                let landed = landed.and_then(|landed| landed.get("blob")).filter(|blob| blob.as_text().is_some());
                xrpl::blob(Some(landed.ok_or(READ_FIRST)?))?
            }
            _ => return Err(CREDENTIAL_TYPE),
        };
        let invoice_id = xrpl::invoice_id(&xrpl::transaction(&blob, terms.network)?)?;
        if terms.invoice_id != Some(invoice_id) {
            return Err(CARRIER_MISMATCH);
        }
        if invoice_id == *offer.h.bytes() { Ok(offer.h) } else { Err(CARRIER_NOT_CHALLENGE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        mpp::sample::{build, challenge, h, object, paid, request},
    };

    const PAYER: &str = "rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD";
    const SELLER: &str = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe";
    const USD: &str = "{'currency':'USD','issuer':'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'}";

    fn named(h: &Hash) -> String {
        h.to_string()[2..].to_uppercase()
    }

    /// A challenge's request, of its currency and details.
    fn asked(currency: &str, amount: &str, details: &str) -> Object {
        let details = format!("{{'network':'testnet','invoiceId':'{}'{details}}}", named(&h()));
        object(&format!("{{'amount':'{amount}','currency':{currency},'recipient':'{SELLER}','methodDetails':{details}}}"))
    }

    fn drops() -> Object {
        asked("'XRP'", "1000000", "")
    }

    fn charge(request: Object) -> Object {
        challenge(&h(), "charge", "xrpl", request)
    }

    fn choose(request: Object, account: &str, inputs: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &object(inputs), now: 0, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[charge(request).into()].into())?, &buyer)
    }

    fn choice(request: Object) -> Object {
        choose(drops(), &format!("xrpl:1:{PAYER}"), "{'fee':'12','sequence':7,'lastLedgerSequence':90}").unwrap().with("challenge", charge(request))
    }

    fn refused(choice: &Object) -> String {
        build(&PAIRING, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    fn blob(invoice: &Hash) -> String {
        format!("1200005011{}8114{}", named(invoice), "07".repeat(20))
    }

    #[test]
    fn the_wallet_is_asked_for_a_payment() {
        let built = |request: Object| self::request(&*build(&PAIRING, &choice(request)).unwrap()).get("txJson").unwrap().clone();
        let expected = format!(
            "{{'TransactionType':'Payment','Flags':0,'Account':'{PAYER}','Destination':'{SELLER}','Amount':'1000000','InvoiceID':'{}','Fee':'12','Sequence':7,'LastLedgerSequence':90}}",
            named(&h())
        );
        assert_eq!(built(drops()), object(&expected).into());
        let tokens = built(asked(USD, "12.50", ",'destinationTag':5,'sourceTag':0"));
        let amount: Value = object(USD).with("value", "12.50").into();
        assert_eq!((tokens.get("Amount"), tokens.get("SendMax")), (Some(&amount), Some(&amount)));
        assert_eq!((tokens.get("DestinationTag"), tokens.get("SourceTag")), (Some(&5u32.into()), Some(&0u32.into())));
        let issuance = built(asked(&format!("{{'mpt_issuance_id':'{}'}}", "0a".repeat(24)), "50", ""));
        assert_eq!((issuance.get("Amount").and_then(|amount| amount.get("value")), issuance.get("SendMax")), (Some(&"50".into()), None));
    }

    #[test]
    fn requests_have_their_forms() {
        let code = |request: Object| refused(&choice(request));
        let token = |currency: &str| code(asked(&format!("{{'currency':'{currency}','issuer':'{SELLER}'}}"), "1", ""));
        for currency in ["usd", "<>|", "Xrp", &"0a".repeat(20)] {
            assert_eq!(token(currency), "", "{currency}");
        }
        for currency in ["XRP", "US", "USDT", "U.S", "a b", "üs", &"0g".repeat(20)] {
            assert_eq!(token(currency), "mpp/request-malformed", "{currency}");
        }
        for amount in ["1", "18446744073709551615"] {
            assert_eq!(code(asked("'XRP'", amount, "")), "", "{amount}");
        }
        for amount in ["0", "01", "1.5", "", "18446744073709551616"] {
            assert_eq!(code(asked("'XRP'", amount, "")), "mpp/request-malformed", "{amount}");
        }
        let (long, longer) = ("1".repeat(40), "1".repeat(41));
        for amount in ["1.50", "0.1", &long, &format!("0.{long}")] {
            assert_eq!(code(asked(USD, amount, "")), "", "{amount}");
        }
        for amount in ["0", "0.00", "01", "1.", ".5", "1e3", &longer, &format!("0.{longer}")] {
            assert_eq!(code(asked(USD, amount, "")), "mpp/request-malformed", "{amount}");
        }
        for (name, value) in [("currency", Value::from("xrp")), ("currency", object(USD).with("value", "1").into()), ("recipient", "x".into())] {
            assert_eq!(code(drops().with(name, value)), "mpp/request-malformed", "{name}");
        }
        for (details, expected) in [
            (",'destinationTag':4294967295", ""),
            (",'destinationTag':4294967296", "mpp/request-malformed"),
            (",'sourceTag':null", "mpp/request-malformed"),
            (",'memos':[]", "xrpl/memos-not-carried"),
            (",'memos':[],'sourceTag':-1", "mpp/request-malformed"),
            (",'network':'xrpl:1','memos':[]", "xrpl/network-malformed"),
            (",'invoiceId':'AB'", "mpp/request-malformed"),
        ] {
            assert_eq!(code(asked("'XRP'", "1", details)), expected, "{details}");
        }
        assert_eq!(code(drops().without("methodDetails").with("amount", "x")), "xrpl/network-missing");
        assert_eq!(refused(&choice(drops()).with("challenge", charge(drops()).without("expires"))), "mpp/expires-required");
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let other = asked("'XRP'", "1", &format!(",'invoiceId':'{}'", named(&Hash::of(b"x"))));
        let faulty = |request: Object| choice(request).with("fee", "x");
        assert_eq!(refused(&faulty(drops()).with("challenge", Value::Null)), "mpp/choice-malformed");
        assert_eq!(refused(&faulty(other)), "xrpl/carrier-mismatch");
        for (name, value) in [
            ("fee", Value::from("012")),
            ("fee", "10000000000000000000".into()),
            ("account", Value::Null),
            ("sequence", (1u64 << 32).into()),
            ("lastLedgerSequence", "5".into()),
        ] {
            assert_eq!(refused(&choice(drops()).with(name, value)), "mpp/input-malformed", "{name}");
        }
        assert_eq!(refused(&choice(drops()).with("fee", "0")), "");
        assert_eq!(choose(drops(), &format!("xrpl:0:{PAYER}"), "{}"), Err(NO_PAYABLE_OPTION));
        assert_eq!(choose(drops(), "xrpl:1:x", "{}"), Err(NO_PAYABLE_OPTION));
        assert_eq!(choose(drops(), &format!("xrpl:1:{PAYER}"), "{'fee':'12','sequence':7}"), Err(INPUT_MISSING));
    }

    #[test]
    fn the_signed_payment_names_the_invoice() {
        let unsigned = build(&PAIRING, &choice(drops())).unwrap();
        let payment = paid(&*unsigned, &blob(&h()).into()).unwrap();
        assert_eq!((PAIRING.bound(&payment, None), payment.get("source")), (Ok(h()), None));
        assert_eq!(paid(&*unsigned, &Value::Null), Err(CREDENTIAL_MALFORMED));
        assert_eq!(paid(&*unsigned, &"".into()).unwrap_err().code(), "xrpl/blob-malformed");

        let bound = |request: Object, payload: Object, landed: Option<&str>| {
            let payment = Object::new().with("challenge", charge(request)).with("payload", payload).into();
            let landed = landed.map(|blob| Object::new().with("blob", blob).into());
            PAIRING.bound(&payment, landed.as_ref()).map_err(|refusal| refusal.code().to_owned())
        };
        let code = |code: &str| Err(code.to_owned());
        let sent = |blob: &str| Object::new().with("type", "transaction").with("blob", blob);
        let hash = Object::new().with("type", "hash");
        let other = Hash::of(b"x");
        let for_other = asked("'XRP'", "1", &format!(",'invoiceId':'{}'", named(&other).to_lowercase()));
        assert_eq!(bound(drops(), sent(&blob(&other)), None), code("xrpl/carrier-mismatch"));
        assert_eq!(bound(for_other, sent(&blob(&other)), None), code("mpp/carrier-not-challenge"));
        let unnamed = drops().with("methodDetails", object("{'network':'testnet'}"));
        assert_eq!(bound(unnamed, sent(&blob(&h())), None), code("xrpl/carrier-mismatch"));
        assert_eq!(bound(drops(), hash.clone(), None), code("xrpl/read-first"));
        assert_eq!(bound(drops(), hash.clone(), Some("x")), code("xrpl/blob-malformed"));
        assert_eq!(bound(drops(), hash, Some(&blob(&h()))), Ok(h()));
        assert_eq!(bound(drops(), sent("").with("type", "x"), None), code("mpp/credential-type"));
    }
}
