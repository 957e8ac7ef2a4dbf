//! What the caller of an answer that is not final does next, and by when the outcome is known.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Life, Rules, Sending, Timing};

/// What is added to the moment at which the last answer may be asked for: the worker looks twice, and each enquiry may
/// take ten seconds.
const LOOKS: Duration = Duration::from_secs(30);

/// How an integrator comes to the outcome of an open purchase: by the retry call, and when. Instants are the database's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// When the purchase stood so.
    pub at: DateTime<Utc>,
    /// An earlier retry would hear the same again.
    pub not_before: DateTime<Utc>,
    /// The moment by which the outcome is known in the worst case, as long as the provider answers our enquiries. None
    /// where only a person can end the doubt, or where how the purchase stands is not known here.
    pub resolved_by: Option<DateTime<Utc>>,
}

impl Recovery {
    /// From an open purchase as it stands at `at`; none from one that has ended.
    pub fn of(life: &Life, at: DateTime<Utc>, rules: &Rules) -> Option<Self> {
        let not_before = rules.timing.plan.ask_again_at(life, at, rules)?;
        Some(Self { at, not_before, resolved_by: resolved_by(life, at, rules) })
    }

    /// Where it is not known how the purchase stands, or whether there is one.
    pub fn unknown(at: DateTime<Utc>, timing: &Timing) -> Self {
        Self { at, not_before: after(at, timing.enquiry_gap), resolved_by: None }
    }

    /// How long to wait from `at` before the retry.
    pub fn wait(&self) -> Duration {
        (self.not_before - self.at).to_std().unwrap_or_default()
    }
}

/// Without the rule that counts "no record", an order whose reply never comes stays in doubt until a person decides. So
/// does a repeated order that was refused, where refusals are not remembered.
fn resolved_by(life: &Life, at: DateTime<Utc>, rules: &Rules) -> Option<DateTime<Utc>> {
    let is_repeated =
        life.state.sending().is_some_and(|sending| sending.copies > 1) || rules.declared.repeat_is_safe;
    if !rules.declared.not_found_counts || (is_repeated && !rules.declared.remembers_refusals) {
        return None;
    }
    let sending = life.state.sending();
    let proof = match (rules.timing.plan.last_send_by(life, at, rules), sending) {
        (Some(sent_by), _) => after(settled_after(sent_by, rules), rules.timing.not_found_gap),
        (None, Some(sending)) => second_answer_by(sending, at, rules),
        (None, None) => life.window_closes_at.max(at),
    };
    Some(after(proof, LOOKS))
}

/// When the second "no record" may be asked for: the first one is asked for at the end of the quarantine. If either moment
/// has passed without an answer, the next look may be a long pause away: a look that is under way may time out.
fn second_answer_by(sending: &Sending, at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
    let (settled, gap) = (settled_after(sending.last_sent_at, rules), rules.timing.not_found_gap);
    let (second, is_ahead) = match sending.no_record_since {
        Some(first) => (after(first, gap), at < after(first, gap)),
        None => (after(settled, gap), at < settled),
    };
    if is_ahead { second } else { after(at, rules.timing.plan.longest_pause.saturating_add(gap)) }
}

/// The end of the quarantine of an order that leaves at `at` and of whose end nothing is heard.
fn settled_after(at: DateTime<Utc>, rules: &Rules) -> DateTime<Utc> {
    Sending::first(at).quarantined_until(&rules.declared, &rules.timing)
}

#[cfg(test)]
mod tests {
    use vend::Capabilities;

    use super::*;
    use crate::{Handling, State};

    const RESERVED: i64 = 1_000_000;
    /// Of the default, in whole seconds.
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

    fn life(handling: Handling, state: State) -> Life {
        Life { state, lease_until: None, ..Life::reserved(handling, second(0), &Timing::default()) }
    }

    /// By when it is known, in seconds since the reserve.
    fn known(letters: &str, life: &Life, at: i64) -> Option<i64> {
        let recovery = Recovery::of(life, second(at), &rules(letters)).unwrap();
        recovery.resolved_by.map(|by| by.timestamp() - RESERVED)
    }

    #[test]
    fn doubt_ends_by_itself_where_no_record_counts_and_elsewhere_a_person_ends_it() {
        let doubt = Sending::first(second(0)).ended(second(1));
        let in_doubt = life(Handling::SelfManaged, State::InDoubt(doubt));
        assert_eq!(known("", &in_doubt, 1), None);
        assert_eq!(known("rm", &in_doubt, 1), None);
        // The gate, ten minutes, one more, and two looks.
        assert_eq!(known("n", &in_doubt, 1), Some(GATE + 600 + 60 + 30));
        assert_eq!(
            known("rmn", &in_doubt, 1),
            Some(90 + GATE + 600 + 60 + 30),
            "it may be sent again until then"
        );
        assert_eq!(known("rmn", &in_doubt, 91), Some(GATE + 600 + 60 + 30), "and no more");
        assert_eq!(known("rn", &in_doubt, 1), None, "a refusal of one copy of two proves nothing");
    }

    #[test]
    fn a_look_that_brought_nothing_is_followed_by_another_at_the_longest_pause() {
        let silent = Sending::first(second(0)).ended(second(1));
        let in_doubt = life(Handling::SelfManaged, State::InDoubt(silent));
        assert_eq!(known("n", &in_doubt, 1_000), Some(1_000 + 900 + 60 + 30));
        let counted = Sending { no_record_since: Some(second(980)), ..silent };
        let in_doubt = life(Handling::SelfManaged, State::InDoubt(counted));
        assert_eq!(known("n", &in_doubt, 1_000), Some(980 + 60 + 30));
    }

    #[test]
    fn a_managed_purchase_may_be_sent_until_its_window_closes() {
        let doubt = Sending::first(second(0)).ended(second(1));
        let in_doubt = life(Handling::Managed, State::InDoubt(doubt));
        assert_eq!(known("n", &in_doubt, 1), Some(1_800 + GATE + 600 + 60 + 30));
        let spent =
            Life { requests: Timing::MANAGED_REQUESTS_MAX, ..life(Handling::Managed, State::RetryDue) };
        assert_eq!(known("n", &spent, 1), Some(1_800 + 30));
    }

    #[test]
    fn what_has_ended_needs_no_recovery_and_what_is_unknown_is_asked_about_soon() {
        let failed = life(Handling::SelfManaged, State::Failed);
        assert_eq!(Recovery::of(&failed, second(1), &rules("rmn")), None);
        let unknown = Recovery::unknown(second(1), &Timing::default());
        assert_eq!((unknown.wait(), unknown.resolved_by), (Duration::from_secs(1), None));
    }
}
