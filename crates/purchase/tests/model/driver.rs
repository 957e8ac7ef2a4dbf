//! A driver runs a shipped protocol, one command at a time. The machines decide. A driver only carries their commands
//! to the world, and the results back.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Write};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Event, Fence, Lifecycle, Resolve, ResolveAnswer,
    ResolveCommand, ResolveInput, StateName,
};
use vend::{Refusal, RefusalReason, VendOutcome};

use crate::flaw::Flaw;
use crate::provider::Word;
use crate::values::OPENING;
use crate::world::{Setup, TIMING, World, hash_lifecycle};

/// How one turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// No fault.
    Well,
    /// The write is committed, but its acknowledgement is lost.
    CommittedUnheard,
    /// The write is not committed, and no answer says so. It may be committed later.
    NotCommitted,
    /// The write is not committed, and that is known.
    KnownNotCommitted,
    /// The provider cannot be reached, or its answer is lost.
    Offline,
    /// The provider answers this to an enquiry.
    Answers(Word),
}

/// The result of a write that a driver receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// A driver that forgets to compare has only read.
    NothingYet,
    Nothing,
    Moved,
    AsItWas,
}

/// The answers to an integrator that must stay true for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Final {
    NothingReserved,
    Successful,
    Failed,
}

/// The data that a driver keeps besides the protocol.
#[derive(Clone, Debug)]
struct Bag {
    began_at: u8,
    /// When the request of a confirm arrived at the machine that serves it.
    arrived_at: u8,
    /// The fence under which it holds the purchase, as far as it knows.
    fence: Option<Fence>,
    /// A reserve or a send that is committed, but not acknowledged yet.
    kept: Option<Fence>,
    /// The copy that was sent.
    copy: Option<usize>,
    attempt: u16,
    claimed_at: DateTime<Utc>,
    /// The row as it was read by a driver that forgets to compare.
    read: Option<Lifecycle>,
}

impl Bag {
    fn at(world: &World) -> Self {
        let attempt = world.stored.as_ref().map_or(1, |lifecycle| lifecycle.attempt);
        let (began_at, arrived_at) = (world.now, world.now);
        Self {
            began_at,
            arrived_at,
            fence: None,
            kept: None,
            copy: None,
            attempt,
            claimed_at: OPENING,
            read: None,
        }
    }
}

impl Hash for Bag {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { began_at, arrived_at, fence, kept, copy, attempt, claimed_at, read } = self;
        (began_at, arrived_at, fence, kept, copy, attempt, claimed_at.timestamp()).hash(hasher);
        if let Some(lifecycle) = read {
            hash_lifecycle(lifecycle, hasher);
        }
    }
}

#[derive(Clone, Debug)]
enum Work {
    Confirm(Confirm, ConfirmCommand),
    Resolve(Resolve, ResolveCommand, Asker),
}

/// A protocol in progress.
#[derive(Clone, Debug)]
pub struct Driver {
    work: Work,
    bag: Bag,
    /// A hash of all fields above. The machines have no equality, but their `Debug` shows their whole state.
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
    pub fn confirms(world: &World, arrived_at: u8) -> Self {
        let (machine, command) = Confirm::begin(TIMING);
        Self::at(Work::Confirm(machine, command), Bag { arrived_at, ..Bag::at(world) })
    }

    /// The fence under which it holds the purchase, as far as it knows.
    pub fn holds(&self) -> Option<Fence> {
        self.bag.fence
    }

    /// A retry. `None` if there is nothing to do.
    pub fn retries(world: &World, setup: &Setup) -> Option<Self> {
        let lifecycle = world.stored.as_ref()?;
        let (machine, command) = Resolve::begin(Asker::Integrator, lifecycle, world.at(), &setup.rules);
        Some(Self::at(Work::Resolve(machine, command, Asker::Integrator), Bag::at(world)))
    }

