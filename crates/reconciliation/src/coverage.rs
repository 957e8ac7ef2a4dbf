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

/// Which of our purchases a run judged, and how many it left out, because a statement that was not reconciled yet may have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The begin, by our clock, of what was judged.
    pub judged_from: DateTime<Utc>,
    /// Its end.
    pub judged_until: DateTime<Utc>,
    /// Purchases that the statement does not have, and that were vended near its begin, or were open over it.
    pub left_out_at_begin: i64,
    /// The same at its end. One that was open over the whole period counts at its begin.
    pub left_out_at_end: i64,
}

impl Edges {
    /// Before any purchase was looked at. `coverage` is the period and those of the statements that adjoin it.
    pub(crate) fn of(period: &StatementPeriod, coverage: &StatementPeriod) -> Self {
        let has_earlier = coverage.from < period.from;
        let has_later = coverage.until > period.until;
        Self {
            judged_from: if has_earlier { period.earliest() } else { later(period.from, period.tolerance) },
            judged_until: if has_later { period.latest() } else { earlier(period.until, period.tolerance) },
            left_out_at_begin: 0,
            left_out_at_end: 0,
        }
    }

    /// Counts a purchase that is left out.
    pub(crate) fn leave_out(&mut self, span: Span) {
        let count = if span.from < self.judged_from {
            &mut self.left_out_at_begin
        } else {
            &mut self.left_out_at_end
        };
        *count = count.saturating_add(1);
    }
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
    fn what_is_judged_ends_before_an_edge_unless_the_statement_beside_it_was_reconciled() {
        let covered = |from, until| StatementPeriod { from: at(from), until: at(until), ..period() };
        let mut alone = Edges::of(&period(), &period());
        assert_eq!((alone.judged_from, alone.judged_until), (at(1_060), at(1_940)));
        let day_before = Edges::of(&period(), &covered(0, 2_000));
        assert_eq!((day_before.judged_from, day_before.judged_until), (at(940), at(1_940)));
        let both = Edges::of(&period(), &covered(0, 3_000));
        assert_eq!((both.judged_from, both.judged_until), (at(940), at(2_060)));
        for (from, until) in [(1_059, 1_070), (900, 2_100), (1_900, 1_950)] {
            alone.leave_out(Span { from: at(from), until: at(until) });
        }
        assert_eq!((alone.left_out_at_begin, alone.left_out_at_end), (2, 1));
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
