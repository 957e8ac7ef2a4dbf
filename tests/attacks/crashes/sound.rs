//! The check at the end of every attack: no invariant is violated.

use acceptance::{
    checker::{Moment, check},
    fault_injection::FaultEnv,
};

/// Fails with every violation, each with what `explain` adds to it.
#[track_caller]
pub fn assert_sound(env: &FaultEnv, explain: impl Fn(&str) -> String) {
    let evidence = env.evidence(Moment::AtRest);
    let was_sold = evidence.books.purchases.iter().any(|purchase| purchase.state == "SUCCESSFUL");
    assert!(was_sold, "nothing was sold during the attack, so the checks prove nothing");
    let told = evidence.books.told.len();
    assert_eq!(told, evidence.books.purchases.len(), "the feed is checked for every purchase");
    let violations: Vec<String> = check(&evidence)
        .iter()
        .map(ToString::to_string)
        .map(|broken| format!("{broken}{}", explain(&broken)))
        .collect();
    assert!(
        violations.is_empty(),
        "{} violations, among {} purchases:\n{}",
        violations.len(),
        evidence.books.purchases.len(),
        violations.join("\n")
    );
}
