//! `x402/exact/eip155/erc7710`: a delegation is redeemed; H is only echoed in the payment's legal context, so an
//! agreement is paid first.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    x402::{
        Order, Scheme, Unserved, X402,
        document::{NO_LEGAL_CONTEXT, Payment, echoed_hash_of_any_link},
        eip155::Payer,
        erc7710,
    },
};

pub(crate) static PAIRING: X402<Erc7710> = X402(Erc7710);

pub(crate) struct Erc7710;

impl Scheme for Erc7710 {
    fn id(&self) -> &'static str {
        "x402/exact/eip155/erc7710"
    }

    fn public_proof(&self) -> bool {
        false
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
        erc7710::payload(payment)?;
        echoed_hash_of_any_link(payment.whole).ok_or(NO_LEGAL_CONTEXT)
    }
}
