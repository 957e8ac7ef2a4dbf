//! The one transition function. It says what a fact does to a purchase, and nothing else does.
//!
//! Four rules carry the safety. Evidence beats leases: a success settles an open purchase under any
//! fence. Release needs proof under the current fence. A refusal proves something only about the only
//! copy ever sent, unless a connection that is declared to remember refusals tells of it when asked. A success that arrives after
//! the end changes nothing: it opens an incident.

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, RefusalReason, Vend};

use crate::timing::after;
use crate::{
    Effect, Event, Fact, Fence, Handling, Illegal, Incident, Life, Next, Sending, State, StateName, Timing,
    Told, Why,
};

/// The settings that a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What the purchase's connection is declared to do in doubt.
    pub declared: Capabilities,
    /// The time chain.
    pub timing: Timing,
}

/// What `event` does to `life`.
///
/// # Errors
/// [`Illegal`] names both sides and the reason; the purchase is as it was.
pub fn step(life: &Life, event: &Event, rules: &Rules) -> Result<Next, Illegal> {
    let at = event.at;
    let outcome = match &event.fact {
        Fact::Vended { vend } => Ok(vended(life, vend)),
        Fact::Refused { fence, refusal, told } => refused(life, *fence, (refusal.reason, *told), at, rules),
        Fact::NeverSent { fence } => never_sent(life, *fence, at),
        Fact::Lost { fence, .. } => lost(life, *fence, at),
        Fact::Claimed => claimed(life, at, &rules.timing),
        Fact::NoRecord { fence, asked_at } => no_record(life, *fence, *asked_at, at, rules),
        Fact::LetGo { fence, why } => let_go(life, *fence, why.doubt),
        Fact::SentAgain { fence } => sent_again(life, *fence, at, rules),
        Fact::AttemptStarted { fence, .. } => attempt_started(life, *fence, at, rules),
        Fact::WindowClosed { fence } => window_closed(life, *fence, at),
        Fact::OperatorVended { fence, vend } => operator_vended(life, *fence, vend),
        Fact::OperatorNotVended { fence } => operator_not_vended(life, *fence),
    };
    outcome.map_err(|why| Illegal { state: life.state.name(), fact: event.fact.kind(), why })
}

fn vended(life: &Life, vend: &Vend) -> Next {
    match &life.state {
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => succeeded(life, vend),
        State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction => {
            Next::AlreadyThere
        }
        State::Successful { .. } => incident(life, Incident::SecondVend),
        State::Failed => incident(life, Incident::LateVend),
    }
}

