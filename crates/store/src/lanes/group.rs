//! One group: everything that waited for a lane, run as one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diesel_async::AsyncPgConnection;
use failpoint::{Point, reach};
use purchase::{Incident, Life, PurchaseId};
use tokio::time::timeout;

use super::facts::{self, RequestNow};
use super::on_file::{self, OnFile};
use super::record::Records;
use super::reserve::Reserves;
use super::wallets::Wallets;
use super::{LaneContext, RecordJob, ReserveJob};
use crate::purchases::{RecordError, Recorded, ReserveError, ReserveRefusal, Reserved};
use crate::{StoreError, measures};

/// Records run before reserves: they free holds and subscribers.
#[derive(Default)]
pub(super) struct Group {
    pub(super) records: Vec<RecordJob>,
    pub(super) reserves: Vec<ReserveJob>,
}

/// What a committed group answers, in the order of its jobs. A record without an answer had no purchase.
#[derive(Default)]
struct Answers {
    records: Vec<Option<Recorded>>,
    reserves: Vec<Result<Reserved, ReserveRefusal>>,
    incidents: Vec<(PurchaseId, Incident)>,
}

/// Why a group was not kept, by what that says about its jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blame {
    /// Others were in the way, or the database is away.
    Others,
    /// Somebody else was first: the same again sees how things stand now.
    Collision,
    /// One of the jobs breaks it.
    Job,
    /// Nobody knows whether it was kept.
    Unknown,
}

impl Group {
    /// Runs the group to an answer for every job, but for the records that are given back: they could not
    /// be kept now, and must be.
    pub(super) async fn run(self, context: &LaneContext) -> Vec<RecordJob> {
        let mut kept_back = Vec::new();
        let mut parts = vec![self];
        while let Some(part) = parts.pop() {
            match part.run_whole(context).await {
                Ok(answers) => part.answer(answers),
                Err(error) => match blame(&error) {
                    Blame::Job | Blame::Collision if part.len() > 1 => {
                        let (first, second) = part.halves();
                        parts.extend([second, first]);
                    }
                    Blame::Others => kept_back.extend(part.turn_away(&error)),
                    Blame::Job | Blame::Collision | Blame::Unknown => part.fail(error),
                },
            }
        }
        kept_back
    }

    pub(super) fn len(&self) -> usize {
        self.records.len().saturating_add(self.reserves.len())
    }

    /// Two groups in order, records first.
    fn halves(mut self) -> (Self, Self) {
        let keep = self.len().div_ceil(2);
        let records = self.records.split_off(keep.min(self.records.len()));
        let rest = keep.saturating_sub(self.records.len());
        let reserves = self.reserves.split_off(rest.min(self.reserves.len()));
        (self, Self { records, reserves })
    }

    /// Runs it as one transaction, and once more where that may help.
    async fn run_whole(&self, context: &LaneContext) -> Result<Answers, StoreError> {
        if self.len() == 0 {
            return Ok(Answers::default());
        }
        match self.transact(context).await {
            Err(error) if matches!(blame(&error), Blame::Others | Blame::Collision) => {
                tracing::debug!(cause = cause(&error), jobs = self.len(), "a group is run again");
                self.transact(context).await
            }
            outcome => outcome,
        }
    }

    async fn transact(&self, context: &LaneContext) -> Result<Answers, StoreError> {
        let transaction = context.pool.begin().await?;
        let outcome = timeout(context.deadline, self.within(&transaction, context)).await;
        // Dropped, the transaction closes its connection.
        let outcome = outcome.map_err(|elapsed| StoreError::Unavailable { source: elapsed.into() })?;
        self.reach(Point::ReserveBeforeCommit, Point::RecordBeforeCommit);
        let ended = transaction.end(outcome).await;
        self.reach(Point::ReserveAfterCommit, Point::RecordAfterCommit);
        ended
    }

    fn reach(&self, with_reserves: Point, with_records: Point) {
        if !self.reserves.is_empty() {
            reach(with_reserves);
        }
        if !self.records.is_empty() {
            reach(with_records);
        }
    }

    /// Lock wallets; lock purchases and read facts; decide in order of arrival; write. What is joined is sent
    /// together and run by the server in that order, or, before its statements are prepared, in any.
    async fn within(
        &self,
        connection: &AsyncPgConnection,
        context: &LaneContext,
    ) -> Result<Answers, StoreError> {
        // After the server's BEGIN, and before any wait for a lock.
        let asked_for =
            self.reserves.iter().map(|job| RequestNow::of(&*job.reservation.pending)).collect::<Vec<_>>();
        let recorded: BTreeSet<i64> = self.records.iter().map(|job| job.entry.id.0).collect();
        let debited: BTreeSet<i64> =
            self.reserves.iter().map(|job| job.reservation.request.debited_account.0).collect();
        let (recorded, debited) = (Vec::from_iter(recorded), Vec::from_iter(debited));

        let mut wallets = Wallets::lock(connection, &debited, &recorded).await?;
        let (mut on_file, facts) = tokio::try_join!(
            biased;
            on_file::lock(connection, &recorded),
            facts::read(connection, &self.reserves, &asked_for),
        )?;
        let kept_before = self.kept_before(connection, &facts).await?;

        let mut records = Records::default();
        let record_answers = self.offer(&mut records, &mut on_file, &mut wallets, context)?;
        let mut reserves = Reserves::new(&context.timing);
        let reserve_answers = self.reserves.iter().zip(&facts).map(|(job, facts)| {
            let kept = kept_before.get(&job.reservation.id).map(|kept| as_reserved(kept, context));
            kept.map_or_else(|| reserves.decide(&job.reservation, facts, &on_file, &mut wallets), Ok)
        });
        let reserve_answers = reserve_answers.collect();

        tokio::try_join!(
            biased;
            records.write(connection),
            reserves.write(connection),
        )?;
        let incidents = records.incidents.iter().map(|opened| (opened.of.id, opened.incident)).collect();
        Ok(Answers { records: record_answers, reserves: reserve_answers, incidents })
    }

