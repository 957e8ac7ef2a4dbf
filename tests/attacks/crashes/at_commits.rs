//! Failures of the database: during a commit, and as a crash of the whole database.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use acceptance::{
    checker::Claim,
    fault_injection::{Behaviour, FaultEnv, HASTY, Order, PATIENT, Route, Seed, rounds},
};
use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use sandbox::Process;
use test_kit::wire::{Cut, Wire};
use tokio::runtime::Runtime;

use super::sound::assert_sound;
use crate::env::{runtime, start_env, turn};

/// The minimum number of purchases, and how many of them run at a time.
const PURCHASES: usize = 36;
const AT_A_TIME: usize = 12;
/// How long the tills wait when the database is away. It refuses every order at once then, and an order that nothing was done about
/// tests nothing.
const WHILE_AWAY: Duration = Duration::from_millis(500);
/// Small enough for every test run.
const USUAL_CUTS: usize = 40;
const MOST_CUTS: usize = 100;
/// The tills give up after this number of orders. Then the checker says what is missing.
const ORDERS_MAX: usize = 600;

#[test]
fn every_purchase_ends_correctly_when_commits_or_their_acknowledgements_are_lost() {
    let _turn = turn();
    let env = Arc::new(start_env("wire"));
    let (server, worker, wire) = behind_a_wire(&env);
    // Only cuts that were made are counted.
    wire.cut_at_next_commit(Cut::Acknowledgement);
    let cutting = |seed: &mut Seed, cuts: &mut usize| {
        if wire.has_cut() {
            *cuts += 1;
            wire.cut_at_next_commit(seed.choose(&[Cut::Acknowledgement, Cut::Commit]));
        }
    };
    let cuts_at_least = rounds(USUAL_CUTS).min(MOST_CUTS);
    let cuts = buy_amid(&env, server.url(), Duration::from_millis(60), cuts_at_least, cutting);
    println!("{cuts} commits cut");
    drop((server, worker));
}

#[test]
fn every_purchase_ends_right_when_the_database_crashes_in_mid_flight() {
    let _turn = turn();
    let env = Arc::new(start_env("postgres"));
    let url = env.url().to_owned();
    let mut last = None;
    let crashing = |_: &mut Seed, crashes: &mut usize| {
        if let Some(crashed) = crash(&env, last) {
            *crashes += 1;
            last = Some(crashed);
        }
    };
    let crashes = buy_amid(&env, &url, Duration::from_secs(2), 4, crashing);
    println!("{crashes} crashes of the database");
}

/// Buys through one server and repeats `done` at least `times_at_least` times meanwhile. Then it runs the checker.
/// Returns how often `done` had an effect.
fn buy_amid(
    env: &Arc<FaultEnv>,
    url: &str,
    pause: Duration,
    times_at_least: usize,
    mut done: impl FnMut(&mut Seed, &mut usize),
) -> usize {
    let mut seed = Seed::given_or_new("commits");
    let mut choices = seed.clone();
    let is_enough = Arc::new(AtomicBool::new(false));
    let runtime = runtime();
    let buying = {
        let (env, url, is_enough) = (env.clone(), url.to_owned(), is_enough.clone());
        runtime.spawn(async move {
            let (mut ordered, mut bought) = (0, 0);
            while ordered < ORDERS_MAX && (bought < PURCHASES || !is_enough.load(Ordering::Relaxed)) {
                let orders: Vec<_> = (ordered..ordered + AT_A_TIME)
                    .map(|number| (number, choices.choose(&Behaviour::ALL), choices.choose(&[true, false])))
                    .collect();
                let buying = orders
                    .into_iter()
                    .map(|(number, behaviour, is_managed)| buy(&env, &url, number, behaviour, is_managed));
                let claims = join_all(buying).await;
                ordered += AT_A_TIME;
                let begun = claims.iter().filter(|claim| **claim != Claim::NotBought).count();
                bought += begun;
                if begun == 0 {
                    tokio::time::sleep(WHILE_AWAY).await;
                }
            }
            bought
        })
    };
    let mut times = 0;
    while !buying.is_finished() {
        done(&mut seed, &mut times);
        is_enough.store(times >= times_at_least, Ordering::Relaxed);
        runtime.block_on(async { tokio::time::sleep(pause).await });
    }
    println!("{} purchases", runtime.block_on(buying).unwrap());
    let_rest(env, &runtime);
    times
}

async fn buy(env: &FaultEnv, url: &str, number: usize, behaviour: Behaviour, is_managed: bool) -> Claim {
    let integrator = env.integrators.iter().cycle().nth(number % 2).unwrap();
    let order = Order {
        account: integrator.account(is_managed).0,
        subscriber: env.takes_meter(),
        external_reference: format!("purchase-{number}"),
        amount: format!("{}.50", 10 + number),
        route: Route::of(number / 2).keyed(number.is_multiple_of(4)),
    };
    env.simulator.will(&order.subscriber, behaviour).await;
    let patience = if number.is_multiple_of(3) { HASTY } else { PATIENT };
    integrator.buys(url, url, &order, patience).await
}

fn let_rest(env: &Arc<FaultEnv>, runtime: &Runtime) {
    runtime.block_on(env.comes_to_rest());
    assert_sound(env, |_| String::new());
}

/// A server and a worker whose connections to the database can be cut.
fn behind_a_wire(env: &FaultEnv) -> (Process, Process, Wire) {
    let wire = Wire::to(env.sandbox.database()).unwrap();
    let url_of = |settings: &str| {
        let text = fs::read_to_string(env.directory().join(settings)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("database_url = ")).unwrap();
        wire.through(line.trim_matches('"'))
    };
    let through = |url: &str| [("VENDGATE__STORE__DATABASE_URL".to_owned(), url.to_owned())];
    let api = through(&url_of("api-server.toml"));
    let work = through(&url_of("retry-worker.toml"));
    let [(name, url)] = &api;
    let server = env.sandbox.another_api_server(&env.programs.api_server, "cut-server", &[(name, url)]);
    let [(name, url)] = &work;
    let worker = env.sandbox.another_retry_worker(&env.programs.retry_worker, "cut-worker", &[(name, url)]);
    (server.unwrap(), worker.unwrap(), wire)
}

/// Kills the checkpointer process. Postgres then terminates all sessions and recovers from its log, as after an
/// immediate shutdown and a start. Returns the process if it was killed. It may have ended with the previous crash,
/// or it may be the previous process that is still listed.
fn crash(env: &FaultEnv, last: Option<Pid>) -> Option<Pid> {
    let pid = env.sandbox.database().run_sql(CHECKPOINTER).ok()?.parse().ok().and_then(Pid::from_raw)?;
    (Some(pid) != last && kill_process(pid, Signal::KILL).is_ok()).then_some(pid)
}

const CHECKPOINTER: &str = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
