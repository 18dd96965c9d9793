//! `intent`: the slots that must be known, and how to ask for them.

use crate::{Fault, FaultCode, intent::Slot, read::Field};

/// How often a person is asked if the policy does not say.
const MAX_ROUNDS: u32 = 3;

/// The intent block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRule {
    /// Slots that must be known.
    pub required: Vec<Slot>,
    /// The policy's own words for the question about a slot.
    pub questions: Vec<(Slot, String)>,
    /// How often missing slots are asked for.
    pub max_rounds: u32,
    /// Slots that only the person's answer fills.
    pub answered_by_user: Vec<Slot>,
}

impl Default for IntentRule {
    fn default() -> Self {
        Self { required: Vec::new(), questions: Vec::new(), max_rounds: MAX_ROUNDS, answered_by_user: Vec::new() }
    }
}

impl IntentRule {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["required", "questions", "max_rounds", "answered_by_user"])?;
        let slots = |name| members.set(name, Slot::ALL.len(), |item| item.known(Slot::parse, "Give the name of a slot."));
        let mut questions = Vec::new();
        if let Some(field) = members.optional("questions") {
            for (name, text) in field.entries(Slot::ALL.len())? {
                let slot = Slot::parse(name).ok_or_else(|| text.fault(FaultCode::UnknownMember, "Give the name of a slot."))?;
                questions.push((slot, text.text(500)?.to_owned()));
            }
        }
        Ok(Self {
            required: slots("required")?,
            questions,
            max_rounds: members.read("max_rounds", |field| field.integer(1..=10))?.unwrap_or(MAX_ROUNDS),
            answered_by_user: slots("answered_by_user")?,
        })
    }

    /// The words to ask for a slot in: the policy's, or ours.
    pub fn question(&self, slot: Slot) -> &str {
        self.questions.iter().find(|(of, _)| *of == slot).map_or_else(|| slot.question(), |(_, text)| text)
    }
}
