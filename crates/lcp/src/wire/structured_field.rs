//! Dictionaries of HTTP structured fields (RFC 9651), as message signatures (RFC 9421) are written in them. Of the kinds of
//! items, decimals, dates and display strings are not read: no such signature holds one.

use std::collections::HashMap;

use crate::Text;

/// Longest text, in UTF-16 code units.
pub const MAX_LENGTH: usize = 8192;
/// Most members that a dictionary lists, those of one name counted each.
pub const MAX_MEMBERS: usize = 16;
/// Most items of an inner list.
pub const MAX_ITEMS: usize = 32;

/// A bare item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bare {
    /// An integer of at most 15 digits.
    Integer(i64),
    /// A string, unescaped.
    String(String),
    /// A token.
    Token(String),
    /// A byte sequence, as the base64 that is written, which may be any text of its letters.
    Bytes(String),
    /// A boolean.
    Boolean(bool),
}

/// The parameters of an item or a list, by name; the last of a name counts.
pub type Parameters = HashMap<String, Bare>;

/// A bare item with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The item.
    pub bare: Bare,
    /// Its parameters.
    pub parameters: Parameters,
}

/// What a name of a dictionary stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// An item.
    Item(Item),
    /// An inner list, with its own parameters.
    List(Vec<Item>, Parameters),
}

/// Why a text is no dictionary that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not of the grammar.
    Malformed,
    /// Longer than [`MAX_LENGTH`], or with more than [`MAX_MEMBERS`] or [`MAX_ITEMS`].
    TooLarge,
}

