//! Wallet V5: requests that another account delivers, signed by the owner.

use super::{BOC_MALFORMED, Builder, Cell, Slice};
use crate::Refusal;

const NOT_W5_SIGNED: Refusal = Refusal::new("tvm/not-w5-signed");
const ACTIONS: Refusal = Refusal::new("tvm/actions");

/// A request in an internal message.
const SIGNED_INTERNAL: u128 = 0x7369_6E74;
const SEND_MESSAGE: u128 = 0x0EC3_C86D;

const SIGNATURE_BITS: usize = 512;
/// The operation, three numbers, and two bits.
const REQUEST_BITS: usize = 4 * 32 + 2;

/// An Ed25519 signature.
pub type Signature = [u8; 64];

/// A request to send one message.
pub struct Request {
    /// Names the wallet and its network.
    pub wallet_id: u32,
    /// Unix seconds.
    pub valid_until: u32,
    /// How many requests went before.
    pub seqno: u32,
    /// How the message is sent.
    pub mode: u8,
    /// The message.
    pub message: Cell,
}

/// A request before it is signed.
#[derive(Clone)]
pub struct Unsigned(Builder);

impl Request {
    /// The request. `None` if it is too deep.
    pub fn build(self) -> Option<Unsigned> {
        let none = Builder::new().build()?;
        let actions = Builder::new().uint(SEND_MESSAGE, 32).uint(self.mode.into(), 8).reference(none).reference(self.message).build()?;
        let numbers = [self.wallet_id, self.valid_until, self.seqno];
        let head = numbers.iter().fold(Builder::new().uint(SIGNED_INTERNAL, 32), |builder, &number| builder.uint(number.into(), 32));
        // Actions, and no other ones.
        Some(Unsigned(head.bit(true).reference(actions).bit(false)))
    }
}

impl Unsigned {
    /// What the owner signs.
    pub fn hash(&self) -> Option<[u8; 32]> {
        self.0.clone().build().map(|cell| cell.hash())
    }

    /// The request with its signature.
    pub fn signed(&self, signature: &Signature) -> Option<Cell> {
        self.0.clone().bytes(signature).build()
    }
}

/// The one message that a signed request sends, and its mode. The signature is the last 512 bits, whatever stands before.
pub fn sent(mut request: Slice<'_>) -> Result<(u8, &Cell), Refusal> {
    if request.bits_left() < REQUEST_BITS + SIGNATURE_BITS || request.uint(32) != Some(SIGNED_INTERNAL) || request.skip(3 * 32).is_none() {
        return Err(NOT_W5_SIGNED);
    }
    let [has_actions, has_others] = [request.bit(), request.bit()];
    if has_actions != Some(true) || has_others != Some(false) {
        return Err(ACTIONS);
    }
    let mut actions = request.reference().ok_or(ACTIONS)?.parse().ok_or(BOC_MALFORMED)?;
    let mut only = || {
        let sends = actions.uint(32)? == SEND_MESSAGE;
        let mode = actions.uint(8)?.try_into().ok()?;
        let before = actions.reference()?.parse()?;
        let message = actions.reference()?;
        (sends && before.is_empty() && actions.is_empty()).then_some((mode, message))
    };
    only().ok_or(ACTIONS)
}

/// Whether a validator sends a message in this mode: no bits that it does not know, and not both all of the balance and
/// all of what came in.
pub fn is_mode(mode: u8) -> bool {
    mode & 0x0C == 0 && mode & 0xC0 != 0xC0
}
