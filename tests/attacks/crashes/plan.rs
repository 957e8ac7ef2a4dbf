//! The parameters of one round of a sweep: the failpoint, the action, the surface, the provider's behaviour and the
//! client.

use acceptance::{
    fault_injection::{Behaviour, Route, Seed},
    surface::Surface,
};
use failpoint::{Action, Point, Trigger};

/// What the victim does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// It processes a confirm.
    Confirm,
    /// It processes a retry for a purchase that another server left in doubt.
    Retry,
    /// It is a worker and takes a due purchase.
    Work,
}

/// A failpoint, an action and a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strike {
    pub point: Point,
    pub action: Action,
    /// The surface of the request to the victim. For a worker, the surface of the confirm.
    pub surface: Surface,
}

impl Strike {
    /// A process that is stopped between its last look and the first byte sends when it continues. It may be stopped
    /// past its lease, but not past the quarantine, and it must not wait for the others of its batch. An order that
    /// is processed even later would arrive after the quarantine. docs/RELIABILITY.md assumes that no process sleeps
    /// that long there.
    pub const fn sends_on_waking(self) -> bool {
        matches!((self.action, self.point), (Action::Stop, Point::OrderLeaves | Point::RepeatLeaves))
    }
}

/// A strike in one of the scenes that have its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stage {
    pub scene: Scene,
    pub strike: Strike,
}

/// What a purchase must come to before it can bring a victim to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A confirm, or doubt.
    Doubt,
    /// The order is sent once more.
    FurtherSend,
    /// A message about the purchase is sent.
    Message,
}

impl Stage {
    pub const fn need(self) -> Need {
        let point = self.strike.point;
        if matches!(point, Point::ResolveSendRecorded | Point::RepeatLeaves | Point::ResolveAnswered) {
            Need::FurtherSend
        } else if matches!(
            point,
            Point::MessageBeforeSend | Point::MessageAfterSend | Point::MessageAfterMark
        ) {
            Need::Message
        } else {
            Need::Doubt
        }
    }
}

/// One round: one victim that is killed or stopped.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub number: usize,
    pub scene: Scene,
    pub strike: Strike,
    /// The trigger that the victim is started with.
    pub trigger: Trigger,
    /// With an idempotency key the client confirms again instead of retrying.
    pub route: Route,
    pub behaviour: Behaviour,
    pub is_managed: bool,
    /// Whether the client waits for as long as a server may take, or hangs up much earlier.
    pub is_patient: bool,
    /// Whether the client asks again until it knows the outcome. Otherwise the purchase is left to the worker.
    pub comes_back: bool,
}

impl Plan {
    pub const fn stage(&self) -> Stage {
        Stage { scene: self.scene, strike: self.strike }
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, scene, strike: _, trigger, route, behaviour, is_managed, is_patient, comes_back } =
            self;
        let handling = if *is_managed { "managed" } else { "self-managed" };
        let client = if *is_patient { "patient" } else { "hasty" };
        let gone = if *comes_back { "" } else { ", that never comes back" };
        write!(
            out,
            "round {number}: {scene:?}, {trigger}, {route}, {behaviour:?}, {handling}, {client} client{gone}"
        )
    }
}

/// Every point with both actions. The seed decides which action gets which surface.
pub fn dealt_strikes(seed: &mut Seed) -> Vec<Strike> {
    let of_point = |point: &Point| {
        let surface = seed.choose(&Surface::ALL);
        let [one, other] = Action::ALL;
        [
            Strike { point: *point, action: one, surface },
            Strike { point: *point, action: other, surface: surface.other() },
        ]
    };
    Point::ALL.iter().flat_map(of_point).collect()
}

/// Every point with both actions over both surfaces.
pub fn all_strikes() -> Vec<Strike> {
    let of_point = |point: &Point| {
        let point = *point;
        let in_both_ways = move |surface| Action::ALL.map(|action| Strike { point, action, surface });
        Surface::ALL.into_iter().flat_map(in_both_ways)
    };
    Point::ALL.iter().flat_map(of_point).collect()
}

/// Every strike in every scene that has its point.
pub fn stages(strikes: &[Strike]) -> Vec<Stage> {
    let of_strike = |strike: &Strike| {
        let strike = *strike;
        scenes(strike.point).iter().map(move |scene| Stage { scene: *scene, strike })
    };
    strikes.iter().flat_map(of_strike).collect()
}

/// `count` plans, numbered from `first`. They cycle through the stages. The seed decides the rest.
pub fn plans(stages: &[Stage], first: usize, count: usize, seed: &mut Seed) -> Vec<Plan> {
    let mut stages = stages.to_vec();
    seed.shuffle(&mut stages);
    let plans = stages.iter().cycle().take(count).zip(first..);
    plans.map(|(stage, number)| plan(*stage, number, seed)).collect()
}

