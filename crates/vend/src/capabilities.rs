//! What a connection to a provider is declared to do when something is in doubt.

use std::time::Duration;

/// Declared per connection by the operator, with a reason. All off by default: then doubt ends only by
/// a remembered vend or by a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// A repeated reference is answered from memory or rejected, never vended again.
    pub repeat_is_safe: bool,
    /// An enquiry tells of refusals too, so a refusal found after several copies proves all of them.
    pub remembers_refusals: bool,
    /// Two answers of "no record", well apart and late enough, prove that nothing was vended.
    pub not_found_counts: bool,
    /// How long after an order has left us the provider may still act on it. "No record" counts only after that.
    pub settles_within: Duration,
}

impl Capabilities {
    /// Of a connection about which nothing is declared.
    pub const NONE: Self = Self {
        repeat_is_safe: false,
        remembers_refusals: false,
        not_found_counts: false,
        settles_within: Self::SETTLES_WITHIN,
    };

    /// Where nothing else is declared: ten minutes.
    pub const SETTLES_WITHIN: Duration = Duration::from_mins(10);

    /// The shortest [`Capabilities::settles_within`] that can be declared.
    pub const SETTLES_WITHIN_MIN: Duration = Duration::from_secs(1);

    /// The longest one: doubt that lasts longer needs a person anyway.
    pub const SETTLES_WITHIN_MAX: Duration = Duration::from_hours(24);
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::NONE
    }
}
