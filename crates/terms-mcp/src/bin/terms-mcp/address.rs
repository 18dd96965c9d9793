//! Hosts, addresses and networks: what a link's host names, and which addresses are public.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// A link's host, as the URL Standard's host parser reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A name, as written: it is not judged here, an internationalized one neither.
    Name(String),
    /// An address literal: an IPv4 address in any of its spellings, or a bracketed IPv6 address.
    Address(IpAddr),
}

impl Host {
    /// Reads a host. `None` for an empty host, and for one that ends in a number or stands in brackets and is no
    /// address.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            return rest.strip_suffix(']')?.parse().ok().map(|address: Ipv6Addr| Self::Address(address.into()));
        }
        if text.is_empty() {
            return None;
        }
        let dotless = text.strip_suffix('.').unwrap_or(text);
        let last = dotless.rsplit('.').next().unwrap_or(dotless);
        let ends_in_a_number = ipv4_number(last).is_some() || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()));
        if ends_in_a_number { ipv4(dotless).map(|address| Self::Address(address.into())) } else { Some(Self::Name(text.to_owned())) }
    }
}

/// As the authority of a URL has it.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// The URL Standard's IPv4 parser: one to four numbers, of which the last fills the bytes that are left.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let numbers = text.split('.').map(ipv4_number).take(5).collect::<Option<Vec<u64>>>()?;
    let (&last, bytes) = numbers.split_last().filter(|(_, bytes)| bytes.len() < 4)?;
    let mut high = 0u64;
    for &byte in bytes {
        high = high << 8 | u64::from(u8::try_from(byte).ok()?);
    }
    let bits_left = 32 - 8 * bytes.len();
    (last < 1 << bits_left).then_some(high << bits_left | last).and_then(|bits| u32::try_from(bits).ok()).map(Ipv4Addr::from)
}

/// A number of an IPv4 address: decimal, octal behind `0`, or hex behind `0x`. One that is too large for any address
/// comes out as `u64::MAX`.
fn ipv4_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { 0 } else { u64::from_str_radix(digits, radix).unwrap_or(u64::MAX) })
}

/// A network in CIDR notation, the host bits zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Net {
    address: IpAddr,
    prefix: u32,
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u32) -> Net {
    Net { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
}

const fn v6(first: u16, second: u16, sixth: u16, prefix: u32) -> Net {
    Net { address: IpAddr::V6(Ipv6Addr::new(first, second, 0, 0, 0, sixth, 0, 0)), prefix }
}

/// IPv4 blocks that are not public, from the IANA special-purpose registry and the multicast and reserved ranges.
const SPECIAL_V4: [Net; 15] = [
    v4(0, 0, 0, 0, 8),       // this network
    v4(10, 0, 0, 0, 8),      // private
    v4(100, 64, 0, 0, 10),   // shared by carriers
    v4(127, 0, 0, 0, 8),     // loopback
    v4(169, 254, 0, 0, 16),  // link-local
    v4(172, 16, 0, 0, 12),   // private
    v4(192, 0, 0, 0, 24),    // IETF assignments
    v4(192, 0, 2, 0, 24),    // documentation
    v4(192, 88, 99, 0, 24),  // 6to4 relays
    v4(192, 168, 0, 0, 16),  // private
    v4(198, 18, 0, 0, 15),   // benchmarks
    v4(198, 51, 100, 0, 24), // documentation
    v4(203, 0, 113, 0, 24),  // documentation
    v4(224, 0, 0, 0, 4),     // multicast
    v4(240, 0, 0, 0, 4),     // reserved, broadcast
];

/// The only IPv6 block that addresses of the Internet at large are given out from.
const GLOBAL_V6: Net = v6(0x2000, 0, 0, 3);

/// Blocks inside [`GLOBAL_V6`] that are not public.
const SPECIAL_V6: [Net; 4] = [
    v6(0x2001, 0, 0, 23),     // IETF assignments, Teredo
    v6(0x2001, 0xDB8, 0, 32), // documentation
    v6(0x2002, 0, 0, 16),     // 6to4
    v6(0x3FFF, 0, 0, 20),     // documentation
];

/// IPv6 blocks whose last 32 bits are the IPv4 address that is meant: IPv4-mapped, and NAT64 (RFC 6052).
const EMBEDS_V4: [Net; 2] = [v6(0, 0, 0xFFFF, 96), v6(0x64, 0xFF9B, 0, 96)];

impl Net {
    fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(net), IpAddr::V4(address)) => (net.to_bits() ^ address.to_bits()).leading_zeros() >= self.prefix,
            (IpAddr::V6(net), IpAddr::V6(address)) => (net.to_bits() ^ address.to_bits()).leading_zeros() >= self.prefix,
            _ => false,
        }
    }
}

