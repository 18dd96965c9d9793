//! The buyer gate: before an agent's wallet signs, the gate fetches the seller's record (the ATR), compares its SHA-256
//! with the advertised hash H, builds the payment over the H it computed, and reads H back from what was signed.
//!
//! [`Gate`] holds what reaches outside: a [`Fetch`] and an [`Env`]. [`finish`], [`check`], [`open_channel`] and
//! [`record_charge`] are pure.

mod agreement;
mod channel;
mod check;
mod confirm;
mod decline;
mod env;
mod fetch;
mod finish;
mod results;
mod signer;
mod signing;
mod transact;

pub use agreement::{Approve, Exchanged, agreement_of};
pub use channel::{ChannelPayment, open_channel, record_charge};
pub use check::check;
pub use confirm::{Chosen, Confirmed, is_receipt};
pub use decline::{Decline, Moved};
pub use env::Env;
pub use fetch::{Body, Fetch, FetchFailed, Request, Response};
pub use finish::{Finished, finish};
pub use results::{atr_json, held_json};
pub use signer::{NoSigner, Signer, SignerFailed};
pub use tokio_util::sync::CancellationToken;
pub use transact::{Transact, Transacted};

use lcp::{DeclineCode, Declined, Object, Pairing, Refusal, Value};

/// The largest ATR, in bytes.
pub const MAX_ATR: usize = 1 << 20;

/// The gate's operations that reach outside: over a network and a clock.
#[derive(Clone, Debug)]
pub struct Gate<F, E> {
    fetch: F,
    env: E,
}

impl<F: Fetch, E: Env> Gate<F, E> {
    /// A gate over this network, clock and randomness.
    pub fn new(fetch: F, env: E) -> Self {
        Self { fetch, env }
    }

    /// 24 random bytes as 32 characters: the reference of a payment.
    fn draw_reference(&self) -> Value {
        let mut bytes = [0; 24];
        self.env.random(&mut bytes);
        lcp::encoding::base64url(&bytes).into()
    }
}

/// The pairing of an id, or the decline for one that this gate cannot pay.
pub fn pairing(id: &str) -> Result<&'static dyn Pairing, Declined> {
    lcp::registry::pairing(id)
        .ok_or_else(|| Declined::because(DeclineCode::PairingNotSupported, format!("This gate does not pay the pairing {id:?}.")))
}

/// The buyer's inputs: absent and null are none.
fn inputs_of(inputs: Option<&Value>, namespace: &str) -> Result<Object, Declined> {
    match inputs {
        None | Some(Value::Null) => Ok(Object::new()),
        Some(Value::Object(inputs)) => Ok(Object::clone(inputs)),
        Some(_) => Err(input_malformed(namespace)),
    }
}

fn input_malformed(namespace: &str) -> Declined {
    Declined::refused(DeclineCode::NoPayableOption, &Refusal::of(namespace, "input-malformed"))
}
