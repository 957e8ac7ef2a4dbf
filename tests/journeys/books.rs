//! The books of the whole town, against each other, against the utility's own log, and against what this shop was told.
//! They must be in order at every moment, so every test that ends looks at them, whatever the others are doing.

use acceptance::checker::{History, Moment, assert_lawful, gather};

use crate::town::town;

/// Fails if a law of the house is broken, or if a purchase was answered with other tokens than were vended for it.
pub fn check(answered: &[(i64, Vec<String>)]) {
    let sandbox = &town().sandbox;
    let evidence = gather(sandbox.database(), &sandbox.vend_log(), Moment::Amid, History::default());
    assert_lawful(&evidence);
    let vended = evidence.vends.vended();
    for (id, tokens) in answered {
        let purchase = evidence.books.purchase(*id).unwrap();
        let vends = &vended[&(purchase.product.as_str(), purchase.provider_reference.as_str())];
        assert_eq!((purchase.state.as_str(), &vends[0].tokens), ("SUCCESSFUL", tokens), "purchase {id}");
    }
}
