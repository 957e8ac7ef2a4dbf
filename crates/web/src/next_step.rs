//! What a caller does after an answer that is not final, as both surfaces write it.

use std::fmt::Write as _;

use chrono::{DateTime, DurationRound as _, SecondsFormat, TimeDelta, Utc};
use purchase::Recovery;
use serde::Serialize;

/// How the caller gets the outcome after an answer that is not final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// The call to make. There is one: `retry`.
    pub call: &'static str,
    /// An earlier call would get the same answer. RFC 3339, in UTC, in whole seconds.
    pub not_before: String,
    /// When the outcome is known in the worst case. `None` where only a person can end the doubt, or where the time is
    /// unknown.
    pub resolved_by: Option<String>,
}

impl NextStep {
    /// The form in a JSON answer.
    pub fn of(recovery: &Recovery) -> Self {
        Self {
            call: CALL,
            not_before: instant(recovery.not_before),
            resolved_by: recovery.resolved_by.map(instant),
        }
    }

    /// The form in a header, where the body must not change: an item with parameters (RFC 9651, section 3.3).
    /// `retry;not-before=@1795000000;resolved-by=@1795000700`
    pub fn header(recovery: &Recovery) -> String {
        let mut value = format!("{CALL};not-before=@{}", whole_second(recovery.not_before).timestamp());
        if let Some(by) = recovery.resolved_by {
            let _infallible = write!(value, ";resolved-by=@{}", whole_second(by).timestamp());
        }
        value
    }
}

const CALL: &str = "retry";

fn instant(at: DateTime<Utc>) -> String {
    whole_second(at).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Rounded up, so never earlier than meant.
fn whole_second(at: DateTime<Utc>) -> DateTime<Utc> {
    at.duration_round_up(TimeDelta::seconds(1)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64, nanos: u32) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_167_000 + second, nanos).unwrap()
    }

    #[test]
    fn moments_are_whole_seconds_and_never_earlier_than_meant() {
        let recovery =
            Recovery { at: second(0, 0), not_before: second(2, 1), resolved_by: Some(second(700, 0)) };
        let step = NextStep::of(&recovery);
        assert_eq!((step.call, step.not_before.as_str()), ("retry", "2026-11-20T09:30:03Z"));
        assert_eq!(step.resolved_by.as_deref(), Some("2026-11-20T09:41:40Z"));
        let header = "retry;not-before=@1795167003;resolved-by=@1795167700";
        assert_eq!(NextStep::header(&recovery), header);
        let without_end = Recovery { resolved_by: None, ..recovery };
        assert_eq!(NextStep::header(&without_end), "retry;not-before=@1795167003");
    }
}
