use super::{Object, Text, Value};

/// Why a text is not JSON, or not JSON that may be read here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte at which reading stopped.
    at: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Syntax,
    TooDeep,
    NotUtf8,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            Kind::Syntax => "not JSON",
            Kind::TooDeep => "nested too deep",
            Kind::NotUtf8 => "not UTF-8",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

impl std::error::Error for ParseError {}

/// Reads a JSON text whose arrays and objects nest at most `max_depth` levels.
///
/// ```
/// use lcp::json::{parse, Value};
/// assert_eq!(parse("[1e400]", 1).unwrap().as_array().unwrap()[0], Value::Number(f64::INFINITY));
/// assert!(parse("[[]]", 1).is_err());
/// assert!(parse("NaN", 1).is_err());
/// ```
pub fn parse(source: &str, max_depth: usize) -> Result<Value, ParseError> {
    let mut reader = Reader { source: source.as_bytes(), at: 0 };
    reader.space();
    let value = reader.value(max_depth)?;
    reader.space();
    if reader.at == source.len() { Ok(value) } else { Err(reader.error(Kind::Syntax)) }
}

/// Reads JSON from bytes, which must be UTF-8 without a byte order mark.
pub fn parse_bytes(source: &[u8], max_depth: usize) -> Result<Value, ParseError> {
    parse(utf8(source)?, max_depth)
}

/// Reads a JSON object as it is written: every member of a name, in the text's order. The object is one level of the depth.
pub fn parse_members(source: &[u8], max_depth: usize) -> Result<Vec<(Text, Value)>, ParseError> {
    let text = utf8(source)?;
    let mut reader = Reader { source: text.as_bytes(), at: 0 };
    reader.space();
    let members = reader.members(max_depth)?;
    reader.space();
    if reader.at == text.len() { Ok(members) } else { Err(reader.error(Kind::Syntax)) }
}

fn utf8(source: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(source).map_err(|error| ParseError { at: error.valid_up_to(), kind: Kind::NotUtf8 })
}