    fn offer<'a>(
        &'a self,
        records: &mut Records<'a>,
        on_file: &mut BTreeMap<PurchaseId, OnFile>,
        wallets: &mut Wallets,
        context: &LaneContext,
    ) -> Result<Vec<Option<Recorded>>, StoreError> {
        let answers = self.records.iter().map(|job| {
            let purchase = on_file.get_mut(&job.entry.id);
            purchase.map(|purchase| records.offer(&job.entry, purchase, wallets, &context.timing)).transpose()
        });
        answers.collect()
    }

    /// Reservations that an earlier run of the same transaction kept although its acknowledgement was lost.
    ///
    /// What is not found here will never be kept by an earlier run, so it may be refused for good. For an earlier run
    /// whose commit may still arrive (it lies in a buffer, or is being carried out) is an open transaction at the
    /// server, and holds the lock of its wallet; every run locks the same wallet first, and looks and refuses only then.
    /// Locks go after what was committed can be seen. If the wait for the lock is given up, that is no refusal.
    async fn kept_before(
        &self,
        connection: &AsyncPgConnection,
        facts: &[facts::Facts],
    ) -> Result<BTreeMap<PurchaseId, OnFile>, StoreError> {
        let kept = self.reserves.iter().zip(facts).filter(|(_, facts)| facts.is_on_file);
        let kept: BTreeSet<i64> = kept.map(|(job, _)| job.reservation.id.0).collect();
        on_file::lock(connection, &Vec::from_iter(kept)).await
    }

    fn answer(self, answers: Answers) {
        measures::group_kept(self.reserves.len(), self.records.len());
        for (purchase, incident) in answers.incidents {
            tracing::error!(purchase = purchase.0, incident = incident.as_str(), "an incident was opened");
        }
        for (job, recorded) in self.records.into_iter().zip(answers.records) {
            // Whoever asked may be gone; what was done stays done.
            let _gone = job.answer.send(recorded.ok_or(RecordError::NoSuchPurchase));
        }
        for (job, reserved) in self.reserves.into_iter().zip(answers.reserves) {
            let _gone = job.answer.send(reserved.map_err(ReserveError::Refused));
        }
    }

    /// Refuses the reserves, of which nothing is held, and gives the records back.
    fn turn_away(self, error: &StoreError) -> Vec<RecordJob> {
        tracing::warn!(cause = cause(error), jobs = self.len(), "a group could not be kept now");
        measures::turned_away(self.reserves.len());
        for job in self.reserves {
            let _gone = job.answer.send(Err(ReserveError::Overloaded));
        }
        self.records
    }

    fn fail(self, error: StoreError) {
        tracing::error!(cause = cause(&error), jobs = self.len(), "a group was not kept");
        let collision = collision(&error);
        let may_have_been_kept = error.may_have_been_kept();
        if may_have_been_kept {
            measures::group_unacknowledged();
        }
        let error = Arc::new(error);
        for job in self.records {
            let _gone = job.answer.send(Err(RecordError::Unacknowledged(error.clone())));
        }
        for job in self.reserves {
            let answer = if may_have_been_kept {
                ReserveError::Unacknowledged(error.clone())
            } else if let Some(refusal) = collision {
                ReserveError::Refused(refusal)
            } else {
                ReserveError::Failed(error.clone())
            };
            let _gone = job.answer.send(Err(answer));
        }
    }
}

/// The index by which a subscriber has at most one open purchase.
const ONE_OPEN: &str = "purchases_one_open_per_subscriber";

/// The index by which one purchase at a time holds an idempotency key.
const ONE_PER_USE_OF_KEY: &str = "purchases_one_per_use_of_key";

/// What somebody who was first, again and again, means for a reserve.
fn collision(error: &StoreError) -> Option<ReserveRefusal> {
    let StoreError::Duplicate { constraint } = error else { return None };
    match constraint.as_str() {
        ONE_OPEN => Some(ReserveRefusal::Pending { open: None }),
        ONE_PER_USE_OF_KEY => Some(ReserveRefusal::KeyTaken),
        _ => None,
    }
}

/// As its reserve left it, whatever has happened to it since: later fences are other people's.
fn as_reserved(purchase: &OnFile, context: &LaneContext) -> Reserved {
    let at = purchase.created_at;
    Reserved { life: Life::reserved(purchase.life.handling, at, &context.timing), at }
}

fn cause(error: &StoreError) -> &(dyn std::error::Error + 'static) {
    error
}

fn blame(error: &StoreError) -> Blame {
    match error {
        StoreError::Busy { .. } | StoreError::Unavailable { .. } => Blame::Others,
        StoreError::Duplicate { .. } => Blame::Collision,
        StoreError::Rejected { .. }
        | StoreError::Corrupt { .. }
        | StoreError::TokenUnreadable { .. }
        | StoreError::Query { .. }
        | StoreError::Stale { .. }
        | StoreError::Absent { .. } => Blame::Job,
        StoreError::Setting { .. } | StoreError::Schema { .. } | StoreError::Migration { .. } => {
            Blame::Others
        }
        StoreError::Unacknowledged { .. } | StoreError::Lost { .. } | StoreError::Stopped => Blame::Unknown,
    }
}
