//! CAIP-10 accounts: who pays, on which network.

/// A CAIP-10 account, `namespace:reference:address`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// `namespace:reference`, compared as text.
    pub network: String,
    /// The address, `%XX` escapes decoded (for `eip155` as it stands).
    pub address: String,
}

impl Account {
    /// Reads a CAIP-10 account; anything else names no account.
    ///
    /// ```
    /// use lcp::account::Account;
    /// assert_eq!(Account::parse("tvm:-239:0%3Aab").unwrap().address, "0:ab");
    /// assert!(Account::parse("eip155:1").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let (namespace, reference, address) = (parts.next()?, parts.next()?, parts.next()?);
        let of = |text: &str, lengths: std::ops::RangeInclusive<usize>, allowed: fn(u8) -> bool| {
            lengths.contains(&text.len()) && text.bytes().all(allowed)
        };
        let well_formed = of(namespace, 3..=8, |b| matches!(b, b'-' | b'a'..=b'z' | b'0'..=b'9'))
            && of(reference, 1..=32, |b| matches!(b, b'-' | b'_') || b.is_ascii_alphanumeric())
            && of(address, 1..=128, |b| matches!(b, b'-' | b'.' | b'%') || b.is_ascii_alphanumeric());
        if !well_formed {
            return None;
        }
        let address = if namespace == "eip155" { address.to_owned() } else { unescape(address)? };
        Some(Self { network: format!("{namespace}:{reference}"), address })
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let (digits, tail) = tail.split_at_checked(2)?;
            let mut byte = [0];
            crate::encoding::hex_into(std::str::from_utf8(digits).ok()?, &mut byte)?;
            bytes.push(byte[0]);
            rest = tail;
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}
