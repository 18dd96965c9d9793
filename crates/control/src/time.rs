//! Instants: Unix milliseconds, written as RFC 3339 in UTC.

use std::fmt;

use jiff::{Timestamp, tz::Offset};

/// A moment in time, in milliseconds since 1970-01-01T00:00:00Z, between the years 0000 and 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    /// 0000-01-01T00:00:00.000Z
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// 9999-12-30T22:00:00.000Z: the last whole hour that is in the year 9999 or before it in every zone.
    pub const MAX: Self = Self(253_402_207_200_000);

    /// From Unix milliseconds; what lies outside the range becomes its nearest end.
    pub const fn from_millis(millis: i64) -> Self {
        match millis {
            ..-62_167_219_200_000 => Self::MIN,
            253_402_207_200_001.. => Self::MAX,
            millis => Self(millis),
        }
    }

    /// Unix milliseconds.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole Unix seconds, rounded down, as JWS claims hold them.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// That many milliseconds later (or earlier, if negative), within the range.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// That many seconds later, within the range.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u32) -> Self {
        // Exact: 2^32 seconds are far below 2^63 milliseconds.
        self.plus_millis(seconds as i64 * 1000)
    }

    /// That many seconds earlier, within the range.
    #[must_use]
    pub const fn minus_seconds(self, seconds: u32) -> Self {
        self.plus_millis(-(seconds as i64 * 1000))
    }

    /// How many milliseconds have passed since an earlier instant; negative if it is later.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0 - earlier.0
    }

    /// Reads an RFC 3339 date-time with `T` and an offset or `Z`; a fraction beyond milliseconds is cut off.
    ///
    /// ```
    /// use control::Instant;
    /// assert_eq!(Instant::parse("2026-11-30T12:00:00+01:00").unwrap().to_string(), "2026-11-30T11:00:00.000Z");
    /// assert_eq!(Instant::parse("2026-11-30 12:00:00Z"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        if !is_rfc3339(text) {
            return None;
        }
        let timestamp: Timestamp = text.parse().ok()?;
        let millis = timestamp.as_nanosecond().div_euclid(1_000_000);
        i64::try_from(millis).ok().map(Self).filter(|instant| (Self::MIN..=Self::MAX).contains(instant))
    }

    pub(crate) fn timestamp(self) -> Timestamp {
        // The range lies inside jiff's.
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// The shape alone; jiff judges the numbers, but would take other shapes too.
fn is_rfc3339(text: &str) -> bool {
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if !(1..=9).contains(&(fraction.len() - rest.len())) {
                return false;
            }
            rest
        }
        None => rest,
    };
    has_shape(date_time, "0000-00-00T00:00:00") && (rest == "Z" || has_shape(rest, "+00:00") || has_shape(rest, "-00:00"))
}

/// Whether a text has a digit where the shape has `0`, and the shape's own characters elsewhere.
pub(crate) fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(|(byte, want)| if want == b'0' { byte.is_ascii_digit() } else { byte == want })
}

/// RFC 3339 in UTC with milliseconds.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Offset::UTC.to_datetime(self.timestamp());
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second(),
            at.millisecond()
        )
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Instant> for lcp::Value {
    fn from(instant: Instant) -> Self {
        instant.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2026-11-30T12:00:03.800Z", 1_796_040_003_800),
            ("0000-01-01T00:00:00.000Z", Instant::MIN.millis()),
            ("9999-12-30T22:00:00.000Z", Instant::MAX.millis()),
        ] {
            assert_eq!(Instant::parse(text), Some(Instant(millis)), "{text}");
            assert_eq!(Instant(millis).to_string(), text);
        }
        assert_eq!(Instant::parse("1969-12-31T23:59:59.9999Z"), Some(Instant(-1)));
        assert_eq!(Instant::parse("2026-11-30T12:00:00-00:30"), Instant::parse("2026-11-30T12:30:00Z"));
    }

    #[test]
    fn refuses_other_shapes() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T12:00:00",
            "2026-11-30 12:00:00Z",
            "2026-11-30t12:00:00Z",
            "2026-11-30T12:00:00z",
            "2026-11-30T12:00Z",
            "2026-11-30T12:00:00.Z",
            "2026-11-30T12:00:00.1234567891Z",
            "2026-11-30T12:00:00,5Z",
            "2026-11-30T12:00:00+1",
            "2026-11-30T12:00:00+01:00[Europe/Berlin]",
            "2026-02-29T12:00:00Z",
            "2026-11-30T24:00:00Z",
            "-026-11-30T12:00:00Z",
            "２０２６-11-30T12:00:00Z",
            "9999-12-31T00:00:00Z",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        assert_eq!(Instant::MAX.plus_seconds(u32::MAX), Instant::MAX);
        assert_eq!(Instant::MIN.minus_seconds(u32::MAX), Instant::MIN);
        assert_eq!(Instant::from_millis(i64::MAX), Instant::MAX);
        assert_eq!(Instant::from_millis(i64::MIN), Instant::MIN);
        assert_eq!(Instant::from_millis(-1).seconds(), -1);
        assert_eq!(Instant::from_millis(5).since(Instant::from_millis(7)), -2);
    }

    proptest! {
        #[test]
        fn text_names_the_instant(millis in Instant::MIN.millis()..=Instant::MAX.millis()) {
            let instant = Instant::from_millis(millis);
            prop_assert_eq!(instant.millis(), millis);
            prop_assert_eq!(Instant::parse(&instant.to_string()), Some(instant));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9TZ:.+-]{18,32}|\\PC{0,40}") {
            let _ = Instant::parse(&text);
        }
    }
}
