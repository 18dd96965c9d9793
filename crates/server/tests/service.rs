//! The service in this process, under a clock that the test sets.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

use std::{
    os::unix::fs::PermissionsExt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use control::{
    Instant,
    ids::{OrgId, RequestId},
    request::Form,
};
use lcp::{Object, Value, json};
use server::{
    Caller, Problem, Service,
    service::{Clock, FirstStart, Paths, Query, ServiceOptions, Verdict},
    temp_folder::TempFolder,
};
use store::{Store, StoreError};

/// 2026-11-30T12:00:00Z, a Monday.
const START: i64 = 1_796_040_000_000;

#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct World {
    folder: TempFolder,
    clock: SetClock,
    service: Service,
    first: FirstStart,
    agent: Caller,
    developer: Caller,
    seller: Caller,
}

fn paths(folder: &TempFolder) -> Paths {
    Paths { database: folder.path().join("chancery.db"), master_key: folder.path().join("master.key") }
}

async fn open(folder: &TempFolder, clock: &SetClock) -> Result<Service, Problem> {
    let options = ServiceOptions { clock: Box::new(clock.clone()), ..ServiceOptions::sandbox("http://127.0.0.1:7420") };
    Service::open(&paths(folder), options).await
}

impl World {
    async fn new() -> Self {
        let (folder, clock) = (TempFolder::new().unwrap(), SetClock(Arc::new(AtomicI64::new(START))));
        let service = open(&folder, &clock).await.unwrap();
        let first = service.first_start().await.unwrap().unwrap();
        let agent = service.authenticate(&first.agent_key).await.unwrap();
        let developer = service.authenticate(&first.developer_key).await.unwrap();
        let seller = service.authenticate(&first.seller_key).await.unwrap();
        Self { folder, clock, service, first, agent, developer, seller }
    }

    fn set(&self, millis: i64) {
        self.clock.0.store(START + millis, Ordering::SeqCst);
    }

    async fn pay(&self, body: &str) -> Object {
        self.service.request_payment(&self.agent, &value(body), Form::Rest, None).await.unwrap().view
    }

    async fn sign(&self, members: &str) {
        let document = format!(r#"{{"currency":"USD","agents":"*",{members}}}"#);
        self.service.sign_policy(&self.developer, &value(&document)).await.unwrap();
    }

    async fn request(&self, id: &str) -> Object {
        self.service.payment_request(&self.agent, id, 0).await.unwrap()
    }
}

fn value(text: &str) -> Value {
    json::parse(text, 32).unwrap()
}

fn at<'a>(object: &'a Object, path: &[&str]) -> &'a Value {
    let (first, rest) = path.split_first().unwrap();
    rest.iter().fold(object.get(first).unwrap(), |value, name| value.get(name).unwrap_or_else(|| panic!("{name}")))
}

fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    at(object, path).as_str().unwrap()
}

