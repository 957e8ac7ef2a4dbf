//! The runs that every test needs: a confirm or a resolve from its beginning to its end.

use purchase::{Asker, StateName};

use super::World;
use super::confirm_driver::ConfirmDriver;
use super::driver::Luck;
use super::provider::Verdict;
use super::resolve_driver::ResolveDriver;

/// Resolves to the end. A copy that is sent meets this verdict, or never arrives.
pub fn resolves(world: &mut World, asker: Asker, luck: Luck, copies_meet: Option<Verdict>) -> ResolveDriver {
    let mut driver = ResolveDriver::open(asker, world);
    for _turn in 0..20 {
        if driver.answer().is_some() {
            return driver;
        }
        driver.turn(world, luck);
        every_copy_meets(world, copies_meet);
    }
    assert!(driver.answer().is_some(), "no end after {}", driver.history());
    driver
}

pub fn every_copy_meets(world: &mut World, verdict: Option<Verdict>) {
    for copy in world.provider.may_arrive(world.now) {
        match verdict {
            Some(verdict) => world.provider.receive(copy, world.now, verdict),
            None => world.provider.lose(copy),
        }
    }
}

pub fn confirms(world: &mut World, copies_meet: Option<Verdict>) {
    let mut driver = ConfirmDriver::open(world);
    while !driver.is_done() {
        driver.turn(world, Luck::Well);
        every_copy_meets(world, copies_meet);
    }
}

/// The worker, and in review the operator, bring it to its end after all faults have stopped.
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
