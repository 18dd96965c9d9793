//! `x402/auth-capture/eip155/permit2`: H is in the salt of an escrow payment, whose hash is the nonce of a Permit2
//! transfer by the escrow's collector.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::{U256, permit2::Permit},
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        auth_capture::{Authorization, Terms, serves},
        document::Payment,
        eip155::{Payer, Signed},
        option::names,
        permit2,
    },
};

pub(crate) static PAIRING: X402<Permit2> = X402(Permit2);

pub(crate) struct Permit2;

const AUTHORIZATION: Authorization = Authorization {
    name: "permit2Authorization",
    members: &["from", "spender", "nonce", "deadline"],
    expiry: "deadline",
    read_nonce: permit2::nonce,
};

impl Scheme for Permit2 {
    fn id(&self) -> &'static str {
        "x402/auth-capture/eip155/permit2"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(option, |extra| names(extra, "assetTransferMethod", "permit2"))
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let payer = Payer::of(chosen.choice)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let terms = Terms::served(option)?;
        let deadline = payer.deadline(option)?;
        let payment = terms.payment(chosen.h, deadline)?;
        let permit = Permit {
            token: terms.places.asset,
            amount: terms.amount(),
            spender: terms.deployment.permit2_collector,
            nonce: U256::from(payment.nonce),
            deadline,
        };
        let request = permit.request(terms.places.chain_id, None);
        let members = payment.members(AUTHORIZATION.name, permit2::authorization(&permit, payer.from, &permit.nonce.to_string()));
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { request, members })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        AUTHORIZATION.bound(payment)
    }
}
