//! The inputs of a group's reserves, read from the database under the locks of their wallets.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use database::{Connection, DatabaseError, Run, Statement, column, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use ledger::AccountId;
use money::Currency;
use purchase::{Authority, PurchaseId};

use super::ReserveJob;
use crate::{
    BatchClaim, PendingRequest,
    idempotency::{self, KeyQuestion, KeyStanding},
};

#[cfg(test)]
mod plans;

struct FindCallers;

impl Statement for FindCallers {
    const SQL: &str = include_str!("../sql/find_callers.sql");
}

struct FindReserveInputs;

impl Statement for FindReserveInputs {
    const SQL: &str = include_str!("../sql/find_reserve_inputs.sql");
}

/// The state of a reservation's request after everything else about it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestNow {
    pub(super) age: Duration,
    pub(super) is_abandoned: bool,
}

impl RequestNow {
    pub(super) fn of(pending: &dyn PendingRequest) -> Self {
        Self { age: pending.age(), is_abandoned: pending.is_abandoned() }
    }
}

/// The inputs for the decision about one reservation.
#[derive(Clone, Debug)]
pub(super) struct ReserveInputs {
    pub(super) at: DateTime<Utc>,
    pub(super) request: RequestNow,
    pub(super) caller: Caller,
    pub(super) is_stored: bool,
    pub(super) open_purchase: Option<PurchaseId>,
    /// A confirm that arrived before this moment cannot buy under the reference. `None` if this one arrived later.
    pub(super) reference_rests_until: Option<DateTime<Utc>>,
    /// Whether its idempotency key was closed after it arrived.
    pub(super) key_is_closed: bool,
    pub(super) is_offered: bool,
    pub(super) is_on_allow_list: bool,
    pub(super) pause: Option<PauseNow>,
    /// What is stored about its idempotency key. The default if it has none.
    pub(super) key: KeyStanding,
}

/// The provider's sales of the product are paused.
#[derive(Clone, Copy, Debug)]
pub(super) struct PauseNow {
    /// `None` if an operator ends it.
    pub(super) until: Option<DateTime<Utc>>,
}

/// What must be known about the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) organisation_is_active: bool,
    /// In staging, an organisation may buy only for the subscribers on its allow-list.
    pub(super) is_locked_to_allow_list: bool,
    pub(super) authority_is_live: bool,
    pub(super) commission_account: Option<AccountId>,
}

#[derive(diesel::QueryableByName)]
struct CallerRow {
    #[diesel(sql_type = BigInt)]
    ordinal: i64,
    #[diesel(sql_type = Bool)]
    organisation_is_active: bool,
    #[diesel(sql_type = Bool)]
    is_locked_to_allow_list: bool,
    #[diesel(sql_type = Bool)]
    authority_is_live: bool,
    #[diesel(sql_type = Nullable<BigInt>)]
    commission_account_id: Option<i64>,
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = Bool)]
    is_stored: bool,
    #[diesel(sql_type = Nullable<BigInt>)]
    open_purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    reference_rests_until: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    is_offered: bool,
    #[diesel(sql_type = Bool)]
    is_on_allow_list: bool,
    #[diesel(sql_type = Bool)]
    is_paused: bool,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    paused_until: Option<DateTime<Utc>>,
}

/// Organisation, client, user and access token, the currency of the purchase, and the line of a batch that it buys.
type CallerKey = (i64, i64, i64, i64, Currency, Option<BatchClaim>);

/// Reads the inputs of each reservation, in their order.
///
/// The age of a request is measured after the database's clock was read. So the moment of arrival that is computed from
/// them is never later than the true one, and no closing that the request must obey is overlooked.
pub(super) async fn read(
    connection: &Connection,
    jobs: &[ReserveJob],
) -> Result<Vec<ReserveInputs>, DatabaseError> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let asked = keys_of(jobs);
    let (callers, rows, mut keys) = tokio::try_join!(
        biased;
        find_callers(connection, jobs),
        load(connection, jobs),
        idempotency::read_keys(connection, &asked),
    )?;
    if rows.len() != jobs.len() {
        return Err(DatabaseError::Stale { what: "a reservation of the group" });
    }
    let inputs = jobs.iter().zip(rows).enumerate().map(|(place, (job, row))| {
        let caller = callers.get(&caller_key(job)).copied();
        let key = keys.remove(&place).unwrap_or_default();
        let request = RequestNow::of(&*job.reservation.pending);
        let arrived = row.at - rounded_up(request.age);
        Ok(ReserveInputs {
            at: row.at,
            request,
            caller: caller.ok_or(DatabaseError::Stale { what: "an organisation" })?,
            is_stored: row.is_stored,
            open_purchase: row.open_purchase_id.map(PurchaseId),
            reference_rests_until: row.reference_rests_until.filter(|until| arrived <= *until),
            key_is_closed: key.closed_at.is_some_and(|closed_at| arrived <= closed_at),
            is_offered: row.is_offered,
            is_on_allow_list: row.is_on_allow_list,
            pause: row.is_paused.then_some(PauseNow { until: row.paused_until }),
            key,
        })
    });
    inputs.collect()
}

