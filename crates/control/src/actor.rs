//! Who did something that a record tells of.

use std::fmt;

use lcp::Value;

use crate::ids::{KeyId, UserId};

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A person who signed in.
    Person(UserId),
    /// The holder of an API key.
    Key(KeyId),
    /// The control plane itself, carrying out what was ordered before.
    System,
}

const SYSTEM: &str = "system";

impl Actor {
    /// Reads the text: the id of a person or key, or `system`.
    pub fn parse(text: &str) -> Option<Self> {
        let person = || UserId::parse(text).map(Self::Person);
        let key = || KeyId::parse(text).map(Self::Key);
        person().or_else(key).or_else(|| (text == SYSTEM).then_some(Self::System))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Person(id) => id.as_str(),
            Self::Key(id) => id.as_str(),
            Self::System => SYSTEM,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&Actor> for Value {
    fn from(actor: &Actor) -> Self {
        actor.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for actor in [Actor::Person(UserId::of([1; 16])), Actor::Key(KeyId::of([2; 16])), Actor::System] {
            assert_eq!(Actor::parse(actor.as_str()), Some(actor));
        }
        assert_eq!(Actor::parse("agt_01jdqz4d4n9v8h2k6m3p5r7t9w"), None);
    }
}
