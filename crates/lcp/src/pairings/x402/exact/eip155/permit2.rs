//! `x402/exact/eip155/permit2`: H is the nonce of a Permit2 transfer through x402's exact proxy.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    x402::{
        Order, Scheme, Unserved, X402,
        document::Payment,
        eip155::{Payer, Places, serves_exact},
        permit2::{NonceForm, Proxy},
    },
};

pub(crate) static PAIRING: X402<Permit2> = X402(Permit2);

pub(crate) struct Permit2;

const PROXY: Proxy = Proxy {
    address: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
    witness: ("Witness", &[("to", "address"), ("validAfter", "uint256")]),
    nonce: NonceForm::Decimal,
};

impl Scheme for Permit2 {
    fn id(&self) -> &'static str {
        "x402/exact/eip155/permit2"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves_exact("permit2", option)
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        PROXY.build(self, chosen, |option| Ok(Object::new().with("to", Places::served(option)?.pay_to).with("validAfter", "0")))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        PROXY.bound(payment)
    }
}
