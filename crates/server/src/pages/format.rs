//! How amounts, times, counts and long ids are written, in one place. Everything is exact; nothing is a float.

use axum::http::{HeaderMap, header};
use control::{Currency, Instant, Money};

/// How a person is used to numbers and dates. The pages' language is English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Locale {
    tag: &'static str,
    group: &'static str,
    decimal: char,
    /// Whether groups above the thousand have two digits.
    is_indian: bool,
    /// Whether the symbol stands behind the number.
    is_symbol_last: bool,
    /// The English that dates are written in: `en-GB` or `en-US`.
    pub(super) dates: &'static str,
}

const NARROW_SPACE: &str = "\u{202F}";
const SPACE: &str = "\u{A0}";

const fn locale(tag: &'static str, group: &'static str, decimal: char, is_symbol_last: bool) -> Locale {
    Locale { tag, group, decimal, is_indian: false, is_symbol_last, dates: "en-GB" }
}

/// The more special tag stands first: `de-ch` before `de`.
const LOCALES: [Locale; 23] = [
    Locale { dates: "en-US", ..locale("en-us", ",", '.', false) },
    Locale { is_indian: true, ..locale("en-in", ",", '.', false) },
    locale("en", ",", '.', false),
    locale("de-ch", "’", '.', false),
    locale("de-at", SPACE, ',', false),
    locale("de", ".", ',', true),
    locale("fr-ch", NARROW_SPACE, ',', true),
    locale("fr", NARROW_SPACE, ',', true),
    locale("es-mx", ",", '.', false),
    locale("es", ".", ',', true),
    locale("it", ".", ',', true),
    locale("pt-br", ".", ',', false),
    locale("pt", SPACE, ',', true),
    locale("nl", ".", ',', false),
    locale("sv", SPACE, ',', true),
    locale("nb", SPACE, ',', true),
    locale("fi", SPACE, ',', true),
    locale("da", ".", ',', true),
    locale("pl", SPACE, ',', true),
    locale("cs", SPACE, ',', true),
    Locale { is_indian: true, ..locale("hi", ",", '.', false) },
    locale("ja", ",", '.', false),
    locale("zh", ",", '.', false),
];

/// English as written in most places.
const DEFAULT: Locale = locale("en", ",", '.', false);

/// Most languages of one header that are looked at.
const MAX_LANGUAGES: usize = 16;

impl Locale {
    /// The best of `Accept-Language` that the table knows, else English.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut best = (0, DEFAULT);
        for language in text.split(',').take(MAX_LANGUAGES) {
            let (tag, rest) = language.split_once(';').unwrap_or((language, ""));
            let weight = weight(rest.trim());
            if let Some(found) = find(&tag.trim().to_ascii_lowercase()).filter(|_| weight > best.0) {
                best = (weight, found);
            }
        }
        best.1
    }
}

fn find(tag: &str) -> Option<Locale> {
    LOCALES.iter().find(|locale| tag == locale.tag || tag.strip_prefix(locale.tag).is_some_and(|rest| rest.starts_with('-'))).copied()
}

/// `q=0.8` as 800 thousandths; 1000 without one, 0 for what cannot be read.
fn weight(parameter: &str) -> u32 {
    if parameter.is_empty() {
        return 1000;
    }
    let Some(number) = parameter.strip_prefix("q=") else { return 0 };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_plain = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => 1000,
        "0" if is_plain => format!("{fraction:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// An amount, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// The digits, grouped, with the currency's sign where it has one: `€1,234.50`.
    pub(super) figure: String,
    /// The currency's code, or the token's symbol.
    pub(super) code: String,
    /// The plain decimal text, for machines.
    pub(super) decimal: String,
    /// The token, if it is one.
    pub(super) token: Option<Token>,
}

/// Which token an amount is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The network's name, or its id.
    pub(super) network: String,
    /// The contract, or what else the network knows the token by.
    pub(super) contract: Id,
}

impl Amount {
    /// Every digit of the amount, never rounded, never shortened.
    pub(super) fn new(money: &Money, locale: &Locale) -> Self {
        let decimal = money.decimal();
        let (sign, digits) = decimal.strip_prefix('-').map_or(("", &*decimal), |digits| ("\u{2212}", digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut number = group(whole, locale);
        if !fraction.is_empty() {
            number.push(locale.decimal);
            number.push_str(fraction);
        }
        let currency = money.currency();
        let figure = match symbol(currency) {
            Some(symbol) if locale.is_symbol_last => format!("{sign}{number}{SPACE}{symbol}"),
            Some(symbol) => format!("{sign}{symbol}{number}"),
            None => format!("{sign}{number}"),
        };
        let token = match currency {
            Currency::Iso(_) => None,
            Currency::Asset(asset) => Some(token(asset.id())),
        };
        Self { figure, code: currency.symbol().into(), decimal, token }
    }

    /// How large it can be set and still stand on one line of a phone.
    pub(super) fn size(&self) -> &'static str {
        match self.figure.chars().count() + self.code.len() {
            0..=14 => "large",
            15..=22 => "medium",
            _ => "small",
        }
    }
}

/// The figure and the code: `€1,234.50 EUR`.
impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.figure, self.code)
    }
}

