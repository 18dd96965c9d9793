//! Money: a whole number of a currency's smallest units, never a float and never across currencies.

mod asset;
mod currency;

use std::{cmp::Ordering, fmt};

pub use asset::{Asset, MAX_DECIMALS};
pub use currency::{Currency, ISO_4217_PUBLISHED, Iso};

use crate::FaultCode;

/// An amount. A text never gives a negative one; a difference may be.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Money {
    units: i128,
    currency: Currency,
}

/// The largest amount that a text may name, in units: sums of 10^11 of them still fit.
pub const MAX_UNITS: i128 = 10i128.pow(27);
/// Most digits before the point.
const MAX_WHOLE_DIGITS: usize = 18;

impl Money {
    /// That many of the currency's smallest units.
    pub const fn new(units: i128, currency: Currency) -> Self {
        Self { units, currency }
    }

    /// Nothing, in that currency.
    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// Reads a plain decimal: at most 18 digits before the point, no leading zero, no sign, and at most as many digits
    /// behind the point as the currency has. A shorter fraction is filled with zeros; nothing is ever rounded.
    ///
    /// ```
    /// use control::{Currency, FaultCode, Money};
    /// let usd = Currency::iso("USD").unwrap();
    /// assert_eq!(Money::parse("5", &usd).unwrap().units(), 500);
    /// assert_eq!(Money::parse("5.005", &usd), Err(FaultCode::AmountPrecision));
    /// ```
    pub fn parse(text: &str, currency: &Currency) -> Result<Self, FaultCode> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(FaultCode::AmountMalformed),
            Some((whole, fraction)) => (whole, fraction),
            None => (text, ""),
        };
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) || !is_plain(whole) || !is_plain(fraction) {
            return Err(FaultCode::AmountMalformed);
        }
        if whole.len() > MAX_WHOLE_DIGITS {
            return Err(FaultCode::AmountTooLarge);
        }
        let exponent = usize::from(currency.exponent());
        if fraction.len() > exponent {
            return Err(FaultCode::AmountPrecision);
        }
        // At most 36 digits, which an i128 holds.
        let digits = whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', exponent - fraction.len()));
        let units = digits.fold(0i128, |units, digit| units * 10 + i128::from(digit - b'0'));
        if units > MAX_UNITS {
            return Err(FaultCode::AmountTooLarge);
        }
        Ok(Self::new(units, currency.clone()))
    }

    /// The whole number of smallest units.
    pub const fn units(&self) -> i128 {
        self.units
    }

    /// What the units are of.
    pub const fn currency(&self) -> &Currency {
        &self.currency
    }

    /// Whether this is nothing.
    pub const fn is_zero(&self) -> bool {
        self.units == 0
    }

    /// The sum, if both are of one currency and it fits.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        self.with(other, i128::checked_add)
    }

    /// The difference, if both are of one currency and it fits; negative where the other is larger.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        self.with(other, i128::checked_sub)
    }

    fn with(&self, other: &Self, operation: fn(i128, i128) -> Option<i128>) -> Option<Self> {
        let units = if self.currency == other.currency { operation(self.units, other.units) } else { None };
        units.map(|units| Self::new(units, self.currency.clone()))
    }

    /// Which is more, or `None` for two currencies. There is no `PartialOrd`, whose `>` would answer `false` then.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        (self.currency == other.currency).then(|| self.units.cmp(&other.units))
    }

    /// Whether this is at most the limit; `None` for two currencies.
    pub fn is_within(&self, limit: &Self) -> Option<bool> {
        self.compare(limit).map(Ordering::is_le)
    }

    /// That many times the amount, if it fits.
    pub fn checked_mul(&self, times: u32) -> Option<Self> {
        self.units.checked_mul(times.into()).map(|units| Self::new(units, self.currency.clone()))
    }

    /// The decimal text with exactly as many digits behind the point as the currency has.
    pub fn decimal(&self) -> String {
        let (sign, units) = (if self.units < 0 { "-" } else { "" }, self.units.unsigned_abs());
        let exponent = self.currency.exponent();
        if exponent == 0 {
            return format!("{sign}{units}");
        }
        let scale = 10u128.pow(exponent.into());
        format!("{sign}{}.{:0width$}", units / scale, units % scale, width = exponent.into())
    }

    /// `{"value": decimal, "currency": code}`
    pub fn to_json(&self) -> lcp::Object {
        lcp::Object::new().with("value", self.decimal()).with("currency", &self.currency)
    }
}

