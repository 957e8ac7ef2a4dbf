//! Random histories of one wallet: whatever happens, the money adds up.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use purchase::{Handling, Rules, StateName, Timing};
use purchase_memory::MemoryBench;
use purchase_memory::history::{Answer, Happening, Shop};
use vend::Capabilities;

use crate::bench::pula;

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
    let rules = Rules { declared: declared(bits), timing: Timing::default() };
    let bench = MemoryBench::open(rules, pula(0).currency());
    let mut shop = Shop::open(&bench, handling).await;
    let mut seen = BTreeSet::new();
    for number in numbers {
        let (answered, _at) = shop.happens(Happening::numbered(number)).await.unwrap();
        if let Answer::Recorded(lifecycle, _) = answered.answer {
            seen.insert(lifecycle.state.name());
        }
        prop_assert!(
            shop.adds_up().await.unwrap(),
            "after {:?}: {:?}",
            Happening::numbered(number),
            answered.balances
        );
    }
    Ok(seen)
}

#[tokio::test]
async fn a_history_is_told_at_the_first_and_at_the_last_of_all_times() {
    let timing = Timing { window: Duration::MAX, lease: Duration::MAX, ..Timing::default() };
    let rules = Rules { declared: Capabilities::NONE, timing };
    let reserve = Happening::Reserve { subscriber: 0, reference: 0, age_s: 0 };
    for at in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
        let bench = MemoryBench::open(rules, pula(0).currency());
        bench.memory().set_time(at);
        let mut shop = Shop::open(&bench, Handling::SelfManaged).await;
        let (answered, told) = shop.happens(reserve).await.unwrap();
        assert!(matches!(answered.answer, Answer::Reserved(Ok(_))), "{answered:?}");
        assert_eq!(told, at);
        shop.happens(Happening::Pass { seconds: u64::MAX }).await.unwrap();
        shop.happens(Happening::Renew { purchase: 0, behind: false }).await.unwrap();
        shop.happens(Happening::Find { subscriber: 1, reference: 1 }).await.unwrap();
    }
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
