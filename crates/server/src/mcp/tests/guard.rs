//! No card number gets past the tools, and none comes back.

use lcp::{Object, Value, json};

use super::{FITTING, client::Client, desk::Desk, read, text_at};

const NUMBERS: [&str; 4] = ["4242424242424242", "3782 822463 10005", "4111-1111-1111-1111", "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢"];

/// The members that hold amounts and dates.
const TYPED: [&str; 4] = ["value", "max_total", "unit_max", "deliver_by"];

/// The value with one of its places changed, for each place: a string or number becomes the text, an object gets a member of
/// that name.
fn tainted(value: &Value, text: &str) -> Vec<Value> {
    match value {
        Value::Object(object) => {
            let object: &Object = object;
            let member = |(name, inner): (&lcp::Text, &Value)| {
                tainted(inner, text).into_iter().map(|inner| object.clone().with(name.clone(), inner).into()).collect::<Vec<Value>>()
            };
            let mut all: Vec<Value> = object.iter().flat_map(member).collect();
            all.push(object.clone().with(text, 1u32).into());
            all
        }
        Value::Array(items) => {
            let replaced = |index: usize, item: Value| {
                let mut items = items.to_vec();
                items[index] = item;
                Value::from(items)
            };
            items
                .iter()
                .enumerate()
                .flat_map(|(index, item)| tainted(item, text).into_iter().map(move |item| (index, item)))
                .map(|(index, item)| replaced(index, item))
                .collect()
        }
        _ => vec![text.into()],
    }
}

#[tokio::test]
async fn card_numbers_are_refused_in_every_place_of_every_tool() {
    let desk = Desk::usual();
    let mut client = Client::agent(desk.clone()).await;
    let mut places = 0;
    for (tool, arguments) in FITTING {
        for number in NUMBERS {
            for arguments in tainted(&read(arguments), number) {
                let (text, is_error) = client.call_for_text(tool, &json::write(&arguments)).await;
                let arguments = json::write(&arguments);
                // Amounts and dates take bare digits; whether they are one is the service's to judge.
                if !is_error {
                    let is_typed = TYPED.iter().any(|name| arguments.contains(&format!(r#""{name}":"{number}""#)));
                    assert!(is_typed && !number.contains([' ', '-']), "{arguments}");
                    continue;
                }
                let error = read(&text).get("error").unwrap().clone();
                assert_eq!(text_at(&error, "code"), "card_number_rejected", "{tool}: {text}: {arguments}");
                assert!(!text.contains(number), "{tool}: {text}");
                places += 1;
            }
        }
    }
    assert!(places > 200, "{places}");
    assert!(desk.asked().iter().all(|(operation, _, _)| ["request_payment", "hand_off"].contains(operation)));
}

#[tokio::test]
async fn the_guard_stands_before_every_other_check() {
    for (tool, arguments) in [
        ("request_payment", r#"{"colour":"4242424242424242"}"#),
        ("request_payment", r#"{"purpose":4242424242424242}"#),
        ("get_decision", r#"{"request_id":"4242 4242 4242 4242","wait":99}"#),
        ("verify_record", r#"{"bundle":{"a":[{"b":"4242424242424242"}]},"record_id":"rec_1"}"#),
    ] {
        let desk = Desk::usual();
        let error = Client::connected(desk.clone(), control::access::Role::Seller).await.refused(tool, arguments).await;
        assert_eq!(text_at(&error, "code"), "card_number_rejected", "{tool}");
        assert_eq!(desk.asked(), []);
    }
    let error = Client::agent(Desk::usual()).await.refused("hand_off_checkout", r#"{"order":{"id":"4242 4242 4242 4242"}}"#).await;
    assert_eq!(text_at(&error, "details.path"), "/order/id");
    let key = Object::new().with("order", Object::new().with("4242 4242 4242 4242", "x"));
    let error = Client::agent(Desk::usual()).await.refused("hand_off_checkout", &json::write(&key.into())).await;
    assert_eq!(text_at(&error, "details.path"), "/order");
}
