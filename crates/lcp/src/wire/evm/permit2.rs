//! Permit2: transfers of any token by its holder's signature, through one contract.

use super::{Type, U256, UNVERSIONED_DOMAIN, typed_data_request};
use crate::{Object, Value};

/// The contract, at the same address on every chain.
pub const CONTRACT: &str = "0x000000000022D473030F116dDEE9F6B43aC78BA3";

const TOKEN_PERMISSIONS: Type<'static> = ("TokenPermissions", &[("token", "address"), ("amount", "uint256")]);

/// A permit to move a token once.
#[derive(Clone, Debug)]
pub struct Permit<'a> {
    /// The token.
    pub token: &'a str,
    /// In the token's smallest unit, decimal.
    pub amount: String,
    /// Who may move it.
    pub spender: &'a str,
    /// The nonce, which the contract takes once for a holder.
    pub nonce: U256,
    /// Unix seconds.
    pub deadline: u64,
}

impl Permit<'_> {
    /// The token and the amount, as the message and payloads name them.
    pub fn permitted(&self) -> Object {
        Object::new().with("token", self.token).with("amount", self.amount.as_str())
    }

    /// The signing request on a chain, with what else is signed (the witness) where the spender asks for it.
    pub fn request(&self, chain_id: u64, witness: Option<(Type<'_>, Object)>) -> Value {
        self.request_at(CONTRACT, chain_id, &[], witness)
    }

    /// The signing request of a contract that may stand at another address, for this amount and `more` amounts of the
    /// token: with any, a batch.
    pub fn request_at(&self, contract: &str, chain_id: u64, more: &[String], witness: Option<(Type<'_>, Object)>) -> Value {
        let domain = Object::new().with("name", "Permit2").with("chainId", chain_id).with("verifyingContract", contract);
        let permitted = self.permitted();
        let (permitted, kind, names) = if more.is_empty() {
            (Value::from(permitted), "TokenPermissions", ["PermitTransferFrom", "PermitWitnessTransferFrom"])
        } else {
            let more = more.iter().map(|amount| permitted.clone().with("amount", amount.as_str()));
            let all: Vec<Value> = std::iter::once(permitted.clone()).chain(more).map(Value::from).collect();
            (all.into(), "TokenPermissions[]", ["PermitBatchTransferFrom", "PermitBatchWitnessTransferFrom"])
        };
        let message = Object::new()
            .with("permitted", permitted)
            .with("spender", self.spender)
            .with("nonce", self.nonce.to_string())
            .with("deadline", self.deadline.to_string());
        let [plain, witnessed] = names;
        let mut members = vec![("permitted", kind), ("spender", "address"), ("nonce", "uint256"), ("deadline", "uint256")];
        match witness {
            None => typed_data_request(domain, &[UNVERSIONED_DOMAIN, TOKEN_PERMISSIONS, (plain, &members)], message),
            Some((kind, witness)) => {
                members.push(("witness", kind.0));
                let types = [UNVERSIONED_DOMAIN, TOKEN_PERMISSIONS, kind, (witnessed, &members)];
                typed_data_request(domain, &types, message.with("witness", witness))
            }
        }
    }
}