/// The decimal text and the currency's symbol.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.decimal(), self.currency.symbol())
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn iso(code: &str) -> Currency {
        Currency::iso(code).unwrap()
    }

    fn units(text: &str, code: &str) -> Result<i128, FaultCode> {
        Money::parse(text, &iso(code)).map(|money| money.units())
    }

    #[test]
    fn reads_plain_decimals() {
        assert_eq!(units("5", "USD"), Ok(500));
        assert_eq!(units("0.05", "USD"), Ok(5));
        assert_eq!(units("0", "USD"), Ok(0));
        assert_eq!(units("48.0", "USD"), Ok(4800));
        assert_eq!(units("500", "JPY"), Ok(500));
        assert_eq!(units("1.005", "KWD"), Ok(1005));
        assert_eq!(units("999999999999999999.9999", "CLF"), Ok(9_999_999_999_999_999_999_999));
    }

    #[test]
    fn refuses_what_is_no_plain_decimal() {
        for text in [
            "",
            ".",
            ".5",
            "5.",
            "-5",
            "+5",
            "05",
            "00",
            "1e3",
            "1_000",
            "1,000",
            " 5",
            "5 ",
            "5.0.0",
            "NaN",
            "Infinity",
            "0x5",
            "５",
            "٥",
            "5\u{200B}",
            "5.-1",
            "5.+1",
            "--",
        ] {
            assert_eq!(units(text, "USD"), Err(FaultCode::AmountMalformed), "{text}");
        }
    }

    #[test]
    fn never_rounds() {
        assert_eq!(units("5.000", "USD"), Err(FaultCode::AmountPrecision));
        assert_eq!(units("5.0", "JPY"), Err(FaultCode::AmountPrecision));
        assert_eq!(units("5.0000", "KWD"), Err(FaultCode::AmountPrecision));
        assert_eq!(units(&format!("5.{}", "0".repeat(1 << 20)), "USD"), Err(FaultCode::AmountPrecision));
    }

    #[test]
    fn bounds() {
        assert_eq!(units("1000000000000000000", "USD"), Err(FaultCode::AmountTooLarge));
        assert_eq!(units(&"9".repeat(1 << 20), "USD"), Err(FaultCode::AmountTooLarge));
        let ether = Currency::Asset(Arc::new(Asset::new("eip155:1/slip44:60", "ETH", 18).unwrap()));
        assert_eq!(Money::parse("1000000000", &ether).unwrap().units(), MAX_UNITS);
        assert_eq!(Money::parse("1000000000.000000000000000001", &ether), Err(FaultCode::AmountTooLarge));
        assert_eq!(Money::parse("999999999999999999.999999999999999999", &ether), Err(FaultCode::AmountTooLarge));
    }

    #[test]
    fn currencies_never_meet() {
        let (dollar, euro) = (Money::new(1, iso("USD")), Money::new(1, iso("EUR")));
        assert_eq!(dollar.checked_add(&euro), None);
        assert_eq!(dollar.checked_sub(&euro), None);
        assert_eq!(dollar.compare(&euro), None);
        assert_eq!(dollar.is_within(&euro), None);
        assert_ne!(dollar, euro);
        let asset = |decimals| Currency::Asset(Arc::new(Asset::new("eip155:1/slip44:60", "ETH", decimals).unwrap()));
        assert_eq!(Money::new(1, asset(18)).compare(&Money::new(1, asset(17))), None);
    }

    #[test]
    fn arithmetic_is_checked() {
        let most = Money::new(i128::MAX, iso("USD"));
        let one = Money::new(1, iso("USD"));
        assert_eq!(most.checked_add(&one), None);
        assert_eq!(most.checked_mul(2), None);
        assert_eq!(
            one.checked_sub(&most).unwrap().checked_sub(&one).and_then(|less| less.checked_sub(&one)),
            Some(Money::new(i128::MIN, iso("USD")))
        );
        assert_eq!(Money::new(i128::MIN, iso("USD")).decimal(), "-1701411834604692317316873037158841057.28");
    }

    #[test]
    fn texts() {
        assert_eq!(Money::new(4800, iso("USD")).to_string(), "48.00 USD");
        assert_eq!(Money::new(-5, iso("USD")).decimal(), "-0.05");
        assert_eq!(Money::new(7, iso("JPY")).decimal(), "7");
        assert_eq!(lcp::json::write(&Money::new(1005, iso("KWD")).to_json().into()), r#"{"value":"1.005","currency":"KWD"}"#);
    }

    proptest! {
        #[test]
        fn text_names_the_amount(units in 0..=MAX_UNITS / 1_000_000_000, code in prop::sample::select(vec!["JPY", "USD", "KWD", "CLF"])) {
            let money = Money::new(units, iso(code));
            prop_assert_eq!(Money::parse(&money.decimal(), &iso(code)), Ok(money));
        }

        #[test]
        fn sums_go_back(a in -MAX_UNITS..MAX_UNITS, b in -MAX_UNITS..MAX_UNITS) {
            let (a, b) = (Money::new(a, iso("USD")), Money::new(b, iso("USD")));
            prop_assert_eq!(a.checked_add(&b).and_then(|sum| sum.checked_sub(&b)), Some(a));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.]{0,40}|\\PC{0,20}") {
            if let Ok(money) = Money::parse(&text, &iso("USD")) {
                prop_assert!((0..=MAX_UNITS).contains(&money.units()));
            }
        }
    }
}
