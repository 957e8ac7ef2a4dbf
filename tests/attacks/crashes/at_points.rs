//! The sweep: every failpoint, with both actions, over both surfaces, with every behaviour of the provider.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use acceptance::{
    checker::{Claim, Exchange},
    fault_injection::{End, FaultEnv, Order, PATIENT, Route, Seed, rounds},
    surface::Surface,
};
use clock::{Clock, SystemClock};
use failpoint::{Action, Point};

use super::{
    batch::{self, ALL, MOSTLY_ALL},
    plan::{self, Plan, Scene, Stage, Strike},
    sound::assert_sound,
    told::Told,
};
use crate::env::{runtime, start_env, turn};

/// Small enough for every test run: each point in each of its scenes, once killed and once stopped, each over another
/// surface. Twice as many rounds cover all four combinations.
const USUAL_ROUNDS: usize = 64;
/// How often stages whose strike hit no victim are tried again. A victim may be spared by chance, most often where its
/// retry must find a repeat due.
const FURTHER_TRIES: usize = 4;
/// How often an undisturbed purchase is tried.
const TRIES: usize = 5;
/// As many as two cores can start within a lease.
const SIDE_BY_SIDE: usize = 12;
/// Checking every batch would take too long, because the checker reads everything each time.
const BATCHES_PER_CHECK: usize = 8;

/// How often the strike of each stage hit a victim, and how often the victim never reached its point.
#[derive(Default)]
struct Tally(BTreeMap<Stage, (usize, usize)>);

#[test]
fn every_purchase_ends_right_wherever_its_confirm_is_killed() {
    sweep(Scene::Confirm, Action::Kill);
}

#[test]
fn every_purchase_ends_right_wherever_its_confirm_is_stopped() {
    sweep(Scene::Confirm, Action::Stop);
}

#[test]
fn every_purchase_ends_right_wherever_its_retry_is_killed() {
    sweep(Scene::Retry, Action::Kill);
}

#[test]
fn every_purchase_ends_right_wherever_its_retry_is_stopped() {
    sweep(Scene::Retry, Action::Stop);
}

#[test]
fn every_purchase_ends_right_wherever_a_worker_is_killed() {
    sweep(Scene::Work, Action::Kill);
}

#[test]
fn every_purchase_ends_right_wherever_a_worker_is_stopped() {
    sweep(Scene::Work, Action::Stop);
}

/// The age of the confirm is measured at the reserve, not before its stop.
#[test]
fn a_confirm_stopped_before_its_reserve_buys_nothing_after_retry_said_not_found() {
    let _turn = turn();
    let mut seed = Seed::given_or_new("slept");
    let env = Arc::new(start_env("slept"));
    let runtime = runtime();
    let (point, action) = (Point::ConfirmBeforeReserve, Action::Stop);
    let slept = plan::stages(&Surface::ALL.map(|surface| Strike { point, action, surface }));
    let hasty =
        |plan: Plan| Plan { is_patient: false, route: plan.route.keyed(false), comes_back: true, ..plan };
    let plans: Vec<Plan> =
        plan::plans(&slept, 1, rounds(SIDE_BY_SIDE), &mut seed).into_iter().map(hasty).collect();
    let mut tally = Tally::default();
    for batch in plans.chunks(SIDE_BY_SIDE) {
        tally.add(&runtime.block_on(batch::run(&env, batch, seed.choose(&MOSTLY_ALL))));
    }
    runtime.block_on(buys_anew(&env));
    assert_sound(&env, |broken| explain(&env, &plans, broken));
    let is_absent = |exchange: &Exchange| exchange.claim() == Claim::Absent;
    let absent: usize = env
        .integrators
        .iter()
        .map(|merchant| merchant.history().iter().filter(|e| is_absent(e)).count())
        .sum();
    println!("{tally}{absent} answers say that there is no purchase");
    assert!(absent > 0 && tally.never_struck(&slept).is_empty());
}

/// A purchase that nothing disturbs succeeds. On a machine whose disk is busy a commit may take longer than the gate is open. Then
/// nothing is sent, and the till buys anew.
async fn buys_anew(env: &FaultEnv) {
    let integrator = env.integrators.first().unwrap();
    for number in 0.. {
        let order = Order {
            account: integrator.self_managed.0,
            subscriber: env.takes_meter(),
            external_reference: format!("anew-{number}"),
            amount: "20.50".to_owned(),
            route: Route::over(Surface::V1),
        };
        let claim = integrator.confirm(env.url(), &order, PATIENT).await.claim();
        if number + 1 == TRIES || claim != Claim::NotBought {
            assert!(matches!(claim, Claim::Bought { .. }), "a new purchase succeeds: {claim:?}");
            break;
        }
    }
    // Its messages are sent.
    env.comes_to_rest().await;
}

