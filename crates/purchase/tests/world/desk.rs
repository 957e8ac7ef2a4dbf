//! Somebody who works through a protocol in the world, one command at a time, and may be dropped
//! between any two: that is a crash.

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmEvent, Fact, Fence, Next, Resolve, ResolveAnswer, ResolveCommand,
    ResolveEvent,
};
use vend::{Doubt, Enquiry, Refusal, RefusalReason, VendOutcome};

use super::World;
use super::provider::Candour;

/// How one turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// All is well.
    Well,
    /// What is written is committed, but its acknowledgement is lost.
    CommittedUnheard,
    /// What is written is not committed, and nobody says so.
    NotCommitted,
    /// The provider is out of reach.
    Offline,
    /// The provider says no more than it must.
    Reticent,
}

/// A confirm under way.
#[derive(Clone, Debug)]
pub struct ConfirmDesk {
    machine: Confirm,
    command: ConfirmCommand,
    arrived_at: DateTime<Utc>,
    copy: Option<usize>,
}

impl ConfirmDesk {
    pub fn open(world: &World) -> Self {
        let (machine, command) = Confirm::begin(world.rules.timing);
        Self { machine, command, arrived_at: world.now, copy: None }
    }

    pub fn command(&self) -> &ConfirmCommand {
        &self.command
    }

    pub fn is_done(&self) -> bool {
        matches!(self.command, ConfirmCommand::Answer | ConfirmCommand::Refuse)
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let event = match &self.command {
            ConfirmCommand::Reserve => Some(self.reserve(world, luck)),
            ConfirmCommand::Send => self.send(world, luck).map(ConfirmEvent::Answered),
            ConfirmCommand::Record(fact) => Some(
                record(world, fact.clone(), luck)
                    .map_or(ConfirmEvent::RecordUnacknowledged, |_verdict| ConfirmEvent::Recorded),
            ),
            ConfirmCommand::Refuse | ConfirmCommand::Answer => None,
        };
        if let Some(event) = event {
            self.command = self.machine.on(event).expect("the protocol asked for this");
        }
    }

    fn reserve(&self, world: &mut World, luck: Luck) -> ConfirmEvent {
        if luck == Luck::NotCommitted {
            return ConfirmEvent::ReserveUnacknowledged;
        }
        let fence = world.reserve();
        if luck == Luck::CommittedUnheard {
            return ConfirmEvent::ReserveUnacknowledged;
        }
        let since = (world.now - self.arrived_at).to_std().expect("time does not run backwards");
        ConfirmEvent::Reserved { fence, since_reserve: since, since_arrival: since }
    }

    /// The last look at the gate, when the connection stands; in a later turn what came of it.
    fn send(&mut self, world: &mut World, luck: Luck) -> Option<VendOutcome> {
        let gate_is_open = world.now <= self.arrived_at + world.rules.timing.gate;
        if self.copy.is_none() && gate_is_open && luck != Luck::Offline {
            self.copy = Some(world.provider.takes_off(1, world.now));
            return None;
        }
        Some(heard(world, self.copy, luck))
    }
}

/// What the sender of a copy hears; without a copy, that none left.
fn heard(world: &World, copy: Option<usize>, luck: Luck) -> VendOutcome {
    match copy {
        Some(copy) => {
            let answer = world.provider.answer_to(copy).filter(|_| luck != Luck::Offline);
            answer.unwrap_or(VendOutcome::Unknown(Doubt::ConnectionLost.into()))
        }
        None => VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)),
    }
}

/// A resolve under way.
#[derive(Clone, Debug)]
pub struct ResolveDesk {
    machine: Resolve,
    command: ResolveCommand,
    /// The commands given so far, by name.
    story: Vec<&'static str>,
    attempt: u16,
    kept: Option<Kept>,
    copy: Option<usize>,
}

/// A send that is on record, though its acknowledgement is still under way.
#[derive(Clone, Copy, Debug)]
struct Kept {
    fence: Fence,
    recorded_at: DateTime<Utc>,
}

