//! One group: all jobs that waited for a lane, run as one transaction.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use database::{Connection, DatabaseError, Transaction, Writes};
use failpoint::{Point, hit};
use purchase::{Incident, Lifecycle, PurchaseId};
use tokio::time::timeout;

use super::{
    LaneContext, RecordJob, ReserveJob, inputs,
    locked_purchase::{self, LockedPurchase},
    record::Records,
    reserve::Reserves,
    stuck::StuckWallets,
    wallets::Wallets,
};
use crate::{
    measures,
    purchases::{RecordError, Recorded, ReserveError, ReserveRefusal, Reserved},
};

/// The jobs of a group. Records run before reserves, because they free holds and subscribers.
#[derive(Default)]
pub(super) struct Group {
    pub(super) records: Vec<RecordJob>,
    pub(super) reserves: Vec<ReserveJob>,
}

/// The answers of a committed group, in the order of its jobs. A record's answer is `None` if its purchase does not
/// exist.
#[derive(Default)]
struct GroupAnswers {
    records: Vec<Option<Recorded>>,
    reserves: Vec<Result<Reserved, ReserveRefusal>>,
    incidents: Vec<(PurchaseId, Incident)>,
}

/// What a group writes, and its answers once that is committed.
struct Decided<'a> {
    records: Records<'a>,
    reserves: Reserves<'a>,
    answers: GroupAnswers,
}

/// Why a group was not committed, classified by what that means for its jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blame {
    /// The database was busy, unavailable or not usable. No job is at fault.
    Others,
    /// Another session kept a row locked, perhaps a wallet of one of the jobs.
    Lock,
    /// Another transaction wrote the same key first. A repeated run reads the current state.
    Collision,
    /// One of the jobs causes the failure.
    Job,
    /// It is unknown whether the group was committed.
    Unknown,
}

impl Group {
    /// Runs the group and answers every job, except the records that it returns. Those could not be committed now and
    /// must be run again.
    pub(super) async fn run(self, context: &LaneContext, stuck: &mut StuckWallets) -> Vec<RecordJob> {
        let mut deferred = Vec::new();
        let mut parts = vec![self];
        while let Some(part) = parts.pop() {
            let (part, aside) = stuck.set_aside(part, context).await;
            deferred.extend(aside.turn_away());
            match part.run_whole(context).await {
                Ok(answers) => part.answer(answers),
                Err(error) => match blame(&error) {
                    Blame::Lock if stuck.search(&part, context).await => parts.push(part),
                    Blame::Job | Blame::Collision if part.len() > 1 => {
                        let (first, second) = part.halves();
                        parts.extend([second, first]);
                    }
                    Blame::Others | Blame::Lock => {
                        tracing::warn!(
                            cause = cause(&error),
                            jobs = part.len(),
                            "a group could not be committed now"
                        );
                        deferred.extend(part.turn_away());
                    }
                    Blame::Job | Blame::Collision | Blame::Unknown => part.fail(error),
                },
            }
        }
        deferred
    }

    pub(super) fn len(&self) -> usize {
        self.records.len().saturating_add(self.reserves.len())
    }

    /// Splits the group into two, in order, records first.
    fn halves(mut self) -> (Self, Self) {
        let keep = self.len().div_ceil(2);
        let records = self.records.split_off(keep.min(self.records.len()));
        let rest = keep.saturating_sub(self.records.len());
        let reserves = self.reserves.split_off(rest.min(self.reserves.len()));
        (self, Self { records, reserves })
    }

    /// Divides the group into its other jobs, and the reserves that debit these accounts with the records of these
    /// purchases.
    pub(super) fn divide(self, debited: &BTreeSet<i64>, purchases: &BTreeSet<i64>) -> (Self, Self) {
        let debits = |job: &ReserveJob| debited.contains(&job.reservation.request.debited_account.0);
        let (reserves_aside, reserves) = self.reserves.into_iter().partition(debits);
        let (records_aside, records) =
            self.records.into_iter().partition(|job| purchases.contains(&job.submitted.id.0));
        (Self { records, reserves }, Self { records: records_aside, reserves: reserves_aside })
    }

    /// Runs the group as one transaction. Runs it once more if the database was busy or unavailable, or after a
    /// collision.
    async fn run_whole(&self, context: &LaneContext) -> Result<GroupAnswers, DatabaseError> {
        if self.len() == 0 {
            return Ok(GroupAnswers::default());
        }
        match self.transact(context).await {
            Err(error) if matches!(blame(&error), Blame::Others | Blame::Collision) => {
                tracing::debug!(cause = cause(&error), jobs = self.len(), "a group is run again");
                self.transact(context).await
            }
            outcome => outcome,
        }
    }

