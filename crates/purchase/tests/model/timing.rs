//! The time chain of the model: as short as its order allows, so that the search ends.

use std::time::Duration;

use purchase::{RetryPlan, Timing};

/// A short pause is longer than the gate and a lease. A long pause is longer than a request. Two long pauses are longer
/// than the window.
pub const TIMING: Timing = Timing {
    gate: Duration::from_secs(1),
    intake: Duration::from_secs(2),
    provider_timeout: Duration::from_secs(5),
    lease: Duration::from_secs(2),
    enquiry_gap: Duration::from_secs(1),
    not_found_gap: Duration::from_secs(1),
    reference_rest: Duration::from_secs(4),
    window: Duration::from_secs(9),
    plan: RetryPlan {
        first_look: Duration::from_secs(1),
        longest_pause: Duration::from_secs(2),
        repeats: [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(2),
            Duration::from_secs(3),
            Duration::from_secs(4),
        ],
        repeats_end: Duration::from_secs(8),
        attempts: [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(2),
            Duration::from_secs(3),
            Duration::from_secs(4),
        ],
    },
};
/// In seconds.
pub const SHORT: i64 = 2;
/// In seconds.
pub const LONG: i64 = 5;
