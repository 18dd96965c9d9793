//! What the x402 pairings on Solana share.

use super::{
    Order, Payload, Unserved,
    document::{CHOICE_MALFORMED, INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, SIGNATURE_MALFORMED},
    option::{self, extra, names, timeout},
};
use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    inputs::MAX_DECIMAL,
    pairing::Buyer,
    solana::{self, Budget, Chosen, INPUT_MALFORMED, MEMO_COUNT},
    wire::solana::{Address, Blockhash, Message, base58, memo, payment_channels::Opening},
};

const MEMO_NOT_UTF8: Refusal = Refusal::new("svm/memo-not-utf8");
const MEMO_NOT_LCP: Refusal = Refusal::new("svm/memo-not-lcp");

/// Longest memo that a seller may ask for, in UTF-8 bytes.
const MAX_MEMO: usize = 256;

/// Whether an option is of a scheme on Solana, and its `extra` passes the scheme's own test. If so, its amount must be
/// `least` or more.
pub(crate) fn serves(scheme: &str, option: &Object, least: u64, test: impl Fn(&Object) -> bool) -> Result<(), Unserved> {
    let ours = names(option, "scheme", scheme)
        && option.get("network").and_then(Value::as_str).is_some_and(is_network)
        && ["asset", "payTo"].iter().all(|name| Address::of(option, name).is_some())
        && extra(option).is_some_and(|extra| Address::of(extra, "feePayer").is_some() && has_short_memo(extra) && test(extra));
    if !ours {
        return Err(Unserved::Other);
    }
    let payable = price(option).is_some_and(|price| price >= least) && timeout(option).is_some();
    if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
}

/// `solana:` and the first 32 letters of a genesis hash.
fn is_network(text: &str) -> bool {
    text.strip_prefix("solana:").is_some_and(|genesis| genesis.len() == 32 && genesis.bytes().all(base58::is_letter))
}

fn has_short_memo(extra: &Object) -> bool {
    extra.get("memo").is_none_or(|memo| memo.as_text().is_some_and(|memo| memo.utf8_len() <= MAX_MEMO))
}

/// The option's amount, below 2^64, written without leading zeros.
pub(crate) fn price(option: &Object) -> Option<u64> {
    option::number(option, "amount")?.try_into().ok()
}

/// Starts a choice with its payer.
pub(crate) fn chosen<'a>(account: &Account, buyer: &Buyer<'a>) -> Result<Chosen<'a>, Refusal> {
    Chosen::by(account, buyer.inputs, INPUT_MISSING).ok_or(NO_PAYABLE_OPTION)
}

/// Whether these members of a choice have the form of a decimal, and the budget's price too, which is judged before the
/// rest of the choice. They may be absent.
pub(crate) fn judge_decimals(choice: &Object, names: &[&str]) -> Result<(), Refusal> {
    let is_decimal = |value: &Value| value.as_str().is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
    if !names.iter().all(|name| choice.get(name).is_none_or(is_decimal)) {
        return Err(CHOICE_MALFORMED);
    }
    Budget::judge_form(choice)
}

/// A choice's number below 2^64.
pub(crate) fn number(choice: &Object, name: &str) -> Result<u64, Refusal> {
    choice.get(name).and_then(Value::as_str).and_then(encoding::uint64).ok_or(INPUT_MALFORMED)
}

/// A choice's `openSlot`, which the payment writes as a JSON number.
pub(crate) fn open_slot(choice: &Object) -> Result<u64, Refusal> {
    number(choice, "openSlot").ok().filter(|&slot| slot < 1 << 53).ok_or(INPUT_MALFORMED)
}

/// What a choice says of the transaction, whatever it calls.
pub(crate) struct Payer {
    pub(crate) address: Address,
    pub(crate) token_program: Address,
    pub(crate) blockhash: Blockhash,
    pub(crate) budget: Budget,
}

impl Payer {
    /// Reads it; `limit` is the limit of compute units where the choice names none.
    pub(crate) fn of(choice: &Object, limit: u32) -> Result<Self, Refusal> {
        let read = || {
            Some(Self {
                address: Address::of(choice, "payer")?,
                token_program: solana::token_program(choice)?,
                blockhash: solana::recent_blockhash(choice)?,
                budget: Budget::of(choice, limit)?,
            })
        };
        read().ok_or(INPUT_MALFORMED)
    }
}

