//! What came of examining an adapter.

use std::{collections::BTreeSet, fmt};

use super::Law;

/// A law that an adapter broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The law.
    pub law: Law,
    /// What the world did.
    pub scripted: String,
    /// What the adapter made of it.
    pub seen: String,
}

/// What came of examining an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The laws that were kept.
    pub kept: Vec<Law>,
    /// The laws that were broken; empty for an adapter that may handle money.
    pub broken: Vec<Broken>,
    /// The laws that this world could not put to the test, or that another broken law hid.
    pub untested: Vec<Law>,
}

impl Judgement {
    /// Asserts that no law is broken, and that these and no others are untested: those of which nothing is known must be
    /// shown in another way, so a test names them.
    ///
    /// # Panics
    /// When that is not so, with everything that there is to say about it.
    #[track_caller]
    pub fn assert_kept_all_but(&self, untested: &[Law]) {
        assert!(self.broken.is_empty(), "{self}");
        let expected: BTreeSet<Law> = untested.iter().copied().collect();
        let found: BTreeSet<Law> = self.untested.iter().copied().collect();
        let surplus: Vec<&Law> = found.difference(&expected).collect();
        assert!(surplus.is_empty(), "these laws were not put to the test: {surplus:?}");
        let tested: Vec<&Law> = expected.difference(&found).collect();
        assert!(tested.is_empty(), "these laws are said not to be testable, and were kept: {tested:?}");
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, scripted, seen } = self;
        writeln!(out, "The adapter breaks the law {law:?}: {law}.")?;
        writeln!(out, "  What happened:  {scripted}")?;
        writeln!(out, "  What it did:    {seen}")?;
        write!(out, "  The danger:     {}", law.danger())
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kept, broken, untested) = (self.kept.len(), self.broken.len(), self.untested.len());
        write!(out, "{kept} laws kept, {broken} broken, {untested} not put to the test")?;
        self.broken.iter().try_for_each(|broken| write!(out, "\n\n{broken}"))
    }
}
