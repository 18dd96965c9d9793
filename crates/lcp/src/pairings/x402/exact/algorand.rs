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
