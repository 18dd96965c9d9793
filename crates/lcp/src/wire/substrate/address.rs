use blake2::{Blake2b512, Digest};

use crate::{Object, Value, wire::base58};

/// An account: a public key, or a hash that stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountId([u8; 32]);

impl AccountId {
    /// Reads an SS58 address of a network below 64, whichever: base58 of the network, the 32 bytes and their checksum.
    ///
    /// ```
    /// use lcp::wire::substrate::AccountId;
    /// assert!(AccountId::parse("5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY").is_some());
    /// assert!(AccountId::parse("5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQZ").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let decoded: [u8; 35] = base58::decode(text)?;
        let (body, checksum) = decoded.split_first_chunk::<33>()?;
        let (network, id) = body.split_first()?;
        let hash = Blake2b512::new_with_prefix("SS58PRE").chain_update(body).finalize();
        if *network >= 64 || !hash.starts_with(checksum) {
            return None;
        }
        id.try_into().ok().map(Self)
    }

    /// The account in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for AccountId {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The well-known development account as every network writes it.
    #[test]
    fn one_account_of_many_networks() {
        let alice = AccountId::parse("5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY").unwrap();
        assert_eq!(crate::encoding::hex(alice.bytes()), "0xd43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d");
        for text in ["15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5", "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F"] {
            assert_eq!(AccountId::parse(text), Some(alice), "{text}");
        }
        assert_eq!(AccountId::parse("111111111111111111111111111111111HC1"), Some(AccountId([0; 32])));
    }
}
