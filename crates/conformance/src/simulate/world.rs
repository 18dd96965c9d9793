//! The world of the simulation, and how a command is carried out in it: load, command, judge, save, seal.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use control::{
    Instant, Refusal,
    ids::{RecordId, RequestId, UserId},
    linked::{LinkedKind, LinkedRecord},
    payment::{Asked, Desk, Links, Payment, Reported, Standing},
    rail::Rail,
    request::{Form, PaymentRequestCreate},
};
use lcp::{Value, json};
use rails::SandboxCard;
use record::Kind;

use super::{
    archive::Papers,
    chance::Chance,
    invariants::{self, Broken, Deed, broken, require},
    org::{Member, Org},
};

/// The time at which every simulation starts.
const START: Instant = Instant::from_millis(1_796_040_000_000);
/// Where views say that they are served.
const LINKS: Links<'static> = Links { base: "https://chancery.test" };
/// One command in so many is carried out on a payment that was stored and read back, as after a crash.
const RELOADS: u32 = 6;

pub(super) struct World {
    pub(super) now: Instant,
    pub(super) chance: Chance,
    pub(super) orgs: Vec<Org>,
    pub(super) people: [UserId; 2],
    rail: SandboxCard,
    fails: Arc<AtomicBool>,
    pub(super) tally: Tally,
}

