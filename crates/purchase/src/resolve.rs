//! The resolve protocol as a machine without I/O: how an open purchase is brought to its end.
//!
//! The retry endpoint and the worker drive the same machine. It claims, asks the provider what became
//! of the order, sends the same order again only where that is declared safe, and records whatever is
//! proven. What is not proven stays open.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Doubt, Enquiry, RefusalReason, VendOutcome};

use crate::{Fact, Fence, Life, OutOfTurn, Rules, State, StateName, Told};

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// An integrator, through the retry endpoint. May cause a repeat on any account.
    Integrator,
    /// The worker. On self-managed accounts it asks and sends nothing, on managed ones it sends what the plan has due.
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
    /// The next send is on record; it may leave if the gate is open.
    SendRecorded {
        /// The fence under which it leaves.
        fence: Fence,
        /// Monotonic time since before it was put on record.
        since_record: Duration,
    },
    /// The next send has no place any more; it must not leave.
    SendRefused,
    /// Nobody knows whether the next send is on record; it must not leave.
    SendUnacknowledged,
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
    Enquiring(Held),
    /// Put on record is a repeat, after an enquiry that began at this instant found nothing; or a new attempt.
    RecordingSend {
        fence: Fence,
        asked_at: Option<DateTime<Utc>>,
    },
    Sending {
        fence: Fence,
        is_repeat: bool,
    },
    EnquiringAgain {
        fence: Fence,
    },
    Recording {
        /// Under which the purchase is held, whatever the fact says.
        fence: Fence,
        fact: Fact,
        otherwise: ResolveAnswer,
    },
    Over,
}

/// One resolve under way.
#[derive(Clone)]
pub struct Resolve {
    asker: Asker,
    rules: Rules,
    phase: Phase,
}

/// What the claim brought.
#[derive(Clone, Copy, Debug)]
struct Held {
    fence: Fence,
    state: StateName,
    may_send: bool,
    past_window: bool,
}

impl Resolve {
    /// Looks at an open or ended purchase as it was found at `at` and decides whether to claim it.
    pub fn begin(asker: Asker, found: &Life, at: DateTime<Utc>, rules: &Rules) -> (Self, ResolveCommand) {
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
        (Self { asker, rules: *rules, phase }, command)
    }

    /// Begins with a claim that was made already, together with others: the purchase became `life` at `at`.
    pub fn claimed(asker: Asker, life: &Life, at: DateTime<Utc>, rules: &Rules) -> (Self, ResolveCommand) {
        let mut resolve = Self { asker, rules: *rules, phase: Phase::Claiming };
        let (phase, command) = resolve.after_claim(life, at);
        resolve.phase = phase;
        (resolve, command)
    }

    /// What follows from `event`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the event answers no command that was given; the machine stays as it was.
    pub fn on(&mut self, event: ResolveEvent) -> Result<ResolveCommand, OutOfTurn> {
        let (phase, command) = match (&self.phase, event) {
            (Phase::Claiming, ResolveEvent::Claimed { life, at }) => self.after_claim(&life, at),
            (Phase::Claiming, ResolveEvent::NotClaimed) => over(ResolveAnswer::Pending),
            (Phase::Enquiring(held), ResolveEvent::Enquired { enquiry, asked_at }) => {
                self.after_enquiry(held, enquiry, asked_at)
            }
            (Phase::RecordingSend { asked_at, .. }, ResolveEvent::SendRecorded { fence, since_record }) => {
                self.at_the_gate(fence, since_record, asked_at.is_some())
            }
            (Phase::RecordingSend { fence, asked_at }, ResolveEvent::SendRefused) => {
                record(*fence, nothing_is_sent(*fence, *asked_at), ResolveAnswer::Pending)
            }
            // If it was kept after all, it stands under the next fence, and nobody else's does.
            (Phase::RecordingSend { fence, .. }, ResolveEvent::SendUnacknowledged) => {
                record(*fence, Fact::NeverSent { fence: fence.next() }, ResolveAnswer::Pending)
            }
            (Phase::Sending { fence, is_repeat }, ResolveEvent::Answered(outcome)) => {
                after_answer(outcome, *is_repeat, *fence)
            }
            (Phase::EnquiringAgain { fence }, ResolveEvent::Enquired { enquiry, .. }) => {
                after_second_enquiry(enquiry, *fence)
            }
            (Phase::Recording { fence, fact, otherwise }, ResolveEvent::Recorded { life, at }) => {
                let has_let_go = matches!(fact, Fact::LetGo { .. });
                self.after_record(*fence, has_let_go, (&life, at), *otherwise)
            }
            (Phase::Recording { fence, fact, otherwise }, ResolveEvent::RecordUnacknowledged) => {
                record(*fence, fact.clone(), *otherwise)
            }
            (
                Phase::Claiming
                | Phase::Enquiring(_)
                | Phase::RecordingSend { .. }
                | Phase::Sending { .. }
                | Phase::EnquiringAgain { .. }
                | Phase::Recording { .. }
                | Phase::Over,
                ResolveEvent::Claimed { .. }
                | ResolveEvent::NotClaimed
                | ResolveEvent::Enquired { .. }
                | ResolveEvent::SendRecorded { .. }
                | ResolveEvent::SendRefused
                | ResolveEvent::SendUnacknowledged
                | ResolveEvent::Answered(_)
                | ResolveEvent::Recorded { .. }
                | ResolveEvent::RecordUnacknowledged,
            ) => return Err(OutOfTurn),
        };
        self.phase = phase;
        Ok(command)
    }

