//! What the caller does next after an answer that is not final, and by when the outcome is known.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Lifecycle, Rules, Sending, Timing};

/// Added to the time at which the last answer may be asked for: the worker looks twice, and each enquiry may take ten
/// seconds.
const LOOKS: Duration = Duration::from_secs(30);

/// How an integrator learns the outcome of an open purchase: by the retry call, and when. Times are by the database's
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// When the purchase was in this state.
    pub at: DateTime<Utc>,
    /// The earliest time for the retry. An earlier retry would get the same answer.
    pub not_before: DateTime<Utc>,
    /// By when the outcome is known in the worst case, as long as the provider answers our enquiries. `None` if only
    /// a person can end the doubt, or if the state of the purchase is not known here.
    pub resolved_by: Option<DateTime<Utc>>,
}

impl Recovery {
    /// The recovery of an open purchase in its state at `at`. `None` if the purchase has ended.
    pub fn of(lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> Option<Self> {
        let not_before = rules.timing.plan.ask_again_at(lifecycle, at, rules)?;
        Some(Self { at, not_before, resolved_by: resolved_by(lifecycle, at, rules) })
    }

    /// The recovery if the state of the purchase is not known, or if it is not known whether there is a purchase.
    pub fn unknown(at: DateTime<Utc>, timing: &Timing) -> Self {
        Self { at, not_before: after(at, timing.enquiry_gap), resolved_by: None }
    }

    /// How long to wait from `at` before the retry.
    pub fn wait(&self) -> Duration {
        (self.not_before - self.at).to_std().unwrap_or_default()
    }
}

/// Unless "no record" counts, an order whose reply never comes stays in doubt until a person decides. The same is
/// true for a repeated order that was refused, unless refusals are remembered.
fn resolved_by(lifecycle: &Lifecycle, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
    let is_repeated =
        lifecycle.state.sending().is_some_and(|sending| sending.copies > 1) || rules.declared.repeat_is_safe;
    if !rules.declared.not_found_counts || (is_repeated && !rules.declared.remembers_refusals) {
        return None;
    }
    let sending = lifecycle.state.sending();
    let proof = match (rules.timing.plan.last_send_by(lifecycle, at, rules), sending) {
        (Some(sent_by), _) => after(settled_after(sent_by, rules), rules.timing.not_found_gap),
        (None, Some(sending)) => second_answer_by(sending, at, rules),
        (None, None) => lifecycle.window_closes_at.max(at),
    };
    Some(after(proof, LOOKS))
}

/// When the second "no record" may be asked for. The first one is asked for at the end of the quarantine. If either
/// time has passed without an answer, the next look may be the longest pause away, because a look that is in progress
/// may time out.
fn second_answer_by(sending: &Sending, at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
    let (settled, gap) = (settled_after(sending.last_sent_at, rules), rules.timing.not_found_gap);
    let (second, is_ahead) = match sending.no_record_since {
        Some(first) => (after(first, gap), at < after(first, gap)),
        None => (after(settled, gap), at < settled),
    };
    if is_ahead { second } else { after(at, rules.timing.plan.longest_pause.saturating_add(gap)) }
}

/// The end of the quarantine of an order that is sent at `at` and whose end is never reported.
fn settled_after(at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
    Sending::first(at).quarantined_until(&rules.declared, &rules.timing)
}

#[cfg(test)]
mod tests {
    use vend::Capabilities;

    use super::*;
    use crate::{Handling, State};

    const RESERVED: i64 = 1_000_000;
    /// The default gate, in whole seconds.
    const GATE: i64 = 1;

    fn second(since_reserve: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(RESERVED + since_reserve, 0).unwrap()
    }

    fn rules(letters: &str) -> Rules {
        let declared = Capabilities {
            repeat_is_safe: letters.contains('r'),
            remembers_refusals: letters.contains('m'),
            not_found_counts: letters.contains('n'),
            ..Capabilities::default()
        };
        Rules { declared, timing: Timing::default() }
    }

    fn lifecycle(handling: Handling, state: State) -> Lifecycle {
        Lifecycle { state, lease_until: None, ..Lifecycle::reserved(handling, second(0), &Timing::default()) }
    }

    /// By when the outcome is known, in seconds since the reserve.
    fn known(letters: &str, lifecycle: &Lifecycle, at: i64) -> Option<i64> {
        let recovery = Recovery::of(lifecycle, second(at), &rules(letters)).unwrap();
        recovery.resolved_by.map(|by| by.timestamp() - RESERVED)
    }

    #[test]
    fn doubt_ends_by_itself_where_no_record_counts_and_elsewhere_a_person_ends_it() {
        let doubt = Sending::first(second(0)).ended(second(1));
        let in_doubt = lifecycle(Handling::SelfManaged, State::InDoubt(doubt));
        assert_eq!(known("", &in_doubt, 1), None);
        assert_eq!(known("rm", &in_doubt, 1), None);
        // The gate, ten minutes, one more minute, and two looks.
        assert_eq!(known("n", &in_doubt, 1), Some(GATE + 600 + 60 + 30));
        assert_eq!(
            known("rmn", &in_doubt, 1),
            Some(90 + GATE + 600 + 60 + 30),
            "it may be sent again until then"
        );
        assert_eq!(known("rmn", &in_doubt, 91), Some(GATE + 600 + 60 + 30), "and not after that");
        assert_eq!(known("rn", &in_doubt, 1), None, "a refusal of one copy of two proves nothing");
    }

    #[test]
    fn a_look_that_brought_nothing_is_followed_by_another_at_the_longest_pause() {
        let silent = Sending::first(second(0)).ended(second(1));
        let in_doubt = lifecycle(Handling::SelfManaged, State::InDoubt(silent));
        assert_eq!(known("n", &in_doubt, 1_000), Some(1_000 + 900 + 60 + 30));
        let counted = Sending { no_record_since: Some(second(980)), ..silent };
        let in_doubt = lifecycle(Handling::SelfManaged, State::InDoubt(counted));
        assert_eq!(known("n", &in_doubt, 1_000), Some(980 + 60 + 30));
    }

    #[test]
    fn a_managed_purchase_may_be_sent_until_its_window_closes() {
        let doubt = Sending::first(second(0)).ended(second(1));
        let in_doubt = lifecycle(Handling::Managed, State::InDoubt(doubt));
        assert_eq!(known("n", &in_doubt, 1), Some(1_800 + GATE + 600 + 60 + 30));
        let spent = Lifecycle {
            requests: Timing::MANAGED_REQUESTS_MAX,
            ..lifecycle(Handling::Managed, State::RetryDue)
        };
        assert_eq!(known("n", &spent, 1), Some(1_800 + 30));
    }

    #[test]
    fn what_has_ended_needs_no_recovery_and_what_is_unknown_is_asked_about_soon() {
        let failed = lifecycle(Handling::SelfManaged, State::Failed);
        assert_eq!(Recovery::of(&failed, second(1), &rules("rmn")), None);
        let unknown = Recovery::unknown(second(1), &Timing::default());
        assert_eq!((unknown.wait(), unknown.resolved_by), (Duration::from_secs(1), None));
    }
}
