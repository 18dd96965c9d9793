//! Who calls: a key's holder, or a person who signed in.

use control::{
    access::Role,
    ids::{AgentId, KeyId, OrgId, UserId},
    payee::Domain,
};

/// The holder of an API key. The key itself is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The organization that the key is of.
    pub org: OrgId,
    /// What the key may do.
    pub role: Role,
    /// The agent that an agent key speaks for.
    pub agent: Option<AgentId>,
    /// The domain that a seller key speaks for.
    pub domain: Option<Domain>,
    /// The key's id.
    pub key: KeyId,
    /// How the key's text begins: enough to tell it from others, too little to use it.
    pub prefix: String,
}

/// A person who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Who.
    pub user: UserId,
    /// Of which organization.
    pub org: OrgId,
    /// The name they sign in with.
    pub login: String,
    /// What every form of this session must send back, so that no other site can send it.
    pub csrf: String,
}
