//! What the pairings on Stellar share, whichever protocol they speak.
//!
//! H rides in the id of the subaccount that is paid, as far as 8 bytes can hold it. The wallet simulates the transfer; the
//! payment is that transaction with the payer's entry signed.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    wire::stellar::{Address, Entry, Invocation, Network, Transaction, Transfer, Unsigned},
};

pub(crate) const TX_MALFORMED: Refusal = Refusal::new("stellar/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("stellar/tx-too-large");
const NOT_ONE_TRANSFER: Refusal = Refusal::new("stellar/not-one-transfer");
pub(crate) const NO_ADDRESS_AUTH: Refusal = Refusal::new("stellar/no-address-auth");
const CARRIER_MISMATCH: Refusal = Refusal::new("stellar/carrier-mismatch");
const NO_CARRIER: Refusal = Refusal::new("stellar/no-carrier");
const ASSET_MISMATCH: Refusal = Refusal::new("stellar/asset-mismatch");
const AMOUNT_MISMATCH: Refusal = Refusal::new("stellar/amount-mismatch");
const PAYER_MISMATCH: Refusal = Refusal::new("stellar/payer-mismatch");

/// Longest transaction, in base64 letters.
const MAX_TEXT: usize = 8192;

/// How long a ledger is, in seconds.
const LEDGER_SECONDS: u64 = 5;

/// What a seller asks for.
pub(crate) struct Charge {
    pub(crate) network: Network,
    /// The token's contract.
    pub(crate) asset: [u8; 32],
    pub(crate) amount: i128,
    pub(crate) pay_to: Address,
}

/// The contract that a text names.
pub(crate) fn contract(text: &str) -> Option<[u8; 32]> {
    match Address::parse(text)? {
        Address::Contract(contract) => Some(contract),
        _ => None,
    }
}

/// The account or subaccount that a text names.
pub(crate) fn payee(text: &str) -> Option<Address> {
    Address::parse(text).filter(|address| !matches!(address, Address::Contract(_)))
}

/// The payer and the buyer's inputs, as a choice keeps them. An account that cannot pay is refused as `unpayable`, an input
/// that is missing or of another form as `missing`.
pub(crate) fn chosen(account: &Account, inputs: &Object, unpayable: Refusal, missing: Refusal) -> Result<Object, Refusal> {
    let letters = account.address.strip_prefix('G').filter(|letters| letters.len() == 55);
    if !letters.is_some_and(|letters| letters.bytes().all(|letter| matches!(letter, b'A'..=b'Z' | b'2'..=b'7'))) {
        return Err(unpayable);
    }
    let simulated = inputs.get("simulatedXdr").filter(|value| value.as_text().is_some_and(|text| text.utf16_len() > 0));
    let ledger = inputs.get("currentLedger").and_then(Value::as_safe_unsigned);
    let (simulated, ledger) = simulated.zip(ledger).ok_or(missing)?;
    Ok(Object::new().with("payer", account.address.as_str()).with("simulatedXdr", simulated).with("currentLedger", ledger))
}

/// The ledger that a choice names as the current one.
pub(crate) fn ledger(choice: &Object) -> Result<u64, Refusal> {
    choice.get("currentLedger").and_then(Value::as_safe_unsigned).ok_or(TX_MALFORMED)
}

/// The payer in a choice. That it can pay is seen by the transaction.
pub(crate) fn payer(choice: &Object) -> Result<Address, Refusal> {
    choice.get("payer").and_then(Value::as_str).and_then(Address::parse).ok_or(PAYER_MISMATCH)
}

/// The last ledger in which a signature holds.
pub(crate) fn expiration(ledger: u64, seconds: u64) -> Result<u32, Refusal> {
    let last = ledger.checked_add(seconds.div_ceil(LEDGER_SECONDS));
    last.and_then(|last| u32::try_from(last).ok()).ok_or(TX_MALFORMED)
}

/// The bytes of a transaction's text.
pub(crate) fn envelope(text: Option<&Value>) -> Result<Vec<u8>, Refusal> {
    let text = text.and_then(Value::as_text).ok_or(TX_MALFORMED)?;
    if text.utf16_len() > MAX_TEXT {
        return Err(TX_TOO_LARGE);
    }
    text.as_str().and_then(encoding::from_base64).ok_or(TX_MALFORMED)
}

/// A transaction in its envelope.
pub(crate) fn transaction(envelope: &[u8]) -> Result<Transaction<'_>, Refusal> {
    Transaction::read(envelope).ok_or(TX_MALFORMED)
}

