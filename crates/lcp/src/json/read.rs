use std::collections::HashSet;

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
    Repeated,
}

impl ParseError {
    /// Whether nothing but its depth keeps the text from being read.
    pub fn is_too_deep(&self) -> bool {
        self.kind == Kind::TooDeep
    }

    /// Whether an object has a member twice, where [`parse_unique`] refuses that.
    pub fn is_repeated(&self) -> bool {
        self.kind == Kind::Repeated
    }
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            Kind::Syntax => "not JSON",
            Kind::TooDeep => "nested too deep",
            Kind::NotUtf8 => "not UTF-8",
            Kind::Repeated => "a member that is there already",
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
    whole(source, false, |reader| reader.value(max_depth))
}

/// Reads a JSON text as [`parse`] does, but for one in which an object has a member twice: whoever wrote it may have meant the one
/// that does not count.
pub fn parse_unique(source: &str, max_depth: usize) -> Result<Value, ParseError> {
    whole(source, true, |reader| reader.value(max_depth))
}

/// Reads JSON from bytes, as [`parse_unique`] does, which must be UTF-8 without a byte order mark.
pub fn parse_bytes_unique(source: &[u8], max_depth: usize) -> Result<Value, ParseError> {
    parse_unique(utf8(source)?, max_depth)
}

/// Reads JSON from bytes, which must be UTF-8 without a byte order mark.
pub fn parse_bytes(source: &[u8], max_depth: usize) -> Result<Value, ParseError> {
    parse(utf8(source)?, max_depth)
}

/// Reads a JSON text that is an object, from bytes as [`parse_bytes`] does, and gives its members as they are written: in
/// their order, with every repetition.
pub fn parse_members(source: &[u8], max_depth: usize) -> Result<Vec<(Text, Value)>, ParseError> {
    whole(utf8(source)?, false, |reader| reader.members(max_depth))
}

fn whole<T>(source: &str, is_unique: bool, read: impl FnOnce(&mut Reader<'_>) -> Result<T, ParseError>) -> Result<T, ParseError> {
    let mut reader = Reader { source: source.as_bytes(), at: 0, is_unique, too_deep: None };
    reader.space();
    let value = read(&mut reader)?;
    reader.space();
    if reader.at < source.len() {
        return Err(reader.error(Kind::Syntax));
    }
    reader.too_deep.map_or(Ok(value), Err)
}

fn utf8(source: &[u8]) -> Result<&str, ParseError> {
    std::str::from_utf8(source).map_err(|error| ParseError { at: error.valid_up_to(), kind: Kind::NotUtf8 })
}

struct Reader<'a> {
    /// INVARIANT: UTF-8, and `at` stands on a character boundary.
    source: &'a [u8],
    at: usize,
    /// Whether a member that an object has twice is a fault.
    is_unique: bool,
    /// Where the text first nests too deep. The rest is held to the syntax alone.
    too_deep: Option<ParseError>,
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
        let Some(inner) = depth_left.checked_sub(1) else { return self.too_deep() };
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
        let Some(inner) = depth_left.checked_sub(1) else {
            self.too_deep()?;
            return Ok(Vec::new());
        };
        self.expect(b'{')?;
        self.space();
        let (mut members, mut names) = (Vec::new(), HashSet::new());
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            let start = self.at;
            let name = self.string()?;
            if self.is_unique && !names.insert(name.clone()) {
                return Err(ParseError { at: start, kind: Kind::Repeated });
            }
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

    /// Passes over the array or object that starts here, however deep it nests: the open ones stand on a list, not on the
    /// stack. The null is never seen.
    fn too_deep(&mut self) -> Result<Value, ParseError> {
        self.too_deep.get_or_insert(self.error(Kind::TooDeep));
        let mut open = Vec::new();
        loop {
            match self.peek() {
                Some(opening @ (b'[' | b'{')) => {
                    self.at += 1;
                    self.space();
                    open.push(if opening == b'[' { b']' } else { b'}' });
                    if self.peek() != open.last().copied() {
                        self.name_in(&open)?;
                        continue;
                    }
                }
                // A scalar.
                _ => drop(self.value(0)?),
            }
            // Behind a value: what it ends is closed, or another one is ahead.
            self.space();
            while open.pop_if(|closing| self.peek() == Some(*closing)).is_some() {
                self.at += 1;
                self.space();
            }
            if open.is_empty() {
                return Ok(Value::Null);
            }
            self.expect(b',')?;
            self.space();
            self.name_in(&open)?;
        }
    }

    /// Passes over the name and the colon of a member, if an object is the innermost that is open.
    fn name_in(&mut self, open: &[u8]) -> Result<(), ParseError> {
        if open.last() == Some(&b'}') {
            self.string()?;
            self.space();
            self.expect(b':')?;
            self.space();
        }
        Ok(())
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
    use proptest::{collection::vec, prelude::*, sample::select};

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
    fn a_member_twice_is_refused_where_that_is_asked_for() {
        for source in [r#"{"b":1,"a":2,"b":3}"#, r#"[{"a":{"b":1,"\u0062":1}}]"#] {
            assert!(parse_unique(source, MAX_DEPTH).unwrap_err().is_repeated(), "{source}");
            assert!(parse(source, MAX_DEPTH).is_ok());
        }
        let source = r#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#;
        assert_eq!(parse_unique(source, MAX_DEPTH), parse(source, MAX_DEPTH));
        assert_eq!(parse_bytes_unique(br#"{"a":1,"a":1}"#, 1).unwrap_err().to_string(), "a member that is there already at byte 7");
        assert!(!parse_unique("{", 1).unwrap_err().is_repeated());
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

    #[test]
    fn only_json_is_too_deep() {
        let around = |inner: &str| format!("{}{inner}{}", "[".repeat(64), "]".repeat(64));
        let mixed = "[{\"a\":".repeat(9) + "0" + &"}]".repeat(9);
        for inner in ["[]", "{}", "[ ]", r#"[{"a" : [] , "b":{}} ,1, "x"]"#, r#"{"a":[1,{"b":null}],"c":"}"}"#, &mixed] {
            assert!(parse(&around(inner), MAX_DEPTH).unwrap_err().is_too_deep(), "{inner}");
        }
        for inner in
            ["[", "]", "[}", "{]", "{1:2}", r#"{"a"}"#, r#"{"a":}"#, "[1,]", "[,1]", r#"{"a":1,}"#, "[1 2]", "[nul]", "[]1", "[\u{1}]", "{,}"]
        {
            assert!(!parse(&around(inner), MAX_DEPTH).unwrap_err().is_too_deep(), "{inner}");
        }
        let deep = "[".repeat(1 << 20) + &"]".repeat(1 << 20);
        assert!(parse(&deep, MAX_DEPTH).unwrap_err().is_too_deep());
        assert!(!parse(&(deep + "]"), MAX_DEPTH).unwrap_err().is_too_deep());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        /// Whether a text is JSON does not depend on the depth it is held to.
        #[test]
        fn depth_does_not_change_what_is_json(
            pieces in vec(select(["[", "]", "{}", "[]", "{\"a\":", "}", ",", "1", "\"a\"", " "].as_slice()), 0..9),
        ) {
            let source = format!("[{}]", pieces.concat());
            match (parse(&source, 24), parse(&source, 1)) {
                (Ok(_), Err(error)) => prop_assert!(error.is_too_deep()),
                (free, bounded) => prop_assert_eq!(free, bounded),
            }
        }
    }
}