fn refused(
    life: &Life,
    fence: Fence,
    (reason, told): (RefusalReason, Told),
    at: DateTime<Utc>,
    rules: &Rules,
) -> Result<Next, Why> {
    match &life.state {
        State::InFlight(sending) | State::InDoubt(sending) => {
            current(life, fence)?;
            if is_about_all_copies(sending, told, rules) {
                Ok(not_vended(life, reason.is_transient(), at))
            } else {
                Ok(given_up(life, State::InDoubt(after_refusal(life, sending, at))))
            }
        }
        State::Review(sending) => {
            current(life, fence)?;
            if is_about_all_copies(sending, told, rules) {
                Ok(failed(life))
            } else {
                Ok(given_up(life, State::Review(sending.known_of())))
            }
        }
        State::RetryDue | State::Failed if life.fence == fence => Ok(Next::AlreadyThere),
        State::RetryDue => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

/// The provider knows the order. Whoever reports on a purchase in flight has heard the end of its own request.
fn after_refusal(life: &Life, sending: &Sending, at: DateTime<Utc>) -> Sending {
    let is_reported = life.state.name() == StateName::InFlight;
    if is_reported { sending.known_of().ended(at) } else { sending.known_of() }
}

/// A refusal is about the only copy ever sent. Of several, only a provider that remembers refusals can say
/// that none was vended, and only when it is asked.
fn is_about_all_copies(sending: &Sending, told: Told, rules: &Rules) -> bool {
    sending.copies == 1 || (rules.declared.remembers_refusals && told == Told::WhenAsked)
}

fn never_sent(life: &Life, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &life.state {
        State::InFlight(sending) => {
            current(life, fence)?;
            match sending.copies.saturating_sub(1) {
                0 => Ok(not_vended(life, true, at)),
                copies => Ok(given_up(life, State::InDoubt(Sending { copies, ..sending.ended(at) }))),
            }
        }
        State::InDoubt(_) | State::RetryDue | State::Review(_) | State::Failed if life.fence == fence => {
            Ok(Next::AlreadyThere)
        }
        State::InDoubt(_) | State::RetryDue | State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn lost(life: &Life, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &life.state {
        State::InFlight(sending) => {
            current(life, fence)?;
            Ok(given_up(life, State::InDoubt(sending.ended(at))))
        }
        State::InDoubt(_) if life.fence == fence => Ok(Next::AlreadyThere),
        State::RetryDue | State::Review(_) if life.fence == fence => Err(Why::NotHere),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn claimed(life: &Life, at: DateTime<Utc>, timing: &Timing) -> Result<Next, Why> {
    let state = match &life.state {
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) if life.is_leased(at) => {
            return Err(Why::Leased);
        }
        State::InFlight(sending) => State::InDoubt(*sending),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => life.state.clone(),
        State::Successful { .. } | State::Failed => return Err(Why::Ended),
    };
    let claimed = Life {
        state,
        fence: life.fence.next(),
        lease_until: Some(after(at, timing.lease)),
        claimed_at: Some(at),
        ..life.clone()
    };
    Ok(Next::Moved(claimed, Vec::new()))
}

fn no_record(
    life: &Life,
    fence: Fence,
    asked_at: DateTime<Utc>,
    at: DateTime<Utc>,
    rules: &Rules,
) -> Result<Next, Why> {
    match &life.state {
        State::InDoubt(sending) => {
            current(life, fence)?;
            match weigh_no_record(sending, asked_at, at, rules) {
                Weight::Proof => Ok(not_vended(life, true, at)),
                Weight::Counts(since) => Ok(given_up(life, State::InDoubt(since))),
            }
        }
        State::Review(sending) => {
            current(life, fence)?;
            match weigh_no_record(sending, asked_at, at, rules) {
                Weight::Proof => Ok(failed(life)),
                Weight::Counts(since) => Ok(given_up(life, State::Review(since))),
            }
        }
        State::RetryDue | State::Failed if life.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) => Err(Why::NotHere),
        State::RetryDue => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

enum Weight {
    Proof,
    Counts(Sending),
}

/// "No record" alone is never "failed". Where the connection is declared so, two answers prove it, both
/// asked after the quarantine and well apart.
///
/// An enquiry may begin long after its claim, from which `asked_at` is known; that it has been answered by `at` is
/// certain. So the gap is counted from the first one's record to the second one's claim.
fn weigh_no_record(sending: &Sending, asked_at: DateTime<Utc>, at: DateTime<Utc>, rules: &Rules) -> Weight {
    let timing = &rules.timing;
    let is_too_early = asked_at < sending.quarantined_until(&rules.declared, timing);
    if !rules.declared.not_found_counts || is_too_early {
        return Weight::Counts(*sending);
    }
    match sending.no_record_since {
        Some(first) if asked_at >= after(first, timing.not_found_gap) => Weight::Proof,
        Some(_) => Weight::Counts(*sending),
        None => Weight::Counts(Sending { no_record_since: Some(at), ..*sending }),
    }
}

fn let_go(life: &Life, fence: Fence, doubt: Doubt) -> Result<Next, Why> {
    let is_known = doubt == Doubt::StillOpen;
    let state = match &life.state {
        State::InDoubt(sending) if is_known => State::InDoubt(sending.known_of()),
        State::Review(sending) if is_known => State::Review(sending.known_of()),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => life.state.clone(),
        State::InFlight(_) => return Err(Why::NotHere),
        State::Successful { .. } | State::Failed => return Err(Why::Ended),
    };
    current(life, fence)?;
    let is_given_up = life.lease_until.is_none();
    if is_given_up && state == life.state { Ok(Next::AlreadyThere) } else { Ok(given_up(life, state)) }
}

fn sent_again(life: &Life, fence: Fence, at: DateTime<Utc>, rules: &Rules) -> Result<Next, Why> {
    match &life.state {
        State::InDoubt(sending) => {
            may_send(life, fence, at)?;
            if !rules.declared.repeat_is_safe {
                return Err(Why::RepeatNotSafe);
            }
            is_due(life, at, rules)?;
            Ok(sending_now(life, life.attempt, sending.repeated(at, &rules.timing), at, &rules.timing))
        }
        State::InFlight(_) | State::RetryDue | State::Review(_) => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn attempt_started(life: &Life, fence: Fence, at: DateTime<Utc>, rules: &Rules) -> Result<Next, Why> {
    match &life.state {
        State::RetryDue => {
            may_send(life, fence, at)?;
            is_due(life, at, rules)?;
            let attempt = life.attempt.saturating_add(1);
            Ok(sending_now(life, attempt, Sending::first(at), at, &rules.timing))
        }
        State::InFlight(_) | State::InDoubt(_) | State::Review(_) => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn window_closed(life: &Life, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &life.state {
        State::InDoubt(sending) => {
            current(life, fence)?;
            past_window(life, at)?;
            Ok(given_up(life, State::Review(*sending)))
        }
        State::RetryDue => {
            current(life, fence)?;
            past_window(life, at)?;
            Ok(failed(life))
        }
        State::Review(_) | State::Failed if life.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) => Err(Why::NotHere),
        State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn operator_vended(life: &Life, fence: Fence, vend: &Vend) -> Result<Next, Why> {
    match &life.state {
        State::Review(_) => {
            current(life, fence)?;
            Ok(succeeded(life, vend))
        }
        State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction => {
            Ok(Next::AlreadyThere)
        }
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn operator_not_vended(life: &Life, fence: Fence) -> Result<Next, Why> {
    match &life.state {
        State::Review(_) => {
            current(life, fence)?;
            Ok(failed(life))
        }
        State::Failed if life.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn current(life: &Life, fence: Fence) -> Result<(), Why> {
    if life.fence == fence { Ok(()) } else { Err(Why::StaleFence) }
}

fn past_window(life: &Life, at: DateTime<Utc>) -> Result<(), Why> {
    if life.is_past_window(at) { Ok(()) } else { Err(Why::WindowOpen) }
}

fn may_send(life: &Life, fence: Fence, at: DateTime<Utc>) -> Result<(), Why> {
    current(life, fence)?;
    if life.lease_until.is_none() {
        return Err(Why::NotLeased);
    }
    if life.is_past_window(at) {
        return Err(Why::WindowClosed);
    }
    if life.has_requests_left() { Ok(()) } else { Err(Why::RequestsSpent) }
}

/// Sends follow the plan, whoever asks: polling at any pace spends no budget.
fn is_due(life: &Life, at: DateTime<Utc>, rules: &Rules) -> Result<(), Why> {
    if rules.timing.plan.is_send_due(life, at, rules) { Ok(()) } else { Err(Why::NotDue) }
}

fn sending_now(life: &Life, attempt: u16, sending: Sending, at: DateTime<Utc>, timing: &Timing) -> Next {
    let moved = Life {
        state: State::InFlight(sending),
        attempt,
        fence: life.fence.next(),
        requests: life.requests.saturating_add(1),
        lease_until: Some(after(at, timing.lease)),
        ..life.clone()
    };
    Next::Moved(moved, Vec::new())
}

fn succeeded(life: &Life, vend: &Vend) -> Next {
    let state = State::Successful { provider_transaction: vend.provider_transaction.clone() };
    Next::Moved(Life { state, lease_until: None, ..life.clone() }, vec![Effect::CaptureHold])
}

fn failed(life: &Life) -> Next {
    Next::Moved(Life { state: State::Failed, lease_until: None, ..life.clone() }, vec![Effect::ReleaseHold])
}

/// It is proven that the current attempt did not vend: the end, or another attempt.
fn not_vended(life: &Life, transient: bool, at: DateTime<Utc>) -> Next {
    let another_is_due = match life.handling {
        Handling::SelfManaged => false,
        Handling::Managed => transient && life.has_requests_left() && !life.is_past_window(at),
    };
    if another_is_due { given_up(life, State::RetryDue) } else { failed(life) }
}

fn given_up(life: &Life, state: State) -> Next {
    Next::Moved(Life { state, lease_until: None, ..life.clone() }, Vec::new())
}

fn incident(life: &Life, incident: Incident) -> Next {
    Next::Moved(life.clone(), vec![Effect::OpenIncident(incident)])
}
