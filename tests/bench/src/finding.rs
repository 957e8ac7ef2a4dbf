//! A result: what was measured, beside its yardstick and its goal.

use std::{fmt, time::Duration};

use crate::measurement::Measurement;

/// What a result must reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// In the unit of the result.
    Minimum(u128),
    /// In the unit of the result.
    Maximum(u128),
    /// In tenths of the yardstick.
    MinimumRatio(u128),
    /// In tenths of the yardstick.
    MaximumRatio(u128),
}

/// What the number of a result counts, and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// How often in a second.
    Rate,
    /// Microseconds, shown as milliseconds.
    Time,
    /// Microseconds of a processor.
    Processor,
    /// Bytes, shown as megabytes.
    Memory,
    /// Bytes.
    Bytes,
    /// Thousandths, shown as per cent.
    Share,
}

/// The same number from each round, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample(Vec<u128>);

/// A result.
#[derive(Debug)]
pub struct Finding {
    what: String,
    unit: Unit,
    measured: Sample,
    yardstick: Option<(&'static str, Sample)>,
    goal: Option<Goal>,
}

impl Sample {
    pub fn of(rounds: impl IntoIterator<Item = u128>) -> Self {
        Self(rounds.into_iter().collect())
    }

    pub fn of_rates(rounds: &[Measurement]) -> Self {
        Self::of(rounds.iter().map(Measurement::rate))
    }

    /// The latency that this percentage of the operations did not exceed, in microseconds.
    pub fn of_percentiles(rounds: &[Measurement], percent: usize) -> Self {
        Self::of_times(rounds.iter().map(|round| round.percentile(percent)))
    }

    /// In microseconds.
    pub fn of_times(times: impl IntoIterator<Item = Duration>) -> Self {
        Self::of(times.into_iter().map(|time| time.as_micros()))
    }

    /// Of two numbers in the middle, the lesser one.
    pub fn median(&self) -> u128 {
        self.ascending().get(self.0.len().saturating_sub(1) / 2).copied().unwrap_or_default()
    }

    /// Of two numbers in the middle, the greater one.
    fn upper_median(&self) -> u128 {
        self.ascending().get(self.0.len() / 2).copied().unwrap_or_default()
    }

    fn ascending(&self) -> Vec<u128> {
        let mut numbers = self.0.clone();
        numbers.sort_unstable();
        numbers
    }

    fn least(&self) -> u128 {
        self.0.iter().min().copied().unwrap_or_default()
    }

    fn greatest(&self) -> u128 {
        self.0.iter().max().copied().unwrap_or_default()
    }
}

impl Finding {
    pub fn new(what: impl Into<String>, unit: Unit, measured: Sample) -> Self {
        Self { what: what.into(), unit, measured, yardstick: None, goal: None }
    }

    /// Beside a yardstick in the same unit.
    #[must_use]
    pub fn beside(self, name: &'static str, yardstick: Sample) -> Self {
        Self { yardstick: Some((name, yardstick)), ..self }
    }

    #[must_use]
    pub fn must(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// Whether the goal was missed. A result without a goal misses nothing.
    pub fn is_missed(&self) -> bool {
        self.is_reached() == Some(false)
    }

    fn is_reached(&self) -> Option<bool> {
        let ratio = self.ratio();
        Some(match self.goal? {
            Goal::Minimum(least) => self.measured.median() >= least,
            Goal::Maximum(most) => self.measured.upper_median() <= most,
            Goal::MinimumRatio(tenths) => ratio.is_some_and(|ratio| ratio >= hundredths(tenths)),
            Goal::MaximumRatio(tenths) => ratio.is_some_and(|ratio| ratio <= hundredths(tenths)),
        })
    }

    /// The median of the ratios of all rounds, in hundredths, never rounded in favour of the goal. `None` if there is no
    /// yardstick, or if it is zero in a round.
    fn ratio(&self) -> Option<u128> {
        let ratios = self.ratios()?;
        Some(if self.is_bounded_above() { ratios.upper_median() } else { ratios.median() })
    }

    /// The result of each round in hundredths of the yardstick of the same round: what slows one down for a while slows
    /// down the other.
    fn ratios(&self) -> Option<Sample> {
        let (_, yardstick) = self.yardstick.as_ref()?;
        let is_complete = !self.measured.0.is_empty() && self.measured.0.len() == yardstick.0.len();
        let rounds = self.measured.0.iter().zip(&yardstick.0);
        let ratios = rounds.map(|(measured, yardstick)| {
            let up = if self.is_bounded_above() { yardstick.saturating_sub(1) } else { 0 };
            hundredths(measured.saturating_mul(10)).saturating_add(up).checked_div(*yardstick)
        });
        ratios.collect::<Option<Vec<u128>>>().filter(|_| is_complete).map(Sample)
    }

    const fn is_bounded_above(&self) -> bool {
        matches!(self.goal, Some(Goal::MaximumRatio(_)))
    }
}

/// A row of the table.
impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, unit, measured, yardstick, goal } = self;
        let (median, least, greatest) =
            (unit.show(measured.median()), unit.show(measured.least()), unit.show(measured.greatest()));
        let yardstick =
            yardstick.as_ref().map(|(name, yardstick)| format!("{name}: {}", unit.show(yardstick.median())));
        let ratio = self.ratio().map(with_hundredths).unwrap_or_default();
        let goal = goal.map(|goal| goal.show(*unit)).unwrap_or_default();
        let verdict = match self.is_reached() {
            Some(true) => "reached",
            Some(false) => "**missed**",
            None => "",
        };
        let yardstick = yardstick.unwrap_or_default();
        write!(
            out,
            "| {what} | {median} | {least} to {greatest} | {yardstick} | {ratio} | {goal} | {verdict} |"
        )
    }
}

