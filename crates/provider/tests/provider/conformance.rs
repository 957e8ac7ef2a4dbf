//! Tests of the kit: a correct adapter meets every requirement, and each mutant violates exactly one.

mod adapter;
mod message;
mod vendor;
mod world;

use provider::conformance::{
    Broken, Judgement, Mishap, Operation, Requirement, World, judge, judge_side_by_side,
};

use world::VendorWorld;

#[tokio::test(flavor = "multi_thread")]
async fn a_correct_adapter_meets_every_requirement_and_none_is_untested() {
    let judgement = judge(&VendorWorld::of(None)).await;
    judgement.assert_kept_all_but(&[]);
    assert_eq!(judgement.kept, Requirement::ALL);
}

/// These apply to every call, so most of their violations are seen in a world that tests another requirement.
#[tokio::test(flavor = "multi_thread")]
async fn several_worlds_find_what_one_world_finds() {
    let trials = [
        None,
        Some(Requirement::SendsOnce),
        Some(Requirement::TokensStaySealed),
        Some(Requirement::NeverPanics),
        Some(Requirement::Silence),
    ]
    .map(|breaks| {
        tokio::spawn(async move {
            let side_by_side = judge_side_by_side(|| VendorWorld::of(breaks)).await;
            (side_by_side, judge(&VendorWorld::of(breaks)).await)
        })
    });
    for trial in trials {
        let (side_by_side, one_by_one) = trial.await.unwrap();
        let broken = |judgement: &Judgement| {
            judgement.broken.iter().map(|broken| broken.requirement).collect::<Vec<_>>()
        };
        assert_eq!(broken(&side_by_side), broken(&one_by_one));
        assert_eq!((&side_by_side.kept, &side_by_side.untested), (&one_by_one.kept, &one_by_one.untested));
        let Judgement { kept, broken, untested } = side_by_side;
        assert_eq!(kept.len() + broken.len() + untested.len(), Requirement::ALL.len());
    }
}

/// The list of mutants is the list of requirements. A mutant that is not implemented violates nothing, and fails here.
#[tokio::test(flavor = "multi_thread")]
async fn each_mutant_is_reported_for_its_own_requirement_and_for_no_other() {
    let trials = Requirement::ALL.iter().map(|requirement| {
        tokio::spawn(async move {
            let judgement = judge(&VendorWorld::of(Some(*requirement))).await;
            let broken: Vec<Requirement> = judgement.broken.iter().map(|broken| broken.requirement).collect();
            (*requirement, broken, judgement)
        })
    });
    let mut wrong = Vec::new();
    for trial in trials.collect::<Vec<_>>() {
        let (requirement, broken, judgement) = trial.await.unwrap();
        if broken != [requirement] {
            wrong.push(format!("The mutant of {requirement:?} was reported for {broken:?}. {judgement}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_violation_report_says_what_happened_what_the_adapter_did_and_the_danger() {
    let judgement = judge(&VendorWorld::of(Some(Requirement::Silence))).await;
    let [broken] = judgement.broken.as_slice() else { panic!("{judgement}") };
    assert_eq!(
        broken.to_string(),
        "The adapter violates the requirement Silence: an answer that does not come in time is doubt.\n\
         \x20 What happened:  the next vend: it is carried out, and nothing is ever answered\n\
         \x20 What it did:    the vend got Refused(Refusal { reason: Other, wording: None })\n\
         \x20 The danger:     what is vended a moment later is refunded"
    );
}

/// Without a wire the world must arrange every mishap, and requirements that need counts stay untested.
#[tokio::test(flavor = "multi_thread")]
async fn a_world_without_a_wire_leaves_untested_what_it_cannot_do() {
    let world = VendorWorld::without_a_wire();
    assert!(!world.arrange(Operation::Vend, Mishap::Silence).await);
    let judgement = judge(&world).await;
    assert_eq!(judgement.broken, Vec::<Broken>::new());
    for requirement in [
        Requirement::Silence,
        Requirement::SendsOnce,
        Requirement::GateIsLookedAtLast,
        Requirement::Redirect,
        Requirement::KeepsDeadlines,
    ] {
        assert!(judgement.untested.contains(&requirement), "{requirement:?}");
    }
    assert!(judgement.kept.contains(&Requirement::ReferenceOfAnother));
}
