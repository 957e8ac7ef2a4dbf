//! Closes references, so that the final answers of retries stay true.
//!
//! A closing commits, and it waits for the wallets of its organisation. So the closings of one organisation that wait at the
//! same time are one transaction, as in the lanes. Each of them is decided by itself.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use database::{Connection, Database, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text},
};
use purchase::{OrganisationId, PurchaseId};
use tokio::sync::oneshot;
use vend::Product;

use crate::{permits::Permits, records::RetryKey};

/// How many closings of one organisation are one transaction.
const GROUP_MAX: usize = 64;

struct LockOwnWallets;

impl Statement for LockOwnWallets {
    const SQL: &str = "-- lock_own_wallets
SELECT id FROM accounts WHERE organisation_id = $1 ORDER BY id FOR NO KEY UPDATE";
}

pub(crate) struct CloseReferences;

impl Statement for CloseReferences {
    const SQL: &str = include_str!("sql/close_references.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Nullable<BigInt>)]
    newest: Option<i64>,
}

/// A reference that is to be closed.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) key: RetryKey,
    /// The purchase that the answer will be about. `None` if it will say that there is no purchase.
    pub(crate) known: Option<PurchaseId>,
    /// How long the reference rests.
    pub(crate) rest: Duration,
}

/// What became of a closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The reference is closed.
    Yes,
    /// Nothing is closed, because this purchase is newer than the known one.
    OvertakenBy(PurchaseId),
}

/// A closing that waits, and the channel for its answer.
#[derive(Debug)]
struct Job {
    closing: Closing,
    answer: oneshot::Sender<Result<Closed, DatabaseError>>,
}

/// The closings that wait, by organisation.
#[derive(Debug)]
pub(crate) struct Closings {
    permits: Permits,
    waiting: Mutex<HashMap<OrganisationId, VecDeque<Job>>>,
}

impl Closings {
    /// Closings that run in groups, each under a permit.
    pub(crate) fn new(permits: Permits) -> Self {
        Self { permits, waiting: Mutex::default() }
    }

    /// Closes a reference, unless the known purchase is no longer its newest one.
    ///
    /// A caller that has a permit runs all closings of its organisation that wait by then.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] also if too many closings wait. Then this one was not done, or its answer was not awaited.
    /// [`DatabaseError::Stale`] if the known purchase is not there any more.
    pub(crate) async fn close(&self, database: &Database, closing: Closing) -> Result<Closed, DatabaseError> {
        let organisation = closing.key.organisation;
        let (answer, mut answered) = oneshot::channel();
        self.add(organisation, Job { closing, answer });
        loop {
            let permit = tokio::select! {
                biased;
                closed = &mut answered => return closed.unwrap_or(Err(DatabaseError::Stopped)),
                permit = self.permits.take() => permit,
            };
            let permit = match permit {
                Ok(permit) => permit,
                Err(busy) => {
                    drop(answered);
                    self.remove_abandoned(organisation);
                    return Err(busy);
                }
            };
            let group = self.take(organisation);
            if group.is_empty() {
                // Another caller runs the closing.
                drop(permit);
                return answered.await.unwrap_or(Err(DatabaseError::Stopped));
            }
            run(database, organisation, group).await;
        }
    }

    fn add(&self, organisation: OrganisationId, job: Job) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.entry(organisation).or_default().push_back(job);
    }

    /// The next group of an organisation, in the order of arrival. A closing whose caller is gone is dropped.
    fn take(&self, organisation: OrganisationId) -> Vec<Job> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(jobs) = waiting.get_mut(&organisation) else { return Vec::new() };
        jobs.retain(|job| !job.answer.is_closed());
        let group = jobs.drain(..jobs.len().min(GROUP_MAX)).collect();
        if jobs.is_empty() {
            waiting.remove(&organisation);
        }
        group
    }

    fn remove_abandoned(&self, organisation: OrganisationId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = waiting.get_mut(&organisation) {
            jobs.retain(|job| !job.answer.is_closed());
            if jobs.is_empty() {
                waiting.remove(&organisation);
            }
        }
    }
}

