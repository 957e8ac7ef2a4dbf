//! What this room counts.

use metrics::{counter, describe_counter};
use purchase::Channel;
use store::{DeliveryOutcome, GivenUp};

const MESSAGES: &str = "vendgate_messages_total";

/// Says what this room's metrics mean, to whoever keeps them.
pub fn describe_metrics() {
    describe_counter!(
        MESSAGES,
        "Attempts to send a message, by what came of them; no_channel has no gateway to go to."
    );
    for channel in [Channel::Sms, Channel::Email] {
        for outcome in ["sent", "later", "given_up", "no_channel"] {
            counter!(MESSAGES, "channel" => channel.as_str(), "outcome" => outcome).absolute(0);
        }
    }
}

/// What came of an attempt.
pub(crate) fn delivered(channel: Channel, outcome: DeliveryOutcome) {
    let outcome = match outcome {
        DeliveryOutcome::Sent => "sent",
        DeliveryOutcome::RetryAfter(_) => "later",
        DeliveryOutcome::GivenUp(GivenUp::NoChannel) => "no_channel",
        DeliveryOutcome::GivenUp(_) => "given_up",
    };
    counter!(MESSAGES, "channel" => channel.as_str(), "outcome" => outcome).increment(1);
}
