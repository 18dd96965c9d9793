//! The readers of the control plane's core: documents, bodies, texts, and what was stored.

use std::sync::Arc;

use control::{
    Asset, Currency, Fault, FaultCode, Ids, Instant, Money, Pointer, Refusal,
    actor::Actor,
    agent::{Agent, PauseReason, read_resume},
    card_number,
    consent::{Consent, ConsentCreate, ConsentSource, RevokeRequest},
    ids::{AgentId, RequestId},
    payee::{Domain, HttpsUrl, MAX_URL, Name},
    payment::{AnswersGiven, HandOffReport, Links, Payment, SellerOrder},
    policy::Policy,
    request::{Form, PaymentRequestCreate},
    seller::{self, Observation, VerifyRequest},
    settings::Settings,
    window::{WindowKind, Zone},
};
use lcp::{Hash, Object, Value, json};

use super::judge;

const NOW: Instant = Instant::from_millis(1_796_040_000_000);

/// The token that requests may name beside the currencies of ISO 4217.
fn assets() -> Vec<Arc<Asset>> {
    Asset::new("eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e", "USDC", 6).map(Arc::new).into_iter().collect()
}

/// Draws the same ids each time.
struct Same;

impl Ids for Same {
    fn draw(&mut self) -> [u8; 16] {
        [7; 16]
    }
}

/// A policy document that reads has a canonical text, which reads as the same document with the same hash.
pub fn policy_document(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let policy = match Policy::parse(source) {
        Ok(policy) => policy,
        Err(fault) => return judge::fault(&fault, &json::parse(source, json::MAX_DEPTH).unwrap_or(Value::Null)),
    };
    let canonical = json::canonical(policy.document()).unwrap_or_default();
    assert_eq!(*policy.hash(), Hash::of(canonical.as_bytes()));
    let again = Policy::parse(&canonical).unwrap_or_else(|fault| panic!("{fault}: {canonical}"));
    assert_eq!((again.hash(), json::canonical(again.document())), (policy.hash(), Some(canonical)));
    assert_eq!((&again.agents, &again.categories, &again.limits), (&policy.agents, &policy.categories, &policy.limits));
    assert_eq!((&again.approval, &again.zone, &again.rails, again.mode), (&policy.approval, &policy.zone, &policy.rails, policy.mode));
    assert_eq!((&again.intent, &again.finality_rules, &again.reversal), (&policy.intent, &policy.finality_rules, &policy.reversal));
}

/// A payment request that reads, in either form, has a canonical form. What it was understood as, with the intent as it was
/// given, reads as the same request, with no other assets than those that it names.
pub fn payment_request(data: &[u8]) {
    let Ok(body) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    let guarded = card_number::refuse(&body, control::request::TYPED_FIELDS);
    if let Err(fault) = &guarded {
        judge::fault(fault, &body);
    }
    for form in [Form::Rest, Form::Mcp] {
        let request = match PaymentRequestCreate::read(&body, form, &assets()) {
            Ok(request) => request,
            Err(fault) => {
                judge::fault(&fault, &body);
                continue;
            }
        };
        let shown = request.to_json();
        assert!(json::canonical(&shown.clone().into()).is_some());
        assert_eq!(PaymentRequestCreate::read(&body, form, &request.assets()).as_ref(), Ok(&request));
        let given = shown.clone().without("intent").with_some("intent", body.get("intent"));
        let again = PaymentRequestCreate::read(&given.into(), Form::Rest, &request.assets());
        assert_eq!(again.map(|again| again.to_json()), Ok(shown.clone()));
        assert!(request.payee.key().is_some() && request.payee.taker().is_some());
        // What was let through holds no card as it is printed, nor does what is made of it.
        assert!(guarded.is_err() || !judge::holds_card(&json::write(&shown.into())));
    }
}

