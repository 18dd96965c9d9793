//! The sandbox card rail: single-use tokens in the shape of a card network's, worth nothing.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use control::{
    Ids, Instant, Money,
    ids::MandateId,
    rail::{Credential, Rail, RailError, RailReason},
    request::Protocol,
};

/// Who can take its tokens.
const HANDLER_ID: &str = "chancery_sandbox_card";
/// What its tokens start with.
const TOKEN_PREFIX: &str = "tok_sandbox_";

/// The sandbox card rail. It serves `card`, `ucp` and `acp`.
#[derive(Clone, Debug, Default)]
pub struct SandboxCard {
    fails: Arc<AtomicBool>,
}

impl SandboxCard {
    /// A rail that fails while the switch is on.
    pub fn new(fails: Arc<AtomicBool>) -> Self {
        Self { fails }
    }
}

impl Rail for SandboxCard {
    fn name(&self) -> &'static str {
        "sandbox_card"
    }

    fn serves(&self, protocol: Protocol) -> bool {
        matches!(protocol, Protocol::Card | Protocol::Ucp | Protocol::Acp)
    }

    fn issue(&self, _mandate: &MandateId, _amount: &Money, _expires_at: Instant, ids: &mut dyn Ids) -> Result<Credential, RailError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(RailError {
                reason: RailReason::RailError,
                message: "The sandbox card rail issued no credential: its operator has switched it to fail.".to_owned(),
                next_step: "Switch the rail back, then ask for the same payment again.".to_owned(),
            });
        }
        let display = [("label", "Sandbox card"), ("environment", "sandbox")];
        Ok(Credential {
            handler_id: HANDLER_ID.to_owned(),
            token: format!("{TOKEN_PREFIX}{}", control::ids::encode(ids.secret())),
            display: display.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use control::Currency;

    use super::*;

    struct Counting(u8);

    impl Ids for Counting {
        fn draw(&mut self) -> [u8; 16] {
            self.0 += 1;
            [self.0; 16]
        }
    }

    fn issue(rail: &SandboxCard, ids: &mut dyn Ids) -> Result<Credential, RailError> {
        let amount = Money::new(4800, Currency::iso("USD").unwrap());
        rail.issue(&MandateId::of([1; 16]), &amount, Instant::from_millis(1_796_040_000_000), ids)
    }

    #[test]
    fn each_credential_has_a_token_of_its_own() {
        let mut ids = Counting(0);
        let credential = issue(&SandboxCard::default(), &mut ids).unwrap();
        assert_eq!(
            lcp::json::write(&credential.to_json().into()),
            format!(
                r#"{{"type":"token","handler_id":"chancery_sandbox_card","display":{{"label":"Sandbox card","environment":"sandbox"}},"token":"tok_sandbox_{}"}}"#,
                control::ids::encode([1; 16])
            )
        );
        assert_eq!(credential.token.len(), TOKEN_PREFIX.len() + 26);
        assert_ne!(issue(&SandboxCard::default(), &mut ids).unwrap().token, credential.token);
        assert!(!control::card_number::is_in(&credential.token));
        assert!(!format!("{credential:?}").contains(&credential.token));
    }

    #[test]
    fn the_switch_makes_it_fail_and_serve_again() {
        let fails = Arc::new(AtomicBool::new(true));
        let (rail, mut ids) = (SandboxCard::new(fails.clone()), Counting(0));
        let error = issue(&rail, &mut ids).unwrap_err();
        assert_eq!(error.reason, RailReason::RailError);
        assert!(!error.message.is_empty() && !error.next_step.is_empty());
        assert_eq!(ids.0, 0, "a failure draws no token");
        fails.store(false, Ordering::Relaxed);
        assert!(issue(&rail, &mut ids).is_ok());
    }

    #[test]
    fn it_serves_what_a_card_credential_pays() {
        let served: Vec<_> = Protocol::ALL.iter().filter(|protocol| SandboxCard::default().serves(**protocol)).map(|it| it.as_str()).collect();
        assert_eq!(served, ["ucp", "acp", "card"]);
    }
}
