//! Small test values with no incidental detail.

use chrono::{DateTime, TimeDelta, Utc};
use vend::{Capabilities, RawReply, Vend};

/// When every purchase of these tests is reserved.
pub const OPENING: DateTime<Utc> = DateTime::UNIX_EPOCH;

pub fn seconds(count: i64) -> TimeDelta {
    TimeDelta::seconds(count)
}

pub fn vend(provider_transaction: &str) -> Box<Vend> {
    Box::new(Vend {
        tokens: None,
        units: None,
        provider_transaction: provider_transaction.to_owned(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    })
}

/// The capabilities of a connection that is declared with these letters: `r` takes a repeat safely, `m` remembers its
/// refusals, `n` lets "no record" count.
pub fn declared(letters: &str) -> Capabilities {
    Capabilities {
        repeat_is_safe: letters.contains('r'),
        remembers_refusals: letters.contains('m'),
        not_found_counts: letters.contains('n'),
        ..Capabilities::default()
    }
}

/// Every declaration that a connection may have.
pub const DECLARATIONS: [&str; 8] = ["", "r", "m", "n", "rm", "rn", "mn", "rmn"];
