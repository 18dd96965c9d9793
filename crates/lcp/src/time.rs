//! Dates and times as texts.

/// A date and time of RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Unix seconds, the fraction dropped; a leap second counts as the one behind it.
    pub(crate) unix_seconds: i64,
    /// Whether the seconds are written as 60, which stands for a leap second in any minute here.
    pub(crate) is_leap_second: bool,
    /// How many digits the fraction has.
    pub(crate) fraction_digits: usize,
}

impl Moment {
    /// Reads `YYYY-MM-DDThh:mm:ss[.digits](Z|±hh:mm)`, a real date of the proleptic Gregorian calendar; `T` and `Z` may be
    /// small.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (head, mut rest) = text.as_bytes().split_first_chunk::<19>()?;
        let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T' | b't', h1, h2, b':', mi1, mi2, b':', s1, s2] = head else { return None };
        let year = number(&[*y1, *y2, *y3, *y4])?;
        let month = number(&[*mo1, *mo2])?;
        let day = number(&[*d1, *d2])?;
        let second = number(&[*s1, *s2]).filter(|second| *second <= 60)?;
        let seconds = time(&[*h1, *h2], &[*mi1, *mi2])? + second;

        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 => 28 + i64::from(leap),
            _ => return None,
        };
        if !(1..=days).contains(&day) {
            return None;
        }

        let mut fraction_digits = 0;
        if let Some((b'.', fraction)) = rest.split_first() {
            fraction_digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest = fraction.get(fraction_digits..).filter(|_| fraction_digits > 0)?;
        }
        let offset = match rest {
            b"Z" | b"z" => 0,
            [b'+', h1, h2, b':', m1, m2] => time(&[*h1, *h2], &[*m1, *m2])?,
            [b'-', h1, h2, b':', m1, m2] => -time(&[*h1, *h2], &[*m1, *m2])?,
            _ => return None,
        };
        let unix_seconds = days_since_1970(year, month, day) * 86_400 + seconds - offset;
        Some(Self { unix_seconds, is_leap_second: second == 60, fraction_digits })
    }
}

/// The seconds of `hh:mm`, below 24 hours.
fn time(hours: &[u8], minutes: &[u8]) -> Option<i64> {
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)
}

/// The number that a few digits write.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

/// The days from 1970-01-01 to a date of the proleptic Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (months * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_seconds_and_fractions_are_told() {
        let parse = |text| Moment::parse(text).unwrap();
        let plain = Moment { unix_seconds: 1_483_228_800, is_leap_second: false, fraction_digits: 0 };
        assert_eq!(parse("2017-01-01T00:00:00Z"), plain);
        assert_eq!(parse("2016-12-31T23:59:60Z"), Moment { is_leap_second: true, ..plain });
        let fraction = "1".repeat(43);
        assert_eq!(parse(&format!("2017-01-01t01:00:00.{fraction}+01:00")), Moment { fraction_digits: 43, ..plain });
        for text in ["2016-12-31T23:59:61Z", "2017-01-01T00:00:00.Z", "2017-01-01T00:00:00.", "2017-01-01T00:00:00.5"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
