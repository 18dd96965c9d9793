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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, encoding,
        x402::sample::{self, ATR, document, h, object, paid, parsed, request, with_option},
    };

    const ACCOUNT: &str = "hedera:testnet:0.0.1234";
    const OPTION: &str = "{'scheme':'exact','network':'hedera:testnet','amount':'100000','asset':'0.0.429274','payTo':'0.0.5005',
                          'maxTimeoutSeconds':60,'extra':{'feePayer':'0.0.7007'}}";
    const INPUTS: &str = "{'node':'0.0.3','validStart':{'seconds':'0179','nanos':8},'maxFee':'100','decimals':6}";

    fn choose(inputs: &str) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, ACCOUNT, &document(ATR, &[object(OPTION)]).into(), &object(inputs))
    }

    fn choice() -> Object {
        choose(INPUTS).unwrap()
    }

    fn refused(choice: &Object) -> String {
        sample::build(&PAIRING, ATR, choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    fn answer(kind: &str, key: usize, signature: usize) -> Value {
        let bytes = |length| encoding::hex(&vec![7; length]);
        Object::new().with("publicKey", bytes(key)).with("signature", bytes(signature)).with("type", kind).into()
    }

    fn payment() -> Object {
        let unsigned = sample::build(&PAIRING, ATR, &choice()).unwrap();
        paid(&*unsigned, &answer("ed25519", 32, 64)).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn the_memo_of_the_transfer_is_h() {
        let entity = |text| EntityId::parse(text).unwrap();
        let memo = h().lcp_string();
        let transfer = |token| Transfer {
            id: TransactionId::new(entity("0.0.7007"), 179, 8).unwrap(),
            node: entity("0.0.3"),
            max_fee: 100,
            memo: &memo,
            token,
            amounts: vec![(entity("0.0.1234"), -100_000), (entity("0.0.5005"), 100_000)],
        };
        let id = entity("0.0.429274");
        let hbar = with_option(&choice(), object(OPTION).with("asset", "0.0.0"));
        for (choice, token) in
            [(choice(), Some(Token { id, decimals: Some(6) })), (choice().without("decimals"), Some(Token { id, decimals: None })), (hbar, None)]
        {
            let unsigned = sample::build(&PAIRING, ATR, &choice).unwrap();
            let body = transfer(token).body();
            let expected = Object::new().with("kind", "hedera-body").with("bodyBytes", encoding::hex(&body));
            assert_eq!(request(&*unsigned), expected.into());
            assert!(!PAIRING.moves(&request(&*unsigned)));
            let payment = paid(&*unsigned, &answer("ecdsa-secp256k1", 33, 64)).unwrap();
            let transaction = wire::signed(&body, &wire::Signature::Secp256k1([7; 33], [7; 64]));
            assert_eq!(payment.get("payload"), Some(&Object::new().with("transaction", encoding::base64(&transaction)).into()));
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        }
    }

    #[test]
    fn a_choice_keeps_the_inputs() {
        let kept = choice().without("required").without("accepted");
        assert_eq!(kept, object(INPUTS).without("decimals").with("payer", "0.0.1234").with("decimals", 6u32));
        let surplus = "{'node':'x','validStart':{'seconds':'5','nanos':0,'more':1},'maxFee':'0','more':1}";
        let kept = choose(surplus).unwrap().without("required").without("accepted");
        assert_eq!(kept, object("{'node':'x','validStart':{'seconds':'5','nanos':0},'maxFee':'0','payer':'0.0.1234'}"));
        for (name, values) in [
            ("node", "['',5,null]"),
            ("validStart", "[[],{},null,{'seconds':'5'},{'nanos':5},{'seconds':5,'nanos':5},{'seconds':'x','nanos':5},{'seconds':'5','nanos':-1}]"),
            ("maxFee", "['x',5,null]"),
            ("decimals", "['6',-1,1.5,null]"),
        ] {
            for value in parsed(values).as_array().unwrap() {
                let inputs = object(INPUTS).with(name, value);
                let refusal = sample::choose(&PAIRING, ACCOUNT, &document(ATR, &[object(OPTION)]).into(), &inputs).unwrap_err();
                assert_eq!(refusal, INPUT_MISSING, "{name}: {value:?}");
            }
        }
        for account in ["hedera:testnet:0.0.01", "hedera:testnet:x", "hedera:mainnet:0.0.1234", "0.0.1234"] {
            let refusal = sample::choose(&PAIRING, account, &document(ATR, &[object(OPTION)]).into(), &object(INPUTS)).unwrap_err();
            assert_eq!(refusal, NO_PAYABLE_OPTION, "{account}");
        }
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let mut choice = choice().with("node", 5u32).with("accepted", object(OPTION).with("amount", "0")).with("maxFee", 5u32);
        assert_eq!(refused(&choice.without("required")), "x402/choice-malformed");
        let zero = document(ATR, &[object(OPTION).with("amount", "0")]);
        for (code, name, value) in [
            ("x402/choice-malformed", "maxFee", Value::from("18446744073709551616")),
            ("hedera/option-malformed", "maxFee", "100".into()),
            ("hedera/option-malformed", "node", "0.0.3".into()),
            ("x402/option-not-in-document", "required", zero.into()),
            ("hedera/option-malformed", "required", document(ATR, &[object(OPTION)]).into()),
            ("x402/option-not-in-document", "accepted", object(OPTION).into()),
        ] {
            assert_eq!(refused(&choice), code, "{name}");
            choice.set(name, value);
        }
        assert_eq!(refused(&choice), "");
        let start = |seconds: &str, nanos: u32| Object::new().with("seconds", seconds).with("nanos", nanos);
        for (name, value) in [
            ("payer", Value::from("x")),
            ("validStart", start("9223372036854775808", 0).into()),
            ("validStart", start("5", 1_000_000_000).into()),
            ("decimals", (u64::from(u32::MAX) + 1).into()),
            ("decimals", Value::Null),
        ] {
            assert_eq!(refused(&choice.clone().with(name, value)), "hedera/option-malformed", "{name}");
        }
    }

    #[test]
    fn options_are_of_this_method_and_payable() {
        let of = |name: &str, value: &str| refused(&with_option(&choice(), object(OPTION).with(name, parsed(value))));
        for (name, value, code) in [
            ("scheme", "'upto'", "x402/option-not-this-pairing"),
            ("network", "'eip155:1'", "x402/option-not-this-pairing"),
            ("network", "'hedera:localnet'", "hedera/option-malformed"),
            ("network", "'hedera:devnet'", ""),
            ("amount", "'9223372036854775807'", ""),
            ("amount", "'9223372036854775808'", "hedera/option-malformed"),
            ("amount", "'01'", "hedera/option-malformed"),
            ("asset", "'0.0.01'", "hedera/option-malformed"),
            ("asset", "'0.0.9999999999999999999'", ""),
            ("payTo", "'0.0'", "hedera/option-malformed"),
            ("maxTimeoutSeconds", "0", "hedera/option-malformed"),
            ("extra", "null", "hedera/option-malformed"),
            ("extra", "{'feePayer':5}", "hedera/option-malformed"),
            ("extra", "{'feePayer':'0.0.7','assetTransferMethod':'cryptoTransfer'}", ""),
            ("extra", "{'feePayer':'0.0.7','assetTransferMethod':'transferExecutor'}", "x402/option-not-this-pairing"),
            ("extra", "{'feePayer':'0.0.7','assetTransferMethod':null}", "hedera/option-malformed"),
        ] {
            assert_eq!(of(name, value), code, "{name}: {value}");
        }
    }

    #[test]
    fn answers_are_a_key_and_a_signature() {
        let unsigned = sample::build(&PAIRING, ATR, &choice()).unwrap();
        let code = |answer: &Value| paid(&*unsigned, answer).unwrap_err().code().to_owned();
        for (kind, key, signature) in [("ed25519", 33, 64), ("ed25519", 32, 63), ("ecdsa-secp256k1", 32, 64), ("ecdsa-secp256k1", 33, 0)] {
            assert_eq!(code(&answer(kind, key, signature)), "hedera/tx-malformed", "{kind} {key} {signature}");
        }
        let whole = answer("ed25519", 32, 64).as_object().unwrap().clone();
        for name in ["publicKey", "signature", "type"] {
            for answer in [whole.without(name), whole.clone().with(name, 5u32), whole.clone().with(name, "zz")] {
                assert_eq!(code(&answer.into()), "x402/signature-malformed", "{name}");
            }
        }
        assert_eq!(code(&Value::Null), "x402/signature-malformed");
    }

    #[test]
    fn a_payment_is_refused_for_its_memo() {
        let code = |transaction: Value| {
            let payment = payment().with("payload", Object::new().with("transaction", transaction));
            PAIRING.bound(&payment.into(), None).map_err(|refusal| refusal.code().to_owned())
        };
        let with_memo = |memo: &str| {
            let transfer = Transfer {
                id: TransactionId::new(EntityId::ZERO, 0, 0).unwrap(),
                node: EntityId::ZERO,
                max_fee: 0,
                memo,
                token: None,
                amounts: vec![],
            };
            code(encoding::base64(&wire::signed(&transfer.body(), &wire::Signature::Ed25519([0; 32], [0; 64]))).into())
        };
        let upper = h().lcp_string().replace(&h().to_string()[2..], &h().to_string()[2..].to_uppercase());
        assert_eq!((with_memo(&h().lcp_string()), with_memo(&upper)), (Ok(h()), Ok(h())));
        assert_eq!(with_memo(""), Err("hedera/no-memo".to_owned()));
        assert_eq!(with_memo(&h().to_string()), Err("hedera/memo-not-lcp".to_owned()));
        for transaction in [Value::Null, "".into(), "x".into(), "AAAA".into()] {
            assert_eq!(code(transaction), Err("hedera/tx-malformed".to_owned()));
        }
        assert_eq!(PAIRING.bound(&payment().without("payload").into(), None).unwrap_err().code(), "x402/payload-malformed");
    }
}
