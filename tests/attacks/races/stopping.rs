//! A worker that is shut down while the provider processes its request.

use std::time::Duration;

use acceptance::{
    checker::{Claim, Moment, assert_sound},
    fault_injection::{Behaviour, FaultEnv, Order, PATIENT, Route, until},
    surface::Surface,
};
use sandbox::Signal;

use crate::env::{start_env, turn};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_worker_that_is_stopped_in_mid_vend_records_the_outcome_first() {
    let _turn = turn();
    let env = start_env("stopping");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (signal, name, route) in [
        (Signal::TERM, "term", Route::over(Surface::V1).retried_over(Surface::Current)),
        (Signal::INT, "int", Route::over(Surface::Current).retried_over(Surface::V1)),
    ] {
        // The other worker must not do the work.
        env.worker(false);
        runtime.block_on(told_to_stop(&env, signal, name, route));
        env.worker(true);
    }
    runtime.block_on(env.comes_to_rest());
    assert_sound(&env.evidence(Moment::AtRest));
}

async fn told_to_stop(env: &FaultEnv, signal: Signal, name: &str, route: Route) {
    let integrator = env.integrators.first().unwrap().clone();
    let order = Order {
        account: integrator.managed.0,
        subscriber: env.takes_meter(),
        external_reference: format!("stop-{name}"),
        amount: "20.00".to_owned(),
        route,
    };
    env.simulator.will(&order.subscriber, Behaviour::BusyThenOk).await;
    env.simulator.will(&order.subscriber, Behaviour::Slow).await;
    let claim = integrator.confirm(env.url(), &order, PATIENT).await.claim();
    assert!(matches!(claim, Claim::Pending { id: Some(_) }), "{claim:?}");
    let state = || {
        env.asks(&format!(
            "SELECT state FROM purchases WHERE external_reference = '{}'",
            order.external_reference
        ))
    };
    assert_eq!(state(), "RETRY_DUE");
    let program = &env.programs.retry_worker;
    let mut worker = env.sandbox.another_retry_worker(program, &format!("worker-{name}"), &[]).unwrap();
    until("the attempt is under way", PATIENCE, async || state() == "IN_FLIGHT").await;
    worker.signal(signal).unwrap();
    let mut ended = None;
    until("the worker ends", PATIENCE, async || {
        ended = worker.has_ended();
        ended.is_some()
    })
    .await;
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert_eq!(state(), "SUCCESSFUL");
    integrator.retries_until_final(env.url(), &order).await;
}
