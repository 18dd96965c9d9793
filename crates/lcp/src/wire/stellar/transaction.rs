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

/// Transactions to test with.
#[cfg(test)]
pub(crate) mod sample {
    use super::Address;

    pub(crate) const PAYER: [u8; 32] = [7; 32];
    pub(crate) const SELLER: [u8; 32] = [8; 32];
    pub(crate) const TOKEN: [u8; 32] = [6; 32];

    pub(crate) fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn address(address: Address) -> Vec<u8> {
        match address {
            Address::Account(key) => [words(&[0, 0]), key.to_vec()].concat(),
            Address::Contract(contract) => [words(&[1]), contract.to_vec()].concat(),
            Address::Muxed { key, id } => [words(&[2]), id.to_be_bytes().to_vec(), key.to_vec()].concat(),
        }
    }

    /// A call of a token's function with the arguments of a transfer.
    pub(crate) fn call(function: [u8; 8], from: Address, to: Address, amount: i128) -> Vec<u8> {
        let head = [words(&[0, 1]), TOKEN.to_vec(), words(&[8]), function.to_vec(), words(&[3])];
        let arguments = [words(&[18]), address(from), words(&[18]), address(to), words(&[10]), amount.to_be_bytes().to_vec()];
        [head.concat(), arguments.concat()].concat()
    }

    pub(crate) fn transfer(to: Address) -> Vec<u8> {
        call(*b"transfer", Address::Account(PAYER), to, 1000)
    }

    /// An entry by an address, of credentials of version 1 or 2, not yet signed.
    pub(crate) fn entry(version: u32, by: Address, call: &[u8]) -> Vec<u8> {
        let nonce = [5; 8];
        [&words(&[version]), &address(by), &nonce[..], &words(&[0]), &words(&[1]), call, &words(&[0])].concat()
    }

    /// An entry by the source account.
    pub(crate) fn source_entry(call: &[u8]) -> Vec<u8> {
        [&words(&[0]), call, &words(&[0])].concat()
    }

    /// An envelope from the seller's account, of operations.
    pub(crate) fn envelope(operations: &[Vec<u8>]) -> Vec<u8> {
        envelope_from(&SELLER, operations)
    }

    /// An envelope from an account, of operations.
    pub(crate) fn envelope_from(source: &[u8; 32], operations: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(operations.len()).unwrap();
        // Fee, sequence number, no preconditions, no memo.
        let before = [words(&[2, 0]), source.to_vec(), words(&[100, 0, 9, 0, 0, count])];
        [before.concat(), operations.concat(), words(&[0, 0])].concat()
    }

    /// The operation that makes a call, with its entries.
    pub(crate) fn invoke(call: &[u8], entries: &[Vec<u8>]) -> Vec<u8> {
        [words(&[0, 24]), call.to_vec(), words(&[u32::try_from(entries.len()).unwrap()]), entries.concat()].concat()
    }

    /// A transfer that its payer is to sign.
    pub(crate) fn simulated(to: Address) -> Vec<u8> {
        let call = transfer(to);
        envelope(&[invoke(&call, &[entry(1, Address::Account(PAYER), &call)])])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        sample::{PAYER, SELLER, TOKEN, call, entry, envelope, invoke, simulated, source_entry, transfer, words},
        *,
    };

    const PAYEE: Address = Address::Muxed { key: SELLER, id: 3 };

    #[test]
    fn a_transfer_is_read() {
        let envelope = simulated(PAYEE);
        let transaction = Transaction::read(&envelope).unwrap();
        assert_eq!((transaction.source, transaction.bumped), (SELLER, false));
        let invocation = transaction.invocation.as_ref().unwrap();
        let expected = Transfer { contract: TOKEN, from: Address::Account(PAYER), to: PAYEE, amount: 1000 };
        assert_eq!((invocation.transfer(), invocation.source), (Some(expected), None));
        let entry = invocation.entries_of(expected.from).next().unwrap();
        assert_eq!(entry.transfer(), Some(expected));
        assert!(entry.allows(invocation) && !entry.is_too_deep());
        assert_eq!(invocation.entries_of(PAYEE).count(), 0);
    }

