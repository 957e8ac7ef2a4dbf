//! The resolve protocol as a state machine without I/O: it brings an open purchase to its end.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Doubt, Enquiry, RefusalReason, VendOutcome};

use crate::{Event, Fence, Handling, Lifecycle, OutOfTurn, RefusalSource, Rules, State, StateName, Timing};

mod exchange;

pub use exchange::{Asker, ResolveAnswer, ResolveCommand, ResolveInput};

#[derive(Clone, Debug)]
enum Phase {
    Claiming,
    /// An integrator's question waits for its turn. Then it claims the purchase, unless another process holds it.
    TakingTurn {
        is_held: bool,
    },
    /// Makes an enquiry without a claim.
    AskingOnly,
    Enquiring(Held),
    /// A send is being recorded. It is a repeat if `asked_at` is set: the enquiry after the claim at that
    /// time found no record. Otherwise it is a new attempt.
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
        /// The fence under which the purchase is held, whatever the event says. `None` if another process holds it.
        fence: Option<Fence>,
        event: Event,
        otherwise: ResolveAnswer,
    },
    Over,
}

impl Phase {
    const fn name(&self) -> &'static str {
        match self {
            Self::Claiming => "claiming",
            Self::TakingTurn { .. } => "taking a turn",
            Self::AskingOnly | Self::Enquiring(_) => "enquiring",
            Self::RecordingSend { .. } => "recording a send",
            Self::Sending { .. } => "sending",
            Self::EnquiringAgain { .. } => "enquiring again",
            Self::Recording { .. } => "recording",
            Self::Over => "over",
        }
    }
}

/// One resolve in progress.
///
/// A retry and the worker drive the same machine. It claims the purchase and asks the provider what became
/// of the order. It sends the same order again only where that is declared safe and the plan has it due. It records
/// what is proven. What is not proven stays open.
///
/// However many integrators ask, one enquiry in each `enquiry_gap` is made for them: each takes a turn first. If another process
/// holds the purchase, the enquiry is made without a claim. That is safe, because an enquiry is harmless and a
/// success settles under any fence. Nothing else from such an enquiry is recorded.
#[derive(Clone)]
pub struct Resolve {
    asker: Asker,
    rules: Rules,
    phase: Phase,
}

/// The purchase as it was claimed.
#[derive(Clone, Copy, Debug)]
struct Held {
    fence: Fence,
    state: StateName,
    may_send: bool,
    past_window: bool,
}

impl Resolve {
    /// Looks at a purchase as found at `at`. Decides whether to claim it, to ask about it or to answer at once.
    pub fn begin(
        asker: Asker,
        found: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let (phase, command) = opening(asker, found, at, &rules.timing);
        (Self { asker, rules: *rules, phase }, command)
    }

