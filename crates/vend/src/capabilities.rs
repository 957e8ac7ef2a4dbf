//! What a connection to a provider is declared to do when something is in doubt.

/// Declared per connection by the operator, with a reason. All off by default: then doubt ends only by
/// a remembered vend or by a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// A repeated reference is answered from memory or rejected, never vended again.
    pub repeat_is_safe: bool,
    /// An enquiry tells of refusals too, so a refusal found after several copies proves all of them.
    pub remembers_refusals: bool,
    /// Two answers of "no record", well apart and late enough, prove that nothing was vended.
    pub not_found_counts: bool,
}
