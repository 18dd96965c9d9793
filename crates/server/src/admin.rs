//! What the operator may ask for: the commands, their words on the command line, and their JSON on the local channel.

use control::{
    access::Role,
    ids::{AgentId, KeyId, OrgId, PolicyId},
    payee::Domain,
};
use lcp::{Object, Value};

use crate::Problem;

/// How long a name or a reason may be, in characters.
const MAX_TEXT: usize = 200;

/// A command of the operator. Where `org` is left out, it is the one organization there is.
#[derive(Clone, Debug, PartialEq)]
pub enum AdminCommand {
    /// What there is.
    Status,
    /// The organizations.
    OrgList,
    /// A new organization.
    OrgCreate {
        /// Its name.
        name: String,
    },
    /// The people of an organization.
    UserList {
        /// Of which organization.
        org: Option<OrgId>,
    },
    /// A new person, who sets a password with the link that is answered.
    UserCreate {
        /// Of which organization.
        org: Option<OrgId>,
        /// The name that they sign in with.
        login: String,
    },
    /// A new link to set the password, good once.
    UserLink {
        /// Whose.
        login: String,
    },
    /// The agents of an organization.
    AgentList {
        /// Of which organization.
        org: Option<OrgId>,
    },
    /// A new agent.
    AgentCreate {
        /// Of which organization.
        org: Option<OrgId>,
        /// Its name.
        name: String,
    },
    /// Stops an agent.
    AgentPause {
        /// Which.
        agent: AgentId,
        /// Why, in the operator's words.
        reason: Option<String>,
    },
    /// Lets it go on.
    AgentResume {
        /// Which.
        agent: AgentId,
    },
    /// The keys of an organization, without their secrets.
    KeyList {
        /// Of which organization.
        org: Option<OrgId>,
    },
    /// A new key. Its secret is in the answer, and nowhere else.
    KeyCreate {
        /// Of which organization.
        org: Option<OrgId>,
        /// For whom, and what it tells them apart by.
        holder: KeyHolder,
        /// What the key is called.
        name: Option<String>,
    },
    /// Ends a key.
    KeyRevoke {
        /// Which.
        key: KeyId,
    },
    /// The policies of an organization.
    PolicyList {
        /// Of which organization.
        org: Option<OrgId>,
    },
    /// Signs a document as a new policy, or as a new version of the one that its `id` names.
    PolicySign {
        /// For which organization.
        org: Option<OrgId>,
        /// The document.
        document: Value,
    },
    /// Takes a policy out of use.
    PolicyRetire {
        /// Which.
        policy: PolicyId,
    },
    /// Decides the past requests under a document, changing nothing.
    PolicySimulate {
        /// Of which organization.
        org: Option<OrgId>,
        /// The document.
        document: Value,
    },
    /// Makes the sandbox's rail fail, or work again.
    RailFail {
        /// Whether it is to fail.
        on: bool,
    },
}

/// Whom a new key is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyHolder {
    /// An agent.
    Agent(AgentId),
    /// Who manages the organization.
    Developer,
    /// Who reads.
    Auditor,
    /// The payee of a domain.
    Seller(Domain),
}

impl KeyHolder {
    /// The key's role.
    pub fn role(&self) -> Role {
        match self {
            Self::Agent(_) => Role::Agent,
            Self::Developer => Role::Developer,
            Self::Auditor => Role::Auditor,
            Self::Seller(_) => Role::Seller,
        }
    }
}

/// How a command is written.
#[derive(Debug)]
pub struct CommandForm {
    /// Its words, such as `key create`: on the command line behind `chancery admin`, in JSON the member `command`.
    pub words: &'static str,
    /// What it takes.
    pub fields: &'static [Field],
    /// What it does.
    pub says: &'static str,
}

/// What a command takes: a member in JSON; on the command line an option of that name, or a word of its own.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// How its value is called.
    pub value: &'static str,
    /// How it is given on the command line.
    pub given: Given,
}

