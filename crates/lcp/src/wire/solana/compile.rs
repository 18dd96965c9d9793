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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::solana::{memo, system};

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn collation() {
        // As Intl.Collator sorts them with lower case first.
        let sorted = [
            "11111111111111111111111111111111",
            "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
            "75c2huVzDW1Eq4kD86by5392sjdJzuAT195XNgP2f2tX",
            "AKkzLhjhyFtM9j7WAhbaqYpFe49cXeJBg2kzLRC2PnNa",
            "AxBgg6rv37D9YhUefmRxD5RcYnjLYFGqtz3z9MhiS2K3",
            "CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX",
            "CNRcamMbSQwrsAsBJbDo68uAWEvpVvqhDeDrCaRt7hym",
            "ComputeBudget111111111111111111111111111111",
            "txr9qfMZaR3ju5pH6U9J5xi9bquW62N8pFd8KZqMs5D",
            "UqQViLwSaDW89CN7QBSzzBffM56aaQUHcUxECrSCxtb",
        ];
        assert!(sorted.is_sorted_by_key(|text| collated(&address(text))));
        // Two that differ in the case of their last letters alone.
        let cases = ["4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncda", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncdA"];
        assert!(cases.is_sorted_by_key(|text| collated(&address(text))));
    }

    #[test]
    fn an_account_has_all_that_the_calls_ask_of_it() {
        let [payer, other] = [[1; 32], [2; 32]].map(Address::from);
        let asks = |accounts: &[Account]| Instruction { program: memo::V3, accounts: accounts.into(), data: vec![] };
        let calls = [asks(&[Account::readonly(other).signs(), Account::readonly(payer)]), asks(&[Account::writable(other)])];
        let message = compile(payer, [0; 32], &calls).unwrap();
        assert_eq!((message.signers, message.readonly_signers, message.readonly_others), (2, 0, 1));
        assert_eq!(message.keys, [payer, other, memo::V3]);
        let calls: Vec<_> = message.instructions.iter().map(|call| (call.program, &*call.accounts)).collect();
        assert_eq!(calls, [(2, &[1, 0][..]), (2, &[1])]);
    }

    #[test]
    fn a_called_program_is_not_written() {
        let payer = Address::from([1; 32]);
        assert!(compile(payer, [0; 32], &[memo::write("")]).is_some());
        assert_eq!(compile(memo::V3, [0; 32], &[memo::write("")]), None);
        assert_eq!(compile(payer, [0; 32], &[system::transfer(payer, memo::V3, 1), memo::write("")]), None);
        assert_eq!(compile(payer, [0; 32], &[system::transfer(payer, system::PROGRAM, 1)]), None);
    }

    #[test]
    fn at_most_256_accounts() {
        let call = |count: u16| {
            let accounts = (0..count).map(|n| Account::readonly(crate::Hash::of(&n.to_be_bytes()).bytes().to_owned().into())).collect();
            compile([1; 32].into(), [0; 32], &[Instruction { program: memo::V3, accounts, data: vec![] }])
        };
        assert_eq!(call(254).map(|message| message.keys.len()), Some(256));
        assert_eq!(call(255), None);
    }

    proptest! {
        /// Whatever is called, the message reads back, names each account once, and every index leads to what was asked for.
        #[test]
        fn any_calls(calls in prop::collection::vec((1u8..6, prop::collection::vec((1u8..20, any::<bool>(), any::<bool>()), 0..6)), 0..5)) {
            let key = |byte: u8| Address::from([byte; 32]);
            let account = |&(byte, signs, writable): &(u8, bool, bool)| Account { address: key(byte), signs, writable };
            let calls: Vec<_> = calls
                .iter()
                .map(|(program, accounts)| Instruction { program: key(100 + program), accounts: accounts.iter().map(account).collect(), data: vec![*program] })
                .collect();
            let message = compile(key(1), [7; 32], &calls).unwrap();
            let unique: std::collections::HashSet<_> = message.keys.iter().collect();
            prop_assert_eq!(unique.len(), message.keys.len());
            prop_assert_eq!(message.keys.first(), Some(&key(1)));
            for (call, compiled) in calls.iter().zip(&message.instructions) {
                prop_assert_eq!(message.key(compiled.program), Some(&call.program));
                for (account, &index) in call.accounts.iter().zip(&compiled.accounts) {
                    prop_assert_eq!(message.key(index), Some(&account.address));
                    prop_assert!(!account.signs || index < message.signers);
                }
            }
            let signed = message.clone().signed(&key(1), [3; 64]).unwrap();
            prop_assert_eq!(crate::wire::solana::Transaction::decode(&signed.encode()).map(|read| read.message), Some(message));
        }
    }
}
