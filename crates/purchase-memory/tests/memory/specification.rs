//! The specification accepts the store in memory, and convicts every flawed one.

use purchase_memory::specification::{Requirement, examine};

use crate::bench::MemoryBench;
use crate::flawed::Flaw;

async fn violated(flaw: Option<Flaw>) -> Vec<Requirement> {
    let violations = examine(&MemoryBench::open(flaw)).await;
    violations.into_iter().map(|violation| violation.requirement).collect()
}

#[tokio::test]
async fn the_store_in_memory_meets_the_specification() {
    let violations = examine(&MemoryBench::open(None)).await;
    let sentences: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(sentences, [""; 0]);
}

#[tokio::test]
async fn every_flawed_store_is_convicted_of_what_it_gets_wrong() {
    for (flaw, requirement) in [
        (Flaw::ReservesAgain, Requirement::ReservesOnce),
        (Flaw::IsAlwaysNew, Requirement::ReservesOnce),
        (Flaw::IsNeverNew, Requirement::ReservesOnce),
        (Flaw::ForgetsTheSubscriber, Requirement::OneOpenPurchase),
        (Flaw::ForgetsTheAge, Requirement::TooLate),
        (Flaw::ForgetsTheLease, Requirement::ClaimAwaitsTheLease),
        (Flaw::ForgetsTheFence, Requirement::ReleasesByProof),
        (Flaw::ForgetsTheRenewal, Requirement::LeaseIsRenewed),
        (Flaw::GrantsEveryTurn, Requirement::OneTurn),
        (Flaw::ForgetsTheClosing, Requirement::NotFoundStaysTrue),
        (Flaw::ClosesUnasked, Requirement::NewestIsFound),
        (Flaw::KeepsTheReference, Requirement::NewReference),
    ] {
        let violated = violated(Some(flaw)).await;
        assert!(violated.contains(&requirement), "{flaw:?}: {violated:?}");
    }
}
