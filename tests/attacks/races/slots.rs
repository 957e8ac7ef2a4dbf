//! Workers at one provider: together they make no more requests at a time than are declared, also when one of them dies.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{Claim, Moment, assert_sound},
    fault_injection::{Behaviour, FaultEnv, Order, PATIENT, Route, until},
    surface::Surface,
};
use sandbox::{Process, Signal};
use tokio::{runtime::Runtime, task::JoinSet};

use crate::env::{start_env, turn};

/// What is declared for the provider.
const SLOTS: u16 = 6;
/// So many are in doubt that the workers need all slots.
const PURCHASES: usize = 90;
/// So few that a busy server reads each of them in time.
const AT_A_TIME: usize = 20;
/// So long that the workers work on these purchases for six seconds. Far below the deadline of an enquiry, because a worker that no longer
/// waits for an answer uses its slot again, while the provider still works on the first request. On a busy machine that would look like
/// one request too many.
const ENQUIRY_MS: u32 = 400;
/// As long as a vend may take.
const ENQUIRY_DEADLINE: (&str, &str) = ("VENDGATE__PROVIDERS__BPC__XMLVEND__ENQUIRY_TIMEOUT_MS", "1200");
/// When the slots are shared as they should be, so that the rest ends soon.
const QUICK_ENQUIRY_MS: u32 = 100;
const PATIENCE: Duration = Duration::from_secs(30);
const OPEN: &str = "SELECT count(*) FROM purchases WHERE ended_at IS NULL";
/// The shares of the workers that live.
const SHARES: &str = "SELECT string_agg(slots::text, ' ' ORDER BY slots) FROM slot_shares
    WHERE provider_code = 'BPC' AND lease_until > now()";

/// Leaves purchases in doubt. Their vends are made, and the answers are lost. On a busy machine some confirms are too old when they
/// are read. They buy nothing, and others take their place.
async fn lose_answers(env: &Arc<FaultEnv>) {
    let mut confirms = JoinSet::new();
    let (mut sent, mut lost) = (0, 0);
    while lost < PURCHASES {
        while confirms.len() < AT_A_TIME.min(PURCHASES - lost) {
            confirms.spawn(lose_an_answer(env.clone()));
            sent += 1;
        }
        let claim = confirms.join_next().await.unwrap().unwrap();
        assert!(matches!(claim, Claim::Nothing | Claim::NotBought), "{claim:?}");
        lost += usize::from(claim == Claim::Nothing);
        assert!(sent < 3 * PURCHASES, "of {sent} confirms only {lost} lost their answer");
    }
}

async fn lose_an_answer(env: Arc<FaultEnv>) -> Claim {
    let integrator = env.integrators.first().unwrap();
    let subscriber = env.takes_meter();
    let order = Order {
        account: integrator.self_managed.0,
        external_reference: format!("slots-{subscriber}"),
        subscriber,
        amount: "10.00".to_owned(),
        route: Route::over(Surface::V1),
    };
    env.simulator.will(&order.subscriber, Behaviour::LostReply).await;
    integrator.confirm(env.url(), &order, PATIENT).await.claim()
}

async fn answer_enquiries_after(env: &FaultEnv, delay_ms: u32) {
    env.simulator.behaves().await;
    env.simulator.answers_enquiries_after(delay_ms).await;
}

fn worker(env: &FaultEnv, name: &str) -> Process {
    env.sandbox.another_retry_worker(&env.programs.retry_worker, name, &[ENQUIRY_DEADLINE]).unwrap()
}

async fn share_the_slots(env: &FaultEnv, shares: &str) {
    until(&format!("the shares are {shares}"), PATIENCE, async || env.asks(SHARES) == shares).await;
}

/// On a busy machine the purchases have ended before a share has. Then there are new ones. Counts anew.
async fn all_slots_are_used(env: &Arc<FaultEnv>) {
    until("as many requests are open as are declared", PATIENCE, async || {
        if env.asks(OPEN) == "0" {
            lose_answers(env).await;
        }
        env.simulator.load().await.0 == u64::from(SLOTS)
    })
    .await;
    env.simulator.counts_anew().await;
}

async fn everything_ends(env: &FaultEnv) {
    until("everything has ended", PATIENCE, async || env.asks(OPEN) == "0").await;
}

#[test]
fn two_workers_together_make_no_more_requests_at_a_time_than_are_declared() {
    let _turn = turn();
    let env = Arc::new(start_env("slots"));
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        env.declares_slots(SLOTS).await;
        answer_enquiries_after(&env, ENQUIRY_MS).await;
    });
    // It is stopped for longer than its lease, and so the workers of this test get its share.
    env.worker(false);
    runtime.block_on(lose_answers(&env));
    runtime.block_on(env.simulator.counts_anew());
    let (first, _second) = (worker(&env, "first"), worker(&env, "second"));
    runtime.block_on(async {
        share_the_slots(&env, "3 3").await;
        first.signal(Signal::KILL).unwrap();
        share_the_slots(&env, "6").await;
        let most = env.simulator.load().await.1;
        assert!(most <= u64::from(SLOTS), "two workers made {most} requests at a time");

        all_slots_are_used(&env).await;
        answer_enquiries_after(&env, QUICK_ENQUIRY_MS).await;
        everything_ends(&env).await;
        let most = env.simulator.load().await.1;
        assert!(most <= u64::from(SLOTS), "the worker that is left made {most} requests at a time");
    });

    // A worker that has missed its lease exceeds the limit by its own share at most.
    let third = worker(&env, "third");
    runtime.block_on(async {
        answer_enquiries_after(&env, ENQUIRY_MS).await;
        lose_answers(&env).await;
        share_the_slots(&env, "3 3").await;
        third.signal(Signal::STOP).unwrap();
        share_the_slots(&env, "6").await;
        all_slots_are_used(&env).await;
        third.signal(Signal::CONT).unwrap();
        answer_enquiries_after(&env, QUICK_ENQUIRY_MS).await;
        everything_ends(&env).await;
        let most = env.simulator.load().await.1;
        assert!(most <= u64::from(SLOTS + SLOTS / 2), "{most} requests at a time");
        env.simulator.behaves().await;
        env.comes_to_rest().await;
    });
    assert_sound(&env.evidence(Moment::AtRest));
}
