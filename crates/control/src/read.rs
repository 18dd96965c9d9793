//! Strict reading of JSON that has a form of ours: every member known, every text bounded, a fault that says where.

use std::{ops::RangeInclusive, sync::Arc};

use lcp::{Object, Value};

use crate::{Asset, Currency, Fault, FaultCode, Money, Pointer};

/// A value and where it stands.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    value: &'a Value,
    at: Pointer,
}

/// An object whose members all have known names.
pub(crate) struct Members<'a> {
    object: &'a Object,
    at: Pointer,
}

impl<'a> Field<'a> {
    /// The whole document.
    pub(crate) const fn root(value: &'a Value) -> Self {
        Self { value, at: Pointer::root() }
    }

    pub(crate) const fn value(&self) -> &'a Value {
        self.value
    }

    /// A fault at this place.
    pub(crate) fn fault(&self, code: FaultCode, sentence: &'static str) -> Fault {
        Fault::new(&self.at, code, sentence)
    }

    fn wrong_type(&self, sentence: &'static str) -> Fault {
        self.fault(FaultCode::WrongType, sentence)
    }

    /// The members of an object that has no others than these.
    pub(crate) fn members(&self, names: &[&str]) -> Result<Members<'a>, Fault> {
        let object = self.value.as_object().ok_or_else(|| self.wrong_type("Give an object."))?;
        let unknown = object.iter().map(|(name, _)| name.as_str().unwrap_or_default()).find(|name| !names.contains(name));
        match unknown {
            Some(name) => Err(Fault::new(&self.at.member(name), FaultCode::UnknownMember, "Take this member out; it has no meaning here.")),
            None => Ok(Members { object, at: self.at.clone() }),
        }
    }

    /// The members of an object that may have any, at most `max` of them.
    pub(crate) fn entries(&self, max: usize) -> Result<Vec<(&'a str, Field<'a>)>, Fault> {
        let object = self.value.as_object().ok_or_else(|| self.wrong_type("Give an object."))?;
        if object.len() > max {
            return Err(self.fault(FaultCode::TooLong, "Give fewer members."));
        }
        let entry = |(name, value): (&'a lcp::Text, &'a Value)| {
            let name = name.as_str().ok_or_else(|| self.fault(FaultCode::ControlCharacter, "Name the members in well-formed Unicode."))?;
            Ok((name, Field { value, at: self.at.member(name) }))
        };
        object.iter().map(entry).collect()
    }

    /// The elements of an array of at most `max`.
    pub(crate) fn items(&self, max: usize) -> Result<Vec<Field<'a>>, Fault> {
        let items = self.value.as_array().ok_or_else(|| self.wrong_type("Give an array."))?;
        if items.len() > max {
            return Err(self.fault(FaultCode::TooLong, "Give fewer elements."));
        }
        Ok(items.iter().enumerate().map(|(index, value)| Field { value, at: self.at.index(index) }).collect())
    }

    /// The elements of an array, each read.
    pub(crate) fn list<T>(&self, max: usize, read: impl Fn(&Field<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        self.items(max)?.iter().map(read).collect()
    }

    /// The elements of an array that names each thing once.
    pub(crate) fn set<T: PartialEq>(&self, max: usize, read: impl Fn(&Field<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        for item in self.items(max)? {
            let value = read(&item)?;
            if found.contains(&value) {
                return Err(item.fault(FaultCode::Repeated, "Name each of these once."));
            }
            found.push(value);
        }
        Ok(found)
    }

    /// A string of well-formed Unicode, whatever it holds.
    pub(crate) fn string(&self) -> Result<&'a str, Fault> {
        let text = self.value.as_text().ok_or_else(|| self.wrong_type("Give a string."))?;
        text.as_str().ok_or_else(|| self.fault(FaultCode::ControlCharacter, "Give well-formed Unicode."))
    }

    /// A line of text: 1 to `max` characters, not all of them white space, no control characters and none that turn the
    /// direction of writing.
    pub(crate) fn text(&self, max: usize) -> Result<&'a str, Fault> {
        let text = self.string()?;
        if text.chars().take(max + 1).count() > max {
            return Err(Fault::new(&self.at, FaultCode::TooLong, format!("Give at most {max} characters.")));
        }
        if text.contains(is_control) {
            return Err(self.fault(FaultCode::ControlCharacter, "Take out control characters and line breaks."));
        }
        if text.trim().is_empty() {
            return Err(self.fault(FaultCode::TooShort, "Give a text that is not blank."));
        }
        Ok(text)
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&self) -> Result<bool, Fault> {
        match self.value {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.wrong_type("Give true or false.")),
        }
    }

    /// A whole number in a range.
    pub(crate) fn integer(&self, range: RangeInclusive<u32>) -> Result<u32, Fault> {
        if !matches!(self.value, Value::Number(_)) {
            return Err(self.wrong_type("Give a number."));
        }
        let number = self.value.as_safe_unsigned().and_then(|number| u32::try_from(number).ok()).filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let sentence = format!("Give a whole number from {} to {}.", range.start(), range.end());
            Fault::new(&self.at, FaultCode::OutOfRange, sentence)
        })
    }

    /// One of a few texts, all of which `parse` knows.
    pub(crate) fn known<T>(&self, parse: impl Fn(&str) -> Option<T>, sentence: &'static str) -> Result<T, Fault> {
        parse(self.string()?).ok_or_else(|| self.fault(FaultCode::NotAllowed, sentence))
    }

    /// A text of a form that `parse` reads.
    pub(crate) fn formed<T>(&self, parse: impl Fn(&str) -> Option<T>, sentence: &'static str) -> Result<T, Fault> {
        parse(self.string()?).ok_or_else(|| self.fault(FaultCode::Malformed, sentence))
    }

    /// A text that `parse` reads, or whose fault it names.
    pub(crate) fn parsed<T>(&self, parse: impl Fn(&str) -> Result<T, FaultCode>) -> Result<T, Fault> {
        parse(self.string()?).map_err(|code| self.fault(code, sentence(code)))
    }

    /// An amount in a currency, more than nothing.
    pub(crate) fn payment(&self, currency: &Currency) -> Result<Money, Fault> {
        let money = self.money(currency)?;
        if money.is_zero() { Err(self.fault(FaultCode::AmountZero, "Ask for more than nothing.")) } else { Ok(money) }
    }

    /// An amount in a currency.
    pub(crate) fn money(&self, currency: &Currency) -> Result<Money, Fault> {
        self.parsed(|text| Money::parse(text, currency))
    }

    /// The code of a currency, or the id of one of these assets.
    pub(crate) fn currency(&self, assets: &[Arc<Asset>]) -> Result<Currency, Fault> {
        self.parsed(|text| Currency::find(text, assets).ok_or(FaultCode::UnknownCurrency))
    }
}

