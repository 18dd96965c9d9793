//! Ways money moves.

pub mod sandbox_card;

pub use sandbox_card::SandboxCard;
