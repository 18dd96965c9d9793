//! Stacks: addresses, Clarity values, and transactions by the rules of stacks-core 4.0.5.
//!
//! Our own: the published codecs are under the GPL.

mod clarity;
mod transaction;

pub use clarity::{is_contract_name, some_buffer};
pub use transaction::{ContractCall, MAX_WIRE, TX_MALFORMED, Transaction};

/// Whether the text has the form of a c32check address: `S` and 38 to 40 letters of its alphabet. No checksum is asked for.
///
/// ```
/// assert!(lcp::wire::stacks::is_address("ST37X3883P4XF1HR8QEWFFAJFKAYHM4DX1E0F8TXT"));
/// ```
pub fn is_address(text: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_digit() || (b.is_ascii_uppercase() && !matches!(b, b'I' | b'L' | b'O' | b'U'));
    text.strip_prefix('S').is_some_and(|rest| (38..=40).contains(&rest.len()) && rest.bytes().all(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (length, is) in [(37, false), (38, true), (40, true), (41, false)] {
            assert_eq!(is_address(&format!("S{}", "T".repeat(length))), is, "{length}");
        }
        for text in [format!("s{}", "T".repeat(38)), format!("S{}", "t".repeat(38)), format!("S{}", "I".repeat(39)), String::new()] {
            assert!(!is_address(&text), "{text}");
        }
    }
}