fn body(amount: &str, purpose: &str) -> String {
    format!(r#"{{"payee":{{"domain":"sandbox-shop.example"}},"amount":{{"value":"{amount}","currency":"USD"}},"purpose":"{purpose}"}}"#)
}

/// Spoils the stored document of a request, as a fault of a disk or of a program may.
fn spoil(world: &World, id: &str) {
    let store = Store::open(&paths(&world.folder).database, &store::Options::default()).unwrap();
    let (org, id): (OrgId, RequestId) = (world.first.org.clone(), RequestId::parse(id).unwrap());
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        runtime
            .block_on(store.write(move |tx| -> Result<(), StoreError> {
                let row = tx.request(&org, &id)?.expect("the request");
                tx.update_request(&store::RequestRow { doc: "{}".to_owned(), ..row }).map(drop)
            }))
            .unwrap();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_cannot_be_done_holds_up_no_other() {
    let world = World::new().await;
    let bad = world.pay(&body("60.00", "first")).await;
    let good = world.pay(&body("60.00", "second")).await;
    assert_eq!(text(&good, &["state"]), "awaiting_approval");
    spoil(&world, text(&bad, &["id"]));
    world.set(3_600_000);
    assert_eq!(world.service.run_due().await.unwrap_err().code, "stored_unreadable");
    assert_eq!(text(&world.request(text(&good, &["id"])).await, &["state"]), "expired");
    // It is tried again, a minute later.
    assert_eq!(world.service.next_due().await.unwrap(), Some(Instant::from_millis(START + 3_660_000)));
    assert_eq!(world.service.run_due().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn time_does_not_run_back() {
    let world = World::new().await;
    world.sign(r#""payees":{"unknown":"allow"},"limits":{"per_payment":"10.00","windows":[{"kind":"rolling","seconds":60,"max":"10.00"}]}"#).await;
    world.set(10_000);
    assert_eq!(text(&world.pay(&body("10.00", "first")).await, &["decision", "result"]), "allow");
    world.set(5_000);
    let second = world.pay(&body("10.00", "second")).await;
    assert_eq!(text(&second, &["decision", "result"]), "deny", "what was spent still counts");
    assert_eq!(text(&second, &["created_at"]), "2026-11-30T12:00:10.000Z");
    world.set(70_000);
    assert_eq!(text(&world.pay(&body("10.00", "third")).await, &["decision", "result"]), "allow");
    // Put back by a day, it was wrong before; what was spent ahead of it counts all the same.
    world.set(-86_400_000);
    let fourth = world.pay(&body("10.00", "fourth")).await;
    assert_eq!((text(&fourth, &["created_at"]), text(&fourth, &["decision", "result"])), ("2026-11-29T12:00:00.000Z", "deny"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_is_answered_when_the_server_ends() {
    let world = World::new().await;
    let asked = world.pay(&body("60.00", "paper")).await;
    let id = text(&asked, &["id"]).to_owned();
    let (service, agent) = (world.service.clone(), world.agent.clone());
    let waiting = tokio::spawn(async move { service.payment_request(&agent, &id, 25).await });
    world.service.end_waiting();
    let view = tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(text(&view, &["state"]), "awaiting_approval");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_merchant_id_makes_no_domain_known() {
    let world = World::new().await;
    world.sign(r#""payees":{"unknown":"allow"},"limits":{"per_payment":"100.00"},"approval":{"threshold":"50.00"}"#).await;
    let payee = |domain: &str, amount: &str, purpose: &str| {
        format!(
            r#"{{"payee":{{"domain":"{domain}","merchant_id":"acct_1"}},"amount":{{"value":"{amount}","currency":"USD"}},"purpose":"{purpose}"}}"#
        )
    };
    let paid = world.pay(&payee("sandbox-shop.example", "5.00", "first")).await;
    let order = Object::new().with("mandate", text(&paid, &["mandate", "jws"])).with("order", Object::new().with("id", "order-1"));
    world.service.observe_order(&world.seller, &order.into()).await.unwrap();
    let fact = async |domain: &str, purpose: &str| {
        let asked = world.pay(&payee(domain, "60.00", purpose)).await;
        let person = person(&world).await;
        let page = world.service.approval_page(&person, text(&asked, &["approval", "id"])).await.unwrap();
        page.merchant_facts.into_iter().find(|(name, ..)| name == "paid_before").unwrap().1
    };
    assert_eq!(fact("sandbox-shop.example", "second").await, "PASS");
    assert_eq!(fact("evil.example", "third").await, "FAIL");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_organizations_agent_is_not_there() {
    let world = World::new().await;
    let other = world.service.sandbox_keys().await.unwrap();
    let asked = |agent: &str| Query::from([("agent_id".to_owned(), agent.to_owned())]);
    let (own, other) = (asked(world.first.agent.as_str()), asked(text(&other, &["agent_id"])));
    let (service, developer) = (&world.service, &world.developer);
    for (query, code) in [(&own, None), (&other, Some("not_found"))] {
        let code = code.map(str::to_owned);
        let said = |answer: Result<Object, Problem>| answer.err().map(|problem| problem.code.into_owned());
        assert_eq!(said(service.mandates(developer, query).await), code);
        assert_eq!(said(service.records(developer, query).await), code);
        assert_eq!(said(service.consents(developer, query).await), code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_master_key_is_not_replaced() {
    let World { folder, clock, service, .. } = World::new().await;
    drop(service);
    let kept = std::fs::read(paths(&folder).master_key).unwrap();
    std::fs::remove_file(paths(&folder).master_key).unwrap();
    assert_eq!(open(&folder, &clock).await.err().unwrap().code, "master_key_missing");
    assert!(!paths(&folder).master_key.exists(), "there is room for the right one");
    std::fs::write(paths(&folder).master_key, kept).unwrap();
    std::fs::set_permissions(paths(&folder).master_key, PermissionsExt::from_mode(0o600)).unwrap();
    assert!(open(&folder, &clock).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_off_seals_after_a_quarter_of_an_hour_and_its_order_comes_late() {
    let world = World::new().await;
    let asked = world.pay(&body("10.00", "paper")).await;
    let (id, record) = (text(&asked, &["id"]), text(&asked, &["record_id"]));
    let page = r#"{"continue_url":"https://sandbox-shop.example/c"}"#;
    world.service.hand_off(&world.agent, id, &value(page)).await.unwrap();
    world.set(899_999);
    assert_eq!(world.service.run_due().await.unwrap(), 0);
    assert_eq!(*at(&world.service.record_page(&world.agent, record).await.unwrap(), &["sealed"]), Value::Bool(false));
    world.set(900_000);
    assert_eq!(world.service.run_due().await.unwrap(), 1);
    assert_eq!(*at(&world.service.record_page(&world.agent, record).await.unwrap(), &["sealed"]), Value::Bool(true));
    world.set(1_000_000);
    let order = r#"{"continue_url":"https://sandbox-shop.example/c","order":{"id":"A1","total":{"value":"12.00","currency":"USD"}}}"#;
    for _ in 0..2 {
        let view = world.service.hand_off(&world.agent, id, &value(order)).await.unwrap();
        let said = "Done: order A1 of 12.00 USD, which is not within 10.00 USD to sandbox-shop.example.";
        assert_eq!((text(&view, &["state"]), text(&view, &["summary"])), ("completed", said));
    }
    let linked = world.service.linked(&world.agent, record, &Query::new()).await.unwrap();
    let kinds: Vec<_> = at(&linked, &["data"]).as_array().unwrap().iter().map(|record| record.get("kind").and_then(Value::as_str).unwrap()).collect();
    assert_eq!(kinds, ["order"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_stays_one_however_often_it_was_denied() {
    let world = World::new().await;
    world.sign(r#""payees":{"unknown":"allow"},"limits":{"per_payment":"100.00"},"duplicate":"deny""#).await;
    let mut results = Vec::new();
    for number in 0..205 {
        let (key, body) = (format!("key-{number}"), value(&body("10.00", "paper")));
        let view = world.service.request_payment(&world.agent, &body, Form::Rest, Some(&key)).await.unwrap().view;
        results.push(text(&view, &["decision", "result"]).to_owned());
    }
    assert_eq!(results.iter().filter(|result| *result == "allow").count(), 1);
}

/// Trying out the policy that is in force changes nothing, whatever became of the requests; trying out another says what it changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_tried_out_as_things_stood_then() {
    let world = World::new().await;
    let members = |max: &str, refill: &str| {
        format!(
            r#""payees":{{"unknown":"allow"}},"limits":{{"per_payment":"100.00","windows":[{{"kind":"day","max":"{max}"}}]}},
            "approval":{{"threshold":"50.00"}},"refill_policy":"{refill}","retry_policy":{{"max_attempts":2,"window_seconds":86400,"same_amount_only":false}}"#
        )
    };
    world.sign(&members("150.00", "on_void_only")).await;
    let person = person(&world).await;
    let mut number = 0;
    let mut ask = async |millis: i64, amount: &str, purpose: &str| {
        number += 1;
        world.set(millis);
        let (key, body) = (format!("key-{number}"), value(&body(amount, purpose)));
        world.service.request_payment(&world.agent, &body, Form::Rest, Some(&key)).await.unwrap().view
    };
    // Voided by a hand-off, so that there is room again.
    let first = ask(0, "50.00", "first").await;
    world.set(1_000);
    world.service.hand_off(&world.agent, text(&first, &["id"]), &value(r#"{"continue_url":"https://sandbox-shop.example/c"}"#)).await.unwrap();
    // A duplicate while the one before was live, which expires an hour later.
    let second = ask(2_000, "20.00", "second").await;
    let twice = ask(3_000, "20.00", "second").await;
    assert_eq!(text(&twice, &["decision", "result"]), "step_up");
    // Approved after another request was asked.
    let asked = ask(4_000, "60.00", "third").await;
    assert_eq!(text(&ask(5_000, "30.00", "fourth").await, &["decision", "result"]), "allow");
    let page = world.service.approval_page(&person, text(&asked, &["approval", "id"])).await.unwrap();
    world.set(6_000);
    world.service.decide_approval(&person, &page.id, &page.digest, Verdict::Decline).await.unwrap();
    assert_eq!(text(&ask(7_000, "60.00", "third").await, &["decision", "result"]), "step_up");
    assert_eq!(text(&ask(8_000, "50.00", "fifth").await, &["decision", "result"]), "allow");
    assert_eq!(text(&ask(8_500, "50.00", "another").await, &["decision", "result"]), "allow");
    assert_eq!(text(&ask(9_000, "0.01", "sixth").await, &["decision", "result"]), "deny");
    world.set(3_700_000);
    world.service.run_due().await.unwrap();
    assert_eq!(text(&world.request(text(&second, &["id"])).await, &["state"]), "expired");
    assert_eq!(text(&ask(3_701_000, "50.00", "seventh").await, &["decision", "result"]), "allow");

    let try_out = async |members: &str| {
        let document = value(&format!(r#"{{"currency":"USD","agents":"*",{members}}}"#));
        let said = world.service.admin(server::admin::AdminCommand::PolicySimulate { org: None, document }).await.unwrap();
        let changes = at(&said, &["changes"]).as_array().unwrap().iter().map(|change| {
            let text = |path: [&str; 2]| path.iter().try_fold(change, |value, name| value.get(name)).and_then(Value::as_str).unwrap().to_owned();
            (change.get("amount").and_then(Value::as_str).unwrap().to_owned(), text(["before", "result"]), text(["after", "result"]))
        });
        (at(&said, &["requests"]).clone(), changes.collect::<Vec<_>>())
    };
    assert_eq!(try_out(&members("150.00", "on_void_only")).await, (10u32.into(), vec![]));
    let (_, changes) = try_out(&members("150.01", "on_void_only")).await;
    assert_eq!(changes, [("0.01".to_owned(), "deny".to_owned(), "allow".to_owned())]);
    let (_, changes) = try_out(&members("150.00", "never")).await;
    let denied: Vec<_> = changes.iter().map(|(amount, before, after)| (amount.as_str(), before.as_str(), after.as_str())).collect();
    assert_eq!(denied, [("60.00", "step_up", "deny"), ("50.00", "allow", "deny"), ("50.00", "allow", "deny")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_sandbox_its_rail_issues_nothing() {
    let World { folder, clock, service, agent, .. } = World::new().await;
    drop(service);
    let options = ServiceOptions { is_sandbox: false, clock: Box::new(clock), ..ServiceOptions::sandbox("http://127.0.0.1:7420") };
    let service = Service::open(&paths(&folder), options).await.unwrap();
    let view = service.request_payment(&agent, &value(&body("10.00", "paper")), Form::Rest, None).await.unwrap().view;
    assert_eq!((text(&view, &["state"]), text(&view, &["handoff", "reason"])), ("handed_off", "rail_unavailable"));
    assert!(at(&view, &["mandate"]).is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_for_a_password_is_good_once_and_for_a_quarter_of_an_hour() {
    let world = World::new().await;
    let token = world.first.setup_url.rsplit('/').next().unwrap();
    let set = async || world.service.set_password(token, "correct horse battery").await.err().map(|problem| problem.code.into_owned());
    world.set(900_000);
    assert_eq!(set().await.as_deref(), Some("setup_link_spent"));
    let world = World::new().await;
    let token = world.first.setup_url.rsplit('/').next().unwrap();
    let set = async || world.service.set_password(token, "correct horse battery").await.err().map(|problem| problem.code.into_owned());
    world.set(899_999);
    assert_eq!((set().await, set().await.as_deref()), (None, Some("setup_link_spent")));
}

/// What a mandate took comes back to the window it was counted in when it expires unused, and not under `never`.
#[tokio::test(flavor = "multi_thread")]
async fn an_unused_mandate_comes_back_to_its_budget() {
    for (refill, later) in [("on_void_only", "allow"), ("on_any_reversal", "allow"), ("never", "deny")] {
        let world = World::new().await;
        let limits = r#""limits":{"per_payment":"100.00","windows":[{"kind":"month","max":"10.00"}]}"#;
        world.sign(&format!(r#""payees":{{"unknown":"allow"}},{limits},"refill_policy":"{refill}""#)).await;
        let result = async |purpose: &str| text(&world.pay(&body("10.00", purpose)).await, &["decision", "result"]).to_owned();
        assert_eq!((result("first").await, result("second").await), ("allow".to_owned(), "deny".to_owned()));
        world.set(3_599_999);
        world.service.run_due().await.unwrap();
        assert_eq!(result("third").await, "deny");
        world.set(3_600_000);
        world.service.run_due().await.unwrap();
        assert_eq!(result("fourth").await, later, "{refill}");
    }
}

/// A revocation withdraws what is open, and leaves what had ended by time alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_withdraws_only_what_is_open() {
    let world = World::new().await;
    let consent = format!(r#"{{"agent_id":"{}"}}"#, world.first.agent);
    let consent = world.service.create_consent(&world.developer, &value(&consent)).await.unwrap();
    let expired = world.pay(&body("10.00", "first")).await;
    world.set(3_600_000);
    let open = world.pay(&body("10.00", "second")).await;
    let waiting = world.pay(&body("60.00", "third")).await;
    let revoked =
        world.service.revoke_consent(&world.developer, text(&consent, &["id"]), Some(&value(r#"{"cascades_scheduled":true}"#))).await.unwrap();
    let voided: Vec<_> =
        at(&revoked, &["revocation", "cascade", "mandates_voided"]).as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(voided, [text(&open, &["mandate", "id"])]);
    let state = async |asked: &Object| {
        let view = world.request(text(asked, &["id"])).await;
        (text(&view, &["state"]).to_owned(), view.get("mandate").and_then(|mandate| mandate.get("state")).and_then(Value::as_str).map(str::to_owned))
    };
    assert_eq!(state(&expired).await, ("expired".to_owned(), Some("expired".to_owned())));
    assert_eq!(state(&open).await, ("expired".to_owned(), Some("void".to_owned())));
    assert_eq!(state(&waiting).await, ("expired".to_owned(), None));
    let after = world.pay(&body("10.00", "fourth")).await;
    assert_eq!(text(&after, &["decision", "result"]), "deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consent_that_is_yet_to_begin_does_not_cover_up_a_revocation() {
    let world = World::new().await;
    let agent = &world.first.agent;
    let create = async |members: &str| {
        let body = value(&format!(r#"{{"agent_id":"{agent}"{members}}}"#));
        text(&world.service.create_consent(&world.developer, &body).await.unwrap(), &["id"]).to_owned()
    };
    let first = create("").await;
    world.service.revoke_consent(&world.developer, &first, None).await.unwrap();
    let said = async |purpose: &str| text(&world.pay(&body("10.00", purpose)).await, &["decision", "result"]).to_owned();
    world.set(1_000);
    assert_eq!(said("first").await, "deny");
    create(r#","valid_from":"2026-11-30T13:00:00Z""#).await;
    world.set(2_000);
    assert_eq!(said("second").await, "deny");
    world.set(3_600_000);
    assert_eq!(said("third").await, "allow");
    // The agent goes on under the other of two.
    let another = create("").await;
    let cascade = value(r#"{"cascades_scheduled":true}"#);
    world.service.revoke_consent(&world.developer, &another, Some(&cascade)).await.unwrap();
    assert_eq!(said("fourth").await, "allow");
}

async fn person(world: &World) -> server::Person {
    let login = world.service.admin(server::admin::AdminCommand::UserLink { login: "owner".into() }).await.unwrap();
    let token = text(&login, &["setup_url"]).rsplit('/').next().unwrap().to_owned();
    let session = world.service.set_password(&token, "correct horse battery").await.unwrap();
    world.service.person(&session.0).await.unwrap()
}
