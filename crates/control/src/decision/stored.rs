//! Decisions in the store: as the client sees them, with the risk's signals and the overruns.

use std::sync::Arc;

use lcp::{Object, Value};

use super::{Budget, Check, Decision, DecisionResult, Overrun, PolicyRef, Reason, Retry, Risk, RiskAction, ShadowResult, Signal};
use crate::{
    Asset, Instant,
    ids::{PolicyId, QuestionId},
    intent::{Question, Slot},
    stored::{Stored, array, money, stored_money},
    window::{Window, WindowKind},
};

impl Decision {
    /// All of it.
    pub(crate) fn to_stored(&self) -> Object {
        self.to_json()
            .with("signals", array(&self.risk.signals, |signal| signal.as_str().into()))
            .with("overruns", array(&self.overruns, |overrun| overrun.to_stored().into()))
    }

    /// Reads what [`Decision::to_stored`] wrote. The assets are those of the request.
    pub(crate) fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        let result = stored.parsed("result", DecisionResult::parse)?;
        let risk = Stored::of(stored.value("risk")?)?;
        let retry = Retry { retryable: stored.flag("retryable")?, after: stored.optional_text("retry_after", Instant::parse)? };
        Some(Self {
            result,
            reasons: stored.texts("reasons", Reason::parse)?,
            policy: stored.optional("policy", PolicyRef::from_stored)?,
            checks: stored.list("checks", Check::from_stored)?,
            shadow_result: stored.optional("shadow_result", ShadowResult::from_stored)?,
            risk: Risk {
                action: risk.parsed("action", RiskAction::parse)?,
                score: risk.number("score")?,
                signals: stored.texts("signals", Signal::parse)?,
            },
            questions: stored.list("questions", Question::from_stored)?,
            retry: (result == DecisionResult::Deny).then_some(retry),
            overruns: stored.list("overruns", |value| Overrun::from_stored(value, assets))?,
        })
    }
}

impl PolicyRef {
    /// Reads what [`PolicyRef::to_json`] wrote.
    pub(crate) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            id: stored.optional_text("id", PolicyId::parse)?,
            version: stored.optional("version", |version| version.as_safe_unsigned()?.try_into().ok())?,
            hash: stored.hash("hash")?,
        })
    }
}

impl Check {
    fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            name: stored.text("name")?.to_owned().into(),
            ok: stored.flag("ok")?,
            reason: stored.optional_text("reason", Reason::parse)?,
            detail: stored.text("detail")?.to_owned().into(),
        })
    }
}

impl ShadowResult {
    fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self { result: stored.parsed("result", DecisionResult::parse)?, reasons: stored.texts("reasons", Reason::parse)? })
    }
}

impl Question {
    /// Reads what [`Question::to_json`] wrote.
    pub(crate) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            id: stored.parsed("id", QuestionId::parse)?,
            slot: stored.parsed("slot", Slot::parse)?,
            question: stored.text("question")?.to_owned(),
        })
    }
}

impl Overrun {
    fn to_stored(&self) -> Object {
        Object::new()
            .with("window", self.budget.kind.to_string())
            .with("start", self.budget.window.start)
            .with("end", self.budget.window.end)
            .with("max", stored_money(&self.budget.max))
            .with("by", stored_money(&self.by))
    }

    fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            budget: Budget {
                kind: stored.parsed("window", WindowKind::parse)?,
                window: Window { start: stored.instant("start")?, end: stored.instant("end")? },
                max: money(stored.value("max")?, assets)?,
            },
            by: money(stored.value("by")?, assets)?,
        })
    }
}
