//! What the drill has shown.

use std::{collections::BTreeSet, fmt};

use crate::recovery::Recovery;

/// The restore to the end of the archive. Times are in microseconds, from the destruction.
pub struct ToTheEnd {
    pub purchases: String,
    /// Until the database was there again.
    pub recovered: i64,
    /// Until the first sale.
    pub sold: i64,
    pub violations: Vec<String>,
}

/// The restore to a moment.
pub struct ToTheMoment {
    /// What the provider has vended of what was sent after the moment.
    pub lost: BTreeSet<String>,
    /// What the provider has vended and the restored books do not have.
    pub missing: BTreeSet<String>,
    /// The attempts that were committed before the moment. One that was begun before it and committed after it is neither here
    /// nor in `lost`: the restored books may have it or not.
    pub committed: BTreeSet<String>,
    /// Purchase numbers that two orders have.
    pub repeated: Vec<i64>,
    /// What the operator found and decided.
    pub recovery: Recovery,
}

/// Both.
pub struct Report {
    pub to_the_end: ToTheEnd,
    pub to_the_moment: ToTheMoment,
}

impl Report {
    /// Whether every promise was kept.
    pub fn is_kept(&self) -> bool {
        let ToTheMoment { lost, missing, committed, repeated, recovery } = &self.to_the_moment;
        self.to_the_end.violations.is_empty()
            && repeated.is_empty()
            && !lost.is_empty()
            && lost.is_subset(missing)
            && committed.is_disjoint(missing)
            && recovery.is_complete(missing)
    }
}

impl fmt::Display for ToTheEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purchases, recovered, sold, violations } = self;
        write!(
            out,
            "to the end of the archive: the database was back after {}, and sold after {}; {purchases} purchases, {} violations \
             of invariants",
            seconds(*recovered),
            seconds(*sold),
            violations.len()
        )?;
        violations.iter().try_for_each(|violation| write!(out, "\n  {violation}"))
    }
}

impl fmt::Display for ToTheMoment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lost, missing, committed, repeated, recovery } = self;
        write!(
            out,
            "to a moment: {} vends after it, {} vends that the books do not have, {} purchase numbers given out twice",
            lost.len(),
            missing.len(),
            repeated.len()
        )?;
        let still_there = lost.difference(missing);
        still_there
            .into_iter()
            .try_for_each(|one| write!(out, "\n  {one} is in the books, and came later"))?;
        let mut lost_too = committed.intersection(missing);
        lost_too
            .try_for_each(|one| write!(out, "\n  {one} is missing, and was committed before the moment"))?;
        repeated.iter().try_for_each(|number| write!(out, "\n  {number} was given out twice"))?;
        write!(out, "\n{recovery}")
    }
}

impl Recovery {
    /// Whether exactly the missing vends were found, entered once and decided, and what is owed is what was vended.
    fn is_complete(&self, missing: &BTreeSet<String>) -> bool {
        let Self { unmatched, entered, entered_again, charged, waived, undecided, left, owed, vended } = self;
        let decided = charged.saturating_add(*waived);
        unmatched == missing
            && (*entered, *entered_again) == (missing.len(), 0)
            && (decided, *undecided) == (missing.len(), 0)
            && left.is_empty()
            && owed == vended
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unmatched, entered, entered_again, charged, waived, undecided, left, owed, vended } = self;
        write!(
            out,
            "the provider's statement: {} unmatched vends, {entered} entered, {entered_again} when it was entered again; {charged} \
             charged, {waived} waived, {undecided} undecided; {} other differences; owed to the provider {owed}, vended by it \
             {vended} (hundredths)",
            unmatched.len(),
            left.len()
        )?;
        left.iter().try_for_each(|reference| write!(out, "\n  {reference} differs"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n{}", self.to_the_end, self.to_the_moment)?;
        let verdict = if self.is_kept() { "kept" } else { "BROKEN" };
        write!(
            out,
            "the archive loses nothing, a moment loses what came after it and nothing else, which the \
             provider's statement brings back; no number is given out twice: {verdict}"
        )
    }
}

fn seconds(microseconds: i64) -> String {
    let tenths = microseconds / 100_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}
