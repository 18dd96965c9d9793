//! Currencies: ISO 4217 by table, and the assets (tokens) that a policy names.

use std::{fmt, sync::Arc};

use super::Asset;

/// When the table of ISO 4217 codes was published by its maintenance agency (SIX, list one).
pub const ISO_4217_PUBLISHED: &str = "2026-01-01";

/// The active codes that have a minor unit, by their exponent (the number of decimals). Precious metals, testing codes
/// and units of account without one are no currencies here.
const BY_EXPONENT: [(u8, &str); 4] = [
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
    (
        2,
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP \
         COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD \
         KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK \
         NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT \
         TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
    ),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
    (4, "CLF UYW"),
];

/// What an amount is counted in. Amounts of two currencies never meet.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Currency {
    /// A currency of ISO 4217.
    Iso(Iso),
    /// A token that a policy names.
    Asset(Arc<Asset>),
}

/// A currency of ISO 4217 in use.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Iso {
    code: [u8; 3],
    exponent: u8,
}

impl Currency {
    /// The ISO 4217 currency of that code, in upper case.
    ///
    /// ```
    /// use control::Currency;
    /// assert_eq!(Currency::iso("KWD").unwrap().exponent(), 3);
    /// assert!(Currency::iso("usd").is_none() && Currency::iso("HRK").is_none() && Currency::iso("XAU").is_none());
    /// ```
    pub fn iso(code: &str) -> Option<Self> {
        let letters: [u8; 3] = code.as_bytes().try_into().ok()?;
        let (exponent, _) = BY_EXPONENT.iter().find(|(_, codes)| codes.split_ascii_whitespace().any(|known| known == code))?;
        Some(Self::Iso(Iso { code: letters, exponent: *exponent }))
    }

    /// The currency of that code: one of ISO 4217, or the id of one of these assets.
    pub fn find(code: &str, assets: &[Arc<Asset>]) -> Option<Self> {
        Self::iso(code).or_else(|| assets.iter().find(|asset| asset.has_id(code)).cloned().map(Self::Asset))
    }

    /// The code: three letters, or the asset's id.
    pub fn code(&self) -> &str {
        match self {
            // The code was read from a `str`.
            Self::Iso(iso) => str::from_utf8(&iso.code).unwrap_or_default(),
            Self::Asset(asset) => asset.id(),
        }
    }

    /// How many decimals its texts have: one of its units is 10^-exponent.
    pub fn exponent(&self) -> u8 {
        match self {
            Self::Iso(iso) => iso.exponent,
            Self::Asset(asset) => asset.decimals(),
        }
    }

    /// What people call it: the code, or the asset's symbol.
    pub fn symbol(&self) -> &str {
        match self {
            Self::Iso(_) => self.code(),
            Self::Asset(asset) => asset.symbol(),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<&Currency> for lcp::Value {
    fn from(currency: &Currency) -> Self {
        currency.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents() {
        for (codes, exponent) in [("JPY KRW CLP", 0), ("USD EUR CHF GBP UYU", 2), ("BHD TND", 3), ("CLF UYW", 4)] {
            for code in codes.split(' ') {
                let currency = Currency::iso(code).unwrap();
                assert_eq!((currency.code(), currency.exponent()), (code, exponent));
            }
        }
    }

    #[test]
    fn each_code_stands_once() {
        let codes: Vec<_> = BY_EXPONENT.iter().flat_map(|(_, codes)| codes.split_ascii_whitespace()).collect();
        assert_eq!(codes.len(), 165);
        assert_eq!(codes.iter().collect::<std::collections::HashSet<_>>().len(), codes.len());
        assert!(codes.iter().all(|code| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())));
    }

    #[test]
    fn others_are_unknown() {
        for code in ["", "US", "usd", "Usd", "USDC", "US D", "ＵＳＤ", "XXX", "XTS", "XAU", "HRK", "BGN", "ANG", "DEM", "eip155:1/slip44:60"] {
            assert_eq!(Currency::iso(code), None, "{code}");
        }
    }

    #[test]
    fn an_asset_is_found_by_its_id_alone() {
        let usdc = Arc::new(Asset::new("eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC", 6).unwrap());
        let assets = [usdc.clone()];
        let found = Currency::find(usdc.id(), &assets).unwrap();
        assert_eq!((found.exponent(), found.symbol()), (6, "USDC"));
        assert_eq!(Currency::find("USDC", &assets), None);
        assert_eq!(Currency::find("USD", &assets).unwrap(), Currency::iso("USD").unwrap());
        assert_eq!(Currency::find(usdc.id(), &[]), None);
    }
}
