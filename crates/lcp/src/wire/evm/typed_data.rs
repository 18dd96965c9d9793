use super::{Word, address_word, keccak, uint_word};
use crate::{Object, Value};

/// An EIP-712 type: its name and its members as `(name, type)`.
pub type Type<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// The EIP-712 domain type of a domain with name, version, chain id and contract.
pub const DOMAIN: Type<'static> =
    ("EIP712Domain", &[("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]);

/// The EIP-712 domain type of a domain without a version.
pub const UNVERSIONED_DOMAIN: Type<'static> = ("EIP712Domain", &[("name", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]);

/// A signing request of kind `eip712` over [`typed_data`].
pub fn typed_data_request(domain: Object, types: &[Type<'_>], message: Object) -> Value {
    Object::new().with("kind", "eip712").with("typedData", typed_data(domain, types, message)).into()
}

/// Typed data as a wallet takes them; the last of `types` is the primary type.
pub fn typed_data(domain: Object, types: &[Type<'_>], message: Object) -> Object {
    let member = |&(name, kind): &(&str, &str)| Value::from(Object::new().with("name", name).with("type", kind));
    let listed = types.iter().fold(Object::new(), |listed, (name, members)| listed.with(*name, members.iter().map(member).collect::<Vec<_>>()));
    let primary = types.last().map_or("", |(name, _)| name);
    Object::new().with("domain", domain).with("types", listed).with("primaryType", primary).with("message", message)
}

/// A contract's EIP-712 domain of type [`DOMAIN`].
#[derive(Clone, Copy, Debug)]
pub struct Domain<'a> {
    /// The contract's name for it.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The chain.
    pub chain_id: u64,
    /// The contract's address.
    pub contract: &'a str,
}

impl Domain<'_> {
    /// The domain's members in a request.
    pub fn members(&self) -> Object {
        Object::new().with("name", self.name).with("version", self.version).with("chainId", self.chain_id).with("verifyingContract", self.contract)
    }

    /// The domain separator, or `None` if the contract is no address.
    pub fn separator(&self) -> Option<Word> {
        let texts = [self.name, self.version].map(|text| keccak(text.as_bytes()));
        Some(struct_hash(DOMAIN, &[texts[0], texts[1], uint_word(self.chain_id.into()), address_word(self.contract)?]))
    }
}

/// The hash of a type without nested structs.
pub fn type_hash((name, members): Type<'_>) -> Word {
    let members: Vec<_> = members.iter().map(|(name, kind)| format!("{kind} {name}")).collect();
    keccak(format!("{name}({})", members.join(",")).as_bytes())
}

/// The hash of a struct without nested structs, from its members' words (for dynamic members, the hash of their bytes).
pub fn struct_hash(kind: Type<'_>, members: &[Word]) -> Word {
    keccak(&[&[type_hash(kind)], members].concat().concat())
}

/// What a wallet signs: the digest over a domain separator and a struct hash.
pub fn typed_data_digest(separator: &Word, message: &Word) -> Word {
    keccak(&[b"\x19\x01".as_slice(), separator, message].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding;

    #[test]
    fn domain_type_hash_is_the_published_one() {
        assert_eq!(encoding::hex(&type_hash(DOMAIN)), "0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f");
    }

    #[test]
    fn separator_of_the_eip_712_example() {
        let domain = Domain { name: "Ether Mail", version: "1", chain_id: 1, contract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" };
        let separator = domain.separator().unwrap();
        assert_eq!(encoding::hex(&separator), "0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f");
        // The digest of the standard's example: its Mail struct hashes to this.
        let mut mail = [0; 32];
        encoding::hex_into("c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e", &mut mail).unwrap();
        assert_eq!(encoding::hex(&typed_data_digest(&separator, &mail)), "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2");
    }
}
