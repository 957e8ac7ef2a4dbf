//! The one transition function. Only this function says what an event does to a purchase.

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, RefusalReason, Vend};

use crate::timing::after;
use crate::{
    Effect, Event, Fence, Handling, Illegal, Incident, Lifecycle, Next, RefusalSource, Sending, State,
    StateName, TimedEvent, Timing, Why,
};

/// The settings that a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What the purchase's connection is declared to do in doubt.
    pub declared: Capabilities,
    /// The time chain.
    pub timing: Timing,
}

/// What `event` does to `lifecycle`.
///
/// Four rules make it safe. Evidence beats leases: a success settles an open purchase under any fence. The hold is
/// released only on proof under the current fence. A refusal proves something only about the only copy ever sent,
/// unless a connection that is declared to remember refusals reports it in an enquiry. A success that arrives after
/// the end changes nothing: it opens an incident.
///
/// # Errors
/// [`Illegal`] names the state, the event and the reason. The purchase is unchanged.
pub fn step(lifecycle: &Lifecycle, event: &TimedEvent, rules: &Rules) -> Result<Next, Illegal> {
    let at = event.at;
    let outcome = match &event.event {
        Event::Vended { vend } => Ok(vended(lifecycle, vend)),
        Event::Refused { fence, refusal, source } => {
            refused(lifecycle, *fence, (refusal.reason, *source), at, rules)
        }
        Event::NeverSent { fence } => never_sent(lifecycle, *fence, at),
        Event::Lost { fence, .. } => lost(lifecycle, *fence, at),
        Event::Claimed => claimed(lifecycle, at, &rules.timing),
        Event::NoRecord { fence, asked_at } => no_record(lifecycle, *fence, *asked_at, at, rules),
        Event::LeaseReleased { fence, why } => release_lease(lifecycle, *fence, why.doubt),
        Event::SentAgain { fence } => sent_again(lifecycle, *fence, at, rules),
        Event::AttemptStarted { fence, .. } => attempt_started(lifecycle, *fence, at, rules),
        Event::WindowClosed { fence } => window_closed(lifecycle, *fence, at),
        Event::OperatorVended { fence, vend } => operator_vended(lifecycle, *fence, vend),
        Event::OperatorNotVended { fence } => operator_not_vended(lifecycle, *fence),
    };
    outcome.map_err(|why| Illegal { state: lifecycle.state.name(), event: event.event.kind(), why })
}

fn vended(lifecycle: &Lifecycle, vend: &Vend) -> Next {
    match &lifecycle.state {
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => {
            succeeded(lifecycle, vend)
        }
        State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction => {
            Next::AlreadyThere
        }
        State::Successful { .. } => incident(lifecycle, Incident::SecondVend),
        State::Failed => incident(lifecycle, Incident::LateVend),
    }
}

fn refused(
    lifecycle: &Lifecycle,
    fence: Fence,
    (reason, source): (RefusalReason, RefusalSource),
    at: DateTime<Utc>,
    rules: &Rules,
) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InFlight(sending) | State::InDoubt(sending) => {
            current(lifecycle, fence)?;
            if is_about_all_copies(sending, source, rules) {
                Ok(not_vended(lifecycle, reason.is_transient(), at))
            } else {
                Ok(given_up(lifecycle, State::InDoubt(after_refusal(lifecycle, sending, at))))
            }
        }
        State::Review(sending) => {
            current(lifecycle, fence)?;
            if is_about_all_copies(sending, source, rules) {
                Ok(failed(lifecycle))
            } else {
                Ok(given_up(lifecycle, State::Review(sending.known_of())))
            }
        }
        State::RetryDue | State::Failed if lifecycle.fence == fence => Ok(Next::AlreadyThere),
        State::RetryDue => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

/// The provider knows the order. A sender that reports on a purchase in flight knows that its own request is over.
fn after_refusal(lifecycle: &Lifecycle, sending: &Sending, at: DateTime<Utc>) -> Sending {
    let is_reported = lifecycle.state.name() == StateName::InFlight;
    if is_reported { sending.known_of().ended(at) } else { sending.known_of() }
}

/// A refusal is about the only copy ever sent. If several copies were sent, only a provider that remembers refusals
/// can prove that none was vended, and only in an enquiry.
fn is_about_all_copies(sending: &Sending, source: RefusalSource, rules: &Rules) -> bool {
    sending.copies == 1 || (rules.declared.remembers_refusals && source == RefusalSource::Enquiry)
}

