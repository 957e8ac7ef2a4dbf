//! Where the next claim of a provider's due purchases begins.

use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;

/// For how long claims begin at the oldest that was seen. Then one looks at everything that is due. A purchase may have become due before
/// that oldest one: its transaction had not ended yet, or another worker held it. It waits for this time at most, and for a free slot.
const LOOK_AT_ALL_AFTER: Duration = Duration::from_secs(1);

/// The oldest due time that is left, as far as the latest claims saw it. So a claim amid a backlog does not pass again over the index
/// entries of those that have ended meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueSince(Option<Seen>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    oldest: DateTime<Utc>,
    /// When the latest claim that looked at everything began.
    all_at: Monotonic,
}

impl DueSince {
    /// After a claim that began at `now` and saw `oldest`. `may_have_left` says that it took all that it could, so more may be due.
    pub(crate) fn after_a_claim(
        self,
        now: Monotonic,
        oldest: Option<DateTime<Utc>>,
        may_have_left: bool,
    ) -> Self {
        if !may_have_left {
            return Self::default();
        }
        Self(match self.seen(now) {
            Some(seen) => Some(Seen { oldest: oldest.unwrap_or(seen.oldest), ..seen }),
            None => oldest.map(|oldest| Seen { oldest, all_at: now }),
        })
    }

    /// The time before which a claim that begins `now` need not look. `None`: it looks at everything that is due.
    pub(crate) fn time(self, now: Monotonic) -> Option<DateTime<Utc>> {
        self.seen(now).map(|seen| seen.oldest)
    }

    fn seen(self, now: Monotonic) -> Option<Seen> {
        self.0.filter(|seen| now.elapsed_since(seen.all_at) < LOOK_AT_ALL_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use clock::{Clock, ManualClock};

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn a_claim_amid_a_backlog_begins_at_the_oldest_that_the_last_one_saw() {
        let now = ManualClock::at(at(0)).monotonic();
        let first = DueSince::default().after_a_claim(now, Some(at(5)), true);
        assert_eq!(first.time(now), Some(at(5)));
        let none = first.after_a_claim(now, None, true);
        assert_eq!(none.time(now), Some(at(5)), "not all organisations were looked at");
        assert_eq!(first.after_a_claim(now, Some(at(7)), true).time(now), Some(at(7)));
    }

    #[test]
    fn a_claim_looks_at_everything_when_the_last_one_left_nothing() {
        let now = ManualClock::at(at(0)).monotonic();
        let left = DueSince::default().after_a_claim(now, Some(at(5)), true);
        assert_eq!(left.after_a_claim(now, Some(at(6)), false), DueSince::default());
    }

    #[test]
    fn one_claim_in_a_while_looks_at_everything_however_many_there_are() {
        let clock = ManualClock::at(at(0));
        let mut since = DueSince::default();
        let looks_at_all = (0..40).filter(|_| {
            let now = clock.monotonic();
            let looks_at_all = since.time(now).is_none();
            since = since.after_a_claim(now, Some(at(5)), true);
            clock.advance(LOOK_AT_ALL_AFTER / 10);
            looks_at_all
        });
        assert_eq!(looks_at_all.count(), 4);
    }
}
