//! The tutorial `ADAPTER.md`: its code is compiled here, its adapter meets every requirement, and its mutants are convicted.

#[path = "../../examples/lumo/main.rs"]
mod lumo;
mod mutants;

use provider::conformance::{Requirement, judge_side_by_side};

use lumo::world::{Around, LumoWorld};
use mutants::{Mistake, Mutant};

// shown: judge
#[tokio::test(flavor = "multi_thread")]
async fn the_adapter_of_the_tutorial_meets_every_requirement() {
    let judgement = judge_side_by_side(|| LumoWorld::of(|adapter| Box::new(adapter))).await;
    // Lumo does not say how an amount is split.
    judgement.assert_kept_all_but(&[Requirement::SplitAddsUp]);
}
// end

#[tokio::test(flavor = "multi_thread")]
async fn each_mistake_of_the_tutorial_is_convicted_of_its_harm() {
    let mutants: [(Around, &[Requirement]); 4] = [
        (|adapter| Box::new(Mutant { adapter, mistake: Mistake::RefundsOnTimeout }), &[Requirement::Silence]),
        (|adapter| Box::new(Mutant { adapter, mistake: Mistake::SendsAgain }), &[Requirement::SendsOnce]),
        (
            |adapter| Box::new(Mutant { adapter, mistake: Mistake::IgnoresTheGate }),
            &[Requirement::ClosedGate],
        ),
        (
            |adapter| Box::new(Mutant { adapter, mistake: Mistake::TakesSilenceForNothing }),
            &[Requirement::EnquiryUnanswered, Requirement::EnquiryGarbled],
        ),
    ];
    let trials = mutants.map(|(around, expected)| {
        tokio::spawn(async move { (judge_side_by_side(|| LumoWorld::of(around)).await, expected) })
    });
    for trial in trials {
        let (judgement, expected) = trial.await.unwrap();
        let broken: Vec<Requirement> = judgement.broken.iter().map(|broken| broken.requirement).collect();
        assert!(expected.iter().all(|requirement| broken.contains(requirement)), "{expected:?}: {judgement}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_asks_about_the_order_whose_reply_was_lost_and_vends_each_once() {
    let page = "\
order of BWP 100.00 for 04200000002
  vended
order of BWP 100.00 for 04200000004
  unknown connection_lost
  asked about: vended
2 vends
";
    assert_eq!(lumo::page().await.unwrap(), page);
}

/// The lines of a source between `// shown: name` and `// end`, without their common indentation.
fn shown(source: &str) -> Vec<String> {
    let sections = source.split("// shown: ").skip(1);
    let code = sections.filter_map(|section| section.split_once('\n')).map(|(_name, rest)| {
        let lines = rest.lines().take_while(|line| line.trim() != "// end");
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    });
    code.collect()
}

#[test]
fn the_tutorial_shows_the_code_that_is_tested() {
    let document = include_str!("../../ADAPTER.md");
    let blocks: Vec<&str> = document
        .split("```rust,ignore\n")
        .skip(1)
        .map(|block| block.split("\n```").next().unwrap_or_default())
        .collect();
    let tested = [
        include_str!("../../examples/lumo/adapter.rs"),
        include_str!("../../examples/lumo/world.rs"),
        include_str!("tutorial/mutants.rs"),
        include_str!("tutorial.rs"),
    ];
    // The last source names the markers too.
    let tested: Vec<String> = tested.iter().flat_map(|source| shown(source)).collect();
    for block in &blocks {
        assert!(tested.iter().any(|code| code == block), "ADAPTER.md shows code that no test has:\n{block}");
    }
    assert_eq!(blocks.len(), 12, "ADAPTER.md shows every section once");
}