fn never_sent(lifecycle: &Lifecycle, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InFlight(sending) => {
            current(lifecycle, fence)?;
            match sending.copies.saturating_sub(1) {
                0 => Ok(not_vended(lifecycle, true, at)),
                copies => Ok(given_up(lifecycle, State::InDoubt(Sending { copies, ..sending.ended(at) }))),
            }
        }
        State::InDoubt(_) | State::RetryDue | State::Review(_) | State::Failed
            if lifecycle.fence == fence =>
        {
            Ok(Next::AlreadyThere)
        }
        State::InDoubt(_) | State::RetryDue | State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn lost(lifecycle: &Lifecycle, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InFlight(sending) => {
            current(lifecycle, fence)?;
            Ok(given_up(lifecycle, State::InDoubt(sending.ended(at))))
        }
        State::InDoubt(_) if lifecycle.fence == fence => Ok(Next::AlreadyThere),
        State::RetryDue | State::Review(_) if lifecycle.fence == fence => Err(Why::NotHere),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn claimed(lifecycle: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> Result<Next, Why> {
    let state = match &lifecycle.state {
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_)
            if lifecycle.is_leased(at) =>
        {
            return Err(Why::Leased);
        }
        State::InFlight(sending) => State::InDoubt(*sending),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => lifecycle.state.clone(),
        State::Successful { .. } | State::Failed => return Err(Why::Ended),
    };
    let claimed = Lifecycle {
        state,
        fence: lifecycle.fence.next(),
        lease_until: Some(after(at, timing.lease)),
        claimed_at: Some(at),
        ..lifecycle.clone()
    };
    Ok(Next::Moved(claimed, Vec::new()))
}

fn no_record(
    lifecycle: &Lifecycle,
    fence: Fence,
    asked_at: DateTime<Utc>,
    at: DateTime<Utc>,
    rules: &Rules,
) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InDoubt(sending) => {
            current(lifecycle, fence)?;
            match weigh_no_record(sending, asked_at, at, rules) {
                Weight::Proof => Ok(not_vended(lifecycle, true, at)),
                Weight::Counts(since) => Ok(given_up(lifecycle, State::InDoubt(since))),
            }
        }
        State::Review(sending) => {
            current(lifecycle, fence)?;
            match weigh_no_record(sending, asked_at, at, rules) {
                Weight::Proof => Ok(failed(lifecycle)),
                Weight::Counts(since) => Ok(given_up(lifecycle, State::Review(since))),
            }
        }
        State::RetryDue | State::Failed if lifecycle.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) => Err(Why::NotHere),
        State::RetryDue => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

enum Weight {
    Proof,
    Counts(Sending),
}

/// "No record" alone never means "failed". Where the connection is declared so, two answers prove it. Both must be
/// asked for after the quarantine, and `not_found_gap` apart.
///
/// `asked_at` is the time of the claim, and the enquiry may begin long after it. But it is certain that it was
/// answered by `at`. So the gap is counted from the record of the first answer to the claim of the second.
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

fn release_lease(lifecycle: &Lifecycle, fence: Fence, doubt: Doubt) -> Result<Next, Why> {
    let is_known = doubt == Doubt::StillOpen;
    let state = match &lifecycle.state {
        State::InDoubt(sending) if is_known => State::InDoubt(sending.known_of()),
        State::Review(sending) if is_known => State::Review(sending.known_of()),
        State::InDoubt(_) | State::RetryDue | State::Review(_) => lifecycle.state.clone(),
        State::InFlight(_) => return Err(Why::NotHere),
        State::Successful { .. } | State::Failed => return Err(Why::Ended),
    };
    current(lifecycle, fence)?;
    let is_given_up = lifecycle.lease_until.is_none();
    if is_given_up && state == lifecycle.state {
        Ok(Next::AlreadyThere)
    } else {
        Ok(given_up(lifecycle, state))
    }
}

fn sent_again(lifecycle: &Lifecycle, fence: Fence, at: DateTime<Utc>, rules: &Rules) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InDoubt(sending) => {
            may_send(lifecycle, fence, at)?;
            if !rules.declared.repeat_is_safe {
                return Err(Why::RepeatNotSafe);
            }
            is_due(lifecycle, at, rules)?;
            Ok(sending_now(
                lifecycle,
                lifecycle.attempt,
                sending.repeated(at, &rules.timing),
                at,
                &rules.timing,
            ))
        }
        State::InFlight(_) | State::RetryDue | State::Review(_) => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn attempt_started(
    lifecycle: &Lifecycle,
    fence: Fence,
    at: DateTime<Utc>,
    rules: &Rules,
) -> Result<Next, Why> {
    match &lifecycle.state {
        State::RetryDue => {
            may_send(lifecycle, fence, at)?;
            is_due(lifecycle, at, rules)?;
            let attempt = lifecycle.attempt.saturating_add(1);
            Ok(sending_now(lifecycle, attempt, Sending::first(at), at, &rules.timing))
        }
        State::InFlight(_) | State::InDoubt(_) | State::Review(_) => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn window_closed(lifecycle: &Lifecycle, fence: Fence, at: DateTime<Utc>) -> Result<Next, Why> {
    match &lifecycle.state {
        State::InDoubt(sending) => {
            current(lifecycle, fence)?;
            past_window(lifecycle, at)?;
            Ok(given_up(lifecycle, State::Review(*sending)))
        }
        State::RetryDue => {
            current(lifecycle, fence)?;
            past_window(lifecycle, at)?;
            Ok(failed(lifecycle))
        }
        State::Review(_) | State::Failed if lifecycle.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) => Err(Why::NotHere),
        State::Review(_) => Err(Why::StaleFence),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn operator_vended(lifecycle: &Lifecycle, fence: Fence, vend: &Vend) -> Result<Next, Why> {
    match &lifecycle.state {
        State::Review(_) => {
            current(lifecycle, fence)?;
            Ok(succeeded(lifecycle, vend))
        }
        State::Successful { provider_transaction } if *provider_transaction == vend.provider_transaction => {
            Ok(Next::AlreadyThere)
        }
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn operator_not_vended(lifecycle: &Lifecycle, fence: Fence) -> Result<Next, Why> {
    match &lifecycle.state {
        State::Review(_) => {
            current(lifecycle, fence)?;
            Ok(failed(lifecycle))
        }
        State::Failed if lifecycle.fence == fence => Ok(Next::AlreadyThere),
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue => Err(Why::NotHere),
        State::Successful { .. } | State::Failed => Err(Why::Ended),
    }
}

fn current(lifecycle: &Lifecycle, fence: Fence) -> Result<(), Why> {
    if lifecycle.fence == fence { Ok(()) } else { Err(Why::StaleFence) }
}

fn past_window(lifecycle: &Lifecycle, at: DateTime<Utc>) -> Result<(), Why> {
    if lifecycle.is_past_window(at) { Ok(()) } else { Err(Why::WindowOpen) }
}

fn may_send(lifecycle: &Lifecycle, fence: Fence, at: DateTime<Utc>) -> Result<(), Why> {
    current(lifecycle, fence)?;
    if lifecycle.lease_until.is_none() {
        return Err(Why::NotLeased);
    }
    if lifecycle.is_past_window(at) {
        return Err(Why::WindowClosed);
    }
    if lifecycle.has_requests_left() { Ok(()) } else { Err(Why::RequestsSpent) }
}

/// Sends follow the plan, no matter which side asks. More polling does not cause more requests.
fn is_due(lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> Result<(), Why> {
    if rules.timing.plan.is_send_due(lifecycle, at, rules) { Ok(()) } else { Err(Why::NotDue) }
}

fn sending_now(
    lifecycle: &Lifecycle,
    attempt: u16,
    sending: Sending,
    at: DateTime<Utc>,
    timing: &Timing,
) -> Next {
    let moved = Lifecycle {
        state: State::InFlight(sending),
        attempt,
        fence: lifecycle.fence.next(),
        requests: lifecycle.requests.saturating_add(1),
        lease_until: Some(after(at, timing.lease)),
        ..lifecycle.clone()
    };
    Next::Moved(moved, Vec::new())
}

fn succeeded(lifecycle: &Lifecycle, vend: &Vend) -> Next {
    let state = State::Successful { provider_transaction: vend.provider_transaction.clone() };
    Next::Moved(Lifecycle { state, lease_until: None, ..lifecycle.clone() }, vec![Effect::CaptureHold])
}

fn failed(lifecycle: &Lifecycle) -> Next {
    Next::Moved(
        Lifecycle { state: State::Failed, lease_until: None, ..lifecycle.clone() },
        vec![Effect::ReleaseHold],
    )
}

/// The current attempt is proven not to have vended. The purchase fails, or another attempt is due.
fn not_vended(lifecycle: &Lifecycle, transient: bool, at: DateTime<Utc>) -> Next {
    let another_is_due = match lifecycle.handling {
        Handling::SelfManaged => false,
        Handling::Managed => transient && lifecycle.has_requests_left() && !lifecycle.is_past_window(at),
    };
    if another_is_due { given_up(lifecycle, State::RetryDue) } else { failed(lifecycle) }
}

fn given_up(lifecycle: &Lifecycle, state: State) -> Next {
    Next::Moved(Lifecycle { state, lease_until: None, ..lifecycle.clone() }, Vec::new())
}

fn incident(lifecycle: &Lifecycle, incident: Incident) -> Next {
    Next::Moved(lifecycle.clone(), vec![Effect::OpenIncident(incident)])
}