/// The rounds of one scene and one action. They have an environment of their own, because a batch waits for its leases
/// most of its time.
fn sweep(scene: Scene, action: Action) {
    let _turn = turn();
    let name = format!("{scene:?}-{}", action.name());
    let mut seed = Seed::given_or_new(&format!("crash sweep, {name}"));
    let began = SystemClock.monotonic();
    let env = Arc::new(start_env(&format!("points-{name}")));
    let runtime = runtime();
    let told = runtime.block_on(Told::begin::<3>(&env));
    // Few rounds may all fail. The checks need a purchase that succeeded.
    runtime.block_on(buys_anew(&env));
    let (stages, count) = share_of(rounds(USUAL_ROUNDS), scene, action, &mut seed);
    let mut plans = plan::plans(&stages, 1, count, &mut seed);
    let mut run = plans.clone();
    let mut tally = Tally::default();
    for nth_try in 0..=FURTHER_TRIES {
        for (batch, number) in plan::batches(&run, SIDE_BY_SIDE).iter().zip(1..) {
            let declared = if nth_try == 0 { seed.choose(&batch::mostly_all(batch)) } else { ALL };
            tally.add(&runtime.block_on(batch::run(&env, batch, declared)));
            println!(
                "{name}: {} rounds after {:?}",
                tally.count(),
                SystemClock.monotonic().elapsed_since(began)
            );
            if number % BATCHES_PER_CHECK == 0 {
                assert_sound(&env, |broken| explain(&env, &plans, broken));
            }
        }
        assert_sound(&env, |broken| explain(&env, &plans, broken));
        let missed = tally.never_struck(&stages);
        if missed.is_empty() {
            break;
        }
        run = plan::plans(&missed, plans.len() + 1, missed.len() * 4, &mut seed);
        plans.extend(&run);
    }
    runtime.block_on(told.is_complete(&env));
    println!(
        "{tally}\n{name}, in {:?}: no invariant was violated",
        SystemClock.monotonic().elapsed_since(began)
    );
    // A sweep without a hit proves nothing.
    assert_eq!(tally.never_struck(&stages), Vec::<Stage>::new(), "these strikes hit no victim");
}

/// The stages of one scene and one action, and their share of all rounds.
fn share_of(rounds: usize, scene: Scene, action: Action, seed: &mut Seed) -> (Vec<Stage>, usize) {
    let strikes = if rounds < 2 * USUAL_ROUNDS { plan::dealt_strikes(seed) } else { plan::all_strikes() };
    let mut stages = plan::stages(&strikes);
    let all = stages.len();
    stages.retain(|stage| (stage.scene, stage.strike.action) == (scene, action));
    let count = (rounds * stages.len()).div_ceil(all);
    (stages, count)
}

