//! Cut-offs, which statements begin and end at: the new ones, a few of the old ones, and those that were violated at the
//! last look.

use std::collections::BTreeMap;

use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{Array, BigInt, Nullable, Text};

use super::{Broken, Invariant, Violation};

/// The number of new cut-offs of a look, and of old ones, where much was sold: between two of them lie some thousand postings.
const CUTOFFS_MIN: i64 = 5;

/// Their number where little was sold. Each wallet has a cut-off at each midnight, so this is enough for half a million wallets.
const CUTOFFS_MAX: i64 = 200;

/// If a look has read fewer postings, the next one takes more cut-offs.
const POSTINGS_ENOUGH: i64 = 20_000;

/// The progress through the cut-offs, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// The number up to which they were checked once.
    new: i64,
    /// The number up to which they are checked again.
    old: i64,
    /// How many more than the minimum the next look takes.
    more: i64,
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
    postings: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    id: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    account_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    finding: Option<String>,
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
        self.adapt(new.1 - new.0, rows.first().map_or(0, |row| row.postings));
        let violation = |row: FoundRow| {
            let subject = format!("account:{}", row.account_id?);
            Some((row.id?, Violation { invariant, subject, finding: row.finding? }))
        };
        broken.replace(invariant, rows.into_iter().filter_map(violation).collect::<BTreeMap<_, _>>());
        Ok(())
    }

    /// The numbers to look at now: each range after its first value, up to its second. Numbers become visible slightly
    /// out of order; what the new range misses, the old one reaches.
    fn advance(&mut self, last: i64) -> ((i64, i64), (i64, i64)) {
        let reach = CUTOFFS_MIN.saturating_add(self.more);
        let new = (self.new, last.min(self.new.saturating_add(reach)));
        let old = (self.old, self.old.saturating_add(reach));
        // A look that does not come back in time is followed by a small one.
        *self = Self { new: new.1, old: if old.1 >= last { 0 } else { old.1 }, more: 0 };
        (new, old)
    }

    /// Decides how many the next look takes, from the number of new cut-offs and of postings that this one has read.
    fn adapt(&mut self, new: i64, postings: i64) {
        let is_behind = new >= CUTOFFS_MIN;
        let doubled = new.saturating_mul(2).min(CUTOFFS_MAX);
        self.more = if is_behind && postings < POSTINGS_ENOUGH { doubled - CUTOFFS_MIN } else { 0 };
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

    #[test]
    fn many_cut_offs_of_wallets_that_sold_little_are_caught_up_with() {
        let mut round = Round::default();
        let mut looks = 0;
        while round.new < 10_000 {
            let (new, _old) = round.advance(10_000);
            round.adapt(new.1 - new.0, 0);
            looks += 1;
        }
        assert_eq!(looks, 55, "5, 10, 20, 40, 80, 160 and then 200 at a time");
        let (new, _old) = round.advance(10_400);
        round.adapt(new.1 - new.0, POSTINGS_ENOUGH);
        assert_eq!(
            round.advance(10_400).0,
            (10_000 + (new.1 - new.0), 10_000 + (new.1 - new.0) + CUTOFFS_MIN)
        );
    }
}