/// The keys that the reservations ask for, each with the index of its reservation.
fn keys_of(jobs: &[ReserveJob]) -> Vec<KeyQuestion<'_>> {
    let asked = jobs.iter().enumerate().filter_map(|(place, job)| {
        let keyed = job.reservation.keyed.as_ref()?;
        Some(KeyQuestion { place, client: job.reservation.authority.client, key: &keyed.key })
    });
    asked.collect()
}

async fn find_callers(
    connection: &Connection,
    jobs: &[ReserveJob],
) -> Result<BTreeMap<CallerKey, Caller>, DatabaseError> {
    let mut keys: Vec<CallerKey> = jobs.iter().map(caller_key).collect();
    keys.sort_unstable();
    keys.dedup();
    let rows: Vec<CallerRow> = prepared::<FindCallers>()
        .bind::<Array<BigInt>, _>(column(&keys, |key| key.0))
        .bind::<Array<BigInt>, _>(column(&keys, |key| key.1))
        .bind::<Array<BigInt>, _>(column(&keys, |key| key.2))
        .bind::<Array<BigInt>, _>(column(&keys, |key| key.3))
        .bind::<Array<Text>, _>(column(&keys, |key| key.4.as_str()))
        .bind::<Array<Nullable<BigInt>>, _>(column(&keys, |key| key.5.map(|claim| claim.batch)))
        .bind::<Array<Nullable<Integer>>, _>(column(&keys, |key| key.5.map(|claim| claim.line)))
        .bind::<Array<Nullable<BigInt>>, _>(column(&keys, |key| key.5.map(|claim| claim.fence)))
        .load(connection)
        .await?;
    let known = rows.into_iter().filter_map(|row| {
        let position = usize::try_from(row.ordinal).ok()?.checked_sub(1)?;
        let caller = Caller {
            organisation_is_active: row.organisation_is_active,
            is_locked_to_allow_list: row.is_locked_to_allow_list,
            authority_is_live: row.authority_is_live,
            commission_account: row.commission_account_id.map(AccountId),
        };
        Some((*keys.get(position)?, caller))
    });
    Ok(known.collect())
}

async fn load(connection: &Connection, jobs: &[ReserveJob]) -> Result<Vec<Row>, DatabaseError> {
    let rows: Vec<Row> = prepared::<FindReserveInputs>()
        .bind::<Array<BigInt>, _>(column(jobs, |job| job.reservation.id.0))
        .bind::<Array<BigInt>, _>(column(jobs, |job| job.reservation.authority.organisation.0))
        .bind::<Array<Text>, _>(column(jobs, |job| job.reservation.request.product.as_str()))
        .bind::<Array<Text>, _>(column(jobs, |job| job.reservation.request.subscriber.as_str()))
        .bind::<Array<Nullable<Text>>, _>(column(jobs, |job| {
            job.reservation.request.external_reference.as_deref()
        }))
        .bind::<Array<Text>, _>(column(jobs, |job| job.reservation.request.provider_code.as_str()))
        .load(connection)
        .await?;
    Ok(rows)
}

fn caller_key(job: &ReserveJob) -> CallerKey {
    let authority = &job.reservation.authority;
    let currency = job.reservation.price.total.currency();
    let Authority { organisation, client, user, access_token } = *authority;
    (organisation.0, client.0, user.0, access_token.0, currency, job.reservation.batch)
}

/// To the next microsecond, which is the resolution of the database. Never more than one day, because no request waits
/// that long.
fn rounded_up(age: Duration) -> TimeDelta {
    const DAY: i64 = 86_400_000_000;
    TimeDelta::microseconds(i64::try_from(age.as_micros().saturating_add(1)).unwrap_or(DAY).min(DAY))
}
