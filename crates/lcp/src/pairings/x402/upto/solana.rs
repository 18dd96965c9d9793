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
        document::{CHOICE_MALFORMED, OPTION_MALFORMED, Payment},
        judge_order,
        option::{absent_or, timeout},
        solana::{Payer, Places, Signed, chosen, judge_decimals, number, only_memo_hash, open_slot, price, serves},
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
                && solana::token_program(extra).is_some()
                && absent_or(extra, "paymentFlow", &["escrow"])
        })
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let choice = chosen(account, buyer)?.with("now", buyer.now).drawn("nonce", buyer)?;
        Ok(choice.needs("openSlot", solana::uint64)?.token_program()?.recent_blockhash()?.budget()?.done())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        judge_decimals(choice, &["nonce", "openSlot"])?;
        if !choice.has("nonce") || !choice.has("openSlot") {
            return Err(CHOICE_MALFORMED);
        }
        let payer = Payer::of(choice, UNIT_LIMIT)?;
        let (nonce, open_slot) = (number(choice, "nonce")?, open_slot(choice)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, encoding,
        wire::solana::Message,
        x402::solana::sample::{self, PAYER, SELLER, TOKEN_PROGRAM, document, h, option},
    };

    fn extra() -> Object {
        sample::terms().with("receiverAuthorizer", SELLER).with("withdrawDelay", 3600u32).with("tokenProgram", TOKEN_PROGRAM)
    }

    fn choice() -> Object {
        let inputs = sample::inputs().with("openSlot", "0312345678");
        sample::choose(&PAIRING, &document([option("upto", extra())]), &inputs).unwrap()
    }

    fn payment(choice: &Object) -> Value {
        sample::signed(&*sample::build(&PAIRING, choice).unwrap(), encoding::hex(&[5; 64]))
    }

    fn payload(choice: &Object) -> Object {
        payment(choice).get("payload").unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn a_nonce_is_drawn_where_none_is_given() {
        assert_eq!(choice().get("nonce"), Some(&u64::from_be_bytes([7; 8]).to_string().into()));
        let inputs = sample::inputs().with("openSlot", "1").with("nonce", "007");
        let choice = sample::choose(&PAIRING, &document([option("upto", extra())]), &inputs).unwrap();
        assert_eq!(choice.get("nonce"), Some(&"007".into()));
        assert_eq!(payload(&choice).get("nonce"), Some(&"7".into()));
    }

    #[test]
    fn the_payload_says_what_is_opened() {
        let payload = payload(&choice());
        let message = Transaction::read(payload.get("openTransaction")).unwrap().message;
        let (act, channel) = payment_channels::act(&message).unwrap();
        assert_eq!(act, Act::Open);
        let expected = Object::new()
            .with("from", PAYER)
            .with("maxAmount", "2500")
            .with("expiresAt", 1_790_000_060u32)
            .with("validAfter", 1_790_000_000u32)
            .with("nonce", u64::from_be_bytes([7; 8]).to_string())
            .with("openSlot", 312_345_678u32)
            .with("channelId", channel)
            .with("deposit", "2500")
            .with("authorizedSigner", SELLER);
        assert_eq!(payload.without("openTransaction"), expected);
        let from = |valid_after: Value| {
            let option = option("upto", extra().with("validAfter", valid_after));
            let choice = choice().with("required", document([option.clone()])).with("accepted", option);
            self::payload(&choice).get("validAfter").cloned()
        };
        assert_eq!(from(Value::Number(-5.0)), Some(Value::Number(-5.0)));
        assert_eq!(from(Value::Number(5.5)), Some(1_790_000_000u32.into()));
    }

    #[test]
    fn only_an_opening_that_carries_h_is_bound() {
        let payment = payment(&choice());
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let edited = |edit: fn(&mut Message)| {
            let mut payload = payment.get("payload").unwrap().as_object().unwrap().clone();
            let mut transaction = Transaction::read(payload.get("openTransaction")).unwrap();
            edit(&mut transaction.message);
            payload.set("openTransaction", encoding::base64(&transaction.encode()));
            let payment = payment.as_object().unwrap().clone().with("payload", payload).into();
            PAIRING.bound(&payment, None).map_err(|refusal| refusal.code().to_owned())
        };
        assert_eq!(edited(|message| message.instructions[2].data[0] = 5).unwrap_err(), "x402/not-an-opening");
        assert_eq!(edited(|message| message.instructions.truncate(3)).unwrap_err(), "svm/memo-count");
        assert_eq!(edited(|message| message.instructions.swap(2, 3)), Ok(h()));
    }

    #[test]
    fn the_tokens_program_is_the_options() {
        let refused = |choice: Object| sample::build(&PAIRING, &choice).err().unwrap().code().to_owned();
        assert_eq!(refused(choice().with("tokenProgram", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")), "svm/input-malformed");
        assert_eq!(refused(choice().with("openSlot", (1u64 << 53).to_string())), "svm/input-malformed");
        assert_eq!(refused(choice().without("openSlot")), "x402/choice-malformed");
        assert_eq!(refused(choice().with("now", Value::Null)), "svm/input-malformed");
    }
}