    /// Begins with a claim that was already made, together with others: the purchase became `lifecycle` at `at`.
    pub fn claimed(
        asker: Asker,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> (Self, ResolveCommand) {
        let mut resolve = Self { asker, rules: *rules, phase: Phase::Claiming };
        let (phase, command) = resolve.after_claim(lifecycle, at);
        resolve.phase = phase;
        (resolve, command)
    }

    /// The command that follows from `input`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when `input` does not answer the last command. The machine is unchanged.
    pub fn on(&mut self, input: ResolveInput) -> Result<ResolveCommand, OutOfTurn> {
        let (phase, command) = match (&self.phase, input) {
            (Phase::Claiming, ResolveInput::Claimed { lifecycle, at }) => self.after_claim(&lifecycle, at),
            (Phase::Claiming, ResolveInput::NotClaimed)
            | (Phase::TakingTurn { .. }, ResolveInput::MayNotAsk) => over(ResolveAnswer::Pending),
            (Phase::TakingTurn { is_held }, ResolveInput::MayAsk) => after_turn(*is_held),
            (Phase::AskingOnly, ResolveInput::Enquired { enquiry, .. }) => match enquiry {
                Enquiry::Vended(vend) => record(None, Event::Vended { vend }, ResolveAnswer::Pending),
                Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen | Enquiry::Unanswered(_) => {
                    over(ResolveAnswer::Pending)
                }
            },
            (Phase::Enquiring(held), ResolveInput::Enquired { enquiry, asked_at }) => {
                after_enquiry(held, enquiry, asked_at)
            }
            (Phase::RecordingSend { asked_at, .. }, ResolveInput::SendRecorded { fence, since_record }) => {
                self.at_the_gate(fence, since_record, asked_at.is_some())
            }
            (Phase::RecordingSend { fence, asked_at }, ResolveInput::SendRefused) => {
                record(*fence, nothing_is_sent(*fence, *asked_at), ResolveAnswer::Pending)
            }
            // If the send was committed after all, it has the next fence, and no other process's send has it.
            (Phase::RecordingSend { fence, .. }, ResolveInput::SendUnacknowledged) => {
                record(*fence, Event::NeverSent { fence: fence.next() }, ResolveAnswer::Pending)
            }
            (Phase::Sending { fence, is_repeat }, ResolveInput::Answered(outcome)) => {
                after_answer(outcome, *is_repeat, *fence)
            }
            (Phase::EnquiringAgain { fence }, ResolveInput::Enquired { enquiry, .. }) => {
                after_second_enquiry(enquiry, *fence)
            }
            (Phase::Recording { fence, event, otherwise }, ResolveInput::Recorded { lifecycle, at }) => {
                let has_released_lease = matches!(event, Event::LeaseReleased { .. });
                self.after_record(*fence, has_released_lease, (&lifecycle, at), *otherwise)
            }
            (Phase::Recording { fence, event, otherwise }, ResolveInput::RecordUnacknowledged) => {
                record(*fence, event.clone(), *otherwise)
            }
            (
                phase @ (Phase::Claiming
                | Phase::TakingTurn { .. }
                | Phase::AskingOnly
                | Phase::Enquiring(_)
                | Phase::RecordingSend { .. }
                | Phase::Sending { .. }
                | Phase::EnquiringAgain { .. }
                | Phase::Recording { .. }
                | Phase::Over),
                input @ (ResolveInput::Claimed { .. }
                | ResolveInput::NotClaimed
                | ResolveInput::MayAsk
                | ResolveInput::MayNotAsk
                | ResolveInput::Enquired { .. }
                | ResolveInput::SendRecorded { .. }
                | ResolveInput::SendRefused
                | ResolveInput::SendUnacknowledged
                | ResolveInput::Answered(_)
                | ResolveInput::Recorded { .. }
                | ResolveInput::RecordUnacknowledged),
            ) => return Err(OutOfTurn { phase: phase.name(), input: input.name() }),
        };
        self.phase = phase;
        Ok(command)
    }

    fn held_by_claim(&self, lifecycle: &Lifecycle, at: DateTime<Utc>) -> Held {
        let asker_may_send = match (self.asker, lifecycle.handling) {
            (Asker::Worker, Handling::SelfManaged) => false,
            (Asker::Integrator, _) | (Asker::Worker, Handling::Managed) => true,
        };
        Held {
            fence: lifecycle.fence,
            state: lifecycle.state.name(),
            may_send: asker_may_send && self.rules.timing.plan.is_send_due(lifecycle, at, &self.rules),
            past_window: lifecycle.is_past_window(at),
        }
    }

    fn after_claim(&self, lifecycle: &Lifecycle, at: DateTime<Utc>) -> (Phase, ResolveCommand) {
        let held = self.held_by_claim(lifecycle, at);
        let fence = held.fence;
        let released = Event::LeaseReleased { fence, why: Doubt::NeverReported.into() };
        match held.state {
            // It became due between finding and claiming. Only the worker makes new attempts.
            StateName::RetryDue if self.asker == Asker::Integrator => {
                record(fence, released, ResolveAnswer::Pending)
            }
            StateName::RetryDue if held.past_window => {
                record(fence, Event::WindowClosed { fence }, ResolveAnswer::Pending)
            }
            StateName::RetryDue if held.may_send => {
                (Phase::RecordingSend { fence, asked_at: None }, ResolveCommand::RecordAttempt(fence))
            }
            StateName::RetryDue => record(fence, released, ResolveAnswer::Pending),
            StateName::InFlight | StateName::InDoubt | StateName::Review => {
                (Phase::Enquiring(held), ResolveCommand::Enquire)
            }
            StateName::Successful | StateName::Failed => over(ResolveAnswer::Final),
        }
    }

    fn at_the_gate(&self, fence: Fence, since_record: Duration, is_repeat: bool) -> (Phase, ResolveCommand) {
        let leave_within = self.rules.timing.gate;
        if since_record <= leave_within {
            (Phase::Sending { fence, is_repeat }, ResolveCommand::Send { leave_within })
        } else {
            record(fence, Event::NeverSent { fence }, ResolveAnswer::Pending)
        }
    }

    /// The worker closes the window of a purchase that is still in doubt. An integrator's question never does. A
    /// lease that is still held is released.
    fn after_record(
        &self,
        fence: Option<Fence>,
        has_released_lease: bool,
        (lifecycle, at): (&Lifecycle, DateTime<Utc>),
        otherwise: ResolveAnswer,
    ) -> (Phase, ResolveCommand) {
        let state = lifecycle.state.name();
        if let Some(fence) = fence.filter(|fence| *fence == lifecycle.fence) {
            if self.asker == Asker::Worker && state == StateName::InDoubt && lifecycle.is_past_window(at) {
                return record(fence, Event::WindowClosed { fence }, otherwise);
            }
            let is_still_held = lifecycle.lease_until.is_some() && state != StateName::InFlight;
            if is_still_held && !has_released_lease {
                return record(
                    fence,
                    Event::LeaseReleased { fence, why: Doubt::NeverReported.into() },
                    otherwise,
                );
            }
        }
        over(if state.is_open() { otherwise } else { ResolveAnswer::Final })
    }
}

fn opening(asker: Asker, found: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> (Phase, ResolveCommand) {
    match &found.state {
        State::Successful { .. } | State::Failed => over(ResolveAnswer::Final),
        // No order is in progress, and only the worker makes further attempts.
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

/// Omits the rules: they are settings, and the same for every resolve.
impl fmt::Debug for Resolve {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asker, rules: _, phase } = self;
        out.debug_struct("Resolve").field("asker", asker).field("phase", phase).finish_non_exhaustive()
    }
}

fn after_enquiry(held: &Held, enquiry: Enquiry, asked_at: DateTime<Utc>) -> (Phase, ResolveCommand) {
    let fence = held.fence;
    let (event, otherwise) = match enquiry {
        Enquiry::Vended(vend) => (Event::Vended { vend }, ResolveAnswer::Pending),
        Enquiry::Refused(refusal) => {
            (Event::Refused { fence, refusal, source: RefusalSource::Enquiry }, ResolveAnswer::Pending)
        }
        Enquiry::NoRecord if held.may_send && held.state == StateName::InDoubt => {
            let phase = Phase::RecordingSend { fence, asked_at: Some(asked_at) };
            return (phase, ResolveCommand::RecordRepeat(fence));
        }
        Enquiry::NoRecord => (Event::NoRecord { fence, asked_at }, ResolveAnswer::Pending),
        Enquiry::StillOpen => {
            (Event::LeaseReleased { fence, why: Doubt::StillOpen.into() }, ResolveAnswer::Pending)
        }
        Enquiry::Unanswered(why) => (Event::LeaseReleased { fence, why }, ResolveAnswer::Unreachable),
    };
    record(fence, event, otherwise)
}

/// The event that remains after a refused send: what the enquiry before it found, or that nothing was learnt.
fn nothing_is_sent(fence: Fence, asked_at: Option<DateTime<Utc>>) -> Event {
    match asked_at {
        Some(asked_at) => Event::NoRecord { fence, asked_at },
        None => Event::LeaseReleased { fence, why: Doubt::NeverReported.into() },
    }
}

/// A repeat that is rejected or refused says little about the copies before it. So an enquiry about all copies
/// follows.
fn after_answer(outcome: VendOutcome, is_repeat: bool, fence: Fence) -> (Phase, ResolveCommand) {
    let says_little = match &outcome {
        VendOutcome::Unknown(unclear) => unclear.doubt == Doubt::RepeatedReference,
        VendOutcome::Refused(refusal) => is_repeat && refusal.reason != RefusalReason::NeverSent,
        VendOutcome::Vended(_) => false,
    };
    if says_little {
        (Phase::EnquiringAgain { fence }, ResolveCommand::Enquire)
    } else {
        record(fence, Event::reported(outcome, fence), ResolveAnswer::Pending)
    }
}

/// After a repeat was rejected or refused, only what is known for sure counts.
fn after_second_enquiry(enquiry: Enquiry, fence: Fence) -> (Phase, ResolveCommand) {
    let (event, otherwise) = match enquiry {
        Enquiry::Vended(vend) => (Event::Vended { vend }, ResolveAnswer::Pending),
        Enquiry::Refused(refusal) => {
            (Event::Refused { fence, refusal, source: RefusalSource::Enquiry }, ResolveAnswer::Pending)
        }
        Enquiry::NoRecord => {
            (Event::Lost { fence, why: Doubt::RepeatedReference.into() }, ResolveAnswer::Pending)
        }
        Enquiry::StillOpen => (Event::Lost { fence, why: Doubt::StillOpen.into() }, ResolveAnswer::Pending),
        Enquiry::Unanswered(why) => (Event::Lost { fence, why }, ResolveAnswer::Unreachable),
    };
    record(fence, event, otherwise)
}

fn record(
    fence: impl Into<Option<Fence>>,
    event: Event,
    otherwise: ResolveAnswer,
) -> (Phase, ResolveCommand) {
    let fence = fence.into();
    (Phase::Recording { fence, event: event.clone(), otherwise }, ResolveCommand::Record(event))
}

fn over(answer: ResolveAnswer) -> (Phase, ResolveCommand) {
    (Phase::Over, ResolveCommand::Answer(answer))
}
