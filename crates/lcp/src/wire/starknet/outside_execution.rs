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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{encoding, wire::evm};

    fn cases() -> Value {
        json::parse(include_str!("../../../tests/peers/starknet/cases.json"), 12).unwrap()
    }

    fn sepolia() -> Object {
        cases().get("cases").unwrap().as_array().unwrap()[0].get("typedData").unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn the_selector_is_of_the_name() {
        assert_eq!(Felt::from_low_bits(evm::keccak(b"transfer")).to_string(), TRANSFER);
    }

    /// As starknet-py 0.30.0 reads it.
    #[test]
    fn the_library_takes_the_typed_data() {
        let cases = cases();
        let felt = |name| Felt::of(cases.as_object().unwrap(), name).unwrap();
        let mut h = [0; 32];
        encoding::hex_into(&cases.get("h").unwrap().as_str().unwrap()[2..], &mut h).unwrap();
        for case in cases.get("cases").unwrap().as_array().unwrap() {
            let text = |name| case.get(name).unwrap().as_str().unwrap();
            let (high, low) = U256::from_decimal(text("amount")).unwrap().halves();
            let execution = OutsideExecution {
                chain: text("chain"),
                caller: felt("caller"),
                nonce: Felt::from_low_bits(h),
                execute_before: case.get("before").unwrap().as_safe_unsigned().unwrap(),
                to: felt("token"),
                selector: TRANSFER,
                calldata: vec![felt("payee"), low.into(), high.into()],
            };
            let typed_data = Value::from(execution.typed_data().unwrap());
            assert_eq!(Some(&typed_data), case.get("typedData"));
            assert_eq!(nonce(&typed_data, text("chain")), Some(Felt::from_low_bits(h)));
            assert_eq!(nonce(&typed_data, "SN_OTHER"), None);
        }
    }

    #[test]
    fn a_domain_may_be_spelled_otherwise() {
        let with = |name: &str, value: Value| {
            let data = sepolia();
            let domain = data.get("domain").unwrap().as_object().unwrap().clone().with(name, value);
            nonce(&data.with("domain", domain).into(), "SN_SEPOLIA").is_some()
        };
        let chain = "393402133025997798000961";
        for (name, value) in
            [("version", "2"), ("revision", "1"), ("chainId", "SN_SEPOLIA"), ("chainId", chain), ("chainId", "0x00534E5f5345504f4c4941")]
        {
            assert!(with(name, value.into()), "{name} {value}");
        }
        let refused: [(&str, Value); 5] =
            [("version", "02".into()), ("version", 1u32.into()), ("revision", true.into()), ("chainId", "".into()), ("chainId", 5u32.into())];
        for (name, value) in refused.into_iter().chain([("name", "account.execute_from_outside".into()), ("chainId", "1".repeat(79).into())]) {
            assert!(!with(name, value.clone()), "{name} {value:?}");
        }
    }

    #[test]
    fn typed_data_is_bounded() {
        let of = |more: Value| nonce(&sepolia().with("more", more).into(), "SN_SEPOLIA").is_some();
        let room = MAX_TYPED_DATA - json::write(&sepolia().with("more", "").into()).len();
        assert!(of("a".repeat(room).into()));
        assert!(!of("a".repeat(room + 1).into()));
        let nested = |levels: usize| (0..levels).fold(Value::Null, |value, _| [value].into());
        assert!(of(nested(63)));
        assert!(!of(nested(64)));
    }
}
