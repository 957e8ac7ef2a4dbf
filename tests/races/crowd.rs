//! One confirm, two hundred retries over both surfaces and three workers from one barrier: one vend, one settlement,
//! one answer.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{Claim, Moment, assert_lawful},
    storm::{Behaviour, HASTY, Order, PATIENT, Route, Seed, StormTown, rounds, until},
    surface::Surface,
};
use futures_util::future::{join, join_all};
use tokio::{runtime::Builder, sync::Barrier};

use crate::town::{found, turn};

const RETRIES: usize = 200;
/// How often each of them asks.
const TIMES: usize = 6;
const BETWEEN: Duration = Duration::from_millis(350);
/// What fits into every test run.
const USUAL_ROUNDS: usize = 10;

#[test]
fn one_confirm_two_hundred_retries_and_three_workers_make_one_vend_one_settlement_and_one_answer() {
    let _turn = turn();
    let mut seed = Seed::given_or_new();
    println!("races: VENDGATE_SEED={}", seed.number());
    let town = Arc::new(found("crowd"));
    let worker = |name| town.sandbox.another_retry_worker(&town.programs.retry_worker, name, &[]).unwrap();
    let _beside_the_first = ["second-worker", "third-worker"].map(worker);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for round in 0..(rounds(0) / 10).max(USUAL_ROUNDS) {
        let behaviour = seed.choose(&Behaviour::ALL);
        let is_managed = seed.choose(&[true, false]);
        let surface = seed.choose(&Surface::ALL);
        let finals = runtime.block_on(race(&town, round, surface, behaviour, is_managed));
        println!(
            "round {round}: over {surface:?}, {behaviour:?}, managed: {is_managed}, {finals} final answers"
        );
    }
    runtime.block_on(town.comes_to_rest());
    assert_lawful(&town.evidence(Moment::AtRest));
}

/// How many were told how it ended.
async fn race(
    town: &Arc<StormTown>,
    round: usize,
    surface: Surface,
    behaviour: Behaviour,
    is_managed: bool,
) -> usize {
    let integrator = town.integrators.iter().cycle().nth(round % 2).unwrap().clone();
    let order = Order {
        account: integrator.account(is_managed).0,
        subscriber: town.takes_meter(),
        external_reference: format!("race-{round}"),
        amount: "12.50".to_owned(),
        route: Route::over(surface),
    };
    town.street.will(&order.subscriber, behaviour).await;
    // Before the purchase is there, whoever asks closes its reference; so in every other round they wait for it.
    let awaits_purchase = !round.is_multiple_of(2);
    let barrier = Arc::new(Barrier::new(RETRIES + 1));
    let retries = (0..RETRIES).map(|number| {
        let (town, barrier) = (town.clone(), barrier.clone());
        let integrator = integrator.clone();
        // One half of them over each surface.
        let order = Order { route: Route::of(number), ..order.clone() };
        let patience = if number % 10 == 0 { HASTY } else { PATIENT };
        tokio::spawn(async move {
            barrier.wait().await;
            let mut claim = Claim::Nothing;
            for _ in 0..TIMES {
                claim = integrator.retry(town.url(), &order, patience).await.claim();
                if is_final(&claim) || claim == Claim::Absent {
                    break;
                }
                tokio::time::sleep(BETWEEN).await;
            }
            claim
        })
    });
    let retries: Vec<_> = retries.collect();
    let confirm = integrator.confirm(town.url(), &order, PATIENT);
    let starting = async {
        if awaits_purchase {
            let is_there = format!(
                "SELECT count(*) FROM purchases WHERE external_reference = '{}'",
                order.external_reference
            );
            until("the purchase is reserved, or refused", PATIENT, async || town.asks(&is_there) == "1")
                .await;
        }
        barrier.wait().await;
    };
    let (bought, ()) = join(confirm, starting).await;
    let bought = bought.claim();
    let told = join_all(retries).await.into_iter().map(|claim| claim.unwrap());
    let finals = told.chain([bought.clone()]).filter(is_final).count();
    // Where a retry came first and closed the reference, nothing was bought.
    if bought != Claim::NotBought {
        integrator.retries_until_final(town.url(), &order).await;
    }
    town.looks_at_the_holds();
    for surface in Surface::ALL {
        integrator.balance(town.url(), surface, integrator.account(is_managed)).await;
    }
    finals
}

const fn is_final(claim: &Claim) -> bool {
    matches!(claim, Claim::Bought { .. } | Claim::Failed { .. })
}
