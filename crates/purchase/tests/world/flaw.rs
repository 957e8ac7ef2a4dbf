//! Flaws that an implementation might have. Each is a variant of the shipped rules that the model must detect.

use std::time::Duration;

use purchase::{Effect, Event, Illegal, Lifecycle, Next, RefusalSource, Rules, State, TimedEvent, step};
use vend::{Doubt, Refusal, RefusalReason};

use super::values::vend;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    RefundsOnTimeout,
    PaysOnTimeout,
    RefundsOnFirstNoRecord,
    ForgetsTheQuarantine,
    ForgetsTheFence,
    /// It writes back what it has read, whatever was written in between.
    ForgetsToCompare,
    SettlesTwice,
    /// The next copy is sent before it is recorded.
    SendsOffTheRecord,
    /// A copy is sent no matter how long its sender slept.
    SendsBehindTheGate,
    BelievesARefusalOfOneCopy,
    /// A purchase whose outcome cannot be found out stays with the worker and never goes to review.
    LeavesTheWindowOpen,
    /// "No record" counts although a request may still be in progress whose sender never reported its end.
    ForgetsUnreportedSends,
    /// The age of a request counts from when it was read, not from when it arrived.
    AgesFromReading,
    /// "Not found" refuses what has arrived, but not what is still in transit.
    ForgetsTheRest,
}

/// What an event does to a purchase in a flawed implementation.
pub fn flawed_step(
    flaw: Option<Flaw>,
    lifecycle: &Lifecycle,
    event: &TimedEvent,
    rules: &Rules,
) -> Result<Next, Illegal> {
    let Some(flaw) = flaw else { return step(lifecycle, event, rules) };
    let event = TimedEvent { at: event.at, event: misread(flaw, lifecycle, &event.event) };
    let misjudged = misjudge(flaw, lifecycle, &event);
    let mut mistaken = *rules;
    if flaw == Flaw::ForgetsTheQuarantine {
        (mistaken.declared.settles_within, mistaken.timing.gate) = (Duration::ZERO, Duration::ZERO);
    }
    if matches!(flaw, Flaw::ForgetsTheQuarantine | Flaw::ForgetsUnreportedSends) {
        mistaken.timing.provider_timeout = Duration::ZERO;
    }
    let next = step(&misjudged, &event, &mistaken);
    match (flaw, &event.event, next) {
        (Flaw::SettlesTwice, Event::Vended { .. }, Ok(Next::AlreadyThere)) => {
            Ok(Next::Moved(lifecycle.clone(), vec![Effect::CaptureHold]))
        }
        (_, _, next) => next,
    }
}

fn misread(flaw: Flaw, lifecycle: &Lifecycle, event: &Event) -> Event {
    let refused = |source| {
        let refusal = Refusal::because(RefusalReason::Other);
        Event::Refused { fence: lifecycle.fence, refusal, source }
    };
    match (flaw, event) {
        (Flaw::RefundsOnTimeout, Event::Lost { .. }) => refused(RefusalSource::Answer),
        (Flaw::PaysOnTimeout, Event::Lost { .. }) => Event::Vended { vend: vend("T1") },
        (Flaw::RefundsOnFirstNoRecord, Event::NoRecord { .. }) => refused(RefusalSource::Enquiry),
        (Flaw::ForgetsTheFence, Event::Refused { refusal, source, .. }) => {
            Event::Refused { fence: lifecycle.fence, refusal: refusal.clone(), source: *source }
        }
        (Flaw::LeavesTheWindowOpen, Event::WindowClosed { fence }) => {
            Event::LeaseReleased { fence: *fence, why: Doubt::NeverReported.into() }
        }
        (_, event) => event.clone(),
    }
}

fn misjudge(flaw: Flaw, lifecycle: &Lifecycle, event: &TimedEvent) -> Lifecycle {
    if flaw != Flaw::BelievesARefusalOfOneCopy || !matches!(event.event, Event::Refused { .. }) {
        return lifecycle.clone();
    }
    let state = match lifecycle.state.clone() {
        State::InFlight(sending) => State::InFlight(purchase::Sending { copies: 1, ..sending }),
        State::InDoubt(sending) => State::InDoubt(purchase::Sending { copies: 1, ..sending }),
        State::Review(sending) => State::Review(purchase::Sending { copies: 1, ..sending }),
        state @ (State::RetryDue | State::Successful { .. } | State::Failed) => state,
    };
    Lifecycle { state, ..lifecycle.clone() }
}