/// How a field is given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// As a word.
    Word,
    /// As the file that holds it.
    File,
    /// As an option.
    Option,
}

const fn word(name: &'static str, value: &'static str) -> Field {
    Field { name, value, given: Given::Word }
}

const fn option(name: &'static str, value: &'static str) -> Field {
    Field { name, value, given: Given::Option }
}

const ORG: Field = option("org", "ORG");
const DOCUMENT: Field = Field { name: "document", value: "FILE", given: Given::File };

/// Every command, in the order of the help.
pub const COMMANDS: &[CommandForm] = &[
    CommandForm { words: "status", fields: &[], says: "what there is, and whether the sandbox's rail works" },
    CommandForm { words: "org list", fields: &[], says: "the organizations" },
    CommandForm { words: "org create", fields: &[word("name", "NAME")], says: "a new organization" },
    CommandForm { words: "user list", fields: &[ORG], says: "the people who may sign in" },
    CommandForm { words: "user create", fields: &[word("login", "LOGIN"), ORG], says: "a new person, with a link to set the password" },
    CommandForm { words: "user link", fields: &[word("login", "LOGIN")], says: "a new link to set a password: good once, for 15 minutes" },
    CommandForm { words: "agent list", fields: &[ORG], says: "the agents" },
    CommandForm { words: "agent create", fields: &[word("name", "NAME"), ORG], says: "a new agent" },
    CommandForm { words: "agent pause", fields: &[word("agent", "AGENT"), option("reason", "TEXT")], says: "stop an agent at once" },
    CommandForm { words: "agent resume", fields: &[word("agent", "AGENT")], says: "let it go on" },
    CommandForm { words: "key list", fields: &[ORG], says: "the keys, without their secrets" },
    CommandForm {
        words: "key create",
        fields: &[word("role", "ROLE"), option("agent", "AGENT"), option("domain", "DOMAIN"), option("name", "NAME"), ORG],
        says: "a new key, shown once; ROLE is agent (with --agent), developer, auditor or seller (with --domain)",
    },
    CommandForm { words: "key revoke", fields: &[word("key", "KEY")], says: "end a key, by its id" },
    CommandForm { words: "policy list", fields: &[ORG], says: "the policies and their versions" },
    CommandForm {
        words: "policy sign",
        fields: &[DOCUMENT, ORG],
        says: "sign a document as a new policy, or as a new version of the one its id names",
    },
    CommandForm { words: "policy retire", fields: &[word("policy", "POLICY")], says: "take a policy out of use" },
    CommandForm { words: "policy simulate", fields: &[DOCUMENT, ORG], says: "decide the past requests under a document, changing nothing" },
    CommandForm { words: "rail fail", fields: &[word("state", "on|off")], says: "make the sandbox's rail fail, or work again" },
];

impl CommandForm {
    /// The one of those words.
    pub fn of(words: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|form| form.words == words)
    }

    /// How it is used: `key revoke KEY`.
    pub fn usage(&self) -> String {
        let fields = self.fields.iter().map(|field| match field.given {
            Given::Word | Given::File => format!(" {}", field.value),
            Given::Option => format!(" [--{} {}]", field.name, field.value),
        });
        format!("{}{}", self.words, fields.collect::<String>())
    }
}

