//! The metrics of this crate.

use metrics::{counter, describe_counter};
use purchase::Channel;
use store::{DeliveryOutcome, GivenUp};

const MESSAGES: &str = "vendgate_messages_total";

/// Registers the descriptions of this crate's metrics.
pub fn describe_metrics() {
    describe_counter!(
        MESSAGES,
        "Attempts to send a message, by result; `no_channel`: no gateway is configured."
    );
    for channel in [Channel::Sms, Channel::Email] {
        for outcome in ["sent", "later", "given_up", "no_channel"] {
            counter!(MESSAGES, "channel" => channel.as_str(), "outcome" => outcome).absolute(0);
        }
    }
}

/// Counts the outcome of an attempt.
pub(crate) fn delivered(channel: Channel, outcome: DeliveryOutcome) {
    let outcome = match outcome {
        DeliveryOutcome::Sent => "sent",
        DeliveryOutcome::RetryAfter(_) => "later",
        DeliveryOutcome::GivenUp(GivenUp::NoChannel) => "no_channel",
        DeliveryOutcome::GivenUp(_) => "given_up",
    };
    counter!(MESSAGES, "channel" => channel.as_str(), "outcome" => outcome).increment(1);
}
