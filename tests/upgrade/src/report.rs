//! What the rehearsal has shown.

use std::{fmt, time::Duration};

use acceptance::{tills::Answers, time::micros};

/// One step. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct Step {
    pub name: String,
    pub took: i64,
    /// Whether a server is stopped in it, which hands requests on to the other.
    pub stops_a_server: bool,
    /// The longest time without a sale.
    pub paused: i64,
    /// What confirms were answered meanwhile.
    pub answers: Answers,
}

/// All steps, and the result of the check.
#[derive(Default)]
pub struct Report {
    /// The release before.
    pub from: String,
    /// How long sales may pause while one server of two is replaced.
    pub longest_pause: Duration,
    pub steps: Vec<Step>,
    pub purchases: String,
    pub violations: Vec<String>,
    /// The servers that have ended, which none should.
    pub ended: Vec<String>,
}

impl Report {
    /// Whether every promise was kept.
    pub fn is_kept(&self) -> bool {
        self.violations.is_empty()
            && self.ended.is_empty()
            && self.steps.iter().all(|step| step.is_smooth(self.longest_pause))
    }
}

impl Step {
    fn is_smooth(&self, longest_pause: Duration) -> bool {
        let Answers { refused, unanswered, .. } = self.answers;
        refused == 0 && (unanswered == 0 || self.stops_a_server) && self.paused <= micros(longest_pause)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers { bought, refused, pending, unanswered } = self.answers;
        let (took, paused) = (seconds(self.took), seconds(self.paused));
        write!(out, "| {} | {took} | {paused} | {bought} | {pending} | {unanswered} | {refused} |", self.name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| Step | Took | Longest pause | Bought | Pending | Handed on | Refused |")?;
        writeln!(out, "|---|---|---|---|---|---|---|")?;
        for step in &self.steps {
            writeln!(out, "{step}")?;
        }
        writeln!(out)?;
        writeln!(out, "{} purchases, {} violations of invariants", self.purchases, self.violations.len())?;
        for line in self.violations.iter().chain(&self.ended) {
            writeln!(out, "  {line}")?;
        }
        let verdict = if self.is_kept() { "kept" } else { "BROKEN" };
        write!(
            out,
            "from {}: nothing is lost, nothing happens twice, no sale is refused, only a server that stops hands requests on, sales pause at most {} s: {verdict}",
            self.from,
            self.longest_pause.as_secs()
        )
    }
}

fn seconds(microseconds: i64) -> String {
    let tenths = microseconds / 100_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}