/// The other bodies of the control plane, each read by every reader: a refusal says where, and none repeats what was sent.
pub fn plane_bodies(data: &[u8]) {
    fn judged<T>(read: Result<T, impl Into<Refusal>>, body: &Value) -> Option<T> {
        read.map_err(|refused| judge::refusal(&refused.into(), body)).ok()
    }
    let Ok(body) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    if let Some(given) = judged(AnswersGiven::read(&body), &body) {
        assert!((1..=10).contains(&given.answers.len()) && given.answers.iter().all(|(_, text)| !card_number::is_in(text)));
    }
    if let Some(report) = judged(HandOffReport::read(&body, &assets()), &body) {
        assert!(HttpsUrl::parse(&report.continue_url).is_ok());
    }
    judged(SellerOrder::read(&body, &assets()), &body);
    if let Some(mandate) = judged(seller::presented_mandate(&body), &body) {
        let asked = judged(VerifyRequest::read(&body, &assets()), &body);
        assert!(asked.is_none_or(|asked| asked.mandate == mandate));
        let observed = judged(Observation::read(&body, &assets()), &body);
        assert!(observed.is_none_or(|observed| observed.presented.mandate == mandate && observed.presented.amount == observed.order.report.total));
    }
    agent_bodies(&body);
    let revoked = judged(RevokeRequest::read(Some(&body)), &body);
    if let Some(asked) = judged(ConsentCreate::read(&body), &body) {
        consent_of(asked, &body);
    }
    if let (Some(revoked), Some(mut consent)) = (revoked, consent_of_nothing()) {
        judged(consent.revoke(&revoked, &Actor::System, NOW, &mut Same), &body);
        reads_back(&consent);
    }
    let mut settings = Settings::default();
    if judged(settings.update(&body), &body).is_some() {
        let secrets = settings.secrets().map(Value::from);
        assert_eq!(Settings::from_stored(&settings.to_stored().into(), secrets.as_ref()).as_ref(), Some(&settings));
        let shown = format!("{settings:?} {}", json::write(&settings.to_json().into()));
        let is_shown = |secret: &Value| secret.as_str().is_some_and(|secret| secret.len() > 20 && shown.contains(secret));
        let told = secrets.as_ref().and_then(Value::as_object).is_some_and(|secrets| secrets.iter().any(|(_, secret)| is_shown(secret)));
        // An issuer may be the same text as a secret: then it is not the secret that is shown.
        let repeated = secrets.as_ref().is_some_and(|secrets| {
            let public = json::write(&settings.to_stored().into());
            secrets.as_object().is_some_and(|secrets| secrets.iter().any(|(_, secret)| secret.as_str().is_some_and(|secret| public.contains(secret))))
        });
        assert!(!told || repeated, "{shown}");
    }
}

fn agent_bodies(body: &Value) {
    match Agent::create(body, NOW, &mut Same) {
        Ok(agent) => assert_eq!(Agent::from_stored(&agent.to_stored().into()), Some(agent)),
        Err(refused) => judge::refusal(&refused, body),
    }
    match PauseReason::read(body) {
        Ok(reason) => {
            let Some(mut agent) = office() else { return };
            assert!(agent.pause(reason, Actor::System, Vec::new(), NOW, &mut Same).is_some());
            assert_eq!(Agent::from_stored(&agent.to_stored().into()), Some(agent));
        }
        Err(refused) => judge::refusal(&refused, body),
    }
    if let Err(refused) = read_resume(body) {
        judge::refusal(&refused, body);
    }
}

fn office() -> Option<Agent> {
    Agent::create(&Object::new().with("name", "Office").into(), NOW, &mut Same).ok()
}

/// A consent that is given reads back from the store, and its record has a canonical form.
fn consent_of(asked: ConsentCreate, body: &Value) {
    let Some(agent) = office() else { return };
    match Consent::create(asked, &agent, ConsentSource::ALL[0], &Actor::System, NOW, &mut Same) {
        Ok((consent, record)) => {
            assert!(json::canonical(&record.members.into()).is_some());
            reads_back(&consent);
        }
        Err(refused) => judge::refusal(&refused, body),
    }
}

fn consent_of_nothing() -> Option<Consent> {
    let body = Object::new().with("agent_id", &AgentId::of([7; 16]));
    let asked = ConsentCreate::read(&body.into()).ok()?;
    Consent::create(asked, &office()?, ConsentSource::ALL[0], &Actor::System, NOW, &mut Same).ok().map(|(consent, _)| consent)
}

fn reads_back(consent: &Consent) {
    let text = json::write(&consent.to_stored().into());
    let again = json::parse(&text, json::MAX_DEPTH).ok().and_then(|stored| Consent::from_stored(&stored));
    assert_eq!(again.as_ref(), Some(consent));
}

