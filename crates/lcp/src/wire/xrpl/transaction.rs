//! Signed transactions.

use super::{
    AccountId, Object, channel,
    fields::{
        ACCOUNT, DESTINATION, INVOICE_ID, MEMO, MEMO_DATA, MEMOS, NETWORK_ID, PAYMENT, PAYMENT_CHANNEL_CREATE, SEQUENCE, SIGNERS, TICKET_SEQUENCE,
        TRANSACTION_TYPE,
    },
    sha512_half,
};

/// Largest transaction that is read, in bytes.
pub const MAX_BLOB: usize = 2048;

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction<'a>(Object<'a>);

impl<'a> Transaction<'a> {
    /// Reads a transaction's blob, at most [`MAX_BLOB`] bytes.
    pub fn read(blob: &'a [u8]) -> Option<Self> {
        if blob.len() > MAX_BLOB {
            return None;
        }
        let fields = Object::read(blob)?;
        (fields.get(TRANSACTION_TYPE).is_some() && fields.get(ACCOUNT).is_some()).then_some(Self(fields))
    }

    /// Its fields.
    pub fn fields(&self) -> &Object<'a> {
        &self.0
    }

    /// Whether it is a `Payment`.
    pub fn is_payment(&self) -> bool {
        self.is_of(PAYMENT)
    }

    /// Whether it is a `PaymentChannelCreate`.
    pub fn is_channel_create(&self) -> bool {
        self.is_of(PAYMENT_CHANNEL_CREATE)
    }

    fn is_of(&self, kind: u16) -> bool {
        self.0.bytes(TRANSACTION_TYPE) == Some(&kind.to_be_bytes()[..])
    }

    /// Whether several sign it.
    pub fn is_multisigned(&self) -> bool {
        self.0.get(SIGNERS).is_some()
    }

    /// The network it is for, where it says so.
    pub fn network_id(&self) -> Option<u32> {
        self.uint32(NETWORK_ID)
    }

    /// Its `InvoiceID`.
    pub fn invoice_id(&self) -> Option<[u8; 32]> {
        self.0.fixed(INVOICE_ID)
    }

    /// The members of its `Memos`: the data of those that are memos and have some.
    pub fn memos(&self) -> impl ExactSizeIterator<Item = Option<&'a [u8]>> {
        let members = self.0.array(MEMOS).unwrap_or_default().iter();
        members.map(|(code, member)| member.bytes(MEMO_DATA).filter(|_| *code == MEMO))
    }

    /// The channel that a `PaymentChannelCreate` makes, if its account, payee and number among the account's are there.
    pub fn channel_id(&self) -> Option<[u8; 32]> {
        let account: AccountId = self.0.fixed(ACCOUNT).filter(|_| self.is_channel_create())?;
        let number = match self.uint32(SEQUENCE)? {
            0 => self.uint32(TICKET_SEQUENCE)?,
            sequence => sequence,
        };
        Some(channel::id(&account, &self.0.fixed(DESTINATION)?, number))
    }

    fn uint32(&self, code: super::Code) -> Option<u32> {
        self.0.fixed(code).map(u32::from_be_bytes)
    }
}

/// The hash by which the ledger knows a signed transaction.
pub fn hash(blob: &[u8]) -> [u8; 32] {
    sha512_half(&[b"TXN\0", blob])
}
