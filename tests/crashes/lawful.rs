//! What stands at the end of every attack: no law is broken.

use acceptance::{
    checker::{Moment, check},
    storm::StormTown,
};

/// Fails with every law that is broken, each with what `explain` knows about it.
#[track_caller]
pub fn assert_lawful(town: &StormTown, explain: impl Fn(&str) -> String) {
    let evidence = town.evidence(Moment::AtRest);
    let was_sold = evidence.books.purchases.iter().any(|purchase| purchase.state == "SUCCESSFUL");
    assert!(was_sold, "an attack under which nothing was sold shows nothing");
    let violations: Vec<String> = check(&evidence)
        .iter()
        .map(ToString::to_string)
        .map(|broken| format!("{broken}{}", explain(&broken)))
        .collect();
    assert!(
        violations.is_empty(),
        "{} laws broken, among {} purchases:\n{}",
        violations.len(),
        evidence.books.purchases.len(),
        violations.join("\n")
    );
}
