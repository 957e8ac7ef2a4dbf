//! A model check of the money protocols: one confirm, an integrator that asks, two workers, a provider of every
//! declaration, and a network that loses, delays and duplicates. The confirm may wait in a proxy or in the buffer of
//! a socket while the integrator asks about it. The shipped `step`, `Confirm` and `Resolve` make all decisions. Every
//! reachable state within the bounds is checked against the invariants.
//!
//! Not covered: a second purchase, the wallet's arithmetic, a database that loses what it has committed, clocks that
//! disagree, and everything beyond the bounds.
//!
//! `VENDGATE_SWEEP=1` widens the bounds.
#![expect(dead_code, reason = "the world is shared with the tests of the protocols and of the invariants")]
#![expect(clippy::print_stdout, reason = "the number of states is printed for the reader")]

use std::sync::Mutex;
use std::{iter, thread};

use purchase::Handling;
use vend::Capabilities;

use state_space::{Findings, PurchaseModel};
use system::Bounds;
use timing::TIMING;
use world::flaw::Flaw;
use world::memory::Repeats;
use world::provider::Habits;
use world::values::{DECLARATIONS, declared};

#[path = "model/driver.rs"]
mod driver;
#[path = "model/state_space.rs"]
mod state_space;
#[path = "model/system.rs"]
mod system;
#[path = "model/timing.rs"]
mod timing;
#[path = "world/world.rs"]
mod world;

/// The states of the model are many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A driver that never goes on has crashed. A crash that is noticed only frees its place.
const NOTHING: Bounds =
    Bounds { slips: 0, crashes: 0, resolves: 0, short_pauses: 0, long_pauses: 2, copies: 2 };
/// One resolve, and one slip of any driver. Then two resolves and a crash.
const NARROW: [Bounds; 2] = [
    Bounds { slips: 1, resolves: 1, short_pauses: 1, ..NOTHING },
    Bounds { crashes: 1, resolves: 2, ..NOTHING },
];
/// Two resolves, a slip and a crash. Then three resolves.
const WIDE: [Bounds; 2] =
    [Bounds { slips: 1, crashes: 1, resolves: 2, ..NOTHING }, Bounds { resolves: 3, ..NOTHING }];

/// The integrator asks while the confirm has not been read, which may wait for long. It asks again afterwards.
const UNREAD: Bounds = Bounds { slips: 1, resolves: 1, short_pauses: 2, ..NOTHING };

const FROM_MEMORY: Habits = Habits { repeats: Repeats::FromMemory, turns_away: true, duplicates: false };
const REJECTED: Habits = Habits { repeats: Repeats::Rejected, ..FROM_MEMORY };
/// A duplicated order is safe only with a provider that remembers everything.
const DUPLICATED: [Habits; 2] = [
    Habits { turns_away: false, duplicates: true, ..FROM_MEMORY },
    Habits { turns_away: false, duplicates: true, ..REJECTED },
];

fn habits_with(declared: Capabilities) -> Vec<Habits> {
    let mut habits = vec![FROM_MEMORY];
    if declared.repeat_is_safe {
        habits.push(REJECTED);
        if declared.remembers_refusals {
            habits.extend(DUPLICATED);
        }
    }
    habits
}

fn truthful_models(bounds: Bounds) -> impl Iterator<Item = (&'static str, PurchaseModel)> {
    Handling::ALL.into_iter().flat_map(move |handling| {
        DECLARATIONS.into_iter().flat_map(move |letters| {
            let declared = declared(letters);
            let models = habits_with(declared).into_iter();
            models.map(move |habits| (letters, PurchaseModel::truthful(handling, declared, habits, bounds)))
        })
    })
}

#[test]
fn the_time_chain_of_the_model_is_one_that_the_service_would_start_with() {
    assert_eq!(TIMING.checked(), Ok(TIMING));
}

