//! Transactions, and the one operation that a payment is: a call of a token contract's `transfer`.

use sha2::{Digest, Sha256};

use super::{
    Address,
    types::{
        ADDRESS, ADDRESS_VALUE, AFTER_BUMPED, AFTER_OPERATIONS, BEFORE_BUMPED, BEFORE_OPERATIONS, BY_ADDRESS, BY_ADDRESS_V2, BY_SOURCE, CALL,
        CREDENTIALS, FEE_BUMP, HOST_FUNCTION, INT128_VALUE, INVOCATION, INVOKE_HOST_FUNCTION, MAX_OPERATIONS, MAX_SYMBOL, MUXED_ACCOUNT, OPERATION,
        OPERATION_SOURCE, TRANSACTION_V1, VALUE,
    },
    xdr::{self, Span},
};
use crate::wire::bytes::Reader;

/// Largest envelope that is read, in bytes: 8,192 letters of base64.
pub const MAX_ENVELOPE: usize = 6144;

/// How deep values, and invocations, may nest in the call that is paid by, and in the entry that allows it.
const MAX_LEVELS: usize = 64;

/// Number of the preimage that an entry's signature is over, by the version of its credentials.
const PREIMAGE: u32 = 9;
const PREIMAGE_V2: u32 = 10;

/// The source of a transaction that another is to send: an account of zeros.
const NO_SOURCE: [u8; 36] = [0; 36];

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// `stellar:pubnet`
    Pubnet,
    /// `stellar:testnet`
    Testnet,
}

impl Network {
    /// The network of a CAIP-2 name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "stellar:pubnet" => Some(Self::Pubnet),
            "stellar:testnet" => Some(Self::Testnet),
            _ => None,
        }
    }

    /// What signatures are bound to: the digest of its passphrase.
    fn id(self) -> [u8; 32] {
        let passphrase = match self {
            Self::Pubnet => "Public Global Stellar Network ; September 2015",
            Self::Testnet => "Test SDF Network ; September 2015",
        };
        Sha256::digest(passphrase).into()
    }
}

/// A transaction in its envelope.
pub struct Transaction<'a> {
    envelope: &'a [u8],
    /// Whether it stands in a fee bump, by which another account pays its fee.
    pub bumped: bool,
    /// The key of its source account.
    pub source: [u8; 32],
    source_place: Place,
    /// What it does, if it does one thing and that calls a contract, or makes one.
    pub invocation: Option<Invocation<'a>>,
}

/// A place in an envelope, by how many bytes are left where it starts and where it ends.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
}

impl<'a> Transaction<'a> {
    /// Reads an envelope of version 1, or one in a fee bump, which is at most [`MAX_ENVELOPE`] long.
    pub fn read(envelope: &'a [u8]) -> Option<Self> {
        if envelope.len() > MAX_ENVELOPE {
            return None;
        }
        let mut reader = Reader::new(envelope);
        let bumped = match xdr::uint32(&mut reader)? {
            TRANSACTION_V1 => false,
            FEE_BUMP => {
                xdr::read(&mut reader, &BEFORE_BUMPED)?;
                xdr::uint32(&mut reader).filter(|&inner| inner == TRANSACTION_V1)?;
                true
            }
            _ => return None,
        };
        let start = reader.left();
        let source = account(&mut reader)?;
        let source_place = Place { start, end: reader.left() };
        xdr::read(&mut reader, &BEFORE_OPERATIONS)?;
        let count = xdr::uint32(&mut reader).filter(|&count| count <= MAX_OPERATIONS)?;
        let mut invocation = None;
        if count == 1 && Invocation::is_next(reader)? {
            invocation = Some(Invocation::read(&mut reader)?);
        } else {
            for _ in 0..count {
                xdr::read(&mut reader, &OPERATION)?;
            }
        }
        xdr::read(&mut reader, &AFTER_OPERATIONS)?;
        if bumped {
            xdr::read(&mut reader, &AFTER_BUMPED)?;
        }
        (reader.left() == 0).then_some(Self { envelope, bumped, source, source_place, invocation })
    }

