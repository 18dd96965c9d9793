//! Ethereum's texts and hashes: addresses, chain ids, EIP-712 requests, ABI words.

use crate::{Object, Value};

/// `eip155:` and a chain id of at most 16 digits without a leading zero, a safe integer.
pub fn chain_id(network: &str) -> Option<u64> {
    let digits = network.strip_prefix("eip155:")?;
    if digits.len() > 16 || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&id| id <= 9_007_199_254_740_991)
}

/// Whether the text is `0x` and 40 hex digits of any case; no checksum is asked for.
pub fn is_address(text: &str) -> bool {
    text.len() == 42 && crate::encoding::hex_len(text).is_some()
}

/// The address in an object's member, as written.
pub fn address<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).filter(|text| is_address(text))
}

/// Whether the text is a positive decimal without a leading zero, of any length.
pub fn is_amount(text: &str) -> bool {
    text.starts_with(|c: char| ('1'..='9').contains(&c)) && text.bytes().all(|b| b.is_ascii_digit())
}

/// An EIP-712 type: its name and its members as `(name, type)`.
pub type Type<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// The EIP-712 domain type of a domain with name, version, chain id and contract.
pub const DOMAIN: Type<'static> =
    ("EIP712Domain", &[("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]);

/// A signing request of kind `eip712`; the last of `types` is the primary type.
pub fn typed_data_request(domain: Object, types: &[Type<'_>], message: Object) -> Value {
    let member = |&(name, kind): &(&str, &str)| Value::from(Object::new().with("name", name).with("type", kind));
    let listed = types.iter().fold(Object::new(), |listed, (name, members)| listed.with(*name, members.iter().map(member).collect::<Vec<_>>()));
    let primary = types.last().map_or("", |(name, _)| name);
    let typed_data = Object::new().with("domain", domain).with("types", listed).with("primaryType", primary).with("message", message);
    Object::new().with("kind", "eip712").with("typedData", typed_data).into()
}
