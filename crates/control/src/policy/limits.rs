//! `limits`: the most that one payment may be, and the budgets.

use std::sync::Arc;

use crate::{Asset, Currency, Fault, FaultCode, Money, read::Field, window::WindowKind};

/// Most windows of one policy.
const MAX_WINDOWS: usize = 16;
/// Longest rolling window: a leap year.
const MAX_ROLLING_SECONDS: u32 = 31_622_400;

/// The limits of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most that one payment may be, in the policy's currency.
    pub per_payment: Money,
    /// The budgets.
    pub windows: Vec<WindowLimit>,
}

/// A budget: what was issued in the window, less what was given back, is at most `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowLimit {
    /// What it spans.
    pub kind: WindowKind,
    /// The limit; payments in its currency count.
    pub max: Money,
}

impl Limits {
    pub(super) fn read(field: &Field<'_>, currency: &Currency, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = field.members(&["per_payment", "windows"])?;
        Ok(Self {
            per_payment: members.required("per_payment")?.money(currency)?,
            windows: members.list("windows", MAX_WINDOWS, |item| WindowLimit::read(item, currency, assets))?,
        })
    }
}

impl WindowLimit {
    fn read(field: &Field<'_>, currency: &Currency, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = field.members(&["kind", "seconds", "max", "currency"])?;
        let kind = members
            .required("kind")?
            .known(|text| KINDS.iter().find(|kind| kind.as_str() == text).copied(), "Give \"day\", \"week\", \"month\" or \"rolling\".")?;
        let kind = match (kind, members.optional("seconds")) {
            (WindowKind::Rolling { .. }, _) => WindowKind::Rolling { seconds: members.required("seconds")?.integer(1..=MAX_ROLLING_SECONDS)? },
            (_, Some(seconds)) => return Err(seconds.fault(FaultCode::UnknownMember, "Only a rolling window has seconds.")),
            (kind, None) => kind,
        };
        let currency = members.read("currency", |field| field.currency(assets))?.unwrap_or_else(|| currency.clone());
        Ok(Self { kind, max: members.required("max")?.money(&currency)? })
    }
}

const KINDS: [WindowKind; 4] = [WindowKind::Day, WindowKind::Week, WindowKind::Month, WindowKind::Rolling { seconds: 1 }];
