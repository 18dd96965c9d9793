use jiff::Timestamp;

/// An instant as records write it: RFC 3339 in UTC with milliseconds, `2026-11-30T12:00:00.000Z`. `None` if the Unix
/// milliseconds name no instant of the years 0 to 9999.
pub fn time_text(milliseconds: i64) -> Option<String> {
    let text = format!("{:.3}", Timestamp::from_millisecond(milliseconds).ok()?);
    text.starts_with(|first: char| first.is_ascii_digit()).then_some(text)
}

/// The Unix milliseconds that such a text names; no other spelling is read.
pub fn time_from_text(text: &str) -> Option<i64> {
    // The length is judged first: the parser takes any number of digits.
    let read = (text.len() == 24).then(|| text.parse::<Timestamp>().ok())??.as_millisecond();
    (time_text(read)? == text).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        assert_eq!(time_text(1_796_040_000_000).unwrap(), "2026-11-30T12:00:00.000Z");
        assert_eq!(time_from_text("2026-11-30T12:00:00.007Z"), Some(1_796_040_000_007));
        assert_eq!(time_from_text("1969-12-31T23:59:59.999Z"), Some(-1));
        for text in [
            "2026-11-30T12:00:00Z",
            "2026-11-30T12:00:00.0000Z",
            "2026-11-30t12:00:00.000z",
            "2026-11-30 12:00:00.000Z",
            "2026-11-30T23:59:60.000Z",
            "2026-02-29T12:00:00.000Z",
            "2026-11-30T12:00:00+00:00",
            "",
        ] {
            assert_eq!(time_from_text(text), None, "{text}");
        }
        assert_eq!(time_text(i64::MAX), None);
        assert_eq!(time_text(-62_198_755_200_000), None, "before the year 0");
    }
}
