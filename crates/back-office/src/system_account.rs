//! The numbers of the system accounts.

use database::{Connection, DatabaseError, Run};
use diesel::{ExpressionMethods, QueryDsl};
use ledger::{AccountId, SystemAccount};
use money::Currency;

use crate::schema::accounts;

/// The system account of this role and currency. It is opened with the first wallet of the currency.
pub(crate) async fn find(
    connection: &Connection,
    role: SystemAccount,
    currency: Currency,
) -> Result<AccountId, DatabaseError> {
    let found = accounts::table
        .filter(accounts::house.eq(role.as_str()))
        .filter(accounts::currency.eq(currency.as_str()))
        .select(accounts::id)
        .optional::<i64>(connection)
        .await?;
    let missing = || DatabaseError::corrupt("accounts", "house", format!("{} {currency}", role.as_str()));
    found.map(AccountId).ok_or_else(missing)
}
