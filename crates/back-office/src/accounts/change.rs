//! What the operator may change about a wallet.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use directory::AuditContext;
use ledger::AccountId;
use purchase::{Handling, OrganisationId};
use serde_json::{Map, Value};

use super::{absent, log};

/// The changes to an account. An absent field stays as it is.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// Its label.
    pub name: Option<String>,
    /// Which side settles doubt about purchases that are made from now on.
    pub handling: Option<Handling>,
    /// Whether a retry may settle them.
    pub retries_enabled: Option<bool>,
    /// Its position in a list.
    pub rank: Option<i32>,
    /// The amount in minor units below which its balance is low: the feed then tells its organisation. Zero: it is never low.
    pub low_balance: Option<i64>,
}

/// Applies the changes to a wallet.
pub async fn change_account(
    database: &Database,
    account: AccountId,
    change: AccountChange,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let written = prepared::<ChangeAccount>()
                .bind::<BigInt, _>(account.0)
                .bind::<Nullable<Text>, _>(change.name.as_deref())
                .bind::<Nullable<Text>, _>(change.handling.map(Handling::as_str))
                .bind::<Nullable<Bool>, _>(change.retries_enabled)
                .bind::<Nullable<Integer>, _>(change.rank)
                .bind::<Nullable<BigInt>, _>(change.low_balance)
                .load::<OwnerRow>(transaction);
            let owner = written.await?.into_iter().next().ok_or_else(|| absent(account))?;
            let organisation = OrganisationId(owner.organisation_id);
            log(transaction, "account.changed", account, organisation, change.details(), &act).await
        })
    });
    work.await
}

struct ChangeAccount;

impl Statement for ChangeAccount {
    const SQL: &str = "-- change_account
UPDATE accounts SET name = coalesce($2, name), handling = coalesce($3, handling),
    retries_enabled = coalesce($4, retries_enabled), rank = coalesce($5, rank),
    low_balance = nullif(coalesce($6, low_balance), 0)
WHERE id = $1 AND organisation_id IS NOT NULL
RETURNING organisation_id";
}

#[derive(diesel::QueryableByName)]
struct OwnerRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
}

impl AccountChange {
    /// Whether nothing changes.
    pub const fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.handling.is_none()
            && self.retries_enabled.is_none()
            && self.rank.is_none()
            && self.low_balance.is_none()
    }

    /// The details for the audit log.
    fn details(&self) -> Value {
        let mut details = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                details.insert(name.to_owned(), value);
            }
        };
        add("name", self.name.as_deref().map(Value::from));
        add("handling", self.handling.map(|handling| handling.as_str().into()));
        add("retries_enabled", self.retries_enabled.map(Value::from));
        add("rank", self.rank.map(Value::from));
        add("low_balance_minor", self.low_balance.map(Value::from));
        Value::Object(details)
    }
}
