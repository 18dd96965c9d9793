//! Saving a payment: what is stored beside it follows from the payment before and after the command.

use control::{
    Instant,
    ids::{AgentId, OrgId, RecordId, RequestId},
    linked::LinkedRecord,
    payment::Payment,
};
use lcp::{Object, json};
use record::{Kind, Link, Record};
use store::{ApprovalRow, JobRow, MandateRow, Reader, RecordMeta, RequestRow, Tx};

use super::{
    Inner,
    consents::record_of_consent,
    standing::{attempt_key, fact_key, payment},
    unreadable,
};
use crate::Problem;

impl Inner {
    /// Saves a payment that a command made or changed: its row, its place in the ledger, its approval and mandate, its next
    /// due time, and, when it has ended, its sealed record.
    pub(super) fn save(&self, tx: &mut Tx<'_>, before: Option<&Payment>, after: &Payment, now: Instant) -> Result<(), Problem> {
        let row = self.row(after)?;
        match before {
            None => {
                tx.insert_request(&row)?;
                tx.open_record_of(after.org(), after.record_id(), after.id())?;
            }
            Some(_) => {
                tx.update_request(&row)?;
            }
        }
        save_ledger(tx, before, after)?;
        for approval in after.approvals() {
            tx.put_approval(&ApprovalRow {
                id: approval.id.clone(),
                org: after.org().clone(),
                request: after.id().clone(),
                state: approval.state.as_str().to_owned(),
                created_at: approval.asked_at,
                expires_at: approval.expires_at,
            })?;
        }
        if let Some(mandate) = after.mandate() {
            let is_put = tx.put_mandate(&MandateRow {
                id: mandate.id.clone(),
                org: after.org().clone(),
                agent: after.agent().clone(),
                request: after.id().clone(),
                state: mandate.state.as_str().to_owned(),
                payee: mandate.payee.clone(),
                issued_at: mandate.issued_at,
                expires_at: mandate.expires_at,
                order_id: after.order().map(|order| order.report.id.clone()),
            })?;
            if !is_put {
                return Err(Problem::new(409, "order_has_mandate", "This order was reported with another mandate: a mandate is for one order."));
            }
        }
        match after.due() {
            Some(due) => {
                tx.put_job(&JobRow { org: after.org().clone(), kind: "payment".to_owned(), subject: after.id().to_string(), due_at: due })?;
            }
            None => tx.delete_job("payment", after.id().as_str())?,
        }
        let had_ended = before.is_some_and(Payment::has_ended);
        if after.has_ended() && !had_ended {
            self.seal(tx, after, now)?;
        }
        tx.changed(after.id());
        Ok(())
    }

    fn row(&self, payment: &Payment) -> Result<RequestRow, Problem> {
        let secrets = payment.secrets().map(|secrets| self.seal_secrets(&secrets_place(payment.id()), secrets)).transpose()?;
        let request = payment.request();
        Ok(RequestRow {
            id: payment.id().clone(),
            org: payment.org().clone(),
            agent: payment.agent().clone(),
            key: payment.key().clone(),
            record_id: payment.record_id().clone(),
            state: payment.state().as_str().to_owned(),
            outcome: payment.outcome().as_str().to_owned(),
            created_at: payment.created_at(),
            fact_key: fact_key(request),
            attempt_key: attempt_key(request),
            doc: json::write(&payment.to_stored().into()),
            secrets,
        })
    }

    /// Seals the record of a payment that has ended.
    fn seal(&self, tx: &mut Tx<'_>, payment: &Payment, now: Instant) -> Result<(), Problem> {
        let record = record_of(tx, payment)?;
        let parents = parents_of(tx, payment)?;
        let meta = RecordMeta {
            id: payment.record_id().clone(),
            kind: Kind::Payment,
            agent: Some(payment.agent().clone()),
            request: Some(payment.id().clone()),
            parents,
        };
        tx.append_record(payment.org(), &record, now, &self.key, &meta)?;
        Ok(())
    }

