//! A simulation of whole towns: many purchases of many subscribers at once, servers and workers that are killed and
//! paused, a database that loses commits and acknowledgements, providers that misbehave in every way that their
//! declaration leaves them. Everything that is decided is decided by the shipped `step`, `Confirm`, `Resolve` and
//! `RetryPlan`; time is virtual, and one number, the seed, decides all the rest.
//!
//! `VENDGATE_SEED=42 cargo test -p purchase --test simulation` lives one town again and tells its story.
//! `VENDGATE_SWEEP=1` lives 120,000, `VENDGATE_SWEEP=5000000` five million.
#![expect(dead_code, reason = "the values are shared with the protocols' and the laws' tests")]
#![expect(clippy::print_stdout, reason = "the story of a town that came to grief is for a person to read")]

use std::collections::BTreeSet;
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use flaw::Flaw;
use options::Options;
use purchase::FactKind;
use town::{Outcome, Town};
use values::declared;

#[path = "simulation/chance.rs"]
mod chance;
#[path = "simulation/crowd.rs"]
mod crowd;
#[path = "simulation/database.rs"]
mod database;
#[path = "simulation/desk.rs"]
mod desk;
#[path = "model/flaw.rs"]
mod flaw;
#[path = "simulation/laws.rs"]
mod laws;
#[path = "simulation/options.rs"]
mod options;
#[path = "simulation/provider.rs"]
mod provider;
#[path = "simulation/town.rs"]
mod town;
#[path = "simulation/trouble.rs"]
mod trouble;
#[path = "simulation/turns.rs"]
mod turns;
#[path = "world/values.rs"]
mod values;

/// What many towns came to.
#[derive(Debug, Default)]
struct Findings {
    towns: u64,
    steps: u64,
    purchases: usize,
    sights: BTreeSet<&'static str>,
    broken: Option<Outcome>,
}

#[expect(clippy::disallowed_methods, reason = "which towns are lived is not a setting of the service")]
fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What must have been seen somewhere, or the laws hold because nothing ever happens.
const SIGHTS: [&str; 14] = [
    "IN_FLIGHT",
    "IN_DOUBT",
    "RETRY_DUE",
    "REVIEW",
    "SUCCESSFUL",
    "FAILED",
    "killed at work",
    "late commit",
    "never left",
    "swapped",
    "no_record",
    "still_open",
    "unanswered",
    "refused",
];

fn lives(options: Options) -> Outcome {
    Town::founded(options, false).lives()
}

/// The first that comes to grief ends it.
fn explore(seeds: impl Iterator<Item = u64>, town_of: impl Fn(u64) -> Options) -> Findings {
    let mut findings = Findings::default();
    for seed in seeds {
        let outcome = lives(town_of(seed));
        findings.towns += 1;
        findings.steps += outcome.steps;
        findings.purchases += outcome.purchases;
        findings.sights.extend(&outcome.sights);
        if outcome.breach.is_some() {
            findings.broken = Some(outcome);
            break;
        }
    }
    findings
}

/// All cores share the seeds.
fn explore_all(towns: u64) -> Findings {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let step = u64::try_from(threads).expect("few");
    thread::scope(|scope| {
        let workers: Vec<_> = (0..step)
            .map(|first| {
                let seeds = (first..towns).step_by(threads);
                scope.spawn(move || explore(seeds, Options::drawn))
            })
            .collect();
        let mut all = Findings::default();
        for worker in workers {
            let part = worker.join().expect("a town does not panic");
            all.towns += part.towns;
            all.steps += part.steps;
            all.purchases += part.purchases;
            all.sights.extend(part.sights);
            all.broken = all.broken.or(part.broken);
        }
        all
    })
}

/// Lived once more, and told.
fn story_of(options: Options) -> String {
    let name = format!("VENDGATE_SEED={}", options.seed);
    let told = format!("{options:#?}");
    let outcome = Town::founded(options, true).lives();
    let verdict = outcome
        .breach
        .as_ref()
        .map_or_else(|| "no law is broken".to_owned(), |breach| format!("{breach:#?}"));
    format!("{told}\n{}\n{verdict}\n{name}", outcome.story.join("\n"))
}

#[test]
fn no_law_is_broken_in_any_town() {
    if let Some(seed) = asked_for("VENDGATE_SEED") {
        let options = Options::drawn(seed);
        println!("{}", story_of(options.clone()));
        assert!(lives(options).breach.is_none(), "seed {seed}");
        return;
    }
    let towns = match asked_for("VENDGATE_SWEEP") {
        None => 3_000,
        Some(0 | 1) => 120_000,
        Some(towns) => towns,
    };
    let found = explore_all(towns);
    println!("{} towns, {} purchases, {} steps", found.towns, found.purchases, found.steps);
    println!("seen: {:?}", found.sights);
    for sight in FactKind::ALL.map(FactKind::as_str).into_iter().chain(SIGHTS) {
        assert!(found.broken.is_some() || found.sights.contains(sight), "never seen: {sight}");
    }
    if let Some(broken) = found.broken {
        let seed = broken.options.seed;
        panic!(
            "{}\na law is broken: {:?}; again with VENDGATE_SEED={seed}",
            story_of(Options::drawn(seed)),
            broken.breach
        );
    }
}

#[test]
fn a_seed_is_lived_the_same_again() {
    for seed in [3, 7, 31] {
        assert_eq!(story_of(Options::drawn(seed)), story_of(Options::drawn(seed)));
    }
}

mod what_somebody_might_get_wrong {
    use super::*;

    /// More towns than any of them needs.
    const TOWNS: u64 = 1_500;

