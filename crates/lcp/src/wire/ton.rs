//! TON's cells and bags of them, internal messages, requests to a V5 wallet, and transfers of jettons.
//!
//! Our own codec: messages are read by the rules a validator holds them to, which the published crates do not know.

mod address;
mod bag;
mod cell;
pub mod jetton;
pub mod message;
mod slice;
pub mod wallet;

pub use address::Address;
pub use bag::{BOC_MALFORMED, MAX_BAG, decode, decode_text, encode};
pub use cell::{Builder, Cell};
pub use slice::Slice;
