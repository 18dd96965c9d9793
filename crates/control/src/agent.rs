//! Agents: who asks to pay, and whether it may.

use lcp::{Object, Value};

use crate::{
    Ids, Instant, Refusal,
    actor::Actor,
    card_number,
    decision::AgentFacts,
    ids::{AgentId, RecordId},
    linked::{LinkedKind, LinkedRecord},
    policy::{Anchor, Assurance},
    read::Field,
    stored::{Stored, array},
};

/// Longest name of an agent, in characters.
const MAX_NAME: usize = 100;
/// Longest reason for a pause, in characters.
const MAX_REASON: usize = 500;

/// An agent of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// What people call it.
    pub name: String,
    /// Its pause, while it is paused: every request is denied then.
    pub paused: Option<Pause>,
    /// How well it is known.
    pub assurance: Assurance,
    /// The verified anchors of its identity.
    pub anchors: Vec<Anchor>,
    /// When it was made.
    pub created_at: Instant,
}

/// A pause of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub at: Instant,
    /// Who paused it.
    pub by: Actor,
    /// Why.
    pub reason: PauseReason,
    /// The pause's record.
    pub record_id: RecordId,
}

/// Why an agent is paused: a line of 1 to 500 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseReason(String);

impl Agent {
    /// A new agent from the body `{"name"}`. It is known by its key alone.
    pub fn create(body: &Value, now: Instant, ids: &mut dyn Ids) -> Result<Self, Refusal> {
        let members = Field::root(body).members(&["name"])?;
        let name = members.required("name")?.text(MAX_NAME)?.to_owned();
        card_number::refuse(body, &[])?;
        Ok(Self { id: AgentId::fresh(ids), name, paused: None, assurance: Assurance::A0, anchors: Vec::new(), created_at: now })
    }

    /// Pauses the agent and gives the record of it, which follows from those that led to it. Pausing a paused agent
    /// changes nothing.
    pub fn pause(&mut self, reason: PauseReason, by: Actor, led_to_by: Vec<RecordId>, now: Instant, ids: &mut dyn Ids) -> Option<LinkedRecord> {
        if self.paused.is_some() {
            return None;
        }
        let pause = Pause { at: now, by, reason, record_id: RecordId::fresh(ids) };
        let record = LinkedRecord {
            id: pause.record_id.clone(),
            kind: LinkedKind::Pause,
            parents: led_to_by,
            members: pause.shown().with("agent_id", &self.id),
        };
        self.paused = Some(pause);
        Some(record)
    }

    /// Lets the agent go on and gives the record of it, which follows from that of the pause. Resuming an agent that is
    /// not paused changes nothing.
    pub fn resume(&mut self, by: &Actor, now: Instant, ids: &mut dyn Ids) -> Option<LinkedRecord> {
        let pause = self.paused.take()?;
        Some(LinkedRecord {
            id: RecordId::fresh(ids),
            kind: LinkedKind::Resume,
            parents: vec![pause.record_id],
            members: Object::new().with("agent_id", &self.id).with("at", now).with("by", by).with("paused_at", pause.at),
        })
    }

    /// What a decision reads of it.
    pub fn facts(&self) -> AgentFacts<'_> {
        AgentFacts { id: &self.id, is_paused: self.paused.is_some(), assurance: self.assurance, anchors: &self.anchors }
    }

    /// `{"id", "name", "state", "paused", "assurance", "created_at"}`, as a client reads it.
    pub fn to_json(&self) -> Object {
        let paused = self.paused.as_ref().map(|pause| pause.shown().with("record_id", &pause.record_id));
        Object::new()
            .with("id", &self.id)
            .with("name", self.name.as_str())
            .with("state", if self.paused.is_some() { "paused" } else { "active" })
            .with("paused", paused.map_or(Value::Null, Value::from))
            .with("assurance", self.assurance.as_str())
            .with("created_at", self.created_at)
    }

    /// The whole state.
    pub fn to_stored(&self) -> Object {
        self.to_json().without("state").with("anchors", array(&self.anchors, |anchor| anchor.as_str().into()))
    }

    /// Reads [`Agent::to_stored`] back.
    pub fn from_stored(stored: &Value) -> Option<Self> {
        let stored = Stored::of(stored)?;
        Some(Self {
            id: stored.parsed("id", AgentId::parse)?,
            name: stored.text("name")?.to_owned(),
            paused: stored.optional("paused", Pause::from_stored)?,
            assurance: stored.parsed("assurance", Assurance::parse)?,
            anchors: stored.texts("anchors", Anchor::parse)?,
            created_at: stored.instant("created_at")?,
        })
    }
}

impl Pause {
    fn shown(&self) -> Object {
        Object::new().with("at", self.at).with("by", &self.by).with("reason", self.reason.as_str())
    }

    fn from_stored(stored: &Value) -> Option<Self> {
        let stored = Stored::of(stored)?;
        Some(Self {
            at: stored.instant("at")?,
            by: stored.parsed("by", Actor::parse)?,
            reason: PauseReason(stored.text("reason")?.to_owned()),
            record_id: stored.parsed("record_id", RecordId::parse)?,
        })
    }
}

