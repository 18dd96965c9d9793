//! `mode` and `deviation`: how far a payment may lie above what the person said it may cost.

use crate::{Currency, Fault, FaultCode, Money, fault::codes, read::Field};

codes! {
    /// How a payment may differ from the amount that the person named.
    pub enum Mode {
        /// Never above it.
        Specified = "specified",
        /// Above it within the deviation, else denied.
        Bounded = "bounded",
        /// Above it within the deviation, else a person is asked.
        BoundedStepUp = "bounded_stepup",
    }
}

/// A bound above a named amount: the smaller of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// In hundredths of a percent, at most 10,000.
    pub basis_points: Option<u32>,
    /// In the policy's currency.
    pub amount: Option<Money>,
}

impl Deviation {
    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members = field.members(&["percent", "amount"])?;
        let deviation = Self {
            basis_points: members
                .read("percent", |field| field.formed(basis_points, "Give a percentage from \"0\" to \"100\" with at most two decimals."))?,
            amount: members.read("amount", |field| field.money(currency))?,
        };
        if deviation.basis_points.is_none() && deviation.amount.is_none() {
            return Err(field.fault(FaultCode::TooShort, "Give a percentage or an amount."));
        }
        Ok(deviation)
    }

    /// The most that may be paid where this much was named; `None` if the amounts are in two currencies.
    pub fn most(&self, named: &Money) -> Option<Money> {
        // Rounded down: the payer's bound is never passed by a fraction.
        let by_percent = match self.basis_points {
            Some(points) => Some(Money::new(named.checked_mul(points)?.units() / 10_000, named.currency().clone())),
            None => None,
        };
        let bound = match (by_percent, self.amount.clone()) {
            (Some(a), Some(b)) => {
                if a.compare(&b)?.is_le() {
                    a
                } else {
                    b
                }
            }
            (Some(bound), None) | (None, Some(bound)) => bound,
            (None, None) => Money::zero(named.currency().clone()),
        };
        named.checked_add(&bound)
    }

    /// The texts, as a mandate carries them.
    pub fn to_json(&self) -> lcp::Object {
        let percent = self.basis_points.map(|points| match points % 100 {
            0 => format!("{}", points / 100),
            rest => format!("{}.{rest:02}", points / 100),
        });
        lcp::Object::new().with_some("percent", percent).with_some("amount", self.amount.as_ref().map(Money::decimal))
    }
}

/// `0` to `100` with at most two decimals, in hundredths.
fn basis_points(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_plain = |digits: &str, most| (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole, 3) || !is_plain(fraction, 2) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<2}").parse().ok()?;
    Some(whole.parse::<u32>().ok()? * 100 + fraction).filter(|points| *points <= 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        for (text, points) in [("0", 0), ("5", 500), ("2.5", 250), ("2.05", 205), ("100", 10_000), ("100.00", 10_000)] {
            assert_eq!(basis_points(text), Some(points), "{text}");
        }
        for text in ["", ".", "5.", ".5", "-1", "05", "101", "100.01", "2.505", "1e1", "5%", "1000"] {
            assert_eq!(basis_points(text), None, "{text}");
        }
    }

    #[test]
    fn the_smaller_part_counts_and_rounds_down() {
        let usd = |units| Money::new(units, Currency::iso("USD").unwrap());
        let both = Deviation { basis_points: Some(500), amount: Some(usd(1000)) };
        assert_eq!(both.most(&usd(10_000)), Some(usd(10_500)));
        assert_eq!(both.most(&usd(100_000)), Some(usd(101_000)));
        assert_eq!(both.most(&usd(19)), Some(usd(19)));
        assert_eq!(both.most(&Money::new(1, Currency::iso("EUR").unwrap())), None);
        assert_eq!(lcp::json::write(&both.to_json().into()), r#"{"percent":"5","amount":"10.00"}"#);
    }
}
