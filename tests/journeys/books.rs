//! The database of the whole test environment, checked against its invariants, the utility's own log, and the answers
//! of one merchant. The invariants hold at every moment, so every test checks them at its end, whatever the other
//! tests are doing.

use acceptance::checker::{History, Moment, assert_sound, gather};

use crate::env::env;

/// Fails if an invariant is violated, or if a purchase was answered with other tokens than were vended for it.
pub fn check(answered: &[(i64, Vec<String>)]) {
    let sandbox = &env().sandbox;
    let evidence = gather(sandbox.database(), &sandbox.vend_log(), Moment::Amid, History::default());
    assert_sound(&evidence);
    let vended = evidence.vends.vended();
    for (id, tokens) in answered {
        let purchase = evidence.books.purchase(*id).unwrap();
        let vends = &vended[&(purchase.product.as_str(), purchase.provider_reference.as_str())];
        assert_eq!((purchase.state.as_str(), &vends[0].tokens), ("SUCCESSFUL", tokens), "purchase {id}");
    }
}
