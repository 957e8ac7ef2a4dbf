//! What the rehearsal has shown.

use std::{collections::BTreeMap, fmt, time::Duration};

use acceptance::{tills::Answers, time::micros};

use crate::fault::Fault;

/// How much longer the sales may pause than the cluster.
const GOAL: Duration = Duration::from_secs(5);

/// One round. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The longest time without a commit of the cluster itself.
    pub cluster_paused: i64,
    /// The longest time without a sale.
    pub sales_paused: i64,
    /// How much longer the sales paused than the cluster, or than a fault that is not survived lasted.
    pub behind: i64,
    /// From the cluster's first commit, or the end of a fault that is not survived, to the end of the last purchase that was
    /// begun before the sales went on.
    pub settled: i64,
    /// From the end of the fault until the cluster was whole.
    pub whole: i64,
    /// What the tills were answered from the fault until sales went on.
    pub answers: Answers,
}

/// All rounds, and the result of the check.
#[derive(Default)]
pub struct Report {
    pub rounds: BTreeMap<Fault, Vec<Round>>,
    pub purchases: String,
    pub violations: Vec<String>,
    /// The servers that have ended, which none should.
    pub ended: Vec<String>,
}

impl Report {
    /// Whether every promise was kept.
    pub fn is_kept(&self) -> bool {
        let in_time = |round: &Round| round.behind <= micros(GOAL);
        self.violations.is_empty() && self.ended.is_empty() && self.rounds.values().flatten().all(in_time)
    }
}

impl fmt::Display for Round {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers { bought, refused, pending, unanswered } = self.answers;
        write!(
            out,
            "cluster paused {}, sales paused {}, that is {} longer, last doubt ended {} after the cluster was back, whole {} after \
             the repair; meanwhile {bought} bought, {refused} refused, {pending} pending, {unanswered} unanswered",
            seconds(self.cluster_paused),
            seconds(self.sales_paused),
            seconds(self.behind),
            seconds(self.settled),
            seconds(self.whole),
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| Fault | Rounds | Cluster paused | Sales paused | Longer | Last doubt ended | Whole after repair |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|---|")?;
        for (fault, rounds) in &self.rounds {
            let column = |of: fn(&Round) -> i64| {
                let mut times: Vec<i64> = rounds.iter().map(of).collect();
                times.sort_unstable();
                let (median, greatest) = (times.get(times.len() / 2), times.last());
                let [median, greatest] =
                    [median, greatest].map(|time| seconds(time.copied().unwrap_or_default()));
                if rounds.len() > 1 { format!("{median} (at most {greatest})") } else { median }
            };
            writeln!(
                out,
                "| {fault} | {} | {} | {} | {} | {} | {} |",
                rounds.len(),
                column(|round| round.cluster_paused),
                column(|round| round.sales_paused),
                column(|round| round.behind),
                column(|round| round.settled),
                column(|round| round.whole),
            )?;
        }
        writeln!(out)?;
        writeln!(out, "{} purchases, {} violations of invariants", self.purchases, self.violations.len())?;
        for violation in &self.violations {
            writeln!(out, "  {violation}")?;
        }
        for ended in &self.ended {
            writeln!(out, "  {ended}")?;
        }
        let verdict = if self.is_kept() { "kept" } else { "BROKEN" };
        write!(
            out,
            "nothing is lost, nothing happens twice, no server restarts, sales pause at most 5 s longer than the cluster: {verdict}"
        )
    }
}

fn seconds(microseconds: i64) -> String {
    let tenths = microseconds / 100_000;
    format!("{}{}.{} s", if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10)
}
