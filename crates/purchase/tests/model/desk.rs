//! Somebody who works through a shipped protocol, one command at a time. The machines decide; a desk only
//! carries what they say to the world, and what comes of it back.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Write};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmEvent, Fact, Fence, Life, Resolve, ResolveAnswer, ResolveCommand,
    ResolveEvent, StateName,
};
use vend::{Refusal, RefusalReason, VendOutcome};

use crate::flaw::Flaw;
use crate::provider::Word;
use crate::values::OPENING;
use crate::world::{Law, TIMING, World, hash_life};

/// How one turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// All is well.
    Well,
    /// What is written is committed, but its acknowledgement is lost.
    CommittedUnheard,
    /// What is written is not committed, and nobody says so; perhaps it is later.
    NotCommitted,
    /// What is written is not committed, and that is known.
    KnownNotCommitted,
    /// The provider is out of reach, or its answer is lost.
    Offline,
    /// The provider, asked, says this.
    Told(Word),
}

/// What is heard of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// Somebody who forgets to compare has only read.
    NothingYet,
    Nothing,
    Moved,
    AsItWas,
}

/// What an integrator may be told that is meant to stay true for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Final {
    NothingReserved,
    Successful,
    Failed,
}

/// What somebody is in the middle of, besides the protocol.
#[derive(Clone, Debug)]
struct Bag {
    began_at: u8,
    /// When the request of a confirm arrived at the machine that serves it.
    arrived_at: u8,
    /// Under which it holds the purchase, for all it knows.
    fence: Option<Fence>,
    /// A reserve or a send that is committed, though its acknowledgement is still under way.
    kept: Option<Fence>,
    /// The copy that has left.
    copy: Option<usize>,
    attempt: u16,
    claimed_at: DateTime<Utc>,
    /// The row as it was read, by those who forget to compare.
    read: Option<Life>,
}

impl Bag {
    fn at(world: &World) -> Self {
        let attempt = world.filed.as_ref().map_or(1, |life| life.attempt);
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
        if let Some(life) = read {
            hash_life(life, hasher);
        }
    }
}

#[derive(Clone, Debug)]
enum Work {
    Confirm(Confirm, ConfirmCommand),
    Resolve(Resolve, ResolveCommand, Asker),
}

/// Somebody at work.
#[derive(Clone, Debug)]
pub struct Desk {
    work: Work,
    bag: Bag,
    /// Of everything above. The machines have no equality, but their `Debug` shows all that they are.
    key: u64,
}

impl PartialEq for Desk {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Hash for Desk {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key.hash(hasher);
    }
}

impl Desk {
    /// A confirm whose request is read now, and arrived at this moment.
    pub fn confirms(world: &World, arrived_at: u8) -> Self {
        let (machine, command) = Confirm::begin(TIMING);
        Self::at(Work::Confirm(machine, command), Bag { arrived_at, ..Bag::at(world) })
    }

    /// The fence under which it holds the purchase, for all it knows.
    pub fn holds(&self) -> Option<Fence> {
        self.bag.fence
    }

    /// Nobody, if there is nothing to do.
    pub fn retries(world: &World, law: &Law) -> Option<Self> {
        let life = world.filed.as_ref()?;
        let (machine, command) = Resolve::begin(Asker::Integrator, life, world.at(), &law.rules);
        Some(Self::at(Work::Resolve(machine, command, Asker::Integrator), Bag::at(world)))
    }

    /// A worker goes on with what a batch has claimed for it in one transaction. Nobody, if that claim has no place.
    pub fn takes_up(world: &mut World, law: &Law) -> Option<Self> {
        if !world.record(Fact::Claimed, law) {
            return None;
        }
        let life = world.filed.as_ref()?;
        let (machine, command) = Resolve::claimed(Asker::Worker, life, world.at(), &law.rules);
        let bag = Bag { claimed_at: world.at(), fence: Some(life.fence), ..Bag::at(world) };
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

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        match &self.work {
            Work::Confirm(_, command) => matches!(command, ConfirmCommand::Answer | ConfirmCommand::Refuse),
            Work::Resolve(_, command, _) => matches!(command, ResolveCommand::Answer(_)),
        }
    }