impl<'a> Members<'a> {
    /// A member that may be absent.
    pub(crate) fn optional(&self, name: &str) -> Option<Field<'a>> {
        self.object.get(name).map(|value| Field { value, at: self.at.member(name) })
    }

    /// A member that may be absent or null, which mean the same.
    pub(crate) fn nullable(&self, name: &str) -> Option<Field<'a>> {
        self.optional(name).filter(|field| !field.value.is_null())
    }

    /// A member that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<Field<'a>, Fault> {
        self.optional(name).ok_or_else(|| Fault::new(&self.at.member(name), FaultCode::MissingMember, "Give this member."))
    }

    /// Reads a member that may be absent.
    pub(crate) fn read<T>(&self, name: &str, read: impl FnOnce(&Field<'a>) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        self.optional(name).as_ref().map(read).transpose()
    }

    /// Reads a list that may be absent, which means an empty one.
    pub(crate) fn list<T>(&self, name: &str, max: usize, read: impl Fn(&Field<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        Ok(self.read(name, |field| field.list(max, read))?.unwrap_or_default())
    }

    /// Reads a list that names each thing once, and may be absent, which means an empty one.
    pub(crate) fn set<T: PartialEq>(&self, name: &str, max: usize, read: impl Fn(&Field<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        Ok(self.read(name, |field| field.set(max, read))?.unwrap_or_default())
    }
}

/// Control characters, line separators, and those that turn the direction of writing.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// What to do about a text that a parser refused.
fn sentence(code: FaultCode) -> &'static str {
    match code {
        FaultCode::AmountMalformed => "Write the amount as a plain decimal such as \"48.00\".",
        FaultCode::AmountPrecision => "Give no more decimals than the currency has.",
        FaultCode::AmountTooLarge => "Give a smaller amount.",
        FaultCode::UnknownCurrency => "Give an ISO 4217 code in use, or an asset that the policy names.",
        FaultCode::UnknownZone => "Give a time zone of the IANA database, such as \"Europe/Berlin\".",
        FaultCode::DomainMalformed => "Give a domain name alone, without scheme, port or path.",
        FaultCode::DomainPublicSuffix => "Give a domain that one owner registered, not a public suffix.",
        FaultCode::DomainConfusable => "Check the domain: its letters imitate those of another script.",
        FaultCode::UrlMalformed => "Give an absolute https URL of a domain, without user or password.",
        _ => "Correct this text.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(source: &str, read: impl FnOnce(&Field<'_>) -> Result<T, Fault>) -> Result<T, String> {
        let value = lcp::json::parse(source, 8).unwrap();
        read(&Field::root(&value)).map_err(|fault| format!("{} {}", fault.pointer, fault.code))
    }

    #[test]
    fn unknown_members_are_named() {
        let read = |source| with(source, |field| field.members(&["a"])?.required("a")?.boolean());
        assert_eq!(read(r#"{"a":true}"#), Ok(true));
        assert_eq!(read(r#"{"a":true,"b/c":1}"#).unwrap_err(), "/b~1c unknown_member");
        assert_eq!(read("{}").unwrap_err(), "/a missing_member");
        assert_eq!(read(r#"{"a":1}"#).unwrap_err(), "/a wrong_type");
        assert_eq!(read("[]").unwrap_err(), " wrong_type");
        assert_eq!(read(r#"{"a":true,"\ud800":1}"#).unwrap_err(), "/ unknown_member");
    }

    #[test]
    fn texts_are_bounded_lines() {
        let read = |source: &str| with(source, |field| field.text(3).map(str::to_owned));
        assert_eq!(read(r#""äöü""#).unwrap(), "äöü");
        for (source, code) in [
            (r#""abcd""#, "too_long"),
            (r#""""#, "too_short"),
            (r#""  ""#, "too_short"),
            (r#""a\n""#, "control_character"),
            (r#""a\u007f""#, "control_character"),
            (r#""a\u202e""#, "control_character"),
            (r#""\ud800""#, "control_character"),
            ("1", "wrong_type"),
            ("null", "wrong_type"),
        ] {
            assert_eq!(read(source).unwrap_err(), format!(" {code}"), "{source}");
        }
    }

    #[test]
    fn numbers_are_whole_and_in_range() {
        let read = |source: &str| with(source, |field| field.integer(1..=5));
        assert_eq!(read("5"), Ok(5));
        assert_eq!(read("5.0"), Ok(5));
        for source in ["0", "6", "-1", "1.5", "1e400", "4294967297"] {
            assert_eq!(read(source).unwrap_err(), " out_of_range", "{source}");
        }
        assert_eq!(read("\"5\"").unwrap_err(), " wrong_type");
    }

    #[test]
    fn sets_name_each_thing_once() {
        let read = |source: &str| with(source, |field| field.set(3, |item| item.text(9).map(str::to_owned)));
        assert_eq!(read(r#"["a","b"]"#).unwrap(), ["a", "b"]);
        assert_eq!(read(r#"["a","b","a"]"#).unwrap_err(), "/2 repeated");
        assert_eq!(read(r#"["a","b","c","d"]"#).unwrap_err(), " too_long");
    }
}