/// What happened in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests asked.
    pub requests: u64,
    /// Mandates issued.
    pub mandates: u64,
    /// Mandates used.
    pub used: u64,
    /// Payments handed to a person.
    pub handed_off: u64,
    /// Approvals that made a mandate.
    pub approved: u64,
    /// Requests that the person was asked about.
    pub clarified: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Answers given once more.
    pub replayed: u64,
    /// Records sealed.
    pub records: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> Result<Self, Broken> {
        let mut chance = Chance::new(seed);
        let orgs = (0..2).map(|number| Org::new(number, START, &mut chance)).collect::<Result<_, _>>().map_err(|error| broken("the scene", error))?;
        let fails = Arc::new(AtomicBool::new(false));
        let people = [UserId::fresh(&mut chance), UserId::fresh(&mut chance)];
        Ok(Self { now: START, chance, orgs, people, rail: SandboxCard::new(fails.clone()), fails, tally: Tally::default() })
    }

    /// Switches the rail.
    pub(super) fn set_rail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    /// Asks to pay, and gives the view that the agent is answered with.
    pub(super) fn ask(&mut self, org: usize, place: usize, source: &Value, request: PaymentRequestCreate) -> Result<Payment, Broken> {
        let Self { now, chance, orgs, rail, .. } = self;
        let org = &mut orgs[org];
        let member = &org.members[place];
        let (id, record_id) = (RequestId::fresh(chance), RecordId::fresh(chance));
        let known = org.known(place, request.payee.key().as_ref(), *now);
        let asked = Asked {
            id: id.clone(),
            record_id: record_id.clone(),
            org: org.id.clone(),
            agent: member.agent.id.clone(),
            key: member.key.clone(),
            source: source.clone(),
            form: Form::Rest,
            request,
        };
        let (rails, standing): ([&dyn Rail; 1], _) = ([rail], member.standing(&known));
        let mut again = chance.clone();
        let run = |asked, ids: &mut Chance| {
            Payment::ask(asked, &standing, &mut Desk { now: *now, ids, issuer: LINKS.base, key: org.archive.key(), rails: &rails })
        };
        let payment = run(asked.clone(), chance);
        if chance.one_in(RELOADS) {
            require(run(asked, &mut again) == payment, "the same facts and ids give the same", || id.to_string())?;
        }
        require(!org.open.contains_key(&record_id) && !org.archive.has(&record_id), "one record for each request", || record_id.to_string())?;
        org.open.insert(record_id, id.clone());
        org.members[place].recent.push_back(id);
        self.tally.requests += 1;
        Ok(payment)
    }

    /// Carries out a command on a payment that was asked for: the caller's part between load and save.
    pub(super) fn command(
        &mut self,
        org: usize,
        id: &RequestId,
        deed: Deed,
        run: impl FnOnce(&mut Payment, &Standing<'_>, &mut Desk<'_>) -> Result<Reported, Refusal>,
    ) -> Result<Option<Refusal>, Broken> {
        let Self { now, chance, orgs, rail, .. } = self;
        let Some(held) = orgs.get_mut(org) else { return Ok(None) };
        let Some(before) = held.payments.get(id) else { return Ok(None) };
        let mut after = if chance.one_in(RELOADS) { reloaded(before)? } else { before.clone() };
        let place = held.place_of(before.agent());
        let known = held.known(place, before.request().payee.key().as_ref(), *now);
        let Some(member) = held.members.get(place) else { return Ok(None) };
        let rails: [&dyn Rail; 1] = [rail];
        let mut desk = Desk { now: *now, ids: chance, issuer: LINKS.base, key: held.archive.key(), rails: &rails };
        match run(&mut after, &member.standing(&known), &mut desk) {
            Ok(reported) => {
                let deed = if deed == Deed::HandedOff && before.has_ended() { Deed::ReportedLate } else { deed };
                self.save(org, Some(id), after, deed)?;
                if let Reported::Late(members) = reported {
                    self.seal_late_order(org, id, members)?;
                }
                Ok(None)
            }
            Err(refusal) => {
                require(after == *before, "a refusal changes nothing", || format!("{id}: {} on {deed:?}", refusal.code))?;
                self.tally.refused += 1;
                Ok(Some(refusal))
            }
        }
    }

    /// Saves a payment: books, record, due time; judged before and after.
    pub(super) fn save(&mut self, org: usize, held: Option<&RequestId>, after: Payment, deed: Deed) -> Result<(), Broken> {
        let now = self.now;
        let Some(org) = self.orgs.get_mut(org) else { return Ok(()) };
        let before = held.and_then(|id| org.payments.remove(id));
        let id = after.id().clone();
        let (was, is) = (before.as_ref().and_then(invariants::counted), invariants::counted(&after));
        if was != is {
            org.books.set(&id, was.as_ref(), is.as_ref());
        }
        let place = org.place_of(after.agent());
        let Some(member) = org.members.get(place) else { return Ok(()) };
        invariants::judge(before.as_ref(), &after, deed, member, &org.books, now)?;
        self.tally.note(before.as_ref(), &after, deed);
        if !before.as_ref().is_some_and(Payment::is_paid)
            && after.is_paid()
            && let Some(payee) = after.request().payee.key()
        {
            *org.payments_to.entry(payee).or_default() += 1;
        }
        if let Some(due) = before.as_ref().and_then(Payment::due) {
            org.due.remove(&(due, id.clone()));
        }
        if let Some(due) = after.due() {
            org.due.insert((due, id.clone()));
        }
        if before.as_ref() != Some(&after) {
            let shown = json::write(&after.view(LINKS, false).into());
            invariants::has_no_secret(&shown, "a view")?;
        }
        let has_ended = !before.as_ref().is_some_and(Payment::has_ended) && after.has_ended();
        if has_ended {
            require(org.open.remove(after.record_id()).is_some(), "one record for each request", || after.record_id().to_string())?;
            let policy = member.policy.as_ref().ok().map(|signed| &signed.sealed);
            let papers = Papers { policy: policy_of(&after, policy), mandate: mandate_of(&after) };
            let text = org
                .archive
                .seal(Kind::Payment, after.record_id(), &[], after.record_members(), papers, now)
                .map_err(|error| broken("the record is sealed", error))?;
            invariants::has_no_secret(text, "a record")?;
            require(text.contains(org.id.as_str()), "an organization's own", || id.to_string())?;
            org.ended.push_back((now, id.clone()));
            self.tally.records += 1;
        }
        org.payments.insert(id, after);
        Ok(())
    }

    fn seal_late_order(&mut self, org: usize, id: &RequestId, members: lcp::Object) -> Result<(), Broken> {
        let record_id = RecordId::fresh(&mut self.chance);
        let Some(org) = self.orgs.get_mut(org) else { return Ok(()) };
        let parent = org.payments.get(id).map(|payment| payment.record_id().clone());
        let parents: Vec<RecordId> = parent.into_iter().collect();
        self.tally.records += 1;
        let sealed = org.archive.seal(Kind::Order, &record_id, &parents, members, Papers::default(), self.now);
        sealed.map(|_| ()).map_err(|error| broken("the record is sealed", error))
    }

    /// Seals what happened beside a payment.
    pub(super) fn seal_linked(&mut self, org: usize, record: Option<LinkedRecord>) -> Result<(), Broken> {
        let (Some(record), Some(org)) = (record, self.orgs.get_mut(org)) else { return Ok(()) };
        let kind = match record.kind {
            LinkedKind::Consent => Kind::Consent,
            LinkedKind::Revocation => Kind::Revocation,
            LinkedKind::Pause => Kind::Pause,
            LinkedKind::Resume => Kind::Resume,
            LinkedKind::Order => Kind::Order,
        };
        self.tally.records += 1;
        let sealed = org.archive.seal(kind, &record.id, &record.parents, record.members, Papers::default(), self.now);
        sealed.map(|_| ()).map_err(|error| broken("the record is sealed", error))
    }

    /// What an agent is answered with.
    pub(super) fn answer_view(&self, payment: &Payment) -> Result<String, Broken> {
        let view = json::write(&payment.view(LINKS, true).into());
        let has_token = view.contains("tok_sandbox_");
        require(has_token == payment.is_usable(self.now), "a token while it may be used", || payment.id().to_string())?;
        Ok(view)
    }

    pub(super) fn member(&self, org: usize, place: usize) -> Option<&Member> {
        self.orgs.get(org)?.members.get(place)
    }
}

