//! What time does, across restarts: approvals and mandates expire, hand-offs seal, revocations take effect. The clock is
//! the test's own.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use control::{Instant, request::Form};
use lcp::{Object, Value, json};
use plane::{purchase, text};
use server::{
    Caller, Problem, Service,
    service::{Clock, FirstStart, Paths, ServiceOptions, Verdict},
    temp_folder::TempFolder,
};

/// A clock that is set by hand, and goes on through a restart.
#[derive(Clone)]
struct Hands(Arc<AtomicI64>);

impl Clock for Hands {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.load(Ordering::Relaxed))
    }
}

struct Place {
    folder: TempFolder,
    hands: Hands,
    service: Service,
    first: FirstStart,
    agent: Caller,
    developer: Caller,
}

impl Place {
    async fn new() -> Self {
        let folder = TempFolder::new().unwrap();
        let hands = Hands(Arc::new(AtomicI64::new(Instant::parse("2026-11-30T12:00:00Z").unwrap().millis())));
        let service = open(&folder, &hands).await;
        let first = service.first_start().await.unwrap().unwrap();
        let agent = service.authenticate(&first.agent_key).await.unwrap();
        let developer = service.authenticate(&first.developer_key).await.unwrap();
        Self { folder, hands, service, first, agent, developer }
    }

    fn wait(&self, seconds: u32) {
        self.hands.0.fetch_add(i64::from(seconds) * 1000, Ordering::Relaxed);
    }

    /// Ends the process and starts it again, and does what is due, as a server does.
    async fn restart(&mut self) -> usize {
        self.service = open(&self.folder, &self.hands).await;
        self.service.run_due().await.unwrap()
    }

    async fn ask(&self, value: &str, purpose: &str) -> Object {
        let body: Value = purchase(value, purpose).into();
        self.service.request_payment(&self.agent, &body, Form::Rest, Some(purpose)).await.unwrap().view
    }

    async fn get(&self, asked: &Object) -> Value {
        self.service.payment_request(&self.agent, of(asked, &["id"]), 0).await.unwrap().into()
    }

    async fn verdict(&self, asked: &Object) -> String {
        let report: Value = self.service.verify_record(&self.agent, of(asked, &["record_id"])).await.unwrap().into();
        text(&report, &["verdict"]).to_owned()
    }
}

async fn open(folder: &TempFolder, hands: &Hands) -> Service {
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let options = ServiceOptions { clock: Box::new(hands.clone()), ..ServiceOptions::sandbox("http://127.0.0.1:1") };
    Service::open(&Paths { database: at("chancery.db"), master_key: at("master.key") }, options).await.unwrap()
}

fn of<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    text(object.get(path[0]).unwrap_or_else(|| panic!("{path:?}")), &path[1..])
}

