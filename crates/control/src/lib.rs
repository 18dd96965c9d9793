//! The payment control plane, pure: money, time, policy, and the decision on a payment request.
//!
//! Nothing here does I/O, reads a clock or draws randomness: facts, the time and fresh ids are passed in, and the same
//! facts give the same answer.

pub mod access;
pub mod actor;
pub mod agent;
pub mod card_number;
pub mod confusable;
pub mod consent;
pub mod decision;
pub mod fault;
pub mod ids;
pub mod intent;
pub mod linked;
pub mod mandate;
pub mod money;
pub mod payee;
pub mod payment;
pub mod pointer;
pub mod policy;
pub mod rail;
mod read;
pub mod refusal;
pub mod request;
pub mod seller;
pub mod settings;
mod stored;
pub mod time;
pub mod window;

pub use fault::{Fault, FaultCode};
pub use ids::Ids;
pub use money::{Asset, Currency, Money};
pub use pointer::Pointer;
pub use refusal::{Refusal, RefusalKind};
pub use time::Instant;
