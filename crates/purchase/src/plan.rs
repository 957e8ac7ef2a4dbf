//! The retry plan: when the worker looks at an open purchase again, and when it may attempt a managed one again.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Handling, Lifecycle, Rules, Sending, State, StateName, Timing, TimingError};

/// When an open purchase is looked at, and when an order may be sent again, no matter which side asks. It is part of
/// the time chain: it is scaled down in tests, but never reordered.
///
/// The default:
///
/// ```
/// use std::time::Duration;
///
/// let plan = purchase::RetryPlan {
///     first_look: Duration::from_secs(5),
///     longest_pause: Duration::from_secs(15 * 60),
///     repeats: [2, 20, 60, 300, 900].map(Duration::from_secs),
///     repeats_end: Duration::from_secs(90),
///     attempts: [1, 3, 7, 14, 25].map(|minutes| Duration::from_secs(minutes * 60)),
/// };
/// assert_eq!(plan, purchase::RetryPlan::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// The shortest pause between two looks of the worker at a purchase in doubt.
    pub first_look: Duration,
    /// The longest pause between two looks. The worker looks at a purchase for as long as the doubt lasts.
    pub longest_pause: Duration,
    /// From the first send of a purchase until each time from which the same order may be sent once more, where the
    /// connection takes a repeat safely. A time that has passed allows one send, however late. A later time replaces
    /// it.
    pub repeats: [Duration; 5],
    /// From the first send of a purchase until no order is repeated any more. It applies where "no record" is
    /// declared to count: the provider must receive no order for a while before that answer proves anything.
    pub repeats_end: Duration,
    /// From the first send of a managed purchase until each attempt under a new reference is due, after proof that
    /// the previous attempt was not vended: five, within thirty minutes.
    pub attempts: [Duration; 5],
}

impl Default for RetryPlan {
    fn default() -> Self {
        Self {
            first_look: Duration::from_secs(5),
            longest_pause: Duration::from_secs(15 * 60),
            repeats: [2, 20, 60, 300, 900].map(Duration::from_secs),
            repeats_end: Duration::from_secs(90),
            attempts: [1, 3, 7, 14, 25].map(|minutes| Duration::from_secs(minutes * 60)),
        }
    }
}

impl RetryPlan {
    /// When the worker next looks at a purchase that became `lifecycle` at `at`. `None` once the purchase has ended.
    ///
    /// The worker waits until the lease of a holder ends. An attempt waits for its time in the plan. Doubt is looked
    /// at again after half the time since the last send. A look is also due whenever something changes what an answer
    /// may prove or cause: the end of the quarantine, the second "no record", the next send, the end of the window.
    pub fn due_at(&self, lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
        let given_up = match &lifecycle.state {
            State::Successful { .. } | State::Failed => return None,
            State::RetryDue => self.next_attempt(lifecycle, at, rules),
            State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => {
                self.next_look(lifecycle, sending, at, rules)
            }
        };
        Some(lifecycle.lease_until.unwrap_or(given_up))
    }

    /// When an integrator that was answered at `at` may ask again with a chance of a different answer. `None` once
    /// the purchase has ended. The more time has passed since the last send, the longer the integrator waits.
    pub fn ask_again_at(
        &self,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        let timing = &rules.timing;
        match &lifecycle.state {
            State::Successful { .. } | State::Failed => None,
            State::RetryDue => Some(after(self.next_attempt(lifecycle, at, rules), timing.enquiry_gap)),
            State::InFlight(sending) => {
                let planned = after(at, pause(sending, at, timing.enquiry_gap, self.first_look));
                let lease_ends = lifecycle.lease_until.map(|ends| ends.max(next_turn(lifecycle, at, timing)));
                Some(lease_ends.map_or(planned, |ends| planned.min(ends)))
            }
            State::InDoubt(sending) | State::Review(sending) => {
                let pause = pause(sending, at, timing.enquiry_gap, self.longest_pause);
                let not_before = next_turn(lifecycle, at, timing);
                let milestones = [
                    Some(sending.quarantined_until(&rules.declared, timing)),
                    sending.no_record_since.map(|first| after(first, timing.not_found_gap)),
                    self.next_send_at(lifecycle, at, rules),
                ];
                let looked_at = lifecycle.asked_at.max(lifecycle.claimed_at);
                let planned = earliest(after(at, pause), milestones, looked_at, at).max(not_before);
                // The holder may learn something at any time, or it may be dead.
                let held_until = lifecycle.lease_until.filter(|until| at < *until);
                let planned = held_until.map_or(planned, |until| planned.min(until.max(not_before)));
                Some(if self.is_send_due(lifecycle, at, rules) { not_before } else { planned })
            }
        }
    }

    /// From when on the next order of a purchase may be sent. `None` if the plan has no more, or if nothing may be
    /// sent in this state. An integrator's question does not cause it sooner than the worker does.
    pub fn next_send_at(
        &self,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        if !lifecycle.has_requests_left() || lifecycle.is_past_window(at) {
            return None;
        }
        match &lifecycle.state {
            State::RetryDue => self.attempt_at(lifecycle, &rules.timing),
            State::InDoubt(sending) => self.repeat_at(lifecycle, sending, at, rules),
            State::InFlight(_) | State::Review(_) | State::Successful { .. } | State::Failed => None,
        }
    }