/// Whether a connection may go to the address: it is public, or in a network that the operator allows. An address that
/// embeds an IPv4 address is judged by that one.
pub(crate) fn may_connect(address: IpAddr, allowed: &[Net]) -> bool {
    let address = match address {
        IpAddr::V6(v6) if EMBEDS_V4.iter().any(|net| net.contains(address)) => {
            let [.., a, b, c, d] = v6.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        _ => address,
    };
    let within = |nets: &[Net]| nets.iter().any(|net| net.contains(address));
    let public = match address {
        IpAddr::V4(_) => !within(&SPECIAL_V4),
        IpAddr::V6(_) => GLOBAL_V6.contains(address) && !within(&SPECIAL_V6),
    };
    public || within(allowed)
}

/// Why a text is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetError {
    Form,
    HostBits,
    EmbedsV4,
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not a network such as 127.0.0.0/8 or fd00::/8",
            Self::HostBits => "the address has bits set behind the prefix",
            Self::EmbedsV4 => "such addresses are judged by the IPv4 address inside; name the IPv4 network",
        })
    }
}

impl std::error::Error for NetError {}

/// `address/prefix`.
impl FromStr for Net {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Self, NetError> {
        let (address, prefix) = text.split_once('/').ok_or(NetError::Form)?;
        let address: IpAddr = address.parse().map_err(|_| NetError::Form)?;
        let plain = prefix.len() <= 3 && prefix.bytes().all(|b| b.is_ascii_digit()) && (prefix == "0" || !prefix.starts_with('0'));
        let prefix: u32 = Some(prefix).filter(|_| plain).and_then(|prefix| prefix.parse().ok()).ok_or(NetError::Form)?;
        let (bits, host_bits) = match address {
            IpAddr::V4(address) => (32, u128::from(address.to_bits().checked_shl(prefix).unwrap_or(0))),
            IpAddr::V6(address) => (128, address.to_bits().checked_shl(prefix).unwrap_or(0)),
        };
        if prefix > bits {
            return Err(NetError::Form);
        }
        if host_bits != 0 {
            return Err(NetError::HostBits);
        }
        if EMBEDS_V4.iter().any(|block| prefix >= block.prefix && block.contains(address)) {
            return Err(NetError::EmbedsV4);
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_public(text: &str) -> bool {
        may_connect(text.parse().unwrap(), &[])
    }

    #[test]
    fn ipv4_in_every_spelling() {
        for (text, address) in [
            ("1.2.3.4", "1.2.3.4"),
            ("1.2.3.4.", "1.2.3.4"),
            ("1.2.3", "1.2.0.3"),
            ("127.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("0X7F000001", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("0177.0.0.01", "127.0.0.1"),
            ("0x.0x.0", "0.0.0.0"),
            ("4294967295", "255.255.255.255"),
            ("00000000000000000000000000000001", "0.0.0.1"),
            ("1.16777215", "1.255.255.255"),
        ] {
            assert_eq!(Host::parse(text), Some(Host::Address(address.parse().unwrap())), "{text}");
        }
        for text in [
            "256.1.1.1",
            "1.2.3.256",
            "1.2.3.4.5",
            "4294967296",
            "1.16777216",
            "a.1",
            "a.0x1",
            "a.0x",
            "09.1.1.1",
            "1.2.3.09",
            "1..2",
            "0xffffffffffffffffffffffffffffffff",
            "99999999999999999999999999",
            "",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ipv6_stands_in_brackets() {
        assert_eq!(Host::parse("[::1]"), Some(Host::Address(Ipv6Addr::LOCALHOST.into())));
        assert_eq!(Host::parse("[::FFFF:10.0.0.1]"), Some(Host::Address("::ffff:10.0.0.1".parse().unwrap())));
        assert_eq!(Host::parse("[1:2:3:4:5:6:7::]").unwrap().to_string(), "[1:2:3:4:5:6:7:0]");
        for text in ["[1.2.3.4]", "[]", "[::g]", "[:::1]", "[::1%25eth0]", "[::1%eth0]", "[::1", "[1::2:3:4:5:6:7:8]", "[::1]a"] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_kept_as_written() {
        for text in ["a", "localhost", "A.Example.", "xn--zz", "xn--ls8h.example", "1.2.3.4a", "0xg", "1.a", "a-1", "a..b"] {
            assert_eq!(Host::parse(text), Some(Host::Name(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn block_boundaries() {
        let public = "
            1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
            169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0
            192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
            203.0.114.0 223.255.255.255 2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
            2001:ffff:: 2003:: 3ffe:ffff:: 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ::ffff:8.8.8.8
            64:ff9b::8.8.8.8";
        let others = "
            0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255
            169.254.0.0 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255
            192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0
            198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255 :: ::1
            ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::fffe:8.8.8.8 64:ff9b::10.0.0.1 64:ff9b::1:808:808
            64:ff9b:1::8.8.8.8 100:: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:: 2001:0:808:808::
            2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002::
            2002:808:808:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
            4000:: 5f00:: fc00:: fdff:: fe80:: fec0:: ff02::1";
        for text in public.split_whitespace() {
            assert!(is_public(text), "{text}");
        }
        for text in others.split_whitespace() {
            assert!(!is_public(text), "{text}");
        }
    }

    #[test]
    fn an_allowed_network_counts_as_public() {
        let allowed: Vec<Net> = ["127.0.0.0/8", "fd00::/8", "2001:db8::/32"].iter().map(|text| text.parse().unwrap()).collect();
        for text in ["127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd12::1", "2001:db8::1", "8.8.8.8"] {
            assert!(may_connect(text.parse().unwrap(), &allowed), "{text}");
        }
        for text in ["10.0.0.1", "::1", "fc00::1", "::ffff:10.0.0.1", "::127.0.0.1"] {
            assert!(!may_connect(text.parse().unwrap(), &allowed), "{text}");
        }
        // Even the whole of IPv6 holds no IPv4 address.
        let allowed = ["::/0".parse().unwrap()];
        assert!(may_connect(Ipv6Addr::LOCALHOST.into(), &allowed));
        assert!(!may_connect("::ffff:10.0.0.1".parse().unwrap(), &allowed));
        assert!(!may_connect("10.0.0.1".parse().unwrap(), &allowed));
    }

    #[test]
    fn networks_are_read_strictly() {
        for text in ["0.0.0.0/0", "127.0.0.0/8", "10.1.2.3/32", "::/0", "fd00::/8", "::1/128", "64:ff9b::/95"] {
            assert_eq!(text.parse::<Net>().map(|net| net.to_string()), Ok(text.to_owned()));
        }
        for (text, error) in [
            ("127.0.0.1", NetError::Form),
            ("127.0.0.0/", NetError::Form),
            ("127.0.0.0/33", NetError::Form),
            ("127.0.0.0/08", NetError::Form),
            ("127.0.0.0/00", NetError::Form),
            ("127.0.0.0/+8", NetError::Form),
            ("127.0.0.0/8 ", NetError::Form),
            (" 127.0.0.0/8", NetError::Form),
            ("127.0.0.0/8/8", NetError::Form),
            ("127.0.0.0/255.0.0.0", NetError::Form),
            ("127/8", NetError::Form),
            ("0177.0.0.0/8", NetError::Form),
            ("[::]/0", NetError::Form),
            ("::/129", NetError::Form),
            ("fe80::%eth0/10", NetError::Form),
            ("localhost/8", NetError::Form),
            ("127.0.0.1/8", NetError::HostBits),
            ("10.0.0.1/0", NetError::HostBits),
            ("::1/127", NetError::HostBits),
            ("::ffff:127.0.0.0/104", NetError::EmbedsV4),
            ("::ffff:0.0.0.0/96", NetError::EmbedsV4),
            ("64:ff9b::/96", NetError::EmbedsV4),
        ] {
            assert_eq!(text.parse::<Net>(), Err(error), "{text}");
        }
    }

    /// The rule once more, by comparing numbers.
    fn naive(address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                !(matches!(a, 0 | 10 | 127 | 224..)
                    || (a == 100 && b / 64 == 1)
                    || matches!((a, b), (169, 254) | (172, 16..32) | (192, 168) | (198, 18 | 19))
                    || matches!((a, b, c), (192, 0, 0 | 2) | (192, 88, 99) | (198, 51, 100) | (203, 0, 113)))
            }
            IpAddr::V6(address) => match address.segments() {
                [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
                    naive(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into())
                }
                [0x2001, 0..0x200 | 0xDB8, ..] | [0x2002, ..] | [0x3FFF, 0..0x1000, ..] => false,
                [first, ..] => (0x2000..0x4000).contains(&first),
            },
        }
    }

    /// IPv4 bits, half of them near the blocks.
    fn some_v4() -> impl Strategy<Value = u32> {
        let near = (prop::sample::select(SPECIAL_V4.to_vec()), any::<u32>(), any::<bool>()).prop_map(|(net, low, flip)| {
            let IpAddr::V4(address) = net.address else { return low };
            let base = address.to_bits() | low.checked_shr(net.prefix).unwrap_or(0);
            if flip { base ^ (1 << (32 - net.prefix)) } else { base }
        });
        prop_oneof![any::<u32>(), near]
    }

    fn some_v6() -> impl Strategy<Value = u128> {
        let nets: Vec<Net> = SPECIAL_V6.into_iter().chain(EMBEDS_V4).chain([GLOBAL_V6]).collect();
        let near = (prop::sample::select(nets), any::<u128>(), any::<bool>()).prop_map(|(net, low, flip)| {
            let IpAddr::V6(address) = net.address else { return low };
            let base = address.to_bits() | low.checked_shr(net.prefix).unwrap_or(0);
            if flip { base ^ (1 << (128 - net.prefix)) } else { base }
        });
        let embedded = (some_v4(), any::<bool>()).prop_map(|(v4, mapped)| {
            let prefix: u128 = if mapped { 0xFFFF << 32 } else { 0x0064_FF9B << 96 };
            prefix | u128::from(v4)
        });
        prop_oneof![any::<u128>(), near, embedded]
    }

    proptest! {
        #[test]
        fn judges_ipv4_as_the_naive_rule(bits in some_v4()) {
            let address = Ipv4Addr::from_bits(bits).into();
            prop_assert_eq!(may_connect(address, &[]), naive(address), "{}", address);
        }

        #[test]
        fn judges_ipv6_as_the_naive_rule(bits in some_v6()) {
            let address = Ipv6Addr::from_bits(bits).into();
            prop_assert_eq!(may_connect(address, &[]), naive(address), "{}", address);
        }

        #[test]
        fn a_network_reads_back(bits in some_v6(), prefix in 0u32..=128, four in any::<bool>()) {
            let (width, bits) = if four { (32, bits & 0xFFFF_FFFF) } else { (128, bits) };
            let prefix = prefix.min(width);
            let kept = bits.checked_shr(width - prefix).and_then(|high| high.checked_shl(width - prefix)).unwrap_or(0);
            let ip = |bits: u128| match u32::try_from(bits) {
                Ok(bits) if four => IpAddr::V4(Ipv4Addr::from_bits(bits)),
                _ => IpAddr::V6(Ipv6Addr::from_bits(bits)),
            };
            let text = format!("{}/{prefix}", ip(kept));
            match text.parse::<Net>() {
                Ok(net) => {
                    prop_assert_eq!(net.to_string(), text);
                    prop_assert!(net.contains(ip(bits)));
                    if prefix > 0 {
                        prop_assert!(!net.contains(ip(bits ^ 1 << (width - prefix))));
                    }
                }
                Err(error) => prop_assert_eq!(error, NetError::EmbedsV4),
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,40}|[0-9a-fxX.:\\[\\]/]{0,40}") {
            let _ = text.parse::<Net>();
            if let Some(Host::Name(name)) = Host::parse(&text) {
                prop_assert_eq!(name, text);
            }
        }

        #[test]
        fn every_dotted_quad_is_read(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            for text in [address.to_string(), format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}")] {
                prop_assert_eq!(Host::parse(&text), Some(Host::Address(address.into())), "{}", text);
            }
        }
    }
}
