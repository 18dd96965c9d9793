use std::fmt;

use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};

/// The longest text of a record or policy document, in bytes.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Why an object has no text that may be signed, or a text is not the one text of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Not a JSON object.
    NotAnObject,
    /// Not the RFC 8785 text of the object it holds.
    NotCanonical,
    /// The number at this pointer is not an integer of magnitude below 2^53.
    Number(String),
    /// A string or member name holds a lone surrogate, or the object nests deeper than [`MAX_DEPTH`] levels.
    NoText,
    /// Longer than [`MAX_TEXT`].
    TooLong,
}

/// The one text of an object: RFC 8785, every number a safe integer.
pub(crate) fn text(object: &Object) -> Result<String, Unfit> {
    let value = Value::from(object.clone());
    if !value.nests_within(MAX_DEPTH) {
        return Err(Unfit::NoText);
    }
    if let Some(pointer) = unsafe_number(&value) {
        return Err(Unfit::Number(pointer));
    }
    let text = json::canonical(&value).ok_or(Unfit::NoText)?;
    if text.len() > MAX_TEXT { Err(Unfit::TooLong) } else { Ok(text) }
}

/// The object whose one text this is.
pub(crate) fn read(source: &str) -> Result<Object, Unfit> {
    if source.len() > MAX_TEXT {
        return Err(Unfit::TooLong);
    }
    let value = json::parse(source, MAX_DEPTH).map_err(|_| Unfit::NotAnObject)?;
    let object = value.as_object().ok_or(Unfit::NotAnObject)?;
    if text(object)? == source { Ok(object.clone()) } else { Err(Unfit::NotCanonical) }
}

/// The JSON pointer of the first number that is no safe integer, in a value that nests at most [`MAX_DEPTH`] levels.
fn unsafe_number(value: &Value) -> Option<String> {
    match value {
        Value::Number(_) => value.as_safe_integer().is_none().then(String::new),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| Some(format!("/{index}{}", unsafe_number(item)?))),
        Value::Object(object) => object.iter().find_map(|(name, value)| {
            let rest = unsafe_number(value)?;
            Some(format!("/{}{rest}", name.as_str()?.replace('~', "~0").replace('/', "~1")))
        }),
        _ => None,
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("the text is not a JSON object"),
            Self::NotCanonical => f.write_str("the text is not the RFC 8785 form of what it holds"),
            Self::Number(pointer) => write!(f, "{pointer} is not an integer below 2^53: write such a number as text"),
            Self::NoText => write!(f, "a string is not Unicode, or the nesting passes {MAX_DEPTH} levels"),
            Self::TooLong => write!(f, "the text is longer than {MAX_TEXT} bytes"),
        }
    }
}

impl std::error::Error for Unfit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_back_to_itself_alone() {
        let source = r#"{"a":[1,-2,{"b":null}],"é":"\u000b\n€😀"}"#;
        assert_eq!(text(&read(source).unwrap()).unwrap(), source);
        for other in [
            r#"{"b":1,"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":-0}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a": 1}"#,
            "{\"a\":1}\n",
            r#"{"a":"\u0041"}"#,
            r#"{"a":"\u000B"}"#,
        ] {
            assert_eq!(read(other), Err(Unfit::NotCanonical), "{other}");
        }
        assert_eq!(read("[]"), Err(Unfit::NotAnObject));
        assert_eq!(read("{"), Err(Unfit::NotAnObject));
        assert_eq!(read(&" ".repeat(MAX_TEXT + 1)), Err(Unfit::TooLong));
    }

    #[test]
    fn numbers_are_safe_integers() {
        for (source, pointer) in [(r#"{"a":{"b/c":[0,1.5]}}"#, "/a/b~1c/1"), (r#"{"a":9007199254740992}"#, "/a"), (r#"{"a":1e400}"#, "/a")] {
            let object = json::parse(source, 8).unwrap();
            assert_eq!(text(object.as_object().unwrap()), Err(Unfit::Number(pointer.into())), "{source}");
        }
        assert!(read(r#"{"a":9007199254740991,"b":-9007199254740991}"#).is_ok());
        assert_eq!(read(r#"{"a":9007199254740993}"#), Err(Unfit::Number("/a".into())));
        assert_eq!(read(r#"{"a":"\ud800"}"#), Err(Unfit::NoText));
    }
}
