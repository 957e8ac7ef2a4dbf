//! What a statement covers, and whether it must have a vend. The two clocks differ, so a vend at the edge of a period may be in
//! this statement or in the one beside it.

use chrono::{DateTime, TimeDelta, Utc};

/// The time that a statement covers, and how exact its times are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementPeriod {
    /// Its begin.
    pub from: DateTime<Utc>,
    /// Its end, which is not in it.
    pub until: DateTime<Utc>,
    /// How far the provider's clock may be from ours.
    pub tolerance: TimeDelta,
}

/// When a purchase was vended, as far as we know: after it was made, and before its vend became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: DateTime<Utc>,
    pub(crate) until: DateTime<Utc>,
}

impl StatementPeriod {
    /// Whether a line of this time may be in the statement.
    pub fn admits(&self, vended_at: DateTime<Utc>) -> bool {
        vended_at >= self.earliest() && vended_at < later(self.until, self.tolerance)
    }

    /// The first moment, by our clock, of what may be in the statement.
    pub(crate) fn earliest(&self) -> DateTime<Utc> {
        earlier(self.from, self.tolerance)
    }

    /// The end, by our clock, of what may be in the statement.
    pub(crate) fn latest(&self) -> DateTime<Utc> {
        later(self.until, self.tolerance)
    }

    /// Whether the provider's clock was in this period, whatever the moment of the vend.
    pub(crate) fn holds(&self, span: Span) -> bool {
        span.from >= later(self.from, self.tolerance) && later(span.until, self.tolerance) < self.until
    }

    /// Whether the provider's time can be that of this vend.
    pub(crate) fn agrees(&self, vended_at: DateTime<Utc>, span: Span) -> bool {
        vended_at >= earlier(span.from, self.tolerance) && vended_at <= later(span.until, self.tolerance)
    }
}

fn later(at: DateTime<Utc>, by: TimeDelta) -> DateTime<Utc> {
    at.checked_add_signed(by).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

fn earlier(at: DateTime<Utc>, by: TimeDelta) -> DateTime<Utc> {
    at.checked_sub_signed(by).unwrap_or(DateTime::<Utc>::MIN_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn period() -> StatementPeriod {
        StatementPeriod { from: at(1_000), until: at(2_000), tolerance: TimeDelta::seconds(60) }
    }

    #[test]
    fn a_statement_must_have_a_vend_only_if_no_clock_puts_it_outside() {
        let holds = |from, until| period().holds(Span { from: at(from), until: at(until) });
        assert!(holds(1_060, 1_939));
        assert!(!holds(1_059, 1_500) && !holds(1_500, 1_940));
    }

    #[test]
    fn a_time_agrees_if_it_is_near_the_time_in_which_the_vend_happened() {
        let agrees = |vended| period().agrees(at(vended), Span { from: at(1_500), until: at(1_510) });
        assert!(agrees(1_440) && agrees(1_570));
        assert!(!agrees(1_439) && !agrees(1_571));
    }

    #[test]
    fn a_line_may_be_outside_of_the_period_by_the_tolerance() {
        assert!(period().admits(at(940)) && period().admits(at(2_059)));
        assert!(!period().admits(at(939)) && !period().admits(at(2_060)));
    }
}
