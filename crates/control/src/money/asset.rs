//! Assets: tokens on a chain, named by a policy with their decimals.

use std::borrow::Cow;

/// A token that a policy names. It is a currency of its own, whatever its price is pegged to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asset {
    id: Box<str>,
    symbol: Box<str>,
    decimals: u8,
}

/// Most decimals of an asset.
pub const MAX_DECIMALS: u8 = 18;
const MAX_SYMBOL: usize = 16;

impl Asset {
    /// The asset of a CAIP-19 id (the address of an `eip155` chain in either case, held in lower case), a symbol of up to
    /// 16 ASCII letters, digits, `.`, `$` or `-`, and at most [`MAX_DECIMALS`] decimals.
    pub fn new(id: &str, symbol: &str, decimals: u8) -> Option<Self> {
        let is_symbol = (1..=MAX_SYMBOL).contains(&symbol.len()) && symbol.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".$-".contains(&byte));
        if !is_id(id) || !is_symbol || decimals > MAX_DECIMALS {
            return None;
        }
        Some(Self { id: one_spelling(id).into(), symbol: symbol.into(), decimals })
    }

    /// The CAIP-19 id, such as `eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the text is the id, in any spelling that [`Asset::new`] takes.
    pub fn has_id(&self, text: &str) -> bool {
        one_spelling(text) == *self.id
    }

    /// What people call it.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// One of its units is 10^-decimals of it.
    pub fn decimals(&self) -> u8 {
        self.decimals
    }
}

/// Addresses of `eip155` chains differ in case only by their checksum.
fn one_spelling(id: &str) -> Cow<'_, str> {
    if id.starts_with("eip155:") { id.to_ascii_lowercase().into() } else { id.into() }
}

/// CAIP-19: a chain id (CAIP-2), `/`, and the asset's namespace and reference.
fn is_id(id: &str) -> bool {
    let is_namespace =
        |text: &str| (3..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let is_reference = |text: &str, max, more: &[u8]| {
        (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let Some((chain, asset)) = id.split_once('/') else { return false };
    let (Some((namespace, reference)), Some((kind, token))) = (chain.split_once(':'), asset.split_once(':')) else { return false };
    is_namespace(namespace) && is_reference(reference, 32, b"-_") && is_namespace(kind) && is_reference(token, 128, b"-.%")
}

#[cfg(test)]
mod tests {
    use super::*;

    const USDC: &str = "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";

    #[test]
    fn one_spelling() {
        let usdc = Asset::new(USDC, "USDC", 6).unwrap();
        assert_eq!(usdc.id(), USDC.to_lowercase());
        assert!(usdc.has_id(USDC) && usdc.has_id(usdc.id()) && !usdc.has_id("USDC"));
        let mint = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
        let solana = Asset::new(mint, "USDC", 6).unwrap();
        assert_eq!(solana.id(), mint);
        assert!(!solana.has_id(&mint.to_lowercase()));
    }

    #[test]
    fn refuses() {
        for id in [
            "",
            "USDC",
            "eip155:84532",
            "eip155:84532/erc20",
            "eip155:84532/erc20:",
            "eip155/erc20:0x1",
            "EIP155:1/erc20:0x1",
            "eip155:1/erc20:0x1 ",
            "eip155:1/erc20:0x1/2",
        ] {
            assert_eq!(Asset::new(id, "USDC", 6), None, "{id}");
        }
        assert_eq!(Asset::new(USDC, "", 6), None);
        assert_eq!(Asset::new(USDC, "US DC", 6), None);
        assert_eq!(Asset::new(USDC, "USDC", 19), None);
    }
}
