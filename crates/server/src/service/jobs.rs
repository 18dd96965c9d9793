//! Time-driven work: what is due is done by rows in the database, so that a restart loses none of it.

use control::{
    Instant,
    ids::{ConsentId, RequestId},
};

use store::{JobRow, Tx};

use super::{Inner, Service};
use crate::Problem;

/// How many due jobs one command does at most.
const BATCH: u32 = 64;
/// For how long a job is put off that cannot be done.
const PUT_OFF_SECONDS: u32 = 60;

impl Service {
    /// When something is due next.
    pub async fn next_due(&self) -> Result<Option<Instant>, Problem> {
        self.read(|_, reader, _| Ok(reader.next_due()?)).await
    }

    /// Does what is due by now: approvals, clarifications and mandates expire, hand-offs seal, revocations take effect. Says
    /// how many jobs were done. A job that cannot be done holds up no other: it waits a minute, and is told of at the end.
    pub async fn run_due(&self) -> Result<usize, Problem> {
        // Whoever calls this at every change must not keep the writer busy with nothing.
        if self.next_due().await?.is_none_or(|due| due > self.now()) {
            return Ok(0);
        }
        let (mut done, mut undone) = (0, None);
        loop {
            let batch = self.write(|inner, tx, now| {
                let jobs = tx.due_jobs(now, BATCH)?;
                jobs.iter().try_for_each(|job| inner.due(tx, job, now))?;
                Ok(jobs.len())
            });
            let count = match batch.await {
                Ok(count) => count,
                // What keeps the store from writing keeps it from each of them.
                Err(problem) if problem.status == 503 => return Err(problem),
                Err(_) => self.one_by_one(&mut undone).await?,
            };
            done += count;
            if count < BATCH as usize {
                return undone.map_or(Ok(done), Err);
            }
        }
    }

    /// Does the jobs of a batch each by itself, puts off those that fail, and says how many there were.
    async fn one_by_one(&self, undone: &mut Option<Problem>) -> Result<usize, Problem> {
        let jobs = self.read(|_, reader, now| Ok(reader.due_jobs(now, BATCH)?)).await?;
        let count = jobs.len();
        for job in jobs {
            // Another command may have done it, or set it anew, since it was read.
            let (alone, late) = (job.clone(), job);
            let work = self.write(move |inner, tx, now| if tx.due_jobs(now, BATCH)?.contains(&alone) { inner.due(tx, &alone, now) } else { Ok(()) });
            match work.await {
                Ok(()) => {}
                Err(problem) if problem.status == 503 => return Err(problem),
                Err(problem) => {
                    undone.get_or_insert(problem);
                    self.write(move |_, tx, now| Ok(tx.put_job(&JobRow { due_at: now.plus_seconds(PUT_OFF_SECONDS), ..late })?)).await?;
                }
            }
        }
        Ok(count)
    }

    /// Ids of requests as they change, for whoever waits for one.
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<RequestId> {
        self.inner.store.changes()
    }

    /// How much was written since the store was opened.
    pub fn counts(&self) -> store::Counts {
        self.inner.store.counts()
    }

    /// The time by the server's clock.
    pub fn now(&self) -> Instant {
        self.inner.now()
    }
}

impl Inner {
    fn due(&self, tx: &mut Tx<'_>, job: &JobRow, now: Instant) -> Result<(), Problem> {
        // What is due again afterwards is put again by its work.
        tx.delete_job(&job.kind, &job.subject)?;
        match job.kind.as_str() {
            "payment" => {
                if let Some(id) = RequestId::parse(&job.subject) {
                    self.ticked(tx, &job.org, &id, now)?;
                }
            }
            "consent" => {
                if let Some(id) = ConsentId::parse(&job.subject) {
                    self.due_consent(tx, &job.org, &id, now)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}
