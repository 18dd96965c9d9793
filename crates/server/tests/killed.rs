//! The server is killed at random points, hundreds of times, while clients ask to pay: whatever was answered is there, is
//! answered the same again, has one record, the chain verifies, and no budget is passed.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    collections::{HashMap, HashSet},
    env,
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use control::{Currency, Money};
use lcp::{Object, Value, json};
use plane::{Answer, Client, Dice, First, Plane, purchase, text};
use record::Chain;
use server::temp_folder::TempFolder;

/// How often it is killed.
const KILLS: u64 = 200;
const CLIENTS: u64 = 4;
/// The test asks as often as it can.
const NO_LIMIT: &[&str] = &["--key-calls-per-minute", "0"];
/// The most that the budget may hold.
const BUDGET: &str = "1500.00";

/// A request that was sent: its idempotency key and body, and the answer if there was one.
struct Sent {
    key: String,
    body: Object,
    answer: Option<String>,
}

#[test]
fn whatever_was_answered_is_there() {
    let seed = env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    let folder = TempFolder::new().unwrap();
    let mut dice = Dice::new(seed);
    let mut server = Plane::start_with(folder.path(), NO_LIMIT);
    let first = server.first.clone().unwrap();
    sign_policy(&server, &first);
    // The answers of all rounds, by request id.
    let mut known: HashMap<String, String> = HashMap::new();
    for round in 0..KILLS {
        let sent = play(&mut server, &first, round, 1 + dice.below(40));
        server = Plane::start_with(folder.path(), NO_LIMIT);
        check_answers(&server, &first, sent, &mut known);
        if round % 50 == 49 {
            check_records(&server, &first, &known);
        }
    }
    check_records(&server, &first, &known);
    check_budget(&server, &first);
    drop(server);
    check_file(folder.path());
}

fn sign_policy(server: &Plane, first: &First) {
    let mut developer = server.client(&first.developer);
    let policies = developer.get("/v0/policies").unwrap().json();
    let id = text(&policies.get("data").unwrap().as_array().unwrap()[0], &["id"]).to_owned();
    let document = format!(
        r#"{{"currency":"USD","agents":"*","payees":{{"unknown":"allow"}},"approval":{{"threshold":"8.00"}},
        "limits":{{"per_payment":"10.00","windows":[{{"kind":"rolling","seconds":86400,"max":"{BUDGET}"}}]}}}}"#
    );
    let document = json::parse(&document, 8).unwrap().as_object().unwrap().clone().with("id", id);
    assert_eq!(developer.post("/v0/policies", &document).unwrap().status, 201);
}

/// Clients ask until that many answers came; then the server is killed, wherever it is.
fn play(server: &mut Plane, first: &First, round: u64, answers: u64) -> Vec<Sent> {
    let sent = Mutex::new(Vec::new());
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (client, seller) = (server.client(&first.agent), server.client(&first.seller));
            let (tell, sent) = (tell.clone(), &sent);
            scope.spawn(move || ask(client, seller, &mut Dice::new(1000 * round + number + 1), &format!("{round}-{number}"), &tell, sent));
        }
        for _ in 0..answers {
            told.recv().unwrap();
        }
        server.kill();
    });
    sent.into_inner().unwrap()
}

/// Asks to pay, and does something with what was allowed, until the connection breaks.
fn ask(mut client: Client, mut seller: Client, dice: &mut Dice, name: &str, tell: &mpsc::Sender<()>, sent: &Mutex<Vec<Sent>>) {
    for number in 0.. {
        let key = format!("{name}-{number}");
        let body = purchase(&format!("{}.{:02}", 1 + dice.below(9), dice.below(100)), &format!("purchase {key}"));
        let answer = client.pay(&key, &body).ok();
        if let Some(answer) = &answer {
            assert_eq!(answer.status, 201, "{}", answer.body);
        }
        let view = answer.as_ref().map(Answer::json);
        sent.lock().unwrap().push(Sent { key, body, answer: answer.map(|answer| answer.body) });
        let Some(view) = view else { return };
        let _ = tell.send(());
        let used = match (view.get("mandate"), dice.below(4)) {
            (Some(Value::Object(_)), 0) => {
                let path = format!("/v0/payment-requests/{}/handoff", text(&view, &["id"]));
                client.post(&path, &Object::new().with("continue_url", "https://sandbox-shop.example/c")).map(|answer| answer.status)
            }
            (Some(mandate @ Value::Object(_)), 1) => {
                let order = Object::new().with("id", format!("order {name} {number}"));
                seller
                    .post("/v0/sellers/orders", &Object::new().with("mandate", text(mandate, &["jws"])).with("order", order))
                    .map(|answer| answer.status)
            }
            _ => Ok(200),
        };
        match used {
            Ok(status) => assert_eq!(status, 200),
            Err(_) => return,
        }
        let _ = tell.send(());
    }
}

