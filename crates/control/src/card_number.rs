//! The card-number guard: no text that looks like a card number gets past it, whatever it is written in.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::{CodePointMapData, props::GeneralCategory};
use lcp::{Text, Value, json::MAX_DEPTH};

use crate::{Fault, FaultCode, Pointer};

/// Where a card number was found. It never holds the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The text; for a member's name, the object that it is a member of.
    pub pointer: Pointer,
    /// How many digits it has.
    pub digits: usize,
}

/// Shortest and longest card number, in digits.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=19;
/// Most characters between two groups of digits.
const MAX_SEPARATORS: usize = 3;

/// Finds the first text that looks like a card number: any string, member name or whole number, at any depth.
///
/// Fields whose pointers match one of the patterns (see [`Pointer::matches`]) hold a type of their own (an amount, a
/// timestamp, an id of ours): there only digits grouped as on a card count.
///
/// What nests deeper than a reader takes ([`MAX_DEPTH`]) is not looked through, and counts as a hit.
pub fn find(value: &Value, typed: &[&str]) -> Option<Hit> {
    find_below(&mut Vec::new(), value, typed)
}

/// Refuses a body that holds what looks like a card number; the fields are as for [`find`].
pub fn refuse(body: &Value, typed: &[&str]) -> Result<(), Fault> {
    let refused = |hit: Hit| Fault::new(&hit.pointer, FaultCode::CardNumber, "Take out what looks like a card number; none is accepted.");
    find(body, typed).map(refused).map_or(Ok(()), Err)
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a Text),
    Index(usize),
}

fn find_below<'a>(path: &mut Vec<Step<'a>>, value: &'a Value, typed: &[&str]) -> Option<Hit> {
    if path.len() > MAX_DEPTH {
        return Some(Hit { pointer: pointer(path), digits: 0 });
    }
    let mut below = |step, value| {
        path.push(step);
        let hit = find_below(path, value, typed);
        path.pop();
        hit
    };
    match value {
        Value::String(text) => in_field(path, &unicode(text), typed),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 1e20 => in_field(path, &format!("{number:.0}"), typed),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| below(Step::Index(index), item)),
        Value::Object(object) => match object.iter().find_map(|(name, _)| in_text(&unicode(name), false)) {
            Some(digits) => Some(Hit { pointer: pointer(path), digits }),
            None => object.iter().find_map(|(name, member)| below(Step::Member(name), member)),
        },
        _ => None,
    }
}

fn in_field(path: &[Step<'_>], text: &str, typed: &[&str]) -> Option<Hit> {
    let digits = in_text(text, false)?;
    let at = pointer(path);
    let is_typed = typed.iter().any(|pattern| at.matches(pattern));
    let digits = if is_typed { in_text(text, true)? } else { digits };
    Some(Hit { pointer: at, digits })
}

fn pointer(path: &[Step<'_>]) -> Pointer {
    path.iter().fold(Pointer::root(), |pointer, step| match step {
        Step::Member(name) => pointer.member(&unicode(name)),
        Step::Index(index) => pointer.index(*index),
    })
}

/// Whether a text looks like it holds a card number.
pub fn is_in(text: &str) -> bool {
    in_text(text, false).is_some()
}

/// The text without lone surrogates.
fn unicode(text: &Text) -> Cow<'_, str> {
    match text.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(char::decode_utf16(text.code_units()).filter_map(Result::ok).collect()),
    }
}

/// How many digits the first card number has that the text holds as it stands, percent-decoded, or with the escapes of
/// JSON read.
fn in_text(text: &str, is_typed: bool) -> Option<usize> {
    let found = |text: &str| in_plain(text, is_typed);
    found(text)
        .or_else(|| text.contains(['%', '+']).then(|| found(&percent_decoded(text))).flatten())
        .or_else(|| text.contains('\\').then(|| found(&unescaped(text))).flatten())
}

