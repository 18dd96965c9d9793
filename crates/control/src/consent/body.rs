//! What a client sends to give and to revoke a consent.

use lcp::{Object, Value, json};

use super::Terms;
use crate::{Fault, FaultCode, Instant, Pointer, Refusal, card_number, ids::AgentId, read::Field};

/// Longest free member, in bytes of its RFC 8785 text.
const MAX_TEXT: usize = 16 * 1024;
/// How deep a free member nests.
const MAX_DEPTH: usize = 8;
/// Most merchant policies or acknowledgements.
const MAX_ITEMS: usize = 64;
/// How far in the past `effective_at` may lie and still mean now: clocks differ, and some send whole seconds.
const CLOCK_TOLERANCE_SECONDS: u32 = 60;

const MEMBERS: &[&str] = &["agent_id", "principal", "scope", "merchant_policies", "acknowledgements", "retention", "valid_from", "valid_until"];
/// The members that hold ids and times, whose bare digits the card-number guard spares.
pub const TYPED_FIELDS: &[&str] = &["/agent_id", "/valid_from", "/valid_until", "/effective_at", "/institution_notified_at"];

/// A consent to give, read.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsentCreate {
    /// The agent that it is for.
    pub agent_id: AgentId,
    pub(super) terms: Terms,
    pub(super) valid_from: Option<Instant>,
    pub(super) valid_until: Option<Instant>,
}

/// A consent to revoke, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevokeRequest {
    effective_at: Option<Instant>,
    pub(super) cascades: bool,
    pub(super) institution_notified_at: Option<Instant>,
}

impl ConsentCreate {
    /// Reads `{"agent_id", "principal"?, "scope"?, "merchant_policies"?, "acknowledgements"?, "retention"?, "valid_from"?,
    /// "valid_until"?}`. The free members hold at most 16 KiB each, at most 8 levels, and whole numbers only, since they
    /// go into a record.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        let members = Field::root(body).members(MEMBERS)?;
        let object = |name| Ok::<_, Fault>(members.read(name, free_object)?.unwrap_or_default());
        let objects = |name| members.list(name, MAX_ITEMS, |item| free_object(item).map(Value::from));
        let asked = Self {
            agent_id: members.required("agent_id")?.formed(AgentId::parse, "Give the id of an agent.")?,
            terms: Terms {
                principal: object("principal")?,
                scope: object("scope")?,
                merchant_policies: objects("merchant_policies")?,
                acknowledgements: objects("acknowledgements")?,
                retention: object("retention")?,
            },
            valid_from: members.nullable("valid_from").map(|field| instant(&field)).transpose()?,
            valid_until: members.nullable("valid_until").map(|field| instant(&field)).transpose()?,
        };
        for name in ["merchant_policies", "acknowledgements"] {
            members.read(name, is_bounded)?;
        }
        card_number::refuse(body, TYPED_FIELDS)?;
        Ok(asked)
    }
}

impl RevokeRequest {
    /// Reads `{"effective_at"?, "cascades_scheduled"?, "institution_notified_at"?}`; no body means none of them.
    pub fn read(body: Option<&Value>) -> Result<Self, Refusal> {
        let Some(body) = body else { return Ok(Self::default()) };
        let members = Field::root(body).members(&["effective_at", "cascades_scheduled", "institution_notified_at"])?;
        let at = |name| members.nullable(name).map(|field| instant(&field)).transpose();
        let asked = Self {
            effective_at: at("effective_at")?,
            cascades: members.read("cascades_scheduled", Field::boolean)?.unwrap_or(false),
            institution_notified_at: at("institution_notified_at")?,
        };
        card_number::refuse(body, TYPED_FIELDS)?;
        Ok(asked)
    }

    /// From when the revocation counts: not in the past, but for what clocks may differ by.
    pub(super) fn effective_at(&self, now: Instant) -> Result<Instant, Refusal> {
        let Some(at) = self.effective_at else { return Ok(now) };
        if at < now.minus_seconds(CLOCK_TOLERANCE_SECONDS) {
            let pointer = Pointer::root().member("effective_at");
            return Err(Refusal::invalid(&pointer, FaultCode::OutOfRange.as_str(), "Give a time that is not past, or leave it out for now."));
        }
        Ok(at.max(now))
    }
}

fn instant(field: &Field<'_>) -> Result<Instant, Fault> {
    field.formed(Instant::parse, "Give an RFC 3339 date-time.")
}

fn free_object(field: &Field<'_>) -> Result<Object, Fault> {
    let object = field.value().as_object().ok_or_else(|| field.fault(FaultCode::WrongType, "Give an object."))?;
    is_bounded(field)?;
    Ok(object.clone())
}

fn is_bounded(field: &Field<'_>) -> Result<(), Fault> {
    let value = field.value();
    if !value.nests_within(MAX_DEPTH) {
        return Err(field.fault(FaultCode::TooLong, "Nest at most 8 levels."));
    }
    if !has_whole_numbers(value) {
        return Err(field.fault(FaultCode::OutOfRange, "Write numbers that are not whole, or not below 2^53, as text."));
    }
    let text = json::canonical(value).ok_or_else(|| field.fault(FaultCode::ControlCharacter, "Give well-formed Unicode."))?;
    if text.len() > MAX_TEXT { Err(field.fault(FaultCode::TooLong, "Give at most 16 KiB.")) } else { Ok(()) }
}

/// Whether every number is one that a record can hold.
fn has_whole_numbers(value: &Value) -> bool {
    match value {
        Value::Number(_) => value.as_safe_integer().is_some(),
        Value::Array(items) => items.iter().all(has_whole_numbers),
        Value::Object(object) => object.iter().all(|(_, value)| has_whole_numbers(value)),
        _ => true,
    }
}