    async fn transact(&self, context: &LaneContext) -> Result<GroupAnswers, DatabaseError> {
        let transaction = context.pool.transaction().await?;
        // On a timeout, the dropped transaction closes its connection.
        let decided = timeout(context.deadline, self.decide(&transaction, context)).await;
        let decided = match decided.map_err(DatabaseError::unavailable)? {
            Ok(decided) => decided,
            Err(error) => {
                transaction.roll_back().await;
                return Err(error);
            }
        };
        let mut writes = transaction.writes();
        let sent = timeout(context.deadline, decided.write(&mut writes)).await;
        let sent = sent.map_err(DatabaseError::unavailable)?;
        self.hit(Point::ReserveBeforeCommit, Point::RecordBeforeCommit);
        let ended = writes.end(sent).await;
        self.hit(Point::ReserveAfterCommit, Point::RecordAfterCommit);
        ended.map(|()| decided.answers)
    }

    fn hit(&self, with_reserves: Point, with_records: Point) {
        if !self.reserves.is_empty() {
            hit(with_reserves);
        }
        if !self.records.is_empty() {
            hit(with_records);
        }
    }

    /// Locks and reads what the group needs, and decides:
    ///
    /// 1. begins the transaction;
    /// 2. locks the wallets;
    /// 3. locks the purchases of the records, and reads the inputs of the reserves, then the age of each request;
    /// 4. reads the reserves that an earlier run has committed ([`Self::committed_before`]);
    /// 5. decides in memory: first the records, then the reserves, each in the order of arrival.
    ///
    /// The statements of steps 1 to 3 are sent together. The server runs them in the order in which they are begun, each
    /// after the one before it has its locks. The reads of step 3 do not depend on each other.
    async fn decide<'a>(
        &'a self,
        transaction: &Transaction,
        context: &'a LaneContext,
    ) -> Result<Decided<'a>, DatabaseError> {
        let connection: &Connection = transaction;
        let recorded: BTreeSet<i64> = self.records.iter().map(|job| job.submitted.id.0).collect();
        let debited: BTreeSet<i64> =
            self.reserves.iter().map(|job| job.reservation.request.debited_account.0).collect();
        let (recorded, debited) = (Vec::from_iter(recorded), Vec::from_iter(debited));

        let ((), mut wallets, mut locked, inputs) = tokio::try_join!(
            biased;
            transaction.begin(),
            Wallets::lock(connection, &debited, &recorded),
            locked_purchase::lock(connection, &recorded),
            inputs::read(connection, &self.reserves),
        )?;
        let committed_before = self.committed_before(connection, &inputs).await?;

        let mut records = Records::default();
        let record_answers = self.propose(&mut records, &mut locked, &mut wallets, context)?;
        let mut reserves = Reserves::new(&context.timing);
        let reserve_answers = self.reserves.iter().zip(&inputs).map(|(job, inputs)| {
            let kept = committed_before.get(&job.reservation.id).map(|kept| as_reserved(kept, context));
            kept.map_or_else(|| reserves.decide(&job.reservation, inputs, &locked, &mut wallets), Ok)
        });
        let reserve_answers = reserve_answers.collect();
        let incidents = records.incidents.iter().map(|opened| (opened.of.id, opened.incident)).collect();
        let answers = GroupAnswers { records: record_answers, reserves: reserve_answers, incidents };
        Ok(Decided { records, reserves, answers })
    }

    fn propose<'a>(
        &'a self,
        records: &mut Records<'a>,
        locked: &mut BTreeMap<PurchaseId, LockedPurchase>,
        wallets: &mut Wallets,
        context: &LaneContext,
    ) -> Result<Vec<Option<Recorded>>, DatabaseError> {
        let answers = self.records.iter().map(|job| {
            let purchase = locked.get_mut(&job.submitted.id);
            purchase
                .map(|purchase| records.propose(&job.submitted, purchase, wallets, &context.timing))
                .transpose()
        });
        answers.collect()
    }

    /// Reservations that an earlier run of the same transaction committed although its acknowledgement was lost.
    ///
    /// A reservation that is not found here will never be committed by an earlier run, so it may be refused for good.
    /// An earlier run whose commit may still arrive (in a buffer, or in progress) is an open transaction at the server
    /// and holds the lock of its wallet. Every run locks the same wallet first, and only then looks and refuses. The
    /// server releases locks after the committed rows are visible. A wait for the lock that times out is not a refusal, and
    /// neither is a job that is set aside.
    async fn committed_before(
        &self,
        connection: &Connection,
        inputs: &[inputs::ReserveInputs],
    ) -> Result<BTreeMap<PurchaseId, LockedPurchase>, DatabaseError> {
        let kept = self.reserves.iter().zip(inputs).filter(|(_, inputs)| inputs.is_stored);
        let kept: BTreeSet<i64> = kept.map(|(job, _)| job.reservation.id.0).collect();
        locked_purchase::lock(connection, &Vec::from_iter(kept)).await
    }

    fn answer(self, answers: GroupAnswers) {
        measures::group_committed(self.reserves.len(), self.records.len());
        for (purchase, incident) in answers.incidents {
            tracing::error!(purchase = purchase.0, incident = incident.as_str(), "an incident was opened");
        }
        for (job, recorded) in self.records.into_iter().zip(answers.records) {
            // The caller may be gone. The group is committed all the same.
            let _gone = job.answer.send(recorded.ok_or(RecordError::NoSuchPurchase));
        }
        for (job, reserved) in self.reserves.into_iter().zip(answers.reserves) {
            let _gone = job.answer.send(reserved.map_err(ReserveError::Refused));
        }
    }

    /// Refuses the reserves, for which nothing is held, and returns the records.
    fn turn_away(self) -> Vec<RecordJob> {
        measures::turned_away(self.reserves.len());
        for job in self.reserves {
            let _gone = job.answer.send(Err(ReserveError::Overloaded));
        }
        self.records
    }

    fn fail(self, error: DatabaseError) {
        tracing::error!(cause = cause(&error), jobs = self.len(), "a group failed");
        let collision = collision(&error);
        let may_be_committed = error.may_be_committed();
        if may_be_committed {
            measures::group_unacknowledged();
        }
        let error = Arc::new(error);
        for job in self.records {
            let _gone = job.answer.send(Err(RecordError::Unacknowledged(error.clone())));
        }
        for job in self.reserves {
            let answer = if may_be_committed {
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

impl Decided<'_> {
    /// Sends everything that the group writes: the records, and then the reserves. The commit follows in the same round
    /// trip, so no answer is looked at here. Each statement must fail by itself if it does not do what was decided.
    ///
    /// If a reserve overtook the record that frees its subscriber, its key or its money, a unique index or a constraint
    /// would refuse it, nothing would be committed, and [`Group::run`] would run the group again or split it, records first.
    async fn write(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        self.records.approve_operator_actions(writes).await?;
        self.records.write(writes).await?;
        self.reserves.write(writes).await?;
        self.records.refuse_vends_of_others(writes).await?;
        self.records.insert_operator_actions(writes).await
    }
}

/// The unique index that allows at most one open purchase per subscriber.
const ONE_OPEN: &str = "purchases_one_open_per_subscriber";

/// The unique index that lets one purchase at a time hold an idempotency key.
const ONE_PER_USE_OF_KEY: &str = "purchases_one_per_use_of_key";

/// The refusal that a repeated collision means for a reserve.
fn collision(error: &DatabaseError) -> Option<ReserveRefusal> {
    let DatabaseError::Duplicate { constraint } = error else { return None };
    match constraint.as_str() {
        ONE_OPEN => Some(ReserveRefusal::Pending { open: None }),
        ONE_PER_USE_OF_KEY => Some(ReserveRefusal::KeyTaken),
        _ => None,
    }
}

/// The purchase as its reserve left it: the first lifecycle, with fence 1. Later changes are ignored, because later
/// fences belong to other holders. If another process has claimed the purchase since, the caller's record under
/// fence 1 is refused.
///
/// It is not new: an earlier run made it, whose answer was [`ReserveError::Unacknowledged`]. A run that a lane repeats by itself is
/// always new, because the run before it was certainly not committed.
fn as_reserved(purchase: &LockedPurchase, context: &LaneContext) -> Reserved {
    let at = purchase.created_at;
    let lifecycle = Lifecycle::reserved(purchase.lifecycle.handling, at, &context.timing);
    Reserved { lifecycle, at, is_new: false }
}

fn cause(error: &DatabaseError) -> &(dyn std::error::Error + 'static) {
    error
}

fn blame(error: &DatabaseError) -> Blame {
    if error.is_lock_timeout() {
        Blame::Lock
    } else if error.may_pass() {
        Blame::Others
    } else if error.may_be_committed() {
        Blame::Unknown
    } else if matches!(error, DatabaseError::Duplicate { .. }) {
        Blame::Collision
    } else {
        Blame::Job
    }
}
