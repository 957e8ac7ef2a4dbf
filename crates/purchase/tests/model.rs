//! A model check of the money protocols: one confirm, an integrator who asks, two workers, a provider of
//! every declaration and a road that loses, delays and doubles. The confirm may wait in a proxy or in the buffer of a
//! socket while the integrator asks about it. Everything that is decided is decided by the
//! shipped `step`, `Confirm` and `Resolve`; every reachable state within the bounds is held against the laws.
//!
//! Not in it: a second purchase, the wallet's arithmetic, a database that loses what it has committed, clocks
//! that disagree, and whatever happens beyond the bounds.
//!
//! `VENDGATE_SWEEP=1` widens the bounds.
#![expect(dead_code, reason = "the values are shared with the protocols' and the laws' tests")]
#![expect(clippy::print_stdout, reason = "how many states there were is for a person to see")]

use purchase::Handling;
use vend::Capabilities;

use flaw::Flaw;
use floor::Bounds;
use provider::{Habits, Repeats};
use town::{Findings, Town};
use values::{DECLARATIONS, declared};
use world::TIMING;

#[path = "model/desk.rs"]
mod desk;
#[path = "model/flaw.rs"]
mod flaw;
#[path = "model/floor.rs"]
mod floor;
#[path = "model/provider.rs"]
mod provider;
#[path = "model/town.rs"]
mod town;
#[path = "world/values.rs"]
mod values;
#[path = "model/world.rs"]
mod world;

/// Whoever never goes on has crashed; a crash that is noticed only clears a seat.
const NOTHING: Bounds =
    Bounds { slips: 0, crashes: 0, visits: 0, short_pauses: 0, long_pauses: 2, copies: 2 };
/// One who resolves, and a slip of whoever it may be; then two, and a crash.
const NARROW: [Bounds; 2] =
    [Bounds { slips: 1, visits: 1, short_pauses: 1, ..NOTHING }, Bounds { crashes: 1, visits: 2, ..NOTHING }];
/// Two, a slip and a crash; then three.
const WIDE: [Bounds; 2] =
    [Bounds { slips: 1, crashes: 1, visits: 2, ..NOTHING }, Bounds { visits: 3, ..NOTHING }];

/// The integrator asks while the confirm has not been read, which may wait for long, and again afterwards.
const UNREAD: Bounds = Bounds { slips: 1, visits: 1, short_pauses: 2, ..NOTHING };

const FROM_MEMORY: Habits = Habits { repeats: Repeats::FromMemory, turns_away: true, doubles: false };
const REJECTED: Habits = Habits { repeats: Repeats::Rejected, ..FROM_MEMORY };
/// A doubled order is safe with nobody but a provider that remembers everything.
const DOUBLED: [Habits; 2] = [
    Habits { turns_away: false, doubles: true, ..FROM_MEMORY },
    Habits { turns_away: false, doubles: true, ..REJECTED },
];

fn habits_with(declared: Capabilities) -> Vec<Habits> {
    let mut habits = vec![FROM_MEMORY];
    if declared.repeat_is_safe {
        habits.push(REJECTED);
        if declared.remembers_refusals {
            habits.extend(DOUBLED);
        }
    }
    habits
}

fn every_truthful_town(bounds: Bounds) -> impl Iterator<Item = (&'static str, Town)> {
    Handling::ALL.into_iter().flat_map(move |handling| {
        DECLARATIONS.into_iter().flat_map(move |letters| {
            let declared = declared(letters);
            let towns = habits_with(declared).into_iter();
            towns.map(move |habits| (letters, Town::truthful(handling, declared, habits, bounds)))
        })
    })
}

#[test]
fn the_time_chain_of_the_model_is_one_that_the_service_would_start_with() {
    assert_eq!(TIMING.checked(), Ok(TIMING));
}