    fn held_by_claim(&self, life: &Life, at: DateTime<Utc>) -> Held {
        let timing = &self.rules.timing;
        let asker_may_send = match self.asker {
            Asker::Integrator => true,
            Asker::Worker => timing.plan.attempt_at(life, timing).is_some_and(|due| due <= at),
        };
        let past_window = life.is_past_window(at);
        Held {
            fence: life.fence,
            state: life.state.name(),
            may_send: asker_may_send && !past_window && life.has_requests_left(),
            past_window,
        }
    }

    fn after_claim(&self, life: &Life, at: DateTime<Utc>) -> (Phase, ResolveCommand) {
        let held = self.held_by_claim(life, at);
        let fence = held.fence;
        let let_go = Fact::LetGo { fence, why: Doubt::NeverReported.into() };
        match held.state {
            // It became due between finding and claiming; new attempts are the worker's to make.
            StateName::RetryDue if self.asker == Asker::Integrator => {
                record(fence, let_go, ResolveAnswer::Pending)
            }
            StateName::RetryDue if held.past_window => {
                record(fence, Fact::WindowClosed { fence }, ResolveAnswer::Pending)
            }
            StateName::RetryDue if held.may_send => {
                (Phase::RecordingSend { fence, asked_at: None }, ResolveCommand::RecordAttempt(fence))
            }
            StateName::RetryDue => record(fence, let_go, ResolveAnswer::Pending),
            StateName::InFlight | StateName::InDoubt | StateName::Review => {
                (Phase::Enquiring(held), ResolveCommand::Enquire)
            }
            StateName::Successful | StateName::Failed => over(ResolveAnswer::Final),
        }
    }

    fn at_the_gate(&self, fence: Fence, since_record: Duration, is_repeat: bool) -> (Phase, ResolveCommand) {
        if since_record <= self.rules.timing.gate {
            (Phase::Sending { fence, is_repeat }, ResolveCommand::Send)
        } else {
            record(fence, Fact::NeverSent { fence }, ResolveAnswer::Pending)
        }
    }

    fn after_enquiry(
        &self,
        held: &Held,
        enquiry: Enquiry,
        asked_at: DateTime<Utc>,
    ) -> (Phase, ResolveCommand) {
        let fence = held.fence;
        let (fact, otherwise) = match enquiry {
            Enquiry::Vended(vend) => (Fact::Vended { vend }, ResolveAnswer::Pending),
            Enquiry::Refused(refusal) => {
                (Fact::Refused { fence, refusal, told: Told::WhenAsked }, ResolveAnswer::Pending)
            }
            Enquiry::NoRecord if self.may_repeat(held) => {
                let phase = Phase::RecordingSend { fence, asked_at: Some(asked_at) };
                return (phase, ResolveCommand::RecordRepeat(fence));
            }
            Enquiry::NoRecord => (Fact::NoRecord { fence, asked_at }, ResolveAnswer::Pending),
            Enquiry::StillOpen => {
                (Fact::LetGo { fence, why: Doubt::StillOpen.into() }, ResolveAnswer::Pending)
            }
            Enquiry::Unanswered(why) => (Fact::LetGo { fence, why }, ResolveAnswer::Unreachable),
        };
        record(fence, fact, otherwise)
    }

