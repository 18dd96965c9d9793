use std::collections::HashSet;

use super::{Address, Blockhash, Signature, system};
use crate::{Refusal, Value, encoding};

/// The bytes are no transaction in its one form.
pub const TX_MALFORMED: Refusal = Refusal::new("svm/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("svm/tx-too-large");
const NONCE_ACCOUNT_NOT_STATIC: Refusal = Refusal::new("svm/nonce-account-not-static");

/// Most bytes of a transaction: what one packet carries.
pub const MAX_WIRE: usize = 1232;

/// Longest text of one that is decoded at all: a packet's, and one group of four letters.
const MAX_TEXT: usize = MAX_WIRE.div_ceil(3) * 4 + 4;

/// Set on a versioned message's first byte, over the version.
const VERSIONED: u8 = 0x80;

/// A transaction: a message and a signature for each of its first keys, zero where it is not signed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// One for each key that signs, in the keys' order.
    pub signatures: Vec<Signature>,
    /// What is signed.
    pub message: Message,
}

/// A message, legacy or of version 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whether it is of version 0.
    pub versioned: bool,
    /// How many of the keys sign, from the first on.
    pub signers: u8,
    /// How many of those, from the last on, are read only.
    pub readonly_signers: u8,
    /// How many of the other keys, from the last on, are read only.
    pub readonly_others: u8,
    /// The accounts it names itself.
    pub keys: Vec<Address>,
    /// The blockhash that dates it, or a durable nonce.
    pub blockhash: Blockhash,
    /// The calls it makes.
    pub instructions: Vec<CompiledInstruction>,
    /// The accounts it loads from tables; none in a legacy message.
    pub lookups: Vec<Lookup>,
}

/// A call of a program. Indexes count the message's keys, then the loaded writable ones, then the loaded others; they
/// may lead past them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledInstruction {
    /// The program's index.
    pub program: u8,
    /// The accounts' indexes.
    pub accounts: Vec<u8>,
    /// What the program is told.
    pub data: Vec<u8>,
}

/// Accounts loaded from one address lookup table, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The table.
    pub table: Address,
    /// Places in the table of accounts that are written.
    pub writable: Vec<u8>,
    /// Places of those that are read only.
    pub readonly: Vec<u8>,
}

/// The accounts that a lookup loads, as read from its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The table.
    pub table: Address,
    /// The accounts that are written.
    pub writable: Vec<Address>,
    /// The accounts that are read only.
    pub readonly: Vec<Address>,
}

/// Why a message's accounts are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// What was read is not what the lookups load.
    OtherTables,
    /// A loaded account is there already, which the runtime refuses.
    Repeated,
}

impl Transaction {
    /// Reads a transaction from base64, as a payment's member holds it. One that loads the account of its durable nonce from
    /// a table is refused: the runtime takes no such nonce.
    pub fn read(member: Option<&Value>) -> Result<Self, Refusal> {
        let text = member.and_then(Value::as_text).ok_or(TX_MALFORMED)?;
        if text.utf16_len() > MAX_TEXT {
            return Err(TX_TOO_LARGE);
        }
        let wire = text.as_str().and_then(encoding::from_base64).ok_or(TX_MALFORMED)?;
        if wire.len() > MAX_WIRE {
            return Err(TX_TOO_LARGE);
        }
        let transaction = Self::decode(&wire).ok_or(TX_MALFORMED)?;
        if transaction.message.loads_its_nonce() { Err(NONCE_ACCOUNT_NOT_STATIC) } else { Ok(transaction) }
    }

    /// Reads a transaction of any length: lengths in their shortest form, no bytes left over, a header that fits the keys.
    /// Indexes are not judged.
    pub fn decode(wire: &[u8]) -> Option<Self> {
        let mut reader = Reader(wire);
        let transaction = Self { signatures: reader.list(Reader::array)?, message: reader.message()? };
        let signed = transaction.signatures.len() == usize::from(transaction.message.signers);
        (signed && reader.0.is_empty()).then_some(transaction)
    }

