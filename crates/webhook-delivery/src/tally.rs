//! What the attempts of a round say about the endpoint: pure rules.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use webhook::{SwitchedOff, is_accepted, next_pause};
use webhook_store::{Attempt, Lane};

use crate::{DeliverySettings, Outcome};

/// The rest after the first round without a success.
const FIRST_REST: Duration = Duration::from_secs(5);

/// After how many failures without a success a round ends: the endpoint is not there, and no more events are set aside.
const FAILURES_MAX: u32 = 5;

/// The result of sending one event to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) answer: Result<u16, &'static str>,
    /// How long until the next attempt. `None` if there is none.
    pub(crate) next: Option<Duration>,
    pub(crate) is_accepted: bool,
    pub(crate) is_gone: bool,
}

/// The attempts of a round so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    accepted: u32,
    failed: u32,
    is_gone: bool,
    took: Duration,
    first_failure: Option<DateTime<Utc>>,
}

/// What follows for the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) failing_since: Option<DateTime<Utc>>,
    pub(crate) failed_rounds: u32,
    pub(crate) lane: Lane,
    pub(crate) rest: Duration,
    pub(crate) switched_off: Option<SwitchedOff>,
}

/// The state of an endpoint before a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) failing_since: Option<DateTime<Utc>>,
    pub(crate) failed_rounds: u32,
    pub(crate) lane: Lane,
}

/// What came of the attempt with this number.
pub(crate) fn judge(outcome: Outcome, attempt: u16, random: u64) -> Judged {
    let (answer, asked) = match outcome {
        Outcome::Answered { status, retry_after } => (Ok(status), retry_after),
        Outcome::Unanswered(why) => (Err(why.as_str()), None),
    };
    let is_accepted = answer.is_ok_and(is_accepted);
    let is_gone = answer == Ok(410);
    let next = if is_accepted { None } else { next_pause(attempt, random, asked) };
    Judged { answer, next, is_accepted, is_gone }
}

impl Tally {
    pub(crate) fn count(&mut self, attempt: &Attempt, judged: &Judged) {
        let counter = if judged.is_accepted { &mut self.accepted } else { &mut self.failed };
        *counter = counter.saturating_add(1);
        self.is_gone |= judged.is_gone;
        self.took = self.took.saturating_add(attempt.took);
        if !judged.is_accepted {
            self.first_failure = self.first_failure.or(Some(attempt.at));
        }
    }

    /// Whether no more events are begun in this round.
    pub(crate) const fn ends_the_round(&self) -> bool {
        self.is_gone || self.accepted == 0 && self.failed >= FAILURES_MAX
    }

    /// What follows for an endpoint that was in this state before the round. `random` spreads the rests.
    pub(crate) fn verdict(
        &self,
        before: Before,
        now: DateTime<Utc>,
        random: u64,
        settings: &DeliverySettings,
    ) -> Verdict {
        let (failing_since, failed_rounds) = match (self.accepted, self.failed) {
            (0, 0) => (before.failing_since, before.failed_rounds),
            (0, _) => (before.failing_since.or(self.first_failure), before.failed_rounds.saturating_add(1)),
            (_, _) => (None, 0),
        };
        let attempts = self.accepted.saturating_add(self.failed);
        let is_slow =
            self.failed > self.accepted || self.took > settings.slow_after().saturating_mul(attempts);
        let lane = match (attempts, is_slow) {
            (0, _) => before.lane,
            (_, true) => Lane::Slow,
            (_, false) => Lane::Quick,
        };
        let long_ago = |since: DateTime<Utc>| {
            now.signed_duration_since(since)
                >= TimeDelta::from_std(settings.switch_off_after()).unwrap_or(TimeDelta::MAX)
        };
        let switched_off = if self.is_gone {
            Some(SwitchedOff::Gone)
        } else {
            failing_since.filter(|since| long_ago(*since)).map(|_since| SwitchedOff::Failing)
        };
        let rest = if failed_rounds == 0 {
            Duration::ZERO
        } else {
            let doubled = FIRST_REST
                .saturating_mul(1_u32.checked_shl(failed_rounds.saturating_sub(1)).unwrap_or(u32::MAX));
            clock::jittered(doubled.min(settings.longest_rest()), random)
        };
        Verdict { failing_since, failed_rounds, lane, rest, switched_off }
    }
}

#[cfg(test)]
mod tests {
    use feed::Position;

    use super::*;
    use crate::Unanswered;

