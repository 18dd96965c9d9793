//! EIP-3009: transfers of a token by its holder's signed authorization.

use super::{DOMAIN, Type, Word, typed_data_request};
use crate::{Object, Value, encoding};

const MEMBERS: [(&str, &str); 6] =
    [("from", "address"), ("to", "address"), ("value", "uint256"), ("validAfter", "uint256"), ("validBefore", "uint256"), ("nonce", "bytes32")];

/// A transfer that anyone may submit.
pub const TRANSFER: Type<'static> = ("TransferWithAuthorization", &MEMBERS);

/// A transfer that only its receiver may submit.
pub const RECEIVE: Type<'static> = ("ReceiveWithAuthorization", &MEMBERS);

/// An authorization that is valid at once.
#[derive(Clone, Debug)]
pub struct Authorization<'a> {
    /// The holder.
    pub from: &'a str,
    /// The receiver.
    pub to: &'a str,
    /// In the token's smallest unit, decimal.
    pub value: String,
    /// Unix seconds.
    pub valid_before: u64,
    /// The nonce, which the token takes once.
    pub nonce: Word,
}

impl Authorization<'_> {
    /// The authorization's members, integers as decimal strings.
    pub fn members(&self) -> Object {
        Object::new()
            .with("from", self.from)
            .with("to", self.to)
            .with("value", self.value.as_str())
            .with("validAfter", "0")
            .with("validBefore", self.valid_before.to_string())
            .with("nonce", encoding::hex(&self.nonce))
    }

    /// The signing request, for [`TRANSFER`] or [`RECEIVE`], in the token's domain (name, version, chain id, contract).
    pub fn request(&self, kind: Type<'_>, token: Object) -> Value {
        typed_data_request(token, &[DOMAIN, kind], self.members())
    }
}