impl PauseReason {
    /// Reads the body of a pause, `{"reason"}`.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        let members = Field::root(body).members(&["reason"])?;
        let reason = members.required("reason")?.text(MAX_REASON)?.to_owned();
        card_number::refuse(body, &[])?;
        Ok(Self(reason))
    }

    /// The consent that the agent acted under was revoked, and no other covers it.
    pub fn consent_revoked() -> Self {
        Self("The consent that this agent acted under was revoked.".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads the body of a resumption, `{}`.
pub fn read_resume(body: &Value) -> Result<(), Refusal> {
    Field::root(body).members(&[])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{KeyId, UserId};

    const NOW: Instant = Instant::from_millis(1_796_040_000_000);

    struct Counting(u8);

    impl Ids for Counting {
        fn draw(&mut self) -> [u8; 16] {
            self.0 += 1;
            [self.0; 16]
        }
    }

    fn json(source: &str) -> Value {
        lcp::json::parse(source, 8).unwrap()
    }

    fn agent() -> Agent {
        Agent::create(&json(r#"{"name":"Office"}"#), NOW, &mut Counting(0)).unwrap()
    }

    fn reason(text: &str) -> PauseReason {
        PauseReason::read(&Object::new().with("reason", text).into()).unwrap()
    }

    #[test]
    fn a_body_is_read_strictly() {
        let fault = |source: &str| Agent::create(&json(source), NOW, &mut Counting(0)).unwrap_err();
        for (source, code, pointer) in [
            ("{}", "missing_member", "/name"),
            (r#"{"name":""}"#, "too_short", "/name"),
            (r#"{"name":"a","x":1}"#, "unknown_member", "/x"),
            (r#"{"name":1}"#, "wrong_type", "/name"),
            (r#"{"name":"4242 4242 4242 4242"}"#, "card_number_rejected", "/name"),
            ("[]", "wrong_type", ""),
        ] {
            let refusal = fault(source);
            assert_eq!((refusal.code, refusal.pointer.unwrap().as_str()), (code, pointer), "{source}");
        }
        let named = |length: usize| Agent::create(&Object::new().with("name", "n".repeat(length)).into(), NOW, &mut Counting(0));
        assert_eq!(named(100).unwrap().name.len(), 100);
        assert_eq!(named(101).unwrap_err().code, "too_long");
        let stopped = |length: usize| PauseReason::read(&Object::new().with("reason", "r".repeat(length)).into());
        assert_eq!((stopped(500).is_ok(), stopped(501).unwrap_err().code), (true, "too_long"));
        assert_eq!(PauseReason::read(&json("{}")).unwrap_err().code, "missing_member");
        assert_eq!((read_resume(&json("{}")), read_resume(&json(r#"{"a":1}"#)).unwrap_err().code), (Ok(()), "unknown_member"));
    }

    #[test]
    fn pause_and_resume_leave_one_record_each() {
        let (mut agent, mut ids) = (agent(), Counting(10));
        let by = Actor::Key(KeyId::of([3; 16]));
        let cause = RecordId::of([9; 16]);
        let pause = agent.pause(reason("lost phone"), by.clone(), vec![cause.clone()], NOW, &mut ids).unwrap();
        assert!(agent.facts().is_paused);
        assert_eq!((pause.kind.as_str(), &pause.parents), ("pause", &vec![cause]));
        assert_eq!(
            lcp::json::write_sorted(&pause.members.into()),
            format!(r#"{{"agent_id":"{}","at":"2026-11-30T12:00:00.000Z","by":"{by}","reason":"lost phone"}}"#, agent.id)
        );
        let paused = agent.clone();
        assert_eq!(agent.pause(reason("again"), Actor::System, Vec::new(), NOW.plus_seconds(1), &mut ids), None);
        assert_eq!(agent, paused);
        let shown = agent.to_json();
        assert_eq!(shown.get("state").and_then(Value::as_str), Some("paused"));
        assert_eq!(shown.get("paused").and_then(|paused| paused.get("reason")).and_then(Value::as_str), Some("lost phone"));
        let resume = agent.resume(&by, NOW.plus_seconds(60), &mut ids).unwrap();
        assert_eq!((resume.kind.as_str(), resume.parents), ("resume", vec![pause.id]));
        assert_eq!(resume.members.get("paused_at").and_then(Value::as_str), Some("2026-11-30T12:00:00.000Z"));
        assert_eq!((agent.facts().is_paused, agent.resume(&by, NOW, &mut ids)), (false, None));
    }

    #[test]
    fn as_a_client_reads_it() {
        assert_eq!(
            lcp::json::write(&agent().to_json().into()),
            format!(
                r#"{{"id":"{}","name":"Office","state":"active","paused":null,"assurance":"A0","created_at":"2026-11-30T12:00:00.000Z"}}"#,
                AgentId::of([1; 16])
            )
        );
    }

    proptest! {
        #[test]
        fn the_stored_state_reads_back(
            id: [u8; 16], name in "[ -~]{1,100}", created in 0i64..4_000_000_000_000, assurance in 0usize..4, anchors in 0usize..7,
            paused in proptest::option::of((0i64..4_000_000_000_000, "[a-z]{1,20}", any::<bool>())),
        ) {
            let paused = paused.map(|(at, text, is_person)| Pause {
                at: Instant::from_millis(at),
                by: if is_person { Actor::Person(UserId::of(id)) } else { Actor::System },
                reason: PauseReason(text),
                record_id: RecordId::of(id),
            });
            let agent = Agent {
                id: AgentId::of(id),
                name,
                paused,
                assurance: Assurance::ALL[assurance],
                anchors: Anchor::ALL[..anchors].to_vec(),
                created_at: Instant::from_millis(created),
            };
            let text = lcp::json::write(&agent.to_stored().into());
            prop_assert_eq!(Agent::from_stored(&lcp::json::parse(&text, 8).unwrap()), Some(agent));
        }
    }
}
