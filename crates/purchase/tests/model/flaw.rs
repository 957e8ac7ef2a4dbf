//! Mistakes that somebody might make. Each is a variant of the shipped rules that the model must find out.

use std::time::Duration;

use purchase::{Effect, Event, Fact, Illegal, Life, Next, Rules, State, Told, step};
use vend::{Doubt, Refusal, RefusalReason};

use crate::values::vend;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    RefundsOnTimeout,
    PaysOnTimeout,
    RefundsOnFirstNoRecord,
    ForgetsTheQuarantine,
    ForgetsTheFence,
    /// What was read is written back, whatever was written in between.
    ForgetsToCompare,
    SettlesTwice,
    /// The next copy leaves without having been put on record.
    SendsOffTheRecord,
    /// However long it slept.
    SendsBehindTheGate,
    BelievesARefusalOfOneCopy,
    /// What nobody can find out stays with the worker, and never comes before a person.
    LeavesTheWindowOpen,
    /// "No record" counts although a request may still be under way whose sender never reported its end.
    ForgetsUnreportedSends,
    /// A request's age counts from when it was read, and not from when it arrived.
    AgesFromReading,
    /// "Not found" turns away what has arrived, and not what is still on its way.
    ForgetsTheRest,
}

/// What a fact does to a life, as the mistaken see it.
pub fn mistaken_step(flaw: Option<Flaw>, life: &Life, event: &Event, rules: &Rules) -> Result<Next, Illegal> {
    let Some(flaw) = flaw else { return step(life, event, rules) };
    let event = Event { at: event.at, fact: misread(flaw, life, &event.fact) };
    let misjudged = misjudge(flaw, life, &event);
    let mut mistaken = *rules;
    if flaw == Flaw::ForgetsTheQuarantine {
        (mistaken.declared.settles_within, mistaken.timing.gate) = (Duration::ZERO, Duration::ZERO);
    }
    if matches!(flaw, Flaw::ForgetsTheQuarantine | Flaw::ForgetsUnreportedSends) {
        mistaken.timing.provider_timeout = Duration::ZERO;
    }
    let next = step(&misjudged, &event, &mistaken);
    match (flaw, &event.fact, next) {
        (Flaw::SettlesTwice, Fact::Vended { .. }, Ok(Next::AlreadyThere)) => {
            Ok(Next::Moved(life.clone(), vec![Effect::CaptureHold]))
        }
        (_, _, next) => next,
    }
}

fn misread(flaw: Flaw, life: &Life, fact: &Fact) -> Fact {
    let refused = |told| {
        let refusal = Refusal::because(RefusalReason::Other);
        Fact::Refused { fence: life.fence, refusal, told }
    };
    match (flaw, fact) {
        (Flaw::RefundsOnTimeout, Fact::Lost { .. }) => refused(Told::InAnswer),
        (Flaw::PaysOnTimeout, Fact::Lost { .. }) => Fact::Vended { vend: vend("T1") },
        (Flaw::RefundsOnFirstNoRecord, Fact::NoRecord { .. }) => refused(Told::WhenAsked),
        (Flaw::ForgetsTheFence, Fact::Refused { refusal, told, .. }) => {
            Fact::Refused { fence: life.fence, refusal: refusal.clone(), told: *told }
        }
        (Flaw::LeavesTheWindowOpen, Fact::WindowClosed { fence }) => {
            Fact::LetGo { fence: *fence, why: Doubt::NeverReported.into() }
        }
        (_, fact) => fact.clone(),
    }
}

fn misjudge(flaw: Flaw, life: &Life, event: &Event) -> Life {
    if flaw != Flaw::BelievesARefusalOfOneCopy || !matches!(event.fact, Fact::Refused { .. }) {
        return life.clone();
    }
    let state = match life.state.clone() {
        State::InFlight(sending) => State::InFlight(purchase::Sending { copies: 1, ..sending }),
        State::InDoubt(sending) => State::InDoubt(purchase::Sending { copies: 1, ..sending }),
        State::Review(sending) => State::Review(purchase::Sending { copies: 1, ..sending }),
        state @ (State::RetryDue | State::Successful { .. } | State::Failed) => state,
    };
    Life { state, ..life.clone() }
}
