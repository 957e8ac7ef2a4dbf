//! Entries and ended purchases: what is new, a stretch of what is old, and what was broken when last looked at.

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Text};
use diesel_async::RunQueryDsl;

use super::{Breach, Broken, Law, ends};
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{SealingKeys, StoreError};

/// Most that a look takes of what is new. What it leaves out, the rounds come to.
const NEW_MAX: i64 = 20_000;
/// How far a look goes back beyond what was the newest before: numbers become visible a little out of order, and
/// purchases end after others that are younger.
const OVERLAP: i64 = 5_000;
/// How much of what is old a look takes.
const STRETCH: i64 = 2_000;

/// The way through one table, by its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// The newest that was seen.
    newest: i64,
    /// How far the old ones have been gone through.
    old: i64,
}

/// Numbers after the first, up to the second of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretches {
    pub(super) new: (i64, i64),
    pub(super) old: (i64, i64),
}

impl Round {
    /// What to look at now, where `last` is the newest there is.
    fn advance(&mut self, last: i64) -> Stretches {
        let since = self.newest.saturating_sub(OVERLAP).max(last.saturating_sub(NEW_MAX)).max(0);
        let old = (self.old, self.old.saturating_add(STRETCH));
        *self = Self { newest: last, old: if old.1 >= last { 0 } else { old.1 } };
        Stretches { new: (since, last), old }
    }
}

struct LastNumbers;

impl Statement for LastNumbers {
    const SQL: &str = "-- last_numbers
SELECT (SELECT coalesce(max(id), 0) FROM journal_entries) AS entry, (SELECT coalesce(max(id), 0) FROM purchases) AS purchase";
}

#[derive(diesel::QueryableByName)]
struct LastRow {
    #[diesel(sql_type = BigInt)]
    entry: i64,
    #[diesel(sql_type = BigInt)]
    purchase: i64,
}

struct CheckEntries;

impl Statement for CheckEntries {
    const SQL: &str = include_str!("check_entries.sql");
}

struct CheckSettlements;

impl Statement for CheckSettlements {
    const SQL: &str = include_str!("check_settlements.sql");
}

struct CheckIncidents;

impl Statement for CheckIncidents {
    const SQL: &str = include_str!("check_incidents.sql");
}

struct CheckPayments;

impl Statement for CheckPayments {
    const SQL: &str = include_str!("check_payments.sql");
}

/// What breaks a law, and how.
#[derive(diesel::QueryableByName)]
struct FoundRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    finding: String,
}

/// Looks at entries and purchases, each as far as its round says.
pub(super) async fn look(
    transaction: &mut Transaction,
    entries: &mut Round,
    purchases: &mut Round,
    sealing: &SealingKeys,
    broken: &mut Broken,
) -> Result<(), StoreError> {
    let last: LastRow = prepared::<LastNumbers>().get_result(&mut **transaction).await?;
    let (entries, purchases) = (entries.advance(last.entry), purchases.advance(last.purchase));
    entries.look::<CheckEntries>(transaction, Law::EntriesKeepToOneCurrency, broken).await?;
    entries.look::<CheckSettlements>(transaction, Law::SettlementsHaveTheirSuccess, broken).await?;
    entries.look::<CheckIncidents>(transaction, Law::IncidentsAreOwed, broken).await?;
    entries.look::<CheckPayments>(transaction, Law::PaymentsAreAudited, broken).await?;
    ends::look(transaction, purchases, sealing, broken).await
}

impl Stretches {
    async fn look<S: Statement>(
        self,
        transaction: &mut Transaction,
        law: Law,
        broken: &mut Broken,
    ) -> Result<(), StoreError> {
        let rows: Vec<FoundRow> = prepared::<S>()
            .bind::<BigInt, _>(self.new.0)
            .bind::<BigInt, _>(self.new.1)
            .bind::<BigInt, _>(self.old.0)
            .bind::<BigInt, _>(self.old.1)
            .bind::<Array<BigInt>, _>(broken.suspects(law))
            .load(&mut **transaction)
            .await?;
        let breach = |row: FoundRow| {
            (row.id, Breach { law, subject: format!("journal_entry:{}", row.id), finding: row.finding })
        };
        broken.replace(law, rows.into_iter().map(breach).collect::<BTreeMap<_, _>>());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_looked_at_again_a_little_and_what_is_old_comes_round() {
        let mut round = Round::default();
        assert_eq!(round.advance(4_500), Stretches { new: (0, 4_500), old: (0, 2_000) });
        assert_eq!(round.advance(9_000), Stretches { new: (0, 9_000), old: (2_000, 4_000) });
        assert_eq!(round.advance(9_500), Stretches { new: (4_000, 9_500), old: (4_000, 6_000) });
        assert_eq!(round.advance(9_500).old, (6_000, 8_000));
        assert_eq!(round.advance(9_500).old, (8_000, 10_000));
        assert_eq!(round.advance(9_500).old, (0, 2_000));
    }

    #[test]
    fn a_look_never_takes_more_than_it_can() {
        let mut round = Round::default();
        assert_eq!(round.advance(1_000_000).new, (980_000, 1_000_000));
        assert_eq!(round.advance(5_000_000).new, (4_980_000, 5_000_000));
    }
}
