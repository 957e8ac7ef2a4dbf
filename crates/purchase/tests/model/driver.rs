//! A driver in the model: one of the two drivers of the world, hashed once after each turn.

use std::hash::{Hash, Hasher};

use chrono::{DateTime, Utc};
use purchase::{Asker, ConfirmCommand, Fence, ResolveAnswer, ResolveCommand, StateName};

use crate::world::World;
use crate::world::confirm_driver::ConfirmDriver;
use crate::world::driver::{Kept, Luck};
use crate::world::hash::hash_of;
use crate::world::provider::Candour;
use crate::world::resolve_driver::ResolveDriver;

/// The answers to an integrator that must stay true for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Final {
    NothingReserved,
    Successful,
    Failed,
}

#[derive(Clone, Debug, Hash)]
enum Work {
    Confirm(ConfirmDriver),
    Resolve(ResolveDriver),
}

/// A protocol in progress.
#[derive(Clone, Debug)]
pub struct Driver {
    work: Work,
    /// A hash of the work. The machines have no equality, but their `Debug` shows their whole state.
    key: u64,
}

impl PartialEq for Driver {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Hash for Driver {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key.hash(hasher);
    }
}

impl Driver {
    /// A confirm whose request is read now, and arrived at this time.
    pub fn confirms(world: &World, arrived_at: DateTime<Utc>) -> Self {
        Self::at(Work::Confirm(ConfirmDriver::arrived(world, arrived_at)))
    }

    /// A retry of a purchase that was found.
    pub fn retries(world: &World) -> Self {
        Self::at(Work::Resolve(ResolveDriver::open(Asker::Integrator, world)))
    }

    /// A worker continues with a purchase that a batch has claimed for it in one transaction. `None` if that claim is
    /// illegal.
    pub fn claims(world: &mut World) -> Option<Self> {
        Some(Self::at(Work::Resolve(ResolveDriver::claimed(Asker::Worker, world)?)))
    }

    fn at(work: Work) -> Self {
        let key = hash_of(&work);
        Self { work, key }
    }

    const fn kept(&self) -> &Kept {
        match &self.work {
            Work::Confirm(driver) => &driver.kept,
            Work::Resolve(driver) => &driver.kept,
        }
    }

    pub const fn key(&self) -> u64 {
        self.key
    }

    /// The fence under which it holds the purchase, as far as it knows.
    pub const fn holds(&self) -> Option<Fence> {
        self.kept().fence
    }

    /// The copy whose answer it waits for.
    pub const fn awaits(&self) -> Option<usize> {
        self.kept().copy
    }

    /// Whether it has ended.
    pub const fn is_over(&self) -> bool {
        match &self.work {
            Work::Confirm(driver) => driver.is_done(),
            Work::Resolve(driver) => driver.answer().is_some(),
        }
    }

    /// The final answer that its end gives to an integrator, by the current record.
    pub fn final_answer(&self, world: &World) -> Option<Final> {
        let by_record = || match world.stored.as_ref()?.state.name() {
            StateName::Successful => Some(Final::Successful),
            StateName::Failed => Some(Final::Failed),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => None,
        };
        match &self.work {
            Work::Confirm(driver) => match driver.command() {
                ConfirmCommand::Refuse(()) => Some(Final::NothingReserved),
                ConfirmCommand::Answer => by_record(),
                ConfirmCommand::Reserve | ConfirmCommand::Send { .. } | ConfirmCommand::Record(_) => None,
            },
            Work::Resolve(driver) => {
                let is_told =
                    (driver.asker(), driver.answer()) == (Asker::Integrator, Some(ResolveAnswer::Final));
                is_told.then(by_record).flatten()
            }
        }
    }

    /// How its next turn may go: what is normal, and the slips.
    pub fn lucks(&self, world: &World) -> (Vec<Luck>, Vec<Luck>) {
        if self.kept().is_halfway() {
            return (vec![Luck::Well], Vec::new());
        }
        let write = (vec![Luck::Well], vec![Luck::CommittedUnheard, Luck::NotCommitted]);
        match &self.work {
            Work::Confirm(driver) => match driver.command() {
                ConfirmCommand::Reserve => {
                    let slips = [Luck::CommittedUnheard, Luck::NotCommitted, Luck::KnownNotCommitted];
                    (vec![Luck::Well], slips.to_vec())
                }
                ConfirmCommand::Send { .. } => self.lucks_of_sending(world),
                ConfirmCommand::Record(_) => write,
                ConfirmCommand::Refuse(()) | ConfirmCommand::Answer => (Vec::new(), Vec::new()),
            },
            Work::Resolve(driver) => match driver.command() {
                ResolveCommand::Enquire => self.lucks_of_asking(world),
                ResolveCommand::Send { .. } => self.lucks_of_sending(world),
                ResolveCommand::Claim
                | ResolveCommand::TakeTurn(_)
                | ResolveCommand::Record(_)
                | ResolveCommand::RecordRepeat(_)
                | ResolveCommand::RecordAttempt(_) => write,
                ResolveCommand::Answer(_) => (Vec::new(), Vec::new()),
            },
        }
    }

    fn lucks_of_sending(&self, world: &World) -> (Vec<Luck>, Vec<Luck>) {
        match self.awaits() {
            None => (vec![Luck::Well], vec![Luck::Offline]),
            Some(copy) if world.provider.has_answered(copy) => (vec![Luck::Well, Luck::Offline], Vec::new()),
            Some(_) => (vec![Luck::Offline], Vec::new()),
        }
    }

    fn lucks_of_asking(&self, world: &World) -> (Vec<Luck>, Vec<Luck>) {
        let luck = |candour| match candour {
            Candour::Full => Luck::Well,
            Candour::Least => Luck::Reticent,
            Candour::StillOpen => Luck::StillOpen,
        };
        let candours = world.provider.candours(self.kept().attempt, world.now);
        (candours.into_iter().map(luck).collect(), vec![Luck::Offline])
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        match &mut self.work {
            Work::Confirm(driver) => driver.turn(world, luck),
            Work::Resolve(driver) => driver.turn(world, luck),
        }
        self.key = hash_of(&self.work);
    }
}
