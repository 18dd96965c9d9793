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
