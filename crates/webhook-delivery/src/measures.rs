//! The metrics of this crate.

use metrics::{counter, describe_counter};
use webhook::{SwitchedOff, is_accepted};
use webhook_store::Round;

const ATTEMPTS: &str = "vendgate_webhook_attempts_total";
const SWITCHED_OFF: &str = "vendgate_webhook_endpoints_switched_off_total";

/// Registers the descriptions of this crate's metrics.
pub fn describe_metrics() {
    describe_counter!(
        ATTEMPTS,
        "Attempts to deliver an event to a webhook endpoint, by what came of them: accepted, later, given_up."
    );
    describe_counter!(
        SWITCHED_OFF,
        "Webhook endpoints that were switched off because they accepted nothing."
    );
    for outcome in ["accepted", "later", "given_up"] {
        counter!(ATTEMPTS, "outcome" => outcome).absolute(0);
    }
    for because in SwitchedOff::ALL {
        counter!(SWITCHED_OFF, "because" => because.as_str()).absolute(0);
    }
}

/// Counts a round, and logs that an endpoint was switched off.
pub(crate) fn recorded(round: &Round) {
    for attempt in &round.attempts {
        let outcome = match (&attempt.answer, attempt.next) {
            (_, Some(_later)) => "later",
            (Ok(status), None) if is_accepted(*status) => "accepted",
            (_, None) => "given_up",
        };
        counter!(ATTEMPTS, "outcome" => outcome).increment(1);
    }
    if let Some(because) = round.switched_off {
        counter!(SWITCHED_OFF, "because" => because.as_str()).increment(1);
        tracing::warn!(
            endpoint = round.endpoint.0,
            because = because.as_str(),
            "a webhook endpoint is switched off"
        );
    }
}
