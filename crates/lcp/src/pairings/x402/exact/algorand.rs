//! `x402/exact/algorand`: H is the note of the asset transfer. Where the seller pays the fees, the transfer is the second of a
//! group whose first pays them.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::{self, MAX_DECIMAL},
    pairing::{Buyer, Choice, Unsigned},
    wire::algorand::{self, Act, Address, MAX_TEXT, Transaction},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, Payment, SIGNATURE_MALFORMED},
        judge_order,
        option::{exact_on, extra, filled, is_plain, number, timeout, uint64_amount},
    },
};

pub(crate) static PAIRING: X402<Algorand> = X402(Algorand);

pub(crate) struct Algorand;

const OPTION_MALFORMED: Refusal = Refusal::new("avm/option-malformed");
const NETWORK_MALFORMED: Refusal = Refusal::new("avm/network-malformed");
const NETWORK_MISMATCH: Refusal = Refusal::new("avm/network-mismatch");
const TXN_MALFORMED: Refusal = Refusal::new("avm/txn-malformed");
const GROUP_TOO_LARGE: Refusal = Refusal::new("avm/group-too-large");
const INDEX_OUT_OF_RANGE: Refusal = Refusal::new("avm/index-out-of-range");
const NOTE_NOT_LCP: Refusal = Refusal::new("avm/note-not-lcp");

/// The params that are decimals, and those that are other texts.
const DECIMALS: [&str; 3] = ["firstValid", "minFee", "feePerByte"];
const TEXTS: [&str; 2] = ["genesisHash", "genesisId"];

/// In how many rounds a transaction may be taken at most.
const MAX_LIFE: u64 = 1000;
/// Most transactions of a group.
const MAX_GROUP: usize = 16;

impl Scheme for Algorand {
    fn id(&self) -> &'static str {
        "x402/exact/algorand"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "algorand").ok_or(Unserved::Other)?;
        let extra = extra(option).ok_or(OPTION_MALFORMED)?;
        if network.len() != 32 || !network.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            return Err(NETWORK_MALFORMED.into());
        }
        let payable = is_plain(extra)
            && Places::of(option).is_some()
            && (!extra.has("feePayer") || address(extra, "feePayer").is_some())
            && uint64_amount(option).is_some()
            && timeout(option).is_some();
        if payable { Ok(()) } else { Err(OPTION_MALFORMED.into()) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let is_base32 = |text: &str| text.len() == 58 && text.bytes().all(|b| b.is_ascii_uppercase() || matches!(b, b'2'..=b'7'));
        if !is_base32(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        let given = buyer.inputs.get("params").and_then(Value::as_object).ok_or(INPUT_MISSING)?;
        let mut params = Object::new();
        for name in DECIMALS {
            params.set(name, inputs::decimal(given, name).ok().flatten().ok_or(INPUT_MISSING)?);
        }
        for name in TEXTS {
            params.set(name, filled(given, name).ok_or(INPUT_MISSING)?.clone());
        }
        Ok(Object::new().with("payer", account.address.as_str()).with("params", params))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_order(chosen.choice)?;
        let params = Params::of(chosen.choice)?;
        let payer = address(chosen.choice, "payer").ok_or(OPTION_MALFORMED)?;
        let genesis_id = params.text("genesisId").ok_or(OPTION_MALFORMED)?;
        let genesis_hash = params.text("genesisHash").and_then(encoding::from_base64);
        let genesis_hash: [u8; 32] = genesis_hash.and_then(|hash| hash.try_into().ok()).ok_or(NETWORK_MISMATCH)?;

        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        if exact_on(option, "algorand") != encoding::base64url(&genesis_hash).get(..32) {
            return Err(NETWORK_MISMATCH);
        }
        let note = chosen.h.lcp_string();
        let built = params.life(option).zip(Places::of(option)).and_then(|((first_valid, last_valid), places)| {
            let transfer = Transaction {
                sender: payer,
                fee: 0,
                first_valid,
                last_valid,
                genesis_id,
                genesis_hash,
                group: None,
                note: &note,
                act: places.transfer(option)?,
            };
            let fee_payer = extra(option).and_then(|extra| address(extra, "feePayer"));
            Group::of(transfer, fee_payer, &params)
        });
        let group = built.ok_or(OPTION_MALFORMED)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, group)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        let group = payload.get("paymentGroup").and_then(Value::as_array).ok_or(TXN_MALFORMED)?;
        if !(1..=MAX_GROUP).contains(&group.len()) {
            return Err(GROUP_TOO_LARGE);
        }
        let index = payload.get("paymentIndex").and_then(Value::as_safe_unsigned).and_then(|index| usize::try_from(index).ok());
        let entry = index.and_then(|index| group.get(index)).ok_or(INDEX_OUT_OF_RANGE)?;
        let note = algorand::transfer_note(entry)?;
        std::str::from_utf8(&note).ok().and_then(Hash::from_lcp_string).ok_or(NOTE_NOT_LCP)
    }
}

