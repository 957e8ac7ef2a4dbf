//! A driver runs a protocol in the world, one command at a time. A test drops it between two commands to simulate a
//! crash.

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Event, Fence, Next, Resolve, ResolveAnswer, ResolveCommand,
    ResolveInput,
};
use vend::{Doubt, Enquiry, Refusal, RefusalReason, VendOutcome};

use super::World;
use super::provider::Candour;

/// How one turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// No fault.
    Well,
    /// The write is committed, but its acknowledgement is lost.
    CommittedUnheard,
    /// The write is not committed, and no answer says so.
    NotCommitted,
    /// The provider cannot be reached.
    Offline,
    /// The provider answers only what it must.
    Reticent,
}

/// One confirm in progress.
#[derive(Clone, Debug)]
pub struct ConfirmDriver {
    machine: Confirm,
    command: ConfirmCommand,
    arrived_at: DateTime<Utc>,
    copy: Option<usize>,
}

impl ConfirmDriver {
    pub fn open(world: &World) -> Self {
        let (machine, command) = Confirm::begin(world.rules.timing);
        Self { machine, command, arrived_at: world.now, copy: None }
    }

    pub fn command(&self) -> &ConfirmCommand {
        &self.command
    }

    pub fn is_done(&self) -> bool {
        matches!(self.command, ConfirmCommand::Answer | ConfirmCommand::Refuse(()))
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let event = match &self.command {
            ConfirmCommand::Reserve => Some(self.reserve(world, luck)),
            ConfirmCommand::Send => self.send(world, luck).map(ConfirmInput::Answered),
            ConfirmCommand::Record(event) => Some(
                record(world, event.clone(), luck)
                    .map_or(ConfirmInput::RecordUnacknowledged, |_verdict| ConfirmInput::Recorded),
            ),
            ConfirmCommand::Refuse(()) | ConfirmCommand::Answer => None,
        };
        if let Some(event) = event {
            self.command = self.machine.on(event).expect("the protocol asked for this");
        }
    }

    fn reserve(&self, world: &mut World, luck: Luck) -> ConfirmInput {
        if luck == Luck::NotCommitted {
            return ConfirmInput::ReserveUnacknowledged;
        }
        let fence = world.reserve();
        if luck == Luck::CommittedUnheard {
            return ConfirmInput::ReserveUnacknowledged;
        }
        let since = (world.now - self.arrived_at).to_std().expect("time does not run backwards");
        ConfirmInput::Reserved { fence, since_reserve: since, since_arrival: since }
    }

    /// The last check of the gate when the connection is open. In a later turn: the outcome.
    fn send(&mut self, world: &mut World, luck: Luck) -> Option<VendOutcome> {
        let gate_is_open = world.now <= self.arrived_at + world.rules.timing.gate;
        if self.copy.is_none() && gate_is_open && luck != Luck::Offline {
            self.copy = Some(world.provider.takes_off(1, world.now));
            return None;
        }
        Some(heard(world, self.copy, luck))
    }
}

/// What the sender of a copy receives. Without a copy: that none was sent.
fn heard(world: &World, copy: Option<usize>, luck: Luck) -> VendOutcome {
    match copy {
        Some(copy) => {
            let answer = world.provider.answer_to(copy).filter(|_| luck != Luck::Offline);
            answer.unwrap_or(VendOutcome::Unknown(Doubt::ConnectionLost.into()))
        }
        None => VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)),
    }
}

/// One resolve in progress.
#[derive(Clone, Debug)]
pub struct ResolveDriver {
    machine: Resolve,
    command: ResolveCommand,
    /// The commands given so far, by name.
    story: Vec<&'static str>,
    attempt: u16,
    kept: Option<Kept>,
    copy: Option<usize>,
}

/// A send that is recorded, but not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Kept {
    fence: Fence,
    recorded_at: DateTime<Utc>,
}

impl ResolveDriver {
    pub fn open(asker: Asker, world: &World) -> Self {
        let (machine, command) = Resolve::begin(asker, world.lifecycle(), world.now, &world.rules);
        let story = vec![name(&command)];
        Self { machine, command, story, attempt: world.lifecycle().attempt, kept: None, copy: None }
    }

    pub fn command(&self) -> &ResolveCommand {
        &self.command
    }

    pub fn answer(&self) -> Option<ResolveAnswer> {
        match self.command {
            ResolveCommand::Answer(answer) => Some(answer),
            ResolveCommand::Claim
            | ResolveCommand::TakeTurn(_)
            | ResolveCommand::Enquire
            | ResolveCommand::RecordRepeat(_)
            | ResolveCommand::RecordAttempt(_)
            | ResolveCommand::Send
            | ResolveCommand::Record(_) => None,
        }
    }