#[tokio::test]
async fn a_mandate_expires_and_its_amount_comes_back() {
    let mut place = Place::new().await;
    // The day has room for 500.00: ten of 50.00, and no more.
    let mut asked = Vec::new();
    for number in 0..10 {
        asked.push(place.ask("50.00", &format!("purchase {number}")).await);
    }
    assert!(asked.iter().all(|view| of(view, &["decision", "result"]) == "allow"));
    let eleventh = place.ask("50.00", "purchase 10").await;
    assert_eq!((of(&eleventh, &["decision", "result"]), place.verdict(&eleventh).await), ("deny", "verified".to_owned()));

    place.wait(3599);
    assert_eq!(place.restart().await, 0);
    assert_eq!((text(&place.get(&asked[0]).await, &["state"]), place.verdict(&asked[0]).await), ("decided", "open".to_owned()));
    place.wait(1);
    assert_eq!(place.restart().await, 10);
    let expired = place.get(&asked[0]).await;
    assert_eq!((text(&expired, &["state"]), text(&expired, &["mandate", "state"])), ("expired", "expired"));
    assert!(!json::write(&expired).contains("tok_sandbox_"));
    assert_eq!(place.verdict(&asked[0]).await, "verified");
    // The room is there again.
    assert_eq!(of(&place.ask("50.00", "purchase 11").await, &["decision", "result"]), "allow");
    // A mandate whose time is over is not good for its payee.
    let seller = place.service.authenticate(&place.first.seller_key).await.unwrap();
    let verify: Value = Object::new().with("mandate", of(&asked[0], &["mandate", "jws"])).into();
    let told = place.service.verify_mandate(&seller, &verify).await.unwrap();
    assert_eq!(json::write(told.get("reasons").unwrap()), r#"["mandate_expired"]"#);
}

#[tokio::test]
async fn an_approval_that_nobody_answers_expires() {
    let mut place = Place::new().await;
    let asked = place.ask("80.00", "a chair").await;
    assert_eq!(of(&asked, &["state"]), "awaiting_approval");
    place.wait(3600);
    // A read that comes before the job sees what is so, not what was.
    assert_eq!(text(&place.get(&asked).await, &["state"]), "expired");
    assert_eq!(place.restart().await, 0);
    assert_eq!((text(&place.get(&asked).await, &["approval", "state"]), place.verdict(&asked).await), ("expired", "verified".to_owned()));
    // And the click of somebody who had the page open decides nothing.
    let link = place.service.admin(server::admin::AdminCommand::UserLink { login: "owner".into() }).await.unwrap();
    let token = of(&link, &["setup_url"]).rsplit('/').next().unwrap().to_owned();
    let session = place.service.set_password(&token, "correct horse battery").await.unwrap();
    let person = place.service.person(&session.0).await.unwrap();
    let page = place.service.approval_page(&person, of(&asked, &["approval", "id"])).await.unwrap();
    let clicked = place.service.decide_approval(&person, &page.id, &page.digest, Verdict::Approve).await.unwrap_err();
    assert_eq!((clicked.status, &*clicked.code), (409, "approval_expired"));
    assert!(place.get(&asked).await.get("mandate").unwrap().is_null());
}

#[tokio::test]
async fn a_hand_off_seals_after_fifteen_minutes_and_a_late_order_is_linked() {
    let mut place = Place::new().await;
    let asked = place.ask("12.00", "a lamp").await;
    let id = of(&asked, &["id"]).to_owned();
    let url = "https://sandbox-shop.example/checkout/1";
    let report: Value = Object::new().with("continue_url", url).into();
    place.service.hand_off(&place.agent, &id, &report).await.unwrap();
    place.wait(899);
    assert_eq!((place.restart().await, place.verdict(&asked).await), (0, "open".to_owned()));
    place.wait(1);
    assert_eq!((place.restart().await, place.verdict(&asked).await), (1, "verified".to_owned()));
    let sealed = place.service.record_text(&place.agent, of(&asked, &["record_id"])).await.unwrap();
    let order = Object::new().with("id", "late-1").with("status", "placed");
    let late: Value = Object::new().with("continue_url", url).with("order", order).into();
    place.service.hand_off(&place.agent, &id, &late).await.unwrap();
    assert_eq!(place.service.record_text(&place.agent, of(&asked, &["record_id"])).await.unwrap(), sealed);
    let linked: Value = place.service.linked(&place.agent, of(&asked, &["record_id"]), &std::collections::BTreeMap::new()).await.unwrap().into();
    let linked = linked.get("data").unwrap().as_array().unwrap();
    assert_eq!(linked.iter().map(|record| text(record, &["kind"])).collect::<Vec<_>>(), ["order"]);
    let report: Value = place.service.verify_record(&place.agent, text(&linked[0], &["id"])).await.unwrap().into();
    assert_eq!(text(&report, &["verdict"]), "verified");
}

#[tokio::test]
async fn a_scheduled_revocation_takes_effect_with_its_cascade() {
    let mut place = Place::new().await;
    let agent_id = place.first.agent.to_string();
    let body: Value = Object::new().with("agent_id", agent_id.as_str()).into();
    let consent: Value = place.service.create_consent(&place.developer, &body).await.unwrap().into();
    let consent = text(&consent, &["id"]).to_owned();
    let (mandated, waiting) = (place.ask("12.00", "paper").await, place.ask("80.00", "a chair").await);
    let revoke: Value = Object::new().with("effective_at", "2026-11-30T12:30:00Z").with("cascades_scheduled", true).into();
    let revoked: Value = place.service.revoke_consent(&place.developer, &consent, Some(&revoke)).await.unwrap().into();
    assert_eq!(text(&revoked, &["state"]), "active");
    place.wait(1799);
    place.restart().await;
    assert_eq!(of(&place.ask("13.00", "ink").await, &["decision", "result"]), "allow", "until then it is in force");
    place.wait(1);
    place.restart().await;
    let revoked: Value = place.service.consent(&place.developer, &consent).await.unwrap().into();
    assert_eq!(text(&revoked, &["state"]), "revoked");
    let cascade = revoked.get("revocation").unwrap().get("cascade").unwrap();
    // The paper's. The ink's was asked for when the end was known: its mandate is good until then, and has expired.
    assert_eq!(json::write(cascade.get("mandates_voided").unwrap()), format!(r#"["{}"]"#, of(&mandated, &["mandate", "id"])));
    assert_eq!(cascade.get("approvals_expired").unwrap().as_array().unwrap().len(), 1);
    assert_eq!(cascade.get("agent_paused"), Some(&Value::Bool(true)));
    for asked in [&mandated, &waiting] {
        assert_eq!((text(&place.get(asked).await, &["state"]), place.verdict(asked).await), ("expired", "verified".to_owned()));
    }
    let denied = place.ask("14.00", "more ink").await;
    let reasons = json::write(denied.get("decision").unwrap().get("reasons").unwrap());
    assert!(reasons.contains("agent_paused") && reasons.contains("consent_revoked"), "{reasons}");
}

#[tokio::test]
async fn a_clock_that_jumps_back_breaks_nothing() {
    let place = Place::new().await;
    let before = place.ask("12.00", "paper").await;
    place.hands.0.fetch_sub(86_400_000, Ordering::Relaxed);
    let after = place.ask("13.00", "ink").await;
    assert_eq!(of(&after, &["decision", "result"]), "allow");
    let denied = place.ask("900.00", "a car").await;
    assert_eq!(place.verdict(&denied).await, "verified");
    place.hands.0.fetch_add(2 * 86_400_000, Ordering::Relaxed);
    assert_eq!(place.service.run_due().await.unwrap(), 2);
    for asked in [&before, &after] {
        assert_eq!(place.verdict(asked).await, "verified");
    }
}

#[tokio::test]
async fn a_rail_that_fails_hands_the_checkout_to_a_person() {
    let place = Place::new().await;
    let fail = |on| server::admin::AdminCommand::RailFail { on };
    place.service.admin(fail(true)).await.unwrap();
    let failed = place.ask("12.00", "paper").await;
    assert_eq!(
        (of(&failed, &["state"]), of(&failed, &["handoff", "rail"]), of(&failed, &["handoff", "reason"])),
        ("handed_off", "sandbox_card", "rail_error")
    );
    assert!(failed.get("mandate").unwrap().is_null() && !of(&failed, &["handoff", "next_step"]).is_empty());
    place.service.admin(fail(false)).await.unwrap();
    // Nothing was counted, and the same payment may be asked for again.
    let again = place.ask("12.00", "paper, once the rail answers").await;
    assert_eq!(of(&again, &["decision", "result"]), "allow");
}

#[tokio::test]
async fn waiting_ends_with_the_event() {
    let place = Place::new().await;
    let asked = place.ask("80.00", "a chair").await;
    let (service, agent, id) = (place.service.clone(), place.agent.clone(), of(&asked, &["id"]).to_owned());
    let waiting = tokio::spawn(async move { service.payment_request(&agent, &id, 25).await });
    tokio::task::yield_now().await;
    let pause: Value = Object::new().with("reason", "lost phone").into();
    place.service.pause_agent(&place.developer, place.first.agent.as_str(), &pause).await.unwrap();
    let token = place.first.setup_url.rsplit('/').next().unwrap();
    let session = place.service.set_password(token, "correct horse battery").await.unwrap();
    let person = place.service.person(&session.0).await.unwrap();
    let page = place.service.approval_page(&person, of(&asked, &["approval", "id"])).await.unwrap();
    // A freeze wins: approving a payment of a paused agent pays nothing.
    let clicked = place.service.decide_approval(&person, &page.id, &page.digest, Verdict::Approve).await.unwrap();
    assert_eq!(clicked.state, "refused");
    let told: Value = waiting.await.unwrap().unwrap().into();
    assert_eq!((text(&told, &["decision", "result"]), told.get("mandate")), ("deny", Some(&Value::Null)));
    // The second click of the same kind changes nothing; another one is refused.
    assert_eq!(place.service.decide_approval(&person, &page.id, &page.digest, Verdict::Approve).await.unwrap().state, "refused");
    let other: Problem = place.service.decide_approval(&person, &page.id, &page.digest, Verdict::Decline).await.unwrap_err();
    assert_eq!((other.status, &*other.code), (409, "approval_already_decided"));
}
