//! Workers buy one batch together, and each of them is killed or stopped at another step. The others finish the batch, and no line is
//! bought twice. A webhook endpoint that sometimes fails is told of each.

use std::{sync::Arc, time::Duration};

use acceptance::fault_injection::{End, FaultEnv, Seed, Victim, rounds, until};
use clock::{Clock, SystemClock};
use failpoint::{Action, Point, Trigger};
use futures_util::future::join_all;
use tokio::task::spawn_blocking;

use super::{at_points::story, sound::assert_sound, told::Told};
use crate::env::{runtime, start_env, turn};

/// Every step of a line, and of telling a webhook endpoint about it, at which a worker leaves something for the next one.
const POINTS: [Point; 10] = [
    Point::BatchLineTaken,
    Point::ConfirmBeforeReserve,
    Point::ReserveBeforeCommit,
    Point::ReserveAfterCommit,
    Point::ConfirmAfterReserve,
    Point::OrderLeaves,
    Point::ConfirmAnswered,
    Point::RecordAfterCommit,
    Point::BatchLineBought,
    Point::WebhookAnswered,
];
/// More than all victims take before they reach their points.
const LINES: usize = 80;
/// Checking each batch would take too long, because the checker reads everything each time.
const BATCHES_PER_CHECK: usize = 8;
/// Longer than all leases, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long the victims may take to reach their points.
const STRUCK_WITHIN: Duration = Duration::from_secs(40);

#[test]
fn no_line_of_a_batch_is_bought_twice_wherever_its_workers_are_killed() {
    attack(Action::Kill, &POINTS);
}

/// A worker that is stopped just before the first byte sends when it continues, even past its lease. So it is not stopped there.
#[test]
fn no_line_of_a_batch_is_bought_twice_wherever_its_workers_are_stopped() {
    let points: Vec<Point> = POINTS.into_iter().filter(|point| *point != Point::OrderLeaves).collect();
    attack(Action::Stop, &points);
}

fn attack(action: Action, points: &[Point]) {
    let _turn = turn();
    let name = format!("batch-{}", action.name());
    let mut seed = Seed::given_or_new(&name);
    let env = Arc::new(start_env(&name));
    let runtime = runtime();
    // A victim is one round, and each batch has one for each point.
    let told = runtime.block_on(Told::begin::<12>(&env));
    let batches = rounds(points.len()).div_ceil(points.len()).max(1);
    for number in 1..=batches {
        let nth = if number == 1 { 1 } else { seed.choose(&[1, 2]) };
        let name = format!("{name}-{number}");
        let meters = runtime.block_on(buy(&env, &name, (action, nth), points));
        env.gives_back(meters);
        runtime.block_on(told.is_complete(&env));
        if number % BATCHES_PER_CHECK == 0 || number == batches {
            assert_sound(&env, |_| story(&env, &name));
        }
    }
}

/// Returns the meters of the lines.
async fn buy(env: &Arc<FaultEnv>, name: &str, (action, nth): (Action, u32), points: &[Point]) -> Vec<String> {
    // One after another: that many that start at once take the processors from other tests, in which time counts.
    let mut victims = Vec::new();
    for point in points {
        let trigger = Trigger { point: *point, nth, action };
        victims.push(start(env, format!("{name}-{}", point.name()), trigger).await);
    }
    env.worker(false);
    let meters: Vec<String> = (0..LINES).map(|_| env.takes_meter()).collect();
    let batch = env.integrators.first().unwrap().creates_batch(env.url(), name, &meters).await;
    let struck = join_all(victims.into_iter().map(is_struck)).await;
    let spared: Vec<Point> = points
        .iter()
        .zip(&struck)
        .filter(|(_, (_, end))| *end == End::Spared)
        .map(|(point, _)| *point)
        .collect();
    env.worker(true);
    assert_eq!(spared, [], "these workers never reached their points");
    until("the batch is finished", PATIENCE, async || {
        env.asks(&format!("SELECT status FROM batches WHERE id = {batch}")) == "FINISHED"
    })
    .await;
    for (mut victim, _) in struck {
        if action == Action::Stop {
            victim.ends(PATIENCE).await;
        }
    }
    env.comes_to_rest().await;
    let count = |of: &str| env.asks(&format!("SELECT count(*) FROM {of}"));
    let all = LINES.to_string();
    assert_eq!(count(&format!("batch_lines WHERE batch_id = {batch} AND purchase_id IS NOT NULL")), all);
    assert_eq!(count(&format!("purchases WHERE external_reference LIKE '{name}/%'")), all);
    assert_eq!(
        count(&format!("feed_events WHERE kind = 'batch.finished' AND details->'batch'->>'id' = '{batch}'")),
        "1"
    );
    let differ = "batch_lines l JOIN purchases p ON p.id = l.purchase_id WHERE l.state <> p.state";
    assert_eq!(count(differ), "0", "each line ended as its purchase did");
    let sold = count(&format!("batch_lines WHERE batch_id = {batch} AND state = 'SUCCESSFUL'"));
    println!("{name}: {sold} of {LINES} lines were sold, {} workers were struck at hit {nth}", points.len());
    meters
}

async fn start(env: &Arc<FaultEnv>, name: String, trigger: Trigger) -> Victim {
    let env = env.clone();
    spawn_blocking(move || Victim::retry_worker(&env, &name, trigger)).await.unwrap()
}

async fn is_struck(mut victim: Victim) -> (Victim, End) {
    let began = SystemClock.monotonic();
    let end = victim.is_struck(|| SystemClock.monotonic().elapsed_since(began) > STRUCK_WITHIN).await;
    (victim, end)
}