    /// The transaction with one of its entries to be signed, up to a ledger. One that does not keep its source is another's to
    /// send. `None` for an entry that no address signs.
    pub fn unsigned(&self, entry: &Entry<'a>, expiration: u32, network: Network, keeps_source: bool) -> Option<Unsigned> {
        let Credentials::Address(credentials) = &entry.credentials else { return None };
        let Some(Address::Account(key)) = credentials.address else { return None };
        let source = if keeps_source { self.between(self.source_place)? } else { &NO_SOURCE };
        let before_source = self.between(Place { start: self.envelope.len(), end: self.source_place.start })?;
        let behind_source = self.between(Place { start: self.source_place.end, end: credentials.place.start })?;
        let expiration = expiration.to_be_bytes();
        let (number, address) = match credentials.signed_address {
            None => (PREIMAGE, &[][..]),
            Some(address) => (PREIMAGE_V2, address),
        };
        Some(Unsigned {
            before: [before_source, source, behind_source, &expiration].concat(),
            behind: self.between(Place { start: credentials.place.end, end: 0 })?.to_vec(),
            preimage: [&number.to_be_bytes(), &network.id()[..], &credentials.nonce, &expiration, address, entry.root.bytes].concat(),
            key,
        })
    }

    fn between(&self, place: Place) -> Option<&'a [u8]> {
        let at = |left| self.envelope.len().checked_sub(left);
        self.envelope.get(at(place.start)?..at(place.end)?)
    }
}

/// Takes an account, and gives its key.
fn account(reader: &mut Reader<'_>) -> Option<[u8; 32]> {
    xdr::read(reader, &MUXED_ACCOUNT)?.bytes.last_chunk().copied()
}

/// The one operation of a transaction that calls a contract, or makes one.
pub struct Invocation<'a> {
    /// The key of the operation's own source account, if it has one.
    pub source: Option<[u8; 32]>,
    function: &'a [u8],
    /// What its signers allow.
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Invocation<'a> {
    /// Whether the next operation is one.
    fn is_next(mut ahead: Reader<'_>) -> Option<bool> {
        xdr::read(&mut ahead, &OPERATION_SOURCE)?;
        Some(xdr::uint32(&mut ahead)? == INVOKE_HOST_FUNCTION)
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let source = if xdr::flag(reader)? { Some(account(reader)?) } else { None };
        expect(reader, INVOKE_HOST_FUNCTION)?;
        let function = xdr::read(reader, &HOST_FUNCTION).filter(|function| function.levels <= MAX_LEVELS)?.bytes;
        let count = xdr::uint32(reader)?;
        let entries = (0..count).map(|_| Entry::read(reader)).collect::<Option<_>>()?;
        Some(Self { source, function, entries })
    }

    /// The transfer that it asks for, if that is what it does.
    pub fn transfer(&self) -> Option<Transfer> {
        Transfer::read(self.function)
    }

    /// The entries that an address signs itself.
    pub fn entries_of(&self, address: Address) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter().filter(move |entry| match &entry.credentials {
            Credentials::Address(credentials) => credentials.address == Some(address),
            Credentials::Source | Credentials::Delegated => false,
        })
    }
}

/// What one signer allows.
pub struct Entry<'a> {
    /// Who signs it.
    pub credentials: Credentials<'a>,
    root: Span<'a>,
}

/// Who signs an entry.
pub enum Credentials<'a> {
    /// The operation's source account, by signing the transaction.
    Source,
    /// An address, by signing the entry.
    Address(AddressCredentials<'a>),
    /// An address by others.
    Delegated,
}

/// An address that signs an entry.
pub struct AddressCredentials<'a> {
    /// The address, if it is one that holds tokens.
    pub address: Option<Address>,
    /// The address, where the signature is over it too.
    signed_address: Option<&'a [u8]>,
    nonce: [u8; 8],
    /// Where its expiration and its signature stand.
    place: Place,
    levels: usize,
}

