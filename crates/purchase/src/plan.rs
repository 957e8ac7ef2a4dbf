//! The retry plan: when the worker looks at an open purchase again, and when it may attempt a managed one again.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::{after, before};
use crate::{Handling, Life, Sending, State, StateName, Timing, TimingError};

/// How the worker spreads its looks and its attempts. Part of the time chain: scaled down in tests, never reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// Least pause between two looks at a purchase in doubt.
    pub first_look: Duration,
    /// Longest pause between two looks: doubt is asked about for as long as it lasts.
    pub longest_pause: Duration,
    /// From the first send of a managed purchase until each of its further vend requests is due (specification, section
    /// 8: five within thirty minutes).
    pub attempts: [Duration; 5],
}

impl Default for RetryPlan {
    fn default() -> Self {
        Self {
            first_look: Duration::from_secs(5),
            longest_pause: Duration::from_mins(15),
            attempts: [1, 3, 7, 14, 25].map(Duration::from_mins),
        }
    }
}

impl RetryPlan {
    /// When the worker is to look at a purchase next that became `life` at `at`; never again once it has ended.
    ///
    /// A holder is left alone until its lease ends. An attempt waits for its moment in the plan. Doubt is looked at again
    /// after half as long as it has lasted since the last send, and at every moment that changes what an answer may
    /// prove: the end of the quarantine, the second "no record", the next attempt, the end of the window.
    pub fn due_at(&self, life: &Life, at: DateTime<Utc>, timing: &Timing) -> Option<DateTime<Utc>> {
        let given_up = match &life.state {
            State::Successful { .. } | State::Failed => return None,
            State::RetryDue => self.next_attempt(life, at, timing),
            State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => {
                self.next_look(life, sending, at, timing)
            }
        };
        Some(life.lease_until.unwrap_or(given_up))
    }

    /// From when on the worker may make the next vend request of a managed purchase; none of another, and none when all
    /// are made.
    pub fn attempt_at(&self, life: &Life, timing: &Timing) -> Option<DateTime<Utc>> {
        let wait = match life.handling {
            Handling::SelfManaged => None,
            Handling::Managed => self.attempts.get(usize::from(life.requests)),
        };
        let first_sent_at = before(life.window_closes_at, timing.window);
        wait.map(|wait| after(first_sent_at, *wait).min(life.window_closes_at))
    }

    /// The pauses are in order, and the attempts, and all of these are made before the window closes.
    pub(crate) fn check(&self, window: Duration) -> Result<(), TimingError> {
        let wrong = |shorter, longer| Err(TimingError { shorter, longer });
        if self.first_look.is_zero() {
            return wrong("nothing", "first_look");
        }
        if self.first_look > self.longest_pause {
            return wrong("first_look", "longest_pause");
        }
        let ascend = self.attempts.iter().zip(self.attempts.iter().skip(1)).all(|(one, next)| one < next);
        if !ascend {
            return wrong("each attempt", "the next");
        }
        if self.attempts.iter().any(|attempt| *attempt >= window) {
            return wrong("every attempt", "window");
        }
        Ok(())
    }

    /// One whose moment has passed was not made, for want of something: that is not tried over and over.
    fn next_attempt(&self, life: &Life, at: DateTime<Utc>, timing: &Timing) -> DateTime<Utc> {
        let moment = self.attempt_at(life, timing).unwrap_or(life.window_closes_at);
        if moment > at { moment } else { after(at, self.first_look) }
    }

