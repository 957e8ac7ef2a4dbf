//! What the feed tells of purchases.

use crate::checker::{Evidence, Invariant};

pub(in crate::checker) const I20: Invariant = Invariant {
    id: "I20",
    sentence: "the feed tells once that a purchase was accepted, and once how it ended",
    broken_by: tells_of_every_purchase,
};

fn tells_of_every_purchase(evidence: &Evidence) -> Vec<String> {
    let wrong = evidence.books.told.iter().filter_map(|told| {
        let purchase = evidence.books.purchase(told.purchase)?;
        let is = |state: &str| i64::from(purchase.state == state);
        let expected = (1, is("SUCCESSFUL"), is("FAILED"));
        ((told.accepted, told.succeeded, told.failed) != expected)
            .then(|| format!("purchase {} is {}, and {told:?}", purchase.id, purchase.state))
    });
    wrong.collect()
}