    #[test]
    fn only_a_call_of_transfer_is_one() {
        let from = Address::Account(PAYER);
        let read = |call: &[u8]| Transaction::read(&envelope(&[invoke(call, &[])])).unwrap().invocation.unwrap().transfer();
        assert!(read(&call(*b"transfer", from, from, -1)).is_some());
        assert_eq!(read(&call(*b"Transfer", from, from, 1)), None);
        // Three arguments, of which the last is an amount; a fourth; a payee that is a pool.
        let good = transfer(PAYEE);
        let place = 52;
        assert_eq!(good[place..place + 4], [0, 0, 0, 3]);
        assert_eq!(read(&[&good[..place], &words(&[4]), &good[place + 4..], &words(&[1])].concat()), None);
        assert_eq!(read(&[&good[..good.len() - 20], &words(&[9]), &[0; 16]].concat()), None);
        let contract_payee = transfer(Address::Contract([9; 32]));
        let pool = contract_payee.len() - 20 - 36;
        assert_eq!(contract_payee[pool..pool + 4], [0, 0, 0, 1]);
        assert_eq!(read(&[&contract_payee[..pool], &words(&[4]), &contract_payee[pool + 4..]].concat()), None);
    }

    #[test]
    fn envelopes_are_of_version_1_or_bumped() {
        let inner = simulated(PAYEE);
        let bumped = |tail: &[u32]| [words(&[5, 0]), SELLER.to_vec(), words(&[0, 900]), inner.clone(), words(tail)].concat();
        assert!(Transaction::read(&bumped(&[0, 0])).unwrap().bumped);
        assert!(Transaction::read(&bumped(&[1, 0])).is_none());
        for kind in [0, 1, 3, 5] {
            let other = [&words(&[kind]), &inner[4..]].concat();
            assert!(Transaction::read(&other).is_none(), "{kind}");
        }
        assert!(Transaction::read(&[&inner[..], &[0]].concat()).is_none());
        assert!(Transaction::read(&vec![0; MAX_ENVELOPE + 4]).is_none());
    }

    #[test]
    fn one_operation_invokes() {
        let call = transfer(PAYEE);
        let invoke = invoke(&call, &[]);
        let invokes = |operations: &[Vec<u8>]| Transaction::read(&envelope(operations)).map(|read| read.invocation.is_some());
        assert_eq!(invokes(&[]), Some(false));
        assert_eq!(invokes(&[invoke.clone(), invoke.clone()]), Some(false));
        // Inflation, and an operation that there is not.
        assert_eq!(invokes(&[words(&[0, 9])]), Some(false));
        assert_eq!(invokes(&[words(&[0, 27])]), None);
        let own_source = [words(&[1, 0]), PAYER.to_vec(), invoke[4..].to_vec()].concat();
        let envelope = envelope(&[own_source]);
        assert_eq!(Transaction::read(&envelope).unwrap().invocation.unwrap().source, Some(PAYER));
    }

    /// A value in so many lists.
    fn nested(levels: usize) -> Vec<u8> {
        [words(&[16, 1, 1].repeat(levels)), words(&[1])].concat()
    }

    #[test]
    fn depth_is_bounded_where_a_payment_is_read() {
        let call = transfer(PAYEE);
        let payer = Address::Account(PAYER);
        let signed = |levels| {
            let entry = entry(1, payer, &call);
            // The signature stands behind version, address, nonce and expiration.
            [&entry[..56], &nested(levels), &entry[60..]].concat()
        };
        let too_deep = |entry: &[u8]| {
            let envelope = envelope(&[invoke(&call, &[entry.to_vec()])]);
            Transaction::read(&envelope).unwrap().invocation.unwrap().entries[0].is_too_deep()
        };
        assert!(!too_deep(&signed(64)) && too_deep(&signed(65)));
        let chain = |count: usize| {
            let tree: Vec<u8> = [&call[..], &words(&[1])].concat().repeat(count - 1);
            [&entry(1, payer, &[])[..60], &tree, &call, &words(&[0])].concat()
        };
        assert!(!too_deep(&chain(20)));
        // A call deeper than that is none, beside another operation it is.
        let deep = |levels| [words(&[0, 1]), TOKEN.to_vec(), words(&[0, 1]), nested(levels)].concat();
        let reads = |operations: &[Vec<u8>]| Transaction::read(&envelope(operations)).is_some();
        assert!(reads(&[invoke(&deep(64), &[])]) && !reads(&[invoke(&deep(65), &[])]));
        assert!(reads(&[invoke(&deep(65), &[]), words(&[0, 9])]));
    }

