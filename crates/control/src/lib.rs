//! The payment control plane, pure: money, time, policy, and the decision on a payment request.
//!
//! Nothing here does I/O, reads a clock or draws randomness: facts, the time and fresh ids are passed in, and the same
//! facts give the same answer.

pub mod card_number;
pub mod confusable;
pub mod decision;
pub mod fault;
pub mod ids;
pub mod intent;
pub mod money;
pub mod payee;
pub mod pointer;
pub mod policy;
mod read;
pub mod request;
pub mod time;
pub mod window;

pub use fault::{Fault, FaultCode};
pub use ids::Ids;
pub use money::{Asset, Currency, Money};
pub use pointer::Pointer;
pub use time::Instant;
