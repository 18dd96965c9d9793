//! Who may do what: one table, by role. Whose things a key may touch (its agent's, its organization's, its domain's) is
//! judged where they are loaded.

use crate::fault::codes;

codes! {
    /// What an API key is for.
    pub enum Role {
        /// Speaks for one agent.
        Agent = "agent",
        /// Manages an organization's agents, consents, policies and settings.
        Developer = "developer",
        /// Reads.
        Auditor = "auditor",
        /// Speaks for a payee's domain.
        Seller = "seller",
    }
}

codes! {
    /// What is done with a key.
    pub enum Action {
        /// Read who the key is.
        ReadSelf = "read_self",
        /// Ask to pay, as the key's own agent.
        Ask = "ask",
        /// Ask to pay, for an agent that the request names.
        AskForAgent = "ask_for_agent",
        /// Give the person's answers to a clarification.
        Answer = "answer",
        /// Hand a checkout to a person.
        HandOff = "hand_off",
        /// Read the requests, approvals, mandates and records of the key's own agent.
        ReadOwn = "read_own",
        /// Read all that the organization has.
        ReadAll = "read_all",
        /// Read the tiles and the signed head of the organization's log.
        ReadLog = "read_log",
        /// Make, pause and resume agents.
        ManageAgents = "manage_agents",
        /// Give and revoke consents.
        ManageConsents = "manage_consents",
        /// Sign policies.
        ManagePolicies = "manage_policies",
        /// Change the organization's settings.
        ManageSettings = "manage_settings",
        /// Ask whether a mandate is good.
        VerifyMandates = "verify_mandates",
        /// Report an order, which uses its mandate.
        ObserveOrders = "observe_orders",
        /// Approve or decline a payment. No key may: a person signs in for it.
        Approve = "approve",
    }
}

impl Action {
    /// The roles whose keys may do it.
    const fn roles(self) -> &'static [Role] {
        match self {
            Self::ReadSelf | Self::ReadLog => Role::ALL,
            Self::Ask | Self::ReadOwn => &[Role::Agent],
            Self::Answer | Self::HandOff => &[Role::Agent, Role::Developer],
            Self::AskForAgent | Self::ManageAgents | Self::ManageConsents | Self::ManagePolicies | Self::ManageSettings => &[Role::Developer],
            Self::ReadAll => &[Role::Developer, Role::Auditor],
            Self::VerifyMandates | Self::ObserveOrders => &[Role::Seller],
            Self::Approve => &[],
        }
    }
}

impl Role {
    /// Whether a key of this role may do it.
    pub fn may(self, action: Action) -> bool {
        action.roles().contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a role may do, in the order of the actions.
    fn actions(role: Role) -> Vec<&'static str> {
        Action::ALL.iter().filter(|action| role.may(**action)).map(|action| action.as_str()).collect()
    }

    #[test]
    fn each_role_does_its_own() {
        assert_eq!(actions(Role::Agent), ["read_self", "ask", "answer", "hand_off", "read_own", "read_log"]);
        assert_eq!(
            actions(Role::Developer),
            [
                "read_self",
                "ask_for_agent",
                "answer",
                "hand_off",
                "read_all",
                "read_log",
                "manage_agents",
                "manage_consents",
                "manage_policies",
                "manage_settings"
            ]
        );
        assert_eq!(actions(Role::Auditor), ["read_self", "read_all", "read_log"]);
        assert_eq!(actions(Role::Seller), ["read_self", "read_log", "verify_mandates", "observe_orders"]);
    }

    #[test]
    fn no_key_approves() {
        assert!(Role::ALL.iter().all(|role| !role.may(Action::Approve)));
    }
}
