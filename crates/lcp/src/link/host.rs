//! Hosts and ports of ASCII text, as the URL Standard judges them.

use std::net::Ipv6Addr;

/// Splits the host from what stands behind the first colon outside brackets.
pub(super) fn split_port(authority: &str) -> (&str, Option<&str>) {
    let mut in_brackets = false;
    let mut parts = authority.splitn(2, |c| {
        in_brackets = c == '[' || in_brackets && c != ']';
        c == ':' && !in_brackets
    });
    (parts.next().unwrap_or_default(), parts.next())
}

/// Whether the text behind a host's colon is a port: decimal digits, or nothing.
pub(super) fn is_port(digits: &str) -> bool {
    number(digits, 10).is_some_and(|port| port <= u16::MAX.into())
}

/// Whether a host that starts with `[` is an IPv6 address in brackets.
pub(super) fn is_bracketed_ipv6(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Whether the host ends in no number, or else is an IPv4 address.
pub(super) fn is_name_or_ipv4(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    let ends_in_number = ipv4_part(last).is_some() || !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    !ends_in_number || is_ipv4(host)
}

/// Up to three bytes, and a last number that fills the bytes left of the four.
fn is_ipv4(host: &str) -> bool {
    let parts = host.split('.').map(ipv4_part).collect::<Option<Vec<_>>>().unwrap_or_default();
    let Some((&last, bytes)) = parts.split_last() else { return false };
    bytes.len() <= 3 && bytes.iter().all(|&byte| byte <= u8::MAX.into()) && last < 1 << (32 - 8 * bytes.len())
}

/// A number of an IPv4 address: hexadecimal after `0x`, octal after `0`, else decimal.
fn ipv4_part(part: &str) -> Option<u64> {
    if let Some(digits) = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
        return number(digits, 16);
    }
    match part.strip_prefix('0') {
        Some(digits) => number(digits, 8),
        None if part.is_empty() => None,
        None => number(part, 10),
    }
}

/// The digits as a number, saturated, however many they are; none are 0.
fn number(digits: &str, radix: u32) -> Option<u64> {
    digits.chars().try_fold(0u64, |number, digit| {
        let digit = digit.to_digit(radix)?;
        Some(number.saturating_mul(radix.into()).saturating_add(digit.into()))
    })
}