impl Goal {
    fn show(self, unit: Unit) -> String {
        match self {
            Self::Minimum(least) => format!("at least {}", unit.show(least)),
            Self::Maximum(most) => format!("at most {}", unit.show(most)),
            Self::MinimumRatio(least) => format!("at least {} times", with_tenths(least)),
            Self::MaximumRatio(most) => format!("at most {} times", with_tenths(most)),
        }
    }
}

impl Unit {
    /// A number of this unit, for people.
    pub fn show(self, number: u128) -> String {
        match self {
            Self::Rate => format!("{} /s", grouped(number)),
            Self::Time => format!("{}.{:02} ms", grouped(number / 1_000), number % 1_000 / 10),
            Self::Processor => format!("{} µs", grouped(number)),
            Self::Memory => format!("{} MB", with_tenths(number.div_ceil(100_000))),
            Self::Bytes => format!("{} B", grouped(number)),
            Self::Share => format!("{} %", with_tenths(number)),
        }
    }
}

const fn hundredths(tenths: u128) -> u128 {
    tenths.saturating_mul(10)
}

/// `1.23` for 123 hundredths.
fn with_hundredths(hundredths: u128) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// `12.3` for 123 tenths.
fn with_tenths(tenths: u128) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// `12,345` for 12345.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(measured: u128, yardstick: u128, goal: Goal) -> Finding {
        let yardstick = Sample::of([yardstick]);
        Finding::new("it", Unit::Rate, Sample::of([measured])).beside("another", yardstick).must(goal)
    }

    #[test]
    fn a_sample_has_a_least_a_middle_and_a_greatest_number_in_any_order() {
        let summary = |numbers: &[u128]| {
            let sample = Sample::of(numbers.iter().copied());
            [sample.least(), sample.median(), sample.upper_median(), sample.greatest()]
        };
        assert_eq!(summary(&[5, 1, 3]), [1, 3, 3, 5]);
        assert_eq!(summary(&[8, 2, 6, 4]), [2, 4, 6, 8]);
        assert_eq!(summary(&[7]), [7, 7, 7, 7]);
        assert_eq!(summary(&[]), [0, 0, 0, 0]);
    }

    #[test]
    fn a_ratio_compares_numbers_of_the_same_round() {
        let compared = |measured: &[u128], yardstick: &[u128]| {
            let [measured, yardstick] =
                [measured, yardstick].map(|numbers| Sample::of(numbers.iter().copied()));
            Finding::new("it", Unit::Rate, measured).beside("another", yardstick).ratio()
        };
        // The machine was ten times as fast in the second round. The ratio of the medians would be 3.
        assert_eq!(compared(&[20, 200, 30], &[10, 100, 2]), Some(200));
        assert_eq!(compared(&[20, 200], &[10, 0]), None);
        assert_eq!(compared(&[20, 200], &[10]), None);
        assert_eq!(compared(&[], &[]), None);
    }

    #[test]
    fn a_ratio_is_never_rounded_in_favour_of_its_goal() {
        let ratio = |measured, goal| finding(measured, 1_000, goal).ratio();
        assert_eq!(ratio(2_499, Goal::MinimumRatio(25)), Some(249));
        assert_eq!(ratio(2_500, Goal::MinimumRatio(25)), Some(250));
        assert_eq!(ratio(1_500, Goal::MaximumRatio(15)), Some(150));
        assert_eq!(ratio(1_501, Goal::MaximumRatio(15)), Some(151));
    }

    #[test]
    fn a_goal_is_reached_exactly_at_its_bound() {
        let missed = |measured, goal| finding(measured, 1_000, goal).is_missed();
        for (goal, bound) in [(Goal::MinimumRatio(25), 2_500), (Goal::Minimum(700), 700)] {
            assert!(!missed(bound, goal) && missed(bound - 1, goal), "{goal:?}");
        }
        for (goal, bound) in [(Goal::MaximumRatio(15), 1_500), (Goal::Maximum(700), 700)] {
            assert!(!missed(bound, goal) && missed(bound + 1, goal), "{goal:?}");
        }
    }

    #[test]
    fn a_yardstick_of_zero_is_a_missed_goal_and_no_goal_is_never_missed() {
        assert!(finding(5, 0, Goal::MinimumRatio(1)).is_missed());
        assert!(finding(5, 0, Goal::MaximumRatio(90)).is_missed());
        assert!(!Finding::new("it", Unit::Rate, Sample::default()).is_missed());
    }

    #[test]
    fn a_row_shows_everything_in_its_unit() {
        let rates = Sample::of([12_345, 9_000, 13_000]);
        let row = Finding::new("it", Unit::Rate, rates).beside("another", Sample::of([5_000; 3]));
        assert_eq!(
            row.must(Goal::MinimumRatio(30)).to_string(),
            "| it | 12,345 /s | 9,000 /s to 13,000 /s | another: 5,000 /s | 2.46 | at least 3.0 times | **missed** |"
        );
        let alone = Finding::new("it", Unit::Memory, Sample::of([19_950_000]));
        let expected = "| it | 20.0 MB | 20.0 MB to 20.0 MB |  |  | at most 20.0 MB | reached |";
        assert_eq!(alone.must(Goal::Maximum(20_000_000)).to_string(), expected);
    }

    #[test]
    fn every_unit_has_its_own_form() {
        assert_eq!(Unit::Time.show(1_234_567), "1,234.56 ms");
        assert_eq!(Unit::Time.show(50), "0.05 ms");
        assert_eq!(Unit::Processor.show(1_000), "1,000 µs");
        assert_eq!(Unit::Bytes.show(2_500), "2,500 B");
        assert_eq!(Unit::Share.show(7), "0.7 %");
        assert_eq!(Unit::Rate.show(0), "0 /s");
    }
}
