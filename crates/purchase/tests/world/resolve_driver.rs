//! A driver of the resolve protocol. A test drops it between two turns to simulate a crash.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

use purchase::{Asker, Event, Fence, Resolve, ResolveAnswer, ResolveCommand, ResolveInput};
use vend::{Doubt, Enquiry};

use super::World;
use super::driver::{Kept, Luck, Written};
use super::flaw::Flaw;
use super::hash::hash_of_debug;
use super::provider::Candour;

/// One resolve in progress.
#[derive(Clone, Debug)]
pub struct ResolveDriver {
    asker: Asker,
    machine: Resolve,
    command: ResolveCommand,
    /// The commands given so far, by name.
    history: Vec<&'static str>,
    pub kept: Kept,
}

impl ResolveDriver {
    pub fn open(asker: Asker, world: &World) -> Self {
        let begun = Resolve::begin(asker, world.lifecycle(), world.now, &world.setup.rules);
        Self::at(asker, begun, Kept::nothing(world))
    }

    /// Continues with a purchase that a batch claims for it. `None` if that claim is illegal.
    pub fn claimed(asker: Asker, world: &mut World) -> Option<Self> {
        if !world.moves(Event::Claimed) {
            return None;
        }
        let lifecycle = world.lifecycle();
        let begun = Resolve::claimed(asker, lifecycle, world.now, &world.setup.rules);
        let (claimed_at, fence) = (world.now, Some(lifecycle.fence));
        Some(Self::at(asker, begun, Kept { fence, claimed_at, ..Kept::nothing(world) }))
    }

    fn at(asker: Asker, (machine, command): (Resolve, ResolveCommand), kept: Kept) -> Self {
        let history = vec![name(&command)];
        Self { asker, machine, command, history, kept }
    }

    pub const fn asker(&self) -> Asker {
        self.asker
    }

    pub const fn command(&self) -> &ResolveCommand {
        &self.command
    }

    pub const fn answer(&self) -> Option<ResolveAnswer> {
        match self.command {
            ResolveCommand::Answer(answer) => Some(answer),
            ResolveCommand::Claim
            | ResolveCommand::TakeTurn(_)
            | ResolveCommand::Enquire
            | ResolveCommand::RecordRepeat(_)
            | ResolveCommand::RecordAttempt(_)
            | ResolveCommand::Send { .. }
            | ResolveCommand::Record(_) => None,
        }
    }

    /// The commands so far, as one sentence.
    pub fn history(&self) -> String {
        self.history.join(", ")
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let input = match self.command.clone() {
            ResolveCommand::Claim => self.claim(world, luck),
            ResolveCommand::TakeTurn(fence) => Some(take_turn(world, fence, luck)),
            ResolveCommand::Enquire => Some(self.enquire(world, luck)),
            ResolveCommand::RecordRepeat(fence) => self.record_send(world, Event::SentAgain { fence }, luck),
            ResolveCommand::RecordAttempt(fence) => {
                let reference = world.fresh_reference();
                self.record_send(world, Event::AttemptStarted { fence, reference }, luck)
            }
            ResolveCommand::Send { leave_within } => {
                self.kept.send(world, leave_within, luck).map(ResolveInput::Answered)
            }
            ResolveCommand::Record(event) => match self.kept.record(world, event, luck) {
                Written::NotYet => None,
                Written::Unacknowledged => Some(ResolveInput::RecordUnacknowledged),
                Written::Moved | Written::NotMoved => {
                    Some(ResolveInput::Recorded { lifecycle: world.lifecycle().clone(), at: world.now })
                }
            },
            ResolveCommand::Answer(_) => None,
        };
        if let Some(input) = input {
            self.command = self.machine.on(input).expect("the protocol asked for this");
            self.history.push(name(&self.command));
        }
    }

    fn claim(&mut self, world: &mut World, luck: Luck) -> Option<ResolveInput> {
        match self.kept.record(world, Event::Claimed, luck) {
            Written::NotYet => None,
            Written::Unacknowledged | Written::NotMoved => Some(ResolveInput::NotClaimed),
            Written::Moved => {
                let lifecycle = world.lifecycle().clone();
                self.kept.attempt = lifecycle.attempt;
                self.kept.fence = Some(lifecycle.fence);
                self.kept.claimed_at = world.now;
                Some(ResolveInput::Claimed { lifecycle, at: world.now })
            }
        }
    }

