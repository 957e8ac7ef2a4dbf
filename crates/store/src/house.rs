//! The numbers of the house's accounts. They never change, so each is looked up once.

use std::collections::HashMap;
use std::sync::Mutex;

use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use ledger::{AccountId, HouseAccount};
use money::Currency;

use crate::StoreError;
use crate::statement::{Statement, prepared};

/// What has been looked up so far.
#[derive(Debug, Default)]
pub(crate) struct HouseAccounts(Mutex<HashMap<(HouseAccount, Currency), AccountId>>);

struct FindHouseAccount;

impl Statement for FindHouseAccount {
    const SQL: &str = "-- find_house_account\nSELECT id FROM accounts WHERE house = $1 AND currency = $2";
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

impl HouseAccounts {
    /// The account of this role in this currency; it is opened with the first wallet of the currency.
    pub(crate) async fn get(
        &self,
        connection: &AsyncPgConnection,
        role: HouseAccount,
        currency: Currency,
    ) -> Result<AccountId, StoreError> {
        let known = self.0.lock().expect(UNPOISONED).get(&(role, currency)).copied();
        if let Some(id) = known {
            return Ok(id);
        }
        let id = find(connection, role, currency).await?;
        self.0.lock().expect(UNPOISONED).insert((role, currency), id);
        Ok(id)
    }
}

/// The same, found in the database: for a transaction that may have opened the account itself, and may yet be
/// rolled back.
pub(crate) async fn find(
    mut connection: &AsyncPgConnection,
    role: HouseAccount,
    currency: Currency,
) -> Result<AccountId, StoreError> {
    let rows: Vec<Row> = prepared::<FindHouseAccount>()
        .bind::<Text, _>(role.as_str())
        .bind::<Text, _>(currency.as_str())
        .load(&mut connection)
        .await?;
    let missing = || StoreError::corrupt("accounts", "house", format!("{} {currency}", role.as_str()));
    Ok(AccountId(rows.into_iter().next().ok_or_else(missing)?.id))
}

const UNPOISONED: &str = "nothing panics while it holds this lock";
