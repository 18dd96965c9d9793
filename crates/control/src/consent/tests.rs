use proptest::prelude::*;

use super::*;
use crate::ids::{ApprovalId, KeyId, MandateId};

const NOW: Instant = Instant::from_millis(1_796_040_000_000);

struct Counting(u8);

impl Ids for Counting {
    fn draw(&mut self) -> [u8; 16] {
        self.0 = self.0.wrapping_add(1);
        [self.0; 16]
    }
}

fn json(source: &str) -> Value {
    lcp::json::parse(source, 32).unwrap()
}

fn agent() -> Agent {
    Agent::create(&json(r#"{"name":"Office"}"#), NOW, &mut Counting(200)).unwrap()
}

fn by() -> Actor {
    Actor::Key(KeyId::of([3; 16]))
}

/// A consent given now with these members beside the agent's id.
fn given(members: &str) -> Result<(Consent, LinkedRecord), Refusal> {
    let more = json(members);
    let body = more.as_object().unwrap().clone().with("agent_id", &agent().id);
    Consent::create(ConsentCreate::read(&body.into())?, &agent(), ConsentSource::Api, &by(), NOW, &mut Counting(0))
}

fn consent(members: &str) -> Consent {
    given(members).unwrap().0
}

fn revoke(body: &str) -> RevokeRequest {
    RevokeRequest::read(Some(&json(body))).unwrap()
}

fn refused(refusal: Refusal) -> String {
    format!("{} {}", refusal.pointer.unwrap(), refusal.code)
}

#[test]
fn as_the_client_reads_it() {
    let source = r#"{"principal":{"name":"Ada"},"scope":{"max":100},"merchant_policies":[{"domain":"shop.example"}],
        "acknowledgements":[{"text":"Agents may err."}],"retention":{"days":30},"valid_until":"2027-01-01T00:00:00Z"}"#;
    let (consent, record) = given(source).unwrap();
    let signature = Object::new().with("kid", "k").with("signature", "s");
    let shown = consent.to_json(NOW, Some(&signature));
    let agent = agent().id;
    let expected = format!(
        r#"{{"id":"{id}","agent_id":"{agent}","state":"active","source":"api","source_connection_id":null,"principal":{{"name":"Ada"}},
        "agent":{{"id":"{agent}","name":"Office"}},"scope":{{"max":100}},"merchant_policies":[{{"domain":"shop.example"}}],
        "acknowledgements":[{{"text":"Agents may err."}}],"retention":{{"days":30}},"revocation":null,"signature":{{"kid":"k","signature":"s"}},
        "valid_from":"2026-11-30T12:00:00.000Z","valid_until":"2027-01-01T00:00:00.000Z","record_id":"{record_id}","revoke_record_id":null,
        "consent_record_id":"{record_id}","created_at":"2026-11-30T12:00:00.000Z","updated_at":"2026-11-30T12:00:00.000Z"}}"#,
        id = consent.id,
        record_id = consent.record_id,
    );
    assert_eq!(lcp::json::write_sorted(&shown.into()), lcp::json::write_sorted(&json(&expected)));
    assert_eq!((record.id, record.kind, record.parents), (consent.record_id.clone(), LinkedKind::Consent, Vec::new()));
    assert_eq!(record.members.get("consent_id").and_then(Value::as_str), Some(consent.id.as_str()));
    assert_eq!(record.members.get("given_by").and_then(Value::as_str), Some(by().as_str()));
}

