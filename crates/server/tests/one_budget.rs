//! Sixty-four clients at once on one budget that has room for ten payments: ten mandates, no more and no fewer.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{sync::Barrier, thread};

use lcp::{Object, Value, json};
use plane::{Plane, purchase, text};
use server::temp_folder::TempFolder;

const CLIENTS: usize = 64;

#[test]
fn exactly_ten_mandates() {
    let folder = TempFolder::new().unwrap();
    let server = Plane::start(folder.path());
    let first = server.first.clone().unwrap();
    let mut developer = server.client(&first.developer);
    let policies = developer.get("/v0/policies").unwrap().json();
    let id = text(&policies.get("data").unwrap().as_array().unwrap()[0], &["id"]).to_owned();
    let document = r#"{"currency":"USD","agents":"*","payees":{"unknown":"allow"},"limits":{"per_payment":"10.00","windows":[
        {"kind":"rolling","seconds":86400,"max":"100.00"},{"kind":"month","max":"100000.00"}]}}"#;
    let document: Object = json::parse(document, 8).unwrap().as_object().unwrap().clone().with("id", id);
    assert_eq!(developer.post("/v0/policies", &document).unwrap().status, 201);

    let start = Barrier::new(CLIENTS);
    let answers: Vec<Value> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (mut client, start) = (server.client(&first.agent), &start);
                scope.spawn(move || {
                    start.wait();
                    client.pay(&format!("key-{number}"), &purchase("10.00", &format!("purchase {number}"))).unwrap().json()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let result = |answer: &&Value, wanted| text(answer, &["decision", "result"]) == wanted;
    let (allowed, denied): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| result(answer, "allow"));
    assert_eq!((allowed.len(), denied.len()), (10, CLIENTS - 10));
    for answer in &denied {
        assert!(result(answer, "deny"));
        let reasons = answer.get("decision").unwrap().get("reasons").unwrap().as_array().unwrap();
        assert_eq!(reasons.iter().map(|reason| reason.as_str().unwrap()).collect::<Vec<_>>(), ["over_budget"]);
        assert!(answer.get("mandate").unwrap().is_null());
    }
    let issued = server.client(&first.agent).get("/v0/mandates?state=issued&limit=100").unwrap().json();
    assert_eq!(issued.get("data").unwrap().as_array().unwrap().len(), 10);
    // Every request has its record, allowed or denied.
    let sealed = developer.get("/v0/records?kind=payment&limit=200").unwrap().json();
    assert_eq!(sealed.get("data").unwrap().as_array().unwrap().len(), CLIENTS - 10);
}
