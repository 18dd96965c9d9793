//! Questions to the person, and their answers.
//!
//! A round asks for every slot that is open. It is decided again once each of its questions has an answer of the slot's
//! form; until then answers may come in parts, and may be given anew.

use lcp::{Object, Value};

use super::{Desk, EventKind, Payment, RequestState, Standing};
use crate::{
    Fault, Instant, Pointer, Refusal, card_number,
    ids::QuestionId,
    intent::{Question, Slot, Source},
    read::Field,
    stored::Stored,
};

/// Longest answer, in characters.
const MAX_ANSWER: usize = 2000;
/// Most answers that one request takes, and most bytes of them together: the record that holds them has a bound.
const MAX_TAKEN: usize = 200;
const MAX_TAKEN_BYTES: usize = 65_536;
/// Most answers of one call.
const MAX_ANSWERS: usize = Slot::ALL.len();

/// A question that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// In which round, from 1 on.
    pub round: u32,
    /// The question.
    pub question: Question,
    /// When.
    pub at: Instant,
    /// Whether the last answer to it was not of the slot's form.
    pub is_malformed: bool,
}

/// An answer that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To a question of which round.
    pub round: u32,
    /// About which slot.
    pub slot: Slot,
    /// The words.
    pub text: String,
    /// By whom.
    pub by: Source,
    /// When.
    pub at: Instant,
}

/// Answers to a request's questions, as they came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswersGiven {
    /// To which question, what.
    pub answers: Vec<(QuestionId, String)>,
    /// Who gave them.
    pub by: Source,
}

impl AnswersGiven {
    /// The fields that hold ids of ours, for the card-number guard.
    pub const TYPED_FIELDS: &[&str] = &["/answers/*/question_id"];

    /// Reads `{"answers", "answered_by"?}`: 1 to 10 answers, and `user` (if absent) or `agent`. No answer may look like a card
    /// number.
    pub fn read(body: &Value) -> Result<Self, Fault> {
        card_number::refuse(body, Self::TYPED_FIELDS)?;
        let members = Field::root(body).members(&["answers", "answered_by"])?;
        let by = |text: &str| Source::parse(text).filter(|by| matches!(by, Source::User | Source::Agent));
        let by = members.nullable("answered_by").map(|field| field.known(by, "Give \"user\" or \"agent\".")).transpose()?;
        Ok(Self { answers: read_answers(&members.required("answers")?)?, by: by.unwrap_or(Source::User) })
    }
}

/// Reads 1 to 10 of `{"question_id", "answer"}`, each answer a line of at most 2000 characters.
fn read_answers(field: &Field<'_>) -> Result<Vec<(QuestionId, String)>, Fault> {
    let answers = field.list(MAX_ANSWERS, |item| {
        let members = item.members(&["question_id", "answer"])?;
        let id = members.required("question_id")?.formed(QuestionId::parse, "Give the id of a question.")?;
        Ok((id, members.required("answer")?.text(MAX_ANSWER)?.to_owned()))
    })?;
    if answers.is_empty() { Err(field.fault(crate::FaultCode::TooShort, "Give at least one answer.")) } else { Ok(answers) }
}

impl Payment {
    pub(super) fn open_questions(&mut self, now: Instant) {
        let round = self.rounds();
        let questions = self.decision().map(|decision| decision.questions.clone()).unwrap_or_default();
        self.asked.extend(questions.into_iter().map(|question| Asking { round, question, at: now, is_malformed: false }));
        self.state = RequestState::AwaitingClarification;
        self.note(now, EventKind::QuestionsAsked);
    }

    /// Takes answers. An answer that is not of its slot's form leaves the question open, with a hint; once the round has
    /// all its answers, the request is decided again under the policy of now. An answer that was given before in the same
    /// words changes nothing.
    pub fn answer(&mut self, answers: &[(QuestionId, String)], by: Source, standing: &Standing<'_>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let mut news = self.news(answers)?;
        if news.is_empty() {
            return Ok(());
        }
        match self.due() {
            _ if self.state != RequestState::AwaitingClarification => {
                return Err(Refusal::conflict("not_awaiting_clarification", "The request no longer waits for answers; read where it stands."));
            }
            Some(due) if due <= desk.now => {
                return Err(Refusal::conflict("clarification_expired", "The time to answer is over; ask for the payment again."));
            }
            _ => {}
        }
        // The currency first, for an amount is read in it.
        news.sort_by_key(|(slot, _)| *slot != Slot::Currency);
        let round = self.rounds();
        let taken_before = self.answers.len();
        for (slot, text) in news {
            let is_taken = self.intent.answer(slot, text, by, &self.request.amount);
            if is_taken {
                self.answers.push(Answer { round, slot, text: text.to_owned(), by, at: desk.now });
            }
            if let Some(asking) = self.asked.iter_mut().find(|asking| asking.round == round && asking.question.slot == slot) {
                asking.is_malformed = !is_taken;
            }
        }
        if self.answers.len() > taken_before {
            self.note(desk.now, EventKind::Answered);
        }
        if self.open().next().is_none() {
            self.decide(standing, false, desk);
        }
        Ok(())
    }

