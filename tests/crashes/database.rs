//! The database goes away at the worst moments: in the middle of a commit, and altogether.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use acceptance::storm::{Behaviour, HASTY, Order, PATIENT, Route, Seed, StormTown};
use futures_util::future::join_all;
use local_postgres::{Cut, Wire};
use rustix::process::{Pid, Signal, kill_process};
use sandbox::Process;
use tokio::runtime::{Builder, Runtime};

use crate::{
    lawful::assert_lawful,
    town::{found, turn},
};

/// So many purchases at least, so many at a time.
const PURCHASES: usize = 36;
const AT_A_TIME: usize = 12;

#[test]
fn every_purchase_ends_right_when_acknowledgements_of_commits_and_commits_themselves_are_lost() {
    let _turn = turn();
    let town = Arc::new(found("wire"));
    let (server, worker, wire) = behind_a_wire(&town);
    // Those that are counted are those that were made.
    wire.cut_at_next_commit(Cut::Acknowledgement);
    let cutting = |seed: &mut Seed, cuts: &mut usize| {
        if wire.has_cut() {
            *cuts += 1;
            wire.cut_at_next_commit(seed.choose(&[Cut::Acknowledgement, Cut::Commit]));
        }
    };
    let cuts = buy_amid(&town, server.url(), Duration::from_millis(60), 100, cutting);
    println!("{cuts} commits cut");
    drop((server, worker));
}

#[test]
fn every_purchase_ends_right_when_the_database_crashes_in_mid_flight() {
    let _turn = turn();
    let town = Arc::new(found("postgres"));
    let url = town.url().to_owned();
    let mut last = None;
    let crashing = |_: &mut Seed, crashes: &mut usize| {
        if let Some(crashed) = crash(&town, last) {
            *crashes += 1;
            last = Some(crashed);
        }
    };
    let crashes = buy_amid(&town, &url, Duration::from_secs(2), 4, crashing);
    println!("{crashes} crashes of the database");
}

/// Buys through one server while something is done again and again, so often at least; then the checker. Says how
/// often it was done.
fn buy_amid(
    town: &Arc<StormTown>,
    url: &str,
    pause: Duration,
    times_at_least: usize,
    mut done: impl FnMut(&mut Seed, &mut usize),
) -> usize {
    let mut seed = Seed::given_or_new();
    println!("VENDGATE_SEED={}", seed.number());
    let mut choices = seed.clone();
    let is_enough = Arc::new(AtomicBool::new(false));
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let buying = {
        let (town, url, is_enough) = (town.clone(), url.to_owned(), is_enough.clone());
        runtime.spawn(async move {
            let mut bought = 0;
            while bought < PURCHASES || !is_enough.load(Ordering::Relaxed) {
                let orders: Vec<_> = (bought..bought + AT_A_TIME)
                    .map(|number| (number, choices.choose(&Behaviour::ALL), choices.choose(&[true, false])))
                    .collect();
                let buying = orders
                    .into_iter()
                    .map(|(number, behaviour, is_managed)| buy(&town, &url, number, behaviour, is_managed));
                join_all(buying).await;
                bought += AT_A_TIME;
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
    let_rest(town, &runtime);
    times
}

async fn buy(town: &StormTown, url: &str, number: usize, behaviour: Behaviour, is_managed: bool) {
    let integrator = town.integrators.iter().cycle().nth(number % 2).unwrap();
    let order = Order {
        account: integrator.account(is_managed).0,
        subscriber: town.takes_meter(),
        external_reference: format!("purchase-{number}"),
        amount: format!("{}.50", 10 + number),
        route: Route::of(number / 2).keyed(number.is_multiple_of(4)),
    };
    town.street.will(&order.subscriber, behaviour).await;
    let patience = if number.is_multiple_of(3) { HASTY } else { PATIENT };
    integrator.buys(url, url, &order, patience).await;
}

fn let_rest(town: &Arc<StormTown>, runtime: &Runtime) {
    runtime.block_on(town.comes_to_rest());
    assert_lawful(town, |_| String::new());
}

/// A server and a worker whose way to the database can be cut.
fn behind_a_wire(town: &StormTown) -> (Process, Process, Wire) {
    let wire = Wire::to(town.sandbox.database()).unwrap();
    let url_of = |settings: &str| {
        let text = fs::read_to_string(town.directory().join(settings)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("database_url = ")).unwrap();
        wire.through(line.trim_matches('"'))
    };
    let through = |url: &str| [("VENDGATE__STORE__DATABASE_URL".to_owned(), url.to_owned())];
    let api = through(&url_of("api-server.toml"));
    let work = through(&url_of("retry-worker.toml"));
    let [(name, url)] = &api;
    let server = town.sandbox.another_api_server(&town.programs.api_server, "cut-server", &[(name, url)]);
    let [(name, url)] = &work;
    let worker = town.sandbox.another_retry_worker(&town.programs.retry_worker, "cut-worker", &[(name, url)]);
    (server.unwrap(), worker.unwrap(), wire)
}

/// The server loses a process that it cannot do without, throws everybody out, and recovers from its log: what an
/// immediate shutdown and a start do. Says which process it was, if one was lost: it may be gone already, with the crash
/// before, or be the one that was lost then and is still listed.
fn crash(town: &StormTown, last: Option<Pid>) -> Option<Pid> {
    let pid = town.sandbox.database().run_sql(CHECKPOINTER).ok()?.parse().ok().and_then(Pid::from_raw)?;
    (Some(pid) != last && kill_process(pid, Signal::KILL).is_ok()).then_some(pid)
}

const CHECKPOINTER: &str = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
