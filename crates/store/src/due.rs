//! Open purchases that are due, claimed for the worker in batches.
//!
//! A claim moves no money, so it uses no lane and locks no wallet. One transaction locks the purchases that are due and
//! not locked, claims each by the one transition function, and writes them all. It never waits for a transaction that
//! waits for it. It waits for a connection of the lanes' pool before it has any lock. It skips locked purchases. After its
//! locks, it waits only for its own commit. The lanes lock wallets before purchases, and may wait for it. So there can be no
//! deadlock.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use failpoint::{Point, hit};
use purchase::{
    Event, EventKind, Fence, Next, OrganisationId, Record, Rules, StateName, TimedEvent, Timing, step,
};
use vend::Capabilities;

use crate::{SealingKeys, Store, records::Row};

/// How many purchases of a provider the worker can take now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSlots {
    /// The code of the provider.
    pub provider_code: String,
    /// The maximum number of purchases.
    pub slots: u16,
    /// Claims nothing that was due before, if this is given: [`ClaimedPurchase::oldest_due`] of the claim before.
    pub since: Option<DateTime<Utc>>,
    /// How many purchases of this provider the worker has in hand already, by organisation.
    pub in_hand: BTreeMap<OrganisationId, u16>,
}

impl DueSlots {
    /// What is in hand of all these providers: the provider, the organisation, and how many purchases.
    pub fn in_hand(slots: &[Self]) -> Vec<(&str, OrganisationId, u16)> {
        slots
            .iter()
            .flat_map(|due| {
                due.in_hand
                    .iter()
                    .map(|(organisation, count)| (due.provider_code.as_str(), *organisation, *count))
            })
            .collect()
    }
}

/// A purchase that belongs to the worker until its lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedPurchase {
    /// Its record under the new fence.
    pub record: Record,
    /// What the provider's connection is declared to do in doubt.
    pub declared: Capabilities,
    /// The database's time of the claim.
    pub at: DateTime<Utc>,
    /// Since when the oldest purchase of this provider was due that the claim saw, claimed or left. `None` if it did not look at all
    /// organisations.
    pub oldest_due: Option<DateTime<Utc>>,
}

struct LockDue;

impl Statement for LockDue {
    const SQL: &str = include_str!("sql/lock_due.sql");
}

struct GetDue;

impl Statement for GetDue {
    const SQL: &str = concat!(
        "-- get_due\n",
        include_str!("sql/select_record.sql"),
        "WHERE p.id = ANY ($1)\nORDER BY p.due_at, p.id"
    );
}

struct ClaimPurchases;

impl Statement for ClaimPurchases {
    const SQL: &str = include_str!("sql/claim_purchases.sql");
}

struct PutOff;

impl Statement for PutOff {
    const SQL: &str = "-- put_off
UPDATE purchases SET due_at = clock_timestamp() + $2 * interval '1 millisecond' WHERE id = ANY ($1)";
}

#[derive(QueryableByName)]
struct Due {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    oldest: Option<DateTime<Utc>>,
}

/// A claim to be written.
struct Claim {
    from: (StateName, Fence),
    due_at: Option<DateTime<Utc>>,
    to: ClaimedPurchase,
}

impl Store {
    /// Claims purchases that are due, up to the slots of each provider. The organisations take turns: the next purchase is the
    /// oldest of the one with the fewest in hand. No other process gets them until their leases end.
    ///
    /// # Errors
    /// After an error the claims may be committed all the same. Then no process works on them until their leases end,
    /// and they are due again.
    pub async fn claim_due(&self, slots: Vec<DueSlots>) -> Result<Vec<ClaimedPurchase>, DatabaseError> {
        let slots: Vec<DueSlots> = slots.into_iter().filter(|due| due.slots > 0).collect();
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        let claim = self.claiming.operate(move |transaction| {
            Box::pin(async move {
                let due = lock_due(transaction, &slots).await?;
                let rows = read_locked(transaction, &due).await?;
                let claim = |row: Row| {
                    let oldest = due.get(&row.id).copied().flatten();
                    claim(row, oldest, &sealing, &timing)
                };
                let (claims, others): (Vec<_>, Vec<_>) = rows.into_iter().map(claim).partition(Result::is_ok);
                let claims: Vec<Claim> = claims.into_iter().flatten().collect();
                let others: Vec<i64> = others.into_iter().filter_map(Result::err).collect();
                write_claims(transaction, &claims).await?;
                put_off(transaction, &others, timing.plan.longest_pause).await?;
                Ok(claims.into_iter().map(|claim| claim.to).collect::<Vec<_>>())
            })
        });
        let claimed = claim.await?;
        if !claimed.is_empty() {
            hit(Point::DueAfterCommit);
        }
        Ok(claimed)
    }
}