    #[test]
    fn signing_puts_expiration_and_signature_in_their_places() {
        let payer = Address::Account(PAYER);
        let call = transfer(PAYEE);
        for version in [1, 2] {
            let envelope = envelope(&[invoke(&call, &[source_entry(&call), entry(version, payer, &call)])]);
            let transaction = Transaction::read(&envelope).unwrap();
            let invocation = transaction.invocation.as_ref().unwrap();
            assert!(transaction.unsigned(&invocation.entries[0], 9, Network::Testnet, true).is_none());
            for keeps_source in [true, false] {
                let entry = &invocation.entries[1];
                let unsigned = transaction.unsigned(entry, 9, Network::Testnet, keeps_source).unwrap();
                let network = "cee0302d59844d32bdca915c8203dd44b33fbb7edc19051ea37abedf28ecd472";
                let address = if version == 2 { [words(&[0, 0]), PAYER.to_vec()].concat() } else { vec![] };
                let network = crate::encoding::from_hex(&format!("0x{network}")).unwrap();
                let expected = [words(&[8 + version]), network, vec![5; 8], words(&[9]), address, call.clone(), words(&[0])].concat();
                assert_eq!(unsigned.preimage(), expected);

                let signed = unsigned.signed(&[3; 64]);
                let read = Transaction::read(&signed).unwrap();
                assert_eq!(read.source, if keeps_source { SELLER } else { [0; 32] });
                let again = read.invocation.as_ref().unwrap();
                assert!(again.entries[1].allows(again));
                // Signed once more with the same, it stays as it is.
                let twice = read.unsigned(&again.entries[1], 9, Network::Testnet, true).unwrap();
                assert_eq!((twice.signed(&[3; 64]), twice.preimage()), (signed.clone(), unsigned.preimage()));
                assert!(signed.windows(64).any(|bytes| bytes == [3; 64]) && signed.windows(10).any(|bytes| bytes == b"public_key"));
            }
        }
    }

    #[test]
    fn a_subaccounts_source_is_kept_or_left_out() {
        let call = transfer(PAYEE);
        let plain = simulated(PAYEE);
        let muxed = [words(&[2, 0x100, 0, 1]), SELLER.to_vec(), plain[40..].to_vec()].concat();
        let transaction = Transaction::read(&muxed).unwrap();
        assert_eq!(transaction.source, SELLER);
        let entry = &transaction.invocation.as_ref().unwrap().entries[0];
        let signed = |keeps| transaction.unsigned(entry, 9, Network::Pubnet, keeps).unwrap().signed(&[3; 64]);
        assert_eq!(signed(true).len(), signed(false).len() + 8);
        assert_eq!(signed(false)[4..40], [0; 36]);
        assert!(entry.transfer().is_some() && call.len() > 40);
    }

    proptest! {
        /// Whatever is read as a transfer can be signed, and is the same transfer then.
        #[test]
        fn changed_envelopes(place in 0..400usize, byte: u8, version in 1..=2u32) {
            let call = transfer(PAYEE);
            let mut bytes = envelope(&[invoke(&call, &[entry(version, Address::Account(PAYER), &call)])]);
            let place = place % bytes.len();
            bytes[place] = byte;
            let Some(transaction) = Transaction::read(&bytes) else { return Ok(()) };
            let Some(invocation) = &transaction.invocation else { return Ok(()) };
            for (nth, entry) in invocation.entries.iter().enumerate() {
                let Some(unsigned) = transaction.unsigned(entry, 77, Network::Testnet, true) else { continue };
                let signed = unsigned.signed(&[1; 64]);
                let read = Transaction::read(&signed).unwrap();
                let again = read.invocation.as_ref().unwrap();
                prop_assert_eq!(again.transfer(), invocation.transfer());
                prop_assert_eq!(again.entries[nth].allows(again), entry.allows(invocation));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Transaction::read(&[&words(&[2])[..], &bytes].concat());
        }
    }
}
