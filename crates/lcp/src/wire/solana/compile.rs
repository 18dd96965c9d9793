use super::{Address, Blockhash, CompiledInstruction, Message};

/// A call of a program, its accounts by their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The program.
    pub program: Address,
    /// Its accounts, in the order it asks for.
    pub accounts: Vec<Account>,
    /// What it is told.
    pub data: Vec<u8>,
}

/// An account of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    address: Address,
    signs: bool,
    writable: bool,
}

impl Account {
    /// One that is only read.
    pub const fn readonly(address: Address) -> Self {
        Self { address, signs: false, writable: false }
    }

    /// One that is written.
    pub const fn writable(address: Address) -> Self {
        Self { address, signs: false, writable: true }
    }

    /// The same, and it signs.
    #[must_use]
    pub const fn signs(self) -> Self {
        Self { signs: true, ..self }
    }
}

/// Compiles calls to a version 0 message without lookups, the accounts in the order of `@solana/kit`. `None` if a called
/// program is written (the fee payer is), or the accounts are more than 256.
pub fn compile(fee_payer: Address, blockhash: Blockhash, instructions: &[Instruction]) -> Option<Message> {
    let mut accounts = vec![Account::writable(fee_payer).signs()];
    let programs = || instructions.iter().map(|instruction| instruction.program);
    let named = instructions.iter().flat_map(|instruction| instruction.accounts.iter().copied());
    for named in named.chain(programs().map(Account::readonly)) {
        match accounts.iter_mut().find(|account| account.address == named.address) {
            Some(account) => {
                account.signs |= named.signs;
                account.writable |= named.writable;
            }
            None => accounts.push(named),
        }
    }
    if programs().any(|program| accounts.iter().any(|account| account.address == program && account.writable)) {
        return None;
    }
    accounts.sort_by_cached_key(|account| (account.address != fee_payer, !account.signs, !account.writable, collated(&account.address)));

    let index = |address: Address| accounts.iter().position(|account| account.address == address).and_then(|place| u8::try_from(place).ok());
    let instructions = instructions
        .iter()
        .map(|instruction| {
            let accounts = instruction.accounts.iter().map(|account| index(account.address)).collect::<Option<_>>()?;
            Some(CompiledInstruction { program: index(instruction.program)?, accounts, data: instruction.data.clone() })
        })
        .collect::<Option<_>>()?;
    let count = |which: fn(&&Account) -> bool| u8::try_from(accounts.iter().filter(which).count()).ok();
    Some(Message {
        versioned: true,
        signers: count(|account| account.signs)?,
        readonly_signers: count(|account| account.signs && !account.writable)?,
        readonly_others: count(|account| !account.signs && !account.writable)?,
        keys: accounts.iter().map(|account| account.address).collect(),
        blockhash,
        instructions,
        lookups: Vec::new(),
    })
}

/// Orders addresses as `@solana/kit` collates their base58: digits before letters, letters without regard to case, and
/// among texts that differ only in case, lower case first.
fn collated(address: &Address) -> (String, Vec<bool>) {
    let text = address.to_string();
    (text.to_ascii_lowercase(), text.bytes().map(|letter| letter.is_ascii_uppercase()).collect())
}