/// What stands in the store is read or is not, whatever it is; what is read is written and read back as itself, and every
/// view of it can be made.
pub fn stored_documents(data: &[u8]) {
    let Ok(stored) = json::parse_bytes(data, json::MAX_DEPTH) else { return };
    if let Some(mut payment) = Payment::from_stored(&stored) {
        let text = json::write(&payment.to_stored().into());
        let again = json::parse(&text, json::MAX_DEPTH).ok().and_then(|stored| Payment::from_stored(&stored));
        assert_eq!(again.as_ref(), Some(&payment), "{text}");
        let _ = payment.restore_secrets(&Object::new().with("jws", "a.b.c").with("salt", "00").into());
        for secrets in [false, true] {
            let _ = (payment.view(Links { base: "https://pay.example" }, secrets), payment.mandate_view(secrets));
        }
        let _ = (payment.record_members(), payment.summary(), payment.counted(), payment.earlier(), payment.is_usable(NOW), payment.secrets());
        for now in [Instant::MIN, NOW, Instant::MAX] {
            payment.tick(now);
        }
        let _ = (payment.due(), payment.view(Links { base: "https://pay.example" }, true), payment.record_members());
    }
    if let Some(mut consent) = Consent::from_stored(&stored) {
        reads_back(&consent);
        for now in [Instant::MIN, NOW, Instant::MAX] {
            let _ = (consent.to_json(now, None), consent.covers(now), consent.due(), consent.tick(now));
        }
    }
    if let Some(mut agent) = Agent::from_stored(&stored) {
        assert_eq!(Agent::from_stored(&agent.to_stored().into()).as_ref(), Some(&agent));
        let _ = (agent.to_json(), agent.resume(&Actor::System, NOW, &mut Same));
    }
    if let Some(settings) = Settings::from_stored(&stored, Some(&stored)) {
        let secrets = settings.secrets().map(Value::from);
        assert_eq!(Settings::from_stored(&settings.to_stored().into(), secrets.as_ref()), Some(settings));
    }
}

/// A text of the control plane's own forms has one spelling, which reads as the same.
pub fn plane_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(domain) = Domain::parse(text) {
        assert_eq!(Domain::parse(domain.as_str()).as_ref(), Ok(&domain));
        assert!(domain.is_on(&domain) && domain.as_str().ends_with(domain.registrable()) && !domain.unicode().is_empty());
    }
    if let Ok(url) = HttpsUrl::parse(text) {
        assert!(url.as_str().len() <= MAX_URL && HttpsUrl::parse(url.as_str()).as_ref() == Ok(&url), "{text:?} {url}");
    }
    if let Some(name) = Name::new(text) {
        assert!(Name::new(name.normal()).is_some_and(|again| again.normal() == name.normal()), "{text:?}");
        let _ = (name.shown(), name.is_confusable());
    }
    assert!(Instant::parse(text).is_none_or(|instant| Instant::parse(&instant.to_string()) == Some(instant)));
    assert!(Zone::parse(text).is_none_or(|zone| Zone::parse(zone.name()).is_some_and(|again| again.name() == zone.name())));
    if let Some(zone) = Zone::parse(text) {
        // The last instant of all ends the last window.
        for now in [Instant::MIN, NOW, Instant::MAX.minus_seconds(1)] {
            for kind in [WindowKind::Day, WindowKind::Week, WindowKind::Month] {
                assert!(kind.at(&zone, now).has(now), "{text} {now}");
            }
        }
    }
    let usdc = assets().into_iter().next().map(Currency::Asset);
    for currency in ["USD", "JPY", "KWD"].into_iter().filter_map(Currency::iso).chain(usdc) {
        assert!(Money::parse(text, &currency).ok().is_none_or(|money| Money::parse(&money.decimal(), &currency) == Ok(money)), "{text}");
    }
    assert!(Currency::find(text, &assets()).is_none_or(|currency| Currency::find(currency.code(), &assets()) == Some(currency)));
    assert!(Actor::parse(text).is_none_or(|actor| actor.to_string() == text));
    assert!(RequestId::parse(text).is_none_or(|id| id.as_str() == text));
    card(text);
}

/// Whatever stands around it on lines of its own, a card number is found; what is found without it is found with it.
fn card(text: &str) {
    let card = judge::CARD;
    assert!(card_number::is_in(&format!("{text}\n\n\n\n{card}\n\n\n\n{text}")), "{text:?}");
    let value = Value::from(vec![Value::from(text), Object::new().with(text, card).into()]);
    let hit = card_number::find(&value, &[]);
    assert!(hit.is_some_and(|hit| hit.pointer.as_str().starts_with('/')));
    let _ = (Pointer::root().member(text).matches("/*"), FaultCode::parse(text), Fault::new(&Pointer::root(), FaultCode::NotJson, ""));
}
