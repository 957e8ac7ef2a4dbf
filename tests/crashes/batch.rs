//! Rounds side by side: their leases run out together, so that many cost no more time than one.

use std::sync::Arc;

use acceptance::storm::{End, StormTown};
use failpoint::Action;
use futures_util::future::join_all;
use sandbox::Pace;
use vend::Capabilities;

use crate::{
    plan::{Plan, Scene},
    round::Round,
};

const NONE: Capabilities =
    Capabilities { settles_within: Pace::Breathless.settles_within(), ..Capabilities::NONE };
const ALL: Capabilities =
    Capabilities { repeat_is_safe: true, remembers_refusals: true, not_found_counts: true, ..NONE };

/// What the simulator keeps to, and sometimes less than that: most points are reached only where much is declared.
pub const MOSTLY_ALL: [Capabilities; 6] = [
    ALL,
    ALL,
    ALL,
    Capabilities { repeat_is_safe: true, ..NONE },
    Capabilities { not_found_counts: true, ..NONE },
    NONE,
];

/// Runs the rounds, all of one scene, until nothing of them is open any more. Says which victims were struck.
pub async fn run(town: &Arc<StormTown>, plans: &[Plan], declared: Capabilities) -> Vec<(Plan, End)> {
    town.declares(declared).await;
    // Else the worker that nobody harms is there before the victims.
    town.worker(plans.iter().all(|plan| plan.scene == Scene::Confirm));
    let rounds = join_all(plans.iter().map(|plan| Round::begin(town.clone(), *plan))).await;
    town.looks_at_the_holds();
    town.worker(true);
    let ends: Vec<(Plan, End)> = rounds.iter().map(|round| (round.plan, round.end)).collect();
    if ends.iter().any(|(plan, end)| *end == End::Struck && plan.order.action == Action::Stop) {
        StormTown::leases_run_out().await;
        town.looks_at_the_holds();
    }
    let meters = join_all(rounds.into_iter().map(|round| round.finish(town))).await;
    town.comes_to_rest().await;
    town.street.behaves().await;
    town.gives_back(meters.into_iter().flatten());
    ends
}