fn group(digits: &str, locale: &Locale) -> String {
    let mut grouped = String::with_capacity(digits.len() * 2);
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        let is_border = if locale.is_indian && left > 3 { (left - 3).is_multiple_of(2) } else { left.is_multiple_of(3) };
        if place > 0 && is_border {
            grouped.push_str(locale.group);
        }
        grouped.push(digit);
    }
    grouped
}

/// A currency's sign, where one is widely known; the code always stands beside it, for several share one.
fn symbol(currency: &Currency) -> Option<&'static str> {
    let Currency::Iso(_) = currency else { return None };
    Some(match currency.code() {
        "EUR" => "€",
        "USD" => "$",
        "GBP" => "£",
        "JPY" | "CNY" => "¥",
        "INR" => "₹",
        "KRW" => "₩",
        "CAD" => "CA$",
        "AUD" => "A$",
        "NZD" => "NZ$",
        "HKD" => "HK$",
        "SGD" => "S$",
        "MXN" => "MX$",
        "BRL" => "R$",
        "ILS" => "₪",
        "VND" => "₫",
        "PHP" => "₱",
        "TRY" => "₺",
        "UAH" => "₴",
        "NGN" => "₦",
        "KZT" => "₸",
        "GEL" => "₾",
        "CRC" => "₡",
        "PYG" => "₲",
        "GHS" => "₵",
        "KHR" => "៛",
        "MNT" => "₮",
        "LAK" => "₭",
        "AZN" => "₼",
        "AMD" => "֏",
        "THB" => "฿",
        _ => return None,
    })
}

/// A CAIP-19 id as network and contract.
fn token(id: &str) -> Token {
    let (chain, asset) = id.split_once('/').unwrap_or((id, ""));
    let network = match chain {
        "eip155:1" => "Ethereum",
        "eip155:10" => "OP Mainnet",
        "eip155:56" => "BNB Smart Chain",
        "eip155:137" => "Polygon",
        "eip155:8453" => "Base",
        "eip155:42161" => "Arbitrum One",
        "eip155:43114" => "Avalanche C-Chain",
        "eip155:84532" => "Base Sepolia (test network)",
        "eip155:11155111" => "Sepolia (test network)",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" => "Solana",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" => "Solana Devnet (test network)",
        other => other,
    };
    Token { network: network.into(), contract: Id::new(asset.split_once(':').map_or(asset, |(_, reference)| reference)) }
}

/// A long id: its ends, and the whole on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    /// The whole.
    pub(super) whole: String,
    /// Its ends, if it is long.
    pub(super) ends: Option<String>,
}

impl Id {
    /// Longest id that is shown whole.
    const MAX: usize = 34;

    pub(super) fn new(text: &str) -> Self {
        let count = text.chars().count();
        let ends = (count > Self::MAX).then(|| {
            let start: String = text.chars().take(12).collect();
            let end: String = text.chars().skip(count - 6).collect();
            format!("{start}…{end}")
        });
        Self { whole: text.into(), ends }
    }
}

/// A moment: for machines, for people, and how far off it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// RFC 3339 in UTC, exact.
    pub(super) exact: String,
    /// The date and the minute in UTC, which the script writes anew in local time.
    pub(super) shown: String,
    /// `in 4 minutes`, `2 hours ago`.
    pub(super) distance: String,
}

impl Moment {
    pub(super) fn new(at: Instant, now: Instant, locale: &Locale) -> Self {
        Self { exact: at.to_string(), shown: date(at, locale), distance: distance(at.since(now)) }
    }
}

/// `30 Nov 2026, 22:15 UTC`, or `Nov 30, 2026, 10:15 PM UTC`.
fn date(at: Instant, locale: &Locale) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let number = |from, to| part(from, to).parse::<usize>().unwrap_or_default();
    let month = MONTHS.get(number(5, 7).wrapping_sub(1)).copied().unwrap_or_default();
    let (year, day, hour, minute) = (part(0, 4), number(8, 10), number(11, 13), part(14, 16));
    if locale.dates == "en-US" {
        let (half, hour) = (if hour < 12 { "AM" } else { "PM" }, (hour + 11) % 12 + 1);
        format!("{month} {day}, {year}, {hour}:{minute} {half} UTC")
    } else {
        format!("{day} {month} {year}, {hour:02}:{minute} UTC")
    }
}

