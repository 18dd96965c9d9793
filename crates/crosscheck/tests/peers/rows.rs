//! The recorded rows, and payments built from them.

use std::{fs, io::Read as _, path::Path};

use lcp::{
    ConfirmedHash, Hash, Object, Pairing, Refusal, Value, encoding, json,
    pairing::{ChannelRef, Choice, Unsigned, WithinAsk},
    registry,
};

/// The public test key of the payer, which signed the rows.
pub(crate) const PAYER: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// The one of who signs vouchers for the payer.
pub(crate) const AUTHORIZER: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// A payment of a row that the reference answers without a decline.
pub(crate) struct Case {
    pub(crate) row: Value,
    pub(crate) pairing: &'static dyn Pairing,
    pub(crate) unsigned: Box<dyn Unsigned>,
    /// Whether it is paid inside a channel.
    pub(crate) within: bool,
    /// What the recorded wallet answered.
    pub(crate) answer: Value,
    /// The hash it is built over.
    pub(crate) h: Hash,
}

impl Case {
    pub(crate) fn id(&self) -> &str {
        text(&self.row, "id")
    }

    /// The signing request.
    pub(crate) fn request(&self) -> Value {
        self.unsigned.request().unwrap().unwrap_or_else(|| panic!("{}: nothing to sign", self.id()))
    }

    /// Panics unless the payment carries the hash or, as some vouchers, none.
    pub(crate) fn judge(&self, signed: &Value, landed: Option<&Value>) {
        let within = || self.pairing.channel().unwrap().within().unwrap().bound(signed);
        match if self.within { within() } else { self.pairing.bound(signed, landed) } {
            Ok(bound) => assert_eq!(bound, self.h, "{}", self.id()),
            Err(refusal) => assert!(self.within && refusal.code() == "mpp/not-bound-within", "{}: {}", self.id(), refusal.code()),
        }
    }
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// The payments of the rows in a folder of `vectors/`, for the pairings named.
pub(crate) fn cases(folder: &str, pairings: &[&str]) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let mut rows = String::new();
        flate2::read::GzDecoder::new(&*fs::read(file).unwrap()).read_to_string(&mut rows).unwrap();
        for row in rows.lines() {
            let row = json::parse(row, 512).unwrap();
            if pairings.contains(&text(&row, "pairing")) && row.get("expect").unwrap().get("decline").is_none() {
                cases.extend(case(row));
            }
        }
    }
    cases
}

fn case(row: Value) -> Option<Case> {
    let arguments = row.get("args")?;
    let pairing = registry::pairing(text(&row, "pairing")).unwrap();
    let expect = row.get("expect")?;
    let atr = |value: &Value| encoding::from_base64(value.as_str()?);
    let (unsigned, answer, atr) = match text(&row, "op") {
        "confirm" => {
            let atr = atr(expect.get("atr")?.get("base64")?)?;
            // A document that nests too deep to be compared is confirmed, but not built from once it came back as text.
            (chosen(pairing, expect.get("chosen")?, &atr).ok()?, Value::Null, atr)
        }
        "finish" => {
            let atr = atr(arguments.get("atr")?)?;
            (
                chosen(pairing, arguments.get("chosen")?, &atr).unwrap_or_else(|refusal| panic!("{}: {}", text(&row, "id"), refusal.code())),
                arguments.get("signature")?.clone(),
                atr,
            )
        }
        "within" => {
            let hold = arguments.get("hold")?;
            let atr = atr(hold.get("atr")?)?;
            let none = Object::new();
            let ask = WithinAsk {
                document: arguments.get("document")?,
                h: &ConfirmedHash::rehash(&atr),
                held: &ChannelRef { network: text(hold, "network").into(), channel: text(hold, "channel").into() },
                opening: hold.get("opening")?,
                landed: hold.get("landed"),
                charged: text(hold, "charged"),
                refund: arguments.get("refund").and_then(Value::as_object),
                inputs: arguments.get("inputs").and_then(Value::as_object).unwrap_or(&none),
                reference: row.get("ref")?,
            };
            let built = pairing.channel()?.within()?.build(&ask).unwrap_or_else(|declined| panic!("{}: {declined:?}", text(&row, "id")));
            let answers = row.get("signer").and_then(|signer| signer.get("answers")?.as_array());
            (built.unsigned, answers.and_then(|answers| answers.first()).cloned().unwrap_or(Value::Null), atr)
        }
        _ => return None,
    };
    let within = text(&row, "op") == "within";
    Some(Case { row, pairing, unsigned, within, answer, h: Hash::of(&atr) })
}

fn chosen(pairing: &dyn Pairing, chosen: &Value, atr: &[u8]) -> Result<Box<dyn Unsigned>, Refusal> {
    let choice = chosen.get("choice").and_then(Value::as_object).unwrap();
    let reference = chosen.get("ref").unwrap_or(&Value::Null);
    pairing.build(&Choice { choice, reference, h: &ConfirmedHash::rehash(atr), atr })
}
