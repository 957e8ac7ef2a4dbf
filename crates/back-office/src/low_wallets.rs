//! Wallets that are low against their own use: what is left is less than an average day of the last week. An operator can tell the
//! integrator before its tills are refused. The limit that an operator sets for one wallet (`wallet.low` in the feed) is another matter.

use std::collections::BTreeSet;

use catalogue::read_currency;
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text},
};
use ledger::AccountId;
use money::Money;

use crate::measures;

/// A wallet in which less is left than it uses in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowWallet {
    /// The wallet.
    pub account: AccountId,
    /// What is left, without what is held.
    pub available: Money,
    /// What it has used on an average day: of the last seven whole days and today, or of the shorter time that it exists.
    pub used_in_a_day: Money,
}

struct LowWallets;

impl Statement for LowWallets {
    const SQL: &str = include_str!("low_wallets.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    available: i64,
    #[diesel(sql_type = BigInt)]
    used: i64,
}

/// The active wallets in which less is left than they use in a day, by number. One that exists for less than a day is left out, and so
/// are wallets that collect commission.
///
/// # Errors
/// If the database does not answer.
pub async fn list_low_wallets(database: &Database) -> Result<Vec<LowWallet>, DatabaseError> {
    let rows: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<LowWallets>().load(connection).await }))
        .await?;
    rows.into_iter().map(LowWallet::try_from).collect()
}

/// Sets the gauge of this process, and logs each wallet that was not low when this was last called with the same `known`.
pub fn show_low_wallets(low: &[LowWallet], known: &mut BTreeSet<i64>) {
    measures::low_wallets(low.len());
    for wallet in low.iter().filter(|wallet| !known.contains(&wallet.account.0)) {
        tracing::warn!(
            account = wallet.account.0,
            available = %wallet.available,
            used_in_a_day = %wallet.used_in_a_day,
            "a wallet has less than it uses in a day"
        );
    }
    *known = low.iter().map(|wallet| wallet.account.0).collect();
}

impl TryFrom<Row> for LowWallet {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("accounts", row.account_id, &row.currency)?;
        Ok(Self {
            account: AccountId(row.account_id),
            available: Money::from_minor(row.available, currency),
            used_in_a_day: Money::from_minor(row.used, currency),
        })
    }
}