    /// Seals a record of what happened beside a payment, or after one.
    pub(super) fn append_linked(
        &self,
        tx: &mut Tx<'_>,
        org: &OrgId,
        (agent, request): (Option<&AgentId>, Option<&RequestId>),
        linked: LinkedRecord,
        now: Instant,
    ) -> Result<(), Problem> {
        let LinkedRecord { id, kind, parents, members } = linked;
        let kind = Kind::parse(kind.as_str()).ok_or_else(|| unreadable("record"))?;
        let record = record(kind, &id, org, &links(tx, org, &parents)?, members)?;
        tx.append_record(org, &record, now, &self.key, &RecordMeta { id, kind, agent: agent.cloned(), request: request.cloned(), parents })?;
        Ok(())
    }

    /// The payment of an id, with its secrets.
    pub(super) fn payment(&self, reader: &Reader<'_>, org: &OrgId, id: &RequestId) -> Result<Option<Payment>, Problem> {
        reader.request(org, id)?.map(|row| self.read_payment(&row)).transpose()
    }

    /// The payment of a row, with its secrets.
    pub(super) fn read_payment(&self, row: &RequestRow) -> Result<Payment, Problem> {
        let mut payment = payment(row)?;
        if let Some(sealed) = &row.secrets {
            let secrets = self.open_secrets(&secrets_place(&row.id), sealed, "secret")?;
            payment.restore_secrets(&secrets).ok_or_else(|| unreadable("secret"))?;
        }
        Ok(payment)
    }
}

fn secrets_place(id: &RequestId) -> String {
    format!("requests/{id}/secrets")
}

/// A record; members of ours always make one, so a fault here is ours.
fn record(kind: Kind, id: &RecordId, org: &OrgId, parents: &[Link], members: Object) -> Result<Record, Problem> {
    Record::new(kind, id.as_str(), org.as_str(), parents, members)
        .map_err(|error| Problem::new(500, "record_unfit", format!("The record could not be made: {error}.")))
}

/// Counts what was issued in the budgets, and takes it out where it came back; and how often the payee was paid.
fn save_ledger(tx: &mut Tx<'_>, before: Option<&Payment>, after: &Payment) -> Result<(), Problem> {
    let (held, counts) = (before.and_then(Payment::counted), after.counted());
    match (held, counts) {
        (None, Some(counted)) => {
            tx.spend(after.org(), &counted.policy, after.id(), counted.at, &counted.amount)?;
        }
        (Some(_), None) => {
            tx.refill(after.id())?;
        }
        // What is counted once stays what it is: a mandate is issued once.
        _ => {}
    }
    if let Some(payee) = after.request().payee.taker() {
        match (before.is_some_and(Payment::is_paid), after.is_paid()) {
            (false, true) => tx.add_payment_to(after.org(), &payee.to_string())?,
            (true, false) => tx.remove_payment_to(after.org(), &payee.to_string())?,
            _ => {}
        }
    }
    Ok(())
}

/// The record of the consent that a payment was made under.
fn parents_of(reader: &Reader<'_>, payment: &Payment) -> Result<Vec<RecordId>, Problem> {
    Ok(match payment.consent() {
        Some(consent) => record_of_consent(reader, payment.org(), consent)?.into_iter().collect(),
        None => Vec::new(),
    })
}

/// Links to sealed records.
fn links(reader: &Reader<'_>, org: &OrgId, ids: &[RecordId]) -> Result<Vec<Link>, Problem> {
    let link = |id: &RecordId| {
        let row = reader.record(org, id)?.ok_or_else(|| unreadable("record"))?;
        Ok(Link { id: id.to_string(), hash: row.sealed.hash })
    };
    ids.iter().map(link).collect()
}

/// The payment's record as it stands, following from the consent it was made under.
pub(super) fn record_of(reader: &Reader<'_>, payment: &Payment) -> Result<Record, Problem> {
    let parents = links(reader, payment.org(), &parents_of(reader, payment)?)?;
    record(Kind::Payment, payment.record_id(), payment.org(), &parents, payment.record_members())
}