/// The addresses of an option that was served.
pub(crate) struct Places<'a> {
    pub(crate) extra: &'a Object,
    pub(crate) fee_payer: Address,
    /// The mint.
    pub(crate) asset: Address,
    pub(crate) pay_to: Address,
}

impl<'a> Places<'a> {
    /// The places of the order's option, whose memo must name H.
    pub(crate) fn carrying(h: Hash, order: &Order<'a>) -> Result<Self, Refusal> {
        let option = order.option()?;
        let extra = extra(option).ok_or(OPTION_MALFORMED)?;
        solana::judge_offered(h, extra.get("memo"))?;
        let address = |object, name| Address::of(object, name).ok_or(OPTION_MALFORMED);
        Ok(Self { extra, fee_payer: address(extra, "feePayer")?, asset: address(option, "asset")?, pay_to: address(option, "payTo")? })
    }

    /// How a channel for the payer is opened. The token's program must be the option's.
    pub(crate) fn opening(&self, payer: &Payer, deposit: u64) -> Result<Opening, Refusal> {
        let delay = self.extra.get("withdrawDelay").and_then(Value::as_safe_unsigned);
        if solana::token_program(self.extra) != Some(payer.token_program) {
            return Err(INPUT_MALFORMED);
        }
        Ok(Opening {
            deposit,
            grace_period: delay.and_then(|delay| u32::try_from(delay).ok()).ok_or(INPUT_MALFORMED)?,
            recipient: self.pay_to,
            token_program: payer.token_program,
        })
    }
}

/// H, which the one memo names. The caller sets aside the memos that its scheme adds.
pub(crate) fn memo_hash<'a>(memos: impl IntoIterator<Item = &'a [u8]>, accepted: &Object) -> Result<Hash, Refusal> {
    let mut memos = memos.into_iter();
    let (Some(memo), None) = (memos.next(), memos.next()) else { return Err(MEMO_COUNT) };
    let memo = std::str::from_utf8(memo).map_err(|_| MEMO_NOT_UTF8)?;
    let h = Hash::from_lcp_string(memo).ok_or(MEMO_NOT_LCP)?;
    solana::carried(memo, h, extra(accepted).and_then(|extra| extra.get("memo")))
}

/// H, which the one memo of a message names.
pub(crate) fn only_memo_hash(message: &Message, accepted: &Object) -> Result<Hash, Refusal> {
    memo_hash(memo::written(message), accepted)
}

/// A payload whose transaction the payer signs.
pub(crate) struct Signed {
    pub(crate) payer: Address,
    pub(crate) message: Message,
    /// The payload's members beside the transaction.
    pub(crate) members: Object,
    /// The name of the transaction's member.
    pub(crate) name: &'static str,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(solana::message_request(&self.message))
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let signature = solana::hex_signature(answer).ok_or(SIGNATURE_MALFORMED)?;
        Ok(self.members.clone().with(self.name, solana::signed(&self.message, &self.payer, signature)?))
    }
}

/// Documents and choices to test with.
#[cfg(test)]
pub(crate) mod sample {
    use crate::{
        ConfirmedHash, Hash, Object, Refusal, Value,
        pairing::{Buyer, Choice, Completed, Pairing, Unsigned},
    };

    pub(crate) const ATR: &[u8] = b"terms";
    pub(crate) const NETWORK: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    pub(crate) const PAYER: &str = "H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN";
    pub(crate) const FEE_PAYER: &str = "CNRcamMbSQwrsAsBJbDo68uAWEvpVvqhDeDrCaRt7hym";
    pub(crate) const SELLER: &str = "2Fub4Rhb6TuNZ6XTEKAxbLeogqp52UHW7qAWF1WTk9Ka";
    pub(crate) const MINT: &str = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
    pub(crate) const TOKEN_PROGRAM: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    pub(crate) const BLOCKHASH: &str = "439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn";

    pub(crate) fn h() -> Hash {
        Hash::of(ATR)
    }

    pub(crate) fn terms() -> Object {
        Object::new().with("feePayer", FEE_PAYER).with("memo", h().lcp_string())
    }

