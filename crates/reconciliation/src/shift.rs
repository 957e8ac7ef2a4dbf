//! Whether the times of a statement are of another time zone than they are read in. No I/O.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use crate::{booked::Found, coverage::StatementPeriod, listed::ListedVend};

/// The offsets of all zones in use are multiples of this.
const QUARTER: TimeDelta = TimeDelta::minutes(15);
/// Between the zones in use that are farthest apart.
const SHIFT_MAX: TimeDelta = TimeDelta::hours(26);
/// How exactly a shift must be a multiple of [`QUARTER`]: the clocks differ, too.
const REST_MAX: TimeDelta = TimeDelta::minutes(5);
/// Fewer vends than this prove no shift: one alone can be late by any time.
const VENDS_MIN: usize = 3;

/// The same shift of most vends that a statement and the books both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeShift {
    /// How much later the statement's times are. Negative if they are earlier.
    pub by: TimeDelta,
    /// How many vends it shifts.
    pub vends: usize,
    /// Of how many.
    pub compared: usize,
}

/// The shift of more than half of these vends, if it is beyond the tolerance of the period.
pub(crate) fn find_shift<'a>(
    vends: impl Iterator<Item = (&'a ListedVend, &'a Found)>,
    period: &StatementPeriod,
) -> Option<TimeShift> {
    let (mut shifted, mut compared) = (BTreeMap::<i64, usize>::new(), 0);
    for (listed, found) in vends {
        let Some(off) = distance(listed, found) else { continue };
        compared += 1;
        let quarters = nearest_quarters(off);
        let rest = off - QUARTER * i32::try_from(quarters).unwrap_or(i32::MAX);
        let is_shift = quarters != 0 && off.abs() <= SHIFT_MAX && rest.abs() <= REST_MAX;
        if is_shift && off.abs() > period.tolerance {
            *shifted.entry(quarters).or_default() += 1;
        }
    }
    let (quarters, vends) = shifted.into_iter().max_by_key(|(_quarters, vends)| *vends)?;
    let by = QUARTER * i32::try_from(quarters).ok()?;
    (vends >= VENDS_MIN && vends > compared / 2).then_some(TimeShift { by, vends, compared })
}

/// How far the listed time is after the purchase, or before it (negative). Zero within it. `None` if they are not the same vend.
fn distance(listed: &ListedVend, found: &Found) -> Option<TimeDelta> {
    let Found::Booked(booked) = found else { return None };
    if booked.provider_transaction.as_ref() != Some(&listed.provider_transaction) {
        return None;
    }
    let (at, span) = (listed.vended_at, booked.span()?);
    Some(at - at.clamp(span.from, span.until.max(span.from)))
}

fn nearest_quarters(off: TimeDelta) -> i64 {
    let half = QUARTER.num_seconds() / 2;
    (off.num_seconds() + half).div_euclid(QUARTER.num_seconds())
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use money::{Currency, Money};
    use vend::Product;

    use super::*;
    use crate::{booked::Booked, listed::ListedToken};

    fn midnight() -> DateTime<Utc> {
        "2026-11-26T22:00:00Z".parse().unwrap()
    }

    /// A vend that took a minute, and is listed `off` after its end.
    fn vend(off: TimeDelta) -> (ListedVend, Found) {
        let net = Money::from_minor(1_000, Currency::parse("BWP").unwrap());
        let ended_at = midnight() + TimeDelta::hours(9);
        let listed = ListedVend {
            provider_reference: "A".to_owned(),
            provider_transaction: "R".to_owned(),
            vended_at: ended_at + off,
            product: Product::Airtime,
            subscriber_identifier: "26771234567".to_owned(),
            net,
            token: ListedToken::Absent,
        };
        let booked = Booked::vended("R", net, ended_at);
        (listed, Found::Booked(Box::new(booked)))
    }

    fn shift(offs: &[TimeDelta]) -> Option<(TimeDelta, usize, usize)> {
        shift_beyond(TimeDelta::minutes(5), offs)
    }

    fn shift_beyond(tolerance: TimeDelta, offs: &[TimeDelta]) -> Option<(TimeDelta, usize, usize)> {
        let period = StatementPeriod { from: midnight(), until: midnight() + TimeDelta::days(1), tolerance };
        let vends: Vec<_> = offs.iter().copied().map(vend).collect();
        find_shift(vends.iter().map(|(listed, found)| (listed, found)), &period)
            .map(|shift| (shift.by, shift.vends, shift.compared))
    }

    #[test]
    fn most_vends_that_are_off_by_the_same_quarters_of_an_hour_are_of_another_zone() {
        let (two_hours, seconds) = (TimeDelta::hours(2), TimeDelta::seconds(40));
        assert_eq!(shift(&[two_hours, two_hours + seconds, two_hours - seconds]), Some((two_hours, 3, 3)));
        let earlier = -TimeDelta::minutes(345);
        assert_eq!(shift(&[earlier; 4]), Some((earlier, 4, 4)), "Nepal");
        assert_eq!(shift(&[two_hours, two_hours, two_hours, seconds, seconds]), Some((two_hours, 3, 5)));
    }

    #[test]
    fn times_that_agree_or_are_off_by_chance_are_of_the_same_zone() {
        let minutes = TimeDelta::minutes;
        assert_eq!(shift(&[minutes(0), minutes(4), minutes(-1)]), None);
        assert_eq!(shift(&[minutes(120), minutes(120)]), None, "two can be late by the same time");
        assert_eq!(
            shift(&[minutes(120), minutes(120), minutes(120), minutes(0), minutes(0), minutes(0)]),
            None
        );
        assert_eq!(shift(&[minutes(23); 5]), None, "a clock that is wrong");
        assert_eq!(shift_beyond(minutes(10), &[minutes(37); 5]), None, "with any tolerance");
        assert_eq!(shift_beyond(minutes(130), &[minutes(120); 5]), None, "within the tolerance");
        assert_eq!(shift(&[TimeDelta::days(178); 5]), None, "a day read as a month");
        assert_eq!(shift(&[minutes(30), minutes(75), minutes(135)]), None);
    }
}