    /// The bytes that [`Transaction::decode`] reads.
    pub fn encode(&self) -> Vec<u8> {
        let mut wire = Vec::new();
        write_list(&mut wire, &self.signatures, |wire, signature| wire.extend(signature));
        self.message.write(&mut wire);
        wire
    }
}

impl Message {
    /// The bytes that are signed.
    pub fn encode(&self) -> Vec<u8> {
        let mut wire = Vec::new();
        self.write(&mut wire);
        wire
    }

    /// The message signed by one of its signers, the others' signatures zero. `None` if the signer is none of them.
    pub fn signed(self, signer: &Address, signature: Signature) -> Option<Transaction> {
        let signers = self.keys.get(..self.signers.into())?;
        let place = signers.iter().position(|key| key == signer)?;
        let signatures = (0..signers.len()).map(|other| if other == place { signature } else { [0; 64] }).collect();
        Some(Transaction { signatures, message: self })
    }

    /// The calls of a program that is named among the message's own keys, as every called program is.
    pub fn calls(&self, program: &Address) -> impl Iterator<Item = &CompiledInstruction> {
        self.instructions.iter().filter(move |instruction| self.key(instruction.program) == Some(program))
    }

    /// The message's own key at an index.
    pub fn key(&self, index: u8) -> Option<&Address> {
        self.keys.get(usize::from(index))
    }

    /// How many accounts its indexes count: its own keys and the loaded ones.
    pub fn account_count(&self) -> usize {
        self.keys.len() + self.lookups.iter().map(|lookup| lookup.writable.len() + lookup.readonly.len()).sum::<usize>()
    }

    /// All of its accounts, the loaded ones as read from their tables: one reading for each lookup, in order.
    pub fn accounts(&self, tables: &[Loaded]) -> Result<Vec<Address>, Unresolved> {
        let fits = |(lookup, table): (&Lookup, &Loaded)| {
            lookup.table == table.table && lookup.writable.len() == table.writable.len() && lookup.readonly.len() == table.readonly.len()
        };
        if self.lookups.len() != tables.len() || !self.lookups.iter().zip(tables).all(fits) {
            return Err(Unresolved::OtherTables);
        }
        let writable = tables.iter().flat_map(|table| &table.writable);
        let readonly = tables.iter().flat_map(|table| &table.readonly);
        let loaded: Vec<Address> = writable.chain(readonly).copied().collect();
        let mut seen: HashSet<Address> = self.keys.iter().copied().collect();
        if !loaded.iter().all(|address| seen.insert(*address)) {
            return Err(Unresolved::Repeated);
        }
        Ok([&*self.keys, &*loaded].concat())
    }

    /// Whether the first call advances a durable nonce whose account the message does not name itself.
    fn loads_its_nonce(&self) -> bool {
        self.instructions.first().is_some_and(|first| {
            self.key(first.program) == Some(&system::PROGRAM)
                && first.data.starts_with(&system::ADVANCE_NONCE_ACCOUNT)
                && first.accounts.first().is_some_and(|&account| self.key(account).is_none())
        })
    }

    fn write(&self, wire: &mut Vec<u8>) {
        if self.versioned {
            wire.push(VERSIONED);
        }
        wire.extend([self.signers, self.readonly_signers, self.readonly_others]);
        write_list(wire, &self.keys, |wire, key| wire.extend(key.bytes()));
        wire.extend(self.blockhash);
        write_list(wire, &self.instructions, |wire, instruction| {
            wire.push(instruction.program);
            write_bytes(wire, &instruction.accounts);
            write_bytes(wire, &instruction.data);
        });
        if self.versioned {
            write_list(wire, &self.lookups, |wire, lookup| {
                wire.extend(lookup.table.bytes());
                write_bytes(wire, &lookup.writable);
                write_bytes(wire, &lookup.readonly);
            });
        }
    }
}

