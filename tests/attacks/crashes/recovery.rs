//! How long a customer waits after a server was killed during a purchase. Servers are killed at every step between
//! reserve and record, at the default timing. The client polls retry at another server as the guide says.

use std::{fmt, sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    fault_injection::{End, FaultEnv, Order, PATIENT, Route, Victim, rounds, until},
};
use failpoint::{Action, Point};
use futures_util::future::join_all;
use sandbox::Pace;
use tokio::task::spawn_blocking;

use super::{at_points::story, sound::assert_sound};
use crate::env::{runtime, start_env_at, turn};

/// Every step at which the money is held and the outcome is not recorded.
const POINTS: [Point; 6] = [
    Point::ReserveAfterCommit,
    Point::ConfirmAfterReserve,
    Point::ConfirmBeforeSend,
    Point::OrderLeaves,
    Point::ConfirmAnswered,
    Point::RecordBeforeCommit,
];
/// Small enough for every test run: every point once with every kind of recovery.
const USUAL_KILLS: usize = POINTS.len() * Recovery::ALL.len();
const MOST_KILLS: usize = 500;
/// The servers of a batch start together, and only then is the first one killed, because a start takes processor time
/// from the others. With a larger batch they would wait for a processor instead of the service.
const SIDE_BY_SIDE: usize = POINTS.len();
/// Fewer kills on a busy machine give no reliable median. Only a long run is checked against the median.
const KILLS_FOR_A_MEDIAN: usize = 100;

/// Longer than any recovery may take on a very busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a purchase reaches its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Recovery {
    /// The client polls retry.
    SelfManaged,
    /// The client polls retry, and the worker resolves the purchase too.
    Managed,
    /// The client never comes back.
    LeftToTheWorker,
}

impl Recovery {
    const ALL: [Self; 3] = [Self::SelfManaged, Self::Managed, Self::LeftToTheWorker];
}

#[derive(Clone, Copy)]
struct Kill {
    number: usize,
    point: Point,
    recovery: Recovery,
}

/// How long each purchase took from the kill of its server to its token.
#[derive(Default)]
struct Figures(Vec<(Kill, Duration)>);

#[test]
fn a_polling_client_has_its_token_within_seconds_after_its_server_was_killed() {
    let _turn = turn();
    let env = Arc::new(start_env_at(Pace::Production, "recovery"));
    let runtime = runtime();
    let mut figures = Figures::default();
    let kills: Vec<Kill> = kills(rounds(USUAL_KILLS).min(MOST_KILLS)).collect();
    for batch in kills.chunks(SIDE_BY_SIDE) {
        runtime.block_on(run(&env, batch, &mut figures));
        println!("{} of {} servers killed", figures.0.len(), kills.len());
    }
    println!("{figures}");
    if let Some((slowest, took)) = figures.slowest() {
        println!("the slowest, {took:?}, kill-{slowest}:{}", story(&env, &format!("kill-{slowest}-")));
    }
    runtime.block_on(env.comes_to_rest());
    assert_sound(&env, |_| String::new());
    for recovery in Recovery::ALL {
        let took = figures.of(|kill| kill.recovery == recovery);
        assert!(!took.is_empty(), "{recovery:?}: too few kills");
        assert!(
            took.len() < KILLS_FOR_A_MEDIAN || percentile(&took, 50) <= Duration::from_secs(3),
            "{recovery:?}: p50"
        );
        assert!(percentile(&took, 99) <= Duration::from_secs(10), "{recovery:?}: p99");
    }
}

fn kills(count: usize) -> impl Iterator<Item = Kill> {
    let ways = Recovery::ALL.iter().flat_map(|recovery| POINTS.iter().map(|point| (*point, *recovery)));
    let ways: Vec<(Point, Recovery)> = ways.collect();
    let chosen: Vec<(Point, Recovery)> = ways.iter().cycle().take(count).copied().collect();
    chosen.into_iter().zip(0..).map(|((point, recovery), number)| Kill { number, point, recovery })
}

/// Runs one batch of kills in parallel.
async fn run(env: &Arc<FaultEnv>, kills: &[Kill], figures: &mut Figures) {
    let victims = join_all(kills.iter().map(|kill| start(env, *kill))).await;
    let orders: Vec<Order> = kills.iter().map(|kill| order(env, *kill)).collect();
    let purchases = kills.iter().zip(&orders).zip(victims);
    let died_at = join_all(purchases.map(|((kill, order), victim)| buy(env, *kill, order, victim))).await;
    let is_left = |kill: &Kill| kill.recovery == Recovery::LeftToTheWorker;
    for ((kill, order), (died_at, known_at)) in kills.iter().zip(&orders).zip(died_at) {
        let known_at = if is_left(kill) { ended_at(env, order).await } else { known_at };
        let took = Duration::from_micros(u64::try_from(known_at - died_at).unwrap());
        figures.0.push((*kill, took));
    }
    env.gives_back(orders.into_iter().map(|order| order.subscriber));
}