    fn is_found_out(law: &[&'static str], town_of: impl Fn(u64) -> Options) {
        let found = explore(0..TOWNS, town_of);
        let breach = found.broken.and_then(|outcome| outcome.breach);
        assert!(breach.is_some(), "not found out in {} towns", found.towns);
        if let Some(breach) = breach {
            println!("found out in town {}: {}", found.towns, breach.law);
            assert!(law.contains(&breach.law), "{breach:?}");
        }
    }

    fn with(flaw: Flaw) -> impl Fn(u64) -> Options {
        move |seed| Options { flaw: Some(flaw), ..Options::drawn(seed) }
    }

    /// Everything is declared as `letters`, and the providers do less.
    fn though_they_do(letters: &'static str, do_: &'static str) -> impl Fn(u64) -> Options {
        move |seed| {
            let mut options = Options::drawn(seed);
            for connection in &mut options.connections {
                connection.declared = declared(letters);
                connection.nature.does = declared(do_);
                connection.nature.doubles = 0;
            }
            options.clock_jumps = 0;
            options
        }
    }

    const RELEASED_AND_VENDED: &str = "what is released is never vended";
    const DUE_AND_VENDED: &str = "another attempt is due only if none was vended";
    const VENDED_TWICE: &str = "vended at most once";
    const PAID_UNVENDED: &str = "paid for only if vended";

    #[test]
    fn a_refund_on_a_timeout() {
        is_found_out(&[RELEASED_AND_VENDED], with(Flaw::RefundsOnTimeout));
    }

    #[test]
    fn a_payment_on_a_timeout() {
        is_found_out(&[PAID_UNVENDED, "what was bought is what was vended"], with(Flaw::PaysOnTimeout));
    }

    #[test]
    fn a_refund_on_the_first_no_record() {
        is_found_out(&[RELEASED_AND_VENDED], with(Flaw::RefundsOnFirstNoRecord));
    }

    #[test]
    fn two_no_records_without_a_quarantine() {
        is_found_out(&[RELEASED_AND_VENDED, DUE_AND_VENDED], with(Flaw::ForgetsTheQuarantine));
    }

    #[test]
    fn no_records_while_a_request_without_a_report_may_be_under_way() {
        is_found_out(&[RELEASED_AND_VENDED, DUE_AND_VENDED], |seed| {
            let mut options = with(Flaw::ForgetsUnreportedSends)(seed);
            options.kills_at_work = 100;
            for connection in &mut options.connections {
                connection.declared.settles_within = Duration::from_secs(10);
                connection.nature.does = connection.declared;
                connection.nature.is_late = 60;
            }
            options
        });
    }

    const NOT_FOUND: [&str; 2] = ["what was not found does not appear", "who follows the guide buys once"];

    #[test]
    fn an_age_that_counts_from_the_reading() {
        is_found_out(&NOT_FOUND, with(Flaw::AgesFromReading));
    }

    #[test]
    fn a_not_found_that_forgets_what_is_on_its_way() {
        is_found_out(&NOT_FOUND, with(Flaw::ForgetsTheRest));
    }

    #[test]
    fn a_refusal_under_a_stale_fence() {
        is_found_out(&[RELEASED_AND_VENDED, DUE_AND_VENDED], with(Flaw::ForgetsTheFence));
    }

    #[test]
    fn a_write_that_does_not_compare() {
        let laws = [
            "the hold ends at most once",
            "the end is the end",
            "success is a capture",
            "failure is a release",
            "a copy leaves on record only",
            VENDED_TWICE,
            "sends follow the plan, whoever asks",
            "one enquiry at a time, however many ask",
        ];
        is_found_out(&laws, with(Flaw::ForgetsToCompare));
    }

    #[test]
    fn a_settlement_repeated_after_a_lost_acknowledgement() {
        is_found_out(&["the hold ends at most once"], with(Flaw::SettlesTwice));
    }

    #[test]
    fn a_copy_that_leaves_off_the_record() {
        is_found_out(&["a copy leaves on record only"], with(Flaw::SendsOffTheRecord));
    }

    #[test]
    fn a_copy_that_leaves_however_long_its_sender_slept() {
        let laws = [RELEASED_AND_VENDED, DUE_AND_VENDED, "nothing is sent after the window"];
        is_found_out(&laws, with(Flaw::SendsBehindTheGate));
    }

    #[test]
    fn a_release_on_the_refusal_of_one_copy_of_two() {
        let laws = [RELEASED_AND_VENDED, DUE_AND_VENDED];
        is_found_out(&laws, with(Flaw::BelievesARefusalOfOneCopy));
    }

    #[test]
    fn a_window_that_never_closes() {
        is_found_out(&["all ends in time, or stands before a person"], with(Flaw::LeavesTheWindowOpen));
    }

    #[test]
    fn a_repeat_declared_safe_with_a_provider_that_vends_again() {
        is_found_out(&[VENDED_TWICE], though_they_do("r", ""));
    }

    #[test]
    fn refusals_declared_remembered_by_a_provider_that_forgets_them() {
        is_found_out(&[RELEASED_AND_VENDED, DUE_AND_VENDED], though_they_do("rm", "r"));
    }

    #[test]
    fn not_found_declared_to_count_with_a_provider_that_takes_its_time() {
        is_found_out(&[RELEASED_AND_VENDED, DUE_AND_VENDED], though_they_do("n", ""));
    }

    #[test]
    fn a_road_that_doubles_orders() {
        is_found_out(&[VENDED_TWICE, RELEASED_AND_VENDED], |seed| {
            let mut options = Options::drawn(seed);
            for connection in &mut options.connections {
                connection.declared = declared("");
                connection.nature.does = declared("");
                connection.nature.doubles = 50;
            }
            options
        });
    }
}
