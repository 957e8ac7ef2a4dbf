//! A worker that is told to stop while the provider is at work for it.

use std::time::Duration;

use acceptance::{
    checker::{Claim, Moment, assert_lawful},
    storm::{Behaviour, Order, PATIENT, Route, StormTown, until},
    surface::Surface,
};
use sandbox::Signal;

use crate::town::{found, turn};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_worker_that_is_told_to_stop_in_mid_vend_puts_the_outcome_on_record_first() {
    let _turn = turn();
    let town = found("stopping");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (signal, name, route) in [
        (Signal::TERM, "term", Route::over(Surface::V1).retried_over(Surface::Current)),
        (Signal::INT, "int", Route::over(Surface::Current).retried_over(Surface::V1)),
    ] {
        // Nobody else is to do the work.
        town.worker(false);
        runtime.block_on(told_to_stop(&town, signal, name, route));
        town.worker(true);
    }
    runtime.block_on(town.comes_to_rest());
    assert_lawful(&town.evidence(Moment::AtRest));
}

async fn told_to_stop(town: &StormTown, signal: Signal, name: &str, route: Route) {
    let integrator = town.integrators.first().unwrap().clone();
    let order = Order {
        account: integrator.managed.0,
        subscriber: town.takes_meter(),
        external_reference: format!("stop-{name}"),
        amount: "20.00".to_owned(),
        route,
    };
    town.street.will(&order.subscriber, Behaviour::BusyThenOk).await;
    town.street.will(&order.subscriber, Behaviour::Slow).await;
    let claim = integrator.confirm(town.url(), &order, PATIENT).await.claim();
    assert!(matches!(claim, Claim::Pending { id: Some(_) }), "{claim:?}");
    let state = || {
        town.asks(&format!(
            "SELECT state FROM purchases WHERE external_reference = '{}'",
            order.external_reference
        ))
    };
    assert_eq!(state(), "RETRY_DUE");
    let program = &town.programs.retry_worker;
    let mut worker = town.sandbox.another_retry_worker(program, &format!("worker-{name}"), &[]).unwrap();
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
    integrator.retries_until_final(town.url(), &order).await;
}
