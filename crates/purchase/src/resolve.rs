//! The resolve protocol as a machine without I/O: how an open purchase is brought to its end.
//!
//! The retry endpoint and the worker drive the same machine. It claims, asks the provider what became
//! of the order, sends the same order again only where that is declared safe, and records whatever is
//! proven. What is not proven stays open.

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, Enquiry, VendOutcome};

use crate::{Fact, Fence, Handling, Life, OutOfTurn, State, StateName};

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// An integrator, through the retry endpoint. May cause a repeat on any account.
    Integrator,
    /// The worker. On self-managed accounts it asks and sends nothing.
    Worker,
}

/// What happened. Instants are the database's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveEvent {
    /// The purchase is claimed; this is how it stands now.
    Claimed {
        /// Under the new fence.
        life: Life,
        /// When.
        at: DateTime<Utc>,
    },
    /// Somebody else holds it, or it has ended meanwhile.
    NotClaimed,
    /// The enquiry is over.
    Enquired {
        /// What it brought.
        enquiry: Enquiry,
        /// When it began.
        asked_at: DateTime<Utc>,
    },
    /// The next send is on record; it may leave.
    SendRecorded,
    /// The next send is not on record, or nobody knows; it must not leave.
    SendNotRecorded,
    /// The one request is over.
    Answered(VendOutcome),
    /// The fact is on record, or had no place there any more; this is how the purchase stands.
    Recorded {
        /// Afterwards.
        life: Life,
        /// When.
        at: DateTime<Utc>,
    },
    /// Nobody knows whether the fact was committed.
    RecordUnacknowledged,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveCommand {
    /// Take the purchase over, under the next fence.
    Claim,
    /// Ask the provider what became of the current attempt.
    Enquire,
    /// Put another copy of the same order on record before it leaves: [`Fact::SentAgain`].
    RecordRepeat(Fence),
    /// Put an attempt under a fresh reference on record before it leaves: [`Fact::AttemptStarted`].
    RecordAttempt(Fence),
    /// Send the order of the current attempt, once.
    Send,
    /// Put this on record; again, if it ran before.
    Record(Fact),
    /// It is over.
    Answer(ResolveAnswer),
}

/// How a resolve ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveAnswer {
    /// Successful or failed: the record says which.
    Final,
    /// Still open.
    Pending,
    /// Still open, and the provider could not be asked.
    Unreachable,
}

#[derive(Clone, Debug)]
enum Phase {
    Claiming,
    Enquiring,
    RecordingSend,
    Sending,
    EnquiringAgain,
    Recording { fact: Fact, otherwise: ResolveAnswer },
    Over,
}

/// One resolve under way.
#[derive(Clone, Debug)]
pub struct Resolve {
    asker: Asker,
    declared: Capabilities,
    phase: Phase,
    held: Option<Held>,
}

/// What the claim brought.
#[derive(Clone, Debug)]
struct Held {
    fence: Fence,
    state: StateName,
    may_send: bool,
    past_window: bool,
}

impl Resolve {
    /// Looks at an open or ended purchase as it was found at `at` and decides whether to claim it.
    pub fn begin(
        asker: Asker,
        found: &Life,
        at: DateTime<Utc>,
        declared: Capabilities,
    ) -> (Self, ResolveCommand) {
        let command = match &found.state {
            State::Successful { .. } | State::Failed => ResolveCommand::Answer(ResolveAnswer::Final),
            State::InFlight(_) | State::InDoubt(_) | State::Review(_) | State::RetryDue
                if found.is_leased(at) =>
            {
                ResolveCommand::Answer(ResolveAnswer::Pending)
            }
            State::RetryDue if asker == Asker::Integrator => ResolveCommand::Answer(ResolveAnswer::Pending),
            State::InFlight(_) | State::InDoubt(_) | State::Review(_) | State::RetryDue => {
                ResolveCommand::Claim
            }
        };
        let phase = if command == ResolveCommand::Claim { Phase::Claiming } else { Phase::Over };
        (Self { asker, declared, phase, held: None }, command)
    }

