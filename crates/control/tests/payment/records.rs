//! What the record of a payment holds, and that a stranger can verify it with the mandate and the policy.

use control::mandate::{MANDATE_TYP, VoidReason};
use lcp::{
    Hash, Object, Value,
    jose::{Ed25519Key, Jwk, Jwks, SigningKey},
    json,
};
use record::{Bundle, Kind, Place, Record, Status};

use super::world::{NOW, World, at, person, text, value};

/// The bundle of the record that a payment's end seals.
fn bundle(world: &World, place: usize) -> Bundle {
    let payment = &world.payments[place];
    let record = Record::new(Kind::Payment, payment.record_id().as_str(), payment.org().as_str(), &[], payment.record_members()).unwrap();
    let sealed = record.seal(Place::First, NOW.millis(), &world.key).unwrap();
    let keys = Jwks::new(vec![Jwk::new(world.key.public())]).unwrap();
    let mut bundle = Bundle::new(sealed, keys);
    bundle.mandate = payment.mandate().and_then(|mandate| mandate.jws()).map(str::to_owned);
    let document = world.policy.document().as_object().unwrap();
    bundle.policy = Some(record::sign_policy(document, &world.key).unwrap());
    bundle
}

fn result(bundle: &Bundle, name: &str) -> (Status, String) {
    let report = record::verify(&bundle.to_json().into(), Some(&bundle.keys));
    let check = report.checks.iter().find(|check| check.name == name).unwrap();
    (check.status, check.detail.clone())
}

#[test]
fn the_type_of_a_mandate_is_the_one_that_is_verified() {
    assert_eq!(MANDATE_TYP, record::MANDATE_TYP);
}