impl<'a> Entry<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let credentials = Credentials::read(reader)?;
        Some(Self { credentials, root: xdr::read(reader, &INVOCATION)? })
    }

    /// Whether what it holds nests deeper than a payment is read.
    pub fn is_too_deep(&self) -> bool {
        let levels = match &self.credentials {
            Credentials::Address(credentials) => credentials.levels,
            Credentials::Source | Credentials::Delegated => 0,
        };
        self.root.levels.max(levels) > MAX_LEVELS
    }

    /// The transfer that it allows, if it allows one and nothing under it.
    pub fn transfer(&self) -> Option<Transfer> {
        Transfer::read(self.root.bytes.strip_suffix(&NO_INVOCATIONS)?)
    }

    /// Whether it allows exactly what an operation asks for.
    pub fn allows(&self, invocation: &Invocation<'_>) -> bool {
        self.root.bytes.strip_suffix(&NO_INVOCATIONS) == Some(invocation.function)
    }
}

/// The count of the invocations under one that has none.
const NO_INVOCATIONS: [u8; 4] = [0; 4];

impl<'a> Credentials<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let mut ahead = *reader;
        let kind = xdr::uint32(&mut ahead)?;
        if kind != BY_ADDRESS && kind != BY_ADDRESS_V2 {
            xdr::read(reader, &CREDENTIALS)?;
            return Some(if kind == BY_SOURCE { Self::Source } else { Self::Delegated });
        }
        let address = xdr::read(&mut ahead, &ADDRESS)?.bytes;
        let nonce = ahead.array()?;
        let start = ahead.left();
        xdr::uint32(&mut ahead)?;
        let signature = xdr::read(&mut ahead, &VALUE)?;
        let place = Place { start, end: ahead.left() };
        *reader = ahead;
        let signed_address = (kind == BY_ADDRESS_V2).then_some(address);
        Some(Self::Address(AddressCredentials { address: Address::of(address), signed_address, nonce, place, levels: signature.levels }))
    }
}

/// A call of a token contract's `transfer(from, to, amount)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The token's contract.
    pub contract: [u8; 32],
    /// Who pays.
    pub from: Address,
    /// Who is paid.
    pub to: Address,
    /// How much, in the token's smallest unit.
    pub amount: i128,
}

impl Transfer {
    /// Reads a call, which is written alike as what an operation asks for and as what an entry allows.
    fn read(function: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(function);
        expect(&mut reader, CALL)?;
        let Address::Contract(contract) = Address::read(&mut reader)? else { return None };
        xdr::bytes(&mut reader, MAX_SYMBOL).filter(|&name| name == b"transfer")?;
        // Three arguments.
        expect(&mut reader, 3)?;
        expect(&mut reader, ADDRESS_VALUE)?;
        let from = Address::read(&mut reader)?;
        expect(&mut reader, ADDRESS_VALUE)?;
        let to = Address::read(&mut reader)?;
        expect(&mut reader, INT128_VALUE)?;
        let amount = reader.array().map(i128::from_be_bytes)?;
        (reader.left() == 0).then_some(Self { contract, from, to, amount })
    }
}

fn expect(reader: &mut Reader<'_>, number: u32) -> Option<()> {
    (xdr::uint32(reader)? == number).then_some(())
}

/// A transaction that lacks the signature of one entry.
pub struct Unsigned {
    before: Vec<u8>,
    behind: Vec<u8>,
    preimage: Vec<u8>,
    key: [u8; 32],
}

impl Unsigned {
    /// What is signed: the SHA-256 of these bytes.
    pub fn preimage(&self) -> &[u8] {
        &self.preimage
    }

    /// The envelope with the signature in its place, as an account's entries are signed: a list of one map that holds the
    /// key and the signature.
    pub fn signed(&self, signature: &[u8; 64]) -> Vec<u8> {
        const LIST_OF_MAP: &[u8] = b"\0\0\0\x10\0\0\0\x01\0\0\0\x01\0\0\0\x11\0\0\0\x01\0\0\0\x02";
        const PUBLIC_KEY: &[u8] = b"\0\0\0\x0F\0\0\0\x0Apublic_key\0\0\0\0\0\x0D\0\0\0\x20";
        const SIGNATURE: &[u8] = b"\0\0\0\x0F\0\0\0\x09signature\0\0\0\0\0\0\x0D\0\0\0\x40";
        [&self.before, LIST_OF_MAP, PUBLIC_KEY, &self.key, SIGNATURE, signature, &self.behind].concat()
    }
}