    /// The answers that say something new, each with its slot.
    fn news<'a>(&self, answers: &'a [(QuestionId, String)]) -> Result<Vec<(Slot, &'a str)>, Refusal> {
        let at = |index: usize, member| Pointer::root().member("answers").index(index).member(member);
        let mut news: Vec<(Slot, &str)> = Vec::new();
        let mut bytes: usize = self.answers.iter().map(|answer| answer.text.len()).sum();
        for (index, (id, text)) in answers.iter().enumerate() {
            let Some(asking) = self.asked.iter().rev().find(|asking| asking.question.id == *id) else {
                return Err(Refusal::invalid(&at(index, "question_id"), "unknown_question", "Answer a question that was asked for this request."));
            };
            let slot = asking.question.slot;
            if news.iter().any(|(other, _)| *other == slot) {
                return Err(Refusal::invalid(&at(index, "question_id"), "repeated", "Answer each question once."));
            }
            let is_same = self.answers.iter().rev().find(|answer| answer.slot == slot).is_some_and(|answer| answer.text == *text);
            // In a later round the same words are an answer again.
            if is_same && !self.is_open(asking) {
                continue;
            }
            if asking.round != self.rounds() {
                return Err(Refusal::conflict("question_closed", "This question was answered and decided on; answer those that are open."));
            }
            bytes += text.len();
            if text.chars().take(MAX_ANSWER + 1).count() > MAX_ANSWER || bytes > MAX_TAKEN_BYTES {
                return Err(Refusal::invalid(&at(index, "answer"), "too_long", "Give a shorter answer."));
            }
            if self.answers.len() + news.len() >= MAX_TAKEN {
                return Err(Refusal::conflict("too_many_answers", "Ask for the payment anew; this request was answered too often."));
            }
            news.push((slot, text));
        }
        Ok(news)
    }

    /// The questions of the round that have no answer yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &Asking> {
        self.asked.iter().filter(|asking| self.is_open(asking))
    }

    fn is_open(&self, asking: &Asking) -> bool {
        let is_answered = |answer: &Answer| answer.round == asking.round && answer.slot == asking.question.slot;
        self.state == RequestState::AwaitingClarification
            && asking.round == self.rounds()
            && (asking.is_malformed || !self.answers.iter().any(is_answered))
    }

    /// The answer to a question of its round, the last one given.
    fn answer_to(&self, asking: &Asking) -> Option<&Answer> {
        self.answers.iter().rev().find(|answer| answer.round == asking.round && answer.slot == asking.question.slot)
    }

    /// The questions that are open, with a hint where an answer was not of the slot's form.
    pub(super) fn questions_json(&self) -> Value {
        let open = self.open().map(|asking| asking.question.to_json().with_some("hint", asking.hint()).into());
        open.collect::<Vec<Value>>().into()
    }

    /// Every question with its answer, in the client's shape.
    pub(super) fn clarifications_json(&self) -> Value {
        let json = |asking: &Asking| {
            let answer = self.answer_to(asking);
            let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
            asking
                .question
                .to_json()
                .with("answer", or_null(answer.map(|answer| answer.text.as_str().into())))
                .with("answered_by", or_null(answer.map(|answer| answer.by.as_str().into())))
                .with("asked_at", asking.at)
                .with("answered_at", or_null(answer.map(|answer| answer.at.into())))
        };
        self.asked.iter().map(|asking| json(asking).into()).collect::<Vec<Value>>().into()
    }
}

impl Asking {
    fn hint(&self) -> Option<&'static str> {
        let hint = match self.question.slot {
            Slot::Quantity => "Answer with a whole number.",
            Slot::MaxTotal => "Answer with a plain amount such as 48.00.",
            Slot::Currency => "Answer with a currency code such as USD.",
            Slot::DeliverBy => "Answer with a date such as 2026-12-24.",
            Slot::SubstitutionsAllowed => "Answer with yes or no.",
            _ => "Answer in a shorter line.",
        };
        self.is_malformed.then_some(hint)
    }

    pub(super) fn to_stored(&self) -> Object {
        Object::new().with("round", self.round).with("question", self.question.to_json()).with("at", self.at).with("is_malformed", self.is_malformed)
    }

    pub(super) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            round: stored.number("round")?,
            question: Question::from_stored(stored.value("question")?)?,
            at: stored.instant("at")?,
            is_malformed: stored.flag("is_malformed")?,
        })
    }
}

impl Answer {
    pub(super) fn to_stored(&self) -> Object {
        Object::new()
            .with("round", self.round)
            .with("slot", self.slot.as_str())
            .with("text", self.text.as_str())
            .with("by", self.by.as_str())
            .with("at", self.at)
    }

    pub(super) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            round: stored.number("round")?,
            slot: stored.parsed("slot", Slot::parse)?,
            text: stored.text("text")?.to_owned(),
            by: stored.parsed("by", Source::parse)?,
            at: stored.instant("at")?,
        })
    }
}
