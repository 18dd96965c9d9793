//! The buyer's credential: the challenge it answers, and the payment's payload.

use super::challenge::Challenge;
use crate::{
    Object, Refusal, Text, Value,
    pairing::{Completed, Pairing, Unsigned},
};

pub(crate) const CREDENTIAL_MALFORMED: Refusal = Refusal::new("mpp/credential-malformed");
pub(crate) const CREDENTIAL_TYPE: Refusal = Refusal::new("mpp/credential-type");

/// Largest credential, as [`size`] counts it.
const MAX_SIZE: usize = 65_536;
/// How deep a credential may nest.
const MAX_DEPTH: usize = 16;

/// A credential of the form that every method shares.
pub(crate) struct Credential<'a> {
    pub(crate) challenge: Challenge<'a>,
    pub(crate) payload: &'a Object,
    pub(crate) source: Option<&'a Text>,
}

impl<'a> Credential<'a> {
    /// Reads `{challenge, payload, [source]}`. Other members are let be, but `refused`.
    pub(crate) fn read(payment: &'a Value) -> Result<Self, Refusal> {
        Self::of(payment).ok_or(CREDENTIAL_MALFORMED)
    }

    fn of(payment: &'a Value) -> Option<Self> {
        let members = payment.as_object().filter(|members| !members.has("refused"))?;
        let challenge = Challenge::read(members.get("challenge")?).filter(|challenge| challenge.id.is_some())?;
        let payload = members.get("payload")?.as_object()?;
        let source = members.get("source").map_or(Some(None), |source| source.as_text().map(Some))?;
        // The depth first: it bounds the recursion of the size.
        let bounded = payment.nests_within(MAX_DEPTH) && size(payment) <= MAX_SIZE;
        bounded.then_some(Self { challenge, payload, source })
    }
}

/// Reads the challenge that a credential is to answer; the least credential that echoes it must not be too large.
pub(super) fn least(challenge: Option<&Value>) -> Result<Challenge<'_>, Refusal> {
    let challenge = challenge.and_then(Challenge::read).ok_or(CREDENTIAL_MALFORMED)?;
    Credential::read(&credential(challenge.echoed(), None, Object::new()))?;
    Ok(challenge)
}

/// A credential; `challenge` is what [`Challenge::echoed`] gives.
pub(crate) fn credential(challenge: Object, source: Option<Text>, payload: Object) -> Value {
    Object::new().with("challenge", challenge).with_some("source", source).with("payload", payload).into()
}

/// The wallet's part of a credential: what it is asked, and the payload that its answers make.
pub(crate) trait Payload: Send {
    fn request(&self) -> Result<Value, Refusal>;

    /// Joins the wallet's answer: the first answer alone, or all answers in order for a payload signed in steps.
    fn complete(&self, answer: &Value) -> Result<Answered, Refusal>;
}

/// What the wallet's answers made.
pub(crate) enum Answered {
    /// Another request is to be signed.
    Next(Value),
    /// The payload, and the receipt of its landing where the answer holds one.
    Payload(Object, Option<Value>),
    /// The payload, and the source, which the answer names.
    Sent { source: Text, payload: Object },
}

/// A credential that waits for the wallet.
pub(crate) struct Waiting<P> {
    challenge: Object,
    source: Option<Text>,
    payload: P,
}

impl<P: Payload> Waiting<P> {
    pub(crate) fn new(challenge: &Challenge<'_>, source: Option<String>, payload: P) -> Self {
        Self { challenge: challenge.echoed(), source: source.map(Text::from), payload }
    }
}

impl<P: Payload> Unsigned for Waiting<P> {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        self.payload.request().map(Some)
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let (source, payload, landed) = match self.payload.complete(answer)? {
            Answered::Next(request) => return Ok(Completed::Next(request)),
            Answered::Payload(payload, landed) => (self.source.clone(), payload, landed),
            Answered::Sent { source, payload } => (Some(source), payload, None),
        };
        let signed = credential(self.challenge.clone(), source, payload);
        Credential::read(&signed)?;
        Ok(Completed::Payment { signed, landed })
    }
}

/// A payload that one answer completes.
pub(crate) struct OneStep<F> {
    pub(crate) request: Value,
    /// The payload with the answer in it.
    pub(crate) payload: F,
}

impl<F: Fn(&Value) -> Result<Object, Refusal> + Send> Payload for OneStep<F> {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        Ok(Answered::Payload((self.payload)(answer)?, None))
    }
}

/// A credential that waits for the wallet, and that its own pairing must read H from, so that the pairing's refusal tells
/// what is wrong with the wallet's answer.
pub(crate) struct ReadBack<U> {
    pub(crate) pairing: &'static dyn Pairing,
    pub(crate) unsigned: U,
}

impl<U: Unsigned> Unsigned for ReadBack<U> {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        self.unsigned.request()
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let completed = self.unsigned.complete(answer)?;
        if let Completed::Payment { signed, landed } = &completed {
            self.pairing.bound(signed, landed.as_ref())?;
        }
        Ok(completed)
    }
}