fn address(object: &Object, name: &str) -> Option<Address> {
    object.get(name).and_then(Value::as_str).and_then(Address::parse)
}

/// What an option moves, and where.
struct Places {
    asset: u64,
    pay_to: Address,
}

impl Places {
    fn of(option: &Object) -> Option<Self> {
        Some(Self { asset: number(option, "asset")?.try_into().ok()?, pay_to: address(option, "payTo")? })
    }

    /// The transfer of an option's amount. Asset 0 is none: an option may name it, but it cannot be paid.
    fn transfer(&self, option: &Object) -> Option<Act> {
        let amount = uint64_amount(option)?;
        (self.asset > 0).then_some(Act::Transfer { asset: self.asset, amount, to: self.pay_to })
    }
}

/// What the network suggests for a transaction.
struct Params<'a>(&'a Object);

impl<'a> Params<'a> {
    /// The params of a choice, whose decimals must have that form.
    fn of(choice: &'a Object) -> Result<Self, Refusal> {
        let params = choice.get("params").and_then(Value::as_object).ok_or(CHOICE_MALFORMED)?;
        let is_decimal = |name| params.get(name).and_then(Value::as_str).is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
        if DECIMALS.into_iter().all(is_decimal) { Ok(Self(params)) } else { Err(CHOICE_MALFORMED) }
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn uint(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(encoding::uint64)
    }

    /// The first and the last round in which a transaction may be taken. There is about a round a second at most.
    fn life(&self, option: &Object) -> Option<(u64, u64)> {
        let first = self.uint("firstValid")?;
        Some((first, first.checked_add(timeout(option)?.min(MAX_LIFE))?))
    }

    /// The fee of a transaction, whose size counts with the fee of one byte in the fee's place.
    fn fee(&self, transaction: &Transaction<'_>) -> Option<u64> {
        let per_byte = self.uint("feePerByte")?;
        let size = Transaction { fee: per_byte, ..transaction.clone() }.charged_size();
        Some(per_byte.checked_mul(size)?.max(self.uint("minFee")?))
    }
}

/// A payload that waits for the signature of the transfer.
struct Group {
    /// The transaction of the fee payer, who signs it when the payment is taken.
    fees: Option<Vec<u8>>,
    /// What is signed of the transfer: `TX` and the transaction.
    signing_bytes: Vec<u8>,
}

impl Group {
    fn of(mut transfer: Transaction<'_>, fee_payer: Option<Address>, params: &Params<'_>) -> Option<Self> {
        let fees = match fee_payer {
            None => {
                transfer.fee = params.fee(&transfer)?;
                None
            }
            Some(payer) => {
                let mut fees = Transaction { sender: payer, note: "", act: Act::PayNothing { to: payer }, ..transfer.clone() };
                fees.fee = params.fee(&fees)?.checked_add(params.fee(&transfer)?)?;
                let id = Some(algorand::group_id(&[&fees, &transfer]));
                (fees.group, transfer.group) = (id, id);
                Some(algorand::sent(&fees.encode(), None))
            }
        };
        let group = Self { fees, signing_bytes: transfer.signing_bytes() };
        let fits = |entry: &[u8]| encoding::base64(entry).len() <= MAX_TEXT;
        (fits(&group.signed(&[0xFF; 64])) && group.fees.as_deref().is_none_or(fits)).then_some(group)
    }

