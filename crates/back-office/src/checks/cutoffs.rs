//! Cut-offs, which statements begin and end at: the new ones, a few of the old ones, and those that were violated at the
//! last look.

use std::collections::BTreeMap;

use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{Array, BigInt, Text};

use super::{Broken, Invariant, Violation};

/// The maximum number of new cut-offs of a look, and of old ones. Between two of them lie some ten thousand postings.
const CUTOFFS_MAX: i64 = 5;

/// The progress through the cut-offs, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// The number up to which they were checked once.
    new: i64,
    /// The number up to which they are checked again.
    old: i64,
}

struct LastCutoff;

impl Statement for LastCutoff {
    const SQL: &str = "-- last_cutoff
SELECT coalesce(max(id), 0) AS id FROM cutoffs";
}

#[derive(diesel::QueryableByName)]
struct LastRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct CheckCutoffs;

impl Statement for CheckCutoffs {
    const SQL: &str = include_str!("check_cutoffs.sql");
}

#[derive(diesel::QueryableByName)]
struct FoundRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    finding: String,
}

impl Round {
    pub(super) async fn look(
        &mut self,
        transaction: &Transaction,
        broken: &mut Broken,
    ) -> Result<(), DatabaseError> {
        let invariant = Invariant::StatementsCarryOn;
        let last: LastRow = prepared::<LastCutoff>().get_result(transaction).await?;
        let (new, old) = self.advance(last.id);
        let rows: Vec<FoundRow> = prepared::<CheckCutoffs>()
            .bind::<BigInt, _>(new.0)
            .bind::<BigInt, _>(new.1)
            .bind::<BigInt, _>(old.0)
            .bind::<BigInt, _>(old.1)
            .bind::<Array<BigInt>, _>(broken.suspects(invariant))
            .load(transaction)
            .await?;
        let violation = |row: FoundRow| {
            let subject = format!("account:{}", row.account_id);
            (row.id, Violation { invariant, subject, finding: row.finding })
        };
        broken.replace(invariant, rows.into_iter().map(violation).collect::<BTreeMap<_, _>>());
        Ok(())
    }

    /// The numbers to look at now: each range after its first value, up to its second. Numbers become visible slightly
    /// out of order; what the new range misses, the old one reaches.
    fn advance(&mut self, last: i64) -> ((i64, i64), (i64, i64)) {
        let new = (self.new, last.min(self.new.saturating_add(CUTOFFS_MAX)));
        let old = (self.old, self.old.saturating_add(CUTOFFS_MAX));
        *self = Self { new: new.1, old: if old.1 >= last { 0 } else { old.1 } };
        (new, old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_cut_offs_are_looked_at_in_turn_and_old_ones_again() {
        let mut round = Round::default();
        assert_eq!(round.advance(7), ((0, 5), (0, 5)));
        assert_eq!(round.advance(7), ((5, 7), (5, 10)));
        assert_eq!(round.advance(7), ((7, 7), (0, 5)));
        assert_eq!(round.advance(9), ((7, 9), (5, 10)));
    }
}
