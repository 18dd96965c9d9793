//! What the approval page's template reads.

use control::{confusable, payee::Domain};

use crate::{
    Person,
    pages::{
        format::{Amount, Id, Locale, Moment},
        words::Words,
    },
    service::ApprovalPage,
};

/// The fact that says whether the payee was paid before; any state but PASS is a first contact.
const PAID_BEFORE: &str = "paid_before";

/// An approval, ready to be shown.
pub(super) struct View {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) digest: String,
    pub(super) csrf: String,
    pub(super) amount: Amount,
    pub(super) payee: Payee,
    pub(super) purpose: Words,
    pub(super) intent: Option<Words>,
    pub(super) agent_name: Words,
    pub(super) agent_id: String,
    pub(super) rules: Vec<(Words, Words)>,
    pub(super) facts: Vec<Fact>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) checkout: Option<(Words, Words)>,
    pub(super) risk: u32,
    pub(super) signals: Vec<String>,
    pub(super) policy: Option<(Words, u32)>,
    pub(super) asked: Moment,
    pub(super) expires: Moment,
    /// The time now and until when, in Unix milliseconds, for the script.
    pub(super) clock: (i64, i64),
    /// Who answered, and when.
    pub(super) decided: Option<(String, Moment)>,
    pub(super) outcome: Option<Words>,
    pub(super) record_id: String,
}

/// What became of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Approved,
    Refused,
    Declined,
    Expired,
    Superseded,
    Void,
}

impl State {
    fn of(page: &ApprovalPage) -> Self {
        match &*page.state {
            "approved" => Self::Approved,
            "refused" => Self::Refused,
            "declined" => Self::Declined,
            "expired" => Self::Expired,
            "superseded" => Self::Superseded,
            // The clock says so before the job that writes it down.
            "pending" if page.expires_at <= page.now => Self::Expired,
            "pending" => Self::Pending,
            // Whatever else it is, nobody can answer it.
            _ => Self::Void,
        }
    }

    /// The word on the chip and in the title.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pending => "Needs you",
            Self::Approved => "Approved",
            Self::Refused => "Denied",
            Self::Declined => "Declined",
            Self::Expired => "Expired",
            Self::Superseded => "Question",
            Self::Void => "Withdrawn",
        }
    }

    /// The name of its colour and shape.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
            Self::Void => "void",
        }
    }

    /// What the person did that answered it.
    pub(super) fn answer(self) -> &'static str {
        if self == Self::Declined { "Declined" } else { "Approved" }
    }

    /// What happened, whatever the application says beside it.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Pending => "",
            Self::Approved => "The payment was approved.",
            Self::Refused => "The payment was approved, but decided again at the click, and denied. Nothing is paid.",
            Self::Declined => "The payment was declined. Nothing is paid, and the agent is told so.",
            Self::Expired => "Nobody answered in time. Nothing is paid; the agent can ask again.",
            Self::Superseded => {
                "The payment was approved, but more must be known first. Answer the agent’s question; if need be you are asked again."
            }
            Self::Void => "The request was withdrawn before anybody answered. Nothing is paid by it; the agent can ask again.",
        }
    }

    /// Whether nothing more happens to the request, so that its record is sealed.
    pub(super) fn is_end(self) -> bool {
        matches!(self, Self::Refused | Self::Declined | Self::Expired | Self::Void)
    }

    pub(super) fn is_pending(self) -> bool {
        self == Self::Pending
    }
}

/// Who is to be paid.
pub(in crate::pages) struct Payee {
    /// The name, or whatever else the payee is called by.
    pub(in crate::pages) name: Words,
    /// Its ASCII form, if it is not ASCII.
    pub(in crate::pages) ascii: Option<String>,
    /// The domain as people read it: what stands before the registered part, and that part.
    pub(in crate::pages) domain: Option<(String, String)>,
    /// The domain's ASCII form, if that differs.
    pub(in crate::pages) domain_ascii: Option<String>,
    /// The id at a marketplace or payment provider.
    pub(in crate::pages) merchant_id: Option<Id>,
    /// Whether it is called by a name of its own.
    pub(in crate::pages) has_name: bool,
    /// Whether it was never paid before.
    pub(in crate::pages) is_first: bool,
}