    /// The transfer with a signature.
    fn signed(&self, signature: &[u8; 64]) -> Vec<u8> {
        algorand::sent(self.signing_bytes.get(2..).unwrap_or_default(), Some(signature))
    }
}

impl Payload for Group {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "algorand-txn").with("bytes", encoding::hex(&self.signing_bytes)).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let mut signature = [0; 64];
        let digits = answer.as_str().and_then(|text| text.strip_prefix("0x")).ok_or(SIGNATURE_MALFORMED)?;
        encoding::hex_into(digits, &mut signature).ok_or(SIGNATURE_MALFORMED)?;
        let entries = self.fees.iter().cloned().chain([self.signed(&signature)]);
        let group: Vec<Value> = entries.map(|entry| encoding::base64(&entry).into()).collect();
        Ok(Object::new().with("paymentIndex", group.len() as u64 - 1).with("paymentGroup", group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        json,
        pairing::Pairing,
        peers,
        x402::sample::{self, build, h, object, paid, request, unserved, with_payload},
    };

    const NETWORK: &str = "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCDe";
    const GENESIS_HASH: &str = "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI=";

    /// The addresses that the SDK's cases name: of the payer, the seller, the fee payer.
    fn addresses() -> Vec<String> {
        let cases = json::parse(include_str!("../../../../tests/peers/algorand/cases.json"), json::MAX_DEPTH).unwrap();
        let addresses = cases.get("addresses").unwrap().as_array().unwrap();
        addresses.iter().map(|address| address.get("text").unwrap().as_str().unwrap().to_owned()).collect()
    }

    fn option() -> Object {
        object("{'scheme':'exact','amount':'2000000','asset':'10458941','maxTimeoutSeconds':60}")
            .with("network", NETWORK)
            .with("payTo", &*addresses()[1])
    }

    fn sponsored() -> Object {
        option().with("extra", Object::new().with("feePayer", &*addresses()[2]))
    }

    fn params(per_byte: &str) -> Object {
        object("{'firstValid':'45000000','genesisId':'testnet-v1.0','minFee':'1000'}").with("genesisHash", GENESIS_HASH).with("feePerByte", per_byte)
    }

    fn choose(option: Object, params: Object) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, &format!("{NETWORK}:{}", addresses()[0]), option, &Object::new().with("params", params))
    }

    fn built(option: Object, params: Object) -> Result<Box<dyn Unsigned>, Refusal> {
        build(&PAIRING, &choose(option, params)?)
    }

    fn signature() -> Value {
        encoding::hex(&[7; 64]).into()
    }

    /// The entries of a payment, and the index of the transfer.
    fn group(payment: &Value) -> (Vec<Vec<u8>>, Option<u64>) {
        let payload = payment.get("payload").unwrap();
        let entries = payload.get("paymentGroup").unwrap().as_array().unwrap();
        let index = payload.get("paymentIndex").unwrap().as_safe_unsigned();
        (entries.iter().map(|entry| encoding::from_base64(entry.as_str().unwrap()).unwrap()).collect(), index)
    }

    #[test]
    fn options() {
        let extra = |extra: &str| Value::from(object(extra));
        for (name, value, code) in [
            ("scheme", "upto".into(), "x402/option-not-this-pairing"),
            ("network", "algorand".into(), "x402/option-not-this-pairing"),
            ("network", "algorand:testnet".into(), "avm/network-malformed"),
            ("network", "algorand:SGO1GKSzyE7IEPItTxCByw9x8FmnrCD/".into(), "avm/network-malformed"),
            ("extra", Value::Null, "avm/option-malformed"),
            ("extra", extra("{'assetTransferMethod':'x'}"), "avm/option-malformed"),
            ("extra", extra("{'paymentFlow':'upfront'}"), "avm/option-malformed"),
            ("extra", extra("{'feePayer':null}"), "avm/option-malformed"),
            ("asset", "01".into(), "avm/option-malformed"),
            ("asset", "18446744073709551616".into(), "avm/option-malformed"),
            ("payTo", "A".into(), "avm/option-malformed"),
            ("amount", "0".into(), "avm/option-malformed"),
            ("maxTimeoutSeconds", 0u32.into(), "avm/option-malformed"),
        ] {
            assert_eq!(unserved(&PAIRING, option().with(name, &value)), code, "{name}: {value:?}");
        }
        let elsewhere = option().with("network", "algorand:x");
        assert_eq!(unserved(&PAIRING, elsewhere.clone().with("extra", Value::Null)), "avm/option-malformed");
        assert_eq!(unserved(&PAIRING, elsewhere.with("amount", "0")), "avm/network-malformed");
        // No asset can be served, but not paid.
        assert_eq!(built(option().with("asset", "0"), params("0")).err(), Some(OPTION_MALFORMED));
    }

    #[test]
    fn params_are_asked_for() {
        assert_eq!(choose(option(), params("0").with("more", 1u32)).unwrap().get("params").unwrap().as_object().unwrap().len(), 5);
        for name in ["firstValid", "genesisId", "minFee", "genesisHash", "feePerByte"] {
            for value in [Value::Null, "".into(), 5u32.into()] {
                assert_eq!(choose(option(), params("0").with(name, value)), Err(INPUT_MISSING), "{name}");
            }
            assert_eq!(choose(option(), params("0").without(name)), Err(INPUT_MISSING), "{name}");
        }
        let refused = |edit: (&str, &str)| built(option(), params("0").with(edit.0, edit.1)).err().unwrap().code().to_owned();
        for (name, value, code) in [
            ("firstValid", "18446744073709551616", "avm/option-malformed"),
            ("firstValid", "18446744073709551556", "avm/option-malformed"),
            ("minFee", "18446744073709551616", "avm/option-malformed"),
            ("feePerByte", "18446744073709551615", "avm/option-malformed"),
            ("genesisHash", "x", "avm/network-mismatch"),
            ("genesisHash", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "avm/network-mismatch"),
            // No longer entry is read.
            ("genesisId", &"g".repeat(5810), "avm/option-malformed"),
        ] {
            assert_eq!(refused((name, value)), code, "{name}: {value:.30}");
        }
        assert!(built(option(), params("0").with("genesisId", "g".repeat(5809))).is_ok());
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let refused = |edits: &[(&str, Value)]| {
            let choice = edits.iter().fold(choose(option(), params("0")).unwrap(), |choice, (name, value)| choice.with(*name, value));
            build(&PAIRING, &choice).err().unwrap().code().to_owned()
        };
        let unlisted = ("accepted", option().with("amount", "5").into());
        let with = |name: &'static str, value: &str| ("params", Value::from(params("0").with(name, value)));
        assert_eq!(refused(&[("accepted", Value::Null), ("payer", "A".into())]), "x402/choice-malformed");
        assert_eq!(refused(&[with("minFee", "x"), ("payer", "A".into())]), "x402/choice-malformed");
        assert_eq!(refused(&[with("genesisHash", "x"), ("payer", "A".into())]), "avm/option-malformed");
        assert_eq!(refused(&[with("genesisHash", "x"), unlisted.clone()]), "avm/network-mismatch");

        let zeros = encoding::base64(&[0; 32]);
        assert_eq!(refused(&[with("genesisHash", &zeros), unlisted]), "x402/option-not-in-document");
        assert_eq!(refused(&[with("genesisHash", &zeros)]), "avm/network-mismatch");
    }

    #[test]
    fn the_note_is_the_hash() {
        let unsigned = built(option(), params("0")).unwrap();
        let payment = paid(&*unsigned, signature()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let (entries, index) = group(&payment);
        assert_eq!((entries.len(), index), (1, Some(0)));
        let asked = request(&*unsigned);
        let bytes = encoding::from_hex(asked.get("bytes").unwrap().as_str().unwrap()).unwrap();
        assert_eq!((asked.get("kind"), &bytes[..2]), (Some(&"algorand-txn".into()), b"TX".as_slice()));
        assert_eq!(entries[0], algorand::sent(&bytes[2..], Some(&[7; 64])));
        for odd in [Value::Null, encoding::hex(&[7; 63]).into(), encoding::base64(&[7; 64]).into()] {
            assert_eq!(paid(&*unsigned, odd), Err(SIGNATURE_MALFORMED));
        }
    }

    /// Whether an entry pays a fee.
    fn pays(entry: &[u8], fee: u64) -> bool {
        let encoded = [b"\xA3fee\xCD".as_slice(), &u16::try_from(fee).unwrap().to_be_bytes()].concat();
        entry.windows(encoded.len()).any(|bytes| bytes == encoded)
    }

    #[test]
    fn the_fee_is_by_size_or_the_least() {
        let entry = |per_byte| group(&paid(&*built(option(), params(per_byte)).unwrap(), signature()).unwrap()).0.remove(0);
        // An entry whose fee takes a byte, as the one per byte does, is two bytes shorter than one that pays 1000.
        let size = entry("0").len() as u64 - 2;
        assert!(pays(&entry("0"), 1000) && pays(&entry("2"), 1000) && pays(&entry("7"), 7 * size));
    }

    #[test]
    fn a_fee_payer_pays_for_both() {
        let unsigned = built(sponsored(), params("0")).unwrap();
        let payment = paid(&*unsigned, signature()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let (entries, index) = group(&payment);
        assert_eq!((entries.len(), index), (2, Some(1)));
        assert!(pays(&entries[0], 2000) && !entries[1].windows(4).any(|bytes| bytes == b"\xA3fee"));
        let id = |entry: &[u8]| {
            let at = entry.windows(6).position(|bytes| bytes == b"\xA3grp\xC4\x20").unwrap() + 6;
            entry[at..at + 32].to_vec()
        };
        assert_eq!(id(&entries[0]), id(&entries[1]));

        let bound = |name, value: Value| PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err();
        assert_eq!(bound("paymentIndex", 0u32.into()).code(), "avm/not-axfer");
        for index in [Value::Null, 2u32.into(), Value::Number(-1.0), "1".into()] {
            assert_eq!(bound("paymentIndex", index), INDEX_OUT_OF_RANGE);
        }
        let entry = Value::from(encoding::base64(&entries[1]));
        assert_eq!(bound("paymentGroup", Value::Null), TXN_MALFORMED);
        assert_eq!(bound("paymentGroup", vec![].into()), GROUP_TOO_LARGE);
        assert_eq!(bound("paymentGroup", vec![entry.clone(); 17].into()), GROUP_TOO_LARGE);
        assert_eq!(bound("paymentGroup", [entry.clone(), 5u32.into()].into()), TXN_MALFORMED);
        assert_eq!(PAIRING.bound(&with_payload(&payment, "paymentGroup", vec![entry; 16]), None), Ok(h()));
    }

    /// Algorand's SDK signs our requests, and reads in our payloads what was asked for, with the fees that it takes itself.
    #[test]
    fn the_sdk_pays_and_reads() {
        let cases = [(option(), "0"), (option(), "7"), (sponsored(), "0"), (sponsored(), "7")];
        let unsigned: Vec<_> = cases.iter().map(|(option, per_byte)| built(option.clone(), params(per_byte)).unwrap()).collect();
        for ((option, per_byte), (payment, read)) in cases.iter().zip(peers::paid("algorand", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let read = read.as_array().unwrap();
            let [payer, seller, fee_payer]: [String; 3] = addresses()[..3].to_vec().try_into().unwrap();
            let transfer = object("{'type':'axfer','signed':true,'asset':10458941,'amount':2000000}")
                .with("sender", payer)
                .with("to", seller)
                .with("note", h().lcp_string());
            let fees = object("{'type':'pay','signed':false,'amount':0}").with("sender", &*fee_payer).with("to", fee_payer).with("note", "");
            let entries = if option.get("extra").is_some() { vec![fees, transfer] } else { vec![transfer] };
            assert_eq!(read.len(), entries.len());
            for (read, entry) in read.iter().zip(entries) {
                let members = object("{'first':45000000,'last':45000060,'genesisId':'testnet-v1.0'}").with("genesisHash", GENESIS_HASH);
                for (name, value) in entry.iter().chain(members.iter()) {
                    assert_eq!(Some(value), read.get(name.as_str().unwrap()), "{name:?}");
                }
            }
            // What the SDK asks for each, all of which the first pays.
            let fee = |entry: &Value| entry.get("fees").unwrap().get(per_byte).unwrap().as_safe_unsigned().unwrap();
            let paid: Vec<_> = read.iter().map(|entry| entry.get("fee").unwrap().as_safe_unsigned().unwrap()).collect();
            assert_eq!(paid[0], read.iter().map(fee).sum::<u64>());
            assert!(paid[1..].iter().all(|&fee| fee == 0));
        }
    }
}
