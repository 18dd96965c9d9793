//! The typed data of Casper's payments, hashed by its own crate.

use casper_eip_712::{
    domain::{DomainBuilder, DomainFieldValue},
    encoding::{Address, encode_address, encode_bytes32, encode_uint256},
    hash::hash_typed_data,
    traits::Eip712Struct,
};
use lcp::{Value, encoding, json, wire::evm::U256};

use crate::rows::text;

/// A transfer by authorization (CEP-3009).
struct Transfer {
    from: Address,
    to: Address,
    numbers: [[u8; 32]; 3],
    nonce: [u8; 32],
}

impl Eip712Struct for Transfer {
    fn type_string() -> &'static str {
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    }

    fn encode_data(&self) -> Vec<u8> {
        let [from, to] = [self.from, self.to].map(encode_address);
        let [value, after, before] = self.numbers.map(encode_uint256);
        [from, to, value, after, before, encode_bytes32(self.nonce)].concat()
    }
}

fn bytes<const N: usize>(digits: &str) -> [u8; N] {
    encoding::from_bare_hex(digits).unwrap().try_into().unwrap()
}

fn digest(typed_data: &Value) -> [u8; 32] {
    let [domain, message] = ["domain", "message"].map(|name| typed_data.get(name).unwrap());
    let separator = DomainBuilder::new()
        .name(text(domain, "name"))
        .version(text(domain, "version"))
        .custom_field("chain_name", DomainFieldValue::String(text(domain, "chain_name").into()))
        .custom_field("contract_package_hash", DomainFieldValue::Bytes32(bytes(text(domain, "contract_package_hash"))))
        .build();
    let transfer = Transfer {
        from: Address::Casper(bytes(text(message, "from"))),
        to: Address::Casper(bytes(text(message, "to"))),
        numbers: ["value", "validAfter", "validBefore"].map(|name| *U256::from_decimal(text(message, name)).unwrap().bytes()),
        nonce: bytes(text(message, "nonce")),
    };
    // The types are those that our typed data list.
    let listed = |name: &str| {
        let members = typed_data.get("types").unwrap().get(name).unwrap().as_array().unwrap();
        let members: Vec<_> = members.iter().map(|member| format!("{} {}", text(member, "type"), text(member, "name"))).collect();
        format!("{name}({})", members.join(","))
    };
    assert_eq!((separator.type_string(), Transfer::type_string()), (&*listed("EIP712Domain"), &*listed("TransferWithAuthorization")));
    hash_typed_data(&separator, &transfer)
}

/// What the payments that Casper's SDK completes are signed over, which no crate of ours computes.
#[test]
fn the_crate_hashes_what_the_sdk_signs() {
    let ours = include_str!("../../../lcp/tests/peers/casper/ours.jsonl").lines();
    let sdk = include_str!("../../../lcp/tests/peers/casper/payments.jsonl").lines();
    let parsed = |line| json::parse(line, json::MAX_DEPTH).unwrap();
    let pairs: Vec<_> = ours.map(parsed).zip(sdk.map(parsed)).collect();
    assert_eq!(pairs.len(), 2);
    for (ours, sdk) in pairs {
        let typed_data = ours.get("request").unwrap().get("typedData").unwrap();
        assert_eq!(encoding::hex(&digest(typed_data)), text(sdk.get("read").unwrap(), "digest"));
    }
}
