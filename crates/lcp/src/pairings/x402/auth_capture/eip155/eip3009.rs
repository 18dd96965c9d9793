//! `x402/auth-capture/eip155/eip3009`: H is in the salt of an escrow payment, whose hash is the nonce of an EIP-3009
//! `ReceiveWithAuthorization` to the escrow's collector.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::eip3009,
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        auth_capture::{Authorization, Terms, serves},
        document::Payment,
        eip155::{Payer, Signed, token_domain},
        option::absent_or,
    },
};

pub(crate) static PAIRING: X402<Eip3009> = X402(Eip3009);

pub(crate) struct Eip3009;

const AUTHORIZATION: Authorization = Authorization {
    name: "authorization",
    members: &["from", "to", "value", "validAfter", "validBefore", "nonce"],
    expiry: "validBefore",
    read_nonce: Hash::parse,
};

impl Scheme for Eip3009 {
    fn id(&self) -> &'static str {
        "x402/auth-capture/eip155/eip3009"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(option, |extra| absent_or(extra, "assetTransferMethod", &["eip3009"]))
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Payer::members(account, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let payer = Payer::of(chosen.choice)?;
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        let terms = Terms::served(option)?;
        let valid_before = payer.deadline(option)?;
        let payment = terms.payment(chosen.h, valid_before)?;
        let transfer = eip3009::Authorization {
            from: payer.from,
            to: terms.deployment.eip3009_collector,
            value: terms.amount(),
            valid_before,
            nonce: payment.nonce,
        };
        let request = transfer.request(eip3009::RECEIVE, token_domain(option)?);
        let members = payment.members(AUTHORIZATION.name, transfer.members());
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { request, members })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        AUTHORIZATION.bound(payment)
    }
}
