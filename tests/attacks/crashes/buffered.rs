//! Servers are stopped at any instant, for any time, with unread requests in their sockets. What retry has answered
//! as absent must stay absent when they continue.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    fault_injection::{FaultEnv, HASTY, Integrator, Order, PATIENT, Route, Seed, rounds},
    surface::Surface,
};
use futures_util::future::join_all;
use sandbox::{Listener, Process, Signal, http_client};
use tokio::{runtime::Runtime, time::sleep};

use super::sound::assert_sound;
use crate::env::{runtime, start_env, turn};

/// Small enough for every test run.
const USUAL_STOPS: usize = 24;
/// The number of servers that are stopped in parallel.
const SLEEPERS: usize = 6;
/// The number of confirms at each server when it is stopped.
const CONFIRMS: usize = 4;
/// From the first confirm to the stop. Most confirms are unread then, and some have reached any step.
const UNTIL_THE_STOP_MS: [u64; 6] = [0, 0, 2, 5, 15, 40];
/// From below every limit of the fault injection pace to above all of them.
const STOPS_MS: [u64; 8] = [50, 200, 600, 900, 1_200, 1_800, 2_500, 5_000];
/// How long a caller waits before it hangs up.
const PATIENCES: [Duration; 4] = [Duration::from_millis(50), Duration::from_millis(300), HASTY, PATIENT];
/// How often a client buys the same, under a new reference each time.
const ATTEMPTS: usize = 4;
/// Longer than a reference rests after retry has found nothing under it, at the pace of the fault injection.
const RESTED: Duration = Duration::from_millis(1_500);
/// Longer than a server needs to answer its unread requests after it continues.
const WAKING: Duration = Duration::from_secs(2);

/// The results of the confirms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    stops: usize,
    confirms: usize,
    absent: usize,
    /// Confirms under a new reference, after nothing was bought under the old one.
    anew: usize,
    bought: usize,
}

#[test]
fn what_retry_has_called_absent_stays_so_when_a_stopped_server_reads_the_confirm() {
    let _turn = turn();
    let seed = Seed::given_or_new("stops");
    let env = Arc::new(start_env("buffered"));
    let runtime = runtime();
    let stops = rounds(USUAL_STOPS).div_ceil(SLEEPERS);
    let sleepers: Vec<Process> = (0..SLEEPERS).map(|number| sleeper(&env, number)).collect();
    let tally = runtime.block_on(async {
        let lives = sleepers.iter().enumerate().map(|(number, sleeper)| {
            let mut choices = Seed::of(seed.number().wrapping_add(u64::try_from(number).unwrap()));
            let env = Arc::clone(&env);
            async move {
                let mut tally = Tally::default();
                for stop in 0..stops {
                    tally.add(stopped(&env, sleeper, number * stops + stop, &mut choices).await);
                }
                tally
            }
        });
        let tally = join_all(lives).await.into_iter().fold(Tally::default(), |mut all, tally| {
            all.add(tally);
            all
        });
        env.comes_to_rest().await;
        tally
    });
    println!("{tally:?}");
    assert_sound(&env, |_broken| String::new());
    assert!(tally.absent >= tally.stops / 4, "most stops must find confirms unread: {tally:?}");
    assert!(
        tally.bought * 10 >= tally.anew * 9,
        "a purchase under a new reference is never delayed: {tally:?}"
    );
    let alive = sleepers.iter().filter(|sleeper| is_ready(&runtime, sleeper));
    assert_eq!(alive.count(), SLEEPERS, "all servers are running again");
}

#[test]
fn a_confirm_whose_caller_hung_up_before_it_was_read_buys_nothing_without_a_retry() {
    let _turn = turn();
    let unread = UnreadConfirms::new("hung-up");
    let bought = runtime().block_on(async {
        unread.sleeper.signal(Signal::STOP).unwrap();
        // Far less than the age at which a request is rejected.
        unread.are_sent(Duration::from_millis(50)).await;
        unread.sleeper.signal(Signal::CONT).unwrap();
        sleep(WAKING).await;
        unread.buys_later().await
    });
    unread.assert_only_bought_later(&bought);
}

#[test]
fn a_confirm_that_is_read_after_its_reference_has_rested_buys_nothing() {
    let _turn = turn();
    let unread = UnreadConfirms::new("rested");
    let (known, bought) = runtime().block_on(async {
        unread.sleeper.signal(Signal::STOP).unwrap();
        let asking = async {
            sleep(HASTY / 4).await;
            let env = &unread.env;
            let retries =
                unread.buyers.iter().map(|it| it.integrator.retries_until_final(env.url(), &it.order));
            let known = join_all(retries).await;
            sleep(RESTED).await;
            unread.sleeper.signal(Signal::CONT).unwrap();
            known
        };
        let ((), known) = futures_util::future::join(unread.are_sent(PATIENT), asking).await;
        (known, unread.buys_later().await)
    });
    assert!(known.iter().all(|claim| *claim == Claim::Absent), "{known:?}");
    unread.assert_only_bought_later(&bought);
}

/// Clients that confirm at a stopped server, and one that confirms there when it runs again.
struct UnreadConfirms {
    env: FaultEnv,
    sleeper: Process,
    buyers: Vec<Buyer>,
    later: Buyer,
}

impl UnreadConfirms {
    fn new(name: &str) -> Self {
        let mut choices = Seed::given_or_new(name);
        let env = start_env(name);
        let sleeper = sleeper(&env, 0);
        let buyers = (0..USUAL_STOPS).map(|number| Buyer::new(&env, number, &mut choices)).collect();
        let later = Buyer::new(&env, USUAL_STOPS, &mut choices);
        Self { env, sleeper, buyers, later }
    }

