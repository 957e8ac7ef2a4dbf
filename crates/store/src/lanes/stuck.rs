//! The wallets that another session keeps locked, for example because a payment was begun in it and never ended.
//!
//! A group waits for each of its wallets until the lock timeout, and is then not committed. So a lane remembers such a
//! wallet, and sets its jobs aside until it can be locked again. All other jobs go on. Nothing is known about a job that is
//! set aside, so it is never refused for good.

use std::{collections::BTreeSet, time::Duration};

use database::{Connection, DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable},
};
use futures_util::FutureExt as _;
use tokio::time::{Interval, interval, timeout};

use super::{LaneContext, group::Group, wallets::Wallets};

/// How long the lane waits for a single wallet, to tell one that stays locked from one that other processes use all the
/// time. The latter is locked at nearly every look, but a wait for it is short.
const SHORT_WAIT: &str = "SET LOCAL lock_timeout = '100ms'";

/// The time between two such waits for stuck wallets. They hold up the whole lane.
const BETWEEN_WAITS: Duration = Duration::from_secs(2);

struct LookAtWallets;

impl Statement for LookAtWallets {
    const SQL: &str = include_str!("../sql/look_at_wallets.sql");
}

/// A wallet that a job needs.
#[derive(Debug, QueryableByName)]
struct Need {
    /// The wallet that the job debits, if it is a reserve.
    #[diesel(sql_type = Nullable<BigInt>)]
    debited_id: Option<i64>,
    /// The purchase of the job, if it is a record.
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = BigInt)]
    wallet_id: i64,
    /// Whether the job changes the wallet. If not, it only refers to it.
    #[diesel(sql_type = Bool)]
    is_changed: bool,
    #[diesel(sql_type = Bool)]
    is_free: bool,
}

/// The stuck wallets of a lane.
#[derive(Debug)]
pub(super) struct StuckWallets {
    stuck: BTreeSet<i64>,
    /// When the next of them is waited for.
    next_wait: Interval,
    /// The last one that was waited for.
    waited_for: i64,
}

impl StuckWallets {
    /// No stuck wallets. Must be called on a runtime.
    pub(super) fn none() -> Self {
        Self { stuck: BTreeSet::new(), next_wait: interval(BETWEEN_WAITS), waited_for: 0 }
    }

    /// Divides a group into the jobs that may run and those that need a stuck wallet. A wallet that can be locked again is
    /// no longer stuck.
    pub(super) async fn set_aside(&mut self, group: Group, context: &LaneContext) -> (Group, Group) {
        if self.stuck.is_empty() {
            return (group, Group::default());
        }
        let stuck: Vec<i64> = self.stuck.iter().copied().collect();
        let mut needs = look(&group, Some(&stuck), context).await;
        for need in needs.iter().filter(|need| need.is_changed && need.is_free) {
            self.forget(need.wallet_id);
        }
        needs.retain(|need| !need.is_free);
        if let Some(wallet) = self.wait_for_one(&needs, context).await {
            self.forget(wallet);
            needs.retain(|need| need.wallet_id != wallet);
        }
        let debited: BTreeSet<i64> = needs.iter().filter_map(|need| need.debited_id).collect();
        let purchases: BTreeSet<i64> = needs.iter().filter_map(|need| need.purchase_id).collect();
        group.divide(&debited, &purchases)
    }

    /// Remembers the wallets of a group that stay locked. Call it when the group has waited for a lock until the timeout.
    /// Returns whether there is one.
    pub(super) async fn search(&mut self, group: &Group, context: &LaneContext) -> bool {
        let needs = look(group, None, context).await;
        let locked: BTreeSet<i64> =
            needs.iter().filter(|need| !need.is_free).map(|need| need.wallet_id).collect();
        let mut is_found = false;
        for wallet in locked {
            if !is_soon_free(wallet, context).await {
                tracing::warn!(wallet, "a wallet stays locked, and its jobs are set aside");
                self.stuck.insert(wallet);
                self.next_wait.reset();
                is_found = true;
            }
        }
        is_found
    }

    /// Waits for one of the wallets that are needed, unless a stuck wallet was waited for just before. Returns it if it can
    /// be locked again. Without this, a wallet that other processes use all the time would stay stuck here.
    async fn wait_for_one(&mut self, needs: &[Need], context: &LaneContext) -> Option<i64> {
        let last = self.waited_for;
        let next = needs.iter().map(|need| need.wallet_id).min_by_key(|wallet| (*wallet <= last, *wallet))?;
        self.next_wait.tick().now_or_never()?;
        self.waited_for = next;
        is_soon_free(next, context).await.then_some(next)
    }

    fn forget(&mut self, wallet: i64) {
        if self.stuck.remove(&wallet) {
            tracing::info!(wallet, "a wallet can be locked again");
        }
    }
}

/// The wallets of the group's jobs, or those among them that are asked for. None if the database does not tell: then the
/// group waits for its wallets.
async fn look(group: &Group, among: Option<&[i64]>, context: &LaneContext) -> Vec<Need> {
    let looked = timeout(context.deadline, async {
        let transaction = context.pool.transaction().await?;
        let looked = tokio::try_join!(biased; transaction.begin(), find_needs(&transaction, group, among));
        transaction.roll_back().await;
        looked.map(|((), needs)| needs)
    });
    looked.await.map_err(DatabaseError::unavailable).flatten().unwrap_or_else(|error| {
        let cause: &(dyn std::error::Error + 'static) = &error;
        tracing::warn!(cause, "the locks of wallets could not be checked");
        Vec::new()
    })
}

async fn find_needs(
    connection: &Connection,
    group: &Group,
    among: Option<&[i64]>,
) -> Result<Vec<Need>, DatabaseError> {
    prepared::<LookAtWallets>()
        .bind::<Array<BigInt>, _>(column(&group.reserves, |job| job.reservation.request.debited_account.0))
        .bind::<Array<BigInt>, _>(column(&group.records, |job| job.submitted.id.0))
        .bind::<Nullable<Array<BigInt>>, _>(among)
        .load(connection)
        .await
}

/// Whether the wallet can be locked within a short wait. Also true if that could not be found out.
async fn is_soon_free(wallet: i64, context: &LaneContext) -> bool {
    let wallet = [wallet];
    let waited = timeout(context.deadline, async {
        let transaction = context.pool.transaction().await?;
        let waited = tokio::try_join!(
            biased;
            transaction.begin(),
            transaction.batch_execute(SHORT_WAIT),
            Wallets::lock(&transaction, &wallet, &[]),
        );
        transaction.roll_back().await;
        waited.map(drop)
    });
    !matches!(waited.await, Ok(Err(error)) if error.is_lock_timeout())
}