    /// What follows from `event`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the event answers no command that was given; the machine stays as it was.
    pub fn on(&mut self, event: ResolveEvent) -> Result<ResolveCommand, OutOfTurn> {
        let (phase, command) = match (&self.phase, &self.held, event) {
            (Phase::Claiming, None, ResolveEvent::Claimed { life, at }) => {
                let held = self.held_by_claim(&life, at);
                let next = after_claim(&held);
                self.held = Some(held);
                next
            }
            (Phase::Claiming, None, ResolveEvent::NotClaimed)
            | (Phase::RecordingSend, Some(_), ResolveEvent::SendNotRecorded) => over(ResolveAnswer::Pending),
            (Phase::Enquiring, Some(held), ResolveEvent::Enquired { enquiry, asked_at }) => {
                self.after_enquiry(held, enquiry, asked_at)
            }
            (Phase::RecordingSend, Some(_), ResolveEvent::SendRecorded) => {
                (Phase::Sending, ResolveCommand::Send)
            }
            (
                Phase::Sending,
                Some(_),
                ResolveEvent::Answered(VendOutcome::Unknown(Doubt::RepeatedReference)),
            ) => (Phase::EnquiringAgain, ResolveCommand::Enquire),
            (Phase::Sending, Some(held), ResolveEvent::Answered(outcome)) => {
                record(Fact::reported(outcome, held.fence), ResolveAnswer::Pending)
            }
            (Phase::EnquiringAgain, Some(held), ResolveEvent::Enquired { enquiry, .. }) => {
                record(what_the_repeat_brought(enquiry, held.fence), ResolveAnswer::Pending)
            }
            (Phase::Recording { otherwise, .. }, Some(held), ResolveEvent::Recorded { life, at }) => {
                self.after_record(held, &life, at, *otherwise)
            }
            (Phase::Recording { fact, otherwise }, Some(_), ResolveEvent::RecordUnacknowledged) => {
                record(fact.clone(), *otherwise)
            }
            (
                Phase::Claiming
                | Phase::Enquiring
                | Phase::RecordingSend
                | Phase::Sending
                | Phase::EnquiringAgain
                | Phase::Recording { .. }
                | Phase::Over,
                _,
                ResolveEvent::Claimed { .. }
                | ResolveEvent::NotClaimed
                | ResolveEvent::Enquired { .. }
                | ResolveEvent::SendRecorded
                | ResolveEvent::SendNotRecorded
                | ResolveEvent::Answered(_)
                | ResolveEvent::Recorded { .. }
                | ResolveEvent::RecordUnacknowledged,
            ) => return Err(OutOfTurn),
        };
        self.phase = phase;
        Ok(command)
    }

    fn held_by_claim(&self, life: &Life, at: DateTime<Utc>) -> Held {
        let asker_may_send = match (self.asker, life.handling) {
            (Asker::Integrator, Handling::SelfManaged | Handling::Managed)
            | (Asker::Worker, Handling::Managed) => true,
            (Asker::Worker, Handling::SelfManaged) => false,
        };
        let past_window = life.is_past_window(at);
        Held {
            fence: life.fence,
            state: life.state.name(),
            may_send: asker_may_send && !past_window,
            past_window,
        }
    }

    fn after_enquiry(
        &self,
        held: &Held,
        enquiry: Enquiry,
        asked_at: DateTime<Utc>,
    ) -> (Phase, ResolveCommand) {
        let fence = held.fence;
        match enquiry {
            Enquiry::Vended(vend) => record(Fact::Vended { vend }, ResolveAnswer::Pending),
            Enquiry::Refused(refusal) => record(Fact::Refused { fence, refusal }, ResolveAnswer::Pending),
            Enquiry::NoRecord if self.may_repeat(held) => {
                (Phase::RecordingSend, ResolveCommand::RecordRepeat(fence))
            }
            Enquiry::NoRecord => record(Fact::NoRecord { fence, asked_at }, ResolveAnswer::Pending),
            Enquiry::StillOpen => {
                record(Fact::LetGo { fence, doubt: Doubt::StillOpen }, ResolveAnswer::Pending)
            }
            Enquiry::Unanswered(doubt) => record(Fact::LetGo { fence, doubt }, ResolveAnswer::Unreachable),
        }
    }

    fn may_repeat(&self, held: &Held) -> bool {
        held.may_send && held.state == StateName::InDoubt && self.declared.repeat_is_safe
    }

    /// The worker closes the window on what is still in doubt; an integrator's question never does.
    fn after_record(
        &self,
        held: &Held,
        life: &Life,
        at: DateTime<Utc>,
        otherwise: ResolveAnswer,
    ) -> (Phase, ResolveCommand) {
        let ours_and_in_doubt = life.fence == held.fence && life.state.name() == StateName::InDoubt;
        if self.asker == Asker::Worker && ours_and_in_doubt && life.is_past_window(at) {
            return record(Fact::WindowClosed { fence: held.fence }, otherwise);
        }
        over(if life.state.name().is_open() { otherwise } else { ResolveAnswer::Final })
    }
}

fn after_claim(held: &Held) -> (Phase, ResolveCommand) {
    let fence = held.fence;
    match held.state {
        StateName::RetryDue if held.past_window => {
            record(Fact::WindowClosed { fence }, ResolveAnswer::Pending)
        }
        StateName::RetryDue if held.may_send => (Phase::RecordingSend, ResolveCommand::RecordAttempt(fence)),
        StateName::RetryDue => {
            record(Fact::LetGo { fence, doubt: Doubt::NeverReported }, ResolveAnswer::Pending)
        }
        StateName::InFlight | StateName::InDoubt | StateName::Review => {
            (Phase::Enquiring, ResolveCommand::Enquire)
        }
        StateName::Successful | StateName::Failed => over(ResolveAnswer::Final),
    }
}

/// A rejected repeat means that the order exists. Only what is then known for sure counts.
fn what_the_repeat_brought(enquiry: Enquiry, fence: Fence) -> Fact {
    match enquiry {
        Enquiry::Vended(vend) => Fact::Vended { vend },
        Enquiry::Refused(refusal) => Fact::Refused { fence, refusal },
        Enquiry::NoRecord => Fact::Lost { fence, doubt: Doubt::RepeatedReference },
        Enquiry::StillOpen => Fact::Lost { fence, doubt: Doubt::StillOpen },
        Enquiry::Unanswered(doubt) => Fact::Lost { fence, doubt },
    }
}

fn record(fact: Fact, otherwise: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Recording { fact: fact.clone(), otherwise }, ResolveCommand::Record(fact))
}

fn over(answer: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Over, ResolveCommand::Answer(answer))
}
