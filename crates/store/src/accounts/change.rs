//! What the operator may change about a wallet.

use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use ledger::AccountId;
use purchase::{Handling, OrganisationId};
use serde_json::{Map, Value};

use super::{absent, log};
use crate::identity::Act;
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

/// What is to be different about an account; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// Its label.
    pub name: Option<String>,
    /// Who settles doubt about purchases that are made from now on.
    pub handling: Option<Handling>,
    /// Whether retry may settle them.
    pub retries_enabled: Option<bool>,
    /// Its place in a list.
    pub rank: Option<i32>,
}

impl Store {
    /// Changes what is to be different about a wallet.
    pub async fn change_account(
        &self,
        account: AccountId,
        change: AccountChange,
        act: Act,
    ) -> Result<(), StoreError> {
        let work = self.operate(move |transaction| {
            Box::pin(async move {
                let written = prepared::<ChangeAccount>()
                    .bind::<BigInt, _>(account.0)
                    .bind::<Nullable<Text>, _>(change.name.as_deref())
                    .bind::<Nullable<Text>, _>(change.handling.map(Handling::as_str))
                    .bind::<Nullable<Bool>, _>(change.retries_enabled)
                    .bind::<Nullable<Integer>, _>(change.rank)
                    .load::<OwnerRow>(&mut *transaction);
                let owner = written.await?.into_iter().next().ok_or_else(|| absent(account))?;
                let organisation = OrganisationId(owner.organisation_id);
                log(transaction, "account.changed", account, organisation, change.told(), &act).await
            })
        });
        work.await
    }
}

struct ChangeAccount;

impl Statement for ChangeAccount {
    const SQL: &str = "-- change_account
UPDATE accounts SET name = coalesce($2, name), handling = coalesce($3, handling),
    retries_enabled = coalesce($4, retries_enabled), rank = coalesce($5, rank)
WHERE id = $1 AND organisation_id IS NOT NULL
RETURNING organisation_id";
}

#[derive(diesel::QueryableByName)]
struct OwnerRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
}

impl AccountChange {
    /// Whether everything stays.
    pub const fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.handling.is_none()
            && self.retries_enabled.is_none()
            && self.rank.is_none()
    }

    /// What the audit log says about it.
    fn told(&self) -> Value {
        let mut told = Map::new();
        let mut tell = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                told.insert(name.to_owned(), value);
            }
        };
        tell("name", self.name.as_deref().map(Value::from));
        tell("handling", self.handling.map(|handling| handling.as_str().into()));
        tell("retries_enabled", self.retries_enabled.map(Value::from));
        tell("rank", self.rank.map(Value::from));
        Value::Object(told)
    }
}
