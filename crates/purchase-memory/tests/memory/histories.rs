//! Random histories of one wallet: whatever happens, the money adds up.

use std::collections::BTreeSet;
use std::sync::Mutex;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use purchase::{Handling, StateName};
use purchase_memory::history::{Answer, Happening, Shop};
use purchase_memory::specification::Bench;
use vend::Capabilities;

use crate::bench::MemoryBench;

fn declared(bits: u8) -> Capabilities {
    Capabilities {
        repeat_is_safe: bits & 1 != 0,
        remembers_refusals: bits & 2 != 0,
        not_found_counts: bits & 4 != 0,
        ..Capabilities::NONE
    }
}

/// Lets the history happen, and returns every state that a purchase was in.
async fn lives_through(
    numbers: Vec<u64>,
    handling: Handling,
    bits: u8,
) -> Result<BTreeSet<StateName>, TestCaseError> {
    let bench = MemoryBench::open(None);
    bench.declare(declared(bits)).await;
    let mut shop = Shop::open(&bench, handling).await;
    let mut seen = BTreeSet::new();
    for number in numbers {
        let (answered, _at) = shop.happens(Happening::of(number)).await.unwrap();
        if let Answer::Recorded(lifecycle, _) = answered.answer {
            seen.insert(lifecycle.state.name());
        }
        prop_assert!(
            shop.adds_up().await.unwrap(),
            "after {:?}: {:?}",
            Happening::of(number),
            answered.balances
        );
    }
    Ok(seen)
}

#[test]
fn whatever_happens_the_money_adds_up_and_every_state_is_reached() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let seen = Mutex::new(BTreeSet::new());
    let histories = (prop::collection::vec(any::<u64>(), 1..120), any::<bool>(), 0_u8..8);
    let run = TestRunner::new(ProptestConfig::with_cases(256)).run(&histories, |(numbers, managed, bits)| {
        let handling = if managed { Handling::Managed } else { Handling::SelfManaged };
        let states = runtime.block_on(lives_through(numbers, handling, bits))?;
        seen.lock().unwrap().extend(states);
        Ok(())
    });
    run.unwrap();
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from(StateName::ALL));
}
