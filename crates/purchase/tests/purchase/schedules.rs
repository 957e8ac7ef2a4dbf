//! One confirm and several resolves, interleaved command by command with a lossy provider and a lossy database, under
//! any schedule. The purchase is vended at most once, and paid for exactly when it was vended.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use purchase::{Asker, Handling, StateName};
use vend::RefusalReason;

use crate::world::World;
use crate::world::confirm_driver::ConfirmDriver;
use crate::world::driver::Luck;
use crate::world::memory::Repeats;
use crate::world::provider::Verdict;
use crate::world::resolve_driver::ResolveDriver;
use crate::world::values::{DECLARATIONS, declared};

#[derive(Clone, Debug)]
enum Move {
    ConfirmsOn(Luck),
    ConfirmCrashes,
    ResolveBegins(Asker),
    ResolvesOn(Index, Luck),
    ResolveCrashes(Index),
    Arrives(Index, Verdict),
    IsLost(Index),
    LateWriteIsCommitted,
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
            18 => Just(Luck::Well),
            2 => Just(Luck::Reticent),
            1 => Just(Luck::CommittedUnheard),
            1 => Just(Luck::NotCommitted),
            1 => Just(Luck::KnownNotCommitted),
            1 => Just(Luck::StillOpen),
            1 => Just(Luck::Offline),
        ]
    };
    // Most short pauses pass the gate.
    let pauses = prop_oneof![4 => 0_i64..2, 2 => 2_i64..10, 3 => 100_i64..260, 1 => Just(700_i64)];
    let one_move = prop_oneof![
        10 => luck().prop_map(Move::ConfirmsOn),
        1 => Just(Move::ConfirmCrashes),
        3 => select(vec![Asker::Integrator, Asker::Worker]).prop_map(Move::ResolveBegins),
        40 => (any::<Index>(), luck()).prop_map(|(driver, luck)| Move::ResolvesOn(driver, luck)),
        1 => any::<Index>().prop_map(Move::ResolveCrashes),
        3 => (any::<Index>(), verdicts()).prop_map(|(copy, verdict)| Move::Arrives(copy, verdict)),
        1 => any::<Index>().prop_map(Move::IsLost),
        1 => Just(Move::LateWriteIsCommitted),
        4 => pauses.prop_map(Move::Passes),
    ];
    vec(one_move, 1..250)
}

fn worlds() -> impl Strategy<Value = World> {
    let handlings = select(Handling::ALL.to_vec());
    let repeats = select(vec![Repeats::FromMemory, Repeats::Rejected]);
    (handlings, select(DECLARATIONS.to_vec()), repeats)
        .prop_map(|(handling, letters, repeats)| World::open(handling, declared(letters), repeats))
}

/// The world and every driver that works on the purchase.
struct System {
    world: World,
    confirm: Option<ConfirmDriver>,
    resolves: Vec<ResolveDriver>,
}

impl System {
    fn opens(world: World) -> Self {
        let confirm = Some(ConfirmDriver::open(&world));
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
            Move::ResolveBegins(asker) => {
                if self.world.stored.is_some() && self.resolves.len() < 4 {
                    self.resolves.push(ResolveDriver::open(*asker, &self.world));
                }
            }
            Move::ResolvesOn(which, luck) => {
                if !self.resolves.is_empty() {
                    let chosen = which.index(self.resolves.len());
                    if let Some(driver) = self.resolves.get_mut(chosen) {
                        driver.turn(&mut self.world, *luck);
                    }
                    self.resolves.retain(|driver| driver.answer().is_none());
                }
            }
            Move::ResolveCrashes(which) => {
                if !self.resolves.is_empty() {
                    self.resolves.swap_remove(which.index(self.resolves.len()));
                }
            }
            Move::Arrives(which, verdict) => {
                if let Some(copy) = chosen(*which, &self.world.provider.may_arrive(now)) {
                    self.world.provider.receive(copy, now, *verdict);
                }
            }
            Move::IsLost(which) => {
                if let Some(copy) = chosen(*which, &self.world.provider.may_arrive(now)) {
                    self.world.provider.lose(copy);
                }
            }
            Move::LateWriteIsCommitted => {
                if let Some(event) = self.world.late_write.take() {
                    self.world.moves(event);
                }
            }
            Move::Passes(count) => self.world.passes(*count),
        }
    }

    /// The faults stop. Every driver goes on, every copy in transit arrives, and the worker runs until the purchase
    /// ends. An operator who has seen the provider's statement decides what stays in review.
    fn closes(mut self, verdict: Verdict) -> World {
        for _turn in 0..20 {
            self.makes(&Move::ConfirmsOn(Luck::Well));
            for driver in &mut self.resolves {
                driver.turn(&mut self.world, Luck::Well);
            }
            self.everything_arrives(verdict);
        }
        for _round in 0..20 {
            self.world.passes(200);
            if !self.world.is_open() {
                return self.world;
            }
            let mut worker = ResolveDriver::open(Asker::Worker, &self.world);
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
        for copy in self.world.provider.may_arrive(self.world.now) {
            self.world.provider.receive(copy, self.world.now, verdict);
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
        let mut system = System::opens(world);
        for one_move in &moves {
            system.makes(one_move);
            prop_assert!(system.world.provider.vends() <= 1);
            if system.world.stored.is_some() && system.world.setup.handling == Handling::Managed {
                prop_assert!(system.world.provider.copies() <= 6);
            }
        }
        let world = system.closes(verdict);
        if world.stored.is_some() {
            world.ended_in_truth();
        } else {
            prop_assert_eq!(world.provider.copies(), 0);
        }
    }
}

/// Without this test the invariant could hold because no schedule gets anywhere.
#[test]
fn the_schedules_send_repeat_attempt_anew_and_end_both_ways() {
    let mut runner = TestRunner::deterministic();
    let (mut several_copies, mut several_attempts, mut captured, mut released) = (0, 0, 0, 0);
    for _case in 0..300 {
        let (world, moves) = (worlds(), moves()).new_tree(&mut runner).unwrap().current();
        let mut system = System::opens(world);
        for one_move in &moves {
            system.makes(one_move);
        }
        let Some(lifecycle) = &system.world.stored else { continue };
        several_copies += usize::from(system.world.provider.copies() > 1);
        several_attempts += usize::from(lifecycle.attempt > 1);
        captured += system.world.captured;
        released += system.world.released;
    }
    for times in [several_copies, several_attempts, captured, released] {
        assert!(times >= 10, "{several_copies} {several_attempts} {captured} {released}");
    }
}
