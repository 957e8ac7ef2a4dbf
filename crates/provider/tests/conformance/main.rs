//! The kit itself: an honest adapter keeps every law, and for every law there is a mutant that breaks that one and no
//! other.
#![expect(clippy::unwrap_used, reason = "helpers of tests; the values are literals")]

mod adapter;
mod message;
mod vendor;
mod world;

use provider::conformance::{Broken, Law, Mishap, Operation, World, judge};

use world::VendorWorld;

#[tokio::test(flavor = "multi_thread")]
async fn an_honest_adapter_breaks_no_law_and_none_is_left_untested() {
    let judgement = judge(&VendorWorld::of(None)).await;
    judgement.assert_kept_all_but(&[]);
    assert_eq!(judgement.kept.len(), Law::ALL.len());
}

/// A law that no adapter can break convicts none: the list of mutants is the list of laws, and a mutant that was never
/// written keeps them all.
#[tokio::test(flavor = "multi_thread")]
async fn for_every_law_there_is_a_mutant_that_is_convicted_of_it_and_of_nothing_else() {
    let trials = Law::ALL.iter().map(|law| {
        tokio::spawn(async move {
            let judgement = judge(&VendorWorld::of(Some(*law))).await;
            let broken: Vec<Law> = judgement.broken.iter().map(|broken| broken.law).collect();
            (*law, broken, judgement)
        })
    });
    let mut wrong = Vec::new();
    for trial in trials.collect::<Vec<_>>() {
        let (law, broken, judgement) = trial.await.unwrap();
        if broken != [law] {
            wrong.push(format!("The mutant that breaks {law:?} was convicted of {broken:?}. {judgement}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conviction_says_what_happened_what_was_made_of_it_and_the_danger() {
    let judgement = judge(&VendorWorld::of(Some(Law::Silence))).await;
    let [broken] = judgement.broken.as_slice() else { panic!("{judgement}") };
    assert_eq!(
        broken.to_string(),
        "The adapter breaks the law Silence: an answer that does not come in time is doubt.\n\
         \x20 What happened:  the next vend: it is carried out, and nothing is ever answered\n\
         \x20 What it did:    the vend got Refused(Refusal { reason: Other, wording: None })\n\
         \x20 The danger:     what is vended a moment later is refunded"
    );
}

/// Without a wire the world is asked for everything, and what is not counted stays untested.
#[tokio::test(flavor = "multi_thread")]
async fn a_world_without_a_wire_leaves_untested_what_it_cannot_do() {
    let world = VendorWorld::without_a_wire();
    assert!(!world.arrange(Operation::Vend, Mishap::Silence).await);
    let judgement = judge(&world).await;
    assert_eq!(judgement.broken, Vec::<Broken>::new());
    for law in [Law::Silence, Law::SendsOnce, Law::GateIsLookedAtLast, Law::Redirect, Law::KeepsDeadlines] {
        assert!(judgement.untested.contains(&law), "{law:?}");
    }
    assert!(judgement.kept.contains(&Law::ReferenceOfAnother));
}
