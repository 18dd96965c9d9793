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
        let (network, address) = text.rsplit_once(':')?;
        if !is_network(network) || !is_of(address, 1..=128, |b| matches!(b, b'-' | b'.' | b'%') || b.is_ascii_alphanumeric()) {
            return None;
        }
        let address = if network.starts_with("eip155:") { address.to_owned() } else { unescape(address)? };
        Some(Self { network: network.to_owned(), address })
    }
}

/// Whether the text is a CAIP-2 network, `namespace:reference`.
pub fn is_network(text: &str) -> bool {
    text.split_once(':').is_some_and(|(namespace, reference)| {
        is_of(namespace, 3..=8, |b| matches!(b, b'-' | b'a'..=b'z' | b'0'..=b'9'))
            && is_of(reference, 1..=32, |b| matches!(b, b'-' | b'_') || b.is_ascii_alphanumeric())
    })
}

fn is_of(text: &str, lengths: std::ops::RangeInclusive<usize>, allowed: fn(u8) -> bool) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(allowed)
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
