//! Ways money moves.

mod sandbox_card;

pub use sandbox_card::SandboxCard;
