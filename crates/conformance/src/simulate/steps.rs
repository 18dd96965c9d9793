//! The steps of the simulation: who does what next.

use control::{
    actor::Actor,
    agent::PauseReason,
    card_number,
    consent::{Cascade, Consent, ConsentCreate, ConsentEnd, ConsentSource, ConsentState, RevokeRequest},
    decision::{KeyState, NoPolicy, find_duplicate},
    ids::{ApprovalId, MandateId, RequestId},
    intent::Source,
    mandate::{MandateState, VoidReason},
    payment::{AnswersGiven, HandOffReport, Payment, Reported, RequestState, SellerOrder},
    request::{Form, PaymentRequestCreate, TYPED_FIELDS},
};
use lcp::{Hash, Object, Value, json};

use super::{
    invariants::{Broken, Deed, broken, require},
    moments::Concerned,
    org::{FirstAnswer, Member},
    scene,
    world::World,
};

impl World {
    /// One step.
    pub(super) fn step(&mut self) -> Result<(), Broken> {
        // At the very moment at which something changes, whom it concerns acts before any timer ran.
        match self.pass_time() {
            Some(Concerned::Payment(org, id)) if self.chance.one_in(2) => return self.someone_acts_on(org, &id),
            Some(Concerned::Member(org, place)) if !self.chance.one_in(3) => return self.asks_anew(org, place, true),
            _ => {}
        }
        // Now and then the timers are late: commands must judge the time themselves.
        if !self.chance.one_in(4) {
            self.run_due()?;
        }
        let org = self.chance.index(self.orgs.len());
        match self.chance.below(100) {
            0..26 => self.someone_asks(org),
            26..31 => self.someone_asks_again(org),
            31..41 => self.someone_answers(org),
            41..54 => self.someone_clicks(org),
            54..74 => self.a_payee_takes(org),
            74..80 => self.someone_hands_off(org),
            80..82 => self.someone_pauses(org),
            82..85 => self.someone_consents(org),
            85..88 => self.someone_changes_the_rules(org),
            88..90 => {
                let fails = self.chance.one_in(8);
                self.set_rail(fails);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whoever can do something to a payment does it.
    fn someone_acts_on(&mut self, org: usize, id: &RequestId) -> Result<(), Broken> {
        match self.orgs[org].payments.get(id).map(Payment::state) {
            Some(RequestState::AwaitingClarification) => self.answers(org, id),
            Some(RequestState::AwaitingApproval) => self.clicks(org, id),
            Some(RequestState::HandedOff) => self.hands_off(org, id),
            Some(_) => self.takes(org, id),
            None => Ok(()),
        }
    }

    /// What time alone does.
    pub(super) fn run_due(&mut self) -> Result<(), Broken> {
        for org in 0..self.orgs.len() {
            while let Some((at, id)) = self.orgs[org].due.first().cloned().filter(|(at, _)| *at <= self.now) {
                let now = self.now;
                self.command(org, &id, Deed::TimePassed, |payment, _, _| {
                    payment.tick(now);
                    Ok(Reported::InRecord)
                })?;
                let is_done = !self.orgs[org].due.contains(&(at, id.clone()));
                require(is_done, "what is due is done", || format!("{id} at {at}"))?;
            }
            for place in 0..self.orgs[org].members.len() {
                self.tick_consent(org, place)?;
            }
        }
        Ok(())
    }

    fn someone_asks(&mut self, org: usize) -> Result<(), Broken> {
        let place = self.chance.index(self.orgs[org].members.len());
        let is_tight = self.chance.one_in(3);
        self.asks_anew(org, place, is_tight)
    }

    /// An agent asks for something new; a tight request is for just what its budgets have room for, or one unit more.
    fn asks_anew(&mut self, org: usize, place: usize, is_tight: bool) -> Result<(), Broken> {
        let Some(tender) = self.member(org, place).map(|member| member.tender) else { return Ok(()) };
        let room = if is_tight { self.room(org, place) } else { None };
        let units = room.map(|room| room + self.chance.below(2));
        let body = Value::from(scene::request(tender, units, &mut self.chance));
        let key = if self.chance.one_in(2) { Some(format!("key-{}", self.chance.below(200_000))) } else { None };
        self.asks(org, place, key, &body)
    }

    /// A key that was used before comes again, with the same body or another.
    fn someone_asks_again(&mut self, org: usize) -> Result<(), Broken> {
        let place = self.chance.index(self.orgs[org].answered.len());
        let Some((agent, key)) = self.orgs[org].answered.keys().nth(place).cloned() else { return Ok(()) };
        let Some(answer) = self.orgs[org].answered.get(&(agent.clone(), key.clone())) else { return Ok(()) };
        let Some(payment) = self.orgs[org].payments.get(&answer.request) else { return Ok(()) };
        let mut body = payment.source().clone();
        if self.chance.one_in(3)
            && let Some(object) = body.as_object()
        {
            body = object.clone().with("purpose", "something else").into();
        }
        let place = self.orgs[org].place_of(&agent);
        self.asks(org, place, Some(key), &body)
    }

    /// What the service does with a request: its key first, then the guard and the reader, then the decision.
    fn asks(&mut self, org: usize, place: usize, key: Option<String>, body: &Value) -> Result<(), Broken> {
        let Some(member) = self.member(org, place) else { return Ok(()) };
        let agent = member.agent.id.clone();
        let digest = Hash::of(json::write_sorted(body).as_bytes());
        let requests = self.tally.requests;
        if let Some(first) = key.as_ref().and_then(|key| self.orgs[org].answered.get(&(agent.clone(), key.clone()))) {
            if first.body == digest {
                self.tally.replayed += 1;
                let first = first.view.clone();
                return self.is_answered_the_same(org, &agent, key.as_deref(), &first, requests);
            }
            self.tally.refused += 1;
            return Ok(());
        }
        if card_number::find(body, TYPED_FIELDS).is_some() {
            self.tally.refused += 1;
            return Ok(());
        }
        let assets = member.policy.as_ref().map(|signed| signed.policy.assets()).unwrap_or_default();
        let request = PaymentRequestCreate::read(body, Form::Rest, &assets).map_err(|fault| broken("the scene", fault.to_string()))?;
        if key.is_none() && self.is_duplicate(org, place, &request) {
            self.tally.replayed += 1;
            return Ok(());
        }
        let payment = self.ask(org, place, body, request)?;
        if key.is_some() || payment.mandate().is_some() {
            let (view, request) = (self.answer_view(&payment)?, payment.id().clone());
            if let Some(key) = key {
                self.orgs[org].answered.insert((agent, key), FirstAnswer { body: digest, view, request });
            }
        }
        self.save(org, None, payment, Deed::Asked)
    }

    /// A replay asks for nothing, and its answer is the first one.
    fn is_answered_the_same(&self, org: usize, agent: &control::ids::AgentId, key: Option<&str>, first: &str, requests: u64) -> Result<(), Broken> {
        let held = key.and_then(|key| self.orgs[org].answered.get(&(agent.clone(), key.to_owned())));
        let is_same = held.is_some_and(|held| held.view == first) && self.tally.requests == requests;
        require(is_same, "the same key is answered the same", || key.unwrap_or_default().to_owned())
    }

    /// Without a key, the same facts inside the window are the request that was made before.
    fn is_duplicate(&self, org: usize, place: usize, request: &PaymentRequestCreate) -> bool {
        let Some(member) = self.member(org, place) else { return false };
        let Ok(signed) = &member.policy else { return false };
        let known = self.orgs[org].known(place, request.payee.key().as_ref(), self.now);
        find_duplicate(known.earlier(), request, &RequestId::of([0; 16]), &signed.policy, self.now).is_some()
    }

    /// One of the payments that have not ended, or now and then one that has.
    fn some_payment(&mut self, org: usize, wanted: impl Fn(&Payment) -> bool) -> Option<RequestId> {
        let org = self.orgs.get(org)?;
        let open = org.due.iter().map(|(_, id)| id);
        let ended = org.ended.iter().rev().take(6).map(|(_, id)| id);
        let any = self.chance.one_in(8);
        let mut found: Vec<&RequestId> = open.filter(|id| any || org.payments.get(*id).is_some_and(&wanted)).collect();
        if any {
            found.extend(ended);
        }
        if found.is_empty() {
            return None;
        }
        let place = self.chance.index(found.len());
        found.get(place).map(|id| (*id).clone())
    }

    fn someone_answers(&mut self, org: usize) -> Result<(), Broken> {
        let Some(id) = self.some_payment(org, |payment| payment.state() == RequestState::AwaitingClarification) else { return Ok(()) };
        self.answers(org, &id)
    }

    fn answers(&mut self, org: usize, id: &RequestId) -> Result<(), Broken> {
        let Some(payment) = self.orgs[org].payments.get(id) else { return Ok(()) };
        let tender = self.member(org, self.orgs[org].place_of(payment.agent())).map(|member| member.tender);
        let questions = payment.decision().map(|decision| decision.questions.clone()).unwrap_or_default();
        let Some(tender) = tender.filter(|_| !questions.is_empty()) else { return Ok(()) };
        let answered = if self.chance.one_in(4) { 1 } else { questions.len() };
        let chance = &mut self.chance;
        let answers: Vec<Value> = questions
            .iter()
            .take(answered)
            .map(|question| {
                let text = scene::answer(question.slot.as_str(), tender, chance);
                Object::new().with("question_id", &question.id).with("answer", text).into()
            })
            .collect();
        let by = if self.chance.one_in(3) { Source::Agent } else { Source::User };
        let body = Object::new().with("answers", answers).with("answered_by", by.as_str());
        let AnswersGiven { answers, by } = AnswersGiven::read(&body.into()).map_err(|fault| broken("the scene", fault.to_string()))?;
        let before = self.orgs[org].payments.get(id).cloned();
        self.command(org, id, Deed::Answered, |payment, standing, desk| payment.answer(&answers, by, standing, desk).map(|()| Reported::InRecord))?;
        // An answer in the words of before changes nothing, whenever it comes; one that says something new is in time.
        let is_late = before.as_ref().and_then(Payment::due).is_none_or(|due| due <= self.now);
        require(!is_late || before.as_ref() == self.orgs[org].payments.get(id), "an answer in time", || id.to_string())
    }

    /// A person clicks, sometimes twice, sometimes on a page that is out of date.
    fn someone_clicks(&mut self, org: usize) -> Result<(), Broken> {
        let Some(id) = self.some_payment(org, |payment| payment.state() == RequestState::AwaitingApproval) else { return Ok(()) };
        self.clicks(org, &id)
    }

    fn clicks(&mut self, org: usize, id: &RequestId) -> Result<(), Broken> {
        let shown = self.orgs[org].payments.get(id).and_then(Payment::approval).map(|approval| (approval.digest.clone(), approval.expires_at));
        let is_stale = self.chance.one_in(8);
        let digest = match &shown {
            Some((digest, _)) if !is_stale => digest.clone(),
            _ => format!("sha256:{}", "0".repeat(64)),
        };
        let by = self.people[self.chance.index(2)].clone();
        let clicks = if self.chance.one_in(4) { 2 } else { 1 };
        for _ in 0..clicks {
            let before = self.orgs[org].payments.get(id).is_some_and(|payment| payment.mandate().is_some());
            let refusal = if self.chance.one_in(5) {
                self.command(org, id, Deed::Declined, |payment, standing, desk| {
                    payment.decline(&by, &digest, standing, desk).map(|()| Reported::InRecord)
                })?
            } else {
                self.command(org, id, Deed::Approved, |payment, standing, desk| {
                    payment.approve(&by, &digest, standing, desk).map(|()| Reported::InRecord)
                })?
            };
            let after = self.orgs[org].payments.get(id).is_some_and(|payment| payment.mandate().is_some());
            let is_late = shown.as_ref().is_none_or(|(_, expires_at)| *expires_at <= self.now);
            require(before == after || !is_late, "an approval in time", || id.to_string())?;
            require(!is_stale || refusal.is_some(), "an approval binds what was shown", || id.to_string())?;
        }
        Ok(())
    }

    /// A payee reports an order, sometimes twice, sometimes another one for the same mandate.
    fn a_payee_takes(&mut self, org: usize) -> Result<(), Broken> {
        let Some(id) = self.some_payment(org, |payment| payment.mandate().is_some_and(|mandate| mandate.state == MandateState::Issued)) else {
            return Ok(());
        };
        self.takes(org, &id)
    }

    fn takes(&mut self, org: usize, id: &RequestId) -> Result<(), Broken> {
        let Some(payment) = self.orgs[org].payments.get(id) else { return Ok(()) };
        let (amount, assets) = (payment.request().amount.clone(), payment.request().assets());
        let digits = u32::from(amount.currency().exponent());
        let units = u32::try_from(amount.units()).unwrap_or(u32::MAX - 1);
        let chance = &mut self.chance;
        let (total, is_over) = match chance.below(8) {
            0 => (None, false),
            1 => (Some(units + 1), true),
            2 => (Some(units.saturating_sub(1)), false),
            _ => (Some(units), false),
        };
        let is_foreign = chance.one_in(20);
        let currency = if is_foreign { Value::from("CHF") } else { amount.currency().into() };
        let total =
            total.map(|units| Object::new().with("value", scene::decimal(units, if is_foreign { 2 } else { digits })).with("currency", currency));
        let refused_for_total = total.is_some() && (is_over || is_foreign);
        let order = |number: u32| {
            let body = Object::new().with("id", format!("order-{number}")).with("status", "completed").with_some("total", total.clone());
            SellerOrder::read(&body.into(), &assets).map_err(|fault| broken("the scene", fault.to_string()))
        };
        let first = chance.below(3);
        let second = chance.below(3);
        for number in [first, second].into_iter().take(if chance.one_in(3) { 2 } else { 1 }).collect::<Vec<_>>() {
            let taken = order(number)?;
            let held = self.orgs[org].payments.get(id).cloned();
            let refusal = self.command(org, id, Deed::Consumed, |payment, _, desk| payment.consume(taken, desk).map(|()| Reported::InRecord))?;
            let Some(held) = held else { return Ok(()) };
            let is_same_order = held.order().is_some_and(|order| order.report.id == format!("order-{number}"));
            let may = is_same_order || (held.is_usable(self.now) && !refused_for_total);
            require(refusal.is_none() == may, "a mandate is used once", || {
                format!("{id}: {:?} for order-{number} on {:?}", refusal.map(|refusal| refusal.code), held.mandate().map(|mandate| mandate.state))
            })?;
        }
        Ok(())
    }

    fn someone_hands_off(&mut self, org: usize) -> Result<(), Broken> {
        let may = |payment: &Payment| payment.mandate().is_some() || payment.state() == RequestState::HandedOff;
        let Some(id) = self.some_payment(org, may) else { return Ok(()) };
        self.hands_off(org, &id)
    }

    fn hands_off(&mut self, org: usize, id: &RequestId) -> Result<(), Broken> {
        let Some(payment) = self.orgs[org].payments.get(id) else { return Ok(()) };
        let (assets, amount) = (payment.request().assets(), payment.request().amount.clone());
        let domain = payment.request().payee.domain.as_ref().map_or("shop.example", control::payee::Domain::as_str).to_owned();
        let host = if self.chance.one_in(10) { "elsewhere.example".to_owned() } else { domain };
        let page = format!("https://{host}/checkout/{}", u32::from(self.chance.one_in(6)));
        let total = self.chance.one_in(2).then(|| amount.to_json());
        let order = self.chance.one_in(2).then(|| Object::new().with("id", format!("page-{}", self.chance.below(2))).with_some("total", total));
        let body = Object::new().with("continue_url", page).with_some("order", order);
        let report = HandOffReport::read(&body.into(), &assets).map_err(|fault| broken("the scene", fault.to_string()))?;
        self.command(org, id, Deed::HandedOff, |payment, _, desk| payment.hand_off(&report.continue_url, report.order, desk))?;
        Ok(())
    }

    /// One of the members, rather one of whom this holds: what stands in the way of payments is soon put right.
    fn some_member(&mut self, org: usize, wanted: impl Fn(&Member) -> bool) -> usize {
        let any = self.chance.index(self.orgs[org].members.len());
        self.orgs[org].members.iter().position(wanted).unwrap_or(any)
    }

    fn someone_pauses(&mut self, org: usize) -> Result<(), Broken> {
        let place = self.some_member(org, |member| member.agent.paused.is_some());
        if self.orgs[org].members[place].agent.paused.is_none() && !self.chance.one_in(3) {
            return Ok(());
        }
        let (now, by) = (self.now, Actor::Person(self.people[0].clone()));
        let body = Object::new().with("reason", "to be looked at");
        let reason = PauseReason::read(&body.into()).map_err(|refusal| broken("the scene", refusal.to_string()))?;
        let agent = &mut self.orgs[org].members[place].agent;
        let record = if agent.facts().is_paused {
            agent.resume(&by, now, &mut self.chance)
        } else {
            agent.pause(reason, by, Vec::new(), now, &mut self.chance)
        };
        self.seal_linked(org, record)
    }

    fn someone_consents(&mut self, org: usize) -> Result<(), Broken> {
        let now = self.now;
        let place = self.some_member(org, |member| member.consent.as_ref().is_none_or(|consent| consent.state(now) != ConsentState::Active));
        let (now, by) = (self.now, Actor::Person(self.people[1].clone()));
        let chance = &mut self.chance;
        let member = &mut self.orgs[org].members[place];
        let scene = |refusal: control::Refusal| broken("the scene", refusal.to_string());
        let record = match &mut member.consent {
            Some(consent) if consent.state(now) == ConsentState::Active => {
                let at = chance.one_in(2).then(|| now.plus_seconds(chance.below(200_000)));
                let body = Object::new().with_some("effective_at", at).with("cascades_scheduled", chance.one_in(2));
                let asked = RevokeRequest::read(Some(&body.into())).map_err(scene)?;
                consent.revoke(&asked, &by, now, chance).map_err(scene)?
            }
            _ => {
                let until = chance.one_in(2).then(|| now.plus_seconds(chance.between(1, 400_000)));
                let body = Object::new().with("agent_id", &member.agent.id).with_some("valid_until", until);
                let asked = ConsentCreate::read(&body.into()).map_err(scene)?;
                let (consent, record) = Consent::create(asked, &member.agent, ConsentSource::Api, &by, now, chance).map_err(scene)?;
                member.consent = Some(consent);
                Some(record)
            }
        };
        self.seal_linked(org, record)?;
        self.tick_consent(org, place)
    }

    /// A consent ends in time, and its cascade is carried out.
    fn tick_consent(&mut self, org: usize, place: usize) -> Result<(), Broken> {
        let now = self.now;
        let member = &mut self.orgs[org].members[place];
        let Some(consent) = &mut member.consent else { return Ok(()) };
        if consent.due().is_none_or(|due| due > now) {
            return Ok(());
        }
        let stored = Consent::from_stored(&consent.to_stored().into());
        require(stored.as_ref() == Some(consent), "the stored state reads back", || consent.id.to_string())?;
        let end = consent.tick(now);
        require(end.is_some() && consent.due().is_none_or(|due| due > now), "what is due is done", || format!("{} is {end:?} at {now}", consent.id))?;
        let Some(ConsentEnd::Revoked { cascades: true }) = end else { return Ok(()) };
        let parents = consent.revocation().map(|revocation| revocation.record_id.clone()).into_iter().collect();
        let agent = member.agent.id.clone();
        let paused = member.agent.pause(PauseReason::consent_revoked(), Actor::System, parents, now, &mut self.chance);
        let pause_record_id = paused.as_ref().map(|record| record.id.clone());
        self.seal_linked(org, paused)?;
        let (mut mandates_voided, mut approvals_expired): (Vec<MandateId>, Vec<ApprovalId>) = (Vec::new(), Vec::new());
        let held = &self.orgs[org];
        let mine = |id: &RequestId| held.payments.get(id).is_some_and(|payment| *payment.agent() == agent);
        let open: Vec<RequestId> = held.due.iter().map(|(_, id)| id.clone()).filter(mine).collect();
        for id in open {
            if let Some(payment) = self.orgs[org].payments.get(&id) {
                mandates_voided.extend(payment.mandate().filter(|_| payment.is_usable(now)).map(|mandate| mandate.id.clone()));
                approvals_expired.extend(payment.approval().filter(|_| payment.state() == RequestState::AwaitingApproval).map(|it| it.id.clone()));
            }
            self.command(org, &id, Deed::TimePassed, |payment, _, _| {
                payment.tick(now);
                Ok(Reported::InRecord)
            })?;
            self.command(org, &id, Deed::Withdrawn, |payment, _, desk| {
                payment.void(VoidReason::ConsentRevoked, desk);
                Ok(Reported::InRecord)
            })?;
            let is_usable = self.orgs[org].payments.get(&id).is_some_and(|payment| payment.is_usable(now));
            require(!is_usable, "a cascade leaves no mandate", || id.to_string())?;
        }
        let cascade = Cascade { applied_at: now, mandates_voided, pause_record_id, approvals_expired };
        if let Some(consent) = &mut self.orgs[org].members[place].consent {
            consent.cascaded(cascade);
        }
        Ok(())
    }

    /// A new policy version, none at all, or a key that is revoked or given anew.
    fn someone_changes_the_rules(&mut self, org: usize) -> Result<(), Broken> {
        let has_none = |member: &Member| member.policy.is_err() || member.key_state == KeyState::Revoked;
        let place = self.some_member(org, has_none);
        let held = &mut self.orgs[org];
        let member = &mut held.members[place];
        match self.chance.below(8) {
            _ if has_none(member) => {
                member.key_state = KeyState::Active;
                member.sign_policy(held.archive.key(), &mut self.chance).map_err(|error| broken("the scene", error))?;
            }
            0 => member.policy = Err(NoPolicy::Missing),
            1 => member.policy = Err(NoPolicy::SignatureInvalid),
            2 => member.key_state = KeyState::Revoked,
            _ => member.sign_policy(held.archive.key(), &mut self.chance).map_err(|error| broken("the scene", error))?,
        }
        Ok(())
    }
}