    const NEVER: (Option<DateTime<Utc>>, u32) = (None, 0);

    fn now() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn answered(status: u16) -> Outcome {
        Outcome::Answered { status, retry_after: None }
    }

    /// The verdict about an endpoint that made this of its events, each after this time.
    fn after(before: (Option<DateTime<Utc>>, u32), outcomes: &[Outcome], took: Duration) -> (Verdict, bool) {
        let mut tally = Tally::default();
        for outcome in outcomes {
            let judged = judge(*outcome, 1, 0);
            let attempt = Attempt {
                event: Position::default(),
                kind: String::new(),
                attempt: 1,
                at: now(),
                took,
                answer: judged.answer,
                next: judged.next,
            };
            tally.count(&attempt, &judged);
        }
        let (failing_since, failed_rounds) = before;
        let before = Before { failing_since, failed_rounds, lane: Lane::Slow };
        (tally.verdict(before, now(), 0, &DeliverySettings::default()), tally.ends_the_round())
    }

    #[test]
    fn only_an_answer_of_the_200s_accepts_an_event_and_other_answers_are_tried_again() {
        for status in [200, 204, 299] {
            assert_eq!(judge(answered(status), 1, 0).next, None);
            assert!(judge(answered(status), 1, 0).is_accepted);
        }
        for status in [199, 300, 302, 404, 410, 500] {
            let judged = judge(answered(status), 1, 0);
            assert!(!judged.is_accepted && judged.next.is_some(), "{status}");
        }
        let silent = judge(Outcome::Unanswered(Unanswered::TimedOut), 10, 0);
        assert_eq!((silent.answer, silent.next), (Err("TIMED_OUT"), None), "the last attempt");
    }

    #[test]
    fn a_failing_endpoint_rests_longer_each_round_and_one_success_ends_that() {
        let (first, _) = after(NEVER, &[answered(500)], Duration::ZERO);
        assert_eq!((first.failing_since, first.failed_rounds, first.lane), (Some(now()), 1, Lane::Slow));
        assert!(first.rest <= FIRST_REST && first.rest >= FIRST_REST / 2);
        let (tenth, _) = after((Some(now()), 39), &[answered(500)], Duration::ZERO);
        assert_eq!(tenth.failed_rounds, 40);
        assert!(tenth.rest > Duration::from_secs(100) && tenth.rest <= Duration::from_mins(5));
        let (well, _) = after((Some(now()), 39), &[answered(500), answered(200)], Duration::ZERO);
        assert_eq!((well.failing_since, well.failed_rounds, well.rest), (None, 0, Duration::ZERO));
        assert_eq!(well.lane, Lane::Quick);
        let (idle, _) = after((Some(now()), 3), &[], Duration::ZERO);
        assert_eq!((idle.failed_rounds, idle.lane), (3, Lane::Slow));
    }

    #[test]
    fn an_endpoint_that_accepts_slowly_leaves_the_places_of_the_quick_ones() {
        assert_eq!(after(NEVER, &[answered(200); 3], Duration::from_secs(3)).0.lane, Lane::Slow);
        assert_eq!(after(NEVER, &[answered(200); 3], Duration::from_secs(1)).0.lane, Lane::Quick);
    }

    #[test]
    fn a_round_ends_early_if_nothing_is_accepted_or_the_endpoint_is_gone() {
        assert!(!after(NEVER, &[answered(500); 4], Duration::ZERO).1);
        assert!(after(NEVER, &[answered(500); 5], Duration::ZERO).1);
        let mixed = [[answered(200); 1].as_slice(), &[answered(500); 9]].concat();
        assert!(!after(NEVER, &mixed, Duration::ZERO).1);
        let (gone, ends) = after(NEVER, &[answered(200), answered(410)], Duration::ZERO);
        assert!(ends);
        assert_eq!(gone.switched_off, Some(SwitchedOff::Gone));
    }

    #[test]
    fn an_endpoint_is_switched_off_after_five_days_without_a_success() {
        let since = |days| (Some(now() - TimeDelta::days(days)), 100);
        assert_eq!(after(since(4), &[answered(500)], Duration::ZERO).0.switched_off, None);
        assert_eq!(
            after(since(5), &[answered(500)], Duration::ZERO).0.switched_off,
            Some(SwitchedOff::Failing)
        );
        assert_eq!(after(since(5), &[answered(200)], Duration::ZERO).0.switched_off, None);
    }
}
