//! A simulation of whole systems: many purchases of many subscribers at the same time, servers and workers that are
//! killed and paused, a database that loses commits and acknowledgements, and providers that misbehave in every way
//! that their declaration allows. The shipped `step`, `Confirm`, `Resolve` and `RetryPlan` make all decisions. Time
//! is virtual, and one number, the seed, decides everything else.
//!
//! `VENDGATE_SEED=42 cargo test -p vendgate-purchase --test simulation` runs one simulation again and prints its log.
//! `VENDGATE_SWEEP=1` runs 120,000 simulations, `VENDGATE_SWEEP=5000000` five million.
#![expect(dead_code, reason = "the values are shared with the tests of the protocols and of the invariants")]
#![expect(
    clippy::print_stdout,
    reason = "the log of a simulation with a violation is printed for the reader"
)]

use std::collections::BTreeSet;
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use flaw::Flaw;
use options::Options;
use purchase::EventKind;
use run::{Outcome, Simulation};
use values::declared;

#[path = "simulation/chance.rs"]
mod chance;
#[path = "simulation/crowd.rs"]
mod crowd;
#[path = "simulation/database.rs"]
mod database;
#[path = "simulation/driver.rs"]
mod driver;
#[path = "world/flaw.rs"]
mod flaw;
#[path = "simulation/invariants.rs"]
mod invariants;
#[path = "world/memory.rs"]
mod memory;
#[path = "simulation/options.rs"]
mod options;
#[path = "simulation/provider.rs"]
mod provider;
#[path = "simulation/run.rs"]
mod run;
#[path = "simulation/trouble.rs"]
mod trouble;
#[path = "simulation/turns.rs"]
mod turns;
#[path = "world/values.rs"]
mod values;

/// The results of many simulations.
#[derive(Debug, Default)]
struct Findings {
    simulations: u64,
    steps: u64,
    purchases: usize,
    sights: BTreeSet<&'static str>,
    broken: Option<Outcome>,
}

#[expect(clippy::disallowed_methods, reason = "the choice of simulations is not a setting of the service")]
fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What must have been seen in some simulation. Otherwise the invariants hold because nothing ever happens.
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

fn run(options: Options) -> Outcome {
    Simulation::new(options, false).run()
}

/// The first simulation with a violation ends the search.
fn explore(seeds: impl Iterator<Item = u64>, simulation_of: impl Fn(u64) -> Options) -> Findings {
    let mut findings = Findings::default();
    for seed in seeds {
        let outcome = run(simulation_of(seed));
        findings.simulations += 1;
        findings.steps += outcome.steps;
        findings.purchases += outcome.purchases;
        findings.sights.extend(&outcome.sights);
        if outcome.violation.is_some() {
            findings.broken = Some(outcome);
            break;
        }
    }
    findings
}

/// All cores share the seeds.
fn explore_all(simulations: u64) -> Findings {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let step = u64::try_from(threads).expect("few");
    thread::scope(|scope| {
        let workers: Vec<_> = (0..step)
            .map(|first| {
                let seeds = (first..simulations).step_by(threads);
                scope.spawn(move || explore(seeds, Options::drawn))
            })
            .collect();
        let mut all = Findings::default();
        for worker in workers {
            let part = worker.join().expect("a simulation does not panic");
            all.simulations += part.simulations;
            all.steps += part.steps;
            all.purchases += part.purchases;
            all.sights.extend(part.sights);
            all.broken = all.broken.or(part.broken);
        }
        all
    })
}

/// Runs one simulation again and returns its log.
fn log_of(options: Options) -> String {
    let name = format!("VENDGATE_SEED={}", options.seed);
    let told = format!("{options:#?}");
    let outcome = Simulation::new(options, true).run();
    let verdict = outcome
        .violation
        .as_ref()
        .map_or_else(|| "no invariant is violated".to_owned(), |violation| format!("{violation:#?}"));
    format!("{told}\n{}\n{verdict}\n{name}", outcome.log.join("\n"))
}

#[test]
fn no_simulation_violates_an_invariant() {
    if let Some(seed) = asked_for("VENDGATE_SEED") {
        let options = Options::drawn(seed);
        println!("{}", log_of(options.clone()));
        assert!(run(options).violation.is_none(), "seed {seed}");
        return;
    }
    let simulations = match asked_for("VENDGATE_SWEEP") {
        None => 3_000,
        Some(0 | 1) => 120_000,
        Some(simulations) => simulations,
    };
    let found = explore_all(simulations);
    println!("{} simulations, {} purchases, {} steps", found.simulations, found.purchases, found.steps);
    println!("seen: {:?}", found.sights);
    for sight in EventKind::ALL.map(EventKind::as_str).into_iter().chain(SIGHTS) {
        assert!(found.broken.is_some() || found.sights.contains(sight), "never seen: {sight}");
    }
    if let Some(broken) = found.broken {
        let seed = broken.options.seed;
        panic!(
            "{}\nan invariant is violated: {:?}; again with VENDGATE_SEED={seed}",
            log_of(Options::drawn(seed)),
            broken.violation
        );
    }
}