    fn next_look(&self, life: &Life, sending: &Sending, at: DateTime<Utc>, timing: &Timing) -> DateTime<Utc> {
        let lasted = (at - sending.last_sent_at).to_std().unwrap_or_default();
        let pause = (lasted / 2).max(self.first_look).min(self.longest_pause);
        let is_in_doubt = life.state.name() == StateName::InDoubt;
        // The worker alone closes the window: an integrator who keeps asking must not put that off.
        if is_in_doubt && life.is_past_window(at) {
            return at;
        }
        let milestones = [
            Some(after(sending.last_sent_at, timing.quarantine)),
            sending.no_record_since.map(|first| after(first, timing.not_found_gap)),
            self.attempt_at(life, timing).filter(|_| is_in_doubt),
            Some(life.window_closes_at),
        ];
        let ahead = milestones.into_iter().flatten().filter(|milestone| *milestone > at);
        ahead.fold(after(at, pause), DateTime::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fence;

    const FIRST_SENT: i64 = 1_000_000;

    fn second(since_first_sent: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(FIRST_SENT + since_first_sent, 0).unwrap()
    }

    fn life(handling: Handling, state: State, requests: u8) -> Life {
        Life {
            handling,
            state,
            fence: Fence(3),
            lease_until: None,
            attempt: 1,
            requests,
            window_closes_at: second(1_800),
        }
    }

    /// When a purchase that is given up at `at` is looked at again, in seconds since its first send.
    fn next(life: &Life, at: i64) -> Option<i64> {
        let timing = Timing::default();
        timing.plan.due_at(life, second(at), &timing).map(|due| due.timestamp() - FIRST_SENT)
    }

    fn doubt(last_sent: i64) -> Sending {
        Sending { copies: 1, last_sent_at: second(last_sent), no_record_since: None }
    }

    fn self_managed(state: State) -> Life {
        life(Handling::SelfManaged, state, 0)
    }

    #[test]
    fn what_has_ended_is_never_looked_at_again() {
        let successful = State::Successful { provider_transaction: "1".to_owned() };
        for state in [successful, State::Failed] {
            assert_eq!(next(&self_managed(state), 10), None);
        }
    }

    #[test]
    fn a_holder_is_left_alone_until_its_lease_ends() {
        let states =
            [State::InFlight(doubt(0)), State::InDoubt(doubt(0)), State::RetryDue, State::Review(doubt(0))];
        for state in states {
            let held = Life { lease_until: Some(second(185)), ..life(Handling::Managed, state, 0) };
            assert_eq!((next(&held, 0), next(&held, 600)), (Some(185), Some(185)));
        }
    }

    #[test]
    fn doubt_is_looked_at_again_after_half_as_long_as_it_has_lasted() {
        let in_doubt = self_managed(State::InDoubt(doubt(0)));
        for (at, then) in [(0, 5), (4, 9), (10, 15), (20, 30), (200, 300), (390, 585), (700, 1_050)] {
            assert_eq!(next(&in_doubt, at), Some(then), "{at}");
        }
    }

    #[test]
    fn the_pause_is_never_longer_than_the_longest() {
        let in_review = self_managed(State::Review(doubt(0)));
        assert_eq!(next(&in_review, 1_800), Some(2_700));
        assert_eq!(next(&in_review, 86_400), Some(86_400 + 900));
    }

    #[test]
    fn no_moment_that_changes_what_an_answer_proves_is_slept_through() {
        let in_doubt = self_managed(State::InDoubt(doubt(0)));
        assert_eq!(next(&in_doubt, 590), Some(600), "the quarantine ends");
        assert_eq!(next(&in_doubt, 600), Some(900));
        assert_eq!(next(&in_doubt, 1_700), Some(1_800), "the window closes");
        assert_eq!(next(&in_doubt, 2_000), Some(2_000), "and the worker has not closed it yet");
        let once = Sending { no_record_since: Some(second(601)), ..doubt(0) };
        assert_eq!(next(&self_managed(State::InDoubt(once)), 601), Some(661), "a second answer counts");
        assert_eq!(next(&self_managed(State::Review(once)), 601), Some(661));
        assert_eq!(next(&self_managed(State::InDoubt(doubt(60))), 640), Some(660), "since the last send");
    }

    #[test]
    fn an_attempt_is_due_at_its_moment_after_the_first_send() {
        let due = |requests| next(&life(Handling::Managed, State::RetryDue, requests), 30);
        assert_eq!([0, 1, 2, 3, 4].map(due), [60, 180, 420, 840, 1_500].map(Some));
        assert_eq!(due(5), Some(1_800), "nothing is left to do but to close it");
        let late = |at| next(&life(Handling::Managed, State::RetryDue, 0), at);
        assert_eq!([59, 60, 300, 1_800].map(late), [60, 65, 305, 1_805].map(Some));
    }

    #[test]
    fn managed_doubt_is_looked_at_when_the_next_attempt_is_due_and_review_is_not() {
        let managed = |state, requests| life(Handling::Managed, state, requests);
        assert_eq!(next(&managed(State::InDoubt(doubt(0)), 0), 50), Some(60));
        assert_eq!(next(&managed(State::InDoubt(doubt(60)), 1), 170), Some(180));
        assert_eq!(next(&managed(State::Review(doubt(60)), 1), 170), Some(225));
        assert_eq!(next(&self_managed(State::InDoubt(doubt(0))), 50), Some(75));
    }

    #[test]
    fn only_a_managed_purchase_has_attempts_and_five_of_them() {
        let timing = Timing::default();
        let attempt =
            |handling, requests| timing.plan.attempt_at(&life(handling, State::RetryDue, requests), &timing);
        assert_eq!(attempt(Handling::Managed, 0), Some(second(60)));
        assert_eq!(attempt(Handling::Managed, Timing::MANAGED_REQUESTS_MAX), None);
        assert_eq!(attempt(Handling::SelfManaged, 0), None);
        assert_eq!(timing.plan.attempts.len(), usize::from(Timing::MANAGED_REQUESTS_MAX));
    }

    #[test]
    fn a_plan_out_of_order_is_refused() {
        let plan = RetryPlan::default();
        let window = Timing::default().window;
        assert_eq!(plan.check(window), Ok(()));
        let [one, two, three, four, five] = plan.attempts;
        for wrong in [
            RetryPlan { first_look: Duration::ZERO, ..plan },
            RetryPlan { first_look: Duration::from_mins(16), ..plan },
            RetryPlan { attempts: [two, one, three, four, five], ..plan },
            RetryPlan { attempts: [one, one, three, four, five], ..plan },
            RetryPlan { attempts: [one, two, three, four, window], ..plan },
        ] {
            assert!(wrong.check(window).is_err(), "{wrong:?}");
            assert!(Timing { plan: wrong, ..Timing::default() }.checked().is_err());
        }
    }
}
