//! The resolve protocol as a machine without I/O: how an open purchase is brought to its end.
//!
//! The retry endpoint and the worker drive the same machine. It claims, asks the provider what became
//! of the order, sends the same order again only where that is declared safe, and records whatever is
//! proven. What is not proven stays open.

use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, Enquiry, VendOutcome};

use crate::{Fact, Fence, Handling, Life, OutOfTurn, Rules, State, StateName, Told};

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
    Enquiring,
    /// Put on record is a repeat, after an enquiry that began at this instant found nothing; or a new attempt.
    RecordingSend {
        asked_at: Option<DateTime<Utc>>,
    },
    Sending {
        is_repeat: bool,
    },
    EnquiringAgain,
    Recording {
        fact: Fact,
        otherwise: ResolveAnswer,
    },
    Over,
}

/// One resolve under way.
#[derive(Clone, Debug)]
pub struct Resolve {
    asker: Asker,
    declared: Capabilities,
    gate: Duration,
    phase: Phase,
    held: Option<Held>,
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
        let (declared, gate) = (rules.declared, rules.timing.gate);
        (Self { asker, declared, gate, phase, held: None }, command)
    }

    /// What follows from `event`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the event answers no command that was given; the machine stays as it was.
    pub fn on(&mut self, event: ResolveEvent) -> Result<ResolveCommand, OutOfTurn> {
        let (phase, command) = match (&self.phase, &self.held, event) {
            (Phase::Claiming, None, ResolveEvent::Claimed { life, at }) => {
                let held = self.held_by_claim(&life, at);
                let next = after_claim(&held, self.asker);
                self.held = Some(held);
                next
            }
            (Phase::Claiming, None, ResolveEvent::NotClaimed) => over(ResolveAnswer::Pending),
            (Phase::Enquiring, Some(held), ResolveEvent::Enquired { enquiry, asked_at }) => {
                self.after_enquiry(held, enquiry, asked_at)
            }
            (
                Phase::RecordingSend { asked_at },
                Some(held),
                ResolveEvent::SendRecorded { fence, since_record },
            ) => {
                let is_repeat = asked_at.is_some();
                self.held = Some(Held { fence, ..*held });
                self.at_the_gate(fence, since_record, is_repeat)
            }
            (Phase::RecordingSend { asked_at }, Some(held), ResolveEvent::SendRefused) => {
                record(nothing_is_sent(held.fence, *asked_at), ResolveAnswer::Pending)
            }
            // If it was kept after all, it stands under the next fence, and nobody else's does.
            (Phase::RecordingSend { .. }, Some(held), ResolveEvent::SendUnacknowledged) => {
                record(Fact::NeverSent { fence: held.fence.next() }, ResolveAnswer::Pending)
            }
            (Phase::Sending { is_repeat }, Some(held), ResolveEvent::Answered(outcome)) => {
                after_answer(outcome, *is_repeat, held.fence)
            }
            (Phase::EnquiringAgain, Some(held), ResolveEvent::Enquired { enquiry, .. }) => {
                let otherwise = match enquiry {
                    Enquiry::Unanswered(_) => ResolveAnswer::Unreachable,
                    Enquiry::Vended(_) | Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen => {
                        ResolveAnswer::Pending
                    }
                };
                record(what_the_repeat_brought(enquiry, held.fence), otherwise)
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
                | Phase::RecordingSend { .. }
                | Phase::Sending { .. }
                | Phase::EnquiringAgain
                | Phase::Recording { .. }
                | Phase::Over,
                _,
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
        let asker_may_send = match (self.asker, life.handling) {
            (Asker::Integrator, Handling::SelfManaged | Handling::Managed)
            | (Asker::Worker, Handling::Managed) => true,
            (Asker::Worker, Handling::SelfManaged) => false,
        };
        let past_window = life.is_past_window(at);
        Held {
            fence: life.fence,
            state: life.state.name(),
            may_send: asker_may_send && !past_window && life.has_requests_left(),
            past_window,
        }
    }

    fn at_the_gate(&self, fence: Fence, since_record: Duration, is_repeat: bool) -> (Phase, ResolveCommand) {
        if since_record <= self.gate {
            (Phase::Sending { is_repeat }, ResolveCommand::Send)
        } else {
            record(Fact::NeverSent { fence }, ResolveAnswer::Pending)
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
            Enquiry::Refused(refusal) => {
                record(Fact::Refused { fence, refusal, told: Told::WhenAsked }, ResolveAnswer::Pending)
            }
            Enquiry::NoRecord if self.may_repeat(held) => {
                (Phase::RecordingSend { asked_at: Some(asked_at) }, ResolveCommand::RecordRepeat(fence))
            }
            Enquiry::NoRecord => record(Fact::NoRecord { fence, asked_at }, ResolveAnswer::Pending),
            Enquiry::StillOpen => {
                record(Fact::LetGo { fence, doubt: Doubt::StillOpen }, ResolveAnswer::Pending)
            }
            Enquiry::Unanswered(doubt) => record(Fact::LetGo { fence, doubt }, ResolveAnswer::Unreachable),
        }
    }

    fn has_let_go(&self) -> bool {
        matches!(&self.phase, Phase::Recording { fact: Fact::LetGo { .. }, .. })
    }

    fn may_repeat(&self, held: &Held) -> bool {
        held.may_send && held.state == StateName::InDoubt && self.declared.repeat_is_safe
    }

    /// The worker closes the window on what is still in doubt; an integrator's question never does. Whatever
    /// is still held is given up.
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
        let is_still_held = life.fence == held.fence && life.lease_until.is_some();
        if is_still_held && life.state.name() != StateName::InFlight && !self.has_let_go() {
            return record(Fact::LetGo { fence: held.fence, doubt: Doubt::NeverReported }, otherwise);
        }
        over(if life.state.name().is_open() { otherwise } else { ResolveAnswer::Final })
    }
}

