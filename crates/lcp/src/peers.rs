//! Payments that a public library of a rail completes and reads, for tests: `tests/peers/RAIL`.

use std::{env, fs, path::Path};

use crate::{
    Object, Value, json,
    pairing::{Completed, Unsigned},
};

/// Pays with a library's answers, and gives each payment with what the library read in it.
///
/// A line of `ours.jsonl` is a request and the payload of its payment, to which those here are held; `UPDATE=1` writes them
/// anew, without payloads as long as there are no answers. A line of `payments.jsonl`, which the rail's script makes of that,
/// is the library's answer to the request and what it reads in the payload.
pub(crate) fn paid(rail: &str, unsigned: &[Box<dyn Unsigned>]) -> Vec<(Value, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(rail);
    let lines = |name| json::lines(&fs::read_to_string(folder.join(name)).unwrap_or_default());
    let library = lines("payments.jsonl");
    let paid = |(place, unsigned): (usize, &dyn Unsigned)| {
        let request = unsigned.request().unwrap().unwrap();
        let answer = library.get(place).and_then(|line| line.get("answer"));
        let payment = answer.map(|answer| match unsigned.complete(answer) {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{rail}: {other:?}"),
        });
        let payload = payment.as_ref().and_then(|payment| payment.get("payload"));
        (Value::from(Object::new().with("request", request).with_some("payload", payload)), payment)
    };
    let (ours, payments): (Vec<_>, Vec<_>) = unsigned.iter().map(Box::as_ref).enumerate().map(paid).unzip();
    if env::var_os("UPDATE").is_some() {
        fs::write(folder.join("ours.jsonl"), ours.iter().map(|line| json::write(line) + "\n").collect::<String>()).unwrap();
    }
    assert_eq!(lines("ours.jsonl"), ours, "{rail}");
    assert_eq!(library.len(), unsigned.len(), "{rail}");
    payments.into_iter().zip(library).map(|(payment, line)| (payment.unwrap(), line.get("read").unwrap().clone())).collect()
}
