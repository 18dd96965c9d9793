//! `x402/exact/hedera`: H is the memo of the transaction that moves the asset.

pub(crate) mod transfer_executor;

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    hedera::{self, Inputs, OPTION_MALFORMED, Sending, body_request},
    inputs,
    pairing::{Buyer, Choice, Unsigned},
    wire::hedera::{self as wire, EntityId, Token, TransactionId, Transfer},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, Payment, SIGNATURE_MALFORMED},
        hedera::{Method, price, serves},
        judge_order,
        option::extra,
    },
};

pub(crate) static PAIRING: X402<Exact> = X402(Exact);

pub(crate) struct Exact;

const NO_MEMO: Refusal = Refusal::new("hedera/no-memo");
const MEMO_NOT_LCP: Refusal = Refusal::new("hedera/memo-not-lcp");

const FEE_PAYER: &str = "feePayer";
const DECIMALS: &str = "decimals";

impl Scheme for Exact {
    fn id(&self) -> &'static str {
        "x402/exact/hedera"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(Method::CryptoTransfer, option, |extra| EntityId::of(extra, FEE_PAYER).is_some())
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        EntityId::parse(&account.address).ok_or(NO_PAYABLE_OPTION)?;
        let inputs = Inputs::of(buyer.inputs).and_then(|inputs| inputs.members()).map_err(|_| INPUT_MISSING)?;
        let decimals = inputs::member(buyer.inputs, DECIMALS, Value::as_safe_unsigned).map_err(|_| INPUT_MISSING)?;
        Ok(inputs.with("payer", account.address.as_str()).with_some(DECIMALS, decimals))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        hedera::judge_decimals(choice).map_err(|_| CHOICE_MALFORMED)?;
        let sending = Sending::of(choice).ok_or(OPTION_MALFORMED)?;
        let decimals = decimals(choice)?;
        let order = Order::of(self, choice)?;
        let body = body(order.option()?, &sending, decimals, &chosen.h.lcp_string()).ok_or(OPTION_MALFORMED)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { body })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let transaction = hedera::transaction(payment.payload()?)?;
        match wire::memo(&transaction)? {
            "" => Err(NO_MEMO),
            memo => Hash::from_lcp_string(memo).ok_or(MEMO_NOT_LCP),
        }
    }
}

/// The decimals that a choice asks the token to have, if it does.
fn decimals(choice: &Object) -> Result<Option<u32>, Refusal> {
    let decimals = inputs::member(choice, DECIMALS, |decimals| decimals.as_safe_unsigned().and_then(|decimals| u32::try_from(decimals).ok()));
    decimals.map_err(|_| OPTION_MALFORMED)
}

/// The body of the transaction that pays an option.
fn body(option: &Object, sending: &Sending, decimals: Option<u32>, memo: &str) -> Option<Vec<u8>> {
    let price = price(option)?;
    let asset = EntityId::of(option, "asset").filter(|asset| *asset != EntityId::ZERO);
    let transfer = Transfer {
        id: TransactionId { account: EntityId::of(extra(option)?, FEE_PAYER)?, ..sending.id },
        node: sending.node,
        max_fee: sending.max_fee,
        memo,
        token: asset.map(|id| Token { id, decimals }),
        amounts: vec![(sending.id.account, -price), (EntityId::of(option, "payTo")?, price)],
    };
    Some(transfer.body())
}

/// A transaction's body that waits for its signature.
struct Signed {
    body: Vec<u8>,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(body_request(&self.body).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        Ok(Object::new().with("transaction", hedera::signed(&self.body, answer, SIGNATURE_MALFORMED)?))
    }
}
