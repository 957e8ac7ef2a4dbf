//! What a sweep tries: which point, struck how, while the provider does what, to whose purchase.

use acceptance::storm::{Behaviour, Seed};
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
pub type Strike = (Point, Action);

/// One crash.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub number: usize,
    pub scene: Scene,
    pub order: Order,
    pub behaviour: Behaviour,
    pub is_managed: bool,
    /// Whether the client waits for as long as a server may take, or hangs up long before.
    pub is_patient: bool,
    /// Whether it confirms under an idempotency key, and confirms again instead of retrying.
    pub is_keyed: bool,
    /// Whether it asks again until it knows. Who does not leaves everything to the worker.
    pub comes_back: bool,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, scene, order, behaviour, is_managed, is_patient, is_keyed, comes_back } = self;
        let handling = if *is_managed { "managed" } else { "self-managed" };
        let client = if *is_patient { "patient" } else { "hasty" };
        let key = if *is_keyed { ", keyed" } else { "" };
        let gone = if *comes_back { "" } else { ", who never comes back" };
        write!(
            out,
            "round {number}: {scene:?}, {order}, {behaviour:?}, {handling}, {client} client{key}{gone}"
        )
    }
}

/// Every point, struck in both ways.
pub fn strikes() -> Vec<Strike> {
    let of_point = |point: &Point| Action::ALL.map(|action| (*point, action));
    Point::ALL.iter().flat_map(of_point).collect()
}

/// So many plans, numbered from `first` on: every one of the strikes in turn, in every scene that has its point; the rest
/// as the seed has it.
pub fn plans(strikes: &[Strike], first: usize, count: usize, seed: &mut Seed) -> Vec<Plan> {
    let mut stages: Vec<(Point, Scene, Action)> = Vec::new();
    for (point, action) in strikes {
        stages.extend(scenes(*point).iter().map(|scene| (*point, *scene, *action)));
    }
    seed.shuffle(&mut stages);
    let plans = stages.iter().cycle().take(count).zip(first..);
    plans.map(|(stage, number)| plan(*stage, number, seed)).collect()
}

fn plan((point, scene, action): (Point, Scene, Action), number: usize, seed: &mut Seed) -> Plan {
    // The worker sends nothing for a self-managed account.
    let must_be_managed = scene == Scene::Work && is_further_send(point);
    let is_managed = must_be_managed || seed.choose(&[true, false]);
    let behaviour = seed.choose(&behaviours(point, scene, is_managed));
    // A second order is there only where two are swapped.
    let nth =
        if behaviour == Behaviour::Swapped && scene == Scene::Confirm { seed.choose(&[1, 2]) } else { 1 };
    let is_patient = seed.choose(&[true, false]);
    let is_keyed = scene == Scene::Confirm && seed.choose(&[true, false, false]);
    let comes_back = seed.choose(&[true, true, false]);
    let order = Order { point, nth, action };
    Plan { number, scene, order, behaviour, is_managed, is_patient, is_keyed, comes_back }
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