    /// The commands so far, as one sentence.
    pub fn story(&self) -> String {
        self.story.join(", ")
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let kept = self.kept;
        let event = match self.command.clone() {
            ResolveCommand::Claim => Some(self.claim(world, luck)),
            ResolveCommand::TakeTurn(fence) => Some(take_turn(world, fence, luck)),
            ResolveCommand::Enquire => Some(self.enquire(world, luck)),
            ResolveCommand::RecordRepeat(fence) => self.record_send(world, Event::SentAgain { fence }, luck),
            ResolveCommand::RecordAttempt(fence) => {
                let reference = world.fresh_reference();
                self.record_send(world, Event::AttemptStarted { fence, reference }, luck)
            }
            ResolveCommand::Send => Some(ResolveInput::Answered(heard(world, self.copy, luck))),
            ResolveCommand::Record(event) => {
                Some(record(world, event, luck).map_or(ResolveInput::RecordUnacknowledged, |_verdict| {
                    ResolveInput::Recorded { lifecycle: world.lifecycle().clone(), at: world.now }
                }))
            }
            ResolveCommand::Answer(_) => None,
        };
        if let Some(event) = event {
            self.command = self.machine.on(event).expect("the protocol asked for this");
            self.story.push(name(&self.command));
            // There is no other gate than the protocol's own. What passes it is sent at once.
            if self.command == ResolveCommand::Send && luck != Luck::Offline {
                let in_time =
                    kept.is_some_and(|kept| world.now <= kept.recorded_at + world.rules.timing.gate);
                assert!(in_time, "sent without a record, or too late after it");
                self.copy = Some(world.provider.takes_off(self.attempt, world.now));
            }
        }
    }

    fn claim(&mut self, world: &mut World, luck: Luck) -> ResolveInput {
        match record(world, Event::Claimed, luck) {
            Some(true) => {
                self.attempt = world.lifecycle().attempt;
                ResolveInput::Claimed { lifecycle: world.lifecycle().clone(), at: world.now }
            }
            Some(false) | None => ResolveInput::NotClaimed,
        }
    }

    fn enquire(&self, world: &World, luck: Luck) -> ResolveInput {
        let enquiry = match luck {
            Luck::Offline => Enquiry::Unanswered(Doubt::TimedOut.into()),
            Luck::Reticent => world.provider.is_asked(self.attempt, Candour::AsDeclared),
            Luck::Well | Luck::CommittedUnheard | Luck::NotCommitted => {
                world.provider.is_asked(self.attempt, Candour::Full)
            }
        };
        ResolveInput::Enquired { enquiry, asked_at: world.now }
    }

    /// One turn records the send. The acknowledgement arrives in a later turn, after any delay.
    fn record_send(&mut self, world: &mut World, event: Event, luck: Luck) -> Option<ResolveInput> {
        if let Some(Kept { fence, recorded_at }) = self.kept.take() {
            let since_record = (world.now - recorded_at).to_std().expect("time does not run backwards");
            return Some(ResolveInput::SendRecorded { fence, since_record });
        }
        match record(world, event, luck) {
            Some(true) => {
                self.attempt = world.lifecycle().attempt;
                self.kept = Some(Kept { fence: world.lifecycle().fence, recorded_at: world.now });
                None
            }
            Some(false) => Some(ResolveInput::SendRefused),
            None => Some(ResolveInput::SendUnacknowledged),
        }
    }
}

fn take_turn(world: &mut World, fence: Fence, luck: Luck) -> ResolveInput {
    let may_ask = luck != Luck::NotCommitted && world.takes_turn(fence);
    if may_ask && luck != Luck::CommittedUnheard { ResolveInput::MayAsk } else { ResolveInput::MayNotAsk }
}

/// Whether the event moved the purchase, if the acknowledgement arrived.
fn record(world: &mut World, event: Event, luck: Luck) -> Option<bool> {
    if luck == Luck::NotCommitted {
        return None;
    }
    let moved = matches!(world.record(event), Ok(Next::Moved(..)));
    (luck != Luck::CommittedUnheard).then_some(moved)
}

fn name(command: &ResolveCommand) -> &'static str {
    match command {
        ResolveCommand::Claim => "claim",
        ResolveCommand::TakeTurn(_) => "take a turn",
        ResolveCommand::Enquire => "enquire",
        ResolveCommand::RecordRepeat(_) => "record the repeat",
        ResolveCommand::RecordAttempt(_) => "record a new attempt",
        ResolveCommand::Send => "send",
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