    /// A worker continues with a purchase that a batch has claimed for it in one transaction. `None` if that claim is
    /// illegal.
    pub fn takes_up(world: &mut World, setup: &Setup) -> Option<Self> {
        if !world.record(Event::Claimed, setup) {
            return None;
        }
        let lifecycle = world.stored.as_ref()?;
        let (machine, command) = Resolve::claimed(Asker::Worker, lifecycle, world.at(), &setup.rules);
        let bag = Bag { claimed_at: world.at(), fence: Some(lifecycle.fence), ..Bag::at(world) };
        Some(Self::at(Work::Resolve(machine, command, Asker::Worker), bag))
    }

    fn at(work: Work, bag: Bag) -> Self {
        let mut hasher = DefaultHasher::new();
        match &work {
            Work::Confirm(machine, command) => (key_of(machine), discriminant(command)).hash(&mut hasher),
            Work::Resolve(machine, command, asker) => {
                (key_of(machine), discriminant(command), discriminant(asker)).hash(&mut hasher);
            }
        }
        bag.hash(&mut hasher);
        Self { work, bag, key: hasher.finish() }
    }

    pub fn key(&self) -> u64 {
        self.key
    }

    /// The copy whose answer it waits for.
    pub fn awaits(&self) -> Option<usize> {
        self.bag.copy
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        match &self.work {
            Work::Confirm(_, command) => {
                matches!(command, ConfirmCommand::Answer | ConfirmCommand::Refuse(()))
            }
            Work::Resolve(_, command, _) => matches!(command, ResolveCommand::Answer(_)),
        }
    }

    /// The final answer that its end gives to an integrator, by the current record.
    pub fn tells(&self, world: &World) -> Option<Final> {
        let stands = || match world.state()? {
            StateName::Successful => Some(Final::Successful),
            StateName::Failed => Some(Final::Failed),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => None,
        };
        match &self.work {
            Work::Confirm(_, ConfirmCommand::Refuse(())) => Some(Final::NothingReserved),
            Work::Confirm(_, ConfirmCommand::Answer)
            | Work::Resolve(_, ResolveCommand::Answer(ResolveAnswer::Final), Asker::Integrator) => stands(),
            Work::Confirm(..) | Work::Resolve(..) => None,
        }
    }

    /// How its next turn may go. Everything that is not normal is a slip.
    pub fn fortunes(&self, world: &World, setup: &Setup) -> (Vec<Luck>, Vec<Luck>) {
        if self.bag.kept.is_some() || self.bag.read.is_some() {
            return (vec![Luck::Well], Vec::new());
        }
        match &self.work {
            Work::Confirm(_, ConfirmCommand::Reserve) => {
                let slips = [Luck::CommittedUnheard, Luck::NotCommitted, Luck::KnownNotCommitted];
                (vec![Luck::Well], slips.to_vec())
            }
            Work::Confirm(_, ConfirmCommand::Send) | Work::Resolve(_, ResolveCommand::Send, _) => {
                match self.bag.copy {
                    None => (vec![Luck::Well], vec![Luck::Offline]),
                    Some(copy) if world.provider.has_answered(copy) => {
                        (vec![Luck::Well, Luck::Offline], Vec::new())
                    }
                    Some(_) => (vec![Luck::Offline], Vec::new()),
                }
            }
            Work::Resolve(_, ResolveCommand::Enquire, _) => {
                let words = world.provider.words(self.bag.attempt, world.now, setup.nature);
                (words.into_iter().map(Luck::Answers).collect(), vec![Luck::Answers(Word::Silence)])
            }
            Work::Confirm(_, ConfirmCommand::Record(_))
            | Work::Resolve(
                _,
                ResolveCommand::Claim
                | ResolveCommand::TakeTurn(_)
                | ResolveCommand::Record(_)
                | ResolveCommand::RecordRepeat(_)
                | ResolveCommand::RecordAttempt(_),
                _,
            ) => (vec![Luck::Well], vec![Luck::CommittedUnheard, Luck::NotCommitted]),
            Work::Confirm(_, ConfirmCommand::Refuse(()) | ConfirmCommand::Answer)
            | Work::Resolve(_, ResolveCommand::Answer(_), _) => (Vec::new(), Vec::new()),
        }
    }

