//! Purchases of a group, as they are on file, under our lock.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use ledger::{AccountId, Settlement};
use money::{Currency, Money};
use purchase::{Failure, Life, PurchaseId};
use vend::{Capabilities, ProviderReference};

use crate::StoreError;
use crate::row::{LifeColumns, read_currency, read_failure, read_provider_reference};
use crate::statement::{Statement, prepared};

struct LockPurchases;

impl Statement for LockPurchases {
    const SQL: &str = include_str!("../sql/lock_purchases.sql");
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    commission_account_id: Option<i64>,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    charge: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    handling: String,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    lease_until: Option<DateTime<Utc>>,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = SmallInt)]
    requests: i16,
    #[diesel(sql_type = Timestamptz)]
    window_closes_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<SmallInt>)]
    copies: Option<i16>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_sent_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    no_record_since: Option<DateTime<Utc>>,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_transaction: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_reason: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_wording: Option<String>,
    #[diesel(sql_type = Array<Text>)]
    incidents: Vec<String>,
    #[diesel(sql_type = Bool)]
    repeat_is_safe: bool,
    #[diesel(sql_type = Bool)]
    remembers_refusals: bool,
    #[diesel(sql_type = Bool)]
    not_found_counts: bool,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

/// A purchase under our lock.
#[derive(Clone, Debug)]
pub(super) struct OnFile {
    pub(super) id: PurchaseId,
    pub(super) wallet: AccountId,
    pub(super) commission_account: Option<AccountId>,
    pub(super) provider_code: String,
    pub(super) settlement: Settlement,
    pub(super) total: Money,
    pub(super) life: Life,
    pub(super) provider_reference: ProviderReference,
    pub(super) failure: Option<Failure>,
    /// The provider transactions for which an incident is open already.
    pub(super) incidents: Vec<String>,
    pub(super) declared: Capabilities,
    /// When it was reserved.
    pub(super) created_at: DateTime<Utc>,
    /// The database's time of the lock.
    pub(super) at: DateTime<Utc>,
}

impl OnFile {
    pub(super) const fn currency(&self) -> Currency {
        self.total.currency()
    }
}

/// Locks these purchases, in the order of their numbers.
pub(super) async fn lock(
    mut connection: &AsyncPgConnection,
    ids: &[i64],
) -> Result<BTreeMap<PurchaseId, OnFile>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<Row> =
        prepared::<LockPurchases>().bind::<Array<BigInt>, _>(ids).load(&mut connection).await?;
    rows.into_iter().map(|row| Ok((PurchaseId(row.id), OnFile::try_from(row)?))).collect()
}

impl TryFrom<Row> for OnFile {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let currency = read_currency("purchases", row.id, &row.currency)?;
        let amount = |minor| Money::from_minor(minor, currency);
        Ok(Self {
            id: PurchaseId(row.id),
            wallet: AccountId(row.account_id),
            commission_account: row.commission_account_id.map(AccountId),
            settlement: Settlement {
                net: amount(row.net),
                charge: amount(row.charge),
                commission: amount(row.commission),
            },
            total: amount(row.total),
            life: row.columns().life()?,
            provider_reference: read_provider_reference(row.id, &row.provider_reference)?,
            failure: read_failure(
                row.id,
                row.failure.as_deref(),
                row.failure_reason.as_deref(),
                row.failure_wording.as_deref(),
            )?,
            declared: Capabilities {
                repeat_is_safe: row.repeat_is_safe,
                remembers_refusals: row.remembers_refusals,
                not_found_counts: row.not_found_counts,
            },
            provider_code: row.provider_code,
            incidents: row.incidents,
            created_at: row.created_at,
            at: row.at,
        })
    }
}

impl Row {
    fn columns(&self) -> LifeColumns<'_> {
        LifeColumns {
            id: self.id,
            state: &self.state,
            handling: &self.handling,
            fence: self.fence,
            lease_until: self.lease_until,
            attempt: self.attempt,
            requests: self.requests,
            window_closes_at: self.window_closes_at,
            copies: self.copies,
            last_sent_at: self.last_sent_at,
            no_record_since: self.no_record_since,
            provider_transaction: self.provider_transaction.as_deref(),
        }
    }
}
