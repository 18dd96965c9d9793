use std::fmt;

use crate::wire::protobuf::{Message, put_uint};
use crate::{Object, Value, encoding::is_decimal};

/// Most digits of a number in an entity id's text.
const MAX_DIGITS: usize = 19;

/// An account, a token or a contract, written `shard.realm.num`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityId {
    shard: u64,
    realm: u64,
    num: u64,
}

impl EntityId {
    /// The entity of three zeros, by which a token's place names HBAR.
    pub const ZERO: Self = Self { shard: 0, realm: 0, num: 0 };

    /// Reads three decimals without leading zeros, each of at most 19 digits.
    ///
    /// ```
    /// use lcp::wire::hedera::EntityId;
    /// assert_eq!(EntityId::parse("0.0.1234").unwrap().to_string(), "0.0.1234");
    /// assert!(EntityId::parse("0.0.01234").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let mut next = || number(parts.next()?);
        Some(Self { shard: next()?, realm: next()?, num: next()? })
    }

    /// The entity in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// The entity as a message. Its numbers are the ledger's `int64`; a text may name greater ones, which are written as
    /// they are and are then not read back.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut message = Vec::new();
        put_uint(&mut message, 1, self.shard);
        put_uint(&mut message, 2, self.realm);
        put_uint(&mut message, 3, self.num);
        message
    }

    /// The account in a message, which must name it by its number and not by an alias.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let message = Message::read(message)?;
        if message.has(4) {
            return None;
        }
        Some(Self { shard: message.count(1)?, realm: message.count(2)?, num: message.count(3)? })
    }
}

/// A decimal of at most 19 digits, without leading zeros.
pub(super) fn number(digits: &str) -> Option<u64> {
    let canonical = is_decimal(digits, MAX_DIGITS) && (digits == "0" || !digits.starts_with('0'));
    canonical.then(|| digits.parse().ok())?
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.shard, self.realm, self.num)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_text_of_an_entity() {
        for text in ["0.0.0", "1.2.3", "0.0.9223372036854775808", "9999999999999999999.0.1"] {
            assert_eq!(EntityId::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "0.0", "0.0.1.2", "0.0.01", "00.0.1", "0.0.", "-1.0.0", "+1.0.0", "0.0.1 ", "0.0.\u{661}", "0x1", "0.0.12345678901234567890"]
        {
            assert_eq!(EntityId::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(shard in 0..1_u64 << 63, realm in 0..3_u64, num: u64) {
            let entity = EntityId { shard, realm, num };
            prop_assert_eq!(EntityId::read(&entity.encode()), Some(entity).filter(|entity| i64::try_from(entity.num).is_ok()));
            prop_assert_eq!(EntityId::parse(&entity.to_string()), Some(entity).filter(|entity| entity.num < 10_u64.pow(19)));
        }
    }
}
