use std::fmt;

use crate::{Object, Value, encoding};

/// A standard address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// 0, -1 for the masterchain, or a chain that there is not yet.
    pub workchain: i8,
    /// The hash of the account's first state.
    pub hash: [u8; 32],
}

impl Address {
    /// Reads the raw form: the workchain in decimal, `:`, 64 hex digits.
    ///
    /// ```
    /// use lcp::wire::ton::Address;
    /// let hash = "ab".repeat(32);
    /// assert_eq!(Address::parse(&format!("-1:{hash}")).unwrap().workchain, -1);
    /// assert!(Address::parse(&format!("128:{hash}")).is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (workchain, digits) = text.split_once(':')?;
        if !encoding::is_decimal(workchain.strip_prefix('-').unwrap_or(workchain), 10) {
            return None;
        }
        let mut hash = [0; 32];
        encoding::hex_into(digits, &mut hash)?;
        Some(Self { workchain: workchain.parse().ok()?, hash })
    }

    /// The address in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// Whether its workchain is one that there is: the masterchain or the basechain.
    pub fn exists(&self) -> bool {
        matches!(self.workchain, -1 | 0)
    }
}

/// The raw form.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.workchain, encoding::bare_hex(&self.hash))
    }
}
