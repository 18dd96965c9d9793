//! The forms of a page of ours, read as a browser reads them: where they go, and what they send.

/// A form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// Where it is sent.
    pub(super) action: String,
    /// Its fields with the values they come with.
    pub(super) fields: Vec<(String, String)>,
}

impl Form {
    /// What is sent, with what is typed into fields put in.
    pub(super) fn encoded(&self, typed: &[(&str, &str)]) -> String {
        let fields = self.fields.iter().map(|(name, value)| {
            let value = typed.iter().find(|(field, _)| field == name).map_or(value.as_str(), |(_, text)| text);
            format!("{}={}", escaped(name), escaped(value))
        });
        fields.collect::<Vec<_>>().join("&")
    }
}

fn escaped(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => char::from(byte).to_string(),
        b' ' => "+".to_owned(),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// The forms of a page, in order, each with its `input` and `button` fields that have a name.
pub(super) fn forms(page: &str) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::new();
    let mut is_inside = false;
    for tag in page.split('<').skip(1) {
        let (name, attributes) = read_tag(tag);
        let attribute = |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        match name.as_str() {
            "form" => {
                is_inside = true;
                forms.push(Form { action: attribute("action").unwrap_or_default(), fields: Vec::new() });
            }
            "/form" => is_inside = false,
            "input" | "button" if is_inside => {
                if let (Some(form), Some(name)) = (forms.last_mut(), attribute("name")) {
                    form.fields.push((name, attribute("value").unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    forms
}

/// A tag's name and attributes, from behind its `<`.
fn read_tag(tag: &str) -> (String, Vec<(String, String)>) {
    let end = tag.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(tag.len());
    let (name, mut rest) = tag.split_at(end);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/')).unwrap_or(rest.len());
        let (attribute, behind) = rest.split_at(end);
        if attribute.is_empty() {
            return (name.to_ascii_lowercase(), attributes);
        }
        let (value, behind) = match behind.strip_prefix('=') {
            None => ("", behind),
            Some(value) => match value.strip_prefix('"').and_then(|value| value.split_once('"')) {
                Some(quoted) => quoted,
                None => value.split_at(value.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(value.len())),
            },
        };
        attributes.push((attribute.to_ascii_lowercase(), unescaped(value)));
        rest = behind;
    }
}

/// The text behind character references: the five of XML and those by number.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let reference = part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        if let Some((character, rest)) = reference {
            plain.push(character);
            plain.push_str(rest);
        } else {
            plain.push('&');
            plain.push_str(part);
        }
    }
    plain
}

fn character(name: &str) -> Option<char> {
    let numbered = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#')?.strip_prefix(['x', 'X']) {
            Some(digits) => numbered(digits, 16),
            None => numbered(&name[1..], 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(form: &Form) -> Vec<(&str, &str)> {
        form.fields.iter().map(|(name, value)| (&**name, &**value)).collect()
    }

    #[test]
    fn forms_of_a_page() {
        let page = "<html><input name=\"outside\"><form method=\"post\" action=\"/approve/apv_1?a=1&amp;b=2\" class=\"x\">\
                    <input type=\"hidden\" name=\"csrf\" value=\"a&#39;b&#x22;c\"><input name='odd' disabled><label>Text > here</label>\
                    <button type=submit name=verdict value=approve>Approve</button></form>\n<FORM action=/sign-out><INPUT NAME=\"x\" value=\"\"/></FORM>";
        let forms = forms(page);
        assert_eq!(forms.len(), 2);
        assert_eq!(forms[0].action, "/approve/apv_1?a=1&b=2");
        assert_eq!(fields(&forms[0]), [("csrf", "a'b\"c"), ("'odd'", ""), ("verdict", "approve")]);
        assert_eq!((forms[1].action.as_str(), fields(&forms[1])), ("/sign-out", vec![("x", "")]));
    }

    #[test]
    fn what_is_typed_is_encoded() {
        let form = Form { action: String::new(), fields: vec![("login".to_owned(), "owner".to_owned()), ("pass word".to_owned(), String::new())] };
        assert_eq!(form.encoded(&[("pass word", "ä b&c+~")]), "login=owner&pass+word=%C3%A4+b%26c%2B%7E");
    }

    #[test]
    fn references_that_are_none_stay() {
        assert_eq!(unescaped("a & b &nbsp; &#x110000; &#; &lt;&amp;lt;"), "a & b &nbsp; &#x110000; &#; <&lt;");
    }

    #[test]
    fn any_text_is_read() {
        for page in
            ["<", "<form", "<form action", "<form action=", "<form action=\"", "</form><input name=a>", "<form><input name", "< form>", "<<>>"]
        {
            assert!(forms(page).len() <= 1, "{page}");
        }
    }
}