/// How far off, in whole units, rounded towards now: what is left is never overstated.
fn distance(millis: i64) -> String {
    let seconds = millis.unsigned_abs() / 1000;
    let (number, unit) = match seconds {
        0 => return "now".into(),
        1..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let amount = count(number, unit);
    if millis > 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

/// `1 minute`, `4 minutes`.
pub(super) fn count(number: u64, unit: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {unit}{s}", group(&number.to_string(), &DEFAULT))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::HeaderValue;
    use control::Asset;
    use proptest::prelude::*;

    use super::*;

    fn accepts(text: &str) -> Locale {
        Locale::of(&HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, HeaderValue::from_str(text).unwrap())]))
    }

    fn figure(units: i128, code: &str, tag: &str) -> String {
        Amount::new(&Money::new(units, Currency::iso(code).unwrap()), &accepts(tag)).figure
    }

    #[test]
    fn amounts_by_locale() {
        for (units, code, tag, text) in [
            (12_900, "EUR", "en", "€129.00"),
            (123_456_789, "EUR", "de-DE", "1.234.567,89\u{A0}€"),
            (123_456_789, "CHF", "de-CH", "1’234’567.89"),
            (123_456_789, "EUR", "fr", "1\u{202F}234\u{202F}567,89\u{A0}€"),
            (1_234_567_890, "INR", "en-IN", "₹1,23,45,678.90"),
            (5, "USD", "en-US", "$0.05"),
            (0, "USD", "en-US", "$0.00"),
            (40_000, "JPY", "ja", "¥40,000"),
            (1_500, "KWD", "en", "1.500"),
            (-100_000, "USD", "en", "\u{2212}$1,000.00"),
            (99_900, "USD", "en", "$999.00"),
        ] {
            assert_eq!(figure(units, code, tag), text);
        }
    }

    #[test]
    fn tokens_name_network_and_contract() {
        let asset = Asset::new("eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC", 6).unwrap();
        let amount = Amount::new(&Money::new(1_234_500_000, Currency::Asset(Arc::new(asset))), &DEFAULT);
        assert_eq!(amount.to_string(), "1,234.500000 USDC");
        let token = amount.token.unwrap();
        assert_eq!(token.network, "Base Sepolia (test network)");
        assert_eq!(token.contract.ends.as_deref(), Some("0x036cbd5384…3dcf7e"));
        assert_eq!(token.contract.whole, "0x036cbd53842c5426634e7929541ec2318f3dcf7e");
    }

    #[test]
    fn the_best_known_language_wins() {
        for (header, tag) in [
            ("de-CH, en;q=0.9", "de-ch"),
            ("en;q=0.5, fr-FR;q=0.8", "fr"),
            ("tlh, de;q=0.1", "de"),
            ("", "en"),
            ("tlh", "en"),
            ("*", "en"),
            ("de;q=0", "en"),
            ("de;q=2, fr;q=x", "en"),
            ("en-US,en;q=0.9", "en-us"),
            ("den", "en"),
        ] {
            assert_eq!(accepts(header).tag, tag, "{header}");
        }
    }

    #[test]
    fn dates_and_distances() {
        let at = Instant::parse("2026-11-30T22:05:09.123Z").unwrap();
        let now = Instant::parse("2026-11-30T22:00:10Z").unwrap();
        assert_eq!(
            Moment::new(at, now, &DEFAULT),
            Moment { exact: "2026-11-30T22:05:09.123Z".into(), shown: "30 Nov 2026, 22:05 UTC".into(), distance: "in 4 minutes".into() }
        );
        assert_eq!(date(at, &accepts("en-US")), "Nov 30, 2026, 10:05 PM UTC");
        assert_eq!(date(Instant::parse("2026-01-02T00:30:00Z").unwrap(), &accepts("en-US")), "Jan 2, 2026, 12:30 AM UTC");
        for (millis, text) in [
            (0, "now"),
            (999, "now"),
            (1000, "in 1 second"),
            (59_999, "in 59 seconds"),
            (60_000, "in 1 minute"),
            (3_599_999, "in 59 minutes"),
            (3_600_000, "in 1 hour"),
            (172_800_000, "in 2 days"),
            (-120_000, "2 minutes ago"),
            (i64::MIN, "106,751,991,167 days ago"),
        ] {
            assert_eq!(distance(millis), text);
        }
    }

    #[test]
    fn ids() {
        assert_eq!(Id::new("rec_01jdqz4d4n9v8h2k6m3p5r7t9w").ends, None);
        assert_eq!(Id::new(&"é".repeat(40)).ends.unwrap().chars().count(), 19);
    }

    proptest! {
        #[test]
        fn no_digit_is_lost(units in 0..i128::MAX / 2, tag in prop::sample::select(LOCALES.map(|locale| locale.tag).to_vec()), code in prop::sample::select(vec!["JPY", "CHF", "KWD"])) {
            let money = Money::new(units, Currency::iso(code).unwrap());
            let amount = Amount::new(&money, &accepts(tag));
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            prop_assert_eq!(digits(&amount.figure), digits(&money.decimal()));
        }

        #[test]
        fn any_header_is_read(text in "[ -~]{0,60}") {
            accepts(&text);
        }
    }
}
