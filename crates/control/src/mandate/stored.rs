//! Mandates in the store: the secrets apart from the rest.

use std::sync::Arc;

use lcp::{Object, Value, encoding};

use super::{Mandate, MandateState, Secrets, Terms, VoidReason};
use crate::{
    Asset, Instant,
    decision::PolicyRef,
    ids::MandateId,
    policy::{FinalityClass, Mode, RefillPolicy},
    stored::{Stored, money, stored_hash, stored_money},
};

impl Mandate {
    /// All but the secrets.
    pub(crate) fn to_stored(&self) -> Object {
        let display = self.display.iter().fold(Object::new(), |object, (name, text)| object.with(name.as_str(), text.as_str()));
        Object::new()
            .with("id", &self.id)
            .with("state", self.state.as_str())
            .with("amount", stored_money(&self.amount))
            .with("payee", self.payee.as_str())
            .with("issued_at", self.issued_at)
            .with("expires_at", self.expires_at)
            .with("digest", stored_hash(&self.digest))
            .with_some("hidden_constraints_digest", self.hidden_constraints_digest.as_ref().map(stored_hash))
            .with("terms", self.terms.to_stored())
            .with("handler_id", self.handler_id.as_str())
            .with("display", display)
            .with_some("over_at", self.over_at)
            .with_some("void_reason", self.void_reason.map(VoidReason::as_str))
            .with_some("spent", self.spent.as_ref().map(stored_money))
    }

    /// Reads what [`Mandate::to_stored`] wrote.
    pub(crate) fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        let display = stored.value("display")?.as_object()?.iter();
        Some(Self {
            id: stored.parsed("id", MandateId::parse)?,
            state: stored.parsed("state", MandateState::parse)?,
            amount: stored.money("amount", assets)?,
            payee: stored.text("payee")?.to_owned(),
            issued_at: stored.instant("issued_at")?,
            expires_at: stored.instant("expires_at")?,
            digest: stored.hash("digest")?,
            hidden_constraints_digest: stored.optional("hidden_constraints_digest", |_| stored.hash("hidden_constraints_digest"))?,
            terms: Terms::from_stored(stored.value("terms")?)?,
            handler_id: stored.text("handler_id")?.to_owned(),
            display: display.map(|(name, text)| Some((name.as_str()?.to_owned(), text.as_str()?.to_owned()))).collect::<Option<_>>()?,
            over_at: stored.optional_text("over_at", Instant::parse)?,
            void_reason: stored.optional_text("void_reason", VoidReason::parse)?,
            spent: stored.optional("spent", |value| money(value, assets))?,
            secrets: None,
        })
    }
}

impl Terms {
    fn to_stored(&self) -> Object {
        Object::new()
            .with("policy", self.policy.to_json())
            .with("binds", self.binds)
            .with("mode", self.mode.as_str())
            .with("refill_policy", self.refill_policy.as_str())
            .with("finality_class", self.finality_class.as_str())
            .with("deviation", &self.deviation)
            .with("retry_policy", &self.retry_policy)
            .with("visibility_scope", &self.visibility_scope)
    }

    fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            policy: PolicyRef::from_stored(stored.value("policy")?)?,
            binds: stored.parsed("binds", |text| ["checkout", "payee"].into_iter().find(|known| *known == text))?,
            mode: stored.parsed("mode", Mode::parse)?,
            refill_policy: stored.parsed("refill_policy", RefillPolicy::parse)?,
            finality_class: stored.parsed("finality_class", FinalityClass::parse)?,
            deviation: stored.value("deviation")?.clone(),
            retry_policy: stored.value("retry_policy")?.clone(),
            visibility_scope: stored.value("visibility_scope")?.clone(),
        })
    }
}

impl Secrets {
    /// `{"jws", "token", "salt", "hidden"}`; the token is absent once the mandate is over.
    pub(crate) fn to_stored(&self) -> Object {
        Object::new()
            .with("jws", self.jws.as_str())
            .with_some("token", self.token.as_deref())
            .with("salt", encoding::bare_hex(&self.salt))
            .with("hidden", self.hidden.clone())
    }

    /// Reads what [`Secrets::to_stored`] wrote.
    pub(crate) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            jws: stored.text("jws")?.to_owned(),
            token: stored.optional_text("token", |token| Some(token.to_owned()))?,
            salt: stored.parsed("salt", |text| encoding::from_bare_hex(text)?.try_into().ok())?,
            hidden: stored.value("hidden")?.as_object()?.clone(),
        })
    }
}
