//! The result of examining an adapter.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::Requirement;

/// A requirement that an adapter violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The requirement.
    pub requirement: Requirement,
    /// What the world did.
    pub scripted: String,
    /// What the adapter did.
    pub seen: String,
}

/// The result of examining an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The requirements that are met.
    pub kept: Vec<Requirement>,
    /// The requirements that are violated. This list is empty for an adapter that may handle money.
    pub broken: Vec<Broken>,
    /// The requirements that this world could not test, or that the violation of another requirement hid.
    pub untested: Vec<Requirement>,
}

impl Judgement {
    /// The judgement of several examinations. A violation counts wherever it is found: some requirements apply to every call, so a
    /// scenario of another requirement, in any world, can show that they are violated.
    pub(super) fn of(examinations: impl IntoIterator<Item = Self>) -> Self {
        let (mut kept, mut broken, mut untested) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        for found in examinations {
            kept.extend(found.kept);
            broken.extend(found.broken.into_iter().map(|broken| (broken.requirement, broken)));
            untested.extend(found.untested);
        }
        let not_broken = |requirement: &Requirement| !broken.contains_key(requirement);
        Self {
            kept: kept.into_iter().filter(not_broken).collect(),
            untested: untested.into_iter().filter(not_broken).collect(),
            broken: broken.into_values().collect(),
        }
    }

    /// Asserts that no requirement is violated, and that exactly these are untested. A test must name the untested
    /// ones, because they must be shown in another way.
    ///
    /// # Panics
    /// If a requirement is violated, or if the untested ones are not exactly these. The message has the details.
    #[track_caller]
    pub fn assert_kept_all_but(&self, untested: &[Requirement]) {
        assert!(self.broken.is_empty(), "{self}");
        let expected: BTreeSet<Requirement> = untested.iter().copied().collect();
        let found: BTreeSet<Requirement> = self.untested.iter().copied().collect();
        let surplus: Vec<&Requirement> = found.difference(&expected).collect();
        assert!(surplus.is_empty(), "these requirements were not tested: {surplus:?}");
        let tested: Vec<&Requirement> = expected.difference(&found).collect();
        assert!(tested.is_empty(), "these requirements are listed as untested, but are met: {tested:?}");
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requirement, scripted, seen } = self;
        writeln!(out, "The adapter violates the requirement {requirement:?}: {requirement}.")?;
        writeln!(out, "  What happened:  {scripted}")?;
        writeln!(out, "  What it did:    {seen}")?;
        write!(out, "  The danger:     {}", requirement.danger())
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kept, broken, untested) = (self.kept.len(), self.broken.len(), self.untested.len());
        write!(out, "{kept} requirements met, {broken} violated, {untested} not tested")?;
        self.broken.iter().try_for_each(|broken| write!(out, "\n\n{broken}"))
    }
}
