//! What an agent sees of the service's answers: the members that the tools' result schemas name.

use lcp::{Object, Value};

/// A payment request in the client's shape, as a tool answers it.
pub(super) fn payment(view: &Object) -> Object {
    let some = |name: &str| view.get(name).filter(|value| !value.is_null());
    let members = |name: &str, names: &[&str]| some(name).and_then(Value::as_object).map(|object| present(object, names));
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    let decision = view.get("decision").and_then(Value::as_object);
    let shadow = decision.and_then(|decision| decision.get("shadow_result")?.as_object()).map(|shadow| present(shadow, &["result", "reasons"]));
    let questions =
        decision.and_then(|decision| decision.get("questions")).filter(|questions| questions.as_array().is_some_and(|all| !all.is_empty()));
    let decided = decision.map(|decision| {
        present(decision, &["result", "reasons", "checks", "retryable", "retry_after"])
            .with_some("questions", questions.cloned())
            .with_some("shadow_result", shadow)
    });
    let order = members("order", &["id", "status", "checkout_id", "completed_at", "permalink_url"]);
    let handoff = some("handoff").and_then(Value::as_object).map(|handoff| {
        present(handoff, &["continue_url", "handed_off_at", "rail", "reason", "message", "next_step"])
            .with("order", or_null(handoff.get("order").cloned()))
    });
    Object::new()
        .with_some("request_id", some("id").cloned())
        .with_some("state", some("state").cloned())
        .with_some("duplicate_of", some("duplicate_of").cloned())
        .with_some("decision", decided)
        .with_some("risk", members("risk", &["action", "score"]))
        .with("mandate", or_null(members("mandate", &["id", "state", "amount", "currency", "expires_at", "jws", "credential"]).map(Value::from)))
        .with_some("approval", members("approval", &["id", "url", "expires_at"]))
        .with("order", or_null(order.map(Value::from)))
        .with_some("completion", members("completion", &["state", "error"]))
        .with("handoff", or_null(handoff.map(Value::from)))
        .with_some("settlement", members("settlement", &["stage", "finality_class", "finality_at"]))
        .with_some("reversals", some("reversals").cloned())
        .with_some("record_id", some("record_id").cloned())
        .with_some("summary", some("summary").cloned())
}

/// The same after a hand-off.
pub(super) fn handed_off(view: &Object) -> Object {
    payment(view).with("outcome", view.get("outcome").cloned().unwrap_or(Value::Null))
}

/// A page of mandates, without what lets one be spent.
pub(super) fn mandates(page: &Object) -> Object {
    let shown = ["id", "request_id", "state", "payee", "amount", "currency", "issued_at", "expires_at", "consumed_at"];
    let data = page.get("data").and_then(Value::as_array).unwrap_or_default();
    let mandates: Vec<Value> = data.iter().filter_map(Value::as_object).map(|mandate| present(mandate, &shown).into()).collect();
    let next = page.get("next_cursor").cloned().unwrap_or(Value::Null);
    let count = match mandates.len() {
        0 => "No mandates".to_owned(),
        1 => "1 mandate".to_owned(),
        count => format!("{count} mandates"),
    };
    let summary = if next.is_null() { format!("{count}.") } else { format!("{count} on this page; there are more.") };
    Object::new().with("mandates", mandates).with("next_cursor", next).with("summary", summary)
}

/// The members of these names that an object has and that are not null, in this order.
fn present(object: &Object, names: &[&str]) -> Object {
    names.iter().fold(Object::new(), |picked, name| picked.with_some(*name, object.get(name).filter(|value| !value.is_null()).cloned()))
}