    /// Returns when all have an answer or have hung up.
    async fn are_sent(&self, patience: Duration) {
        let confirms =
            self.buyers.iter().map(|it| it.integrator.confirm(self.sleeper.url(), &it.order, patience));
        join_all(confirms).await;
    }

    async fn buys_later(&self) -> Claim {
        let bought =
            self.later.integrator.confirm(self.sleeper.url(), &self.later.order, PATIENT).await.claim();
        self.env.comes_to_rest().await;
        bought
    }

    fn assert_only_bought_later(&self, bought: &Claim) {
        assert!(matches!(bought, Claim::Bought { .. }), "a caller that waits is served: {bought:?}");
        assert_eq!(self.env.asks("SELECT count(*) FROM purchases"), "1", "only what was confirmed later");
        assert_sound(&self.env, |_broken| String::new());
    }
}

/// One stop with its confirms. The clients retry each confirm at another server during the stop.
async fn stopped(env: &FaultEnv, sleeper: &Process, number: usize, choices: &mut Seed) -> Tally {
    let buyers: Vec<Buyer> =
        (0..CONFIRMS).map(|nth| Buyer::new(env, number * CONFIRMS + nth, choices)).collect();
    let (before, length) = (choices.choose(&UNTIL_THE_STOP_MS), choices.choose(&STOPS_MS));
    let standing_still = async {
        sleep(Duration::from_millis(before)).await;
        sleeper.signal(Signal::STOP).unwrap();
        sleep(Duration::from_millis(length)).await;
        sleeper.signal(Signal::CONT).unwrap();
        sleep(WAKING).await;
    };
    let buying = join_all(buyers.iter().map(|buyer| buyer.buys(env.url(), sleeper.url())));
    let (claims, ()) = futures_util::future::join(buying, standing_still).await;
    env.gives_back(buyers.into_iter().map(|buyer| buyer.order.subscriber));
    let of = |claim: fn(&(Claim, Claim)) -> bool| claims.iter().filter(|both| claim(both)).count();
    Tally {
        stops: 1,
        confirms: CONFIRMS,
        absent: of(|(old, _)| *old == Claim::Absent),
        anew: of(|(old, _)| matches!(old, Claim::Absent | Claim::Failed { .. })),
        bought: of(|(_, new)| matches!(new, Claim::Bought { .. })),
    }
}

/// A client that trusts the answers of retry.
struct Buyer {
    integrator: Arc<Integrator>,
    order: Order,
    patience: Duration,
}

impl Buyer {
    fn new(env: &FaultEnv, number: usize, choices: &mut Seed) -> Self {
        let integrator = env.integrators.iter().cycle().nth(number).unwrap().clone();
        let surface = choices.choose(&Surface::ALL);
        let order = Order {
            account: integrator.self_managed.0,
            subscriber: env.takes_meter(),
            external_reference: format!("unread-{number}"),
            amount: format!("{}.50", 10 + number % 80),
            route: Route::over(surface)
                .retried_over(choices.choose(&Surface::ALL))
                .keyed(choices.choose(&[true, false])),
        };
        Self { integrator, order, patience: choices.choose(&PATIENCES) }
    }

    /// Confirms at the server that is stopped, retries at another one until the answer is final, and buys again if
    /// nothing was bought. Returns the claims about the old reference and about the new one.
    async fn buys(&self, url: &str, stopped: &str) -> (Claim, Claim) {
        let confirming = self.integrator.confirm(stopped, &self.order, self.patience);
        let asking = async {
            sleep(HASTY / 4).await;
            let known = self.integrator.retries_until_final(url, &self.order).await;
            let bought = match known {
                Claim::Absent | Claim::Failed { .. } => self.buys_anew(url).await,
                Claim::Bought { .. } | Claim::Pending { .. } | Claim::NotBought | Claim::Nothing => {
                    Claim::Nothing
                }
            };
            (known, bought)
        };
        let (_confirmed, claims) = futures_util::future::join(confirming, asking).await;
        claims
    }

    /// Buys under new references, until one is bought. On a busy machine the time of a purchase may run out before it is sent,
    /// and then it fails.
    async fn buys_anew(&self, url: &str) -> Claim {
        let mut claim = Claim::Nothing;
        for attempt in 2..=ATTEMPTS {
            let anew = Order {
                external_reference: format!("{}/{attempt}", self.order.external_reference),
                route: self.order.route.keyed(false),
                ..self.order.clone()
            };
            claim = self.integrator.buys(url, url, &anew, PATIENT).await;
            if matches!(claim, Claim::Bought { .. }) {
                break;
            }
        }
        claim
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.stops += other.stops;
        self.confirms += other.confirms;
        self.absent += other.absent;
        self.anew += other.anew;
        self.bought += other.bought;
    }
}

fn is_ready(runtime: &Runtime, sleeper: &Process) -> bool {
    let asked = http_client().unwrap().get(format!("{}/readyz", sleeper.address(Listener::Observe)));
    runtime.block_on(asked.send()).is_ok_and(|answer| answer.status().is_success())
}

fn sleeper(env: &FaultEnv, number: usize) -> Process {
    let start =
        || env.sandbox.another_api_server(&env.programs.api_server, &format!("sleeper-{number}"), &[]);
    start().or_else(|_taken| start()).unwrap()
}
