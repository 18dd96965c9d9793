//! `x402/upto/solana`: the most that may be paid is put into a payment channel; H is the memo of the transaction that opens
//! it.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    solana::{self, INPUT_MALFORMED, PDA_NOT_FOUND},
    wire::solana::{
        Address, Transaction, memo,
        payment_channels::{self, Act, Channel},
    },
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        channel::NOT_AN_OPENING,
        document::{OPTION_MALFORMED, Payment},
        option::{absent_or, timeout},
        solana::{Chosen, Payer, Places, Signed, judge_decimals, judge_order, number, only_memo_hash, price, serves, slot, uint64_input},
    },
};

pub(crate) static PAIRING: X402<Upto> = X402(Upto);

pub(crate) struct Upto;

const UNIT_LIMIT: u32 = 200_000;

impl Scheme for Upto {
    fn id(&self) -> &'static str {
        "x402/upto/solana"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves("upto", option, 1, |extra| {
            Address::of(extra, "receiverAuthorizer").is_some()
                && extra.get("withdrawDelay").and_then(Value::as_safe_unsigned).is_some_and(|delay| delay > 0)
                && solana::token_program(extra, "tokenProgram").is_some()
                && absent_or(extra, "paymentFlow", &["escrow"])
        })
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let choice = Chosen::by(account, buyer.inputs)?.with("now", buyer.now).drawn("nonce", buyer)?;
        let choice = choice.needs("openSlot", uint64_input)?.needs("tokenProgram", solana::filled)?.needs("recentBlockhash", solana::filled)?;
        Ok(choice.budget()?.done())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        judge_decimals(choice, &["nonce", "openSlot"], &[])?;
        let payer = Payer::of(choice, UNIT_LIMIT)?;
        let (nonce, open_slot) = (number(choice, "nonce")?, slot(choice, "openSlot")?);
        let now = choice.get("now").and_then(Value::as_safe_unsigned).ok_or(INPUT_MALFORMED)?;
        let order = Order::of(self, choice)?;
        let option = order.option()?;
        let places = Places::carrying(**chosen.h, &order)?;
        let authorized_signer = Address::of(places.extra, "receiverAuthorizer").ok_or(OPTION_MALFORMED)?;
        let deposit = price(option).ok_or(OPTION_MALFORMED)?;
        // Both are below 2^53.
        let expires_at = now + timeout(option).ok_or(OPTION_MALFORMED)?;
        let valid_after = places.extra.get("validAfter").filter(|value| value.as_safe_integer().is_some());

        let channel = Channel { payer: payer.address, payee: places.fee_payer, mint: places.asset, authorized_signer, salt: nonce, open_slot };
        let calls = [channel.open(&places.opening(&payer, deposit)?).ok_or(PDA_NOT_FOUND)?, memo::write(&chosen.h.lcp_string())];
        let message = solana::compiled(places.fee_payer, payer.blockhash, payer.budget, calls)?;
        let members = Object::new()
            .with("from", payer.address)
            .with("maxAmount", deposit.to_string())
            .with("expiresAt", expires_at)
            .with("validAfter", valid_after.cloned().unwrap_or_else(|| now.into()))
            .with("nonce", nonce.to_string())
            .with("openSlot", open_slot)
            .with("channelId", channel.address().ok_or(PDA_NOT_FOUND)?)
            .with("deposit", deposit.to_string())
            .with("authorizedSigner", authorized_signer);
        let payload = Signed { payer: payer.address, message, members, name: "openTransaction" };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let transaction = Transaction::read(payment.payload()?.get("openTransaction"))?;
        let h = only_memo_hash(&transaction.message, payment.accepted)?;
        match payment_channels::act(&transaction.message) {
            Ok((Act::Open, _)) => Ok(h),
            _ => Err(NOT_AN_OPENING),
        }
    }
}
