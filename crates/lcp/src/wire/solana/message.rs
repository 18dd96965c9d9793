use super::{Address, Blockhash, Signature, system};
use crate::{Refusal, Value, encoding};

const TX_MALFORMED: Refusal = Refusal::new("svm/tx-malformed");
const TX_TOO_LARGE: Refusal = Refusal::new("svm/tx-too-large");
const NONCE_ACCOUNT_NOT_STATIC: Refusal = Refusal::new("svm/nonce-account-not-static");

/// Most bytes of a transaction: what one packet carries.
pub const MAX_WIRE: usize = 1232;

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

impl Transaction {
    /// Reads a transaction from base64, as a payment's member holds it. One that loads the account of its durable nonce from
    /// a table is refused: the runtime takes no such nonce.
    pub fn read(member: Option<&Value>) -> Result<Self, Refusal> {
        let text = member.and_then(Value::as_text).ok_or(TX_MALFORMED)?;
        if text.utf16_len() > MAX_WIRE.div_ceil(3) * 4 {
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
    while length >= 0x80 {
        wire.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    wire.push((length & 0x7F) as u8);
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
