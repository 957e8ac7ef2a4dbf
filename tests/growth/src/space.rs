//! What a purchase takes on the disk once it is sold: real sales, after a vacuum, on the side with the short history. It is measured from
//! the second round on, because a database that has sold nothing yet has no free space either.

use bench::{
    Failure,
    finding::{Finding, Goal, Sample, Unit},
};

use crate::side::Side;

/// Of a purchase, with all its indexes, once its messages are deleted. In bytes.
const PURCHASE_AT_MOST: u128 = 2_500;
/// Fewer say little: each end of the measurement has some free space, and never the same.
const SOLD_AT_LEAST: u128 = 50_000;
const SIZES: &str = "SELECT t.relname, pg_total_relation_size(t.oid) FROM pg_class t
    WHERE t.relnamespace = 'public'::regnamespace AND t.relname IN
        ('attempts', 'journal_entries', 'postings', 'provider_replies', 'purchase_events', 'purchases') ORDER BY t.relname";

/// The sizes of the tables that keep a purchase for ever, and the number of purchases.
pub struct Space {
    tables: Vec<(String, u128)>,
    purchases: u128,
}

impl Space {
    /// What the tables take now, with their free space. Before, the space of rows that are gone is made free.
    pub fn of(side: &Side) -> Result<Self, Failure> {
        side.asks("VACUUM")?;
        let purchases = side.asks("SELECT count(*) FROM purchases")?.parse()?;
        let mut tables = Vec::new();
        for row in side.asks(SIZES)?.lines() {
            let (table, bytes) = row.split_once('|').ok_or("a table has no size")?;
            tables.push((table.to_owned(), bytes.parse()?));
        }
        Ok(Self { tables, purchases })
    }

    /// What each purchase has added since then. Nothing if none was sold.
    pub fn since(&self, before: &Self) -> Vec<Finding> {
        let sold = self.purchases.saturating_sub(before.purchases);
        if sold == 0 {
            return Vec::new();
        }
        let grown = self.tables.iter().zip(&before.tables).map(|((table, after), (_table, before))| {
            (table, after.saturating_sub(*before).checked_div(sold).unwrap_or_default())
        });
        let grown: Vec<(&String, u128)> = grown.collect();
        let sum = grown.iter().map(|(_table, bytes)| bytes).sum();
        let finding = |what: String, bytes| Finding::new(what, Unit::Bytes, Sample::of([bytes]));
        let of_tables = grown
            .into_iter()
            .map(|(table, bytes)| finding(format!("disk of a sold purchase: `{table}`"), bytes));
        let all = finding("disk of a sold purchase, without its messages".to_owned(), sum);
        let is_enough = sold >= SOLD_AT_LEAST;
        of_tables.chain([if is_enough { all.must(Goal::Maximum(PURCHASE_AT_MOST)) } else { all }]).collect()
    }
}