/// A transaction that the wallet simulated: no one has bumped its fee yet.
pub(crate) fn simulated(envelope: &[u8]) -> Result<Transaction<'_>, Refusal> {
    transaction(envelope).ok().filter(|transaction| !transaction.bumped).ok_or(TX_MALFORMED)
}

/// The one transfer that a transaction is.
pub(crate) fn transfer<'t, 'a>(transaction: &'t Transaction<'a>) -> Result<(&'t Invocation<'a>, Transfer), Refusal> {
    let invocation = transaction.invocation.as_ref().ok_or(NOT_ONE_TRANSFER)?;
    Ok((invocation, invocation.transfer().ok_or(NOT_ONE_TRANSFER)?))
}

/// The one entry that an address signs.
pub(crate) fn entry_of<'t, 'a>(invocation: &'t Invocation<'a>, address: Address) -> Result<&'t Entry<'a>, Refusal> {
    let mut entries = invocation.entries_of(address);
    match (entries.next(), entries.next()) {
        (Some(entry), None) => Ok(entry),
        _ => Err(NO_ADDRESS_AUTH),
    }
}

impl Charge {
    /// Whether the payee's id is the first 8 bytes of H.
    pub(crate) fn judge_carrier(&self, h: Hash) -> Result<(), Refusal> {
        match self.pay_to {
            Address::Muxed { id, .. } if h.bytes().starts_with(&id.to_be_bytes()) => Ok(()),
            _ => Err(CARRIER_MISMATCH),
        }
    }

    /// Whether a transfer pays the payee.
    pub(crate) fn judge_payee(&self, transfer: &Transfer) -> Result<(), Refusal> {
        match transfer.to {
            to if to == self.pay_to => Ok(()),
            Address::Muxed { .. } => Err(CARRIER_MISMATCH),
            _ => Err(NO_CARRIER),
        }
    }

    /// Whether an entry allows the very transfer that is asked for, to the payee.
    pub(crate) fn judge_entry(&self, invocation: &Invocation<'_>, entry: &Entry<'_>) -> Result<(), Refusal> {
        if entry.is_too_deep() {
            return Err(TX_MALFORMED);
        }
        self.judge_payee(&entry.transfer().ok_or(NOT_ONE_TRANSFER)?)?;
        if entry.allows(invocation) { Ok(()) } else { Err(NOT_ONE_TRANSFER) }
    }

    /// Whether a transaction pays the payee, as its payer's entry allows.
    pub(crate) fn judge_payment(&self, transaction: &Transaction<'_>) -> Result<(), Refusal> {
        let (invocation, transfer) = transfer(transaction)?;
        self.judge_entry(invocation, entry_of(invocation, transfer.from)?)
    }

    /// A simulated transaction that waits for the payer's signature, if it is the transfer that is asked for.
    pub(crate) fn unsigned(&self, transaction: &Transaction<'_>, payer: Address, expiration: u32, keeps_source: bool) -> Result<Unsigned, Refusal> {
        let (invocation, transfer) = transfer(transaction)?;
        let entry = entry_of(invocation, transfer.from)?;
        let unsigned = transaction.unsigned(entry, expiration, self.network, keeps_source).ok_or(NO_ADDRESS_AUTH)?;
        self.judge_entry(invocation, entry).map_err(|refusal| if refusal == NO_CARRIER { CARRIER_MISMATCH } else { refusal })?;
        if transfer.contract != self.asset {
            return Err(ASSET_MISMATCH);
        }
        if transfer.amount != self.amount {
            return Err(AMOUNT_MISMATCH);
        }
        if transfer.from == payer { Ok(unsigned) } else { Err(PAYER_MISMATCH) }
    }
}

/// What the wallet is asked to sign.
pub(crate) fn request(unsigned: &Unsigned) -> Object {
    Object::new().with("kind", "stellar-auth").with("preimage", encoding::hex(unsigned.preimage()))
}

/// The signature in an answer.
pub(crate) fn signature(answer: &Value) -> Option<[u8; 64]> {
    encoding::from_hex(answer.as_str()?)?.try_into().ok()
}

/// The text of the signed transaction.
pub(crate) fn signed(unsigned: &Unsigned, signature: &[u8; 64]) -> Result<String, Refusal> {
    let text = encoding::base64(&unsigned.signed(signature));
    if text.len() <= MAX_TEXT { Ok(text) } else { Err(TX_TOO_LARGE) }
}