/// Runs a group and answers every job.
async fn run(database: &Database, organisation: OrganisationId, group: Vec<Job>) {
    let (closings, answers): (Vec<_>, Vec<_>) =
        group.into_iter().map(|job| (job.closing, job.answer)).unzip();
    match transact(database, organisation, &closings).await {
        Ok(newest) => {
            for ((closing, newest), answer) in closings.iter().zip(newest).zip(answers) {
                // The caller may be gone. The reference is closed all the same.
                let _gone = answer.send(closed(closing.known, newest));
            }
        }
        Err(error) => {
            let error = Arc::new(error);
            for answer in answers {
                let _gone = answer.send(Err(shared(&error)));
            }
        }
    }
}

/// What became of a closing, by the known purchase and the newest one.
fn closed(known: Option<PurchaseId>, newest: Option<PurchaseId>) -> Result<Closed, DatabaseError> {
    match newest {
        _ if newest == known => Ok(Closed::Yes),
        Some(newest) => Ok(Closed::OvertakenBy(newest)),
        None => Err(DatabaseError::Stale { what: "the newest purchase of a reference" }),
    }
}

/// The newest purchase of each reference. A reference whose newest purchase is the known one is closed.
async fn transact(
    database: &Database,
    organisation: OrganisationId,
    closings: &[Closing],
) -> Result<Vec<Option<PurchaseId>>, DatabaseError> {
    let transaction = database.transaction().await?;
    let outcome = lock_and_close(&transaction, organisation, closings).await;
    let newest = transaction.end(outcome).await?;
    if newest.len() == closings.len() {
        Ok(newest)
    } else {
        Err(DatabaseError::Stale { what: "a reference that was to be closed" })
    }
}

/// Every reserve of the organisation locks a wallet before it looks for closed references. This function locks all wallets,
/// and then looks and closes. So a reserve either is committed already and is found here, or it will see the closing.
///
/// The closing is sent together with the statement that begins the transaction. If that statement failed, the closing might
/// be kept on its own. Its caller would get an error and no final answer, and a reference that is closed without an answer
/// only makes confirms wait that arrived before.
async fn lock_and_close(
    transaction: &Transaction,
    organisation: OrganisationId,
    closings: &[Closing],
) -> Result<Vec<Option<PurchaseId>>, DatabaseError> {
    let ((), (), newest) = tokio::try_join!(
        biased;
        transaction.begin(),
        lock_own_wallets(transaction, organisation),
        close(transaction, organisation, closings),
    )?;
    Ok(newest)
}

async fn close(
    connection: &Connection,
    organisation: OrganisationId,
    closings: &[Closing],
) -> Result<Vec<Option<PurchaseId>>, DatabaseError> {
    let rows: Vec<Row> = prepared::<CloseReferences>()
        .bind::<BigInt, _>(organisation.0)
        .bind::<Array<Text>, _>(column(closings, |it| it.key.subscriber.as_str()))
        .bind::<Array<Text>, _>(column(closings, |it| it.key.external_reference.as_str()))
        .bind::<Array<Nullable<Text>>, _>(column(closings, |it| it.key.product.map(Product::as_str)))
        .bind::<Array<Nullable<BigInt>>, _>(column(closings, |it| it.known.map(|id| id.0)))
        .bind::<Array<BigInt>, _>(column(closings, |it| {
            i64::try_from(it.rest.as_micros()).unwrap_or(i64::MAX)
        }))
        .load(connection)
        .await?;
    Ok(rows.into_iter().map(|row| row.newest.map(PurchaseId)).collect())
}

/// Locks all wallets of an organisation, in the order of their numbers.
pub(crate) async fn lock_own_wallets(
    transaction: &Transaction,
    of: OrganisationId,
) -> Result<(), DatabaseError> {
    prepared::<LockOwnWallets>().bind::<BigInt, _>(of.0).execute(transaction).await?;
    Ok(())
}

/// The error of a group, for one of its jobs.
fn shared(error: &Arc<DatabaseError>) -> DatabaseError {
    let source = error.clone().into();
    if matches!(**error, DatabaseError::Busy { .. }) {
        DatabaseError::Busy { source }
    } else {
        DatabaseError::Unacknowledged { source }
    }
}
