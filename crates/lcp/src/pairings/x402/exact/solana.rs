//! `x402/exact/solana`: H is the memo of the transaction that moves the tokens.

use crate::{
    Hash, Object, Refusal,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    solana::{self, INPUT_MALFORMED, PDA_NOT_FOUND},
    wire::solana::{Transaction, memo, token},
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, Payment},
        judge_order,
        option::extra,
        solana::{Payer, Places, Signed, chosen, judge_decimals, only_memo_hash, price, serves},
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
        let choice = chosen(account, buyer)?.decimals()?.token_program()?;
        let offered = extra(order.option()?).filter(|extra| solana::recent_blockhash(extra).is_some());
        let choice = match offered.and_then(|extra| extra.get("recentBlockhash")) {
            Some(offered) => choice.with("recentBlockhash", offered),
            None => choice.recent_blockhash()?,
        };
        Ok(choice.budget()?.done())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        judge_decimals(choice, &[])?;
        let payer = Payer::of(choice, UNIT_LIMIT)?;
        let decimals = solana::decimals(choice).ok_or(INPUT_MALFORMED)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, Value, encoding,
        wire::solana::Address,
        x402::solana::sample::{self, BLOCKHASH, FEE_PAYER, MINT, PAYER, SELLER, TOKEN_PROGRAM, document, h, option, terms},
    };

    fn inputs() -> Object {
        sample::inputs().with("decimals", 6u32)
    }

    fn choice() -> Object {
        sample::choose(&PAIRING, &document([option("exact", terms())]), &inputs()).unwrap()
    }

    fn refused(choice: &Object) -> String {
        sample::build(&PAIRING, choice).err().unwrap().code().to_owned()
    }

    #[test]
    fn a_choice_keeps_what_the_build_needs() {
        let kept = choice().without("required").without("accepted");
        let expected =
            Object::new().with("payer", PAYER).with("decimals", 6u32).with("tokenProgram", TOKEN_PROGRAM).with("recentBlockhash", BLOCKHASH);
        assert_eq!(kept, expected);
        // The offered blockhash is taken, if it is one.
        for (offered, kept) in [(SELLER, SELLER), ("x", BLOCKHASH)] {
            let offer = document([option("exact", terms().with("recentBlockhash", offered))]);
            let choice = sample::choose(&PAIRING, &offer, &inputs()).unwrap();
            assert_eq!(choice.get("recentBlockhash"), Some(&kept.into()));
        }
        for name in ["decimals", "tokenProgram", "recentBlockhash"] {
            for inputs in [inputs().without(name), inputs().with(name, Value::Null), inputs().with(name, "")] {
                let refusal = sample::choose(&PAIRING, &document([option("exact", terms())]), &inputs).unwrap_err();
                assert_eq!(refusal.code(), "x402/input-missing", "{name}");
            }
        }
    }

    #[test]
    fn the_transaction_moves_the_amount_and_carries_h() {
        let unsigned = sample::build(&PAIRING, &choice().with("computeUnitLimit", 9u32).with("computeUnitPrice", "0010")).unwrap();
        let payment = sample::signed(&*unsigned, encoding::hex(&[5; 64]));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let transaction = Transaction::read(payment.get("payload").unwrap().get("transaction")).unwrap();
        assert_eq!(transaction.signatures, [[0; 64], [5; 64]]);
        let message = transaction.message;
        assert_eq!(message.keys[..2], [FEE_PAYER, PAYER].map(|text| Address::parse(text).unwrap()));
        let calls: Vec<_> = message.instructions.iter().map(|call| encoding::hex(&call.data)).collect();
        assert_eq!(calls[..3], ["0x0209000000", "0x030a00000000000000", "0x0cc40900000000000006"]);
        assert_eq!(message.instructions[3].data, h().lcp_string().as_bytes());
        let moved: Vec<_> = message.instructions[2].accounts.iter().filter_map(|&index| message.key(index)).copied().collect();
        let account = |owner| {
            let [owner, mint] = [owner, MINT].map(|text| Address::parse(text).unwrap());
            token::associated_account(&owner, &mint, &token::PROGRAM).unwrap()
        };
        assert_eq!(moved, [account(PAYER), Address::parse(MINT).unwrap(), account(SELLER), Address::parse(PAYER).unwrap()]);
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let other = option("exact", terms().with("memo", "x"));
        let broken = choice()
            .with("required", document([other.clone()]))
            .with("accepted", option("exact", terms()))
            .with("payer", "x")
            .with("computeUnitPrice", 5u32)
            .with("computeUnitLimit", u64::from(u32::MAX) + 1);
        let mut choice = broken;
        assert_eq!(refused(&choice.without("accepted")), "x402/choice-malformed");
        for (code, name, value) in [
            ("x402/choice-malformed", "computeUnitPrice", Value::from("18446744073709551616")),
            ("svm/input-malformed", "computeUnitPrice", "1".into()),
            ("svm/input-malformed", "computeUnitLimit", Value::Null),
            ("svm/input-malformed", "payer", PAYER.into()),
            ("x402/option-not-in-document", "accepted", other.into()),
        ] {
            assert_eq!(refused(&choice), code, "{name}");
            choice.set(name, value);
        }
        assert_eq!(refused(&choice), "svm/carrier-mismatch");
        for (name, value) in [("decimals", Value::from(256u32)), ("tokenProgram", "x".into()), ("recentBlockhash", "x".into())] {
            assert_eq!(refused(&super::tests::choice().with(name, value)), "svm/input-malformed", "{name}");
        }
    }

    #[test]
    fn an_answer_is_64_bytes_of_hex() {
        let unsigned = sample::build(&PAIRING, &choice()).unwrap();
        for answer in [encoding::hex(&[5; 63]), encoding::hex(&[5; 65]), "1".repeat(64), "05".repeat(64)] {
            assert_eq!(unsigned.complete(&answer.into()).unwrap_err().code(), "x402/signature-malformed");
        }
        assert_eq!(unsigned.complete(&Value::Null).unwrap_err().code(), "x402/signature-malformed");
    }
}
