//! Logs and counts what an event has done to a purchase: once, by the process that recorded the event.
//!
//! Names of people, phone numbers and tokens must not be logged here.

use chrono::{DateTime, Utc};
use purchase::{Event, PurchaseId, Record, State};
use store::{Recorded, Reservation, Verdict};
use vend::{Product, Unclear};

use crate::measures;

/// The purchase that the log lines are about.
pub(crate) struct About<'a> {
    id: PurchaseId,
    provider: &'a str,
    product: Product,
    /// The id of the request that bought.
    request_id: Option<&'a str>,
    reserved_at: Option<DateTime<Utc>>,
}

impl<'a> About<'a> {
    pub(crate) fn reserved(reservation: &'a Reservation, at: Option<DateTime<Utc>>) -> Self {
        Self {
            id: reservation.id,
            provider: &reservation.request.provider_code,
            product: reservation.request.product,
            request_id: reservation.request_id.as_deref(),
            reserved_at: at,
        }
    }

    pub(crate) fn locked(record: &'a Record) -> Self {
        Self {
            id: record.id,
            provider: &record.provider_code,
            product: record.product,
            request_id: record.request_id.as_deref(),
            reserved_at: Some(record.created_at),
        }
    }
}

/// Logs and counts the result of an event.
pub(crate) fn report(about: &About<'_>, event: &Event, recorded: &Recorded) {
    match recorded.verdict {
        Verdict::Moved => {
            if let Some(outcome) = outcome(event, &recorded.lifecycle.state) {
                ended(about, outcome, recorded.at);
            }
            match (&recorded.lifecycle.state, event) {
                (State::InDoubt(_), Event::Lost { why, .. }) => in_doubt(about, why),
                // What is learnt after this does not change the state.
                (State::Review(_), Event::WindowClosed { .. }) => review(about),
                _ended_or_reported_before => {}
            }
        }
        // It may be the only proof that there will ever be, so it must be possible to find it.
        Verdict::Illegal(illegal) => {
            if let Event::Refused { refusal, .. } = event {
                let reason = refusal.reason.as_str();
                tracing::warn!(purchase = about.id.0, reason, %illegal, "a refusal came too late");
            }
        }
        Verdict::AlreadyThere => {}
    }
}

fn ended(about: &About<'_>, outcome: &'static str, at: DateTime<Utc>) {
    measures::ended(about.provider, about.product.as_str(), outcome);
    let took_ms = about.reserved_at.map(|reserved_at| (at - reserved_at).num_milliseconds());
    tracing::info!(
        purchase = about.id.0,
        confirm_request_id = about.request_id,
        provider = about.provider,
        product = about.product.as_str(),
        outcome,
        took_ms,
        "a purchase has ended"
    );
}

fn in_doubt(about: &About<'_>, why: &Unclear) {
    tracing::warn!(
        purchase = about.id.0,
        confirm_request_id = about.request_id,
        provider = about.provider,
        doubt = why.doubt.as_str(),
        "a purchase is in doubt"
    );
}

fn review(about: &About<'_>) {
    measures::review(about.provider);
    tracing::error!(
        purchase = about.id.0,
        confirm_request_id = about.request_id,
        provider = about.provider,
        "a purchase waits for a person: its outcome cannot be proven"
    );
}

/// How this event ended the purchase that is now in this state. An event that came after the end did not end it. The
/// store logs such an event when it opens an incident.
fn outcome(event: &Event, state: &State) -> Option<&'static str> {
    match state {
        State::Successful { provider_transaction } => {
            // The purchase was paid for this vend, and not for another one that came after the end.
            let has_paid =
                event.vend().is_some_and(|vend| vend.provider_transaction == *provider_transaction);
            has_paid.then_some("successful")
        }
        State::Failed => failure(event),
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => None,
    }
}

/// Why the purchase failed, if this event ended it. A vend that comes after the end did not.
fn failure(event: &Event) -> Option<&'static str> {
    match event {
        Event::Refused { refusal, .. } => Some(refusal.reason.as_str()),
        Event::NeverSent { .. } => Some("never_sent"),
        Event::NoRecord { .. } => Some("no_record"),
        Event::OperatorNotVended { .. } => Some("operator"),
        Event::WindowClosed { .. } => Some("window_closed"),
        Event::Vended { .. }
        | Event::Lost { .. }
        | Event::Claimed
        | Event::LeaseReleased { .. }
        | Event::SentAgain { .. }
        | Event::AttemptStarted { .. }
        | Event::OperatorVended { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use purchase::{Fence, RefusalSource};
    use vend::{RawReply, Refusal, RefusalReason, Vend};

    use super::*;

    fn vended(provider_transaction: &str) -> Event {
        let vend = Vend {
            tokens: None,
            units: None,
            provider_transaction: provider_transaction.to_owned(),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        };
        Event::Vended { vend: Box::new(vend) }
    }

    #[test]
    fn a_purchase_ends_once_and_what_comes_afterwards_is_no_end() {
        let paid = State::Successful { provider_transaction: "V1".to_owned() };
        assert_eq!(outcome(&vended("V1"), &paid), Some("successful"));
        assert_eq!(outcome(&vended("V2"), &paid), None, "a second vend");
        assert_eq!(outcome(&vended("V1"), &State::Failed), None, "a late vend");

        let refusal = Refusal::because(RefusalReason::Busy);
        let busy = Event::Refused { fence: Fence::FIRST, refusal, source: RefusalSource::Answer };
        assert_eq!(outcome(&busy, &State::Failed), Some("busy"));
        assert_eq!(outcome(&busy, &State::RetryDue), None, "it will be attempted again");
        assert_eq!(outcome(&Event::NeverSent { fence: Fence::FIRST }, &State::Failed), Some("never_sent"));
    }
}
