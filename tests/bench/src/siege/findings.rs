//! The results of a siege as text, and whether they reach the targets.

use std::fmt;
use std::time::Duration;

use super::LOGIN_WITHIN;
use super::attackers::FloodOutcome;
use crate::measurement::Measurement;

/// The maximum peak memory of the server, in bytes.
const PEAK_AT_MOST: u64 = 100_000_000;
/// The maximum p50 of a confirm, in tenths of the p50 without a flood.
const TENTHS_AT_MOST: u128 = 15;

/// Correct logins, and how many succeeded in time.
pub struct Logins {
    pub tried: usize,
    pub succeeded: usize,
    pub latencies: Measurement,
}

/// The measurements during one flood, or without a flood.
pub struct Phase {
    pub name: &'static str,
    pub confirms: Measurement,
    pub outcome: Option<FloodOutcome>,
    pub logins: Option<Logins>,
    /// The server's peak memory until the end of this phase, in bytes.
    pub peak: u64,
}

impl Phase {
    pub const fn quiet(name: &'static str, confirms: Measurement, peak: u64) -> Self {
        Self { name, confirms, outcome: None, logins: None, peak }
    }

    fn is_held(&self, quiet: Duration) -> bool {
        let logins = self.logins.as_ref().is_none_or(|logins| logins.succeeded == logins.tried);
        let p50 = self.confirms.percentile(50).as_micros().saturating_mul(10);
        let is_measured =
            self.confirms.count() > 0 && self.outcome.as_ref().is_none_or(FloodOutcome::is_a_flood);
        is_measured && logins && p50 <= quiet.as_micros().saturating_mul(TENTHS_AT_MOST)
    }
}

/// The results of all phases.
pub struct Findings {
    /// The server's memory at the start, in bytes.
    pub started: u64,
    pub phases: Vec<Phase>,
    /// Its memory at the end, in bytes.
    pub left: u64,
}

impl Findings {
    pub fn is_held(&self) -> bool {
        self.peak() <= PEAK_AT_MOST && self.phases.iter().all(|phase| phase.is_held(self.quiet()))
    }

    fn quiet(&self) -> Duration {
        self.phases.first().map(|phase| phase.confirms.percentile(50)).unwrap_or_default()
    }

    fn peak(&self) -> u64 {
        self.phases.iter().map(|phase| phase.peak).max().unwrap_or_default()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "One confirm at a time, during floods from 40 addresses. Peak memory: of the server until then."
        )?;
        writeln!(
            f,
            "{:<26}{:>9}{:>9}{:>9}{:>9}{:>10}   {:<34}{:<30}",
            "",
            "confirms",
            "p50 ms",
            "p99 ms",
            "x quiet",
            "peak MB",
            "correct logins",
            "flood: per second, answers"
        )?;
        for phase in &self.phases {
            phase.line(self.quiet(), f)?;
        }
        let (began, left) = (megabytes(self.started), megabytes(self.left));
        writeln!(
            f,
            "memory: {began} MB at the start, {} MB at its peak, {left} MB at the end",
            megabytes(self.peak())
        )?;
        let verdict = if self.is_held() { "reached" } else { "MISSED" };
        write!(
            f,
            "target: peak at most 100 MB, every correct login within {} s, p50 at most 1.5 times the quiet one: {verdict}",
            LOGIN_WITHIN.as_secs()
        )
    }
}

impl Phase {
    fn line(&self, quiet: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let confirms = &self.confirms;
        let tenths = tenths(confirms.percentile(50), quiet);
        let times = format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10));
        let logins = self.logins.as_ref().map(Logins::to_string).unwrap_or_default();
        let outcome = self.outcome.as_ref().map(FloodOutcome::to_string).unwrap_or_default();
        writeln!(
            f,
            "{:<26}{:>9}{:>9}{:>9}{:>9}{:>10}   {:<34}{:<30}",
            self.name,
            confirms.count(),
            milliseconds(confirms.percentile(50)),
            milliseconds(confirms.percentile(99)),
            times,
            megabytes(self.peak),
            logins,
            outcome,
        )
    }
}

impl fmt::Display for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slowest = milliseconds(self.latencies.percentile(100));
        write!(f, "{} of {}, slowest {slowest} ms", self.succeeded, self.tried)
    }
}

impl FloodOutcome {
    /// Whether enough of the flood was answered. A flood that the server does not process proves nothing.
    fn is_a_flood(&self) -> bool {
        let all = self.all();
        let unanswered = self.statuses.get(&0).copied().unwrap_or_default();
        all > 0 && unanswered.saturating_mul(10) <= all
    }

    fn all(&self) -> u64 {
        self.statuses.values().copied().fold(0, u64::saturating_add)
    }
}

impl fmt::Display for FloodOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        let milliseconds = u64::try_from(self.lasted.as_millis()).unwrap_or(u64::MAX);
        write!(f, "{}/s:", all.saturating_mul(1_000).checked_div(milliseconds).unwrap_or_default())?;
        for (status, times) in &self.statuses {
            match status {
                0 => write!(f, " {times} without an answer")?,
                status => write!(f, " {times} x {status}")?,
            }
        }
        Ok(())
    }
}

fn tenths(measured: Duration, quiet: Duration) -> u128 {
    measured.as_micros().saturating_mul(10).checked_div(quiet.as_micros()).unwrap_or_default()
}

const fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// In milliseconds with one decimal.
fn milliseconds(length: Duration) -> String {
    let tenths = length.as_micros().div_euclid(100);
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}