fn in_plain(text: &str, is_typed: bool) -> Option<usize> {
    // Most texts have too few digits of any script; a form that NFKC unfolds holds at most a few more.
    if text.len() < *LENGTHS.start() && text.is_ascii() {
        return None;
    }
    let text = ascii_digits(text);
    if is_uuid(&text) {
        return None;
    }
    let groups = groups(&text);
    (0..groups.len()).find_map(|first| {
        let mut number = String::new();
        for (place, group) in groups.iter().enumerate().skip(first) {
            let is_joined = place == first || group.follows;
            if !is_joined || number.len() + group.digits.len() > *LENGTHS.end() {
                return None;
            }
            number.push_str(group.digits);
            // A letter that touches them makes bare digits part of an id, but not digits grouped as on a card.
            let run = groups.get(first..=place).unwrap_or_default();
            let is_touched = group.touches_after || run.first().is_some_and(|group| group.touches_before);
            let counts = !(is_typed || is_touched) || is_grouped_as_on_a_card(run);
            if counts && is_card_number(&number) {
                return Some(number.len());
            }
        }
        None
    })
}

/// A run of digits.
struct Group<'a> {
    digits: &'a str,
    /// Whether only separators stand between it and the group before.
    follows: bool,
    /// Whether a letter stands right before it.
    touches_before: bool,
    /// Whether a letter stands right after it.
    touches_after: bool,
}

fn groups(text: &str) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut between = 0; // where the text behind the last group starts
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let start = text.len() - rest.len() + start;
        let tail = text.get(start..).unwrap_or_default();
        let length = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (digits, after) = tail.split_at_checked(length).unwrap_or((tail, ""));
        let before = text.get(between..start).unwrap_or_default();
        groups.push(Group {
            digits,
            follows: !groups.is_empty() && before.chars().all(is_separator) && before.chars().count() <= MAX_SEPARATORS,
            touches_before: before.chars().next_back().is_some_and(char::is_alphabetic),
            touches_after: after.chars().next().is_some_and(char::is_alphabetic),
        });
        between = start + length;
        rest = after;
    }
    groups
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '_' | '/' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// 4-4-4-4 (and up to three digits more), 4-6-5 or 4-6-4.
fn is_grouped_as_on_a_card(groups: &[Group<'_>]) -> bool {
    let lengths: Vec<_> = groups.iter().map(|group| group.digits.len()).collect();
    matches!(lengths.as_slice(), [4, 4, 4, 4] | [4, 4, 4, 4, 1..=3] | [4, 6, 4 | 5])
}

/// An issuer's prefix and length, and the Luhn check.
fn is_card_number(digits: &str) -> bool {
    LENGTHS.contains(&digits.len()) && has_issuer(digits) && passes_luhn(digits)
}

fn has_issuer(digits: &str) -> bool {
    let prefix = |count: usize| digits.get(..count).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or_default();
    let (one, two, three, four) = (prefix(1), prefix(2), prefix(3), prefix(4));
    match digits.len() {
        // Visa
        13 | 16 | 19 if one == 4 => true,
        // Mastercard, and RuPay
        16 if matches!(two, 51..=55 | 60 | 65 | 81 | 82) || three == 508 || matches!(four, 2221..=2720) => true,
        // American Express
        15 if matches!(two, 34 | 37) => true,
        // Discover, JCB, UnionPay, Mir
        16..=19 if four == 6011 || matches!(three, 644..=649) || matches!(two, 62 | 65) || matches!(four, 3528..=3589 | 2200..=2204) => true,
        // Diners Club
        14..=19 if matches!(two, 30 | 36 | 38 | 39) => true,
        // Maestro
        _ => matches!(two, 50 | 56..=69),
    }
}

fn passes_luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .map(|digit| u32::from(digit - b'0'))
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled @ 10..) => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// A UUID alone, of a version and variant in use and not all decimal: its groups are no card's.
fn is_uuid(text: &str) -> bool {
    let has_form = text.len() == 36
        && text.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => (b'1'..=b'8').contains(&byte),
            19 => b"89abAB".contains(&byte),
            _ => byte.is_ascii_hexdigit(),
        });
    has_form && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// NFKC, digits of any script as ASCII, no format characters.
