//! The behaviour of a provider on repeated requests and on enquiries.

use vend::Capabilities;

/// What a provider does with a reference that it has already seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRepeat {
    /// Answers that the reference exists, and vends nothing.
    Rejects,
    /// Repeats its first answer, and vends nothing.
    AnswersFromMemory,
    /// Vends again.
    VendsAgain,
}

/// The behaviour of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// What it does with a reference that it has already seen.
    pub on_repeat: OnRepeat,
    /// Whether an enquiry finds a vend.
    pub remembers_vends: bool,
    /// Whether an enquiry finds a refusal.
    pub remembers_refusals: bool,
}

impl Conduct {
    /// Rejects repeats and remembers everything.
    pub const REJECTS_REPEATS: Self =
        Self { on_repeat: OnRepeat::Rejects, remembers_vends: true, remembers_refusals: true };
    /// Answers repeats from its records and remembers everything.
    pub const ANSWERS_REPEATS: Self =
        Self { on_repeat: OnRepeat::AnswersFromMemory, remembers_vends: true, remembers_refusals: true };
    /// Vends a repeat again. An enquiry finds vends but no refusals.
    pub const ONLY_ANSWERS_ENQUIRIES: Self =
        Self { on_repeat: OnRepeat::VendsAgain, remembers_vends: true, remembers_refusals: false };
    /// Vends a repeat again and remembers nothing.
    pub const FORGETS: Self =
        Self { on_repeat: OnRepeat::VendsAgain, remembers_vends: false, remembers_refusals: false };

    /// The same conduct, but an enquiry finds no refusals.
    #[must_use]
    pub const fn without_memory_of_refusals(mut self) -> Self {
        self.remembers_refusals = false;
        self
    }

    /// The capabilities that an operator should declare for this conduct.
    pub const fn capabilities(self) -> Capabilities {
        Capabilities {
            repeat_is_safe: !matches!(self.on_repeat, OnRepeat::VendsAgain),
            remembers_refusals: self.remembers_refusals,
            not_found_counts: self.remembers_vends,
            ..Capabilities::NONE
        }
    }
}