/// The purchases that are due, each with the oldest due time of its provider.
async fn lock_due(
    transaction: &Transaction,
    slots: &[DueSlots],
) -> Result<BTreeMap<i64, Option<DateTime<Utc>>>, DatabaseError> {
    let in_hand = DueSlots::in_hand(slots);
    let due: Vec<Due> = prepared::<LockDue>()
        .bind::<Array<Text>, _>(column(slots, |due| due.provider_code.as_str()))
        .bind::<Array<BigInt>, _>(column(slots, |due| i64::from(due.slots)))
        .bind::<Array<Nullable<Timestamptz>>, _>(column(slots, |due| due.since))
        .bind::<Array<Text>, _>(column(&in_hand, |(provider_code, ..)| *provider_code))
        .bind::<Array<BigInt>, _>(column(&in_hand, |(_provider, organisation, _count)| organisation.0))
        .bind::<Array<BigInt>, _>(column(&in_hand, |(.., count)| i64::from(*count)))
        .load(transaction)
        .await?;
    Ok(due.into_iter().map(|due| (due.id, due.oldest)).collect())
}

/// Reads the purchases after the lock, so that each is read as its previous holder left it.
async fn read_locked(
    transaction: &Transaction,
    due: &BTreeMap<i64, Option<DateTime<Utc>>>,
) -> Result<Vec<Row>, DatabaseError> {
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = due.keys().copied().collect();
    prepared::<GetDue>().bind::<Array<BigInt>, _>(ids).load(transaction).await
}

/// Claims one purchase. The error is its number, if it cannot be read or cannot be claimed.
fn claim(
    row: Row,
    oldest_due: Option<DateTime<Utc>>,
    sealing: &SealingKeys,
    timing: &Timing,
) -> Result<Claim, i64> {
    let id = row.id;
    let found = row.read_in_list(sealing, timing).map_err(|error| {
        let cause: &dyn std::error::Error = &error;
        tracing::error!(cause, purchase = id, "a purchase that is due cannot be read");
        id
    })?;
    let (lifecycle, at) = (&found.record.lifecycle, found.at);
    let rules = Rules { declared: found.declared, timing: *timing };
    let claimed = match step(lifecycle, &TimedEvent { at, event: Event::Claimed }, &rules) {
        Ok(Next::Moved(claimed, _effects)) => claimed,
        Ok(Next::AlreadyThere) => return Err(id),
        Err(illegal) => {
            tracing::warn!(purchase = id, %illegal, "a purchase that is due cannot be claimed");
            return Err(id);
        }
    };
    Ok(Claim {
        from: (lifecycle.state.name(), lifecycle.fence),
        due_at: timing.plan.due_at(&claimed, at, &rules),
        to: ClaimedPurchase {
            record: Record { lifecycle: claimed, recovery: None, ..found.record },
            declared: found.declared,
            at,
            oldest_due,
        },
    })
}

async fn write_claims(transaction: &Transaction, claims: &[Claim]) -> Result<(), DatabaseError> {
    if claims.is_empty() {
        return Ok(());
    }
    let rows = prepared::<ClaimPurchases>()
        .bind::<Array<BigInt>, _>(column(claims, |claim| claim.to.record.id.0))
        .bind::<Array<Text>, _>(column(claims, |claim| claim.from.0.as_str()))
        .bind::<Array<BigInt>, _>(column(claims, |claim| claim.from.1.0))
        .bind::<Array<Text>, _>(column(claims, |claim| claim.to.record.lifecycle.state.name().as_str()))
        .bind::<Array<BigInt>, _>(column(claims, |claim| claim.to.record.lifecycle.fence.0))
        .bind::<Array<Nullable<Timestamptz>>, _>(column(claims, |claim| {
            claim.to.record.lifecycle.lease_until
        }))
        .bind::<Array<Nullable<Timestamptz>>, _>(column(claims, |claim| claim.due_at))
        .bind::<Array<Timestamptz>, _>(column(claims, |claim| claim.to.at))
        .bind::<Text, _>(EventKind::Claimed.as_str())
        .execute(transaction)
        .await?;
    hit(Point::DueBeforeCommit);
    if rows == claims.len() { Ok(()) } else { Err(DatabaseError::Stale { what: "a locked purchase" }) }
}

/// Puts off the purchases that could not be claimed, unchanged, so that they do not take the places of others in the
/// queue.
async fn put_off(transaction: &Transaction, ids: &[i64], pause: Duration) -> Result<(), DatabaseError> {
    if ids.is_empty() {
        return Ok(());
    }
    prepared::<PutOff>()
        .bind::<Array<BigInt>, _>(ids)
        .bind::<BigInt, _>(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
        .execute(transaction)
        .await?;
    Ok(())
}

#[cfg(test)]
mod plans;