/// The rounds of the purchases that a violation names, with their requests and answers.
fn explain(env: &FaultEnv, plans: &[Plan], broken: &str) -> String {
    let named =
        broken.split_once("round-").and_then(|(_, rest)| rest.split('-').next()?.parse::<usize>().ok());
    let words =
        broken.split("purchase ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<i64>().ok());
    let bought = words.filter_map(|id| {
        let reference = env.asks(&format!("SELECT external_reference FROM purchases WHERE id = {id}"));
        reference.strip_prefix("round-")?.split('-').next()?.parse::<usize>().ok()
    });
    let numbers: BTreeSet<usize> = named.into_iter().chain(bought).collect();
    let rounds = plans.iter().filter(|plan| numbers.contains(&plan.number));
    let stories: Vec<String> =
        rounds.map(|plan| format!("\n  {plan}{}", story(env, &format!("round-{}-", plan.number)))).collect();
    stories.concat()
}

/// All exchanges and events of the purchases whose external references begin with `reference`, ordered by time.
pub fn story(env: &FaultEnv, reference: &str) -> String {
    let of_round = |exchange: &&Exchange| {
        exchange.about().is_some_and(|(_, its)| its.is_some_and(|its| its.starts_with(reference)))
    };
    let mut lines: Vec<(i64, String)> = Vec::new();
    for integrator in &env.integrators {
        lines.extend(integrator.history().iter().filter(of_round).map(|exchange| {
            let told = exchange.reply.as_ref().map(|reply| (reply.status, exchange.code()));
            let took = (exchange.returned_at - exchange.invoked_at) / 1_000;
            (
                exchange.invoked_at,
                format!(
                    "{:?} over {:?}: {:?} {told:?} after {took} ms",
                    exchange.call,
                    exchange.surface,
                    exchange.claim()
                ),
            )
        }));
    }
    let events = env.asks(&format!(
        "SELECT (extract(epoch FROM e.at) * 1000000)::bigint, e.purchase_id, e.fact, e.detail, e.state, e.fence, e.attempt
         FROM purchase_history e JOIN purchases p ON p.id = e.purchase_id WHERE p.external_reference LIKE '{reference}%'"
    ));
    lines.extend(events.lines().filter_map(|row| {
        let (at, rest) = row.split_once('|')?;
        Some((at.parse().ok()?, rest.to_owned()))
    }));
    lines.sort();
    let began = lines.first().map_or(0, |(at, _)| *at);
    let told = lines.iter().map(|(at, line)| format!("\n    {:>6} ms  {line}", (at - began) / 1_000));
    told.collect::<Vec<_>>().concat()
}

impl Tally {
    fn add(&mut self, ends: &[(Plan, End)]) {
        for (plan, end) in ends {
            let (struck, spared) = self.0.entry(plan.stage()).or_default();
            match end {
                End::Struck => *struck += 1,
                End::Spared => *spared += 1,
            }
        }
    }

    fn count(&self) -> usize {
        self.0.values().map(|(struck, spared)| struck + spared).sum()
    }

    fn never_struck(&self, stages: &[Stage]) -> Vec<Stage> {
        let is_missing = |stage: &&Stage| self.0.get(stage).is_none_or(|(struck, _)| *struck == 0);
        stages.iter().filter(is_missing).copied().collect()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let struck: usize = self.0.values().map(|(struck, _)| struck).sum();
        writeln!(out, "{} rounds, {struck} victims struck:", self.count())?;
        for (Stage { scene, strike: Strike { point, action, surface } }, (struck, spared)) in &self.0 {
            let (scene, point, action) = (format!("{scene:?}"), point.name(), action.name());
            let surface = format!("{surface:?}");
            writeln!(
                out,
                "  {scene:<8} {point:<28} {action:<4} over {surface:<7} {struck:>4} struck {spared:>4} spared"
            )?;
        }
        Ok(())
    }
}

#[test]
fn a_point_where_no_victim_was_stopped_counts_as_missed_even_if_one_was_killed() {
    let mut tally = Tally::default();
    let (stages, mut seed) = (plan::stages(&plan::all_strikes()), Seed::given_or_new("stages"));
    for plan in plan::plans(&stages, 1, 2 * USUAL_ROUNDS, &mut seed) {
        let end = if plan.strike.action == Action::Kill { End::Struck } else { End::Spared };
        tally.add(&[(plan, end)]);
    }
    let stops = stages.iter().filter(|stage| stage.strike.action == Action::Stop);
    assert_eq!(tally.never_struck(&stages), stops.copied().collect::<Vec<_>>());
}

#[test]
fn a_usual_run_strikes_every_point_in_both_ways_over_both_surfaces() {
    let mut seed = Seed::given_or_new("strikes");
    let strikes = plan::dealt_strikes(&mut seed);
    for point in Point::ALL {
        let of_point = strikes.iter().filter(|strike| strike.point == *point);
        let ways: (BTreeSet<Action>, BTreeSet<Surface>) =
            of_point.map(|strike| (strike.action, strike.surface)).unzip();
        assert_eq!(ways, (Action::ALL.into(), Surface::ALL.into()), "{point:?}");
    }
    let shares = [Scene::Confirm, Scene::Retry, Scene::Work]
        .map(|scene| Action::ALL.map(|action| share_of(USUAL_ROUNDS, scene, action, &mut seed.clone())));
    let shares = shares.into_iter().flatten();
    let struck: BTreeSet<Stage> = shares
        .inspect(|(stages, count)| assert_eq!(stages.len(), *count))
        .flat_map(|(stages, _)| stages)
        .collect();
    assert_eq!(struck.len(), USUAL_ROUNDS);
}