#[test]
fn a_seed_gives_the_same_simulation_again() {
    for seed in [3, 7, 31] {
        assert_eq!(log_of(Options::drawn(seed)), log_of(Options::drawn(seed)));
    }
}

mod flawed_variants {
    use super::*;

    /// More simulations than any flaw needs.
    const SIMULATIONS: u64 = 1_500;

    fn is_detected(invariant: &[&'static str], simulation_of: impl Fn(u64) -> Options) {
        let found = explore(0..SIMULATIONS, simulation_of);
        let violation = found.broken.and_then(|outcome| outcome.violation);
        assert!(violation.is_some(), "not detected in {} simulations", found.simulations);
        if let Some(violation) = violation {
            println!("detected in simulation {}: {}", found.simulations, violation.invariant);
            assert!(invariant.contains(&violation.invariant), "{violation:?}");
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
                connection.nature.duplicates = 0;
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
        is_detected(&[RELEASED_AND_VENDED], with(Flaw::RefundsOnTimeout));
    }

    #[test]
    fn a_payment_on_a_timeout() {
        is_detected(&[PAID_UNVENDED, "what was bought is what was vended"], with(Flaw::PaysOnTimeout));
    }

    #[test]
    fn a_refund_on_the_first_no_record() {
        is_detected(&[RELEASED_AND_VENDED], with(Flaw::RefundsOnFirstNoRecord));
    }

    #[test]
    fn two_no_records_without_a_quarantine() {
        is_detected(&[RELEASED_AND_VENDED, DUE_AND_VENDED], with(Flaw::ForgetsTheQuarantine));
    }

    #[test]
    fn no_records_while_a_request_without_a_report_may_be_under_way() {
        is_detected(&[RELEASED_AND_VENDED, DUE_AND_VENDED], |seed| {
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

    const NOT_FOUND: [&str; 2] = ["what was not found does not appear", "a guided integrator buys once"];

    #[test]
    fn an_age_that_counts_from_the_reading() {
        is_detected(&NOT_FOUND, with(Flaw::AgesFromReading));
    }

    #[test]
    fn a_not_found_that_forgets_what_is_on_its_way() {
        is_detected(&NOT_FOUND, with(Flaw::ForgetsTheRest));
    }

    #[test]
    fn a_refusal_under_a_stale_fence() {
        is_detected(&[RELEASED_AND_VENDED, DUE_AND_VENDED], with(Flaw::ForgetsTheFence));
    }

    #[test]
    fn a_write_that_does_not_compare() {
        let invariants = [
            "the hold ends at most once",
            "an end is final",
            "success is a capture",
            "failure is a release",
            "every sent copy is recorded",
            VENDED_TWICE,
            "sends follow the plan, however often a client asks",
            "one enquiry in each gap, however many clients ask",
        ];
        is_detected(&invariants, with(Flaw::ForgetsToCompare));
    }

    #[test]
    fn a_settlement_repeated_after_a_lost_acknowledgement() {
        is_detected(&["the hold ends at most once"], with(Flaw::SettlesTwice));
    }

    #[test]
    fn a_copy_that_leaves_off_the_record() {
        is_detected(&["every sent copy is recorded"], with(Flaw::SendsOffTheRecord));
    }

    #[test]
    fn a_copy_that_leaves_however_long_its_sender_slept() {
        let invariants = [RELEASED_AND_VENDED, DUE_AND_VENDED, "nothing is sent after the window"];
        is_detected(&invariants, with(Flaw::SendsBehindTheGate));
    }

    #[test]
    fn a_release_on_the_refusal_of_one_copy_of_two() {
        let invariants = [RELEASED_AND_VENDED, DUE_AND_VENDED];
        is_detected(&invariants, with(Flaw::BelievesARefusalOfOneCopy));
    }

    #[test]
    fn a_window_that_never_closes() {
        is_detected(&["every purchase ends in time or is in review"], with(Flaw::LeavesTheWindowOpen));
    }

    #[test]
    fn a_repeat_declared_safe_with_a_provider_that_vends_again() {
        is_detected(&[VENDED_TWICE], though_they_do("r", ""));
    }

    #[test]
    fn refusals_declared_remembered_by_a_provider_that_forgets_them() {
        is_detected(&[RELEASED_AND_VENDED, DUE_AND_VENDED], though_they_do("rm", "r"));
    }

    #[test]
    fn not_found_declared_to_count_with_a_provider_that_takes_its_time() {
        is_detected(&[RELEASED_AND_VENDED, DUE_AND_VENDED], though_they_do("n", ""));
    }

    #[test]
    fn a_network_that_duplicates_orders() {
        is_detected(&[VENDED_TWICE, RELEASED_AND_VENDED], |seed| {
            let mut options = Options::drawn(seed);
            for connection in &mut options.connections {
                connection.declared = declared("");
                connection.nature.does = declared("");
                connection.nature.duplicates = 50;
            }
            options
        });
    }
}
