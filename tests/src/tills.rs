//! Tills that buy all the time, over both surfaces and at both servers.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Handle,
    task::{JoinError, JoinHandle},
};

use crate::{
    checker::{Call, Claim},
    fault_injection::{Behaviour, FaultEnv, Integrator, Order, PATIENT, Route, now},
    time::{Deadline, longest_gap, micros, pause},
};

/// The pause of a till between two purchases.
const BETWEEN_SALES: Duration = Duration::from_millis(600);
/// The tills, until they are closed.
pub struct Tills {
    are_closing: Arc<AtomicBool>,
    running: Vec<JoinHandle<Vec<Unsettled>>>,
}

/// A purchase whose till gave up waiting for its end.
struct Unsettled {
    integrator: Arc<Integrator>,
    order: Order,
}

/// What confirms were answered in a span of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    pub bought: usize,
    pub refused: usize,
    pub pending: usize,
    pub unanswered: usize,
}

impl Tills {
    /// Opens this many. For each sale the provider does the next of `behaviours`. The external references begin with `name`, which
    /// no other tills may have.
    pub fn open(
        runtime: &Handle,
        env: &Arc<FaultEnv>,
        urls: &[String],
        count: usize,
        behaviours: &'static [Behaviour],
        name: &'static str,
    ) -> Self {
        let are_closing = Arc::new(AtomicBool::new(false));
        let till = |number: usize| {
            let (env, urls, are_closing) = (env.clone(), urls.to_owned(), are_closing.clone());
            let till = format!("{name}-{number}");
            runtime.spawn(async move { sell(number, &till, &env, &urls, behaviours, &are_closing).await })
        };
        Self { running: (0..count).map(till).collect(), are_closing }
    }

    /// Closes them, and retries each purchase that is not settled, as the guide for integrators says.
    pub async fn close(self, url: &str) -> Result<(), JoinError> {
        self.are_closing.store(true, Ordering::Relaxed);
        for till in self.running {
            for Unsettled { integrator, order } in till.await? {
                integrator.retries_until_final(url, &order).await;
            }
        }
        Ok(())
    }

    /// Ends them at once, and leaves what they have not settled. Then they hold no part of their environment any more.
    pub async fn abandon(self) {
        for till in self.running {
            till.abort();
            let _aborted = till.await;
        }
    }
}

/// One till. It sells to another customer while a purchase is not settled, and settles one after each sale.
async fn sell(
    number: usize,
    name: &str,
    env: &FaultEnv,
    urls: &[String],
    behaviours: &[Behaviour],
    are_closing: &AtomicBool,
) -> Vec<Unsettled> {
    let mut unsettled: VecDeque<Unsettled> = VecDeque::new();
    let mut meters = Vec::new();
    for sale in 0_usize.. {
        if are_closing.load(Ordering::Relaxed) {
            break;
        }
        let turn = number.wrapping_add(sale);
        let mut servers = urls.iter().cycle().skip(turn % urls.len());
        let (Some(first), Some(then)) = (servers.next(), servers.next()) else { break };
        let Some(integrator) = env.integrators.iter().cycle().nth(turn % 2) else { break };
        let meter = meters.pop().unwrap_or_else(|| env.takes_meter());
        let order = Order {
            account: integrator.account(sale % 3 == 0).0,
            subscriber: meter,
            external_reference: format!("{name}-{sale}"),
            amount: format!("{}.50", 10 + turn % 90),
            route: Route::of(sale).keyed(sale % 2 == 0),
        };
        let behaviour = behaviours.iter().cycle().nth(turn % behaviours.len());
        if let Some(behaviour) = behaviour.filter(|behaviour| **behaviour != Behaviour::Ordinary) {
            env.simulator.will(&order.subscriber, *behaviour).await;
        }
        let claim = integrator.buys(first, then, &order, PATIENT).await;
        if is_final(&claim) {
            meters.push(order.subscriber);
        } else {
            unsettled.push_back(Unsettled { integrator: integrator.clone(), order });
        }
        if matches!(claim, Claim::Bought { .. })
            && let Some(Unsettled { integrator, order }) = unsettled.pop_front()
        {
            if is_final(&integrator.retries_until_final(then, &order).await) {
                meters.push(order.subscriber);
            } else {
                unsettled.push_back(Unsettled { integrator, order });
            }
        }
        pause(BETWEEN_SALES).await;
    }
    unsettled.into()
}

fn is_final(claim: &Claim) -> bool {
    matches!(claim, Claim::Bought { .. } | Claim::NotBought | Claim::Failed { .. } | Claim::Absent)
}

/// Waits until sales have gone on for `steady` from now on, with no gap of half of that.
///
/// # Errors
/// If they have not within `within`.
pub async fn go_on(env: &FaultEnv, steady: Duration, within: Duration) -> Result<(), String> {
    let (after, deadline) = (now(), Deadline::after(within));
    loop {
        let (until, length) = (now(), micros(steady));
        let from = until.saturating_sub(length);
        if from >= after && longest_gap(&sales(env), from, until).0 < length / 2 {
            return Ok(());
        }
        if deadline.is_over() {
            return Err(format!("sales did not go on within {within:?}"));
        }
        pause(Duration::from_millis(100)).await;
    }
}

/// The moments at which a confirm was answered with a successful purchase.
pub fn sales(env: &FaultEnv) -> Vec<i64> {
    let mut sales = Vec::new();
    for integrator in &env.integrators {
        let history = integrator.history();
        let sold = history
            .iter()
            .filter(|exchange| exchange.is_confirm() && matches!(exchange.claim(), Claim::Bought { .. }));
        sales.extend(sold.map(|exchange| exchange.returned_at));
    }
    sales
}

/// The answers to the confirms that were sent in a span of time.
pub fn answers(env: &FaultEnv, began: i64, ended: i64) -> Answers {
    let mut answers = Answers::default();
    for integrator in &env.integrators {
        let history = integrator.history();
        let in_time = |at: i64| (began..ended).contains(&at);
        let confirms = history.iter().filter(|exchange| in_time(exchange.invoked_at));
        for exchange in confirms.filter(|exchange| matches!(exchange.call, Call::Confirm { .. })) {
            let counter = match exchange.claim() {
                Claim::Bought { .. } => &mut answers.bought,
                Claim::NotBought | Claim::Failed { .. } | Claim::Absent => &mut answers.refused,
                Claim::Nothing if exchange.reply.is_none() => &mut answers.unanswered,
                Claim::Pending { .. } | Claim::Nothing => &mut answers.pending,
            };
            *counter = counter.saturating_add(1);
        }
    }
    answers
}
