//! What a fact has done to a purchase, as the log and the counters tell it: once, by whoever put the fact on record.
//!
//! Names of people, phone numbers and tokens have no place here.

use chrono::{DateTime, Utc};
use purchase::{Fact, PurchaseId, Record, State};
use store::{Recorded, Reservation, Verdict};
use vend::{Product, Unclear};

use crate::measures;

/// Which purchase it was.
pub(crate) struct About<'a> {
    id: PurchaseId,
    provider: &'a str,
    product: Product,
    /// The name of the request that bought.
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

    pub(crate) fn on_file(record: &'a Record) -> Self {
        Self {
            id: record.id,
            provider: &record.provider_code,
            product: record.product,
            request_id: record.request_id.as_deref(),
            reserved_at: Some(record.created_at),
        }
    }
}

/// Tells it.
pub(crate) fn tell(about: &About<'_>, fact: &Fact, recorded: &Recorded) {
    match recorded.verdict {
        Verdict::Moved => {
            if let Some(outcome) = outcome(fact, &recorded.life.state) {
                ended(about, outcome, recorded.at);
            }
            match (&recorded.life.state, fact) {
                (State::InDoubt(_), Fact::Lost { why, .. }) => in_doubt(about, why),
                // What is learnt afterwards finds it there.
                (State::Review(_), Fact::WindowClosed { .. }) => review(about),
                _ended_or_told_before => {}
            }
        }
        // It may be the only proof that there will ever be, so somebody must be able to find it.
        Verdict::Illegal(illegal) => {
            if let Fact::Refused { refusal, .. } = fact {
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
        "a purchase waits for a person: nobody can prove what became of it"
    );
}

/// How this fact has ended the purchase that now stands so. One that came after the end has not: the store tells of it,
/// when it opens an incident.
fn outcome(fact: &Fact, state: &State) -> Option<&'static str> {
    match state {
        State::Successful { provider_transaction } => {
            // This vend, and not another one that came after the end.
            let has_paid = fact.vend().is_some_and(|vend| vend.provider_transaction == *provider_transaction);
            has_paid.then_some("successful")
        }
        State::Failed => failure(fact),
        State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => None,
    }
}

/// Why it failed, if it is this fact that ended it: a vend that comes after the end does not.
fn failure(fact: &Fact) -> Option<&'static str> {
    match fact {
        Fact::Refused { refusal, .. } => Some(refusal.reason.as_str()),
        Fact::NeverSent { .. } => Some("never_sent"),
        Fact::NoRecord { .. } => Some("no_record"),
        Fact::OperatorNotVended { .. } => Some("operator"),
        Fact::WindowClosed { .. } => Some("window_closed"),
        Fact::Vended { .. }
        | Fact::Lost { .. }
        | Fact::Claimed
        | Fact::LetGo { .. }
        | Fact::SentAgain { .. }
        | Fact::AttemptStarted { .. }
        | Fact::OperatorVended { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use purchase::{Fence, Told};
    use vend::{RawReply, Refusal, RefusalReason, Vend};

    use super::*;

    fn vended(provider_transaction: &str) -> Fact {
        let vend = Vend {
            tokens: None,
            units: None,
            provider_transaction: provider_transaction.to_owned(),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        };
        Fact::Vended { vend: Box::new(vend) }
    }

    #[test]
    fn a_purchase_ends_once_and_what_comes_afterwards_is_no_end() {
        let paid = State::Successful { provider_transaction: "V1".to_owned() };
        assert_eq!(outcome(&vended("V1"), &paid), Some("successful"));
        assert_eq!(outcome(&vended("V2"), &paid), None, "a second vend");
        assert_eq!(outcome(&vended("V1"), &State::Failed), None, "a late vend");

        let refusal = Refusal::because(RefusalReason::Busy);
        let busy = Fact::Refused { fence: Fence::FIRST, refusal, told: Told::InAnswer };
        assert_eq!(outcome(&busy, &State::Failed), Some("busy"));
        assert_eq!(outcome(&busy, &State::RetryDue), None, "it will be attempted again");
        assert_eq!(outcome(&Fact::NeverSent { fence: Fence::FIRST }, &State::Failed), Some("never_sent"));
    }
}