    pub(crate) fn option(scheme: &str, extra: Object) -> Object {
        Object::new()
            .with("scheme", scheme)
            .with("network", NETWORK)
            .with("amount", "2500")
            .with("asset", MINT)
            .with("payTo", SELLER)
            .with("maxTimeoutSeconds", 60u32)
            .with("extra", extra)
    }

    pub(crate) fn document(options: impl IntoIterator<Item = Object>) -> Value {
        let info = Object::new().with("type", "sha256").with("value", &h()).with("legalContextUrl", "https://a.example/");
        let context = Object::new().with("legalContext", Object::new().with("info", info));
        let options: Vec<Value> = options.into_iter().map(Value::from).collect();
        Object::new().with("x402Version", 2u32).with("accepts", options).with("extensions", context).into()
    }

    pub(crate) fn inputs() -> Object {
        Object::new().with("tokenProgram", TOKEN_PROGRAM).with("recentBlockhash", BLOCKHASH)
    }

    /// A choice, its random bytes all 7.
    pub(crate) fn choose(pairing: &dyn Pairing, document: &Value, inputs: &Object) -> Result<Object, Refusal> {
        let account = format!("{NETWORK}:{PAYER}");
        let buyer = Buyer { account: &account, inputs, now: 1_790_000_000, random: &|bytes| bytes.fill(7) };
        pairing.choose(&pairing.read(document)?, &buyer)
    }

    pub(crate) fn build(pairing: &dyn Pairing, choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        pairing.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR })
    }

    pub(crate) fn signed(unsigned: &dyn Unsigned, answer: impl Into<Value>) -> Value {
        match unsigned.complete(&answer.into()) {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        sample::{NETWORK, SELLER, h, option, terms},
        *,
    };

    #[test]
    fn the_memo_is_the_very_text_that_was_offered() {
        let text = h().lcp_string();
        let upper = text.replace(&h().to_string()[2..], &h().to_string()[2..].to_uppercase());
        let read = |memos: &[&[u8]], offered: &str| {
            let accepted = option("exact", terms().with("memo", offered));
            memo_hash(memos.iter().copied(), &accepted).map_err(|refusal| refusal.code().to_owned())
        };
        let refused = |memos: &[&[u8]], offered: &str| read(memos, offered).unwrap_err();
        assert_eq!(read(&[text.as_bytes()], &text), Ok(h()));
        assert_eq!(refused(&[], &text), "svm/memo-count");
        assert_eq!(refused(&[text.as_bytes(), b"x"], &text), "svm/memo-count");
        assert_eq!(refused(&[b"\xFF"], &text), "svm/memo-not-utf8");
        assert_eq!(refused(&[format!("{text} ").as_bytes()], &text), "svm/memo-not-lcp");
        assert_eq!(refused(&[upper.as_bytes()], &upper), "svm/carrier-not-canonical");
        assert_eq!(refused(&[text.as_bytes()], &upper), "svm/carrier-mismatch");
    }

    #[test]
    fn options_of_the_scheme() {
        let judged = |option: &Object| match serves("exact", option, 1, |_| true) {
            Ok(()) => "served".to_owned(),
            Err(Unserved::Other) => "other".to_owned(),
            Err(Unserved::Refused(refusal)) => refusal.code().to_owned(),
        };
        let exact = option("exact", terms());
        assert_eq!(judged(&exact), "served");
        for (name, value) in
            [("scheme", "upto"), ("network", "solana:devnet"), ("network", &NETWORK.replace('E', "0")), ("asset", "x"), ("payTo", &SELLER[2..])]
        {
            assert_eq!(judged(&exact.clone().with(name, value)), "other", "{name}");
        }
        for extra in [terms().without("feePayer"), terms().with("memo", 5u32), terms().with("memo", "é".repeat(129))] {
            assert_eq!(judged(&option("exact", extra)), "other");
        }
        assert_eq!(judged(&option("exact", terms().with("memo", "é".repeat(128)))), "served");
        assert_eq!(judged(&exact.clone().with("amount", u64::MAX.to_string())), "served");
        for amount in ["0", "01", "18446744073709551616", "1.0", ""] {
            assert_eq!(judged(&exact.clone().with("amount", amount)), "x402/option-malformed", "{amount}");
        }
        assert_eq!(judged(&exact.with("maxTimeoutSeconds", 0u32)), "x402/option-malformed");
    }
}
