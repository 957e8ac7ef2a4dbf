//! Rounds in parallel. Their leases expire together, so many rounds take no longer than one.

use std::sync::Arc;

use acceptance::fault_injection::{End, FaultEnv};
use failpoint::Action;
use futures_util::future::join_all;
use sandbox::Pace;
use vend::Capabilities;

use super::{
    plan::{Need, Plan, Scene},
    round::Round,
};

const NONE: Capabilities =
    Capabilities { settles_within: Pace::Breathless.settles_within(), ..Capabilities::NONE };
/// The capabilities of the simulator.
pub const ALL: Capabilities =
    Capabilities { repeat_is_safe: true, remembers_refusals: true, not_found_counts: true, ..NONE };

/// The capabilities of the simulator, and sometimes fewer. Most points are reached only where many capabilities are
/// declared.
pub const MOSTLY_ALL: [Capabilities; 6] = [
    ALL,
    ALL,
    ALL,
    Capabilities { repeat_is_safe: true, ..NONE },
    Capabilities { not_found_counts: true, ..NONE },
    NONE,
];

/// The same for a batch of these plans. An order is sent once more only where this is declared to be safe.
pub fn mostly_all(plans: &[Plan]) -> Vec<Capabilities> {
    let is_sent_again = plans.iter().any(|plan| plan.stage().need() == Need::FurtherSend);
    MOSTLY_ALL.into_iter().filter(|declared| declared.repeat_is_safe || !is_sent_again).collect()
}

/// Runs rounds of one scene until no purchase of them is open. Returns which victims reached their failpoints.
pub async fn run(env: &Arc<FaultEnv>, plans: &[Plan], declared: Capabilities) -> Vec<(Plan, End)> {
    env.declares(declared).await;
    // Otherwise the worker without faults takes the purchases before the victims.
    env.worker(plans.iter().all(|plan| plan.scene == Scene::Confirm));
    let rounds = join_all(plans.iter().map(|plan| Round::begin(env.clone(), *plan))).await;
    env.looks_at_the_holds();
    env.worker(true);
    let ends: Vec<(Plan, End)> = rounds.iter().map(|round| (round.plan, round.end)).collect();
    if ends.iter().any(|(plan, end)| *end == End::Struck && plan.trigger.action == Action::Stop) {
        FaultEnv::leases_run_out().await;
        env.looks_at_the_holds();
    }
    let meters = join_all(rounds.into_iter().map(|round| round.finish(env))).await;
    env.comes_to_rest().await;
    env.simulator.behaves().await;
    env.gives_back(meters.into_iter().flatten());
    ends
}