    /// What its end tells an integrator for ever, as the record stands.
    pub fn tells(&self, world: &World) -> Option<Final> {
        let stands = || match world.state()? {
            StateName::Successful => Some(Final::Successful),
            StateName::Failed => Some(Final::Failed),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => None,
        };
        match &self.work {
            Work::Confirm(_, ConfirmCommand::Refuse) => Some(Final::NothingReserved),
            Work::Confirm(_, ConfirmCommand::Answer)
            | Work::Resolve(_, ResolveCommand::Answer(ResolveAnswer::Final), Asker::Integrator) => stands(),
            Work::Confirm(..) | Work::Resolve(..) => None,
        }
    }

    /// How its next turn may go. Whatever is not as it should be is a slip.
    pub fn fortunes(&self, world: &World, law: &Law) -> (Vec<Luck>, Vec<Luck>) {
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
                let words = world.provider.words(self.bag.attempt, world.now, law.nature);
                (words.into_iter().map(Luck::Told).collect(), vec![Luck::Told(Word::Silence)])
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
            Work::Confirm(_, ConfirmCommand::Refuse | ConfirmCommand::Answer)
            | Work::Resolve(_, ResolveCommand::Answer(_), _) => (Vec::new(), Vec::new()),
        }
    }

    pub fn turn(&mut self, world: &mut World, law: &Law, luck: Luck) {
        let mut work = self.work.clone();
        match &mut work {
            Work::Confirm(machine, command) => {
                if let Some(event) = self.bag.confirm_turn(command, world, law, luck) {
                    *command = machine.on(event).expect("the protocol asked for this");
                }
            }
            Work::Resolve(machine, command, _) => {
                if let Some(event) = self.bag.resolve_turn(command, world, law, luck) {
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
        law: &Law,
        luck: Luck,
    ) -> Option<ConfirmEvent> {
        match command {
            ConfirmCommand::Reserve => self.reserve(world, law, luck),
            ConfirmCommand::Send => self.send(world, law, luck).map(ConfirmEvent::Answered),
            ConfirmCommand::Record(fact) => match self.record(world, fact.clone(), law, luck) {
                Heard::NothingYet => None,
                Heard::Nothing => Some(ConfirmEvent::RecordUnacknowledged),
                Heard::Moved | Heard::AsItWas => Some(ConfirmEvent::Recorded),
            },
            ConfirmCommand::Refuse | ConfirmCommand::Answer => None,
        }
    }

    /// Committed in one turn; heard of in a later one, however much later.
    fn reserve(&mut self, world: &mut World, law: &Law, luck: Luck) -> Option<ConfirmEvent> {
        if let Some(fence) = self.kept.take() {
            self.fence = Some(fence);
            let since_arrival = Duration::from_secs(u64::from(world.now - self.arrived_at));
            let since_reserve = self.since(world, law);
            return Some(ConfirmEvent::Reserved { fence, since_reserve, since_arrival });
        }
        match luck {
            Luck::NotCommitted => return Some(ConfirmEvent::ReserveUnacknowledged),
            Luck::KnownNotCommitted => return Some(ConfirmEvent::ReserveNotKept),
            Luck::Well | Luck::CommittedUnheard | Luck::Offline | Luck::Told(_) => {}
        }
        let Some(fence) = world.reserve(self.arrived_at, law) else {
            return Some(ConfirmEvent::ReserveRefused);
        };
        if luck == Luck::CommittedUnheard {
            return Some(ConfirmEvent::ReserveUnacknowledged);
        }
        self.kept = Some(fence);
        None
    }

    fn resolve_turn(
        &mut self,
        command: &ResolveCommand,
        world: &mut World,
        law: &Law,
        luck: Luck,
    ) -> Option<ResolveEvent> {
        match command {
            ResolveCommand::Claim => self.claim(world, law, luck),
            ResolveCommand::TakeTurn(fence) => {
                let may_ask = luck != Luck::NotCommitted && world.takes_turn(*fence);
                let is_heard = may_ask && luck != Luck::CommittedUnheard;
                Some(if is_heard { ResolveEvent::MayAsk } else { ResolveEvent::MayNotAsk })
            }
            ResolveCommand::Enquire => {
                let told = if let Luck::Told(word) = luck { word } else { Word::Silence };
                let enquiry = world.provider.says(told, self.attempt);
                Some(ResolveEvent::Enquired { enquiry, asked_at: self.claimed_at })
            }
            ResolveCommand::RecordRepeat(fence) => {
                self.record_send(world, Fact::SentAgain { fence: *fence }, law, luck)
            }
            ResolveCommand::RecordAttempt(fence) => {
                let reference = world.fresh_reference();
                self.record_send(world, Fact::AttemptStarted { fence: *fence, reference }, law, luck)
            }
            ResolveCommand::Send => self.send(world, law, luck).map(ResolveEvent::Answered),
            ResolveCommand::Record(fact) => match self.record(world, fact.clone(), law, luck) {
                Heard::NothingYet => None,
                Heard::Nothing => Some(ResolveEvent::RecordUnacknowledged),
                Heard::Moved | Heard::AsItWas => {
                    Some(ResolveEvent::Recorded { life: world.filed.clone()?, at: world.at() })
                }
            },
            ResolveCommand::Answer(_) => None,
        }
    }

    fn claim(&mut self, world: &mut World, law: &Law, luck: Luck) -> Option<ResolveEvent> {
        match self.record(world, Fact::Claimed, law, luck) {
            Heard::NothingYet => None,
            Heard::Nothing | Heard::AsItWas => Some(ResolveEvent::NotClaimed),
            Heard::Moved => {
                let life = world.filed.clone()?;
                self.attempt = life.attempt;
                self.fence = Some(life.fence);
                self.claimed_at = world.at();
                Some(ResolveEvent::Claimed { life, at: self.claimed_at })
            }
        }
    }

    /// Put on record in one turn; heard of in a later one.
    fn record_send(&mut self, world: &mut World, fact: Fact, law: &Law, luck: Luck) -> Option<ResolveEvent> {
        if let Some(fence) = self.kept.take() {
            let since_record = self.since(world, law);
            return Some(ResolveEvent::SendRecorded { fence, since_record });
        }
        self.began_at = world.now;
        if let (Some(Flaw::SendsOffTheRecord), Fact::SentAgain { fence }) = (law.flaw, &fact) {
            self.kept = Some(*fence);
            return None;
        }
        match self.record(world, fact, law, luck) {
            Heard::NothingYet => None,
            Heard::Nothing => Some(ResolveEvent::SendUnacknowledged),
            Heard::AsItWas => Some(ResolveEvent::SendRefused),
            Heard::Moved => {
                let life = world.filed.as_ref()?;
                self.attempt = life.attempt;
                (self.fence, self.kept) = (Some(life.fence), Some(life.fence));
                None
            }
        }
    }

    /// The last look at the gate as the copy leaves; in a later turn, what came of it.
    fn send(&mut self, world: &mut World, law: &Law, luck: Luck) -> Option<VendOutcome> {
        if let Some(copy) = self.copy.take() {
            return Some(world.provider.is_heard(copy, luck == Luck::Well, world.now, law.nature));
        }
        let is_in_time = self.since(world, law) <= TIMING.gate;
        if is_in_time && luck != Luck::Offline {
            self.copy = Some(world.provider.takes_off(self.attempt, world.now, law.nature));
            return None;
        }
        Some(VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)))
    }

    fn since(&self, world: &World, law: &Law) -> Duration {
        if law.flaw == Some(Flaw::SendsBehindTheGate) {
            return Duration::ZERO;
        }
        Duration::from_secs(u64::from(world.now - self.began_at))
    }

    fn record(&mut self, world: &mut World, fact: Fact, law: &Law, luck: Luck) -> Heard {
        let moved = if law.flaw == Some(Flaw::ForgetsToCompare) {
            let Some(read) = self.read.take() else {
                self.read.clone_from(&world.filed);
                return Heard::NothingYet;
            };
            world.write_over(&read, fact, law)
        } else if luck == Luck::NotCommitted {
            world.straggler.get_or_insert(fact);
            return Heard::Nothing;
        } else {
            world.record(fact, law)
        };
        match (luck, moved) {
            (Luck::CommittedUnheard, _) => Heard::Nothing,
            (_, true) => Heard::Moved,
            (_, false) => Heard::AsItWas,
        }
    }
}

/// A number for what has neither equality nor a hash of its own.
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