#[test]
fn the_mandate_and_the_policy_are_those_that_the_record_names() {
    for scope in ["{}", r#"{"visibility_scope":{"merchant":["budget"],"issuer_only":["policy","mode"]}}"#] {
        for members in [
            "{}",
            r#"{"payee":{"merchant_id":"acct_1"}}"#,
            r#"{"payee":{"name":"Shop","domain":"shop.example","merchant_id":"acct_1"},"checkout":{"protocol":"ucp","reference":"chk_1"}}"#,
            r#"{"payee":{"name":"Ream & Rule"}}"#,
        ] {
            let mut world = World::new(scope);
            world.policy = {
                let open = world.policy.document().as_object().unwrap().clone().with("payees", value(r#"{"unknown":"allow"}"#));
                control::policy::Policy::read(&open.into()).unwrap()
            };
            let place = world.ask(members);
            world.consume(place, r#"{"id":"o-1"}"#).unwrap();
            let bundle = bundle(&world, place);
            for name in ["format", "hash", "signature", "mandate", "policy"] {
                let (status, detail) = result(&bundle, name);
                assert_eq!(status, Status::Pass, "{name}: {detail}");
            }
        }
    }
}

#[test]
fn another_mandate_is_found() {
    let mut world = World::new("{}");
    let (place, other) = (world.ask("{}"), world.ask(r#"{"purpose":"toner"}"#));
    let mut bundle = bundle(&world, place);
    bundle.mandate = world.payments[other].mandate().unwrap().jws().map(str::to_owned);
    assert_eq!(result(&bundle, "mandate").0, Status::Fail);
}

fn claims(world: &World, place: usize) -> Object {
    lcp::jose::unverified_payload(world.payments[place].mandate().unwrap().jws().unwrap()).unwrap()
}

#[test]
fn the_merchant_sees_what_the_scope_shows() {
    let limits = r#""limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"200.00"},{"kind":"rolling","seconds":60,"max":"150.00"}]}"#;
    let rest = r#""mode":"bounded","deviation":{"percent":"5"},"retry_policy":{"max_attempts":3,"window_seconds":3600,"same_amount_only":true}"#;
    let mut world = World::new(&format!("{{{limits},{rest}}}"));
    let place = world.ask(r#"{"checkout":{"protocol":"ucp","reference":"chk_1"}}"#);
    let claims = claims(&world, place);
    let names: Vec<_> = claims.iter().map(|(name, _)| name.as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "iss",
            "sub",
            "mandate_id",
            "agent",
            "binds",
            "amount",
            "currency",
            "payee",
            "checkout",
            "checkout_hash",
            "iat",
            "exp",
            "policy",
            "mode",
            "refill_policy",
            "finality_class",
            "retry_policy",
            "hidden_constraints_digest"
        ]
    );
    assert_eq!((text(&claims, "iss"), text(&claims, "sub")), ("https://chancery.example".into(), "Ada".into()));
    assert_eq!((text(&claims, "amount"), text(&claims, "currency"), text(&claims, "payee")), ("40.00".into(), "USD".into(), "shop.example".into()));
    assert_eq!((text(&claims, "iat"), text(&claims, "exp")), (NOW.seconds().to_string(), NOW.plus_seconds(3600).seconds().to_string()));
    assert_eq!(text(&claims, "binds"), "checkout");
    let checkout = json::canonical(at(&claims, "checkout")).unwrap();
    assert_eq!(checkout, r#"{"protocol":"ucp","reference":"chk_1"}"#);
    assert_eq!(text(&claims, "checkout_hash"), Hash::of(checkout.as_bytes()).to_string().replace("0x", "sha256:"));

    // Whoever has the salt can open the commitment.
    let secrets = world.payments[place].secrets().unwrap();
    let salt = lcp::encoding::from_bare_hex(at(&secrets, "salt").as_str().unwrap()).unwrap();
    let hidden = json::canonical(at(&secrets, "hidden")).unwrap();
    assert_eq!(
        hidden,
        r#"{"budget":{"day USD":"200.00","rolling_60 USD":"150.00"},"deviation":{"percent":"5"},"per_payment_cap":{"currency":"USD","value":"100.00"}}"#
    );
    let digest = Hash::of(&[&salt[..], hidden.as_bytes()].concat()).to_string().replace("0x", "sha256:");
    assert_eq!(text(&claims, "hidden_constraints_digest"), digest);
    assert_eq!(text(&world.view(place), "mandate/hidden_constraints_digest"), digest);
}

#[test]
fn what_is_shown_is_not_committed_to() {
    let all = r#"["policy","mode","refill_policy","finality_class","retry_policy","deviation","per_payment_cap","budget"]"#;
    let mut world = World::new(&format!(r#"{{"visibility_scope":{{"merchant":{all},"issuer_only":[]}}}}"#));
    let place = world.ask("{}");
    let claims = claims(&world, place);
    assert_eq!(text(&claims, "per_payment_cap"), r#"{"value":"100.00","currency":"USD"}"#);
    assert!(!claims.has("hidden_constraints_digest") && !claims.has("budget"));
    assert_eq!(at(&world.view(place), "mandate/hidden_constraints_digest"), &Value::Null);
}

#[test]
fn a_record_tells_what_happened() {
    let mut world = World::new(r#"{"approval":{"threshold":"10.00"},"intent":{"required":["category"]}}"#);
    let place = world.ask(&format!(r#"{{"evidence":[{{"type":"quote","ref":"q-1","digest":"sha256:{}"}}]}}"#, "a".repeat(64)));
    world.answer(place, &[("category", "office")]).unwrap();
    let digest = world.digest(place);
    world.approve(place, &person(1), &digest).unwrap();
    world.void(place, VoidReason::Withdrawn);
    let members = world.payments[place].record_members();
    let whats: Vec<_> = at(&members, "timeline").as_array().unwrap().iter().map(|event| event.get("what").unwrap().as_str().unwrap()).collect();
    assert_eq!(
        whats,
        [
            "asked",
            "decided",
            "questions_asked",
            "answered",
            "decided",
            "approval_asked",
            "approved",
            "decided",
            "mandate_issued",
            "mandate_voided",
            "ended"
        ]
    );
    assert_eq!(at(&members, "decisions").as_array().unwrap().len(), 3);
    assert_eq!((text(&members, "approval/by"), text(&members, "approval/digest")), (person(1).to_string(), digest));
    assert_eq!(text(&members, "request/intent/slots"), r#"{"category":"office"}"#);
    assert_eq!(text(&members, "evidence").matches("quote").count(), 1);
    assert_eq!((text(&members, "mandate/state"), text(&members, "outcome/status")), ("void".into(), "void".into()));
}

#[test]
fn a_shadow_policy_records_by_how_much_a_limit_is_passed() {
    let mut world = World::new(r#"{"shadow":true,"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"50.00"}]}}"#);
    world.ask("{}");
    let place = world.ask(r#"{"purpose":"toner"}"#);
    assert_eq!(world.told(place), "decided observe shadow_mode");
    assert_eq!(world.payments[place].counted().unwrap().amount, super::world::usd("40.00"));
    let members = world.payments[place].record_members();
    let overrun = &at(&members, "decisions").as_array().unwrap()[0].get("overruns").unwrap().as_array().unwrap()[0];
    assert_eq!(json::write(overrun.get("by").unwrap()), r#"{"value":"30.00","currency":"USD"}"#);
    assert!(Record::new(Kind::Payment, "rec_1", "org_1", &[], members).unwrap().text().is_ok());
}

#[test]
fn the_largest_request_still_has_a_record() {
    let long = |bytes: usize| "\u{10348}".repeat(bytes);
    let evidence: Vec<String> =
        (0..32).map(|_| format!(r#"{{"type":"{}","ref":"{}","digest":"sha256:{}"}}"#, long(64), long(2000), "a".repeat(64))).collect();
    let items: Vec<String> = (0..100).map(|_| format!(r#"{{"description":"{}"}}"#, long(500))).collect();
    let constraints: Vec<String> = (0..64).map(|number| format!(r#""c{number}":"{}""#, "x".repeat(1990))).collect();
    let intent = format!(r#"{{"slots":{{"items":[{}]}},"constraints":{{{}}}}}"#, items.join(","), constraints.join(","));
    let mut world = World::new(r#"{"intent":{"required":["notes","category","payee","recurrence"],"max_rounds":10}}"#);
    let place = world.ask(&format!(r#"{{"purpose":"{}","evidence":[{}],"intent":{intent}}}"#, long(2000), evidence.join(",")));
    let refused = (0..300).find_map(|number| world.answer(place, &[("category", &format!("{number}{}", "é".repeat(90)))]).err());
    assert_eq!(refused.unwrap().code, "too_many_answers");
    let members = world.payments[place].record_members();
    assert!(at(&members, "request/digest").as_str().is_some());
    let text = Record::new(Kind::Payment, "rec_1", "org_1", &[], members).unwrap().text().unwrap();
    assert!(text.len() < record::MAX_TEXT, "{}", text.len());
}

#[test]
fn a_key_that_does_not_sign_pays_nothing() {
    struct Broken(Ed25519Key);
    impl SigningKey for Broken {
        fn public(&self) -> lcp::jose::PublicKey {
            self.0.public()
        }

        fn sign(&self, _: &[u8]) -> Result<lcp::jose::Signature, lcp::jose::SigningFailed> {
            Err(lcp::jose::SigningFailed("down".into()))
        }
    }
    let mut world = World::new("{}");
    let place = world.ask_with("{}", &Broken(Ed25519Key::from_seed(&[1; 32])));
    let view = world.view(place);
    assert_eq!((text(&view, "state"), text(&view, "handoff/reason")), ("handed_off".into(), "rail_error".into()));
    assert_eq!(world.payments[place].counted(), None);
}
