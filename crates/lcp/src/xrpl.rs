//! What the pairings on the XRP Ledger share, whichever protocol they speak.

use crate::{
    Object, Refusal, Value, encoding, inputs,
    wire::xrpl::{self as wire, MAX_BLOB, Transaction},
};

const BLOB_MALFORMED: Refusal = Refusal::new("xrpl/blob-malformed");
const BLOB_TOO_LARGE: Refusal = Refusal::new("xrpl/blob-too-large");
const MULTISIGNED: Refusal = Refusal::new("xrpl/multisigned");
const NETWORK_MISMATCH: Refusal = Refusal::new("xrpl/network-mismatch");
const NOT_PAYMENT: Refusal = Refusal::new("xrpl/not-payment");
const NO_INVOICE_ID: Refusal = Refusal::new("xrpl/no-invoice-id");
pub(crate) const CARRIER_MISMATCH: Refusal = Refusal::new("xrpl/carrier-mismatch");

/// The networks up to this one leave their id out of transactions.
const LAST_UNNAMED: u32 = 1024;

/// The bytes of a blob's text, which is hex without a prefix.
pub(crate) fn blob(text: Option<&Value>) -> Result<Vec<u8>, Refusal> {
    let text = text.and_then(Value::as_text).ok_or(BLOB_MALFORMED)?;
    if text.utf16_len() > 2 * MAX_BLOB {
        return Err(BLOB_TOO_LARGE);
    }
    text.as_str().and_then(bare_hex).ok_or(BLOB_MALFORMED)
}

/// The bytes of hex digits of either case.
pub(crate) fn bare_hex(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; digits.len() / 2];
    encoding::hex_into(digits, &mut bytes)?;
    Some(bytes)
}

/// A transaction that one account signs, for a network.
pub(crate) fn transaction(blob: &[u8], network: u32) -> Result<Transaction<'_>, Refusal> {
    let transaction = Transaction::read(blob).ok_or(BLOB_MALFORMED)?;
    if transaction.is_multisigned() {
        return Err(MULTISIGNED);
    }
    if transaction.network_id() == named(network) { Ok(transaction) } else { Err(NETWORK_MISMATCH) }
}

/// The network's id, where a transaction says it.
fn named(network: u32) -> Option<u32> {
    (network > LAST_UNNAMED).then_some(network)
}

/// The `InvoiceID` of a payment.
pub(crate) fn invoice_id(transaction: &Transaction<'_>) -> Result<[u8; 32], Refusal> {
    if !transaction.is_payment() {
        return Err(NOT_PAYMENT);
    }
    transaction.invoice_id().ok_or(NO_INVOICE_ID)
}

/// A member that is a number below 2^32.
pub(crate) fn uint32(object: &Object, name: &str) -> Option<u32> {
    object.get(name).and_then(Value::as_safe_unsigned).and_then(|number| u32::try_from(number).ok())
}

/// The buyer's fee and these numbers, as a choice keeps them.
pub(crate) fn submission_inputs(inputs: &Object, numbers: &[&str]) -> Option<Object> {
    let fee = inputs::decimal(inputs, "fee").ok().flatten()?;
    let mut numbers = numbers.iter();
    numbers.try_fold(Object::new().with("fee", fee), |kept, &name| Some(kept.with(name, inputs.get(name)?.as_safe_unsigned()?)))
}

/// When and at what cost a transaction is to be taken.
pub(crate) struct Submission<'a> {
    /// Drops, decimal.
    pub(crate) fee: &'a str,
    /// Its number among the account's transactions.
    pub(crate) number: Number,
    /// The last ledger that may take it.
    pub(crate) last_ledger: u32,
    pub(crate) network: u32,
}

/// A transaction's number among the account's, or a ticket that stands for one.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Sequence(u32),
    Ticket(u32),
}

impl Submission<'_> {
    /// Adds it to a transaction.
    pub(crate) fn write(&self, transaction: Object) -> Object {
        let (sequence, ticket) = match self.number {
            Number::Sequence(sequence) => (sequence, None),
            Number::Ticket(ticket) => (0, Some(ticket)),
        };
        transaction
            .with("Fee", self.fee)
            .with("Sequence", sequence)
            .with_some("TicketSequence", ticket)
            .with("LastLedgerSequence", self.last_ledger)
            .with_some("NetworkID", named(self.network))
    }
}

/// A transaction by an account, as the wallet is asked to sign it.
pub(crate) fn unsigned(kind: &str, account: &Value, destination: &Value) -> Object {
    Object::new().with("TransactionType", kind).with("Flags", 0u32).with("Account", account).with("Destination", destination)
}

/// A payment that names an invoice. One in tokens of an issuer spends no more of them than it delivers.
pub(crate) fn payment(account: &Value, destination: &Value, amount: &Value, invoice_id: &[u8]) -> Object {
    unsigned("Payment", account, destination)
        .with("Amount", amount)
        .with_some("SendMax", Some(amount).filter(|amount| amount.get("issuer").is_some()))
        .with("InvoiceID", wire::hex(invoice_id))
}

/// What the wallet is asked to sign.
pub(crate) fn request(transaction: Object) -> Value {
    Object::new().with("kind", "xrpl-tx").with("txJson", transaction).into()
}
