//! All results of a run, as text.

use std::fmt;

use crate::{arguments::Effort, finding::Finding};

/// What is known so far. Each result is printed as soon as it is known.
pub struct Report {
    head: String,
    findings: Vec<Finding>,
}

impl Report {
    /// Begins with what was measured, and where.
    pub fn begin(about: &impl fmt::Display, effort: Effort) -> Self {
        let (rounds, seconds) = (effort.rounds, effort.length.as_secs());
        let head = format!(
            "{about}\n\n\
             {rounds} rounds of {seconds} s. The first number of a row is the median, and so is that of its yardstick.\n\n\
             | What | Measured | Least to greatest | Yardstick | Ratio | Goal | |\n\
             |---|---|---|---|---|---|---|"
        );
        println!("{head}");
        Self { head, findings: Vec::new() }
    }

    pub fn add(&mut self, findings: Vec<Finding>) {
        for finding in &findings {
            println!("{finding}");
        }
        self.findings.extend(findings);
    }

    /// Whether no goal was missed.
    pub fn is_reached(&self) -> bool {
        !self.findings.iter().any(Finding::is_missed)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.head)?;
        self.findings.iter().try_for_each(|finding| write!(out, "\n{finding}"))
    }
}