/// The payment as it is stored and read back, secrets and all.
fn reloaded(payment: &Payment) -> Result<Payment, Broken> {
    let lost = || broken("the stored state reads back", payment.id().to_string());
    let read = |object: lcp::Object| json::parse(&json::write(&object.into()), json::MAX_DEPTH).ok();
    let mut back = read(payment.to_stored()).and_then(|stored| Payment::from_stored(&stored)).ok_or_else(lost)?;
    if let Some(secrets) = payment.secrets() {
        read(secrets).and_then(|secrets| back.restore_secrets(&secrets)).ok_or_else(lost)?;
    }
    if back == *payment { Ok(back) } else { Err(lost()) }
}

/// The signed policy that a record names, if it is the one in force.
fn policy_of(payment: &Payment, in_force: Option<&record::Sealed>) -> Option<record::Sealed> {
    let named = payment.mandate().map(|mandate| mandate.terms.policy.hash).or_else(|| Some(payment.decision()?.policy.as_ref()?.hash))?;
    in_force.filter(|sealed| sealed.hash == named).cloned()
}

fn mandate_of(payment: &Payment) -> Option<String> {
    payment.mandate()?.jws().map(str::to_owned)
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, mandates, used, handed_off, approved, clarified, refused, replayed, records } = self;
        writeln!(
            f,
            "{requests} requests: {clarified} clarified, {approved} approved by a person, {handed_off} handed off, {replayed} answered again"
        )?;
        write!(f, "{mandates} mandates, {used} used; {refused} commands refused; {records} records sealed")
    }
}

impl Tally {
    fn note(&mut self, before: Option<&Payment>, after: &Payment, deed: Deed) {
        let is_new = |of: fn(&Payment) -> bool| u64::from(of(after) && !before.is_some_and(of));
        let issued = is_new(|payment| payment.mandate().is_some());
        self.mandates += issued;
        self.approved += if deed == Deed::Approved { issued } else { 0 };
        self.used += is_new(Payment::is_paid);
        self.handed_off += is_new(|payment| payment.hand_off_made().is_some());
        self.clarified += is_new(|payment| payment.state() == control::payment::RequestState::AwaitingClarification);
    }
}
