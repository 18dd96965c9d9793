//! `x402/exact/eip155/erc7710-salt`: H is the salt of the leaf delegation that the reference manager redeems.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::delegation,
    x402::{
        Order, Scheme, Unserved, X402,
        document::Payment,
        eip155::{Payer, chain_id},
        erc7710::{self, PERMISSION_CONTEXT_MALFORMED},
    },
};

pub(crate) static PAIRING: X402<Erc7710Salt> = X402(Erc7710Salt);

pub(crate) struct Erc7710Salt;

const MANAGER_NOT_REFERENCE: Refusal = Refusal::new("x402/manager-not-reference");
const DELEGATION_EMPTY: Refusal = Refusal::new("x402/delegation-empty");

impl Scheme for Erc7710Salt {
    fn id(&self) -> &'static str {
        "x402/exact/eip155/erc7710-salt"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        erc7710::serves(option)
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        erc7710::build(self, chosen)
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = erc7710::payload(payment)?;
        let text = |name| payload.get(name).and_then(Value::as_str);
        // Another manager could read another salt, or none, from the same context.
        let reference = chain_id(payment.accepted)
            .zip(text("delegationManager"))
            .is_some_and(|(chain, manager)| delegation::is_reference_manager(chain, manager));
        if !reference {
            return Err(MANAGER_NOT_REFERENCE);
        }
        let context = text("permissionContext").and_then(encoding::from_hex).ok_or(PERMISSION_CONTEXT_MALFORMED)?;
        let salt = delegation::leaf_salt(&context).map_err(|_| PERMISSION_CONTEXT_MALFORMED)?;
        salt.map(Hash::from).ok_or(DELEGATION_EMPTY)
    }
}