/// Batches of at most `size` plans. The purchases of a batch have one need, because a worker takes any purchase: so each of them brings
/// any victim of the batch to its point.
pub fn batches(plans: &[Plan], size: usize) -> Vec<Vec<Plan>> {
    let mut plans = plans.to_vec();
    plans.sort_by_key(|plan| plan.stage().need());
    let of_one_need = plans.chunk_by(|one, next| one.stage().need() == next.stage().need());
    of_one_need.flat_map(|plans| plans.chunks(size).map(<[Plan]>::to_vec)).collect()
}

fn plan(stage: Stage, number: usize, seed: &mut Seed) -> Plan {
    let Stage { scene, strike } = stage;
    let Strike { point, action, surface } = strike;
    // The worker sends nothing for a self-managed account.
    let must_be_managed = scene == Scene::Work && stage.need() == Need::FurtherSend;
    let is_managed = must_be_managed || seed.choose(&[true, false]);
    let mut behaviours = behaviours(stage, is_managed);
    if strike.sends_on_waking() {
        behaviours.retain(|behaviour| *behaviour != Behaviour::LooksLate);
    }
    let behaviour = seed.choose(&behaviours);
    // A second order exists only where two are swapped.
    let nth =
        if behaviour == Behaviour::Swapped && scene == Scene::Confirm { seed.choose(&[1, 2]) } else { 1 };
    let is_patient = seed.choose(&[true, false]);
    let trigger = Trigger { point, nth, action };
    let route = route(scene, surface, seed);
    let comes_back = seed.choose(&[true, true, false]);
    Plan { number, scene, strike, trigger, route, behaviour, is_managed, is_patient, comes_back }
}

/// The request to the victim uses `surface`. In one of three rounds the other requests use the other surface.
fn route(scene: Scene, surface: Surface, seed: &mut Seed) -> Route {
    let before_or_after = seed.choose(&[surface, surface, surface.other()]);
    match scene {
        Scene::Confirm => {
            Route::over(surface).retried_over(before_or_after).keyed(seed.choose(&[true, false]))
        }
        Scene::Retry => Route::over(before_or_after).retried_over(surface),
        Scene::Work => Route::over(surface).retried_over(before_or_after),
    }
}

const fn scenes(point: Point) -> &'static [Scene] {
    match point {
        Point::ConfirmBeforeReserve
        | Point::ReserveBeforeCommit
        | Point::ReserveAfterCommit
        | Point::ConfirmAfterReserve
        | Point::ConfirmBeforeSend
        | Point::OrderLeaves
        | Point::ConfirmAnswered
        | Point::ConfirmAfterRecord => &[Scene::Confirm],
        Point::RecordBeforeCommit | Point::RecordAfterCommit => &[Scene::Confirm, Scene::Retry, Scene::Work],
        Point::ResolveClaimed => &[Scene::Retry],
        Point::ResolveEnquired
        | Point::ResolveSendRecorded
        | Point::RepeatLeaves
        | Point::ResolveAnswered
        | Point::ResolveBeforeRecord
        | Point::ResolveAfterRecord => &[Scene::Retry, Scene::Work],
        // A scene of its own, see `batches.rs`.
        Point::BatchLineTaken | Point::BatchLineBought | Point::WebhookAnswered => &[],
        Point::DueBeforeCommit
        | Point::DueAfterCommit
        | Point::MessageBeforeSend
        | Point::MessageAfterSend
        | Point::MessageAfterMark => &[Scene::Work],
    }
}

/// The behaviours that bring a purchase to the point.
fn behaviours(stage: Stage, is_managed: bool) -> Vec<Behaviour> {
    match (stage.scene, stage.need()) {
        (Scene::Confirm, _) => Behaviour::ALL.to_vec(),
        (Scene::Work, Need::Message) => vec![Behaviour::Ordinary, Behaviour::LostReply, Behaviour::Garbage],
        (Scene::Work, Need::FurtherSend) => {
            vec![Behaviour::LostRequest, Behaviour::AlwaysLost, Behaviour::Busy, Behaviour::BusyThenOk]
        }
        (Scene::Work, Need::Doubt) if is_managed => {
            [&Behaviour::DOUBTFUL[..], &[Behaviour::Busy, Behaviour::BusyThenOk]].concat()
        }
        (Scene::Retry, Need::FurtherSend) => Behaviour::LOSING.to_vec(),
        (Scene::Work | Scene::Retry, _) => Behaviour::DOUBTFUL.to_vec(),
    }
}
