//! How many payments were made to each payee.

use control::ids::OrgId;
use rusqlite::params;

use crate::{Reader, StoreError, Tx};

impl Reader<'_> {
    /// How many payments the organization made to the payee of that key.
    pub fn payments_to(&self, org: &OrgId, payee_key: &str) -> Result<u32, StoreError> {
        let count = self.one("SELECT payments FROM payees WHERE org = $1 AND payee_key = $2", [org.as_str(), payee_key], |row| row.count(0))?;
        Ok(count.map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

impl Tx<'_> {
    /// Counts one more payment to the payee.
    pub fn add_payment_to(&mut self, org: &OrgId, payee_key: &str) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO payees (org, payee_key, payments) VALUES ($1, $2, 1)
            ON CONFLICT (org, payee_key) DO UPDATE SET payments = payees.payments + 1";
        self.run(SQL, params![org.as_str(), payee_key]).map(drop)
    }

    /// Counts one payment to the payee less, if there is one.
    pub fn remove_payment_to(&mut self, org: &OrgId, payee_key: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE payees SET payments = payments - 1 WHERE org = $1 AND payee_key = $2 AND payments > 0";
        self.run(SQL, params![org.as_str(), payee_key]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, bits, org};

    #[test]
    fn payments_are_counted_and_taken_back() {
        alone(|tx| {
            tx.remove_payment_to(&org(), "a").unwrap();
            assert_eq!(tx.payments_to(&org(), "a"), Ok(0));
            tx.add_payment_to(&org(), "a").unwrap();
            tx.add_payment_to(&org(), "a").unwrap();
            assert_eq!((tx.payments_to(&org(), "a"), tx.payments_to(&org(), "b")), (Ok(2), Ok(0)));
            assert_eq!(tx.payments_to(&OrgId::of(bits(2)), "a"), Ok(0));
            for left in [1, 0, 0] {
                tx.remove_payment_to(&org(), "a").unwrap();
                assert_eq!(tx.payments_to(&org(), "a"), Ok(left));
            }
        });
    }
}
