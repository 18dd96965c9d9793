//! `x402/upto/eip155/permit2`: H is the nonce of a Permit2 transfer of at most the named amount, through x402's upto
//! proxy, which only the option's facilitator can use.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm,
    x402::{
        Order, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, Payment},
        eip155::{Payer, Places, is_payable},
        option::{extra, names},
        permit2::{NonceForm, Proxy},
    },
};

pub(crate) static PAIRING: X402<Permit2> = X402(Permit2);

pub(crate) struct Permit2;

const FACILITATOR_MISSING: Refusal = Refusal::new("x402/facilitator-missing");

const PROXY: Proxy = Proxy {
    address: "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
    witness: ("Witness", &[("to", "address"), ("facilitator", "address"), ("validAfter", "uint256")]),
    nonce: NonceForm::Hex,
};

impl Scheme for Permit2 {
    fn id(&self) -> &'static str {
        "x402/upto/eip155/permit2"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let extra = extra(option).ok_or(Unserved::Other)?;
        if !names(option, "scheme", "upto") || Places::of(option).is_none() {
            return Err(Unserved::Other);
        }
        facilitator(extra).map_err(Unserved::Refused)?;
        if is_payable(option) { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        PROXY.build(self, chosen, |option| {
            let facilitator = facilitator(extra(option).ok_or(OPTION_MALFORMED)?)?;
            Ok(Object::new().with("to", Places::served(option)?.pay_to).with("facilitator", facilitator).with("validAfter", "0"))
        })
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        PROXY.bound(payment)
    }
}

fn facilitator(extra: &Object) -> Result<&str, Refusal> {
    evm::address(extra, "facilitatorAddress").ok_or(FACILITATOR_MISSING)
}
