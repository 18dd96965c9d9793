//! The token programs, and the accounts that hold an owner's tokens.

use super::{Account, Address, Instruction};

/// The token program.
pub const PROGRAM: Address = Address::constant("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// Token-2022.
pub const PROGRAM_2022: Address = Address::constant("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
/// The program that derives and makes token accounts.
pub const ASSOCIATED_PROGRAM: Address = Address::constant("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/// The token program that a text names.
pub fn program(text: &str) -> Option<Address> {
    Address::parse(text).filter(|address| [PROGRAM, PROGRAM_2022].contains(address))
}

/// The account that holds an owner's tokens of a mint.
pub fn associated_account(owner: &Address, mint: &Address, program: &Address) -> Option<Address> {
    Address::derived(&[owner.bytes(), program.bytes(), mint.bytes()], &ASSOCIATED_PROGRAM)
}

/// Moves tokens of one owner's associated account to another's, if the mint has these decimals. `None` if an account
/// cannot be derived.
pub fn transfer_checked(program: Address, mint: Address, from: Address, to: Address, amount: u64, decimals: u8) -> Option<Instruction> {
    let accounts = vec![
        Account::writable(associated_account(&from, &mint, &program)?),
        Account::readonly(mint),
        Account::writable(associated_account(&to, &mint, &program)?),
        Account::readonly(from).signs(),
    ];
    let data = [&[12], &amount.to_le_bytes()[..], &[decimals]].concat();
    Some(Instruction { program, accounts, data })
}
