//! Entries and ended purchases: the new rows, a stretch of the old rows, and the rows that were violated at the last
//! look.

use std::collections::BTreeMap;

use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{Array, BigInt, Text};
use store::SealingKeys;

use super::{Broken, Invariant, Violation, ends};

#[cfg(test)]
mod plans;

/// The maximum number of new rows of a look. Later rounds reach the rows that it leaves out.
const NEW_MAX: i64 = 20_000;
/// How far a look goes back before the newest row of the last look. Numbers become visible slightly out of order, and a
/// purchase may end after younger ones.
const OVERLAP: i64 = 5_000;
/// How many old rows a look takes.
const STRETCH: i64 = 2_000;

/// The progress through one table, by its numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// The newest number that was seen.
    newest: i64,
    /// The old number up to which the rows have been checked.
    old: i64,
}

/// Ranges of numbers: each after its first value, up to its second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretches {
    pub(super) new: (i64, i64),
    pub(super) old: (i64, i64),
}

impl Round {
    /// What to look at now. `last` is the newest number.
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

/// A check of the entries of a look.
macro_rules! check_of_entries {
    ($check:ident, $name:literal) => {
        struct $check;

        impl Statement for $check {
            const SQL: &str = concat!(
                "-- ",
                $name,
                "\n",
                include_str!("entries_looked_at.sql"),
                include_str!(concat!($name, ".sql"))
            );
        }
    };
}

check_of_entries!(CheckEntries, "check_entries");
check_of_entries!(CheckSettlements, "check_settlements");
check_of_entries!(CheckIncidents, "check_incidents");
check_of_entries!(CheckUnmatchedVends, "check_unmatched_vends");
check_of_entries!(CheckPayments, "check_payments");
check_of_entries!(CheckPayouts, "check_payouts");

/// A row that violates an invariant, and how.
#[derive(diesel::QueryableByName)]
struct FoundRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    finding: String,
}

/// Checks entries and purchases, each in the ranges of its round.
pub(super) async fn look(
    transaction: &Transaction,
    entries: &mut Round,
    purchases: &mut Round,
    sealing: &SealingKeys,
    broken: &mut Broken,
) -> Result<(), DatabaseError> {
    let last: LastRow = prepared::<LastNumbers>().get_result(transaction).await?;
    let (entries, purchases) = (entries.advance(last.entry), purchases.advance(last.purchase));
    entries.look::<CheckEntries>(transaction, Invariant::EntriesKeepToOneCurrency, broken).await?;
    entries.look::<CheckSettlements>(transaction, Invariant::SettlementsHaveTheirSuccess, broken).await?;
    entries.look::<CheckIncidents>(transaction, Invariant::IncidentsAreOwed, broken).await?;
    entries.look::<CheckUnmatchedVends>(transaction, Invariant::UnmatchedVendsAreOwed, broken).await?;
    entries.look::<CheckPayments>(transaction, Invariant::PaymentsAreAudited, broken).await?;
    entries.look::<CheckPayouts>(transaction, Invariant::PayoutsAreAudited, broken).await?;
    ends::look(transaction, purchases, sealing, broken).await
}

impl Stretches {
    async fn look<S: Statement>(
        self,
        transaction: &Transaction,
        invariant: Invariant,
        broken: &mut Broken,
    ) -> Result<(), DatabaseError> {
        let rows: Vec<FoundRow> = prepared::<S>()
            .bind::<BigInt, _>(self.new.0)
            .bind::<BigInt, _>(self.new.1)
            .bind::<BigInt, _>(self.old.0)
            .bind::<BigInt, _>(self.old.1)
            .bind::<Array<BigInt>, _>(broken.suspects(invariant))
            .load(transaction)
            .await?;
        let violation = |row: FoundRow| {
            (
                row.id,
                Violation { invariant, subject: format!("journal_entry:{}", row.id), finding: row.finding },
            )
        };
        broken.replace(invariant, rows.into_iter().map(violation).collect::<BTreeMap<_, _>>());
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
