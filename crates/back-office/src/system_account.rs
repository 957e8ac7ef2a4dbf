//! The numbers of the system accounts.

use database::{Connection, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Text};
use ledger::{AccountId, SystemAccount};
use money::Currency;

struct FindSystemAccount;

impl Statement for FindSystemAccount {
    const SQL: &str = "-- find_house_account\nSELECT id FROM accounts WHERE house = $1 AND currency = $2";
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The system account of this role and currency. It is opened with the first wallet of the currency.
pub(crate) async fn find(
    connection: &Connection,
    role: SystemAccount,
    currency: Currency,
) -> Result<AccountId, DatabaseError> {
    let rows: Vec<Row> = prepared::<FindSystemAccount>()
        .bind::<Text, _>(role.as_str())
        .bind::<Text, _>(currency.as_str())
        .load(connection)
        .await?;
    let missing = || DatabaseError::corrupt("accounts", "house", format!("{} {currency}", role.as_str()));
    Ok(AccountId(rows.into_iter().next().ok_or_else(missing)?.id))
}
