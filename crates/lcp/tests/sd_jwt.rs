//! Tokens that other libraries made are read as those libraries read them: `sd-jwt` from Python, `@sd-jwt/core` and `jose` from
//! npm (`tests/peers/sd-jwt` holds the scripts that made them).

#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

use lcp::{
    Value,
    jose::{Compact, P256Key, SdJwt, digest, unverified_payload},
    json,
};

struct Made {
    name: String,
    token: String,
    /// The key that signed it.
    key: P256Key,
    /// What the library read, having verified it.
    claims: Value,
}

fn key(jwk: &Value) -> P256Key {
    let text = |name| jwk.get(name).and_then(Value::as_str).unwrap();
    assert_eq!((text("kty"), text("crv")), ("EC", "P-256"));
    P256Key::from_coordinates(text("x"), text("y")).unwrap()
}

fn made(file: &str) -> Vec<Made> {
    let made = json::parse(file, json::MAX_DEPTH).unwrap();
    let read = |made: &Value| {
        let text = |name| made.get(name).and_then(Value::as_str).unwrap().to_owned();
        Made { name: text("name"), token: text("token"), key: key(made.get("key").unwrap()), claims: made.get("claims").unwrap().clone() }
    };
    made.as_array().unwrap().iter().map(read).collect()
}

fn all() -> Vec<Made> {
    let mut all = made(include_str!("peers/sd-jwt/python.json"));
    all.extend(made(include_str!("peers/sd-jwt/javascript.json")));
    assert_eq!(all.len(), 10);
    all
}

#[test]
fn claims_are_read_as_the_libraries_read_them() {
    for Made { name, token, claims, .. } in all() {
        let read = if token.contains('~') { SdJwt::read(&token, 32).unwrap().claims } else { unverified_payload(&token).unwrap() };
        assert!(json::same(&read.clone().into(), &claims), "{name}: {read:?}");
    }
}

#[test]
fn signatures_verify_and_only_over_what_was_signed() {
    for Made { name, token, key, .. } in all() {
        let jws = Compact::read(token.split('~').next().unwrap()).unwrap();
        assert!(key.verifies(jws.signing_input.as_bytes(), &jws.signature), "{name}");
        let other = jws.signing_input.replacen("ey", "eY", 1);
        assert!(!key.verifies(other.as_bytes(), &jws.signature), "{name}");
    }
}

#[test]
fn a_bound_key_signs_the_digest_of_the_presentation() {
    let bound: Vec<_> = all().into_iter().filter(|made| made.name == "a key is bound").collect();
    assert_eq!(bound.len(), 2);
    for Made { token, claims, .. } in bound {
        let (presentation, binding) = token.rsplit_once('~').unwrap();
        let payload = unverified_payload(binding).unwrap();
        assert_eq!(payload.get("sd_hash").and_then(Value::as_str), Some(&*digest(&format!("{presentation}~"))));
        let jws = Compact::read(binding).unwrap();
        let holder = key(claims.get("cnf").unwrap().get("jwk").unwrap());
        assert!(holder.verifies(jws.signing_input.as_bytes(), &jws.signature));
    }
}
