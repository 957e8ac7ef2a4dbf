//! A measurement compared with its baseline, as text.

use std::fmt;
use std::time::Duration;

use crate::measurement::Measurement;

/// A measurement, its baseline, and the factor by which it must be faster.
pub struct Comparison {
    pub title: &'static str,
    pub measured_is: &'static str,
    pub measured: Measurement,
    pub baseline: Measurement,
    pub at_least: u128,
}

impl Comparison {
    pub fn is_reached(&self) -> bool {
        self.measured.rate() >= self.baseline.rate().saturating_mul(self.at_least)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.measured.rate().saturating_mul(10).checked_div(self.baseline.rate());
        let tenths = tenths.unwrap_or_default();
        writeln!(f, "{}", self.title)?;
        line(f, "one at a time, 16 connections, best of 3", &self.baseline)?;
        line(f, self.measured_is, &self.measured)?;
        let verdict = if self.is_reached() { "reached" } else { "MISSED" };
        let (whole, tenth) = (tenths.div_euclid(10), tenths.rem_euclid(10));
        write!(f, "  {whole}.{tenth} times the baseline; target {}: {verdict}", self.at_least)
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, measured: &Measurement) -> fmt::Result {
    writeln!(
        f,
        "  {name:<42} {rate:>6} /s   p50 {p50:>6} ms   p99 {p99:>6} ms",
        rate = measured.rate(),
        p50 = milliseconds(measured.percentile(50)),
        p99 = milliseconds(measured.percentile(99)),
    )
}

/// In milliseconds with one decimal.
pub fn milliseconds(length: Duration) -> String {
    let tenths = length.as_micros().div_euclid(100);
    format!("{}.{}", tenths.div_euclid(10), tenths.rem_euclid(10))
}
