//! Purchases of a group, as they are on file, under our lock.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use ledger::AccountId;
use money::Money;
use purchase::{Failure, Life, NotificationFlags, PurchaseId};
use vend::{Capabilities, ProviderReference};

use crate::StoreError;
use crate::row::{DeclaredRow, FailureRow, LifeRow, read_currency, read_provider_reference};
use crate::statement::{Statement, prepared};

struct LockPurchases;

impl Statement for LockPurchases {
    const SQL: &str = include_str!("../sql/lock_purchases.sql");
}

#[derive(QueryableByName)]
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
    total: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Array<Text>)]
    incidents: Vec<String>,
    #[diesel(sql_type = Bool)]
    requester_sms: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_sms: bool,
    #[diesel(sql_type = Bool)]
    requester_email: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_email: bool,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(embed)]
    life: LifeRow,
    #[diesel(embed)]
    failure: FailureRow,
    #[diesel(embed)]
    declared: DeclaredRow,
}

/// A purchase under our lock.
#[derive(Clone, Debug)]
pub(super) struct OnFile {
    pub(super) id: PurchaseId,
    pub(super) wallet: AccountId,
    pub(super) commission_account: Option<AccountId>,
    pub(super) provider_code: String,
    /// What the provider is asked to vend.
    pub(super) net: Money,
    /// What is held.
    pub(super) total: Money,
    /// What the organisation earns by it.
    pub(super) commission: Money,
    pub(super) life: Life,
    pub(super) provider_reference: ProviderReference,
    pub(super) failure: Option<Failure>,
    /// The provider transactions for which an incident is open already.
    pub(super) incidents: Vec<String>,
    pub(super) declared: Capabilities,
    /// Which messages are wanted.
    pub(super) notifications: NotificationFlags,
    /// When it was reserved.
    pub(super) created_at: DateTime<Utc>,
    /// The database's time of the lock.
    pub(super) at: DateTime<Utc>,
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
            net: amount(row.net),
            total: amount(row.total),
            commission: amount(row.commission),
            life: row.life.life(row.id)?,
            provider_reference: read_provider_reference(row.id, &row.provider_reference)?,
            failure: row.failure.failure(row.id)?,
            declared: row.declared.capabilities(),
            provider_code: row.provider_code,
            incidents: row.incidents,
            notifications: NotificationFlags {
                requester_sms: row.requester_sms,
                beneficiary_sms: row.beneficiary_sms,
                requester_email: row.requester_email,
                beneficiary_email: row.beneficiary_email,
            },
            created_at: row.created_at,
            at: row.at,
        })
    }
}