    pub fn turn(&mut self, world: &mut World, setup: &Setup, luck: Luck) {
        let mut work = self.work.clone();
        match &mut work {
            Work::Confirm(machine, command) => {
                if let Some(event) = self.bag.confirm_turn(command, world, setup, luck) {
                    *command = machine.on(event).expect("the protocol asked for this");
                }
            }
            Work::Resolve(machine, command, _) => {
                if let Some(event) = self.bag.resolve_turn(command, world, setup, luck) {
                    *command = machine.on(event).expect("the protocol asked for this");
                }
            }
        }
        *self = Self::at(work, self.bag.clone());
    }
}

impl Bag {
    fn confirm_turn(
        &mut self,
        command: &ConfirmCommand,
        world: &mut World,
        setup: &Setup,
        luck: Luck,
    ) -> Option<ConfirmInput> {
        match command {
            ConfirmCommand::Reserve => self.reserve(world, setup, luck),
            ConfirmCommand::Send => self.send(world, setup, luck).map(ConfirmInput::Answered),
            ConfirmCommand::Record(event) => match self.record(world, event.clone(), setup, luck) {
                Heard::NothingYet => None,
                Heard::Nothing => Some(ConfirmInput::RecordUnacknowledged),
                Heard::Moved | Heard::AsItWas => Some(ConfirmInput::Recorded),
            },
            ConfirmCommand::Refuse(()) | ConfirmCommand::Answer => None,
        }
    }

    /// One turn commits the reserve. The acknowledgement arrives in a later turn, after any delay.
    fn reserve(&mut self, world: &mut World, setup: &Setup, luck: Luck) -> Option<ConfirmInput> {
        if let Some(fence) = self.kept.take() {
            self.fence = Some(fence);
            let since_arrival = Duration::from_secs(u64::from(world.now - self.arrived_at));
            let since_reserve = self.since(world, setup);
            return Some(ConfirmInput::Reserved { fence, since_reserve, since_arrival });
        }
        match luck {
            Luck::NotCommitted => return Some(ConfirmInput::ReserveUnacknowledged),
            Luck::KnownNotCommitted => return Some(ConfirmInput::ReserveNotKept(())),
            Luck::Well | Luck::CommittedUnheard | Luck::Offline | Luck::Answers(_) => {}
        }
        let Some(fence) = world.reserve(self.arrived_at, setup) else {
            return Some(ConfirmInput::ReserveRefused(()));
        };
        if luck == Luck::CommittedUnheard {
            return Some(ConfirmInput::ReserveUnacknowledged);
        }
        self.kept = Some(fence);
        None
    }

    fn resolve_turn(
        &mut self,
        command: &ResolveCommand,
        world: &mut World,
        setup: &Setup,
        luck: Luck,
    ) -> Option<ResolveInput> {
        match command {
            ResolveCommand::Claim => self.claim(world, setup, luck),
            ResolveCommand::TakeTurn(fence) => {
                let may_ask = luck != Luck::NotCommitted && world.takes_turn(*fence);
                let is_heard = may_ask && luck != Luck::CommittedUnheard;
                Some(if is_heard { ResolveInput::MayAsk } else { ResolveInput::MayNotAsk })
            }
            ResolveCommand::Enquire => {
                let told = if let Luck::Answers(word) = luck { word } else { Word::Silence };
                let enquiry = world.provider.says(told, self.attempt);
                Some(ResolveInput::Enquired { enquiry, asked_at: self.claimed_at })
            }
            ResolveCommand::RecordRepeat(fence) => {
                self.record_send(world, Event::SentAgain { fence: *fence }, setup, luck)
            }
            ResolveCommand::RecordAttempt(fence) => {
                let reference = world.fresh_reference();
                self.record_send(world, Event::AttemptStarted { fence: *fence, reference }, setup, luck)
            }
            ResolveCommand::Send => self.send(world, setup, luck).map(ResolveInput::Answered),
            ResolveCommand::Record(event) => match self.record(world, event.clone(), setup, luck) {
                Heard::NothingYet => None,
                Heard::Nothing => Some(ResolveInput::RecordUnacknowledged),
                Heard::Moved | Heard::AsItWas => {
                    Some(ResolveInput::Recorded { lifecycle: world.stored.clone()?, at: world.at() })
                }
            },
            ResolveCommand::Answer(_) => None,
        }
    }