/// Reads a dictionary (RFC 9651 section 4.2.2); the last of a name counts.
///
/// ```
/// use lcp::wire::structured_field::{Bare, Member, dictionary};
/// let members = dictionary(&r#"sig=("@path");alg="ed25519""#.into()).unwrap();
/// let Member::List(items, parameters) = &members["sig"] else { panic!() };
/// assert_eq!(items[0].bare, Bare::String("@path".into()));
/// assert_eq!(parameters["alg"], Bare::String("ed25519".into()));
/// ```
pub fn dictionary(text: &Text) -> Result<HashMap<String, Member>, Fault> {
    if text.utf16_len() > MAX_LENGTH {
        return Err(Fault::TooLarge);
    }
    let mut reader = Reader { rest: text.as_str().ok_or(Fault::Malformed)?.as_bytes() };
    let mut members = HashMap::new();
    let mut count = 0;
    reader.skip(b" ");
    while !reader.rest.is_empty() {
        if count == MAX_MEMBERS {
            return Err(Fault::TooLarge);
        }
        count += 1;
        let (name, member) = reader.member()?;
        members.insert(name, member);
        reader.skip(b" \t");
        if !reader.rest.is_empty() {
            reader.expect(b',')?;
            reader.skip(b" \t");
            // A comma promises another member.
            reader.peek().ok_or(Fault::Malformed)?;
        }
    }
    Ok(members)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes the byte if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.takes(byte) { Ok(()) } else { Err(Fault::Malformed) }
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.take_while(|byte| bytes.contains(&byte));
    }

    /// Takes the bytes up to the first that is not of these, all of them ASCII.
    fn take_while(&mut self, of: impl Fn(u8) -> bool) -> String {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii() && of(**byte)).count();
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken.iter().copied().map(char::from).collect()
    }

    /// A member; a name alone stands for true.
    fn member(&mut self) -> Result<(String, Member), Fault> {
        let name = self.key()?;
        let member = if !self.takes(b'=') {
            Member::Item(Item { bare: Bare::Boolean(true), parameters: self.parameters()? })
        } else if self.takes(b'(') {
            let items = self.items()?;
            Member::List(items, self.parameters()?)
        } else {
            Member::Item(self.item()?)
        };
        Ok((name, member))
    }

    /// The items of an inner list, whose opening parenthesis was taken, and the closing one.
    fn items(&mut self) -> Result<Vec<Item>, Fault> {
        let mut items = Vec::new();
        loop {
            self.skip(b" ");
            if self.takes(b')') {
                return Ok(items);
            }
            if items.len() == MAX_ITEMS {
                return Err(Fault::TooLarge);
            }
            items.push(self.item()?);
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(Fault::Malformed);
            }
        }
    }

    fn item(&mut self) -> Result<Item, Fault> {
        let bare = self.bare()?;
        Ok(Item { bare, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Result<Parameters, Fault> {
        let mut parameters = Parameters::new();
        while self.takes(b';') {
            self.skip(b" ");
            let name = self.key()?;
            let value = if self.takes(b'=') { self.bare()? } else { Bare::Boolean(true) };
            parameters.insert(name, value);
        }
        Ok(parameters)
    }

    fn key(&mut self) -> Result<String, Fault> {
        if !matches!(self.peek(), Some(b'a'..=b'z' | b'*')) {
            return Err(Fault::Malformed);
        }
        Ok(self.take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*')))
    }

    fn bare(&mut self) -> Result<Bare, Fault> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.integer(),
            Some(b'"') => self.string(),
            Some(b':') => self.bytes(),
            Some(b'?') => self.boolean(),
            Some(b'*') => Ok(self.token()),
            Some(byte) if byte.is_ascii_alphabetic() => Ok(self.token()),
            _ => Err(Fault::Malformed),
        }
    }

    fn integer(&mut self) -> Result<Bare, Fault> {
        let sign = if self.takes(b'-') { -1 } else { 1 };
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let number = digits.parse::<i64>().ok().filter(|_| digits.len() <= 15).ok_or(Fault::Malformed)?;
        Ok(Bare::Integer(sign * number))
    }

    fn string(&mut self) -> Result<Bare, Fault> {
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            text += &self.take_while(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\');
            if self.takes(b'"') {
                return Ok(Bare::String(text));
            }
            self.expect(b'\\')?;
            match self.peek() {
                Some(escaped @ (b'"' | b'\\')) => {
                    self.expect(escaped)?;
                    text.push(escaped.into());
                }
                _ => return Err(Fault::Malformed),
            }
        }
    }

    fn bytes(&mut self) -> Result<Bare, Fault> {
        self.expect(b':')?;
        let base64 = self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        self.expect(b':')?;
        Ok(Bare::Bytes(base64))
    }

    fn boolean(&mut self) -> Result<Bare, Fault> {
        self.expect(b'?')?;
        let value = self.takes(b'1');
        if !value {
            self.expect(b'0')?;
        }
        Ok(Bare::Boolean(value))
    }

    fn token(&mut self) -> Bare {
        Bare::Token(self.take_while(|byte| byte.is_ascii_alphanumeric() || b":/!#$%&'*+-.^_`|~".contains(&byte)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::{hash_map, vec},
        prelude::*,
    };

    use super::*;

    fn read(text: &str) -> Result<HashMap<String, Member>, Fault> {
        dictionary(&text.into())
    }

    fn plain(bare: Bare) -> Item {
        Item { bare, parameters: Parameters::new() }
    }

    fn string(text: &str) -> Bare {
        Bare::String(text.to_owned())
    }

    /// The one item named `a`.
    fn item(text: &str) -> Option<Bare> {
        match read(&format!("a={text}")).ok()?.remove("a")? {
            Member::Item(item) => Some(item.bare),
            Member::List(..) => None,
        }
    }

    #[test]
    fn reads_the_signature_input_of_rfc_9421_section_2_5() {
        let text = concat!(
            r#"sig1=("@method" "@authority" "@path" "content-digest" "content-length" "content-type")"#,
            r#";created=1618884473;keyid="test-key-rsa-pss""#
        );
        let mut members = read(text).unwrap();
        let Some(Member::List(components, parameters)) = members.remove("sig1") else { panic!() };
        let names = ["@method", "@authority", "@path", "content-digest", "content-length", "content-type"];
        assert_eq!(components, names.map(|name| plain(string(name))));
        assert_eq!(parameters, Parameters::from([("created".into(), Bare::Integer(1_618_884_473)), ("keyid".into(), string("test-key-rsa-pss"))]));
        assert!(members.is_empty());
    }

    #[test]
    fn items() {
        for (text, bare) in [
            ("0", Bare::Integer(0)),
            ("-999999999999999", Bare::Integer(-999_999_999_999_999)),
            ("000000000000001", Bare::Integer(1)),
            (r#""a\"\\ ~""#, string(r#"a"\ ~"#)),
            (r#""""#, string("")),
            ("*a:b/c!#$%&'*+.^_`|~-", Bare::Token("*a:b/c!#$%&'*+.^_`|~-".into())),
            ("::", Bare::Bytes(String::new())),
            (":=A+/9:", Bare::Bytes("=A+/9".into())),
            ("?1", Bare::Boolean(true)),
            ("?0", Bare::Boolean(false)),
        ] {
            assert_eq!(item(text), Some(bare), "{text}");
        }
        let items = ["", "1.5", "1.", "-", "--1", "+1", "0000000000000001", "@1", "%\"a\"", "\"", "\"\\n\"", "\"\t\"", "\"\u{7F}\"", "\"é\""];
        for text in
            items.into_iter().chain([":A", ":A-:", ":A A:", "?", "?2", "?1x", "a\"", "#a", "é", "(", "(1", "((1))", "(1)1", "(1\t2)", "(1,2)"])
        {
            assert_eq!(read(&format!("a={text}")), Err(Fault::Malformed), "{text}");
        }
    }

    #[test]
    fn members_and_their_parameters() {
        assert_eq!(read("").map(|members| members.len()), Ok(0));
        assert_eq!(read("   ").map(|members| members.len()), Ok(0));
        for text in ["a=1,b=2", "  a=1 \t,\t b=2  \t", "a, b", "a;x=1;y, b;z", "*a.b_c-d*9=1, b=( )", "a=(1  \"x\" );p;  q=1, b"] {
            assert_eq!(read(text).map(|members| members.len()), Ok(2), "{text}");
        }
        for text in
            ["\t", "\ta=1", ",a=1", "a=1,", "a=1, ", "a=1,,b=1", "a=1;b=2;", "a= 1", "a =1", "a=1\n", "A=1", "1=1", "a=1 b=2", "a=1;B", "a=1 ;b"]
        {
            assert_eq!(read(text), Err(Fault::Malformed), "{text:?}");
        }
        let last = read("a=1;x;x=2, b, a=(\"x\";s);y=1;y=?0").unwrap();
        let component = Item { bare: string("x"), parameters: Parameters::from([("s".into(), Bare::Boolean(true))]) };
        assert_eq!(last["a"], Member::List(vec![component], Parameters::from([("y".into(), Bare::Boolean(false))])));
        assert_eq!(last["b"], Member::Item(plain(Bare::Boolean(true))));
    }

    #[test]
    fn is_bounded() {
        let members = |count: usize| vec!["a"; count].join(",");
        assert_eq!((read(&members(16)).is_ok(), read(&members(17))), (true, Err(Fault::TooLarge)));
        assert_eq!(read(&format!("{},!", members(16))), Err(Fault::TooLarge));
        assert_eq!(read(&format!("{},", members(16))), Err(Fault::Malformed));
        let items = |count: usize| format!("a=({} )", vec!["1"; count].join(" "));
        assert_eq!((read(&items(32)).is_ok(), read(&items(33))), (true, Err(Fault::TooLarge)));
        let padded = |length: usize| format!("{:<length$}", "a=1");
        assert_eq!((read(&padded(8192)).is_ok(), read(&padded(8193))), (true, Err(Fault::TooLarge)));
        assert_eq!(read(&"é".repeat(8192)), Err(Fault::Malformed), "8192 code units");
    }

    fn key() -> impl Strategy<Value = String> {
        "[a-z*][a-z0-9_.*-]{0,5}"
    }

    fn bare() -> impl Strategy<Value = Bare> {
        prop_oneof![
            (-999_999_999_999_999..=999_999_999_999_999_i64).prop_map(Bare::Integer),
            "[ -~]{0,9}".prop_map(Bare::String),
            "[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]{0,5}".prop_map(Bare::Token),
            "[A-Za-z0-9+/=]{0,9}".prop_map(Bare::Bytes),
            any::<bool>().prop_map(Bare::Boolean),
        ]
    }

    fn any_item() -> impl Strategy<Value = Item> {
        (bare(), hash_map(key(), bare(), 0..3)).prop_map(|(bare, parameters)| Item { bare, parameters })
    }

    fn member() -> impl Strategy<Value = Member> {
        prop_oneof![
            any_item().prop_map(Member::Item),
            (vec(any_item(), 0..4), hash_map(key(), bare(), 0..3)).prop_map(|(items, parameters)| Member::List(items, parameters)),
        ]
    }

    fn write_bare(bare: &Bare) -> String {
        match bare {
            Bare::Integer(number) => number.to_string(),
            Bare::String(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Bare::Token(token) => token.clone(),
            Bare::Bytes(base64) => format!(":{base64}:"),
            Bare::Boolean(value) => format!("?{}", u8::from(*value)),
        }
    }

    fn write_parameters(parameters: &Parameters) -> String {
        parameters.iter().fold(String::new(), |text, (name, bare)| text + ";" + name + "=" + &write_bare(bare))
    }

    fn write_item(item: &Item) -> String {
        write_bare(&item.bare) + &write_parameters(&item.parameters)
    }

    fn write(member: &Member) -> String {
        match member {
            Member::Item(item) => write_item(item),
            Member::List(items, parameters) => {
                format!("({}){}", items.iter().map(write_item).collect::<Vec<_>>().join(" "), write_parameters(parameters))
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(members in hash_map(key(), member(), 0..6)) {
            let text = members.iter().map(|(name, member)| format!("{name}={}", write(member))).collect::<Vec<_>>().join(", ");
            prop_assert_eq!(read(&text), Ok(members));
        }

        #[test]
        fn any_text_is_judged(text in r#"([ab*]=?[("]|[ \t,;=?:"()1a.@%-]|\\PC){0,24}"#) {
            let _ = read(&text);
        }
    }
}