/// Every answered request is there and is answered the same again; one that was cut off is answered now, and once.
fn check_answers(server: &Plane, first: &First, sent: Vec<Sent>, known: &mut HashMap<String, String>) {
    let mut client = server.client(&first.agent);
    for Sent { key, body, answer } in sent {
        let replayed = client.pay(&key, &body).unwrap();
        if let Some(answer) = answer {
            assert_eq!((replayed.status, replayed.header("idempotent-replayed"), &replayed.body), (201, Some("true"), &answer), "{key}");
        }
        let again = client.pay(&key, &body).unwrap();
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &replayed.body), "{key}");
        let view = replayed.json();
        let (id, record) = (text(&view, &["id"]).to_owned(), text(&view, &["record_id"]).to_owned());
        assert_eq!(client.get(&format!("/v0/payment-requests/{id}")).unwrap().status, 200);
        assert!(known.insert(id, record).is_none(), "{key} has a request of its own");
    }
}

/// Each request has one record, and the sealed ones make one chain from the first to the log's head.
fn check_records(server: &Plane, first: &First, known: &HashMap<String, String>) {
    let mut developer = server.client(&first.developer);
    let mut sealed = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = developer.get(&format!("/v0/records?limit=200{cursor}")).unwrap().json();
        sealed.extend(page.get("data").unwrap().as_array().unwrap().iter().map(|listed| text(listed, &["id"]).to_owned()));
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    sealed.reverse();
    let (mut chain, mut of_request) = (Chain::new(), HashSet::new());
    for id in &sealed {
        let answer = developer.get(&format!("/v0/records/{id}")).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        chain.follow(&answer.body).unwrap();
        let record = answer.json();
        if text(&record, &["kind"]) == "payment" {
            let request = text(&record, &["request_id"]);
            assert!(of_request.insert(request.to_owned()), "{request} has one record");
            assert_eq!(known.get(request), Some(id), "{request} has the record that it was answered with");
        }
    }
    for (request, record) in known.iter().filter(|(request, _)| !of_request.contains(*request)) {
        let open = developer.get(&format!("/v0/records/{record}/bundle")).unwrap().json();
        assert_eq!(open.get("sealed"), Some(&Value::Bool(false)), "the record of {request} is open");
    }
    let last = developer.get(&format!("/v0/records/{}/verify", sealed.last().unwrap())).unwrap().json();
    assert_eq!(text(&last, &["verdict"]), "verified", "{last:?}");
}

/// What was issued and did not come back is within the budget.
fn check_budget(server: &Plane, first: &First) {
    let usd = Currency::iso("USD").unwrap();
    let mut agent = server.client(&first.agent);
    let mut total = Money::zero(usd.clone());
    for state in ["issued", "consumed"] {
        let mut cursor = String::new();
        loop {
            let page = agent.get(&format!("/v0/mandates?state={state}&limit=200{cursor}")).unwrap().json();
            for mandate in page.get("data").unwrap().as_array().unwrap() {
                total = total.checked_add(&Money::parse(text(mandate, &["amount"]), &usd).unwrap()).unwrap();
            }
            match page.get("next_cursor").and_then(Value::as_str) {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
    }
    println!("issued and not given back: {total} of {BUDGET}");
    assert!(total.units() > 0 && total.is_within(&Money::parse(BUDGET, &usd).unwrap()) == Some(true), "{total}");
}

/// The file is sound, by the database's own check.
fn check_file(folder: &Path) {
    let database = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "db"));
    let database = rusqlite::Connection::open(database.expect("a database")).unwrap();
    let checked: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
}
