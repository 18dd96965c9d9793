//! Execution from outside (SNIP-9, version 2): typed data (SNIP-12, revision 1) that an account signs and another sends.

use super::Felt;
use crate::{Object, Value, json, wire::evm::U256};

/// Most bytes of typed data as JSON.
const MAX_TYPED_DATA: usize = 16_384;

/// Who calls means any caller.
pub const ANY_CALLER: &str = "ANY_CALLER";

/// The selector of `transfer`: the low 250 bits of the name's Keccak-256.
pub const TRANSFER: &str = "0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e";

const DOMAIN_NAME: &str = "Account.execute_from_outside";
const PRIMARY_TYPE: &str = "OutsideExecution";

const DOMAIN: &[(&str, &str)] = &[("name", "shortstring"), ("version", "shortstring"), ("chainId", "shortstring"), ("revision", "shortstring")];
const EXECUTION: &[(&str, &str)] =
    &[("Caller", "ContractAddress"), ("Nonce", "felt"), ("Execute After", "u128"), ("Execute Before", "u128"), ("Calls", "Call*")];
const CALL: &[(&str, &str)] = &[("To", "ContractAddress"), ("Selector", "selector"), ("Calldata", "felt*")];

/// One call that the account lets `caller` make in its name.
#[derive(Clone, Debug)]
pub struct OutsideExecution<'a> {
    /// The chain, a short string.
    pub chain: &'a str,
    /// Who may send it.
    pub caller: Felt,
    /// It holds once.
    pub nonce: Felt,
    /// Unix seconds; it holds before.
    pub execute_before: u64,
    /// The contract that is called.
    pub to: Felt,
    /// What is called, such as [`TRANSFER`].
    pub selector: &'a str,
    /// The call's arguments.
    pub calldata: Vec<Felt>,
}

impl OutsideExecution<'_> {
    /// The typed data to sign. `None` if the chain is no short string.
    pub fn typed_data(&self) -> Option<Object> {
        let domain = Object::new()
            .with("name", DOMAIN_NAME)
            .with("version", 2u32)
            .with("chainId", Felt::from_short_string(self.chain)?)
            .with("revision", 1u32);
        let calldata: Vec<Value> = self.calldata.iter().map(|&felt| felt.into()).collect();
        let call = Object::new().with("To", self.to).with("Selector", self.selector).with("Calldata", calldata);
        let message = Object::new()
            .with("Caller", self.caller)
            .with("Nonce", self.nonce)
            .with("Execute After", "1")
            .with("Execute Before", self.execute_before.to_string())
            .with("Calls", [call.into()]);
        let types = Object::new().with("StarknetDomain", members(DOMAIN)).with(PRIMARY_TYPE, members(EXECUTION)).with("Call", members(CALL));
        Some(Object::new().with("types", types).with("primaryType", PRIMARY_TYPE).with("domain", domain).with("message", message))
    }
}

/// The nonce of typed data for a chain, whatever its calls. `None` if it is no such typed data.
pub fn nonce(typed_data: &Value, chain: &str) -> Option<Felt> {
    // The depth first: it bounds the recursion of the size.
    if !typed_data.nests_within(json::MAX_DEPTH) || json::write(typed_data).len() > MAX_TYPED_DATA {
        return None;
    }
    let domain = typed_data.get("domain")?;
    let ours = typed_data.get("primaryType")?.as_str() == Some(PRIMARY_TYPE)
        && domain.get("name")?.as_str() == Some(DOMAIN_NAME)
        && is_number(domain.get("version")?, "2")
        && is_number(domain.get("revision")?, "1")
        && is_chain(domain.get("chainId")?.as_str()?, chain);
    if ours { Felt::of(typed_data.get("message")?.as_object()?, "Nonce") } else { None }
}

/// A digit, or a string of it.
fn is_number(value: &Value, digit: &str) -> bool {
    match value.as_safe_unsigned() {
        Some(number) => number.to_string() == digit,
        None => value.as_str() == Some(digit),
    }
}

/// A chain as a short string, or its element in hex or decimal.
fn is_chain(text: &str, chain: &str) -> bool {
    let felt = Felt::from_short_string(chain);
    text == chain
        || felt.is_some_and(|felt| Felt::parse(text) == Some(felt) || U256::from_decimal(text).is_some_and(|number| number.bytes() == felt.bytes()))
}

fn members(of: &[(&str, &str)]) -> Value {
    let members: Vec<Value> = of.iter().map(|&(name, kind)| Object::new().with("name", name).with("type", kind).into()).collect();
    members.into()
}
