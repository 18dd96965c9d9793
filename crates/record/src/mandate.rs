use lcp::{Object, Value};

use crate::time_from_text;

/// The `typ` of a mandate's JWS, by which no other token can stand in for one.
pub const MANDATE_TYP: &str = "enruta-mandate+jwt";

/// Claims of a mandate that a record states under another name or the same, each as text.
const SAME_TEXT: [(&str, &str); 5] =
    [("mandate_id", "id"), ("amount", "amount"), ("currency", "currency"), ("payee", "payee"), ("agent", "agent_id")];

/// Times, in seconds as a claim and as RFC 3339 text in a record.
const SAME_TIME: [(&str, &str); 2] = [("iat", "issued_at"), ("exp", "expires_at")];

/// The first claim that differs from what the record states of its mandate and policy. What the record does not state
/// is not compared, but for the first four, which it must; a claim that the mandate keeps from the merchant is absent.
pub(crate) fn disagreement(claims: &Object, mandate: &Object, policy: Option<&Value>) -> Option<&'static str> {
    for (place, (claim, member)) in SAME_TEXT.into_iter().enumerate() {
        let required = place < 4;
        if (required || mandate.has(member)) && (!is_text(claims.get(claim)) || claims.get(claim) != mandate.get(member)) {
            return Some(claim);
        }
    }
    for (claim, member) in SAME_TIME {
        let Some(stated) = mandate.get(member) else { continue };
        let seconds = stated.as_str().and_then(time_from_text).map(|milliseconds| milliseconds.div_euclid(1000));
        if seconds.is_none() || claims.get(claim).and_then(Value::as_safe_integer) != seconds {
            return Some(claim);
        }
    }
    let named = claims.get("policy").filter(|named| !named.is_null());
    let differs = named.is_some_and(|named| {
        ["id", "version", "hash"].iter().any(|name| named.get(name).is_some_and(|value| policy.and_then(|policy| policy.get(name)) != Some(value)))
    });
    differs.then_some("policy")
}

fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.as_str().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(source: &str) -> Object {
        lcp::json::parse(source, 8).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn each_claim_is_compared() {
        let claims = object(
            r#"{"mandate_id":"mnd_1","amount":"5.00","currency":"USD","payee":"shop.test","agent":"agt_1","iat":1796040000,"exp":1796043600,
                "policy":{"id":"pol_1","version":3}}"#,
        );
        let stated = object(
            r#"{"id":"mnd_1","amount":"5.00","currency":"USD","payee":"shop.test","agent_id":"agt_1",
                "issued_at":"2026-11-30T12:00:00.250Z","expires_at":"2026-11-30T13:00:00.000Z"}"#,
        );
        let policy: Value = object(r#"{"id":"pol_1","version":3,"hash":"sha256:00"}"#).into();
        assert_eq!(disagreement(&claims, &stated, Some(&policy)), None);
        assert_eq!(disagreement(&claims.without("policy"), &stated, None), None);
        assert_eq!(disagreement(&claims, &stated.without("agent_id").without("expires_at"), Some(&policy)), None);
        assert_eq!(disagreement(&claims, &stated, None), Some("policy"));
        for (member, claim) in [
            ("id", "mandate_id"),
            ("amount", "amount"),
            ("currency", "currency"),
            ("payee", "payee"),
            ("agent_id", "agent"),
            ("issued_at", "iat"),
            ("expires_at", "exp"),
        ] {
            for other in [Value::from("2026-11-30T14:00:00.000Z"), Value::Null] {
                assert_eq!(disagreement(&claims, &stated.clone().with(member, other), Some(&policy)), Some(claim), "{member}");
            }
            if !matches!(claim, "agent" | "iat" | "exp") {
                assert_eq!(disagreement(&claims, &stated.without(member), Some(&policy)), Some(claim), "{member}");
                assert_eq!(disagreement(&claims.without(claim), &stated.without(member), Some(&policy)), Some(claim), "{member}");
            }
        }
        let other = policy.as_object().unwrap().clone().with("version", 4u32).into();
        assert_eq!(disagreement(&claims, &stated, Some(&other)), Some("policy"));
    }
}