impl Payee {
    pub(in crate::pages) fn new(page: &ApprovalPage) -> Self {
        let (domain, domain_ascii) = match &page.payee_domain {
            Some((full, registered)) => {
                let ((shown, ascii), (owned, _)) = (forms(full), forms(registered));
                let before = shown.strip_suffix(&*owned).unwrap_or_default().to_owned();
                let differs = (shown != ascii).then_some(ascii);
                (Some((before, owned)), differs)
            }
            None => (None, None),
        };
        let name = page.payee_name.as_deref().or(page.payee_domain.as_ref().map(|(full, _)| &**full)).or(page.merchant_id.as_deref());
        let name = name.unwrap_or("A payee without a name");
        let ascii = page.payee_name.as_deref().filter(|name| !name.is_ascii()).map(confusable::ascii_form);
        let is_first = page.merchant_facts.iter().any(|(name, state, _)| name == PAID_BEFORE && state != "PASS");
        Self {
            name: Words::new(name),
            ascii: ascii.map(|text| Words::new(&text).whole().to_owned()),
            domain,
            domain_ascii,
            merchant_id: page.merchant_id.as_deref().map(id),
            has_name: page.payee_name.is_some(),
            is_first,
        }
    }
}

impl Payee {
    /// Whether the domain is all there is to call it by.
    pub(in crate::pages) fn is_called_by_domain(&self) -> bool {
        !self.has_name && self.domain.is_some()
    }
}

/// The form that people read and the ASCII form of a domain; the text with nothing hidden, if it is none.
fn forms(text: &str) -> (String, String) {
    Domain::parse(text).map_or_else(
        |_| (Words::new(text).whole().to_owned(), Words::new(text).whole().to_owned()),
        |domain| (domain.unicode(), domain.as_str().to_owned()),
    )
}

/// An id of others.
fn id(text: &str) -> Id {
    Id::new(Words::new(text).whole())
}

/// Something known or not known of the payee.
pub(super) struct Fact {
    pub(super) mark: Mark,
    pub(super) label: String,
    pub(super) detail: Words,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Pass,
    Fail,
    Skip,
}

impl Mark {
    /// What is no pass and no fail was not checked.
    fn of(text: &str) -> Self {
        match text {
            "PASS" => Self::Pass,
            "FAIL" => Self::Fail,
            _ => Self::Skip,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Skip => "SKIP",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// A check's name, as people say it.
fn label(name: &str) -> String {
    let known = match name {
        PAID_BEFORE => "Paid before",
        "payee_identity" => "Identity",
        "payee_known" => "Named by the policy",
        "payee_denied" => "Not refused by the policy",
        "payee_looks" => "Looks like no other",
        "payee_domain" => "Checkout on its domain",
        "screening" => "Screening lists",
        _ => return spoken(name),
    };
    known.to_owned()
}

/// A code as people read it: `near_limit` is `Near limit`.
fn spoken(code: &str) -> String {
    let text = Words::new(code).whole().replace('_', " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Something that the agent shows for it.
pub(super) struct Evidence {
    pub(super) kind: Words,
    pub(super) reference: Words,
    pub(super) digest: Id,
}

impl View {
    pub(super) fn new(page: &ApprovalPage, person: &Person, locale: &Locale) -> Self {
        let moment = |at| Moment::new(at, page.now, locale);
        let decided = page.decided.as_ref().map(|(login, at)| {
            let who = if *login == person.login { "you".to_owned() } else { Words::new(login).whole().to_owned() };
            (who, moment(*at))
        });
        let fact = |(name, state, detail): &(String, String, String)| Fact { mark: Mark::of(state), label: label(name), detail: Words::new(detail) };
        let evidence = |(kind, reference, digest): &(String, String, String)| Evidence {
            kind: Words::new(kind),
            reference: Words::new(reference),
            digest: id(digest),
        };
        Self {
            id: page.id.clone(),
            state: State::of(page),
            digest: page.digest.clone(),
            csrf: person.csrf.clone(),
            amount: Amount::new(&page.amount, locale),
            payee: Payee::new(page),
            purpose: Words::new(&page.purpose),
            intent: page.intent.as_deref().map(Words::new),
            agent_name: Words::new(&page.agent.0),
            agent_id: page.agent.1.clone(),
            rules: page.rules.iter().map(|(code, sentence)| (Words::new(code), Words::new(sentence))).collect(),
            facts: page.merchant_facts.iter().map(fact).collect(),
            evidence: page.evidence.iter().map(evidence).collect(),
            checkout: page.checkout.as_ref().map(|(protocol, reference)| (Words::new(&protocol.to_uppercase()), Words::new(reference))),
            risk: page.risk.0,
            signals: page.risk.1.iter().map(|signal| spoken(signal)).collect(),
            policy: page.policy.as_ref().map(|(name, version)| (Words::new(name), *version)),
            asked: moment(page.asked_at),
            expires: moment(page.expires_at),
            clock: (page.now.millis(), page.expires_at.millis()),
            decided,
            outcome: page.outcome.as_deref().map(Words::new),
            record_id: page.record_id.clone(),
        }
    }
}