struct Reader<'a> {
    /// INVARIANT: UTF-8, and `at` stands on a character boundary.
    source: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, kind: Kind) -> ParseError {
        ParseError { at: self.at, kind }
    }

    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(Kind::Syntax))
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, ParseError> {
        if self.source[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error(Kind::Syntax))
        }
    }

    fn value(&mut self, depth_left: usize) -> Result<Value, ParseError> {
        match self.peek() {
            Some(b'{') => self.members(depth_left).map(|members| Object::from_source(members).into()),
            Some(b'[') => self.array(depth_left),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error(Kind::Syntax)),
        }
    }

    fn array(&mut self, depth_left: usize) -> Result<Value, ParseError> {
        let inner = depth_left.checked_sub(1).ok_or_else(|| self.error(Kind::TooDeep))?;
        self.expect(b'[')?;
        self.space();
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items.into());
        }
        loop {
            items.push(self.value(inner)?);
            self.space();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(items.into());
            }
            self.expect(b',')?;
            self.space();
        }
    }

    fn members(&mut self, depth_left: usize) -> Result<Vec<(Text, Value)>, ParseError> {
        let inner = depth_left.checked_sub(1).ok_or_else(|| self.error(Kind::TooDeep))?;
        self.expect(b'{')?;
        self.space();
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            let name = self.string()?;
            self.space();
            self.expect(b':')?;
            self.space();
            members.push((name, self.value(inner)?));
            self.space();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(members);
            }
            self.expect(b',')?;
            self.space();
        }
    }

    fn number(&mut self) -> Result<Value, ParseError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // The standard library rounds correctly and gives infinity past the range, as ECMAScript does.
        std::str::from_utf8(&self.source[start..self.at])
            .ok()
            .and_then(|text| text.parse().ok())
            .map(Value::Number)
            .ok_or_else(|| self.error(Kind::Syntax))
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.error(Kind::Syntax)) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<Text, ParseError> {
        self.expect(b'"')?;
        let mut out: Vec<u8> = Vec::new();
        // A high surrogate written by the last escape, which a low one may complete.
        let mut high: Option<u16> = None;
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(0..0x20 | b'"' | b'\\')) {
                self.at += 1;
            }
            if self.at > start {
                flush(&mut out, &mut high);
                out.extend_from_slice(&self.source[start..self.at]);
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    flush(&mut out, &mut high);
                    return Ok(Text::from_wtf8(out));
                }
                Some(b'\\') => self.escape(&mut out, &mut high)?,
                _ => return Err(self.error(Kind::Syntax)),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>, high: &mut Option<u16>) -> Result<(), ParseError> {
        self.expect(b'\\')?;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let unit = self.hex4()?;
                match (*high, unit) {
                    (Some(first), 0xDC00..0xE000) => {
                        *high = None;
                        push_point(out, 0x1_0000 + (u32::from(first & 0x3FF) << 10 | u32::from(unit & 0x3FF)));
                    }
                    (_, 0xD800..0xDC00) => {
                        flush(out, high);
                        *high = Some(unit);
                    }
                    _ => {
                        flush(out, high);
                        push_point(out, u32::from(unit));
                    }
                }
                return Ok(());
            }
            _ => return Err(self.error(Kind::Syntax)),
        };
        self.at += 1;
        flush(out, high);
        out.push(plain);
        Ok(())
    }

    fn hex4(&mut self) -> Result<u16, ParseError> {
        let digits = self.source.get(self.at..self.at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let unit = digits.and_then(|digits| u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let unit = unit.ok_or_else(|| self.error(Kind::Syntax))?;
        self.at += 4;
        Ok(unit)
    }
}

fn flush(out: &mut Vec<u8>, high: &mut Option<u16>) {
    if let Some(unit) = high.take() {
        push_point(out, u32::from(unit));
    }
}

/// Appends a code point in UTF-8's form, a surrogate too (WTF-8).
#[allow(clippy::cast_possible_truncation)] // every shifted part is masked to below 256
fn push_point(out: &mut Vec<u8>, point: u32) {
    match point {
        0..0x80 => out.push(point as u8),
        0x80..0x800 => out.extend([0xC0 | (point >> 6) as u8, 0x80 | (point & 0x3F) as u8]),
        0x800..0x1_0000 => out.extend([0xE0 | (point >> 12) as u8, 0x80 | (point >> 6 & 0x3F) as u8, 0x80 | (point & 0x3F) as u8]),
        _ => {
            out.extend([
                0xF0 | (point >> 18) as u8,
                0x80 | (point >> 12 & 0x3F) as u8,
                0x80 | (point >> 6 & 0x3F) as u8,
                0x80 | (point & 0x3F) as u8,
            ]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MAX_DEPTH, write};
    use super::*;

    fn read(source: &str) -> Value {
        parse(source, MAX_DEPTH).unwrap()
    }

    #[test]
    fn surrogates_pair_up_or_stay_alone() {
        assert_eq!(read(r#""\ud83d\ude00""#).as_str(), Some("\u{1F600}"));
        let alone = read(r#""a\ud83dx\ude00""#);
        assert_eq!(alone.as_str(), None);
        assert_eq!(alone.as_text().unwrap().code_units().collect::<Vec<_>>(), [0x61, 0xD83D, 0x78, 0xDE00]);
        assert_eq!(write(&alone), r#""a\ud83dx\ude00""#);
        assert_eq!(read(r#""\ud83d\ud83d\ude00""#).as_text().unwrap().utf16_len(), 3);
    }

    #[test]
    fn last_duplicate_wins_in_the_first_place() {
        assert_eq!(write(&read(r#"{"b":1,"a":2,"b":3}"#)), r#"{"b":3,"a":2}"#);
    }

    #[test]
    fn members_as_written() {
        let members = parse_members(br#" {"b":1,"\u0062":[2],"0":3} "#, 2).unwrap();
        assert_eq!(members, [("b".into(), 1u32.into()), ("b".into(), [2u32.into()].into()), ("0".into(), 3u32.into())]);
        for source in [r#"{"b":[2]}"#, "[]", "{} x", "", "null"] {
            assert!(parse_members(source.as_bytes(), 1).is_err(), "{source:?}");
        }
        assert!(parse_members(b"{\"\xff\":1}", 1).is_err());
    }

    #[test]
    fn numbers_are_doubles() {
        assert_eq!(write(&read("[9007199254740993,60.0,6e1,-0,1e21,1E-7]")), "[9007199254740992,60,60,0,1e+21,1e-7]");
    }

    #[test]
    fn refuses_what_is_not_json() {
        for source in
            ["", "01", "1.", ".5", "+1", "[1,]", "{\"a\":1,}", "'a'", "\"\u{1}\"", "\u{FEFF}1", "Infinity", "nul", "1 2", "\"\\x\"", "\"\\u12\"", "-"]
        {
            assert!(parse(source, MAX_DEPTH).is_err(), "{source:?}");
        }
        assert!(parse_bytes(b"\"\xff\"", MAX_DEPTH).is_err());
    }

    #[test]
    fn depth_is_bounded_exactly() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(&nested(64), MAX_DEPTH).is_ok());
        assert!(parse(&nested(65), MAX_DEPTH).is_err());
        assert!(parse("1", 0).is_ok());
        assert!(parse(&"[".repeat(1 << 20), MAX_DEPTH).is_err());
    }
}
