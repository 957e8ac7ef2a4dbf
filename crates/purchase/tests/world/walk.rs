//! The stories that every test tells: a confirm or a resolve from its beginning to its end.

use purchase::{Asker, StateName};

use super::World;
use super::desk::{ConfirmDesk, Luck, ResolveDesk};
use super::provider::Verdict;

/// Resolves to the end; a copy that leaves meets this verdict, or never arrives.
pub fn resolves(world: &mut World, asker: Asker, luck: Luck, copies_meet: Option<Verdict>) -> ResolveDesk {
    let mut desk = ResolveDesk::open(asker, world);
    for _turn in 0..20 {
        if desk.answer().is_some() {
            return desk;
        }
        desk.turn(world, luck);
        every_copy_meets(world, copies_meet);
    }
    assert!(desk.answer().is_some(), "no end after {}", desk.story());
    desk
}

pub fn every_copy_meets(world: &mut World, verdict: Option<Verdict>) {
    for copy in world.provider.on_the_way(world.now) {
        match verdict {
            Some(verdict) => world.provider.receives(copy, world.now, verdict),
            None => world.provider.never_receives(copy),
        }
    }
}

pub fn confirms(world: &mut World, copies_meet: Option<Verdict>) {
    let mut desk = ConfirmDesk::open(world);
    while !desk.is_done() {
        desk.turn(world, Luck::Well);
        every_copy_meets(world, copies_meet);
    }
}

/// The worker and, in review, the operator bring it to an end when all faults have stopped.
pub fn comes_to_an_end(world: &mut World, copies_meet: Option<Verdict>) {
    every_copy_meets(world, copies_meet);
    for _round in 0..20 {
        if !world.state().is_open() {
            break;
        }
        world.passes(200);
        resolves(world, Asker::Worker, Luck::Well, copies_meet);
    }
    if world.state() == StateName::Review {
        world.passes(200);
        world.operator_decides();
    }
    world.ended_in_truth();
}
