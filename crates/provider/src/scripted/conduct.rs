//! How a provider behaves when something comes twice or is asked about later.

use vend::Capabilities;

/// What a provider does with a reference that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRepeat {
    /// Says that it exists, and vends nothing.
    Rejects,
    /// Answers as it did the first time, and vends nothing.
    AnswersFromMemory,
    /// Vends again.
    VendsAgain,
}

/// How a provider behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// With a reference that it has seen.
    pub on_repeat: OnRepeat,
    /// Whether an enquiry finds what was vended.
    pub remembers_vends: bool,
    /// Whether an enquiry finds what was refused.
    pub remembers_refusals: bool,
}

impl Conduct {
    /// Rejects repeats, remembers everything.
    pub const REJECTS_REPEATS: Self =
        Self { on_repeat: OnRepeat::Rejects, remembers_vends: true, remembers_refusals: true };
    /// Answers repeats from memory, remembers everything.
    pub const ANSWERS_REPEATS: Self =
        Self { on_repeat: OnRepeat::AnswersFromMemory, remembers_vends: true, remembers_refusals: true };
    /// Vends a repeat again; an enquiry finds vends, not refusals.
    pub const ONLY_ANSWERS_ENQUIRIES: Self =
        Self { on_repeat: OnRepeat::VendsAgain, remembers_vends: true, remembers_refusals: false };
    /// Vends a repeat again and remembers nothing.
    pub const FORGETS: Self =
        Self { on_repeat: OnRepeat::VendsAgain, remembers_vends: false, remembers_refusals: false };

    /// The same, but an enquiry about something refused finds nothing.
    #[must_use]
    pub const fn without_memory_of_refusals(mut self) -> Self {
        self.remembers_refusals = false;
        self
    }

    /// What an operator who knows it would declare.
    pub const fn capabilities(self) -> Capabilities {
        Capabilities {
            repeat_is_safe: !matches!(self.on_repeat, OnRepeat::VendsAgain),
            remembers_refusals: self.remembers_refusals,
            not_found_counts: self.remembers_vends,
            ..Capabilities::NONE
        }
    }
}