impl ResolveDesk {
    pub fn open(asker: Asker, world: &World) -> Self {
        let (machine, command) = Resolve::begin(asker, world.life(), world.now, &world.rules);
        let story = vec![name(&command)];
        Self { machine, command, story, attempt: world.life().attempt, kept: None, copy: None }
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

    /// The commands so far, as a sentence.
    pub fn story(&self) -> String {
        self.story.join(", ")
    }

    pub fn turn(&mut self, world: &mut World, luck: Luck) {
        let kept = self.kept;
        let event = match self.command.clone() {
            ResolveCommand::Claim => Some(self.claim(world, luck)),
            ResolveCommand::TakeTurn(fence) => Some(take_turn(world, fence, luck)),
            ResolveCommand::Enquire => Some(self.enquire(world, luck)),
            ResolveCommand::RecordRepeat(fence) => self.record_send(world, Fact::SentAgain { fence }, luck),
            ResolveCommand::RecordAttempt(fence) => {
                let reference = world.fresh_reference();
                self.record_send(world, Fact::AttemptStarted { fence, reference }, luck)
            }
            ResolveCommand::Send => Some(ResolveEvent::Answered(heard(world, self.copy, luck))),
            ResolveCommand::Record(fact) => {
                Some(record(world, fact, luck).map_or(ResolveEvent::RecordUnacknowledged, |_verdict| {
                    ResolveEvent::Recorded { life: world.life().clone(), at: world.now }
                }))
            }
            ResolveCommand::Answer(_) => None,
        };
        if let Some(event) = event {
            self.command = self.machine.on(event).expect("the protocol asked for this");
            self.story.push(name(&self.command));
            // No other gate than the protocol's own: what it lets through leaves at once.
            if self.command == ResolveCommand::Send && luck != Luck::Offline {
                let in_time =
                    kept.is_some_and(|kept| world.now <= kept.recorded_at + world.rules.timing.gate);
                assert!(in_time, "left without a record, or too late after it");
                self.copy = Some(world.provider.takes_off(self.attempt, world.now));
            }
        }
    }

    fn claim(&mut self, world: &mut World, luck: Luck) -> ResolveEvent {
        match record(world, Fact::Claimed, luck) {
            Some(true) => {
                self.attempt = world.life().attempt;
                ResolveEvent::Claimed { life: world.life().clone(), at: world.now }
            }
            Some(false) | None => ResolveEvent::NotClaimed,
        }
    }

    fn enquire(&self, world: &World, luck: Luck) -> ResolveEvent {
        let enquiry = match luck {
            Luck::Offline => Enquiry::Unanswered(Doubt::TimedOut.into()),
            Luck::Reticent => world.provider.is_asked(self.attempt, Candour::AsDeclared),
            Luck::Well | Luck::CommittedUnheard | Luck::NotCommitted => {
                world.provider.is_asked(self.attempt, Candour::Full)
            }
        };
        ResolveEvent::Enquired { enquiry, asked_at: world.now }
    }

    /// In one turn it is put on record; in a later one, however much later, that is heard.
    fn record_send(&mut self, world: &mut World, fact: Fact, luck: Luck) -> Option<ResolveEvent> {
        if let Some(Kept { fence, recorded_at }) = self.kept.take() {
            let since_record = (world.now - recorded_at).to_std().expect("time does not run backwards");
            return Some(ResolveEvent::SendRecorded { fence, since_record });
        }
        match record(world, fact, luck) {
            Some(true) => {
                self.attempt = world.life().attempt;
                self.kept = Some(Kept { fence: world.life().fence, recorded_at: world.now });
                None
            }
            Some(false) => Some(ResolveEvent::SendRefused),
            None => Some(ResolveEvent::SendUnacknowledged),
        }
    }
}

fn take_turn(world: &mut World, fence: Fence, luck: Luck) -> ResolveEvent {
    let may_ask = luck != Luck::NotCommitted && world.takes_turn(fence);
    if may_ask && luck != Luck::CommittedUnheard { ResolveEvent::MayAsk } else { ResolveEvent::MayNotAsk }
}

/// Whether the fact moved the purchase, where that was heard.
fn record(world: &mut World, fact: Fact, luck: Luck) -> Option<bool> {
    if luck == Luck::NotCommitted {
        return None;
    }
    let moved = matches!(world.record(fact), Ok(Next::Moved(..)));
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
        ResolveCommand::Record(fact) => match fact {
            Fact::Vended { .. } => "record the vend",
            Fact::Refused { .. } => "record the refusal",
            Fact::NeverSent { .. } => "record that nothing left",
            Fact::Lost { .. } => "record the doubt",
            Fact::NoRecord { .. } => "record that there is no record",
            Fact::LetGo { .. } => "let go",
            Fact::WindowClosed { .. } => "close the window",
            Fact::Claimed
            | Fact::SentAgain { .. }
            | Fact::AttemptStarted { .. }
            | Fact::OperatorVended { .. }
            | Fact::OperatorNotVended { .. } => "record what no protocol records so",
        },
        ResolveCommand::Answer(ResolveAnswer::Final) => "answer final",
        ResolveCommand::Answer(ResolveAnswer::Pending) => "answer pending",
        ResolveCommand::Answer(ResolveAnswer::Unreachable) => "answer unreachable",
    }
}
