//! The retry plan: when the worker looks at an open purchase again, and when it may attempt a managed one again.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Handling, Life, Rules, Sending, State, StateName, Timing, TimingError};

/// When an open purchase is looked at, and when an order may be sent again, whoever asks. Part of the time chain: scaled
/// down in tests, never reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPlan {
    /// Least pause between two looks of the worker at a purchase in doubt.
    pub first_look: Duration,
    /// Longest pause between two looks: doubt is asked about for as long as it lasts.
    pub longest_pause: Duration,
    /// From the first send of a purchase until each moment from which the same order may be sent once more, where the
    /// connection takes a repeat safely. A moment that has passed allows one send, however late; a later one replaces it.
    pub repeats: [Duration; 5],
    /// From the first send of a purchase until no order is repeated any more, where "no record" is declared to count: the
    /// provider must be left alone for a while before that answer proves anything.
    pub repeats_end: Duration,
    /// From the first send of a managed purchase until each attempt under a new reference is due, after proof that the
    /// one before was not vended (specification, section 8: five within thirty minutes).
    pub attempts: [Duration; 5],
}

impl Default for RetryPlan {
    fn default() -> Self {
        Self {
            first_look: Duration::from_secs(5),
            longest_pause: Duration::from_mins(15),
            repeats: [2, 20, 60, 300, 900].map(Duration::from_secs),
            repeats_end: Duration::from_secs(90),
            attempts: [1, 3, 7, 14, 25].map(Duration::from_mins),
        }
    }
}

impl RetryPlan {
    /// When the worker is to look at a purchase next that became `life` at `at`; never again once it has ended.
    ///
    /// A holder is left alone until its lease ends. An attempt waits for its moment in the plan. Doubt is looked at again
    /// after half as long as it has lasted since the last send, and at every moment that changes what an answer may
    /// prove or cause: the end of the quarantine, the second "no record", the next send, the end of the window.
    pub fn due_at(&self, life: &Life, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
        let given_up = match &life.state {
            State::Successful { .. } | State::Failed => return None,
            State::RetryDue => self.next_attempt(life, at, rules),
            State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => {
                self.next_look(life, sending, at, rules)
            }
        };
        Some(life.lease_until.unwrap_or(given_up))
    }

    /// When an integrator that was answered at `at` may ask again with a chance of hearing something else; none once the
    /// purchase has ended. The more time has passed since the last send, the longer it waits.
    pub fn ask_again_at(&self, life: &Life, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
        let timing = &rules.timing;
        match &life.state {
            State::Successful { .. } | State::Failed => None,
            State::RetryDue => Some(after(self.next_attempt(life, at, rules), timing.enquiry_gap)),
            State::InFlight(sending) => {
                let planned = after(at, pause(sending, at, timing.enquiry_gap, self.first_look));
                let lease_ends = life.lease_until.map(|ends| ends.max(next_turn(life, at, timing)));
                Some(lease_ends.map_or(planned, |ends| planned.min(ends)))
            }
            State::InDoubt(sending) | State::Review(sending) => {
                let pause = pause(sending, at, timing.enquiry_gap, self.longest_pause);
                let not_before = next_turn(life, at, timing);
                let milestones = [
                    Some(sending.quarantined_until(&rules.declared, timing)),
                    sending.no_record_since.map(|first| after(first, timing.not_found_gap)),
                    self.next_send_at(life, at, rules),
                ];
                let looked_at = life.asked_at.max(life.claimed_at);
                let planned = earliest(after(at, pause), milestones, looked_at, at).max(not_before);
                // Whoever holds it may learn something at any moment, or be dead.
                let held_until = life.lease_until.filter(|until| at < *until);
                let planned = held_until.map_or(planned, |until| planned.min(until.max(not_before)));
                Some(if self.is_send_due(life, at, rules) { not_before } else { planned })
            }
        }
    }

    /// From when on the next order of a purchase may leave; none when the plan has no more, or nothing may leave in this
    /// state. An integrator's question causes it no sooner than the worker does.
    pub fn next_send_at(&self, life: &Life, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
        if !life.has_requests_left() || life.is_past_window(at) {
            return None;
        }
        match &life.state {
            State::RetryDue => self.attempt_at(life, &rules.timing),
            State::InDoubt(sending) => self.repeat_at(life, sending, at, rules),
            State::InFlight(_) | State::Review(_) | State::Successful { .. } | State::Failed => None,
        }
    }

