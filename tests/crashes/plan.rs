//! What a sweep tries: which point, struck how, over which surface, while the provider does what, to whose purchase.

use acceptance::{
    storm::{Behaviour, Route, Seed},
    surface::Surface,
};
use failpoint::{Action, Order, Point};

/// Where the victim stands in the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// It confirms.
    Confirm,
    /// It is asked to retry what another server has left in doubt.
    Retry,
    /// It is a worker, and finds what is due.
    Work,
}

/// Where, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strike {
    pub point: Point,
    pub action: Action,
    /// Over which the victim is asked; of a worker, over which its purchase came.
    pub surface: Surface,
}

impl Strike {
    /// Whoever stands still between the last look and the first byte sends when it wakes up. It may outlive its lease, but not
    /// the quarantine, and not wait for what the others of its batch do. An order that is looked at later still would outlive the
    /// quarantine: that no process sleeps so long there is taken for granted (docs/RELIABILITY.md).
    pub const fn sends_on_waking(self) -> bool {
        matches!((self.action, self.point), (Action::Stop, Point::OrderLeaves | Point::RepeatLeaves))
    }
}

/// One crash.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub number: usize,
    pub scene: Scene,
    pub strike: Strike,
    /// What the victim is told of it.
    pub order: Order,
    /// Under an idempotency key it is confirmed again instead of retried.
    pub route: Route,
    pub behaviour: Behaviour,
    pub is_managed: bool,
    /// Whether the client waits for as long as a server may take, or hangs up long before.
    pub is_patient: bool,
    /// Whether it asks again until it knows. Who does not leaves everything to the worker.
    pub comes_back: bool,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, scene, strike: _, order, route, behaviour, is_managed, is_patient, comes_back } =
            self;
        let handling = if *is_managed { "managed" } else { "self-managed" };
        let client = if *is_patient { "patient" } else { "hasty" };
        let gone = if *comes_back { "" } else { ", who never comes back" };
        write!(
            out,
            "round {number}: {scene:?}, {order}, {route}, {behaviour:?}, {handling}, {client} client{gone}"
        )
    }
}

/// Every point, struck in both ways: in one over one surface, in the other over the other, as the seed deals them.
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

/// Every point, struck in both ways over both surfaces.
pub fn all_strikes() -> Vec<Strike> {
    let of_point = |point: &Point| {
        let point = *point;
        let in_both_ways = move |surface| Action::ALL.map(|action| Strike { point, action, surface });
        Surface::ALL.into_iter().flat_map(in_both_ways)
    };
    Point::ALL.iter().flat_map(of_point).collect()
}

/// So many plans, numbered from `first` on: every one of the strikes in turn, in every scene that has its point; the rest
/// as the seed has it.
pub fn plans(strikes: &[Strike], first: usize, count: usize, seed: &mut Seed) -> Vec<Plan> {
    let mut stages: Vec<(Strike, Scene)> = Vec::new();
    for strike in strikes {
        stages.extend(scenes(strike.point).iter().map(|scene| (*strike, *scene)));
    }
    seed.shuffle(&mut stages);
    let plans = stages.iter().cycle().take(count).zip(first..);
    plans.map(|(stage, number)| plan(*stage, number, seed)).collect()
}

fn plan((strike, scene): (Strike, Scene), number: usize, seed: &mut Seed) -> Plan {
    let Strike { point, action, surface } = strike;
    // The worker sends nothing for a self-managed account.
    let must_be_managed = scene == Scene::Work && is_further_send(point);
    let is_managed = must_be_managed || seed.choose(&[true, false]);
    let mut behaviours = behaviours(point, scene, is_managed);
    if strike.sends_on_waking() {
        behaviours.retain(|behaviour| *behaviour != Behaviour::LooksLate);
    }
    let behaviour = seed.choose(&behaviours);
    // A second order is there only where two are swapped.
    let nth =
        if behaviour == Behaviour::Swapped && scene == Scene::Confirm { seed.choose(&[1, 2]) } else { 1 };
    let is_patient = seed.choose(&[true, false]);
    let order = Order { point, nth, action };
    let route = route(scene, surface, seed);
    let comes_back = seed.choose(&[true, true, false]);
    Plan { number, scene, strike, order, route, behaviour, is_managed, is_patient, comes_back }
}

/// The victim is asked over the surface. Whatever else is asked, is asked over the other in one of three rounds.
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
        Point::DueBeforeCommit
        | Point::DueAfterCommit
        | Point::MessageBeforeSend
        | Point::MessageAfterSend
        | Point::MessageAfterMark => &[Scene::Work],
    }
}

const fn is_further_send(point: Point) -> bool {
    matches!(point, Point::ResolveSendRecorded | Point::RepeatLeaves | Point::ResolveAnswered)
}

/// Those that bring a purchase to the point.
fn behaviours(point: Point, scene: Scene, is_managed: bool) -> Vec<Behaviour> {
    let is_message =
        matches!(point, Point::MessageBeforeSend | Point::MessageAfterSend | Point::MessageAfterMark);
    match scene {
        Scene::Confirm => Behaviour::ALL.to_vec(),
        Scene::Work if is_message => vec![Behaviour::Ordinary, Behaviour::LostReply, Behaviour::Garbage],
        Scene::Work if is_further_send(point) => {
            vec![Behaviour::LostRequest, Behaviour::AlwaysLost, Behaviour::Busy, Behaviour::BusyThenOk]
        }
        Scene::Work if is_managed => {
            [&Behaviour::DOUBTFUL[..], &[Behaviour::Busy, Behaviour::BusyThenOk]].concat()
        }
        Scene::Retry if is_further_send(point) => Behaviour::LOSING.to_vec(),
        Scene::Work | Scene::Retry => Behaviour::DOUBTFUL.to_vec(),
    }
}