/// Every invariant holds in every state, and every state that should be possible is seen. Returns the number of
/// states.
fn is_sound(letters: &str, model: PurchaseModel) -> usize {
    let (handling, habits) = (model.setup.handling, model.nature.habits);
    let name = format!("{handling:?}, declared {letters:?}, {habits:?}");
    let Findings { states, broken, never_seen } = model.explore();
    println!("{states:>9} states: {name}");
    assert!(broken.is_none(), "{name}: {broken:#?}");
    assert!(never_seen.is_empty(), "{name}: never {never_seen:?}");
    states
}

/// Checks two models at a time. Each search has one thread: two threads that share a search wait for each other.
fn are_sound(models: impl Iterator<Item = (&'static str, PurchaseModel)> + Send) -> usize {
    let models = Mutex::new(models);
    let next = || models.lock().expect("no code panics while it holds the lock").next();
    thread::scope(|scope| {
        let check = || iter::from_fn(next).map(|(letters, model)| is_sound(letters, model)).sum::<usize>();
        let searches = [scope.spawn(check), scope.spawn(check)];
        searches.into_iter().map(|search| search.join().expect("every model is sound")).sum()
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the width of a sweep is not a setting of the service")]
fn no_truthfully_declared_connection_violates_an_invariant() {
    let is_sweep = std::env::var("VENDGATE_SWEEP").is_ok();
    let (bounds, at_least) = if is_sweep { (&WIDE[..], 30_000_000) } else { (&NARROW[..], 1_000_000) };
    let mut total = 0;
    for bounds in bounds {
        println!("{bounds:?}");
        total += are_sound(truthful_models(*bounds));
    }
    println!("before the confirm is read: {UNREAD:?}");
    let unread = |handling| PurchaseModel::truthful(handling, declared(""), FROM_MEMORY, UNREAD);
    total += are_sound(Handling::ALL.into_iter().map(|handling| ("", unread(handling).before_it_is_read())));
    println!("the provider is declared to settle at once, and does");
    let at_once = |handling| PurchaseModel::truthful(handling, declared("n"), FROM_MEMORY, bounds[0]);
    total +=
        are_sound(Handling::ALL.into_iter().map(|handling| ("n", at_once(handling).that_settles_at_once())));
    println!("{total:>9} states in all");
    assert!(total >= at_least, "only {total} states");
}

mod flawed_variants {
    use super::*;

    const RELEASED_AND_VENDED: &str = "what is released is never vended";
    const VENDED_TWICE: &str = "vended at most once";
    const ENDED_TWICE: &str = "the hold ends at most once";

    /// Most flaws need one resolve and no slip.
    const ONE_RESOLVE: Bounds = Bounds { resolves: 1, ..NOTHING };
    const TWO_RESOLVES: Bounds = Bounds { resolves: 2, short_pauses: 1, ..NOTHING };
    const ONE_SLIP: Bounds = Bounds { slips: 1, ..ONE_RESOLVE };

    fn self_managed(letters: &str) -> PurchaseModel {
        PurchaseModel::truthful(Handling::SelfManaged, declared(letters), FROM_MEMORY, ONE_RESOLVE)
    }

    fn managed(letters: &str) -> PurchaseModel {
        PurchaseModel::truthful(Handling::Managed, declared(letters), FROM_MEMORY, ONE_RESOLVE)
    }

    fn is_detected(model: PurchaseModel, invariant: &'static str) {
        let Findings { states, broken, .. } = model.explore_until_it_breaks(invariant);
        assert!(broken.is_some(), "{invariant}: not detected in {states} states");
        let trace = broken.map(|(_, trace)| trace).unwrap_or_default();
        println!("{invariant}: not so after {} moves, found in {states} states: {trace:?}", trace.len());
    }

    #[test]
    fn a_refund_on_a_timeout() {
        is_detected(self_managed("").with(Flaw::RefundsOnTimeout), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_payment_on_a_timeout() {
        is_detected(self_managed("").with(Flaw::PaysOnTimeout), "paid for only if vended");
    }

    #[test]
    fn a_refund_on_the_first_no_record() {
        is_detected(self_managed("").with(Flaw::RefundsOnFirstNoRecord), RELEASED_AND_VENDED);
    }

    #[test]
    fn two_no_records_without_a_quarantine() {
        let model = self_managed("n").with(Flaw::ForgetsTheQuarantine);
        is_detected(model.within(TWO_RESOLVES), RELEASED_AND_VENDED);
    }

    #[test]
    fn no_records_while_a_request_without_a_report_may_be_under_way() {
        let model = self_managed("n").that_settles_at_once().with(Flaw::ForgetsUnreportedSends);
        is_detected(model.within(Bounds { short_pauses: 2, ..TWO_RESOLVES }), RELEASED_AND_VENDED);
    }

    #[test]
    fn an_age_that_counts_from_the_reading() {
        let model = self_managed("").with(Flaw::AgesFromReading).before_it_is_read();
        is_detected(model.within(UNREAD), "a final answer stays true");
    }

    #[test]
    fn a_not_found_that_forgets_what_is_on_its_way() {
        let model = self_managed("").with(Flaw::ForgetsTheRest).before_it_is_read();
        is_detected(model.within(UNREAD), "a final answer stays true");
    }

    #[test]
    fn a_refusal_under_a_stale_fence() {
        let model = managed("").with(Flaw::ForgetsTheFence);
        is_detected(model.within(ONE_SLIP), "another attempt is due only if none was vended");
    }

    #[test]
    fn a_write_that_does_not_compare() {
        is_detected(self_managed("").with(Flaw::ForgetsToCompare), ENDED_TWICE);
        is_detected(self_managed("").with(Flaw::ForgetsToCompare), "a final answer stays true");
        is_detected(self_managed("r").with(Flaw::ForgetsToCompare), "no two final answers differ");
    }

    #[test]
    fn a_settlement_repeated_after_a_lost_acknowledgement() {
        is_detected(self_managed("").with(Flaw::SettlesTwice).within(ONE_SLIP), ENDED_TWICE);
    }

    #[test]
    fn a_copy_that_leaves_off_the_record() {
        is_detected(self_managed("r").with(Flaw::SendsOffTheRecord), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_copy_that_leaves_however_long_its_sender_slept() {
        let model = self_managed("n").with(Flaw::SendsBehindTheGate);
        is_detected(model.within(TWO_RESOLVES), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_release_on_the_refusal_of_one_copy_of_two() {
        is_detected(self_managed("r").with(Flaw::BelievesARefusalOfOneCopy), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_window_that_never_closes() {
        is_detected(self_managed("").with(Flaw::LeavesTheWindowOpen), "a worker can always finish");
    }

    #[test]
    fn a_repeat_declared_safe_with_a_provider_that_vends_again() {
        is_detected(self_managed("r").though_it_does(declared("")), VENDED_TWICE);
    }

    #[test]
    fn refusals_declared_remembered_by_a_provider_that_forgets_them() {
        is_detected(self_managed("rm").though_it_does(declared("r")), RELEASED_AND_VENDED);
    }

    #[test]
    fn not_found_declared_to_count_with_a_provider_that_takes_its_time() {
        let model = self_managed("n").though_it_does(declared(""));
        is_detected(model.clone().within(TWO_RESOLVES), RELEASED_AND_VENDED);
        is_detected(model.within(TWO_RESOLVES), "no incident");
    }

    /// No protocol of ours helps if the network duplicates orders and the provider does not recognise the duplicates.
    #[test]
    fn a_network_that_duplicates_orders() {
        is_detected(self_managed("").over_a_network_that_duplicates(), VENDED_TWICE);
        is_detected(self_managed("r").over_a_network_that_duplicates(), RELEASED_AND_VENDED);
    }
}
