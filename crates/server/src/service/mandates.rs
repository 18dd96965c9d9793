//! Mandates: one, and a page of them.

use control::{
    ids::{AgentId, MandateId},
    mandate::MandateState,
};
use lcp::Object;
use store::MandateFilter;

use super::{
    Service,
    query::{Asked, Query, known_filter, own_agent},
    shown_page,
};
use crate::{Caller, Problem};

impl Service {
    /// One mandate with its terms. An agent sees its own, with the credential until it is consumed.
    pub async fn mandate(&self, caller: &Caller, id: &str) -> Result<Object, Problem> {
        let (caller, id) = (caller.clone(), MandateId::parse(id).ok_or_else(Problem::not_found)?);
        self.read(move |inner, reader, now| {
            let row = reader.mandate(&caller.org, &id)?.ok_or_else(Problem::not_found)?;
            let mut payment = inner.seen(reader, &caller, &row.request)?;
            payment.tick(now);
            payment.mandate_view(false).ok_or_else(Problem::not_found)
        })
        .await
    }

    /// A page of mandates, newest first: `agent_id`, `state`, `cursor`, `limit`. No list holds a credential's secret.
    pub async fn mandates(&self, caller: &Caller, query: &Query) -> Result<Object, Problem> {
        let asked = Asked::of(query, &["agent_id", "state", "cursor", "limit"])?;
        let agent = own_agent(caller, asked.parsed("agent_id", "the id of an agent", AgentId::parse)?)?;
        let state = asked.parsed("state", "issued, consumed, expired or void", MandateState::parse)?;
        let (cursor, limit) = (asked.cursor()?, asked.limit()?);
        let caller = caller.clone();
        self.read(move |inner, reader, now| {
            known_filter(reader, &caller.org, agent.as_ref())?;
            let filter = MandateFilter { agent: agent.as_ref(), state: state.map(MandateState::as_str) };
            let found = reader.mandates(&caller.org, filter, cursor.as_ref(), limit)?;
            shown_page(&found, |row| {
                let mut payment = inner.payment(reader, &caller.org, &row.request)?.ok_or_else(Problem::not_found)?;
                payment.tick(now);
                payment.mandate_view(false).ok_or_else(Problem::not_found)
            })
        })
        .await
    }
}
