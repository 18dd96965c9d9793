//! `x402/exact/solana`: H is the memo of the transaction that moves the tokens.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    inputs,
    pairing::{Buyer, Choice, Unsigned},
    solana::{self, INPUT_MALFORMED, PDA_NOT_FOUND},
    wire::solana::{Transaction, memo, token},
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, Payment},
        option::extra,
        solana::{Chosen, Payer, Places, Signed, judge_decimals, judge_order, only_memo_hash, price, serves},
    },
};

pub(crate) static PAIRING: X402<Exact> = X402(Exact);

pub(crate) struct Exact;

const UNIT_LIMIT: u32 = 40_000;

impl Scheme for Exact {
    fn id(&self) -> &'static str {
        "x402/exact/solana"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves("exact", option, 1, |_| true)
    }

    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let decimals = |inputs, name: &str| inputs::member(inputs, name, |value: &Value| value.as_safe_unsigned().map(|_| value.clone()));
        let choice = Chosen::by(account, buyer.inputs)?.needs("decimals", decimals)?.needs("tokenProgram", solana::filled)?;
        let offered = extra(order.option()?).filter(|extra| solana::blockhash(extra, "recentBlockhash").is_some());
        let choice = match offered.and_then(|extra| extra.get("recentBlockhash")) {
            Some(offered) => choice.with("recentBlockhash", offered),
            None => choice.needs("recentBlockhash", solana::filled)?,
        };
        Ok(choice.budget()?.done())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        judge_decimals(choice, &[], &[])?;
        let payer = Payer::of(choice, UNIT_LIMIT)?;
        let decimals = choice.get("decimals").and_then(Value::as_safe_unsigned).and_then(|decimals| u8::try_from(decimals).ok());
        let decimals = decimals.ok_or(INPUT_MALFORMED)?;
        let order = Order::of(self, choice)?;
        let places = Places::carrying(**chosen.h, &order)?;
        let amount = price(order.option()?).ok_or(OPTION_MALFORMED)?;
        let transfer = token::transfer_checked(payer.token_program, places.asset, payer.address, places.pay_to, amount, decimals);
        let calls = [transfer.ok_or(PDA_NOT_FOUND)?, memo::write(&chosen.h.lcp_string())];
        let message = solana::compiled(places.fee_payer, payer.blockhash, payer.budget, calls)?;
        let payload = Signed { payer: payer.address, message, members: Object::new(), name: "transaction" };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let transaction = Transaction::read(payment.payload()?.get("transaction"))?;
        only_memo_hash(&transaction.message, payment.accepted)
    }
}
