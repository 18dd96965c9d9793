//! Rails, the ways money moves, as the core sees them.

use std::fmt;

use lcp::Object;

use crate::{Ids, Instant, Money, fault::codes, ids::MandateId, request::Protocol};

/// A way money moves.
pub trait Rail: Send + Sync {
    /// Its name, such as `sandbox_card`.
    fn name(&self) -> &str;

    /// Whether it serves checkouts of a protocol.
    fn serves(&self, protocol: Protocol) -> bool;

    /// A credential that is good for one payment of at most the amount, until the mandate expires.
    fn issue(&self, mandate: &MandateId, amount: &Money, expires_at: Instant, ids: &mut dyn Ids) -> Result<Credential, RailError>;
}

/// What a payee is given to take a payment with. It is good once.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// Who can take it.
    pub handler_id: String,
    /// The secret.
    pub token: String,
    /// What may be shown of it.
    pub display: Vec<(String, String)>,
}

codes! {
    /// Why a rail has no credential.
    pub enum RailReason {
        /// No rail serves the checkout's protocol.
        RailUnavailable = "rail_unavailable",
        /// The rail did not issue one.
        RailError = "rail_error",
    }
}

/// A rail that did not issue a credential: nothing was paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailError {
    /// The stable reason.
    pub reason: RailReason,
    /// What happened, in a sentence for the person.
    pub message: String,
    /// What to do next.
    pub next_step: String,
}

impl Credential {
    /// `{"type", "handler_id", "token", "display"}`, secret and all.
    pub fn to_json(&self) -> Object {
        self.shown().with("token", self.token.as_str())
    }

    /// The same without the secret.
    pub fn shown(&self) -> Object {
        let display = self.display.iter().fold(Object::new(), |object, (name, text)| object.with(name.as_str(), text.as_str()));
        Object::new().with("type", "token").with("handler_id", self.handler_id.as_str()).with("display", display)
    }
}

/// The secret stays out.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("handler_id", &self.handler_id).finish_non_exhaustive()
    }
}
