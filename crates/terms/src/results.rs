//! Results in the JSON form in which they cross to an agent.

use lcp::{Hash, Object, Value, encoding};

use crate::{ChannelPayment, Confirmed, Decline, Exchanged, Finished, Moved, Transacted};

/// An ATR as `{base64, utf8}`; `utf8` is null where the bytes are not UTF-8. A leading byte order mark is kept.
pub fn atr_json(atr: &[u8]) -> Object {
    let text = std::str::from_utf8(atr).map_or(Value::Null, Value::from);
    Object::new().with("base64", encoding::base64(atr)).with("utf8", text)
}

fn hash_json(h: &Hash) -> Object {
    Object::new().with("atrHash", h)
}

impl Confirmed {
    /// `{atrHash, atr, chosen, request}`.
    pub fn to_json(&self) -> Object {
        hash_json(&self.h)
            .with("atr", atr_json(&self.atr))
            .with("chosen", self.chosen.to_json())
            .with("request", self.request.as_ref().unwrap_or(&Value::Null))
    }
}

impl Finished {
    /// `{atrHash, signed[, landed]}` or `{atrHash, next}`.
    pub fn to_json(&self) -> Object {
        match self {
            Self::Signed { signed, landed, h } => hash_json(h).with("signed", signed).with_some("landed", landed.as_ref()),
            Self::Next { request, h } => hash_json(h).with("next", request),
        }
    }
}

impl Transacted {
    /// `{atrHash, atr, signed[, landed][, agreement]}` or `{atrHash, atr, approve}`.
    pub fn to_json(&self) -> Object {
        match self {
            Self::Signed { signed, landed, agreement, atr, h } => hash_json(h)
                .with("atr", atr_json(atr))
                .with("signed", signed.as_ref().unwrap_or(&Value::Null))
                .with_some("landed", landed.as_ref())
                .with_some("agreement", agreement.as_ref()),
            Self::ToApprove { approve, atr, h } => hash_json(h).with("atr", atr_json(atr)).with("approve", approve.to_json()),
        }
    }
}

impl Exchanged {
    /// `{atrHash, receipt}` or `{atrHash, approve}`, where `h` is the hash of the ATR the exchange was for.
    pub fn to_json(&self, h: &Hash) -> Object {
        match self {
            Self::Agreed(receipt) => hash_json(h).with("receipt", receipt),
            Self::ToApprove(approve) => hash_json(h).with("approve", approve.to_json()),
        }
    }
}

impl ChannelPayment {
    /// `{atrHash, signed, hold}`.
    pub fn to_json(&self) -> Object {
        held_json(&self.hold, Some(&self.signed))
    }
}

/// `{atrHash[, signed], hold}`: the hash is the hold's.
pub fn held_json(hold: &Object, signed: Option<&Value>) -> Object {
    Object::new().with_some("atrHash", hold.get("h")).with_some("signed", signed).with("hold", hold.clone())
}

impl Decline {
    /// `{decline: {code, detail}[, moved: {signed, atr, atrHash}]}`.
    pub fn to_json(&self) -> Object {
        let decline = Object::new().with("code", self.declined.code.as_str()).with("detail", self.declined.detail.as_str());
        Object::new().with("decline", decline).with_some("moved", self.moved.as_deref().map(Moved::to_json))
    }
}

impl Moved {
    fn to_json(&self) -> Object {
        Object::new().with("signed", &self.signed).with("atr", atr_json(&self.atr)).with("atrHash", &self.h)
    }
}
