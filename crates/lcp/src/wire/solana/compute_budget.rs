//! The compute budget program.

use super::{Address, Instruction};

/// The program.
pub const PROGRAM: Address = Address::constant("ComputeBudget111111111111111111111111111111");

/// Limits a transaction's compute units, and offers a price for each, in micro-lamports.
pub fn limit_and_price(limit: u32, price: u64) -> [Instruction; 2] {
    let call = |kind: u8, value: &[u8]| Instruction { program: PROGRAM, accounts: Vec::new(), data: [&[kind], value].concat() };
    [call(2, &limit.to_le_bytes()), call(3, &price.to_le_bytes())]
}
