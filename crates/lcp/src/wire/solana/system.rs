//! The system program.

use super::{Account, Address, Instruction};

/// The program.
pub const PROGRAM: Address = Address::constant("11111111111111111111111111111111");

/// What a call that advances a durable nonce starts with.
pub const ADVANCE_NONCE_ACCOUNT: [u8; 4] = 4u32.to_le_bytes();

/// Moves lamports.
pub fn transfer(from: Address, to: Address, lamports: u64) -> Instruction {
    let data = [&2u32.to_le_bytes()[..], &lamports.to_le_bytes()].concat();
    Instruction { program: PROGRAM, accounts: vec![Account::writable(from).signs(), Account::writable(to)], data }
}
