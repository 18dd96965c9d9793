//! Time-driven work: what is due is done by rows in the database, so that a restart loses none of it.

use control::{
    Instant,
    ids::{ConsentId, RequestId},
};

use super::Service;
use crate::Problem;

/// How many due jobs one command does at most.
const BATCH: u32 = 64;

impl Service {
    /// When something is due next.
    pub async fn next_due(&self) -> Result<Option<Instant>, Problem> {
        self.read(|_, reader, _| Ok(reader.next_due()?)).await
    }

    /// Does what is due by now: approvals, clarifications and mandates expire, hand-offs seal, revocations take effect. Says
    /// how many jobs were done.
    pub async fn run_due(&self) -> Result<usize, Problem> {
        let mut done = 0;
        loop {
            let batch = self.write(|inner, tx, now| {
                let jobs = tx.due_jobs(now, BATCH)?;
                for job in &jobs {
                    // What is due again afterwards is put again by its work.
                    tx.delete_job(&job.kind, &job.subject)?;
                    match job.kind.as_str() {
                        "payment" => {
                            if let Some(id) = RequestId::parse(&job.subject) {
                                inner.ticked(tx, &job.org, &id, now)?;
                            }
                        }
                        "consent" => {
                            if let Some(id) = ConsentId::parse(&job.subject) {
                                inner.due_consent(tx, &job.org, &id, now)?;
                            }
                        }
                        _ => {}
                    }
                }
                Ok(jobs.len())
            });
            let count = batch.await?;
            done += count;
            if count < BATCH as usize {
                return Ok(done);
            }
        }
    }

    /// Ids of requests as they change, for whoever waits for one.
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<RequestId> {
        self.inner.store.changes()
    }

    /// The time by the server's clock.
    pub fn now(&self) -> Instant {
        self.inner.clock.now()
    }
}