impl AdminCommand {
    /// Reads `{"command": WORDS, ...fields}`.
    ///
    /// # Errors
    /// 422 `invalid_command` with what to write instead.
    pub fn from_json(object: &Object) -> Result<Self, Problem> {
        let form = object.get("command").and_then(Value::as_str).and_then(CommandForm::of);
        let Some(form) = form else { return Err(invalid("There is no such command: chancery admin --help lists them.")) };
        let fields = Fields { form, object };
        fields.check_names()?;
        Ok(match form.words {
            "status" => Self::Status,
            "org list" => Self::OrgList,
            "org create" => Self::OrgCreate { name: fields.text("name")? },
            "user list" => Self::UserList { org: fields.org()? },
            "user create" => Self::UserCreate { org: fields.org()?, login: fields.text("login")? },
            "user link" => Self::UserLink { login: fields.text("login")? },
            "agent list" => Self::AgentList { org: fields.org()? },
            "agent create" => Self::AgentCreate { org: fields.org()?, name: fields.text("name")? },
            "agent pause" => Self::AgentPause { agent: fields.id("agent", AgentId::parse)?, reason: fields.some_text("reason")? },
            "agent resume" => Self::AgentResume { agent: fields.id("agent", AgentId::parse)? },
            "key list" => Self::KeyList { org: fields.org()? },
            "key create" => Self::KeyCreate { org: fields.org()?, holder: fields.holder()?, name: fields.some_text("name")? },
            "key revoke" => Self::KeyRevoke { key: fields.id("key", KeyId::parse)? },
            "policy list" => Self::PolicyList { org: fields.org()? },
            "policy sign" => Self::PolicySign { org: fields.org()?, document: fields.document()? },
            "policy retire" => Self::PolicyRetire { policy: fields.id("policy", PolicyId::parse)? },
            "policy simulate" => Self::PolicySimulate { org: fields.org()?, document: fields.document()? },
            _ => Self::RailFail { on: fields.state()? },
        })
    }

    /// The same in JSON.
    pub fn to_json(&self) -> Object {
        let command = |words: &str| Object::new().with("command", words);
        match self {
            Self::Status => command("status"),
            Self::OrgList => command("org list"),
            Self::OrgCreate { name } => command("org create").with("name", name.as_str()),
            Self::UserList { org } => command("user list").with_some("org", org.as_ref()),
            Self::UserCreate { org, login } => command("user create").with("login", login.as_str()).with_some("org", org.as_ref()),
            Self::UserLink { login } => command("user link").with("login", login.as_str()),
            Self::AgentList { org } => command("agent list").with_some("org", org.as_ref()),
            Self::AgentCreate { org, name } => command("agent create").with("name", name.as_str()).with_some("org", org.as_ref()),
            Self::AgentPause { agent, reason } => command("agent pause").with("agent", agent).with_some("reason", reason.as_deref()),
            Self::AgentResume { agent } => command("agent resume").with("agent", agent),
            Self::KeyList { org } => command("key list").with_some("org", org.as_ref()),
            Self::KeyCreate { org, holder, name } => {
                let (agent, domain) = match holder {
                    KeyHolder::Agent(agent) => (Some(agent), None),
                    KeyHolder::Seller(domain) => (None, Some(domain.as_str())),
                    KeyHolder::Developer | KeyHolder::Auditor => (None, None),
                };
                let key = command("key create").with("role", holder.role().as_str()).with_some("agent", agent);
                key.with_some("domain", domain).with_some("name", name.as_deref()).with_some("org", org.as_ref())
            }
            Self::KeyRevoke { key } => command("key revoke").with("key", key),
            Self::PolicyList { org } => command("policy list").with_some("org", org.as_ref()),
            Self::PolicySign { org, document } => command("policy sign").with("document", document).with_some("org", org.as_ref()),
            Self::PolicyRetire { policy } => command("policy retire").with("policy", policy),
            Self::PolicySimulate { org, document } => command("policy simulate").with("document", document).with_some("org", org.as_ref()),
            Self::RailFail { on } => command("rail fail").with("state", if *on { "on" } else { "off" }),
        }
    }
}

/// The members of a command.
struct Fields<'a> {
    form: &'static CommandForm,
    object: &'a Object,
}

