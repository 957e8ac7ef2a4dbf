//! One round: purchases begin, the victim reaches its failpoint, and the clients continue as the guide says.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    fault_injection::{Behaviour, End, FaultEnv, HASTY, Integrator, Order, PATIENT, Victim},
};
use failpoint::Action;
use futures_util::future::join_all;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::Instant,
};

use super::plan::{Plan, Scene};

/// Longer than a server works for a client that has hung up, and than a worker needs to find a due purchase.
const STRUCK_WITHIN: Duration = Duration::from_secs(5);
/// Longer than a stopped server needs to finish.
const WAKING_PATIENCE: Duration = Duration::from_secs(30);

/// A round whose victim reached its failpoint, or will not reach it.
pub struct Round {
    pub plan: Plan,
    pub end: End,
    integrator: Arc<Integrator>,
    victim: Victim,
    orders: Vec<Order>,
    clients: Vec<JoinHandle<Claim>>,
}

impl Round {
    /// Runs from the first request until the victim reaches its failpoint or can no longer reach it.
    pub async fn begin(env: Arc<FaultEnv>, plan: Plan) -> Self {
        let integrator = env.integrators.iter().cycle().nth(plan.number % 2).unwrap().clone();
        let orders = orders(&env, &integrator, plan);
        for order in &orders {
            env.simulator.will(&order.subscriber, plan.behaviour).await;
        }
        // The victim starts before the window of a purchase begins. The window is as short as a start on a busy
        // machine.
        let mut victim = start(&env, plan).await;
        if plan.scene != Scene::Confirm {
            let confirms = orders.iter().map(|order| integrator.confirm(env.url(), order, PATIENT));
            join_all(confirms).await;
        }
        let patience = if plan.is_patient { PATIENT } else { HASTY };
        let victim_url = victim.url().to_owned();
        let client = |order: &Order| {
            let (integrator, order) = (integrator.clone(), order.clone());
            let (first, then) = (victim_url.clone(), env.url().to_owned());
            tokio::spawn(async move {
                match plan.scene {
                    Scene::Confirm if !plan.comes_back => {
                        integrator.confirm(&first, &order, patience).await.claim()
                    }
                    // The first retry may find no repeat due.
                    Scene::Retry if !plan.comes_back => {
                        integrator.retries_while_answered(&first, &order, patience).await
                    }
                    Scene::Confirm => integrator.buys(&first, &then, &order, patience).await,
                    Scene::Retry => integrator.retries(&first, &then, &order, patience).await,
                    Scene::Work => integrator.retries_until_final(&then, &order).await,
                }
            })
        };
        let mut clients = Vec::new();
        if plan.scene != Scene::Work {
            clients.extend(orders.iter().map(client));
        }
        let began = now();
        let end = victim
            .is_struck(|| {
                let is_served = plan.scene != Scene::Work
                    && plan.comes_back
                    && clients.iter().all(JoinHandle::is_finished);
                is_served || began.elapsed() > STRUCK_WITHIN
            })
            .await;
        if end == End::Struck && plan.strike.sends_on_waking() {
            FaultEnv::leases_run_out().await;
            victim.wakes();
        }
        if plan.scene == Scene::Work && plan.comes_back {
            clients.extend(orders.iter().map(client));
        }
        Self { plan, end, integrator, victim, orders, clients }
    }

    /// Continues a stopped victim, waits for all clients, and returns the meters.
    pub async fn finish(mut self, env: &FaultEnv) -> Vec<String> {
        if self.end == End::Struck && self.plan.trigger.action == Action::Stop {
            self.victim.ends(WAKING_PATIENCE).await;
        }
        for client in self.clients {
            client.await.unwrap();
        }
        drop(self.victim);
        for order in self.orders.iter().filter(|_| self.plan.comes_back) {
            self.integrator.retry(env.url(), order, PATIENT).await;
        }
        let account = self.integrator.account(self.plan.is_managed);
        self.integrator.balance(env.url(), self.plan.route.retry(), account).await;
        self.orders.into_iter().map(|order| order.subscriber).collect()
    }
}

fn orders(env: &FaultEnv, integrator: &Integrator, plan: Plan) -> Vec<Order> {
    let count = if plan.behaviour == Behaviour::Swapped { 2 } else { 1 };
    let order = |nth: usize| Order {
        account: integrator.account(plan.is_managed).0,
        subscriber: env.takes_meter(),
        external_reference: format!("round-{}-{nth}", plan.number),
        amount: format!("{}.{:02}", 10 + plan.number % 90, plan.number % 100),
        route: plan.route,
    };
    (0..count).map(order).collect()
}

async fn start(env: &Arc<FaultEnv>, plan: Plan) -> Victim {
    let env = env.clone();
    let name = format!("victim-{}", plan.number);
    let start = move || match plan.scene {
        Scene::Confirm | Scene::Retry => Victim::api_server(&env, &name, plan.trigger),
        Scene::Work => Victim::retry_worker(&env, &name, plan.trigger),
    };
    spawn_blocking(start).await.unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test measures its own timeout")]
fn now() -> Instant {
    Instant::now()
}
