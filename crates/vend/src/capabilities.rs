//! The declared behaviour of a provider connection when a vend is in doubt.

use std::time::Duration;

/// What is known for certain about a provider. The team that runs a connection declares it, with a reason, because money is
/// released by it. All are off by default. Then doubt ends only when an enquiry finds the vend, or by the decision of a
/// person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// The provider answers a repeated reference from its records or rejects it. It never vends it again.
    pub repeat_is_safe: bool,
    /// An enquiry also finds refusals. So a refusal found after several copies of a request is proof for all of them.
    pub remembers_refusals: bool,
    /// Two "no record" answers, far enough apart and late enough, prove that nothing was vended.
    pub not_found_counts: bool,
    /// How long after an order was sent the provider may still execute it. "No record" counts only after this time.
    pub settles_within: Duration,
}

impl Capabilities {
    /// The capabilities of a connection for which nothing is declared.
    pub const NONE: Self = Self {
        repeat_is_safe: false,
        remembers_refusals: false,
        not_found_counts: false,
        settles_within: Self::SETTLES_WITHIN,
    };

    /// The default of [`Capabilities::settles_within`]: ten minutes.
    pub const SETTLES_WITHIN: Duration = Duration::from_secs(10 * 60);

    /// The shortest [`Capabilities::settles_within`] that can be declared.
    pub const SETTLES_WITHIN_MIN: Duration = Duration::from_secs(1);

    /// The longest [`Capabilities::settles_within`] that can be declared. Longer doubt needs a person anyway.
    pub const SETTLES_WITHIN_MAX: Duration = Duration::from_secs(24 * 60 * 60);
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::NONE
    }
}
