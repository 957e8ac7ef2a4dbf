//! A driver of the confirm protocol. A test drops it between two turns to simulate a crash.

use std::hash::{Hash, Hasher};
use std::mem::{self, discriminant};

use chrono::{DateTime, Utc};
use purchase::{Confirm, ConfirmCommand, ConfirmInput};

use super::World;
use super::driver::{Kept, Luck, Written};
use super::hash::hash_of_debug;
use super::values::OPENING;

/// One confirm in progress.
#[derive(Clone, Debug)]
pub struct ConfirmDriver {
    machine: Confirm,
    command: ConfirmCommand,
    /// Whether its reserve made the purchase, until that is acknowledged.
    is_new: bool,
    pub kept: Kept,
}

impl ConfirmDriver {
    /// The request arrives and is read now.
    pub fn open(world: &World) -> Self {
        Self::arrived(world, world.now)
    }

    /// The request is read now, and arrived at this time.
    pub fn arrived(world: &World, arrived_at: DateTime<Utc>) -> Self {
        let (machine, command) = Confirm::begin(world.setup.rules.timing);
        let kept = Kept { began_at: world.now, arrived_at, ..Kept::nothing(world) };
        Self { machine, command, is_new: false, kept }
    }

    pub const fn command(&self) -> &ConfirmCommand {
        &self.command
    }

    pub const fn is_done(&self) -> bool {
        matches!(self.command, ConfirmCommand::Answer | ConfirmCommand::Refuse(()))
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let input = match self.command.clone() {
            ConfirmCommand::Reserve => self.reserve(world, luck),
            ConfirmCommand::Send { leave_within } => {
                self.kept.send(world, leave_within, luck).map(ConfirmInput::Answered)
            }
            ConfirmCommand::Record(event) => match self.kept.record(world, event, luck) {
                Written::NotYet => None,
                Written::Unacknowledged => Some(ConfirmInput::RecordUnacknowledged),
                Written::Moved | Written::NotMoved => Some(ConfirmInput::Recorded),
            },
            ConfirmCommand::Refuse(()) | ConfirmCommand::Answer => None,
        };
        if let Some(input) = input {
            self.command = self.machine.on(input).expect("the protocol asked for this");
        }
    }

    /// One turn commits the reserve. The acknowledgement arrives in a later turn, after any delay.
    fn reserve(&mut self, world: &mut World, luck: Luck) -> Option<ConfirmInput> {
        if let Some(fence) = self.kept.unacknowledged.take() {
            self.kept.fence = Some(fence);
            let since_arrival = world.since(mem::replace(&mut self.kept.arrived_at, OPENING));
            let since_reserve = self.kept.since_began(world);
            let is_new = mem::take(&mut self.is_new);
            return Some(ConfirmInput::Reserved { fence, is_new, since_reserve, since_arrival });
        }
        match luck {
            Luck::NotCommitted => return Some(ConfirmInput::ReserveUnacknowledged),
            Luck::KnownNotCommitted => return Some(ConfirmInput::ReserveNotCommitted(())),
            Luck::Well | Luck::CommittedUnheard | Luck::Offline | Luck::Reticent | Luck::StillOpen => {}
        }
        let Some((fence, is_new)) = world.reserve(self.kept.arrived_at) else {
            return Some(ConfirmInput::ReserveRefused(()));
        };
        if luck == Luck::CommittedUnheard {
            return Some(ConfirmInput::ReserveUnacknowledged);
        }
        (self.kept.unacknowledged, self.is_new) = (Some(fence), is_new);
        None
    }
}

impl Hash for ConfirmDriver {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { machine, command, is_new, kept } = self;
        (hash_of_debug(machine), discriminant(command), is_new, kept).hash(hasher);
        if let ConfirmCommand::Send { leave_within } = command {
            leave_within.hash(hasher);
        }
    }
}
