//! The metrics of this crate.

use metrics::{counter, describe_counter};

const SENT: &str = "vendgate_spans_sent_total";
const DROPPED: &str = "vendgate_spans_dropped_total";

/// Why a span was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// Too many wait already.
    QueueFull,
    /// The receiver refused them for good.
    Refused,
    /// The receiver accepted them at no try.
    Unanswered,
}

impl Dropped {
    const ALL: [Self; 3] = [Self::QueueFull, Self::Refused, Self::Unanswered];

    const fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Refused => "refused",
            Self::Unanswered => "unanswered",
        }
    }
}

/// Registers the descriptions of this crate's metrics.
pub fn describe_metrics() {
    describe_counter!(SENT, "Spans of traces that the receiver has accepted.");
    describe_counter!(
        DROPPED,
        "Spans that were not sent: `queue_full`, `refused` by the receiver, or `unanswered` at every try."
    );
    counter!(SENT).absolute(0);
    for why in Dropped::ALL {
        counter!(DROPPED, "why" => why.as_str()).absolute(0);
    }
}

/// The receiver has accepted this many.
pub(crate) fn sent(spans: usize) {
    counter!(SENT).increment(u64::try_from(spans).unwrap_or(u64::MAX));
}

/// This many were dropped.
pub(crate) fn dropped(why: Dropped, spans: usize) {
    counter!(DROPPED, "why" => why.as_str()).increment(u64::try_from(spans).unwrap_or(u64::MAX));
}