    fn claim(&mut self, world: &mut World, setup: &Setup, luck: Luck) -> Option<ResolveInput> {
        match self.record(world, Event::Claimed, setup, luck) {
            Heard::NothingYet => None,
            Heard::Nothing | Heard::AsItWas => Some(ResolveInput::NotClaimed),
            Heard::Moved => {
                let lifecycle = world.stored.clone()?;
                self.attempt = lifecycle.attempt;
                self.fence = Some(lifecycle.fence);
                self.claimed_at = world.at();
                Some(ResolveInput::Claimed { lifecycle, at: self.claimed_at })
            }
        }
    }

    /// One turn records the send. The acknowledgement arrives in a later turn.
    fn record_send(
        &mut self,
        world: &mut World,
        event: Event,
        setup: &Setup,
        luck: Luck,
    ) -> Option<ResolveInput> {
        if let Some(fence) = self.kept.take() {
            let since_record = self.since(world, setup);
            return Some(ResolveInput::SendRecorded { fence, since_record });
        }
        self.began_at = world.now;
        if let (Some(Flaw::SendsOffTheRecord), Event::SentAgain { fence }) = (setup.flaw, &event) {
            self.kept = Some(*fence);
            return None;
        }
        match self.record(world, event, setup, luck) {
            Heard::NothingYet => None,
            Heard::Nothing => Some(ResolveInput::SendUnacknowledged),
            Heard::AsItWas => Some(ResolveInput::SendRefused),
            Heard::Moved => {
                let lifecycle = world.stored.as_ref()?;
                self.attempt = lifecycle.attempt;
                (self.fence, self.kept) = (Some(lifecycle.fence), Some(lifecycle.fence));
                None
            }
        }
    }

    /// The last check of the gate when the copy is sent. In a later turn: the outcome.
    fn send(&mut self, world: &mut World, setup: &Setup, luck: Luck) -> Option<VendOutcome> {
        if let Some(copy) = self.copy.take() {
            return Some(world.provider.is_heard(copy, luck == Luck::Well, world.now, setup.nature));
        }
        let is_in_time = self.since(world, setup) <= TIMING.gate;
        if is_in_time && luck != Luck::Offline {
            self.copy = Some(world.provider.takes_off(self.attempt, world.now, setup.nature));
            return None;
        }
        Some(VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)))
    }

    fn since(&self, world: &World, setup: &Setup) -> Duration {
        if setup.flaw == Some(Flaw::SendsBehindTheGate) {
            return Duration::ZERO;
        }
        Duration::from_secs(u64::from(world.now - self.began_at))
    }

    fn record(&mut self, world: &mut World, event: Event, setup: &Setup, luck: Luck) -> Heard {
        let moved = if setup.flaw == Some(Flaw::ForgetsToCompare) {
            let Some(read) = self.read.take() else {
                self.read.clone_from(&world.stored);
                return Heard::NothingYet;
            };
            world.write_over(&read, event, setup)
        } else if luck == Luck::NotCommitted {
            world.straggler.get_or_insert(event);
            return Heard::Nothing;
        } else {
            world.record(event, setup)
        };
        match (luck, moved) {
            (Luck::CommittedUnheard, _) => Heard::Nothing,
            (_, true) => Heard::Moved,
            (_, false) => Heard::AsItWas,
        }
    }
}

/// A hash for values that have neither equality nor a hash of their own.
pub fn key_of(shown: &impl Debug) -> u64 {
    thread_local!(static TEXT: RefCell<String> = const { RefCell::new(String::new()) });
    TEXT.with_borrow_mut(|text| {
        text.clear();
        write!(text, "{shown:?}").expect("a string takes everything");
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        hasher.finish()
    })
}