    /// Whether the next order may be sent now.
    pub fn is_send_due(&self, lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> bool {
        self.next_send_at(lifecycle, at, rules).is_some_and(|due| due <= at)
    }

    /// By when another order may be sent at the latest. `None` if none may be sent.
    pub(crate) fn last_send_by(
        &self,
        lifecycle: &Lifecycle,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        if !lifecycle.has_requests_left() || !lifecycle.state.name().is_open() {
            return None;
        }
        let ends = match lifecycle.handling {
            Handling::Managed => lifecycle.window_closes_at,
            Handling::SelfManaged if rules.declared.repeat_is_safe => self.repeats_end_at(lifecycle, rules),
            Handling::SelfManaged => return None,
        };
        (at < ends).then_some(ends)
    }

    /// From when on the next attempt under a new reference is due. `None` when all requests are made.
    fn attempt_at(&self, lifecycle: &Lifecycle, timing: &Timing) -> Option<DateTime<Utc>> {
        let wait = self.attempts.get(usize::from(lifecycle.requests));
        wait.map(|wait| after(lifecycle.first_sent_at(timing), *wait).min(lifecycle.window_closes_at))
    }

    /// The first time of the plan that no send has followed yet.
    fn repeat_at(
        &self,
        lifecycle: &Lifecycle,
        sending: &Sending,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        let ends = self.repeats_end_at(lifecycle, rules);
        if !rules.declared.repeat_is_safe || at >= ends {
            return None;
        }
        let first_sent_at = lifecycle.first_sent_at(&rules.timing);
        let moments = self.repeats.iter().map(|wait| after(first_sent_at, *wait));
        let mut unused = moments.filter(|moment| *moment > sending.last_sent_at && *moment < ends);
        unused.next()
    }

    fn repeats_end_at(&self, lifecycle: &Lifecycle, rules: &Rules) -> DateTime<Utc> {
        if rules.declared.not_found_counts {
            after(lifecycle.first_sent_at(&rules.timing), self.repeats_end).min(lifecycle.window_closes_at)
        } else {
            lifecycle.window_closes_at
        }
    }

    /// Checks that the pauses, the attempts and the repeats are in order, and that attempts and repeats end before
    /// the window closes.
    pub(crate) fn check(&self, window: Duration) -> Result<(), TimingError> {
        let wrong = |shorter, longer| Err(TimingError { shorter, longer });
        if self.first_look.is_zero() {
            return wrong("nothing", "first_look");
        }
        if self.first_look > self.longest_pause {
            return wrong("first_look", "longest_pause");
        }
        for (moments, each, all) in
            [(self.attempts, "each attempt", "every attempt"), (self.repeats, "each repeat", "every repeat")]
        {
            if !moments.is_sorted_by(|one, next| one < next) {
                return wrong(each, "the next");
            }
            if moments.iter().any(|moment| *moment >= window) {
                return wrong(all, "window");
            }
        }
        if self.repeats_end >= window {
            return wrong("repeats_end", "window");
        }
        Ok(())
    }

    /// An attempt whose time has passed was not made because something was missing. It waits for `first_look` before
    /// it is tried again.
    fn next_attempt(&self, lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
        let moment = self.next_send_at(lifecycle, at, rules).unwrap_or(lifecycle.window_closes_at);
        if moment > at { moment } else { after(at, self.first_look) }
    }

    fn next_look(
        &self,
        lifecycle: &Lifecycle,
        sending: &Sending,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> DateTime<Utc> {
        let is_in_doubt = lifecycle.state.name() == StateName::InDoubt;
        // Only the worker closes the window. An integrator that keeps asking must not delay that.
        if is_in_doubt && lifecycle.is_past_window(at) {
            return at;
        }
        let milestones = [
            Some(sending.quarantined_until(&rules.declared, &rules.timing)),
            sending.no_record_since.map(|first| after(first, rules.timing.not_found_gap)),
            self.next_send_at(lifecycle, at, rules).filter(|_| lifecycle.handling == Handling::Managed),
            is_in_doubt.then_some(lifecycle.window_closes_at),
        ];
        let pause = pause(sending, at, self.first_look, self.longest_pause);
        earliest(after(at, pause), milestones, lifecycle.claimed_at, at)
    }
}

/// When the next question of an integrator may cause an enquiry. This is never at once.
fn next_turn(lifecycle: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> DateTime<Utc> {
    let turn = lifecycle.asked_at.map_or(at, |asked| after(asked, timing.enquiry_gap));
    turn.max(after(at, timing.enquiry_gap / 2))
}

/// Half the time since the last send, within these bounds.
fn pause(sending: &Sending, at: DateTime<Utc>, least: Duration, longest: Duration) -> Duration {
    let lasted = (at - sending.last_sent_at).to_std().unwrap_or_default();
    (lasted / 2).min(longest).max(least)
}

/// The first time to look: as planned, or at a milestone after which no look has begun. A milestone that passes
/// during an enquiry that began before it is not missed.
fn earliest(
    planned: DateTime<Utc>,
    milestones: impl IntoIterator<Item = Option<DateTime<Utc>>>,
    looked_at: Option<DateTime<Utc>>,
    at: DateTime<Utc>,
) -> DateTime<Utc> {
    let is_unseen = |milestone: &DateTime<Utc>| looked_at.is_none_or(|looked| looked < *milestone);
    let unseen = milestones.into_iter().flatten().filter(is_unseen);
    unseen.map(|milestone| milestone.max(at)).fold(planned, DateTime::min)
}

#[cfg(test)]
mod tests;