impl Fields<'_> {
    fn check_names(&self) -> Result<(), Problem> {
        let known = |name: &str| name == "command" || self.form.fields.iter().any(|field| field.name == name);
        if self.object.iter().all(|(name, _)| name.as_str().is_some_and(known)) { Ok(()) } else { Err(self.usage("It takes nothing else")) }
    }

    fn usage(&self, why: &str) -> Problem {
        invalid(format!("{why}: chancery admin {}.", self.form.usage()))
    }

    fn some_text(&self, name: &str) -> Result<Option<String>, Problem> {
        let Some(value) = self.object.get(name) else { return Ok(None) };
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty() && !text.chars().any(char::is_control));
        match text {
            Some(text) if text.chars().count() <= MAX_TEXT => Ok(Some(text.to_owned())),
            _ => Err(invalid(format!("{name} is a line of 1 to {MAX_TEXT} characters."))),
        }
    }

    fn text(&self, name: &str) -> Result<String, Problem> {
        self.some_text(name)?.ok_or_else(|| self.usage(&format!("{name} is missing")))
    }

    fn id<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> Result<T, Problem> {
        parse(&self.text(name)?).ok_or_else(|| invalid(format!("{name} is an id as it is listed.")))
    }

    fn org(&self) -> Result<Option<OrgId>, Problem> {
        self.some_text("org")?.map(|_| self.id("org", OrgId::parse)).transpose()
    }

    fn holder(&self) -> Result<KeyHolder, Problem> {
        let role = Role::parse(&self.text("role")?).ok_or_else(|| invalid("role is agent, developer, auditor or seller."))?;
        let (agent, domain) = (self.object.has("agent"), self.object.has("domain"));
        match (role, agent, domain) {
            (Role::Agent, true, false) => Ok(KeyHolder::Agent(self.id("agent", AgentId::parse)?)),
            (Role::Seller, false, true) => {
                let domain =
                    Domain::parse(&self.text("domain")?).map_err(|_| invalid("domain is a registered domain name, such as shop.example."))?;
                Ok(KeyHolder::Seller(domain))
            }
            (Role::Developer, false, false) => Ok(KeyHolder::Developer),
            (Role::Auditor, false, false) => Ok(KeyHolder::Auditor),
            (Role::Agent, ..) => Err(invalid("A key of role agent is for one agent: name it with --agent, and nothing else.")),
            (Role::Seller, ..) => Err(invalid("A key of role seller is for one domain: name it with --domain, and nothing else.")),
            (Role::Developer | Role::Auditor, ..) => {
                Err(invalid("A key of this role is for the whole organization: leave out --agent and --domain."))
            }
        }
    }

    fn document(&self) -> Result<Value, Problem> {
        let document = self.object.get("document").filter(|document| document.as_object().is_some());
        document.cloned().ok_or_else(|| invalid("A policy document is a JSON object: chancery policy check says what is wrong with a file."))
    }

    fn state(&self) -> Result<bool, Problem> {
        match &*self.text("state")? {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(invalid("state is on or off.")),
        }
    }
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Problem {
    Problem::new(422, "invalid_command", message)
}

#[cfg(test)]
mod tests {
    use lcp::json;

    use super::*;

    fn read(text: &str) -> Result<AdminCommand, Problem> {
        AdminCommand::from_json(json::parse(text, json::MAX_DEPTH).unwrap().as_object().unwrap())
    }

