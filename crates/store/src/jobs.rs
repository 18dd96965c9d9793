//! What is due at a time.

use control::{Instant, ids::OrgId};
use rusqlite::params;

use crate::{Reader, StoreError, Tx};

/// Something to be done at a time. There is one of each kind and subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// The organization.
    pub org: OrgId,
    /// What is to be done.
    pub kind: String,
    /// To what: an id.
    pub subject: String,
    /// From when.
    pub due_at: Instant,
}

impl Reader<'_> {
    /// The jobs that are due, those that are due longest first, at most so many.
    pub fn due_jobs(&self, now: Instant, limit: u32) -> Result<Vec<JobRow>, StoreError> {
        const SQL: &str = "SELECT org, kind, subject, due_at FROM jobs WHERE due_at <= $1 ORDER BY due_at, kind, subject LIMIT $2";
        self.all(SQL, params![now.millis(), limit], |row| {
            Ok(JobRow { org: row.id(0)?, kind: row.text(1)?, subject: row.text(2)?, due_at: row.at(3)? })
        })
    }

    /// When the next job is due.
    pub fn next_due(&self) -> Result<Option<Instant>, StoreError> {
        self.one("SELECT due_at FROM jobs ORDER BY due_at LIMIT 1", [], |row| row.at(0))
    }
}

impl Tx<'_> {
    /// Sets a job; it takes the place of an earlier one of its kind and subject.
    pub fn put_job(&mut self, job: &JobRow) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO jobs (kind, subject, org, due_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, subject) DO UPDATE SET org = excluded.org, due_at = excluded.due_at";
        self.run(SQL, params![job.kind, job.subject, job.org.as_str(), job.due_at.millis()]).map(drop)
    }

    /// Forgets a job, if there is one.
    pub fn delete_job(&mut self, kind: &str, subject: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM jobs WHERE kind = $1 AND subject = $2", [kind, subject]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, at, org};

    #[test]
    fn a_job_takes_the_place_of_the_earlier_one() {
        alone(|tx| {
            let job = |kind: &str, subject: &str, due| JobRow { org: org(), kind: kind.into(), subject: subject.into(), due_at: at(due) };
            assert_eq!(tx.next_due(), Ok(None));
            for job in [job("tick", "a", 5), job("tick", "b", 3), job("revoke", "a", 4), job("tick", "a", 9)] {
                tx.put_job(&job).unwrap();
            }
            assert_eq!(tx.next_due(), Ok(Some(at(3))));
            assert_eq!(tx.due_jobs(at(2), 10), Ok(vec![]));
            assert_eq!(tx.due_jobs(at(8), 10), Ok(vec![job("tick", "b", 3), job("revoke", "a", 4)]));
            assert_eq!(tx.due_jobs(at(9), 1), Ok(vec![job("tick", "b", 3)]));
            tx.delete_job("tick", "b").unwrap();
            tx.delete_job("tick", "none").unwrap();
            assert_eq!(tx.due_jobs(at(9), 10), Ok(vec![job("revoke", "a", 4), job("tick", "a", 9)]));
        });
    }
}
