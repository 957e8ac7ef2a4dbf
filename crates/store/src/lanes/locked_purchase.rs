//! The purchases of a group, as stored, under this transaction's lock.

use std::collections::BTreeMap;

use catalogue::DeclaredRow;
use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::{Failure, Lifecycle, NotificationFlags, PurchaseId};
use vend::{Capabilities, ProviderReference};

use crate::{
    named::Named,
    row::{FailureRow, LifecycleRow},
};

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
    currency: Named<Currency>,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Text)]
    provider_reference: Named<ProviderReference>,
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
    lifecycle: LifecycleRow,
    #[diesel(embed)]
    failure: FailureRow,
    #[diesel(embed)]
    declared: DeclaredRow,
}

/// A purchase that this transaction has locked.
#[derive(Clone, Debug)]
pub(super) struct LockedPurchase {
    pub(super) id: PurchaseId,
    pub(super) wallet: AccountId,
    pub(super) commission_account: Option<AccountId>,
    pub(super) provider_code: String,
    /// The amount that the provider is asked to vend.
    pub(super) net: Money,
    /// The amount that is held.
    pub(super) total: Money,
    /// The commission that the organisation earns.
    pub(super) commission: Money,
    pub(super) lifecycle: Lifecycle,
    pub(super) provider_reference: ProviderReference,
    pub(super) failure: Option<Failure>,
    /// The provider transactions for which an incident is open already.
    pub(super) incidents: Vec<String>,
    pub(super) declared: Capabilities,
    /// Which messages are wanted.
    pub(super) notifications: NotificationFlags,
    /// When it was reserved.
    pub(super) created_at: DateTime<Utc>,
    /// The database's time when it was locked.
    pub(super) at: DateTime<Utc>,
}

/// Locks these purchases, in the order of their numbers.
pub(super) async fn lock(
    connection: &Connection,
    ids: &[i64],
) -> Result<BTreeMap<PurchaseId, LockedPurchase>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<Row> = prepared::<LockPurchases>().bind::<Array<BigInt>, _>(ids).load(connection).await?;
    rows.into_iter().map(|row| Ok((PurchaseId(row.id), LockedPurchase::try_from(row)?))).collect()
}

impl TryFrom<Row> for LockedPurchase {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("purchases", column, row.id);
        let currency = row.currency.0.ok_or_else(|| corrupt("currency"))?;
        let amount = |minor| Money::from_minor(minor, currency);
        Ok(Self {
            id: PurchaseId(row.id),
            wallet: AccountId(row.account_id),
            commission_account: row.commission_account_id.map(AccountId),
            net: amount(row.net),
            total: amount(row.total),
            commission: amount(row.commission),
            lifecycle: row.lifecycle.lifecycle(row.id)?,
            provider_reference: row.provider_reference.0.ok_or_else(|| corrupt("provider_reference"))?,
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