fn write_list<T>(wire: &mut Vec<u8>, items: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    write_length(wire, items.len());
    for item in items {
        write(wire, item);
    }
}

fn write_bytes(wire: &mut Vec<u8>, bytes: &[u8]) {
    write_length(wire, bytes.len());
    wire.extend(bytes);
}

/// A compact-u16: seven bits a byte, least first, with the high bit where more follow.
fn write_length(wire: &mut Vec<u8>, mut length: usize) {
    loop {
        let [low, ..] = length.to_le_bytes();
        length >>= 7;
        if length == 0 {
            return wire.push(low);
        }
        wire.push(low | 0x80);
    }
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn message(&mut self) -> Option<Message> {
        let versioned = self.0.first()? & VERSIONED != 0;
        if versioned && self.byte()? != VERSIONED {
            return None;
        }
        let (signers, readonly_signers, readonly_others) = (self.byte()?, self.byte()?, self.byte()?);
        let message = Message {
            versioned,
            signers,
            readonly_signers,
            readonly_others,
            keys: self.list(Self::address)?,
            blockhash: self.array()?,
            instructions: self.list(Self::instruction)?,
            lookups: if versioned { self.list(Self::lookup)? } else { Vec::new() },
        };
        let header_fits = readonly_signers < signers && usize::from(signers) + usize::from(readonly_others) <= message.keys.len();
        header_fits.then_some(message)
    }

    fn instruction(&mut self) -> Option<CompiledInstruction> {
        Some(CompiledInstruction { program: self.byte()?, accounts: self.bytes()?, data: self.bytes()? })
    }

    fn lookup(&mut self) -> Option<Lookup> {
        let lookup = Lookup { table: self.address()?, writable: self.bytes()?, readonly: self.bytes()? };
        (lookup.writable.len() + lookup.readonly.len() > 0).then_some(lookup)
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.length()?).map(|_| read(self)).collect()
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.length()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    fn length(&mut self) -> Option<usize> {
        let mut length = 0;
        for place in 0..3 {
            let byte = self.byte()?;
            length |= usize::from(byte & 0x7F) << (7 * place);
            if byte & 0x80 == 0 {
                // A last byte of zero adds nothing, so a shorter form stands for the same.
                return (length <= 0xFFFF && (byte != 0 || place == 0)).then_some(length);
            }
        }
        None
    }

    fn address(&mut self) -> Option<Address> {
        self.array().map(Address::from)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::solana::memo;

    fn key(byte: u8) -> Address {
        [byte; 32].into()
    }

    fn call(program: u8, accounts: &[u8], data: &[u8]) -> CompiledInstruction {
        CompiledInstruction { program, accounts: accounts.into(), data: data.into() }
    }

    fn lookup(table: u8, writable: &[u8], readonly: &[u8]) -> Lookup {
        Lookup { table: key(table), writable: writable.into(), readonly: readonly.into() }
    }

    /// Of a payer and one more signer, the system program and the memo program.
    fn sample() -> Transaction {
        let keys = vec![key(1), key(2), system::PROGRAM, memo::V3];
        let message = Message {
            versioned: true,
            signers: 2,
            readonly_signers: 1,
            readonly_others: 2,
            keys,
            blockhash: [9; 32],
            instructions: vec![call(3, &[], b"terms")],
            lookups: vec![],
        };
        Transaction { signatures: vec![[0; 64]; 2], message }
    }

    fn read(transaction: &Transaction) -> Result<Transaction, Refusal> {
        Transaction::read(Some(&encoding::base64(&transaction.encode()).into()))
    }

    #[test]
    fn only_the_shortest_whole_form_is_read() {
        let wire = sample().encode();
        assert_eq!(Transaction::decode(&wire), Some(sample()));
        for end in 0..wire.len() {
            assert_eq!(Transaction::decode(&wire[..end]), None, "{end}");
        }
        assert_eq!(Transaction::decode(&[&wire[..], &[0]].concat()), None);
        // The count of signatures in two bytes and in three.
        for count in [&[0x82, 0][..], &[0x82, 0x80, 0]] {
            assert_eq!(Transaction::decode(&[count, &wire[1..]].concat()), None);
        }
        // Of the versions, only 0.
        let version = 1 + 2 * 64;
        assert_eq!(wire[version], 0x80);
        for other in [0x81, 0xFF] {
            let mut wire = wire.clone();
            wire[version] = other;
            assert_eq!(Transaction::decode(&wire), None);
        }
        let mut legacy = sample();
        legacy.message.versioned = false;
        assert_eq!(read(&legacy), Ok(legacy));
    }

    #[test]
    fn lengths() {
        for length in [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 0xFFFF] {
            let mut wire = Vec::new();
            write_length(&mut wire, length);
            assert_eq!(Reader(&wire).length(), Some(length));
        }
        for wire in [&[][..], &[0x80], &[0x80, 0], &[0x80, 0x80, 0], &[0x80, 0x80, 4], &[0x80, 0x80, 0x80, 1]] {
            assert_eq!(Reader(wire).length(), None, "{wire:?}");
        }
    }

    #[test]
    fn a_header_fits_the_keys() {
        let with = |edit: fn(&mut Transaction)| {
            let mut transaction = sample();
            edit(&mut transaction);
            read(&transaction)
        };
        for edit in [
            (|t| t.signatures.truncate(1)) as fn(&mut Transaction),
            |t| t.signatures.push([0; 64]),
            |t| t.message.readonly_signers = 2,
            |t| t.message.readonly_others = 3,
            |t| t.message.keys.truncate(1),
            |t| (t.message.signers, t.signatures) = (0, vec![]),
            |t| t.message.lookups = vec![lookup(7, &[], &[])],
        ] {
            assert_eq!(with(edit), Err(TX_MALFORMED));
        }
        assert!(with(|t| t.message.keys[3] = t.message.keys[0]).is_ok());
        assert!(with(|t| t.message.instructions[0] = call(255, &[255], b"")).is_ok());
        assert!(with(|t| t.message.lookups = vec![lookup(7, &[], &[1])]).is_ok());
    }

    #[test]
    fn a_packet_is_the_bound() {
        let sized = |size: usize| {
            let mut transaction = sample();
            transaction.message.instructions[0].data = vec![0; 500];
            let rest = transaction.encode().len() - 500;
            transaction.message.instructions[0].data = vec![0; size - rest];
            assert_eq!(transaction.encode().len(), size);
            read(&transaction)
        };
        assert!(sized(1232).is_ok());
        assert_eq!(sized(1233), Err(TX_TOO_LARGE));
        let text = |length: usize| Transaction::read(Some(&"!".repeat(length).into()));
        assert_eq!(text(1648), Err(TX_MALFORMED));
        assert_eq!(text(1649), Err(TX_TOO_LARGE));
        for member in [None, Some(&Value::Null), Some(&1u32.into()), Some(&"".into())] {
            assert_eq!(Transaction::read(member), Err(TX_MALFORMED));
        }
    }

    #[test]
    fn a_nonce_account_is_the_messages_own() {
        let advancing = |place: usize, accounts: &[u8], data: &[u8]| {
            let mut transaction = sample();
            transaction.message.lookups = vec![lookup(7, &[0], &[])];
            transaction.message.instructions.insert(place, call(2, accounts, data));
            read(&transaction).err()
        };
        let advance = system::ADVANCE_NONCE_ACCOUNT;
        assert_eq!(advancing(0, &[4], &advance), Some(NONCE_ACCOUNT_NOT_STATIC));
        assert_eq!(advancing(0, &[4], &[4, 0, 0, 0, 9]), Some(NONCE_ACCOUNT_NOT_STATIC));
        assert_eq!(advancing(0, &[1, 4], &advance), None);
        assert_eq!(advancing(0, &[], &advance), None);
        assert_eq!(advancing(0, &[4], &advance[..3]), None);
        assert_eq!(advancing(1, &[4], &advance), None);
    }

    #[test]
    fn loaded_accounts_follow_the_messages_own() {
        let mut message = sample().message;
        message.lookups = vec![lookup(7, &[0, 1], &[2]), lookup(8, &[3], &[])];
        let loaded = |table: u8, writable: &[u8], readonly: &[u8]| Loaded {
            table: key(table),
            writable: writable.iter().copied().map(key).collect(),
            readonly: readonly.iter().copied().map(key).collect(),
        };
        let tables = [loaded(7, &[20, 21], &[22]), loaded(8, &[23], &[])];
        let expected = [&message.keys[..], &[20, 21, 23, 22].map(key)].concat();
        assert_eq!(message.accounts(&tables), Ok(expected));
        assert_eq!(message.account_count(), 8);
        for other in [
            vec![],
            vec![tables[1].clone(), tables[0].clone()],
            vec![tables[0].clone()],
            vec![loaded(7, &[20], &[22]), tables[1].clone()],
            vec![loaded(7, &[20, 21], &[]), tables[1].clone()],
        ] {
            assert_eq!(message.accounts(&other), Err(Unresolved::OtherTables));
        }
        for repeating in [loaded(8, &[1], &[]), loaded(8, &[22], &[])] {
            assert_eq!(message.accounts(&[tables[0].clone(), repeating]), Err(Unresolved::Repeated));
        }
        assert_eq!(sample().message.accounts(&[]), Ok(sample().message.keys));
    }

    #[test]
    fn a_signer_signs_in_its_place() {
        let signed = sample().message.signed(&key(2), [5; 64]).unwrap();
        assert_eq!(signed.signatures, [[0; 64], [5; 64]]);
        assert_eq!(sample().message.signed(&memo::V3, [5; 64]), None);
    }

    fn any_transaction() -> impl Strategy<Value = Transaction> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..200);
        let calls = prop::collection::vec((any::<u8>(), bytes(), bytes()), 0..5);
        let lookups = prop::collection::vec((any::<[u8; 32]>(), prop::collection::vec(any::<u8>(), 1..9), bytes()), 0..4);
        let keys = prop::collection::vec(any::<[u8; 32]>(), 1..40);
        (any::<bool>(), keys, any::<[u8; 3]>(), any::<[u8; 32]>(), calls, lookups).prop_map(|(versioned, keys, header, blockhash, calls, lookups)| {
            let count = u8::try_from(keys.len()).unwrap();
            let signers = header[0] % count + 1;
            let message = Message {
                versioned,
                signers,
                readonly_signers: header[1] % signers,
                readonly_others: header[2] % (count - signers + 1),
                keys: keys.into_iter().map(Address::from).collect(),
                blockhash,
                instructions: calls.into_iter().map(|(program, accounts, data)| CompiledInstruction { program, accounts, data }).collect(),
                lookups: lookups.into_iter().map(|(table, writable, readonly)| Lookup { table: table.into(), writable, readonly }).collect(),
            };
            let message = if versioned { message } else { Message { lookups: vec![], ..message } };
            Transaction { signatures: vec![[1; 64]; signers.into()], message }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(transaction in any_transaction()) {
            let wire = transaction.encode();
            prop_assert_eq!(&wire[1 + 64 * transaction.signatures.len()..], transaction.message.encode());
            prop_assert_eq!(Transaction::decode(&wire), Some(transaction));
        }

        /// Bytes that decode are the one form of what they hold.
        #[test]
        fn changed_bytes(transaction in any_transaction(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut wire = transaction.encode();
            for (place, byte) in edits {
                let place = place.index(wire.len());
                wire[place] = byte;
            }
            if let Some(transaction) = Transaction::decode(&wire) {
                prop_assert_eq!(transaction.encode(), wire);
            }
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(transaction) = Transaction::decode(&bytes) {
                prop_assert_eq!(transaction.encode(), bytes);
            }
        }
    }
}