/// Every law holds in every state, and whatever should be possible is seen. The number of states.
fn is_lawful(letters: &str, town: Town) -> usize {
    let (handling, habits) = (town.law.handling, town.law.nature.habits);
    let name = format!("{handling:?}, declared {letters:?}, {habits:?}");
    let Findings { states, broken, never_seen } = town.explore(2);
    println!("{states:>9} states: {name}");
    assert!(broken.is_empty(), "{name}: {broken:#?}");
    assert!(never_seen.is_empty(), "{name}: never {never_seen:?}");
    states
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how wide a sweep goes is not a setting of the service")]
fn no_connection_that_is_declared_truthfully_breaks_a_law() {
    let is_sweep = std::env::var("VENDGATE_SWEEP").is_ok();
    let (bounds, at_least) = if is_sweep { (&WIDE[..], 30_000_000) } else { (&NARROW[..], 1_000_000) };
    let mut total = 0;
    for bounds in bounds {
        println!("{bounds:?}");
        total += every_truthful_town(*bounds).map(|(letters, town)| is_lawful(letters, town)).sum::<usize>();
    }
    println!("before the confirm is read: {UNREAD:?}");
    for handling in Handling::ALL {
        let town = Town::truthful(handling, declared(""), FROM_MEMORY, UNREAD).before_it_is_read();
        total += is_lawful("", town);
    }
    println!("the provider is declared to settle at once, and does");
    for handling in Handling::ALL {
        let town = Town::truthful(handling, declared("n"), FROM_MEMORY, bounds[0]);
        total += is_lawful("n", town.that_settles_at_once());
    }
    println!("{total:>9} states in all");
    assert!(total >= at_least, "only {total} states");
}

mod what_somebody_might_get_wrong {
    use super::*;

    const RELEASED_AND_VENDED: &str = "what is released is never vended";
    const VENDED_TWICE: &str = "vended at most once";
    const ENDED_TWICE: &str = "the hold ends at most once";

    /// Most mistakes need one visit and no bad luck.
    const ONE_VISIT: Bounds = Bounds { visits: 1, ..NOTHING };
    const TWO_VISITS: Bounds = Bounds { visits: 2, short_pauses: 1, ..NOTHING };
    const ONE_SLIP: Bounds = Bounds { slips: 1, ..ONE_VISIT };

    fn self_managed(letters: &str) -> Town {
        Town::truthful(Handling::SelfManaged, declared(letters), FROM_MEMORY, ONE_VISIT)
    }

    fn managed(letters: &str) -> Town {
        Town::truthful(Handling::Managed, declared(letters), FROM_MEMORY, ONE_VISIT)
    }

    fn is_found_out(town: Town, law: &'static str) {
        let Findings { states, broken, .. } = town.explore_until_it_breaks(law);
        let found = broken.iter().find(|(broken, _)| *broken == law);
        assert!(found.is_some(), "not found out in {states} states: {broken:?}");
        if let Some((_, story)) = found {
            println!("{law}: not so after {} moves, found in {states} states: {story:?}", story.len());
        }
    }

    #[test]
    fn a_refund_on_a_timeout() {
        is_found_out(self_managed("").with(Flaw::RefundsOnTimeout), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_payment_on_a_timeout() {
        is_found_out(self_managed("").with(Flaw::PaysOnTimeout), "paid for only if vended");
    }

    #[test]
    fn a_refund_on_the_first_no_record() {
        is_found_out(self_managed("").with(Flaw::RefundsOnFirstNoRecord), RELEASED_AND_VENDED);
    }

    #[test]
    fn two_no_records_without_a_quarantine() {
        let town = self_managed("n").with(Flaw::ForgetsTheQuarantine);
        is_found_out(town.within(TWO_VISITS), RELEASED_AND_VENDED);
    }

    #[test]
    fn no_records_while_a_request_without_a_report_may_be_under_way() {
        let town = self_managed("n").that_settles_at_once().with(Flaw::ForgetsUnreportedSends);
        is_found_out(town.within(Bounds { short_pauses: 2, ..TWO_VISITS }), RELEASED_AND_VENDED);
    }

    #[test]
    fn an_age_that_counts_from_the_reading() {
        let town = self_managed("").with(Flaw::AgesFromReading).before_it_is_read();
        is_found_out(town.within(UNREAD), "what was told still stands");
    }

    #[test]
    fn a_not_found_that_forgets_what_is_on_its_way() {
        let town = self_managed("").with(Flaw::ForgetsTheRest).before_it_is_read();
        is_found_out(town.within(UNREAD), "what was told still stands");
    }

    #[test]
    fn a_refusal_under_a_stale_fence() {
        let town = managed("").with(Flaw::ForgetsTheFence);
        is_found_out(town.within(ONE_SLIP), "another attempt is due only if none was vended");
    }

    #[test]
    fn a_write_that_does_not_compare() {
        is_found_out(self_managed("").with(Flaw::ForgetsToCompare), ENDED_TWICE);
        is_found_out(self_managed("").with(Flaw::ForgetsToCompare), "what was told still stands");
        is_found_out(self_managed("r").with(Flaw::ForgetsToCompare), "no two final answers differ");
    }

    #[test]
    fn a_settlement_repeated_after_a_lost_acknowledgement() {
        is_found_out(self_managed("").with(Flaw::SettlesTwice).within(ONE_SLIP), ENDED_TWICE);
    }

    #[test]
    fn a_copy_that_leaves_off_the_record() {
        is_found_out(self_managed("r").with(Flaw::SendsOffTheRecord), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_copy_that_leaves_however_long_its_sender_slept() {
        let town = self_managed("n").with(Flaw::SendsBehindTheGate);
        is_found_out(town.within(TWO_VISITS), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_release_on_the_refusal_of_one_copy_of_two() {
        is_found_out(self_managed("r").with(Flaw::BelievesARefusalOfOneCopy), RELEASED_AND_VENDED);
    }

    #[test]
    fn a_window_that_never_closes() {
        is_found_out(self_managed("").with(Flaw::LeavesTheWindowOpen), "a worker finds a way out");
    }

    #[test]
    fn a_repeat_declared_safe_with_a_provider_that_vends_again() {
        is_found_out(self_managed("r").though_it_does(declared("")), VENDED_TWICE);
    }

    #[test]
    fn refusals_declared_remembered_by_a_provider_that_forgets_them() {
        is_found_out(self_managed("rm").though_it_does(declared("r")), RELEASED_AND_VENDED);
    }

    #[test]
    fn not_found_declared_to_count_with_a_provider_that_takes_its_time() {
        let town = self_managed("n").though_it_does(declared(""));
        is_found_out(town.clone().within(TWO_VISITS), RELEASED_AND_VENDED);
        is_found_out(town.within(TWO_VISITS), "no incident");
    }

    /// No protocol of ours helps against a road that doubles orders on their way to a provider that does not
    /// know them again.
    #[test]
    fn a_road_that_doubles_orders() {
        is_found_out(self_managed("").on_a_road_that_doubles(), VENDED_TWICE);
        is_found_out(self_managed("r").on_a_road_that_doubles(), RELEASED_AND_VENDED);
    }
}