#[test]
fn a_body_is_read_strictly() {
    let deep = |levels: usize| (1..levels).fold(r#"{"a":1}"#.to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
    for (members, fault) in [
        (r#"{"name":"x"}"#.to_owned(), "/name unknown_member"),
        (r#"{"principal":[]}"#.to_owned(), "/principal wrong_type"),
        (r#"{"principal":null}"#.to_owned(), "/principal wrong_type"),
        (r#"{"scope":{"a":1.5}}"#.to_owned(), "/scope out_of_range"),
        (r#"{"scope":{"a":9007199254740992}}"#.to_owned(), "/scope out_of_range"),
        (r#"{"scope":{"a":"\ud800"}}"#.to_owned(), "/scope control_character"),
        (format!(r#"{{"scope":{}}}"#, deep(9)), "/scope too_long"),
        (format!(r#"{{"retention":{{"a":"{}"}}}}"#, "x".repeat(16 * 1024 - 7)), "/retention too_long"),
        (r#"{"merchant_policies":{}}"#.to_owned(), "/merchant_policies wrong_type"),
        (r#"{"merchant_policies":["x"]}"#.to_owned(), "/merchant_policies/0 wrong_type"),
        (format!(r#"{{"acknowledgements":[{}]}}"#, vec!["{}"; 65].join(",")), "/acknowledgements too_long"),
        (format!(r#"{{"acknowledgements":[{}]}}"#, vec![format!(r#"{{"a":"{}"}}"#, "x".repeat(9000)); 2].join(",")), "/acknowledgements too_long"),
        (r#"{"scope":{"card":"4242 4242 4242 4242"}}"#.to_owned(), "/scope/card card_number_rejected"),
        (r#"{"valid_from":"tomorrow"}"#.to_owned(), "/valid_from malformed"),
        (r#"{"valid_until":"2026-11-30T12:00:00Z"}"#.to_owned(), "/valid_until out_of_range"),
        (r#"{"valid_from":"2027-02-01T00:00:00Z","valid_until":"2027-02-01T00:00:00Z"}"#.to_owned(), "/valid_until out_of_range"),
    ] {
        assert_eq!(given(&members).map(|_| ()).map_err(refused), Err(fault.to_owned()), "{members:.80}");
    }
    assert!(given(&format!(r#"{{"scope":{}}}"#, deep(8))).is_ok());
    assert!(given(&format!(r#"{{"retention":{{"a":"{}"}}}}"#, "x".repeat(16 * 1024 - 8))).is_ok());
    assert_eq!(ConsentCreate::read(&json("{}")).map_err(refused).unwrap_err(), "/agent_id missing_member");
    assert_eq!(ConsentCreate::read(&json(r#"{"agent_id":"pr_1"}"#)).map_err(refused).unwrap_err(), "/agent_id malformed");
}

#[test]
fn a_revocation_is_read_strictly() {
    assert_eq!(RevokeRequest::read(None), Ok(RevokeRequest::default()));
    for (body, fault) in [
        (r#"{"reason":"x"}"#, "/reason unknown_member"),
        (r#"{"cascades_scheduled":"yes"}"#, "/cascades_scheduled wrong_type"),
        (r#"{"effective_at":"2026"}"#, "/effective_at malformed"),
        ("[]", " wrong_type"),
    ] {
        assert_eq!(RevokeRequest::read(Some(&json(body))).map_err(refused).unwrap_err(), fault, "{body}");
    }
}

#[test]
fn time_decides_what_state_it_is_in() {
    let mut consent = consent(r#"{"valid_from":"2026-12-01T00:00:00Z","valid_until":"2026-12-31T00:00:00Z"}"#);
    let at = |text| Instant::parse(text).unwrap();
    assert_eq!((consent.state(NOW), consent.covers(NOW), consent.due()), (ConsentState::Active, false, Some(at("2026-12-31T00:00:00Z"))));
    assert!(consent.covers(at("2026-12-01T00:00:00Z")));
    let end = at("2026-12-31T00:00:00Z");
    assert_eq!((consent.state(end.plus_millis(-1)), consent.state(end)), (ConsentState::Active, ConsentState::Expired));
    assert_eq!(
        (consent.tick(end.plus_millis(-1)), consent.tick(end), consent.tick(end), consent.due()),
        (None, Some(ConsentEnd::Expired), None, None)
    );
    assert_eq!(consent.state(NOW), ConsentState::Expired, "a clock that goes back opens nothing again");
    assert!(consent.facts().valid_until.is_some_and(|until| until < NOW));
}

#[test]
fn a_revocation_counts_from_its_time_on() {
    let (mut consent, mut ids) = (consent("{}"), Counting(50));
    let later = NOW.plus_seconds(3600);
    let asked = revoke(&format!(r#"{{"effective_at":"{later}","cascades_scheduled":true,"institution_notified_at":"2026-11-30T11:00:00Z"}}"#));
    let record = consent.revoke(&asked, &by(), NOW, &mut ids).unwrap().unwrap();
    assert_eq!((record.kind, &record.parents), (LinkedKind::Revocation, &vec![consent.record_id.clone()]));
    assert_eq!((consent.state(NOW), consent.tick(NOW), consent.due()), (ConsentState::Active, None, Some(later)));
    assert_eq!(consent.facts().revoked_from, Some(later));
    assert_eq!((consent.state(later), consent.tick(later)), (ConsentState::Revoked, Some(ConsentEnd::Revoked { cascades: true })));
    assert_eq!((consent.tick(later), consent.due(), consent.state(NOW)), (None, None, ConsentState::Revoked));
    assert!(consent.facts().revoked_from.is_some_and(|from| from < NOW));
    let cascade = Cascade {
        applied_at: later,
        mandates_voided: vec![MandateId::of([1; 16])],
        pause_record_id: Some(RecordId::of([2; 16])),
        approvals_expired: vec![ApprovalId::of([3; 16])],
    };
    consent.cascaded(cascade.clone());
    consent.cascaded(Cascade { mandates_voided: Vec::new(), ..cascade });
    let expected = format!(
        r#"{{"revoked_at":"{NOW}","by":"{by}","effect":"stops_new_mandates_only","institution_notified_at":"2026-11-30T11:00:00.000Z",
        "effective_at":"{later}","cascades_scheduled":true,"notified_institution_at":null,"cascade":{{"applied_at":"{later}",
        "mandates_voided":["{mandate}"],"recurrences_ended":[],"recurrences_paused":[],"agent_paused":true,"pause_record_id":"{pause}",
        "approvals_expired":["{approval}"]}}}}"#,
        by = by(),
        mandate = MandateId::of([1; 16]),
        pause = RecordId::of([2; 16]),
        approval = ApprovalId::of([3; 16]),
    );
    let shown = consent.to_json(later, None);
    assert_eq!(lcp::json::write_sorted(shown.get("revocation").unwrap()), lcp::json::write_sorted(&json(&expected)));
    assert_eq!(shown.get("revoke_record_id").and_then(Value::as_str), Some(record.id.as_str()));
    assert_eq!(shown.get("state").and_then(Value::as_str), Some("revoked"));
}

#[test]
fn without_a_time_it_counts_at_once_and_the_past_is_refused() {
    let mut revoked = consent("{}");
    revoked.revoke(&RevokeRequest::default(), &by(), NOW, &mut Counting(50)).unwrap().unwrap();
    assert_eq!(revoked.tick(NOW), Some(ConsentEnd::Revoked { cascades: false }));
    revoked.cascaded(Cascade { applied_at: NOW, mandates_voided: Vec::new(), pause_record_id: None, approvals_expired: Vec::new() });
    let at = |seconds| revoke(&format!(r#"{{"effective_at":"{}"}}"#, NOW.minus_seconds(seconds))).effective_at(NOW).map_err(refused);
    assert_eq!((at(0), at(60), at(61)), (Ok(NOW), Ok(NOW), Err("/effective_at out_of_range".to_owned())));
}

#[test]
fn a_repeated_revocation_changes_nothing_but_to_stop_sooner() {
    let (mut held, mut ids) = (consent("{}"), Counting(50));
    let at = |seconds| NOW.plus_seconds(seconds);
    let scheduled = |seconds, cascades| revoke(&format!(r#"{{"effective_at":"{}","cascades_scheduled":{cascades}}}"#, at(seconds)));
    let first = held.revoke(&scheduled(600, false), &by(), NOW, &mut ids).unwrap().unwrap();
    let before = held.clone();
    for same in [scheduled(600, false), scheduled(900, false)] {
        assert_eq!(held.revoke(&same, &by(), at(1), &mut ids), Ok(None));
    }
    assert_eq!(held, before);
    let cascading = held.revoke(&scheduled(900, true), &by(), at(2), &mut ids).unwrap().unwrap();
    assert_eq!(cascading.parents, [held.record_id.clone(), first.id]);
    let revocation = |held: &Consent| held.revocation().map(|held| (held.effective_at, held.cascades));
    assert_eq!(revocation(&held), Some((at(600), true)));
    held.revoke(&RevokeRequest::default(), &by(), at(3), &mut ids).unwrap().unwrap();
    assert_eq!((revocation(&held), held.tick(at(3))), (Some((at(3), true)), Some(ConsentEnd::Revoked { cascades: true })));
    assert_eq!(held.revoke(&scheduled(5, true), &by(), at(4), &mut ids), Ok(None));
}

/// What may happen to a consent.
#[derive(Clone, Debug)]
enum Step {
    Revoke { in_seconds: Option<u32>, cascades: bool, was_notified: bool },
    Tick { at_seconds: u32 },
    Cascaded { mandates: u8, paused: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (proptest::option::of(0u32..1000), any::<bool>(), any::<bool>()).prop_map(|(in_seconds, cascades, was_notified)| Step::Revoke {
            in_seconds,
            cascades,
            was_notified
        }),
        (0u32..2000).prop_map(|at_seconds| Step::Tick { at_seconds }),
        (0u8..3, any::<bool>()).prop_map(|(mandates, paused)| Step::Cascaded { mandates, paused }),
    ];
    proptest::collection::vec(step, 0..8)
}

proptest! {
    #[test]
    fn the_stored_state_reads_back(steps in steps(), note in "\\PC{0,40}", until in proptest::option::of(1u32..1500)) {
        let members = Object::new()
            .with("scope", Object::new().with("note", note.as_str()))
            .with("merchant_policies", [Value::from(Object::new().with("max", 3u32))])
            .with_some("valid_until", until.map(|seconds| NOW.plus_seconds(seconds)));
        let Ok((mut consent, _)) = given(&lcp::json::write(&members.into())) else { return Ok(()) };
        let mut ids = Counting(100);
        for step in steps {
            match step {
                Step::Revoke { in_seconds, cascades, was_notified } => {
                    let body = Object::new()
                        .with_some("effective_at", in_seconds.map(|seconds| NOW.plus_seconds(seconds)))
                        .with("cascades_scheduled", cascades)
                        .with_some("institution_notified_at", was_notified.then_some(NOW));
                    consent.revoke(&RevokeRequest::read(Some(&body.into())).unwrap(), &by(), NOW, &mut ids).unwrap();
                }
                Step::Tick { at_seconds } => {
                    let (now, due) = (NOW.plus_seconds(at_seconds), consent.due());
                    // It does something when it is due, and not before.
                    prop_assert_eq!(consent.tick(now).is_some(), due.is_some_and(|due| due <= now));
                }
                Step::Cascaded { mandates, paused } => consent.cascaded(Cascade {
                    applied_at: NOW,
                    mandates_voided: (0..mandates).map(|n| MandateId::of([n; 16])).collect(),
                    pause_record_id: paused.then(|| RecordId::of([7; 16])),
                    approvals_expired: vec![ApprovalId::of([8; 16])],
                }),
            }
            let text = lcp::json::write(&consent.to_stored().into());
            let stored = Consent::from_stored(&json(&text));
            prop_assert_eq!(stored.as_ref(), Some(&consent));
        }
    }
}
