//! One confirm, two hundred retries over both surfaces and three workers, started from one barrier. They must produce
//! one vend, one settlement and one answer.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{Claim, Moment, assert_sound},
    fault_injection::{Behaviour, FaultEnv, HASTY, Order, PATIENT, Route, Seed, rounds, until},
    surface::Surface,
};
use futures_util::future::{join, join_all};
use tokio::sync::Barrier;

use crate::env::{runtime, start_env, turn};

const RETRIES: usize = 200;
/// The number of requests of each retrying client.
const TIMES: usize = 6;
const BETWEEN: Duration = Duration::from_millis(350);
/// A number of rounds that is small enough for every test run. Half of them begin with the retries.
const USUAL_ROUNDS: usize = 4;

#[test]
fn one_confirm_200_retries_and_three_workers_make_one_vend_and_one_settlement() {
    let _turn = turn();
    let mut seed = Seed::given_or_new("races");
    let env = Arc::new(start_env("crowd"));
    let worker = |name| env.sandbox.another_retry_worker(&env.programs.retry_worker, name, &[]).unwrap();
    let _beside_the_first = ["second-worker", "third-worker"].map(worker);
    let runtime = runtime();
    for round in 0..(rounds(0) / 10).max(USUAL_ROUNDS) {
        let behaviour = seed.choose(&Behaviour::ALL);
        let is_managed = seed.choose(&[true, false]);
        let surface = seed.choose(&Surface::ALL);
        let finals = runtime.block_on(race(&env, round, surface, behaviour, is_managed));
        println!(
            "round {round}: over {surface:?}, {behaviour:?}, managed: {is_managed}, {finals} final answers"
        );
    }
    runtime.block_on(env.comes_to_rest());
    assert_sound(&env.evidence(Moment::AtRest));
}

/// Returns the number of clients that got a final answer.
async fn race(
    env: &Arc<FaultEnv>,
    round: usize,
    surface: Surface,
    behaviour: Behaviour,
    is_managed: bool,
) -> usize {
    let integrator = env.integrators.iter().cycle().nth(round % 2).unwrap().clone();
    let order = Order {
        account: integrator.account(is_managed).0,
        subscriber: env.takes_meter(),
        external_reference: format!("race-{round}"),
        amount: "12.50".to_owned(),
        route: Route::over(surface),
    };
    env.simulator.will(&order.subscriber, behaviour).await;
    // A retry before the purchase exists closes its reference. So in every other round the retries wait for the
    // purchase.
    let awaits_purchase = !round.is_multiple_of(2);
    let barrier = Arc::new(Barrier::new(RETRIES + 1));
    let retries = (0..RETRIES).map(|number| {
        let (env, barrier) = (env.clone(), barrier.clone());
        let integrator = integrator.clone();
        // One half of the retries over each surface.
        let order = Order { route: Route::of(number), ..order.clone() };
        let patience = if number % 10 == 0 { HASTY } else { PATIENT };
        tokio::spawn(async move {
            barrier.wait().await;
            let mut claim = Claim::Nothing;
            for _ in 0..TIMES {
                claim = integrator.retry(env.url(), &order, patience).await.claim();
                if is_final(&claim) || claim == Claim::Absent {
                    break;
                }
                tokio::time::sleep(BETWEEN).await;
            }
            claim
        })
    });
    let retries: Vec<_> = retries.collect();
    let confirm = integrator.confirm(env.url(), &order, PATIENT);
    let starting = async {
        if awaits_purchase {
            let is_there = format!(
                "SELECT count(*) FROM purchases WHERE external_reference = '{}'",
                order.external_reference
            );
            until("the purchase is reserved, or refused", PATIENT, async || env.asks(&is_there) == "1").await;
        }
        barrier.wait().await;
    };
    let (bought, ()) = join(confirm, starting).await;
    let bought = bought.claim();
    let told = join_all(retries).await.into_iter().map(|claim| claim.unwrap());
    let finals = told.chain([bought.clone()]).filter(is_final).count();
    // If a retry came first and closed the reference, nothing was bought.
    if bought != Claim::NotBought {
        integrator.retries_until_final(env.url(), &order).await;
    }
    env.looks_at_the_holds();
    for surface in Surface::ALL {
        integrator.balance(env.url(), surface, integrator.account(is_managed)).await;
    }
    finals
}

const fn is_final(claim: &Claim) -> bool {
    matches!(claim, Claim::Bought { .. } | Claim::Failed { .. })
}