fn ascii_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let categories = CodePointMapData::<GeneralCategory>::new();
    let is_digit = |c: char| categories.get(c) == GeneralCategory::DecimalNumber;
    let ascii = |c: char| {
        if c.is_ascii() || !is_digit(c) {
            return c;
        }
        // The digits of a script stand side by side, from zero to nine.
        let mut zero = u32::from(c);
        while char::from_u32(zero - 1).is_some_and(is_digit) {
            zero -= 1;
        }
        char::from_digit((u32::from(c) - zero) % 10, 10).unwrap_or(c)
    };
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(text);
    Cow::Owned(normal.chars().filter(|c| categories.get(*c) != GeneralCategory::Format).map(ascii).collect())
}

/// The text with `%XX` decoded and `+` as a space.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes
            .get(at + 1..at + 3)
            .filter(|_| byte == b'%')
            .and_then(|hex| str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        at += if hex.is_some() { 3 } else { 1 };
        out.push(hex.unwrap_or(if byte == b'+' { b' ' } else { byte }));
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The text with the escapes of a JSON string read.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('\\');
    out.extend(parts.next());
    for part in parts {
        let code = part.strip_prefix('u').and_then(|rest| rest.get(..4)).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match (code, part.chars().next()) {
            (Some(code), _) => {
                out.extend(char::from_u32(code));
                out.push_str(part.get(5..).unwrap_or_default());
            }
            (None, Some('n' | 't' | 'r' | 'f' | 'b')) => {
                out.push(' ');
                out.push_str(part.get(1..).unwrap_or_default());
            }
            (None, _) => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use lcp::Object;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn card_numbers() {
        for text in [
            "4242424242424242",
            "4242 4242 4242 4242",
            "4242-4242-4242-4242",
            "４２４２４２４２４２４２４２４２",
            "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢",
            "𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐",
            "४२४२४२४२४२४२४२४२",
            "④②④②④②④②④②④②④②④②",
            "4242\u{200b}4242\u{200b}4242\u{200b}4242",
            "4242\u{ad}4242\u{ad}4242\u{ad}4242",
            "4242\u{a0}4242\u{a0}4242\u{a0}4242",
            "4242–4242–4242–4242",
            "4242.4242_4242/4242",
            "4242 - 4242 - 4242 - 4242",
            "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2",
            "378282246310005",
            "3782 822463 10005",
            "card: 4242424242424242.",
            "(4242424242424242)",
            "x1 4242 4242 4242 4242",
            "card4242 4242 4242 4242",
            "4242-4242-4242-4242expires",
            "é3782 822463 10005é",
            "12 4242424242424242 34",
            "note=4111%201111%201111%201111",
            "note=4111+1111+1111+1111",
            "%34%32%34%32%34%32%34%32%34%32%34%32%34%32%34%32",
            r"\u0034242424242424242",
            r"4242\n4242\n4242\n4242",
            "4242\n4242\n4242\n4242",
            "5555555555554444",
            "2223003122003222",
            "6011111111111117",
            "3530111333300000",
            "30569309025904",
            "6759649826438453",
            "6200000000000005",
            "2200000000000004",
            "4222222222222",
            "4000000000000000006",
            "42424242-4242-4242-0000-000000000000",
        ] {
            assert!(is_in(text), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "",
            "4242424242424241",
            "1795996800003",
            "1795996800011",
            "20261130120003",
            "20261130120011",
            "20261130120000",
            "1000000000000000000",
            "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
            "123e4567-e89b-42d3-a456-426614174000",
            "123e4567-e89b-42d3-a456-601111111117",
            "DE89 3704 0044 0532 0130 00",
            "GB82 WEST 1234 5698 7654 32",
            "FR1420041010050500013M02606",
            "NL91ABNA0417164300",
            "+1 415 555 2671",
            "+49 30 901820",
            "+44 20 7946 0958",
            "1Z999AA10123456784",
            "2026-11-30T12:00:00.000Z",
            "2026-11-30 12:00:00",
            "rec_0142424242424242424242424z",
            "a4242424242424242",
            "a4242 42424242 4242",
            "BE68 5390 0754 7034",
            "4242424242424242a",
            "42424242424242424242",
            "é4242424242424242",
            "4242, 4242, 4242, 4242",
            "4242    4242    4242    4242",
            "48.00",
            "424242424242",
        ] {
            assert!(!is_in(text), "{text}");
        }
    }

    fn found(source: &str, typed: &[&str]) -> Option<String> {
        find(&lcp::json::parse(source, 64).unwrap(), typed).map(|hit| hit.pointer.to_string())
    }

    #[test]
    fn anywhere_in_a_document() {
        for (source, pointer) in [
            (r#""4242424242424242""#, ""),
            (r#"{"4111111111111111":1}"#, ""),
            (r#"{"a":{"x 4111-1111-1111-1111":{}}}"#, "/a"),
            (r#"{"a":[0,{"b":"4242424242424242"}],"c":"4242424242424242"}"#, "/a/1/b"),
            (r#"{"a":4242424242424242}"#, "/a"),
            (r#"{"a":"42\ud80042424242424242"}"#, "/a"),
            (r#"{"order":{"id":"4242 4242 4242 4242"}}"#, "/order/id"),
        ] {
            assert_eq!(found(source, &[]).as_deref(), Some(pointer), "{source}");
        }
        assert_eq!(found(r#"{"a":1795996800003,"b":[true,null,4242.5],"c":"x"}"#, &[]), None);
    }

    #[test]
    fn typed_fields_are_spared_bare_digits_alone() {
        let typed = ["/amount/value", "/items/*/at"];
        for source in
            [r#"{"amount":{"value":"4242424242424242"}}"#, r#"{"items":[{"at":"4242424242424242"}]}"#, r#"{"amount":{"value":"42424242424242.42"}}"#]
        {
            assert_eq!(found(source, &typed), None, "{source}");
            assert!(found(source, &[]).is_some(), "{source}");
        }
        for source in [
            r#"{"amount":{"value":"4242 4242 4242 4242"}}"#,
            r#"{"items":[{"at":"3782-822463-10005"}]}"#,
            r#"{"items":[{"at":"1","to":"4242424242424242"}]}"#,
        ] {
            assert!(found(source, &typed).is_some(), "{source}");
        }
    }

    #[test]
    fn a_hit_tells_nothing_of_the_number() {
        let value = Value::from(Object::new().with("note", "4242 4242 4242 4242"));
        let hit = find(&value, &[]).unwrap();
        assert_eq!((hit.pointer.as_str(), hit.digits), ("/note", 16));
        assert!(!format!("{hit:?}").contains("4242"));
    }

    #[test]
    fn deep_and_long_inputs_are_looked_through() {
        let deep = |levels| (0..levels).fold(Value::from("4242424242424242"), |value, _| Value::from([value]));
        assert_eq!(find(&deep(MAX_DEPTH), &[]).map(|hit| hit.digits), Some(16));
        assert_eq!(find(&deep(10_000), &[]).map(|hit| hit.digits), Some(0));
        let long = "1 ".repeat(1 << 19);
        assert!(!is_in(&long));
        assert!(is_in(&format!("{long}, 4242424242424242")));
    }

    /// A number with the check digit that Luhn wants.
    fn with_check_digit(mut digits: String) -> String {
        for check in '0'..='9' {
            digits.push(check);
            if passes_luhn(&digits) {
                break;
            }
            digits.pop();
        }
        digits
    }

    proptest! {
        #[test]
        fn every_number_of_an_issuer_is_found(body in "(4[0-9]{14}|5[1-5][0-9]{13}|3[47][0-9]{12}|62[0-9]{13,16})", separator in "[ ./_-]{0,2}", every in 1usize..7, before in "[a-z]{0,8}[ :=(]", after in "[ ),;][a-z]{0,8}") {
            let number = with_check_digit(body);
            let grouped: Vec<String> = number.as_bytes().chunks(every).map(|group| String::from_utf8_lossy(group).into_owned()).collect();
            let text = format!("{before}{}{after}", grouped.join(&separator));
            prop_assert!(is_in(&text), "{}", text);
        }

        #[test]
        fn any_text_is_judged(text in "\\PC{0,60}|[0-9 %+\\\\u.-]{0,60}") {
            let _ = is_in(&text);
        }

        #[test]
        fn times_are_no_card_numbers(millis in 1_500_000_000_000i64..2_000_000_000_000) {
            prop_assert!(!is_in(&millis.to_string()));
            prop_assert!(!is_in(&crate::Instant::from_millis(millis).to_string()));
        }
    }
}