    fn enquire(&self, world: &World, luck: Luck) -> ResolveInput {
        let about = |candour| world.provider.enquiry(self.kept.attempt, world.now, candour);
        let enquiry = match luck {
            Luck::Offline => Enquiry::Unanswered(Doubt::TimedOut.into()),
            Luck::Reticent => about(Candour::Least),
            Luck::StillOpen => about(Candour::StillOpen),
            Luck::Well | Luck::CommittedUnheard | Luck::NotCommitted | Luck::KnownNotCommitted => {
                about(Candour::Full)
            }
        };
        ResolveInput::Enquired { enquiry, asked_at: self.kept.claimed_at }
    }

    /// One turn records the send. The acknowledgement arrives in a later turn, after any delay.
    fn record_send(&mut self, world: &mut World, event: Event, luck: Luck) -> Option<ResolveInput> {
        if let Some(fence) = self.kept.unacknowledged.take() {
            let since_record = self.kept.since_began(world);
            return Some(ResolveInput::SendRecorded { fence, since_record });
        }
        self.kept.began_at = world.now;
        if let (Some(Flaw::SendsOffTheRecord), Event::SentAgain { fence }) = (world.setup.flaw, &event) {
            self.kept.unacknowledged = Some(*fence);
            return None;
        }
        match self.kept.record(world, event, luck) {
            Written::NotYet => None,
            Written::Unacknowledged => Some(ResolveInput::SendUnacknowledged),
            Written::NotMoved => Some(ResolveInput::SendRefused),
            Written::Moved => {
                let lifecycle = world.lifecycle();
                self.kept.attempt = lifecycle.attempt;
                self.kept.fence = Some(lifecycle.fence);
                self.kept.unacknowledged = Some(lifecycle.fence);
                None
            }
        }
    }
}

/// Leaves the history out: it decides nothing.
impl Hash for ResolveDriver {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { asker, machine, command, history: _, kept } = self;
        (discriminant(asker), hash_of_debug(machine), discriminant(command), kept).hash(hasher);
        // The phase of the machine shows the fence of every other command. The gate of a resolve is always as long.
        if let ResolveCommand::TakeTurn(fence) = command {
            fence.hash(hasher);
        }
    }
}

fn take_turn(world: &mut World, fence: Fence, luck: Luck) -> ResolveInput {
    let is_committed = !matches!(luck, Luck::NotCommitted | Luck::KnownNotCommitted);
    let may_ask = is_committed && world.take_turn(fence);
    if may_ask && luck != Luck::CommittedUnheard { ResolveInput::MayAsk } else { ResolveInput::MayNotAsk }
}

fn name(command: &ResolveCommand) -> &'static str {
    match command {
        ResolveCommand::Claim => "claim",
        ResolveCommand::TakeTurn(_) => "take a turn",
        ResolveCommand::Enquire => "enquire",
        ResolveCommand::RecordRepeat(_) => "record the repeat",
        ResolveCommand::RecordAttempt(_) => "record a new attempt",
        ResolveCommand::Send { .. } => "send",
        ResolveCommand::Record(event) => match event {
            Event::Vended { .. } => "record the vend",
            Event::Refused { .. } => "record the refusal",
            Event::NeverSent { .. } => "record that nothing left",
            Event::Lost { .. } => "record the doubt",
            Event::NoRecord { .. } => "record that there is no record",
            Event::LeaseReleased { .. } => "release",
            Event::WindowClosed { .. } => "close the window",
            Event::Claimed
            | Event::SentAgain { .. }
            | Event::AttemptStarted { .. }
            | Event::OperatorVended { .. }
            | Event::OperatorNotVended { .. } => "record an event that no protocol records",
        },
        ResolveCommand::Answer(ResolveAnswer::Final) => "answer final",
        ResolveCommand::Answer(ResolveAnswer::Pending) => "answer pending",
        ResolveCommand::Answer(ResolveAnswer::Unreachable) => "answer unreachable",
    }
}
