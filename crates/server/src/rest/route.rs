//! What the table says of a route.

use axum::routing::MethodFilter;
use control::access::{Action, Role};

/// A route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// The path, with `{name}` for a segment and `{*name}` for all that is left.
    pub(crate) path: &'static str,
    /// The operation's id, unique, as the Python client names the method.
    pub(crate) operation: &'static str,
    /// What it does, in a phrase.
    pub(crate) summary: &'static str,
    pub(crate) call: Call,
    pub(crate) who: Who,
    pub(crate) query: &'static [Parameter],
    pub(crate) body: Body,
    /// Whether the header `Idempotency-Key` must be there.
    pub(crate) needs_idempotency_key: bool,
    /// The status of success.
    pub(crate) status: u16,
    pub(crate) answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub(crate) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    NotServed,
    Health,
    OpenApi,
    Keys,
    Me,
    CreatePaymentRequest,
    GetPaymentRequest,
    HandOff,
    AnswerClarification,
    GetApproval,
    ListMandates,
    GetMandate,
    ListRecords,
    GetRecord,
    GetRecordBundle,
    VerifyRecord,
    ListLinkedRecords,
    VerifyBundle,
    ListPolicies,
    GetPolicyVersion,
    SignPolicy,
    ListAgents,
    CreateAgent,
    GetAgent,
    PauseAgent,
    ResumeAgent,
    ListConsents,
    CreateConsent,
    GetConsent,
    RevokeConsent,
    GetSettings,
    UpdateSettings,
    CreateSandboxKeys,
    VerifyMandate,
    ObserveOrder,
    GetCheckpoint,
    GetTile,
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Also without a key.
    Anybody,
    /// A key whose role may do one of these.
    Keys(&'static [Action]),
}

impl Who {
    /// Whether a key of that role may call.
    pub(crate) fn admits(self, role: Role) -> bool {
        match self {
            Self::Anybody => true,
            Self::Keys(actions) => actions.iter().any(|action| role.may(*action)),
        }
    }

    /// The roles whose keys may call; `None` if it takes no key.
    pub(crate) fn roles(self) -> Option<Vec<Role>> {
        (self != Self::Anybody).then(|| Role::ALL.iter().copied().filter(|role| self.admits(*role)).collect())
    }
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// A time, or an id or cursor that we gave: its bare digits are no card number.
    Typed,
    /// A whole number of this range.
    Whole(u32, u32),
}

/// A JSON body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// None; what is sent all the same is not read.
    None,
    /// May be left out.
    Optional(Shape),
    /// Must be there.
    Required(Shape),
}

/// What a body holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The schema's name in the `OpenAPI` document.
    pub(crate) schema: &'static str,
    /// The members that hold amounts, times and ids of ours, as patterns of JSON pointers: the card-number guard spares
    /// their bare digits.
    pub(crate) typed: &'static [&'static str],
}

/// What an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// JSON of that schema.
    Json(&'static str),
    /// Plain text.
    Text,
    /// Bytes.
    Bytes,
}

impl Answer {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Text => "text/plain; charset=utf-8",
            Self::Bytes => "application/octet-stream",
        }
    }
}

impl Route {
    /// A route that answers 200 with JSON of that schema.
    pub(super) const fn new(verb: Verb, path: &'static str, operation: &'static str, call: Call, who: Who, schema: &'static str) -> Self {
        Self {
            verb,
            path,
            operation,
            summary: "",
            call,
            who,
            query: &[],
            body: Body::None,
            needs_idempotency_key: false,
            status: 200,
            answer: Answer::Json(schema),
        }
    }

    pub(super) const fn says(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    pub(super) const fn query(mut self, query: &'static [Parameter]) -> Self {
        self.query = query;
        self
    }

    pub(super) const fn takes(mut self, schema: &'static str, typed: &'static [&'static str]) -> Self {
        self.body = Body::Required(Shape { schema, typed });
        self
    }

    pub(super) const fn may_take(mut self, schema: &'static str, typed: &'static [&'static str]) -> Self {
        self.body = Body::Optional(Shape { schema, typed });
        self
    }

    /// It makes something: 201.
    pub(super) const fn creates(mut self) -> Self {
        self.status = 201;
        self
    }

    pub(super) const fn with_idempotency_key(mut self) -> Self {
        self.needs_idempotency_key = true;
        self
    }

    pub(super) const fn answers(mut self, answer: Answer) -> Self {
        self.answer = answer;
        self
    }

    /// The names of the path's parameters, in their order.
    pub(crate) fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| Some(segment.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*')))
    }
}
