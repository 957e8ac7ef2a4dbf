//! The specification accepts the store in memory, and convicts every flawed one.

use purchase::{Rules, Timing};
use purchase_memory::MemoryBench;
use purchase_memory::specification::{Requirement, examine};
use vend::Capabilities;

use crate::bench::{FlawedBench, pula};
use crate::flawed::Flaw;

async fn violated(flaw: Flaw) -> Vec<Requirement> {
    let violations = examine(&FlawedBench::open(flaw)).await;
    violations.into_iter().map(|violation| violation.requirement).collect()
}

#[tokio::test]
async fn the_store_in_memory_meets_the_specification() {
    let rules = Rules { declared: Capabilities::NONE, timing: Timing::default() };
    let violations = examine(&MemoryBench::open(rules, pula(0).currency())).await;
    let sentences: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(sentences, [""; 0]);
}

#[tokio::test]
async fn every_flawed_store_is_convicted_of_what_it_gets_wrong_and_of_nothing_else() {
    for (flaw, requirements) in [
        (Flaw::IsAlwaysNew, &[Requirement::ReservesOnce, Requirement::ReservesInTurn][..]),
        (Flaw::IsNeverNew, &[Requirement::ReservesOnce, Requirement::ReservesInTurn]),
        (Flaw::ForgetsTheAge, &[Requirement::TooLate, Requirement::NotFoundStaysTrue]),
        (
            Flaw::ForgetsTheLease,
            &[Requirement::RecordsInTurn, Requirement::ClaimAwaitsTheLease, Requirement::LeaseIsRenewed],
        ),
        (Flaw::ForgetsTheFence, &[Requirement::ReleasesByProof]),
        (Flaw::ForgetsTheRenewal, &[Requirement::LeaseIsRenewed]),
        (Flaw::GrantsEveryTurn, &[Requirement::OneTurn]),
        (Flaw::ForgetsTheClosing, &[Requirement::NotFoundStaysTrue]),
        (Flaw::ClosesUnasked, &[Requirement::NewestIsFound]),
        (Flaw::KeepsTheReference, &[Requirement::NewReference]),
        (Flaw::ForgetsTheProduct, &[Requirement::OneOpenPurchase]),
        (Flaw::ReservesWithoutALock, &[Requirement::ReservesInTurn]),
        (Flaw::RecordsWithoutALock, &[Requirement::RecordsInTurn]),
        (Flaw::ForgetsTheTokens, &[Requirement::KeepsTheTokens]),
        (Flaw::BelievesAStaleNoRecord, &[Requirement::StaleFence]),
        (Flaw::BelievesAStaleLoss, &[Requirement::StaleFence]),
        (Flaw::ForgetsTheDeclaration, &[Requirement::DeclaredRules]),
        (Flaw::TellsAnOldTime, &[Requirement::TellsTheTime]),
        (Flaw::KeepsOpenWhatWasBought, &[Requirement::BoughtStaysTrue]),
        (Flaw::RestsAfterABuy, &[Requirement::BoughtStaysTrue]),
    ] {
        assert_eq!(violated(flaw).await, requirements, "{flaw:?}");
    }
}

/// Such a store has another purchase than was reserved, so little else can be examined.
#[tokio::test]
async fn a_store_that_loses_what_was_reserved_is_convicted_of_it_too() {
    for (flaw, requirement) in [
        (Flaw::ReservesAgain, Requirement::ReservesOnce),
        (Flaw::ForgetsTheSubscriber, Requirement::OneOpenPurchase),
    ] {
        let violated = violated(flaw).await;
        assert!(violated.contains(&requirement), "{flaw:?}: {violated:?}");
    }
}