    fn may_repeat(&self, held: &Held) -> bool {
        held.may_send && held.state == StateName::InDoubt && self.rules.declared.repeat_is_safe
    }

    /// The worker closes the window on what is still in doubt; an integrator's question never does. Whatever
    /// is still held is given up.
    fn after_record(
        &self,
        fence: Fence,
        has_let_go: bool,
        (life, at): (&Life, DateTime<Utc>),
        otherwise: ResolveAnswer,
    ) -> (Phase, ResolveCommand) {
        let is_ours = life.fence == fence;
        let state = life.state.name();
        if self.asker == Asker::Worker && is_ours && state == StateName::InDoubt && life.is_past_window(at) {
            return record(fence, Fact::WindowClosed { fence }, otherwise);
        }
        let is_still_held = is_ours && life.lease_until.is_some() && state != StateName::InFlight;
        if is_still_held && !has_let_go {
            return record(fence, Fact::LetGo { fence, why: Doubt::NeverReported.into() }, otherwise);
        }
        over(if state.is_open() { otherwise } else { ResolveAnswer::Final })
    }
}

/// The rules are left out: they are settings, and the same for every resolve.
impl fmt::Debug for Resolve {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asker, rules: _, phase } = self;
        out.debug_struct("Resolve").field("asker", asker).field("phase", phase).finish_non_exhaustive()
    }
}

/// What is left to say when a send had no place any more: what the enquiry before it found, or nothing.
fn nothing_is_sent(fence: Fence, asked_at: Option<DateTime<Utc>>) -> Fact {
    match asked_at {
        Some(asked_at) => Fact::NoRecord { fence, asked_at },
        None => Fact::LetGo { fence, why: Doubt::NeverReported.into() },
    }
}

/// A repeat that is rejected, or refused, says little about the copies before it: ask about all of them.
fn after_answer(outcome: VendOutcome, is_repeat: bool, fence: Fence) -> (Phase, ResolveCommand) {
    let says_little = match &outcome {
        VendOutcome::Unknown(unclear) => unclear.doubt == Doubt::RepeatedReference,
        VendOutcome::Refused(refusal) => is_repeat && refusal.reason != RefusalReason::NeverSent,
        VendOutcome::Vended(_) => false,
    };
    if says_little {
        (Phase::EnquiringAgain { fence }, ResolveCommand::Enquire)
    } else {
        record(fence, Fact::reported(outcome, fence), ResolveAnswer::Pending)
    }
}

/// Only what is known for sure after a repeat was rejected or refused counts.
fn after_second_enquiry(enquiry: Enquiry, fence: Fence) -> (Phase, ResolveCommand) {
    let (fact, otherwise) = match enquiry {
        Enquiry::Vended(vend) => (Fact::Vended { vend }, ResolveAnswer::Pending),
        Enquiry::Refused(refusal) => {
            (Fact::Refused { fence, refusal, told: Told::WhenAsked }, ResolveAnswer::Pending)
        }
        Enquiry::NoRecord => {
            (Fact::Lost { fence, why: Doubt::RepeatedReference.into() }, ResolveAnswer::Pending)
        }
        Enquiry::StillOpen => (Fact::Lost { fence, why: Doubt::StillOpen.into() }, ResolveAnswer::Pending),
        Enquiry::Unanswered(why) => (Fact::Lost { fence, why }, ResolveAnswer::Unreachable),
    };
    record(fence, fact, otherwise)
}

fn record(fence: Fence, fact: Fact, otherwise: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Recording { fence, fact: fact.clone(), otherwise }, ResolveCommand::Record(fact))
}

fn over(answer: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Over, ResolveCommand::Answer(answer))
}
