//! A recorded row: what was asked, in which world, and what the reference answered.

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use lcp::{Object, Value, json};

/// A row. Members are read from the JSON where they are used.
#[derive(Debug)]
pub struct Row(Object);

impl Row {
    /// Reads a row's line.
    pub fn read(line: &str) -> Result<Self, String> {
        // Rows hold documents that nest past what a pairing reads.
        match json::parse(line, 512).map_err(|error| error.to_string())? {
            Value::Object(row) => Ok(Self(Object::clone(&row))),
            _ => Err("a row is not an object".into()),
        }
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The row's id.
    pub fn id(&self) -> &str {
        self.text("id")
    }

    /// The operation.
    pub fn op(&self) -> &str {
        self.text("op")
    }

    /// The pairing whose row it is, also where the argument names another.
    pub fn pairing(&self) -> &str {
        self.text("pairing")
    }

    /// An argument of the tool.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.get("args")?.get(name)
    }

    /// The pairing argument; `agree` takes none and pays with x402.
    pub fn pairing_argument(&self) -> &str {
        self.argument("pairing").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether no argument stands for a long value.
    pub fn has_plain_arguments(&self) -> bool {
        self.get("args").and_then(Value::as_object).is_some_and(|args| args.iter().all(|(_, value)| repeated(value).is_none()))
    }

    /// What the reference answered.
    pub fn expect(&self) -> &Value {
        self.get("expect").unwrap_or(&Value::Null)
    }

    /// Whether the row carries the flag.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.get("flags").and_then(Value::as_array).is_some_and(|flags| flags.iter().any(|held| held.as_str() == Some(flag)))
    }

    /// Whether the decline's detail is a stable code.
    pub fn detail_is_exact(&self) -> bool {
        self.get("detail_exact") == Some(&Value::Bool(true))
    }

    /// Why the row cannot be compared, if it cannot.
    pub fn skipped(&self) -> Option<&'static str> {
        if self.get("oddity").is_some() {
            return Some("oddity");
        }
        ["integral-float-differs", "big-int-differs", "client-refused-url", "raised"].into_iter().find(|flag| self.has_flag(flag))
    }
}

/// The bytes that a value stands for: base64 text, or `{repeat, count}` for one byte many times.
pub fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    match repeated(value) {
        Some((byte, count)) => Some(vec![byte; count]),
        None => lcp::encoding::from_base64(value.as_str()?),
    }
}

/// `{repeat: base64 of one byte, count}`.
pub fn repeated(value: &Value) -> Option<(u8, usize)> {
    let byte = lcp::encoding::from_base64(value.get("repeat")?.as_str()?)?;
    let count = value.get("count")?.as_safe_unsigned()?;
    Some((*byte.first()?, usize::try_from(count).ok()?))
}

/// The row files below a folder, in order of their paths.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))? {
            let path = entry?.path();
            let name = path.to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A row file's text.
pub fn text(file: &Path) -> io::Result<String> {
    let bytes = fs::read(file)?;
    let mut text = String::new();
    if file.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes).map_err(io::Error::other)?;
    }
    Ok(text)
}
