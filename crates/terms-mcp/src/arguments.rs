//! A tool's arguments: one table, which is both the schema that is listed ([`crate::schema`]) and the check made here.

use std::fmt;

use lcp::{Object, Text, Value, encoding, registry};

/// A row of a table: an argument, or a member of one.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
}

/// What an argument's value must be.
pub(crate) enum Kind {
    /// Any JSON value, null too.
    Json,
    /// A string.
    Text,
    /// Padded standard base64 in its canonical form.
    Base64,
    /// The id of a pairing.
    Pairing,
    /// An object with these members; others are free.
    Object(&'static [Argument]),
}

pub(crate) const fn required(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, kind, required: true, description }
}

pub(crate) const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, kind, required: false, description }
}

/// The arguments are not those of the tool's schema: which one, and which rule it breaks. It holds nothing of a value.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Refused {
    pub(crate) fn unreadable(error: &lcp::json::ParseError) -> Self {
        Self(format!("The arguments cannot be read: {error}."))
    }

    fn of(name: &str, fault: &str) -> Self {
        Self(format!("Argument \"{name}\" {fault}."))
    }

    fn unknown(name: &Text) -> Self {
        // A name is repeated only where it looks like one: nothing else of what was sent is.
        let is_name = |name: &&str| (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        match name.as_str().filter(is_name) {
            Some(name) => Self::of(name, "is not one of this tool's arguments"),
            None => Self("An argument is not one of this tool's, by a name of other characters.".to_owned()),
        }
    }
}

/// The arguments of one call, which fit their tool's table.
#[derive(Debug)]
pub(crate) struct Arguments(Object);

impl Arguments {
    /// Checks the arguments in the table's order, then for names that are not in the table.
    pub(crate) fn check(table: &[Argument], arguments: &Value) -> Result<Self, Refused> {
        let given = arguments.as_object().ok_or_else(|| Refused("The arguments are not a JSON object.".to_owned()))?;
        for argument in table {
            match given.get(argument.name) {
                Some(value) => argument.kind.fits(value).map_err(|fault| Refused::of(argument.name, &fault))?,
                None if argument.required => return Err(Refused::of(argument.name, "is missing")),
                None => {}
            }
        }
        match given.iter().find(|(name, _)| !table.iter().any(|argument| *name == argument.name)) {
            Some((name, _)) => Err(Refused::unknown(name)),
            None => Ok(Self(given.clone())),
        }
    }

    /// An optional argument.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A required argument of any kind.
    pub(crate) fn json(&self, name: &str) -> Result<&Value, Refused> {
        self.get(name).ok_or_else(|| Refused::of(name, "is missing"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<&Text, Refused> {
        self.json(name)?.as_text().ok_or_else(|| Refused::of(name, NOT_TEXT))
    }

    pub(crate) fn object(&self, name: &str) -> Result<&Object, Refused> {
        self.json(name)?.as_object().ok_or_else(|| Refused::of(name, NOT_OBJECT))
    }

    /// The bytes of a base64 argument.
    pub(crate) fn bytes(&self, name: &str) -> Result<Vec<u8>, Refused> {
        bytes(self.json(name)?).ok_or_else(|| Refused::of(name, NOT_BASE64))
    }

    pub(crate) fn pairing(&self) -> Result<&'static str, Refused> {
        pairing(self.json("pairing")?).ok_or_else(|| Refused::of("pairing", NOT_PAIRING))
    }
}

const NOT_TEXT: &str = "is not a string";
const NOT_OBJECT: &str = "is not an object";
const NOT_BASE64: &str = "is not padded standard base64 in its canonical form";
const NOT_PAIRING: &str = "is not the id of a pairing";

fn bytes(value: &Value) -> Option<Vec<u8>> {
    encoding::from_base64(value.as_str()?)
}

fn pairing(value: &Value) -> Option<&'static str> {
    registry::pairing(value.as_str()?).map(lcp::Pairing::id)
}

impl Kind {
    /// What is wrong with a value, if anything is.
    fn fits(&self, value: &Value) -> Result<(), String> {
        let holds = |fits: bool, fault: &str| if fits { Ok(()) } else { Err(fault.to_owned()) };
        match self {
            Self::Json => Ok(()),
            Self::Text => holds(value.as_text().is_some(), NOT_TEXT),
            Self::Base64 => holds(bytes(value).is_some(), NOT_BASE64),
            Self::Pairing => holds(pairing(value).is_some(), NOT_PAIRING),
            Self::Object(members) => {
                let object = value.as_object().ok_or(NOT_OBJECT)?;
                members.iter().try_for_each(|Argument { name, kind, required, .. }| match object.get(name) {
                    Some(value) => kind.fits(value).map_err(|fault| format!("has a member \"{name}\" that {fault}")),
                    None if *required => Err(format!("has no member \"{name}\"")),
                    None => Ok(()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Argument] = &[
        required("pairing", Kind::Pairing, ""),
        required("atr", Kind::Base64, ""),
        required("document", Kind::Json, ""),
        optional("refund", Kind::Object(&[required("url", Kind::Text, ""), optional("amount", Kind::Text, "")]), ""),
    ];

    fn fault(source: &str) -> String {
        let value = lcp::json::parse(source, 8).unwrap();
        Arguments::check(TABLE, &value).err().map(|refused| refused.to_string()).unwrap_or_default()
    }

    #[test]
    fn names_the_first_argument_that_breaks_its_rule() {
        assert_eq!(fault(r#"{"pairing":"card/visa-tap","atr":"/w==","document":null}"#), "");
        assert_eq!(fault("[]"), "The arguments are not a JSON object.");
        assert_eq!(fault(r#"{"atr":"/w=="}"#), r#"Argument "pairing" is missing."#);
        assert_eq!(fault(r#"{"pairing":"card/visa-tap ","atr":5}"#), r#"Argument "pairing" is not the id of a pairing."#);
        assert_eq!(fault(r#"{"pairing":"card/visa-tap","atr":"/x=="}"#), r#"Argument "atr" is not padded standard base64 in its canonical form."#);
        assert_eq!(fault(r#"{"pairing":"card/visa-tap","atr":""}"#), r#"Argument "document" is missing."#);
    }

    #[test]
    fn members_are_checked_where_the_table_names_them() {
        let refund = |source: &str| fault(&format!(r#"{{"pairing":"card/visa-tap","atr":"","document":1,"refund":{source}}}"#));
        assert_eq!(refund(r#"{"url":"","other":[null]}"#), "");
        assert_eq!(refund("null"), r#"Argument "refund" is not an object."#);
        assert_eq!(refund(r#"{"amount":"5"}"#), r#"Argument "refund" has no member "url"."#);
        assert_eq!(refund(r#"{"url":"","amount":null}"#), r#"Argument "refund" has a member "amount" that is not a string."#);
    }

    #[test]
    fn unknown_arguments_are_named_but_never_quoted_at_length() {
        let extra = |name: &str| fault(&format!(r#"{{"pairing":"card/visa-tap","atr":"","document":1,{name}:1}}"#));
        assert_eq!(extra(r#""seal""#), r#"Argument "seal" is not one of this tool's arguments."#);
        for name in [r#""<b>""#, r#""""#, r#""\ud800""#, &format!("\"{}\"", "a".repeat(65))] {
            assert_eq!(extra(name), "An argument is not one of this tool's, by a name of other characters.");
        }
    }
}
