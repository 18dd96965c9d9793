//! The memo program.

use super::{Address, Instruction, Message};

/// Version 3, which payments built here call.
pub const V3: Address = Address::constant("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
/// Version 4.
pub const V4: Address = Address::constant("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH");

/// Writes a memo that nobody signs in particular.
pub fn write(text: &str) -> Instruction {
    Instruction { program: V3, accounts: Vec::new(), data: text.into() }
}

/// The memos that a message writes, in order.
pub fn written(message: &Message) -> impl Iterator<Item = &[u8]> {
    let is_memo = |program: &Address| [V3, V4].contains(program);
    message.instructions.iter().filter(move |call| message.key(call.program).is_some_and(is_memo)).map(|call| &*call.data)
}