    /// One of each, with every field.
    fn commands() -> Vec<AdminCommand> {
        let (org, agent, name) = (Some(OrgId::of([1; 16])), AgentId::of([2; 16]), "Müllers Büro".to_owned());
        let document = json::parse(r#"{"currency":"USD","note":"a \"b\""}"#, 9).unwrap();
        let key = |holder| AdminCommand::KeyCreate { org: org.clone(), holder, name: Some(name.clone()) };
        vec![
            AdminCommand::Status,
            AdminCommand::OrgList,
            AdminCommand::OrgCreate { name: name.clone() },
            AdminCommand::UserList { org: org.clone() },
            AdminCommand::UserCreate { org: org.clone(), login: "ada".to_owned() },
            AdminCommand::UserLink { login: "ada".to_owned() },
            AdminCommand::AgentList { org: org.clone() },
            AdminCommand::AgentCreate { org: org.clone(), name: name.clone() },
            AdminCommand::AgentPause { agent: agent.clone(), reason: Some("lost".to_owned()) },
            AdminCommand::AgentResume { agent: agent.clone() },
            AdminCommand::KeyList { org: org.clone() },
            key(KeyHolder::Agent(agent)),
            key(KeyHolder::Developer),
            key(KeyHolder::Auditor),
            key(KeyHolder::Seller(Domain::parse("shop.example").unwrap())),
            AdminCommand::KeyRevoke { key: KeyId::of([3; 16]) },
            AdminCommand::PolicyList { org: org.clone() },
            AdminCommand::PolicySign { org: org.clone(), document: document.clone() },
            AdminCommand::PolicyRetire { policy: PolicyId::of([4; 16]) },
            AdminCommand::PolicySimulate { org, document },
            AdminCommand::RailFail { on: true },
            AdminCommand::RailFail { on: false },
        ]
    }

    #[test]
    fn each_command_reads_back_from_its_json() {
        let mut words = std::collections::BTreeSet::new();
        for command in commands() {
            let object = command.to_json();
            words.insert(object.get("command").and_then(Value::as_str).unwrap().to_owned());
            assert_eq!(AdminCommand::from_json(&object), Ok(command));
        }
        assert!(COMMANDS.iter().all(|form| words.contains(form.words)), "{words:?}");
    }

    #[test]
    fn each_field_of_a_form_is_one_that_its_command_writes() {
        for form in COMMANDS {
            let written: Vec<_> =
                commands().iter().map(AdminCommand::to_json).filter(|object| object.get("command") == Some(&form.words.into())).collect();
            for field in form.fields {
                assert!(written.iter().any(|object| object.has(field.name)), "{} {}", form.words, field.name);
            }
        }
    }

    #[test]
    fn refuses_what_no_command_is() {
        for text in [
            "{}",
            r#"{"command":"key"}"#,
            r#"{"command":"key  list"}"#,
            r#"{"command":1}"#,
            r#"{"command":"status","org":"org_00000000000000000000000000"}"#,
            r#"{"command":"org create"}"#,
            r#"{"command":"org create","name":""}"#,
            r#"{"command":"org create","name":"a\nb"}"#,
            r#"{"command":"org create","name":["a"]}"#,
            r#"{"command":"agent list","org":"org_1"}"#,
            r#"{"command":"agent list","org":null}"#,
            r#"{"command":"agent pause","agent":"key_00000000000000000000000000"}"#,
            r#"{"command":"key create","role":"owner"}"#,
            r#"{"command":"key create","role":"agent"}"#,
            r#"{"command":"key create","role":"seller","agent":"agt_00000000000000000000000000"}"#,
            r#"{"command":"key create","role":"seller","domain":"co.uk"}"#,
            r#"{"command":"key create","role":"auditor","domain":"shop.example"}"#,
            r#"{"command":"key create","role":"agent","agent":"agt_00000000000000000000000000","domain":"shop.example"}"#,
            r#"{"command":"policy sign","document":"{}"}"#,
            r#"{"command":"policy sign"}"#,
            r#"{"command":"rail fail","state":"yes"}"#,
            r#"{"command":"rail fail"}"#,
        ] {
            assert_eq!(read(text).map_err(|problem| problem.code), Err("invalid_command".into()), "{text}");
        }
        let long = format!(r#"{{"command":"org create","name":"{}"}}"#, "a".repeat(MAX_TEXT + 1));
        assert!(read(&long).is_err());
        assert!(read(&long.replacen("aa", "a", 1)).is_ok());
    }

    #[test]
    fn a_refusal_says_how_it_is_used() {
        let problem = read(r#"{"command":"key revoke"}"#).unwrap_err();
        assert_eq!(problem.message, "key is missing: chancery admin key revoke KEY.");
        assert_eq!(CommandForm::of("agent pause").unwrap().usage(), "agent pause AGENT [--reason TEXT]");
    }

    #[test]
    fn the_documentation_lists_every_command() {
        let page = include_str!("../../../docs/admin.md");
        let row = |form: &CommandForm| format!("| `{}` | {} |", form.usage().replace('|', "\\|"), form.says);
        let rows: Vec<String> = COMMANDS.iter().map(row).collect();
        let found: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(found, rows);
    }
}
