//! What a list is asked for.

use std::collections::BTreeMap;

use control::{
    Instant,
    ids::{AgentId, OrgId},
};
use store::{Cursor, Reader};

use super::agents::known_agent;
use crate::{Caller, Problem};

/// A query's members.
pub type Query = BTreeMap<String, String>;

/// How many entries a page has if the query does not say.
const LIMIT: u32 = 50;
/// How many entries a page has at most.
pub(crate) const MAX_LIMIT: u32 = 200;

/// Reads a query strictly: a member that no rule names is a fault.
pub(crate) struct Asked<'a>(&'a Query);

impl<'a> Asked<'a> {
    pub(crate) fn of(query: &'a Query, known: &[&str]) -> Result<Self, Problem> {
        match query.keys().find(|name| !known.contains(&name.as_str())) {
            Some(_) => Err(Problem::new(422, "unknown_parameter", format!("Ask with no other parameters than {}.", known.join(", ")))),
            None => Ok(Self(query)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(String::as_str)
    }

    /// The parameter as what it is to be, in words, and by its reader.
    pub(crate) fn parsed<T>(&self, name: &'static str, form: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
        let bad = || Problem::new(422, "parameter_malformed", format!("Give {name} as {form}, or leave it out."));
        self.text(name).map(|text| parse(text).ok_or_else(bad)).transpose()
    }

    /// A time. With a blank for the `T`, as Python's clients write a datetime into a query, it is the same time.
    pub(crate) fn instant(&self, name: &'static str) -> Result<Option<Instant>, Problem> {
        self.parsed(name, "a time of RFC 3339, such as 2026-11-30T12:00:00Z", |text| Instant::parse(&text.replacen(' ', "T", 1)))
    }

    pub(crate) fn cursor(&self) -> Result<Option<Cursor>, Problem> {
        self.parsed("cursor", "the next_cursor of the page before", Cursor::parse)
    }

    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        let limit = self.parsed("limit", "a whole number from 1 to 200", |text| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)))?;
        Ok(limit.unwrap_or(LIMIT))
    }
}

/// The agent whose things the caller may list: an agent's key, its own alone.
pub(super) fn own_agent(caller: &Caller, named: Option<AgentId>) -> Result<Option<AgentId>, Problem> {
    match (&caller.agent, named) {
        (Some(own), Some(named)) if *own != named => Err(Problem::not_found()),
        (Some(own), _) => Ok(Some(own.clone())),
        (None, named) => Ok(named),
    }
}

/// An agent that a list is asked for is the organization's: another's id is answered like one that is not there.
pub(super) fn known_filter(reader: &Reader<'_>, org: &OrgId, agent: Option<&AgentId>) -> Result<(), Problem> {
    agent.map_or(Ok(()), |agent| known_agent(reader, org, agent).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_asked() {
        let query = Query::from([("limit".to_owned(), "201".to_owned()), ("from".to_owned(), "2026-11-30T12:00:00Z".to_owned())]);
        assert_eq!(Asked::of(&query, &["limit"]).err().unwrap().code, "unknown_parameter");
        let asked = Asked::of(&query, &["limit", "from", "to"]).unwrap();
        assert_eq!(asked.limit().unwrap_err().code, "parameter_malformed");
        assert_eq!(asked.instant("from").unwrap().unwrap().to_string(), "2026-11-30T12:00:00.000Z");
        assert_eq!(asked.instant("to").unwrap(), None);
        let printed = Query::from([("to".to_owned(), "2026-11-30 13:00:00.250000+01:00".to_owned())]);
        assert_eq!(Asked::of(&printed, &["to"]).unwrap().instant("to").unwrap().unwrap().to_string(), "2026-11-30T12:00:00.250Z");
        let local = Query::from([("from".to_owned(), "2026-11-30 12:00:00".to_owned())]);
        let refused = Asked::of(&local, &["from"]).unwrap().instant("from").unwrap_err();
        assert_eq!(refused.message, "Give from as a time of RFC 3339, such as 2026-11-30T12:00:00Z, or leave it out.");
        assert_eq!(Asked::of(&Query::new(), &[]).unwrap().limit().unwrap(), 50);
    }
}