fn after_claim(held: &Held, asker: Asker) -> (Phase, ResolveCommand) {
    let fence = held.fence;
    match held.state {
        // It became due between finding and claiming; new attempts are the worker's to make.
        StateName::RetryDue if asker == Asker::Integrator => {
            record(Fact::LetGo { fence, doubt: Doubt::NeverReported }, ResolveAnswer::Pending)
        }
        StateName::RetryDue if held.past_window => {
            record(Fact::WindowClosed { fence }, ResolveAnswer::Pending)
        }
        StateName::RetryDue if held.may_send => {
            (Phase::RecordingSend { asked_at: None }, ResolveCommand::RecordAttempt(fence))
        }
        StateName::RetryDue => {
            record(Fact::LetGo { fence, doubt: Doubt::NeverReported }, ResolveAnswer::Pending)
        }
        StateName::InFlight | StateName::InDoubt | StateName::Review => {
            (Phase::Enquiring, ResolveCommand::Enquire)
        }
        StateName::Successful | StateName::Failed => over(ResolveAnswer::Final),
    }
}

/// What is left to say when a send had no place any more: what the enquiry before it found, or nothing.
fn nothing_is_sent(fence: Fence, asked_at: Option<DateTime<Utc>>) -> Fact {
    match asked_at {
        Some(asked_at) => Fact::NoRecord { fence, asked_at },
        None => Fact::LetGo { fence, doubt: Doubt::NeverReported },
    }
}

/// A repeat that is rejected, or refused, says little about the copies before it: ask about all of them.
fn after_answer(outcome: VendOutcome, is_repeat: bool, fence: Fence) -> (Phase, ResolveCommand) {
    let fact = Fact::reported(outcome, fence);
    match &fact {
        Fact::Lost { doubt: Doubt::RepeatedReference, .. } => {
            (Phase::EnquiringAgain, ResolveCommand::Enquire)
        }
        Fact::Refused { .. } if is_repeat => (Phase::EnquiringAgain, ResolveCommand::Enquire),
        Fact::Vended { .. }
        | Fact::Refused { .. }
        | Fact::NeverSent { .. }
        | Fact::Lost { .. }
        | Fact::Claimed
        | Fact::NoRecord { .. }
        | Fact::LetGo { .. }
        | Fact::SentAgain { .. }
        | Fact::AttemptStarted { .. }
        | Fact::WindowClosed { .. }
        | Fact::OperatorVended { .. }
        | Fact::OperatorNotVended { .. } => record(fact, ResolveAnswer::Pending),
    }
}

/// What is known for sure after a repeat was rejected or refused.
fn what_the_repeat_brought(enquiry: Enquiry, fence: Fence) -> Fact {
    match enquiry {
        Enquiry::Vended(vend) => Fact::Vended { vend },
        Enquiry::Refused(refusal) => Fact::Refused { fence, refusal, told: Told::WhenAsked },
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
