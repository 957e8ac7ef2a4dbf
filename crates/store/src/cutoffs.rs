//! Cut-offs: moments at which the postings of a wallet were divided for ever
//! (`migrations/2026-11-24-000036_cutoffs/up.sql`).
//!
//! Nothing here locks a wallet, except the making of a cut-off of a wallet to which nothing was posted since the moment.
//! That one locks it for as long as a commit takes.

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement as Sql, Transaction, prepared};
use diesel::sql_types::{BigInt, Bool, Nullable, Timestamptz};
use ledger::AccountId;

use crate::Store;

/// How many postings of a wallet, on each side, may lie between two cut-offs: what one statement adds up at most. With a history
/// that is larger than the memory of the database, each may be a page from the disk. The first statement of a day makes two
/// cut-offs, in one commit.
const STRETCH: i64 = 500;
/// How many cut-offs a reader makes before it gives up. Usually the worker is ahead and there is none to make.
const CARRIED_MAX: u32 = 400;

struct CutOff;

impl Sql for CutOff {
    const SQL: &str = "-- cut_off
SELECT entry_id, balance, $2 <= clock_timestamp() AS has_come FROM cut_off($1, $2, $3)";
}

struct CarryCutoffs;

impl Sql for CarryCutoffs {
    const SQL: &str = "-- carry_cutoffs
SELECT carry_cutoffs($1, $2) AS made";
}

struct NextWallet;

impl Sql for NextWallet {
    const SQL: &str = include_str!("sql/next_wallet.sql");
}

#[derive(diesel::QueryableByName)]
struct CutOffRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    entry_id: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    balance: Option<i64>,
    #[diesel(sql_type = Bool)]
    has_come: bool,
}

impl CutOffRow {
    fn division(&self) -> Option<Division> {
        let (entry, balance) = self.entry_id.zip(self.balance)?;
        Some(Division { entry, balance })
    }
}

#[derive(diesel::QueryableByName)]
struct MadeRow {
    #[diesel(sql_type = Bool)]
    made: bool,
}

#[derive(diesel::QueryableByName)]
struct NextRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Bool)]
    is_behind: bool,
}

/// Where the postings of a wallet are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// The last entry before.
    pub(crate) entry: i64,
    /// The balance after that entry, in minor units.
    pub(crate) balance: i64,
}

impl Store {
    /// Carries the cut-offs of wallets forward, beginning after the wallet of this number, and returns the number of the
    /// last wallet that was looked at, or `None` after the last one. So no reader has to add up a long history.
    pub async fn carry_forward(&self, after: i64) -> Result<Option<i64>, DatabaseError> {
        let found = self.database.read(move |connection| {
            let next = prepared::<NextWallet>().bind::<BigInt, _>(after).bind::<BigInt, _>(STRETCH);
            Box::pin(async move { next.optional::<NextRow>(connection).await })
        });
        let Some(next) = found.await? else { return Ok(None) };
        if next.is_behind {
            for _ in 0..CARRIED_MAX {
                if !self.carry(AccountId(next.id)).await? {
                    break;
                }
            }
        }
        Ok(Some(next.id))
    }

    /// The wallet's cut-offs at these moments, `None` where a moment has not come. They are made in one transaction: a
    /// commit takes longer than a cut-off.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if so many postings are not carried forward yet that the caller should come back.
    pub(crate) async fn divide<const N: usize>(
        &self,
        account: AccountId,
        moments: [DateTime<Utc>; N],
    ) -> Result<[Option<Division>; N], DatabaseError> {
        for _ in 0..CARRIED_MAX {
            let cut = self.database.operate(move |transaction| {
                Box::pin(async move { cut_offs(transaction, account, moments).await })
            });
            if let Some(divisions) = cut.await? {
                return Ok(divisions);
            }
            if !self.carry(account).await? {
                break;
            }
        }
        Err(not_yet())
    }

    async fn carry(&self, account: AccountId) -> Result<bool, DatabaseError> {
        let made = self.database.operate(move |transaction| {
            let carry = prepared::<CarryCutoffs>().bind::<BigInt, _>(account.0).bind::<BigInt, _>(STRETCH);
            Box::pin(async move { carry.get_result::<MadeRow>(transaction).await })
        });
        Ok(made.await?.made)
    }
}

/// `None` if more postings lie before one of the moments than a cut-off adds up.
async fn cut_offs<const N: usize>(
    transaction: &Transaction,
    account: AccountId,
    moments: [DateTime<Utc>; N],
) -> Result<Option<[Option<Division>; N]>, DatabaseError> {
    let mut divisions = [None; N];
    for (division, moment) in divisions.iter_mut().zip(moments) {
        let cut = prepared::<CutOff>()
            .bind::<BigInt, _>(account.0)
            .bind::<Timestamptz, _>(moment)
            .bind::<BigInt, _>(STRETCH);
        let row = cut.get_result::<CutOffRow>(transaction).await?;
        *division = row.division();
        if division.is_none() && row.has_come {
            return Ok(None);
        }
    }
    Ok(Some(divisions))
}

/// The wallet's history is being carried forward.
pub(crate) fn not_yet() -> DatabaseError {
    DatabaseError::Busy { source: "the postings of the wallet are not carried forward yet".into() }
}
