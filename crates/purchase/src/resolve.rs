//! The resolve protocol as a machine without I/O: how an open purchase is brought to its end.
//!
//! The retry endpoint and the worker drive the same machine. It claims, asks the provider what became
//! of the order, sends the same order again only where that is declared safe and the plan has it due, and
//! records whatever is proven. What is not proven stays open.
//!
//! However many integrators ask, one enquiry at a time is made for them: each takes a turn first. A purchase that another
//! process holds is asked about without a claim: an enquiry is harmless, and a success settles under any fence. Nothing
//! else that such an enquiry brings is recorded.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Doubt, Enquiry, RefusalReason, VendOutcome};

use crate::{Fact, Fence, Handling, Life, OutOfTurn, Rules, State, StateName, Timing, Told};

mod exchange;

pub use exchange::{Asker, ResolveAnswer, ResolveCommand, ResolveEvent};

#[derive(Clone, Debug)]
enum Phase {
    Claiming,
    /// An integrator's question waits for its turn, and then claims the purchase unless another process holds it.
    TakingTurn {
        is_held: bool,
    },
    /// Asks without a claim.
    AskingOnly,
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
        /// Under which the purchase is held, whatever the fact says; none if another process holds it.
        fence: Option<Fence>,
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
    /// Looks at a purchase as it was found at `at`, and decides whether to claim it, to ask about it, or to answer at once.
    pub fn begin(asker: Asker, found: &Life, at: DateTime<Utc>, rules: &Rules) -> (Self, ResolveCommand) {
        let (phase, command) = opening(asker, found, at, &rules.timing);
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
            (Phase::Claiming, ResolveEvent::NotClaimed)
            | (Phase::TakingTurn { .. }, ResolveEvent::MayNotAsk) => over(ResolveAnswer::Pending),
            (Phase::TakingTurn { is_held }, ResolveEvent::MayAsk) => after_turn(*is_held),
            (Phase::AskingOnly, ResolveEvent::Enquired { enquiry, .. }) => match enquiry {
                Enquiry::Vended(vend) => record(None, Fact::Vended { vend }, ResolveAnswer::Pending),
                Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen | Enquiry::Unanswered(_) => {
                    over(ResolveAnswer::Pending)
                }
            },
            (Phase::Enquiring(held), ResolveEvent::Enquired { enquiry, asked_at }) => {
                after_enquiry(held, enquiry, asked_at)
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
                | Phase::TakingTurn { .. }
                | Phase::AskingOnly
                | Phase::Enquiring(_)
                | Phase::RecordingSend { .. }
                | Phase::Sending { .. }
                | Phase::EnquiringAgain { .. }
                | Phase::Recording { .. }
                | Phase::Over,
                ResolveEvent::Claimed { .. }
                | ResolveEvent::NotClaimed
                | ResolveEvent::MayAsk
                | ResolveEvent::MayNotAsk
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
            (Asker::Worker, Handling::SelfManaged) => false,
            (Asker::Integrator, _) | (Asker::Worker, Handling::Managed) => true,
        };
        Held {
            fence: life.fence,
            state: life.state.name(),
            may_send: asker_may_send && self.rules.timing.plan.is_send_due(life, at, &self.rules),
            past_window: life.is_past_window(at),
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

    /// The worker closes the window on what is still in doubt; an integrator's question never does. Whatever
    /// is still held is given up.
    fn after_record(
        &self,
        fence: Option<Fence>,
        has_let_go: bool,
        (life, at): (&Life, DateTime<Utc>),
        otherwise: ResolveAnswer,
    ) -> (Phase, ResolveCommand) {
        let state = life.state.name();
        if let Some(fence) = fence.filter(|fence| *fence == life.fence) {
            if self.asker == Asker::Worker && state == StateName::InDoubt && life.is_past_window(at) {
                return record(fence, Fact::WindowClosed { fence }, otherwise);
            }
            let is_still_held = life.lease_until.is_some() && state != StateName::InFlight;
            if is_still_held && !has_let_go {
                return record(fence, Fact::LetGo { fence, why: Doubt::NeverReported.into() }, otherwise);
            }
        }
        over(if state.is_open() { otherwise } else { ResolveAnswer::Final })
    }
}

fn opening(asker: Asker, found: &Life, at: DateTime<Utc>, timing: &Timing) -> (Phase, ResolveCommand) {
    match &found.state {
        State::Successful { .. } | State::Failed => over(ResolveAnswer::Final),
        // Nothing of it is out, and further attempts are the worker's to make.
        State::RetryDue if asker == Asker::Integrator => over(ResolveAnswer::Pending),
        State::InFlight(_) | State::InDoubt(_) | State::Review(_) | State::RetryDue => match asker {
            Asker::Integrator if found.may_be_asked_about(at, timing) => {
                let is_held = found.is_leased(at);
                (Phase::TakingTurn { is_held }, ResolveCommand::TakeTurn(found.fence))
            }
            Asker::Worker if !found.is_leased(at) => (Phase::Claiming, ResolveCommand::Claim),
            Asker::Integrator | Asker::Worker => over(ResolveAnswer::Pending),
        },
    }
}

fn after_turn(is_held: bool) -> (Phase, ResolveCommand) {
    if is_held {
        (Phase::AskingOnly, ResolveCommand::Enquire)
    } else {
        (Phase::Claiming, ResolveCommand::Claim)
    }
}

/// The rules are left out: they are settings, and the same for every resolve.
impl fmt::Debug for Resolve {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asker, rules: _, phase } = self;
        out.debug_struct("Resolve").field("asker", asker).field("phase", phase).finish_non_exhaustive()
    }
}

fn after_enquiry(held: &Held, enquiry: Enquiry, asked_at: DateTime<Utc>) -> (Phase, ResolveCommand) {
    let fence = held.fence;
    let (fact, otherwise) = match enquiry {
        Enquiry::Vended(vend) => (Fact::Vended { vend }, ResolveAnswer::Pending),
        Enquiry::Refused(refusal) => {
            (Fact::Refused { fence, refusal, told: Told::WhenAsked }, ResolveAnswer::Pending)
        }
        Enquiry::NoRecord if held.may_send && held.state == StateName::InDoubt => {
            let phase = Phase::RecordingSend { fence, asked_at: Some(asked_at) };
            return (phase, ResolveCommand::RecordRepeat(fence));
        }
        Enquiry::NoRecord => (Fact::NoRecord { fence, asked_at }, ResolveAnswer::Pending),
        Enquiry::StillOpen => (Fact::LetGo { fence, why: Doubt::StillOpen.into() }, ResolveAnswer::Pending),
        Enquiry::Unanswered(why) => (Fact::LetGo { fence, why }, ResolveAnswer::Unreachable),
    };
    record(fence, fact, otherwise)
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

fn record(fence: impl Into<Option<Fence>>, fact: Fact, otherwise: ResolveAnswer) -> (Phase, ResolveCommand) {
    let fence = fence.into();
    (Phase::Recording { fence, fact: fact.clone(), otherwise }, ResolveCommand::Record(fact))
}

fn over(answer: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Over, ResolveCommand::Answer(answer))
}
