//! Wallets, checked one after the other. The postings of each are summed, in as many looks as needed, and compared with
//! its balance.

use catalogue::read_currency;
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{BigInt, Nullable, Text};
use money::Money;

use super::{Broken, Invariant, Violation};

/// The maximum number of wallets of a look.
const WALLETS_MAX: u32 = 50;
/// The maximum number of postings of a look, on each side.
const POSTINGS_MAX: i64 = 20_000;

/// The progress through the wallets. A wallet's entries are numbered under its lock, so no smaller number can appear
/// after a larger one was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    /// The wallet that is being summed, or the number from which the next one is searched.
    wallet: i64,
    /// Its entries up to this number are summed.
    entry: i64,
    /// Their sum, in minor units.
    sum: i64,
}

struct WalkWallet;

impl Statement for WalkWallet {
    const SQL: &str = include_str!("walk_wallet.sql");
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    posted: i64,
    /// The sum of its next postings.
    #[diesel(sql_type = BigInt)]
    sum: i64,
    /// The number of those postings.
    #[diesel(sql_type = BigInt)]
    postings: i64,
    /// The entry up to which they were read, if there are more.
    #[diesel(sql_type = Nullable<BigInt>)]
    until: Option<i64>,
}

impl Walk {
    /// Continues until enough was read or all wallets have been compared.
    pub(super) async fn look(
        &mut self,
        transaction: &Transaction,
        broken: &mut Broken,
    ) -> Result<(), DatabaseError> {
        let mut left = POSTINGS_MAX;
        for _ in 0..WALLETS_MAX {
            let Some(row) = self.next(transaction, left).await? else {
                *self = Self::default();
                return Ok(());
            };
            left = left.saturating_sub(row.postings);
            let sum = self.sum.saturating_add(row.sum);
            if let Some(until) = row.until {
                *self = Self { wallet: row.id, entry: until, sum };
                return Ok(());
            }
            row.compare(sum, broken)?;
            *self = Self { wallet: row.id.saturating_add(1), ..Self::default() };
            if left <= 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn next(&self, transaction: &Transaction, postings_max: i64) -> Result<Option<Row>, DatabaseError> {
        let row = prepared::<WalkWallet>()
            .bind::<BigInt, _>(self.wallet)
            .bind::<BigInt, _>(self.entry)
            .bind::<BigInt, _>(postings_max)
            .optional(transaction);
        row.await
    }
}

impl Row {
    fn compare(&self, sum: i64, broken: &mut Broken) -> Result<(), DatabaseError> {
        let key = (Invariant::BalancesEqualPostings, self.id);
        if self.posted == sum {
            broken.0.remove(&key);
            return Ok(());
        }
        let currency = read_currency("accounts", self.id, &self.currency)?;
        let [posted, sum] = [self.posted, sum].map(|minor| Money::from_minor(minor, currency));
        let violation = Violation {
            invariant: Invariant::BalancesEqualPostings,
            subject: format!("account:{}", self.id),
            finding: format!("its balance is {posted}, and its postings come to {sum}"),
        };
        broken.0.insert(key, violation);
        Ok(())
    }
}
