//! One confirm and several resolves, interleaved command by command with a lossy provider and a lossy
//! database, under any schedule: vended at most once, and paid for exactly when vended.
#![expect(dead_code, reason = "the world is shared with the protocols' and the laws' tests")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use purchase::{Asker, Handling, StateName};
use vend::RefusalReason;

use world::World;
use world::desk::{ConfirmDesk, Luck, ResolveDesk};
use world::provider::{Repeats, Verdict};
use world::values::{DECLARATIONS, declared};

#[path = "world/world.rs"]
mod world;

#[derive(Clone, Debug)]
enum Move {
    ConfirmsOn(Luck),
    ConfirmCrashes,
    SomebodyAsks(Asker),
    ResolvesOn(Index, Luck),
    ResolveCrashes(Index),
    Arrives(Index, Verdict),
    IsLost(Index),
    Passes(i64),
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    select(vec![
        Verdict::Vends,
        Verdict::Vends,
        Verdict::Refuses(RefusalReason::Busy),
        Verdict::Refuses(RefusalReason::Blocked),
        Verdict::IsTurnedAway,
    ])
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let luck = || {
        prop_oneof![
            12 => Just(Luck::Well),
            2 => Just(Luck::Reticent),
            1 => Just(Luck::CommittedUnheard),
            1 => Just(Luck::NotCommitted),
            1 => Just(Luck::Offline),
        ]
    };
    let one_move = prop_oneof![
        6 => luck().prop_map(Move::ConfirmsOn),
        1 => Just(Move::ConfirmCrashes),
        3 => select(vec![Asker::Integrator, Asker::Worker]).prop_map(Move::SomebodyAsks),
        16 => (any::<Index>(), luck()).prop_map(|(desk, luck)| Move::ResolvesOn(desk, luck)),
        1 => any::<Index>().prop_map(Move::ResolveCrashes),
        3 => (any::<Index>(), verdicts()).prop_map(|(copy, verdict)| Move::Arrives(copy, verdict)),
        1 => any::<Index>().prop_map(Move::IsLost),
        4 => prop_oneof![3 => 0_i64..10, 3 => 100_i64..260, 1 => Just(700_i64)].prop_map(Move::Passes),
    ];
    vec(one_move, 1..150)
}

fn worlds() -> impl Strategy<Value = World> {
    let handlings = select(Handling::ALL.to_vec());
    let repeats = select(vec![Repeats::FromMemory, Repeats::Rejected]);
    (handlings, select(DECLARATIONS.to_vec()), repeats)
        .prop_map(|(handling, letters, repeats)| World::open(handling, declared(letters), repeats))
}

/// Everybody who is at work on the purchase.
struct Floor {
    world: World,
    confirm: Option<ConfirmDesk>,
    resolves: Vec<ResolveDesk>,
}

impl Floor {
    fn opens(world: World) -> Self {
        let confirm = Some(ConfirmDesk::open(&world));
        Self { world, confirm, resolves: Vec::new() }
    }

    fn makes(&mut self, one_move: &Move) {
        let now = self.world.now;
        match one_move {
            Move::ConfirmsOn(luck) => {
                if let Some(confirm) = &mut self.confirm {
                    confirm.turn(&mut self.world, *luck);
                }
            }
            Move::ConfirmCrashes => self.confirm = None,
            Move::SomebodyAsks(asker) => {
                if self.world.filed.is_some() && self.resolves.len() < 4 {
                    self.resolves.push(ResolveDesk::open(*asker, &self.world));
                }
            }
            Move::ResolvesOn(which, luck) => {
                if !self.resolves.is_empty() {
                    let chosen = which.index(self.resolves.len());
                    if let Some(desk) = self.resolves.get_mut(chosen) {
                        desk.turn(&mut self.world, *luck);
                    }
                    self.resolves.retain(|desk| desk.answer().is_none());
                }
            }
            Move::ResolveCrashes(which) => {
                if !self.resolves.is_empty() {
                    self.resolves.swap_remove(which.index(self.resolves.len()));
                }
            }
            Move::Arrives(which, verdict) => {
                if let Some(copy) = chosen(*which, &self.world.provider.on_the_way(now)) {
                    self.world.provider.receives(copy, now, *verdict);
                }
            }
            Move::IsLost(which) => {
                if let Some(copy) = chosen(*which, &self.world.provider.on_the_way(now)) {
                    self.world.provider.never_receives(copy);
                }
            }
            Move::Passes(count) => self.world.passes(*count),
        }
    }

    /// The faults stop: who is still at work works on, what is on its way arrives, the worker comes by
    /// until it is over, and what stays in review is decided by an operator who has seen the statement.
    fn closes(mut self, verdict: Verdict) -> World {
        for _turn in 0..20 {
            self.makes(&Move::ConfirmsOn(Luck::Well));
            for desk in &mut self.resolves {
                desk.turn(&mut self.world, Luck::Well);
            }
            self.everything_arrives(verdict);
        }
        for _round in 0..20 {
            self.world.passes(200);
            if self.world.filed.as_ref().is_none_or(|life| !life.state.name().is_open()) {
                return self.world;
            }
            let mut worker = ResolveDesk::open(Asker::Worker, &self.world);
            for _turn in 0..20 {
                worker.turn(&mut self.world, Luck::Well);
                self.everything_arrives(verdict);
            }
        }
        if self.world.state() == StateName::Review {
            self.world.operator_decides();
        }
        self.world
    }

    fn everything_arrives(&mut self, verdict: Verdict) {
        for copy in self.world.provider.on_the_way(self.world.now) {
            self.world.provider.receives(copy, self.world.now, verdict);
        }
    }
}

fn chosen(which: Index, copies: &[usize]) -> Option<usize> {
    (!copies.is_empty()).then(|| *which.get(copies))
}

/// `PROPTEST_CASES` makes the sweep longer.
fn sweep() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.saturating_mul(3), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(sweep())]

    #[test]
    fn a_purchase_is_vended_at_most_once_and_paid_for_exactly_when_vended(
        world in worlds(), moves in moves(), verdict in verdicts()
    ) {
        let mut floor = Floor::opens(world);
        for one_move in &moves {
            floor.makes(one_move);
            prop_assert!(floor.world.provider.vends() <= 1);
            if floor.world.filed.is_some() && floor.world.handling == Handling::Managed {
                prop_assert!(floor.world.provider.copies() <= 6);
            }
        }
        let world = floor.closes(verdict);
        if world.filed.is_some() {
            world.ended_in_truth();
        } else {
            prop_assert_eq!(world.provider.copies(), 0);
        }
    }
}

/// Without this the law could hold because no schedule ever gets anywhere.
#[test]
fn the_schedules_send_repeat_attempt_anew_and_end_both_ways() {
    let mut runner = TestRunner::deterministic();
    let (mut several_copies, mut several_attempts, mut captured, mut released) = (0, 0, 0, 0);
    for _case in 0..300 {
        let (world, moves) = (worlds(), moves()).new_tree(&mut runner).unwrap().current();
        let mut floor = Floor::opens(world);
        for one_move in &moves {
            floor.makes(one_move);
        }
        let Some(life) = &floor.world.filed else { continue };
        several_copies += u32::from(floor.world.provider.copies() > 1);
        several_attempts += u32::from(life.attempt > 1);
        captured += floor.world.captured;
        released += floor.world.released;
    }
    for times in [several_copies, several_attempts, captured, released] {
        assert!(times >= 10, "{several_copies} {several_attempts} {captured} {released}");
    }
}