impl<P: Payload + ?Sized> Payload for Box<P> {
    fn request(&self) -> Result<Value, Refusal> {
        (**self).request()
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        (**self).complete(answer)
    }
}

/// A credential's size as its budget counts it: the UTF-16 code units of names and strings, with 3 for a name's
/// punctuation and 2 for a string's or a container's, and 8 for any other scalar.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.utf16_len() + 2,
        Value::Array(items) => 2 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 2 + members.iter().map(|(name, value)| name_size(name) + size(value)).sum::<usize>(),
    }
}

fn name_size(name: &Text) -> usize {
    name.utf16_len() + 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Hash,
        mpp::sample::{challenge, credential},
    };

    fn members() -> Object {
        credential(challenge(&Hash::of(b"abc"), "charge", "card", Object::new())).as_object().unwrap().clone()
    }

    fn reads(members: Object) -> bool {
        Credential::read(&members.into()).is_ok()
    }

    #[test]
    fn takes_a_challenge_with_an_id_and_a_payload() {
        assert!(reads(members()) && reads(members().with("source", "did:x").with("note", 1u32)));
        for value in [Value::Null, true.into(), "x".into(), Vec::new().into()] {
            for name in ["challenge", "payload"] {
                assert!(!reads(members().with(name, &value)), "{name}: {value:?}");
            }
            assert!(!reads(members().with("refused", &value)));
            assert_eq!(Credential::read(&value).err(), Some(CREDENTIAL_MALFORMED));
        }
        assert!(!reads(members().without("challenge")) && !reads(members().without("payload")));
        assert!(!reads(members().with("source", Value::Null)));
        let challenge = members().get("challenge").unwrap().as_object().unwrap().clone();
        assert!(!reads(members().with("challenge", challenge.without("id"))));
    }

    #[test]
    fn is_bounded_in_size_and_depth() {
        let mixed = Value::from([Value::Null, true.into(), 1u32.into(), "\u{1F600}".into(), Object::new().with("é", "").into()]);
        assert_eq!(size(&mixed), 2 + 8 + 8 + 8 + 4 + (2 + 4 + 2));
        let filled = |size_wanted: usize| {
            let spare = size_wanted - size(&members().with("note", "").into());
            members().with("note", "x".repeat(spare))
        };
        assert!(reads(filled(65_536)) && !reads(filled(65_537)));

        let nested = |levels: usize| (0..levels).fold(Value::Null, |inner, _| [inner].into());
        assert!(reads(members().with("note", nested(15))) && !reads(members().with("note", nested(16))));
    }

    struct Steps;

    impl Payload for Steps {
        fn request(&self) -> Result<Value, Refusal> {
            Ok("first".into())
        }

        fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
            Ok(match answer.as_array() {
                None => Answered::Next("second".into()),
                Some([]) => Answered::Sent { source: "named".into(), payload: Object::new() },
                Some(answers) => Answered::Payload(Object::new().with_some("answer", answers.first()), Some("landed".into())),
            })
        }
    }

    #[test]
    fn a_waiting_credential_is_completed_in_steps() {
        let challenge: Value = members().get("challenge").unwrap().as_object().unwrap().clone().with("note", "x").with("digest", "d").into();
        let waiting = Waiting::new(&Challenge::read(&challenge).unwrap(), Some("source".to_owned()), Steps);
        assert_eq!(waiting.request(), Ok(Some("first".into())));
        assert_eq!(waiting.complete(&Value::Null), Ok(Completed::Next("second".into())));
        // The challenge is echoed without members that a challenge does not have.
        let echoed = challenge.as_object().unwrap().without("note");
        let signed =
            |source: &str, payload: Object| Object::new().with("challenge", echoed.clone()).with("source", source).with("payload", payload).into();
        let paid = |answer: &str| waiting.complete(&[answer.into()].into());
        let expected = Completed::Payment { signed: signed("source", Object::new().with("answer", "x")), landed: Some("landed".into()) };
        assert_eq!(paid("x"), Ok(expected));
        let expected = Completed::Payment { signed: signed("named", Object::new()), landed: None };
        assert_eq!(waiting.complete(&Vec::new().into()), Ok(expected));
        assert_eq!(paid(&"x".repeat(65_536)), Err(CREDENTIAL_MALFORMED));
    }

    #[test]
    fn the_least_credential_is_bounded() {
        let challenge = members().get("challenge").unwrap().as_object().unwrap().clone();
        let spare = MAX_SIZE - size(&credential(challenge.clone().with("description", "")));
        let described = |length: usize| Value::from(challenge.clone().with("description", "x".repeat(length)));
        assert!(least(Some(&described(spare))).is_ok());
        assert_eq!(least(Some(&described(spare + 1))).err(), Some(CREDENTIAL_MALFORMED));
        let unknown = Value::from(challenge.clone().with("note", "x".repeat(MAX_SIZE)));
        assert!(least(Some(&unknown)).is_ok());
        for refused in [None, Some(Value::Null), Some(challenge.without("id").into())] {
            assert_eq!(least(refused.as_ref()).err(), Some(CREDENTIAL_MALFORMED));
        }
    }
}