    /// Whether the next order may leave now.
    pub fn is_send_due(&self, life: &Life, at: DateTime<Utc>, rules: &Rules) -> bool {
        self.next_send_at(life, at, rules).is_some_and(|due| due <= at)
    }

    /// By when another order may leave at the latest; none when none may.
    pub(crate) fn last_send_by(
        &self,
        life: &Life,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        if !life.has_requests_left() || !life.state.name().is_open() {
            return None;
        }
        let ends = match life.handling {
            Handling::Managed => life.window_closes_at,
            Handling::SelfManaged if rules.declared.repeat_is_safe => self.repeats_end_at(life, rules),
            Handling::SelfManaged => return None,
        };
        (at < ends).then_some(ends)
    }

    /// From when on the next attempt under a new reference is due; none when all requests are made.
    fn attempt_at(&self, life: &Life, timing: &Timing) -> Option<DateTime<Utc>> {
        let wait = self.attempts.get(usize::from(life.requests));
        wait.map(|wait| after(life.first_sent_at(timing), *wait).min(life.window_closes_at))
    }

    /// The first moment of the plan that no send has followed yet.
    fn repeat_at(
        &self,
        life: &Life,
        sending: &Sending,
        at: DateTime<Utc>,
        rules: &Rules,
    ) -> Option<DateTime<Utc>> {
        let ends = self.repeats_end_at(life, rules);
        if !rules.declared.repeat_is_safe || at >= ends {
            return None;
        }
        let first_sent_at = life.first_sent_at(&rules.timing);
        let moments = self.repeats.iter().map(|wait| after(first_sent_at, *wait));
        let mut unused = moments.filter(|moment| *moment > sending.last_sent_at && *moment < ends);
        unused.next()
    }

    fn repeats_end_at(&self, life: &Life, rules: &Rules) -> DateTime<Utc> {
        if rules.declared.not_found_counts {
            after(life.first_sent_at(&rules.timing), self.repeats_end).min(life.window_closes_at)
        } else {
            life.window_closes_at
        }
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

    /// One whose moment has passed was not made, for want of something: that is not tried over and over.
    fn next_attempt(&self, life: &Life, at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
        let moment = self.next_send_at(life, at, rules).unwrap_or(life.window_closes_at);
        if moment > at { moment } else { after(at, self.first_look) }
    }

    fn next_look(&self, life: &Life, sending: &Sending, at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
        let is_in_doubt = life.state.name() == StateName::InDoubt;
        // The worker alone closes the window: an integrator who keeps asking must not put that off.
        if is_in_doubt && life.is_past_window(at) {
            return at;
        }
        let milestones = [
            Some(sending.quarantined_until(&rules.declared, &rules.timing)),
            sending.no_record_since.map(|first| after(first, rules.timing.not_found_gap)),
            self.next_send_at(life, at, rules).filter(|_| life.handling == Handling::Managed),
            is_in_doubt.then_some(life.window_closes_at),
        ];
        let pause = pause(sending, at, self.first_look, self.longest_pause);
        earliest(after(at, pause), milestones, life.claimed_at, at)
    }
}

/// When the next question of an integrator may cause an enquiry; never at once.
fn next_turn(life: &Life, at: DateTime<Utc>, timing: &Timing) -> DateTime<Utc> {
    let turn = life.asked_at.map_or(at, |asked| after(asked, timing.enquiry_gap));
    turn.max(after(at, timing.enquiry_gap / 2))
}

/// Half as long as has passed since the last send, within these bounds.
fn pause(sending: &Sending, at: DateTime<Utc>, least: Duration, longest: Duration) -> Duration {
    let lasted = (at - sending.last_sent_at).to_std().unwrap_or_default();
    (lasted / 2).min(longest).max(least)
}

/// The first moment to look: as planned, or at a milestone since which nobody has looked. One that passes while an enquiry
/// that began before it is under way is not slept through.
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
