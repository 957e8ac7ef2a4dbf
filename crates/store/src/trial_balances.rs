//! Trial balances: the balances of all accounts at a moment, made once
//! (`migrations/2026-11-25-000083_trial_balances/up.sql`).
//!
//! The wallets get their cut-offs at the moment first, one transaction each. Then the database adds up the system accounts, from
//! the trial balance before it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement as Sql, prepared};
use diesel::sql_types::{BigInt, Bool, Nullable, Timestamptz};
use ledger::AccountId;

use crate::Store;

/// How many entries may lie between two trial balances: what one statement adds up at most.
const ENTRIES_MAX: i64 = 100_000;
/// How many steps a caller makes before it gives up: a cut in half, or a trial balance. The next caller goes on from there.
const STEPS_MAX: u32 = 200;
/// How often steps are repeated because a wallet was opened or an entry was under way. With the pauses, two to three seconds.
const TRIES_MAX: u32 = 24;
/// The pauses before a repetition: each is twice as long as the one before, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LAST_PAUSE: Duration = Duration::from_millis(128);
/// How many wallets are read at a time.
const WALLETS_MAX: i64 = 1_000;

struct WalletsUncut;

impl Sql for WalletsUncut {
    const SQL: &str = "-- wallets_uncut
SELECT a.id FROM accounts a
WHERE a.house IS NULL AND a.created_at < $1
    AND NOT EXISTS (SELECT FROM cutoffs c WHERE c.account_id = a.id AND c.at = $1)
ORDER BY a.id LIMIT $2";
}

struct StrikeTrialBalance;

impl Sql for StrikeTrialBalance {
    const SQL: &str = "-- strike_trial_balance
SELECT is_made, is_far, since, $1 <= clock_timestamp() AS has_come FROM strike_trial_balance($1, $2)";
}

struct LastTrialBalance;

impl Sql for LastTrialBalance {
    const SQL: &str = "-- last_trial_balance
SELECT clock_timestamp() AS now, (SELECT coalesce(max(id), 0) FROM journal_entries) - coalesce((
    SELECT last_entry FROM trial_balances ORDER BY at DESC LIMIT 1), 0) >= $1 AS is_behind";
}

#[derive(diesel::QueryableByName)]
struct BehindRow {
    #[diesel(sql_type = Timestamptz)]
    now: DateTime<Utc>,
    #[diesel(sql_type = Bool)]
    is_behind: bool,
}

#[derive(diesel::QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(diesel::QueryableByName)]
struct StruckRow {
    #[diesel(sql_type = Bool)]
    is_made: bool,
    #[diesel(sql_type = Bool)]
    is_far: bool,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    since: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    has_come: bool,
}

impl Store {
    /// Makes the trial balance of a moment, if it does not exist. `false` if the moment has not come. If many entries lie between
    /// it and the one before it, others are made in between.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if the caller should come back, and those of the database.
    pub async fn strike_trial_balance(&self, moment: DateTime<Utc>) -> Result<bool, DatabaseError> {
        let (mut ahead, mut tries, mut pause) = (vec![moment], 0, FIRST_PAUSE);
        for _ in 0..STEPS_MAX {
            let Some(next) = ahead.last().copied() else { return Ok(true) };
            if !self.cut_off_wallets(next).await? {
                return Ok(false);
            }
            let struck = self.strike(next).await?;
            match struck.since.filter(|_| struck.is_far) {
                _ if struck.is_made => drop(ahead.pop()),
                _ if !struck.has_come => return Ok(false),
                Some(since) => ahead.push(since + (next - since) / 2),
                None if tries < TRIES_MAX => {
                    tokio::time::sleep(pause).await;
                    (tries, pause) = (tries + 1, (pause * 2).min(LAST_PAUSE));
                }
                None => break,
            }
        }
        Err(DatabaseError::Busy { source: "the trial balance is not made yet".into() })
    }

    /// Makes a trial balance of now, if so many entries have come since the last one that a sum of them takes long. Whether it made
    /// one.
    pub async fn carry_trial_balances(&self) -> Result<bool, DatabaseError> {
        let last = self.database.read(|connection| {
            let last = prepared::<LastTrialBalance>().bind::<BigInt, _>(ENTRIES_MAX);
            Box::pin(async move { last.get_result::<BehindRow>(connection).await })
        });
        let last = last.await?;
        Ok(last.is_behind && self.strike_trial_balance(last.now).await?)
    }

    /// Makes the cut-offs of all wallets at a moment. `false` if it has not come.
    async fn cut_off_wallets(&self, moment: DateTime<Utc>) -> Result<bool, DatabaseError> {
        loop {
            let uncut = self.database.read(move |connection| {
                let wallets =
                    prepared::<WalletsUncut>().bind::<Timestamptz, _>(moment).bind::<BigInt, _>(WALLETS_MAX);
                Box::pin(async move { wallets.load::<IdRow>(connection).await })
            });
            let uncut = uncut.await?;
            if uncut.is_empty() {
                return Ok(true);
            }
            for wallet in uncut {
                let [cut] = self.divide(AccountId(wallet.id), [moment]).await?;
                if cut.is_none() {
                    return Ok(false);
                }
            }
        }
    }

    async fn strike(&self, moment: DateTime<Utc>) -> Result<StruckRow, DatabaseError> {
        let struck = self.database.operate(move |transaction| {
            let strike = prepared::<StrikeTrialBalance>()
                .bind::<Timestamptz, _>(moment)
                .bind::<BigInt, _>(ENTRIES_MAX);
            Box::pin(async move { strike.get_result(transaction).await })
        });
        struck.await
    }
}