async fn start(env: &Arc<FaultEnv>, kill: Kill) -> Victim {
    let (env, name) = (env.clone(), format!("victim-{}", kill.number));
    let strike = failpoint::Trigger { point: kill.point, nth: 1, action: Action::Kill };
    spawn_blocking(move || Victim::api_server(&env, &name, strike)).await.unwrap()
}

fn order(env: &FaultEnv, Kill { number, recovery, .. }: Kill) -> Order {
    let integrator = env.integrators.iter().cycle().nth(number / 2).unwrap();
    Order {
        account: integrator.account(recovery != Recovery::SelfManaged).0,
        subscriber: env.takes_meter(),
        external_reference: format!("kill-{number}-"),
        amount: format!("{}.50", 10 + number % 90),
        // The batch size is a multiple of the number of points, so each point is struck over both surfaces in turn.
        route: Route::of(number + number / POINTS.len()).keyed(number.is_multiple_of(4)),
    }
}

/// When the server died, which its client sees at once, and when the client knew the outcome.
async fn buy(env: &FaultEnv, kill: Kill, order: &Order, mut victim: Victim) -> (i64, i64) {
    let integrator = env.integrators.iter().cycle().nth(kill.number / 2).unwrap();
    let confirm = integrator.confirm(victim.url(), order, PATIENT).await;
    assert_eq!(confirm.claim(), Claim::Nothing, "{:?} was not struck", kill.point);
    let died_at = confirm.returned_at;
    if kill.recovery == Recovery::LeftToTheWorker {
        assert_eq!(victim.is_struck(|| false).await, End::Struck);
        return (died_at, died_at);
    }
    let (last, asked) = integrator.polls_retry(env.url(), order, PATIENCE).await;
    let claim = last.claim();
    assert!(
        matches!(claim, Claim::Bought { .. }),
        "{:?}: {claim:?} after {asked} retries: {}",
        kill.point,
        story(env, &order.external_reference)
    );
    assert_eq!(victim.is_struck(|| false).await, End::Struck);
    (died_at, last.returned_at)
}

/// When the worker ended the purchase.
async fn ended_at(env: &FaultEnv, order: &Order) -> i64 {
    let reference = &order.external_reference;
    let question = format!(
        "SELECT (extract(epoch FROM ended_at) * 1000000)::bigint FROM purchases
         WHERE external_reference = '{reference}' AND state = 'SUCCESSFUL'"
    );
    let mut ended_at = None;
    until("the worker ends the purchase", PATIENCE, async || {
        ended_at = env.asks(&question).parse().ok();
        ended_at.is_some()
    })
    .await;
    ended_at.unwrap()
}

impl Figures {
    fn of(&self, is_meant: impl Fn(&Kill) -> bool) -> Vec<Duration> {
        self.0.iter().filter(|(kill, _)| is_meant(kill)).map(|(_, took)| *took).collect()
    }

    fn slowest(&self) -> Option<(usize, Duration)> {
        self.0.iter().map(|(kill, took)| (kill.number, *took)).max_by_key(|(_, took)| *took)
    }
}

/// The smallest value that is not below `percent` percent of the values (nearest rank).
fn percentile(took: &[Duration], percent: usize) -> Duration {
    let mut sorted = took.to_vec();
    sorted.sort();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "from kill -9 to the token:")?;
        for recovery in Recovery::ALL {
            for point in POINTS {
                let took = self.of(|kill| (kill.recovery, kill.point) == (recovery, point));
                line(out, recovery, point.name(), &took)?;
            }
            line(out, recovery, "all", &self.of(|kill| kill.recovery == recovery))?;
        }
        Ok(())
    }
}

fn line(out: &mut fmt::Formatter<'_>, recovery: Recovery, what: &str, took: &[Duration]) -> fmt::Result {
    let [p50, p99, max] = [50, 99, 100].map(|percent| percentile(took, percent).as_millis());
    let (recovery, count) = (format!("{recovery:?}"), took.len());
    writeln!(
        out,
        "  {recovery:<15} {what:<25} {count:>4} kills  p50 {p50:>6} ms  p99 {p99:>6} ms  max {max:>6} ms"
    )
}

#[test]
fn a_percentile_is_the_smallest_that_is_not_below_so_many_of_a_hundred() {
    let took: Vec<Duration> = (1..=200).rev().map(Duration::from_secs).collect();
    assert_eq!([50, 99, 100].map(|percent| percentile(&took, percent).as_secs()), [100, 198, 200]);
    assert_eq!(percentile(&[Duration::from_secs(7)], 50).as_secs(), 7);
}
