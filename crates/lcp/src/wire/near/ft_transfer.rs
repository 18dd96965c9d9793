//! `ft_transfer`, the call that moves a fungible token (NEP-141): its arguments in JSON.

use super::{DelegateAction, NOT_FT_TRANSFER, is_account_id};
use crate::{Object, Refusal, Text, Value, json};

const ARGS_MALFORMED: Refusal = Refusal::new("near/args-malformed");

/// The function's name.
pub const METHOD: &str = "ft_transfer";
/// The gas that a transfer is given.
pub const GAS: u64 = 30_000_000_000_000;
/// What the contract asks for, so that only a full access key may call it: 1 yoctoNEAR.
pub const DEPOSIT: u128 = 1;

/// Most bytes of arguments.
const MAX_ARGS: usize = 4096;

/// The arguments for a receiver, an amount in the token's smallest unit, and a memo.
pub fn args(receiver: &str, amount: u128, memo: &str) -> String {
    json::write(&Object::new().with("receiver_id", receiver).with("amount", amount.to_string()).with("memo", memo).into())
}

/// The memo of an action that calls the function, if its arguments hold one that is a string.
///
/// Contracts read the arguments with serde: of a member that they know, a second one is refused, and so is a name that is not
/// Unicode; other members are let be.
pub fn memo(action: &DelegateAction<'_>) -> Result<Option<Text>, Refusal> {
    if action.method != METHOD {
        return Err(NOT_FT_TRANSFER);
    }
    let args = Args::read(action.args).ok_or(ARGS_MALFORMED)?;
    let transfers = args.receiver_id.as_ref().and_then(Value::as_str).is_some_and(is_account_id)
        && args.amount.as_ref().and_then(Value::as_str).is_some_and(|amount| amount.parse::<u128>().is_ok());
    if !transfers {
        return Err(ARGS_MALFORMED);
    }
    Ok(args.memo.as_ref().and_then(Value::as_text).cloned())
}

#[derive(Default)]
struct Args {
    receiver_id: Option<Value>,
    amount: Option<Value>,
    memo: Option<Value>,
}

impl Args {
    fn read(source: &[u8]) -> Option<Self> {
        if source.len() > MAX_ARGS {
            return None;
        }
        let mut args = Self::default();
        for (name, value) in json::parse_members(source, json::MAX_DEPTH).ok()? {
            let known = match name.as_str()? {
                "receiver_id" => &mut args.receiver_id,
                "amount" => &mut args.amount,
                "memo" => &mut args.memo,
                _ => continue,
            };
            if known.replace(value).is_some() {
                return None;
            }
        }
        Some(args)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::PublicKey, *};

    fn read(method: &str, args: &str) -> Result<Option<Text>, Refusal> {
        let public_key = PublicKey::Ed25519([0; 32]);
        let args = args.as_bytes();
        memo(&DelegateAction { sender: "ab", receiver: "cd", method, args, gas: 0, deposit: 0, nonce: 0, max_block_height: 0, public_key })
    }

    fn of(args: &str) -> Option<Text> {
        read(METHOD, &args.replace('\'', "\"")).unwrap()
    }

    #[test]
    fn the_memo_of_a_transfer() {
        assert_eq!(of(&args("seller.near", 7, "m")), Some("m".into()));
        assert_eq!(of("{'memo':'\\u006d','x':[1,{'memo':1,'memo':2}],'amount':'+007','receiver_id':'ab','x':2}"), Some("m".into()));
        assert_eq!(of("{'receiver_id':'ab','amount':'340282366920938463463374607431768211455'}"), None);
        assert_eq!(of("{'receiver_id':'ab','amount':'0','memo':null,'Memo':'m'}"), None);
        assert_eq!(read("ft_transfer_call", &args("ab", 7, "m")), Err(NOT_FT_TRANSFER));
    }

    #[test]
    fn arguments_that_a_contract_would_not_take() {
        for args in [
            "",
            "[]",
            "{}",
            "{'receiver_id':'ab','amount':'1','memo':'m','memo':'m'}",
            "{'receiver_id':'ab','amount':'1','m\\u0065mo':'m','memo':'m'}",
            "{'receiver_id':'ab','receiver_id':'ab','amount':'1'}",
            "{'receiver_id':'ab','amount':'1','amount':'1'}",
            "{'receiver_id':'ab','amount':'1','\\ud800':1}",
            "{'receiver_id':'a','amount':'1'}",
            "{'receiver_id':1,'amount':'1'}",
            "{'receiver_id':'ab','amount':1}",
            "{'receiver_id':'ab','amount':''}",
            "{'receiver_id':'ab','amount':'-1'}",
            "{'receiver_id':'ab','amount':'340282366920938463463374607431768211456'}",
            "{'receiver_id':'ab','amount':'1'} x",
        ] {
            assert_eq!(read(METHOD, &args.replace('\'', "\"")), Err(ARGS_MALFORMED), "{args}");
        }
        let filled = |size: usize| args("ab", 1, &"m".repeat(size - args("ab", 1, "").len()));
        assert!(read(METHOD, &filled(4096)).is_ok());
        assert_eq!(read(METHOD, &filled(4097)), Err(ARGS_MALFORMED));
    }
}
