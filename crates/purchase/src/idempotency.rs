//! The idempotency key of a confirm, and how long a purchase holds it.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Failure, RequestHash, StateName};

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdempotencyKeyError {
    /// The text is empty.
    #[error("the key is empty")]
    Empty,
    /// The text has more characters than a key may have.
    #[error("the key has more than {max} characters", max = IdempotencyKey::LENGTH_MAX)]
    TooLong,
    /// The text has a blank, a control character or a character outside ASCII.
    #[error("the key has a character that is not visible ASCII")]
    BadCharacter,
}

/// The integrator's own name for one intent to buy. It belongs to the client program that sent it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The maximum number of characters in a key.
    pub const LENGTH_MAX: usize = 128;
    /// How long after its end a purchase still holds its key.
    pub const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// 1 to 128 visible ASCII characters.
    ///
    /// # Errors
    /// [`IdempotencyKeyError`] says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, IdempotencyKeyError> {
        if text.is_empty() {
            return Err(IdempotencyKeyError::Empty);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(IdempotencyKeyError::BadCharacter);
        }
        if text.len() > Self::LENGTH_MAX {
            return Err(IdempotencyKeyError::TooLong);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text as the integrator gave it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A key, and the request that was made under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    /// The key.
    pub key: IdempotencyKey,
    /// Distinguishes this request from another one under the same key.
    pub hash: RequestHash,
}

/// Whether a purchase in this state still holds the key that it was made under.
///
/// An open purchase holds its key. An ended purchase holds it for [`IdempotencyKey::KEPT`] after its end, so that its
/// final answer can be returned again. But a purchase that failed for a transient reason releases its key at once, so
/// that the same request can be sent again and makes a new purchase. `ended_at` is the time of the end. It is `None`
/// for a purchase that is open or that is ending now.
///
/// A final state never changes and time only moves forward. So a purchase that has released its key never holds it
/// again.
pub fn holds_its_key(
    state: StateName,
    failure: Option<&Failure>,
    ended_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> bool {
    match state {
        StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => true,
        StateName::Failed if failure.is_some_and(Failure::is_transient) => false,
        StateName::Successful | StateName::Failed => {
            ended_at.is_none_or(|ended_at| now < after(ended_at, IdempotencyKey::KEPT))
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use vend::{Refusal, RefusalReason};

    use super::*;

    fn refused(reason: RefusalReason) -> Failure {
        Failure::Refused(Refusal::because(reason))
    }

    fn holds(state: StateName, failure: Option<&Failure>, ended_ago: Option<TimeDelta>) -> bool {
        let now = DateTime::from_timestamp(1_795_167_000, 0).unwrap();
        holds_its_key(state, failure, ended_ago.map(|ago| now - ago), now)
    }

    #[test]
    fn a_key_is_1_to_128_visible_ascii_characters() {
        for text in ["a", "till-3/0001", "\"quoted\"", "~!", &"k".repeat(128)] {
            assert_eq!(IdempotencyKey::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(IdempotencyKey::parse(""), Err(IdempotencyKeyError::Empty));
        assert_eq!(IdempotencyKey::parse(&"k".repeat(129)), Err(IdempotencyKeyError::TooLong));
        for text in ["two words", "tab\t", "\u{7f}", "clé", "\u{0}"] {
            assert_eq!(IdempotencyKey::parse(text), Err(IdempotencyKeyError::BadCharacter), "{text:?}");
        }
    }

    #[test]
    fn an_open_purchase_holds_its_key_whatever_was_refused_before() {
        let busy = refused(RefusalReason::Busy);
        for state in StateName::ALL.into_iter().filter(|state| state.is_open()) {
            assert!(holds(state, None, None), "{state:?}");
            assert!(holds(state, Some(&busy), None), "{state:?}");
        }
    }

    #[test]
    fn a_passing_failure_lets_go_of_the_key_and_every_other_end_keeps_it() {
        for reason in RefusalReason::ALL {
            let passes = [RefusalReason::Busy, RefusalReason::NeverSent, RefusalReason::OtherTransient];
            let kept = !passes.contains(&reason);
            for ended_ago in [None, Some(TimeDelta::zero())] {
                let held = holds(StateName::Failed, Some(&refused(reason)), ended_ago);
                assert_eq!(held, kept, "{reason:?}");
            }
        }
        for failure in [Failure::NoRecord, Failure::Operator] {
            assert!(holds(StateName::Failed, Some(&failure), None), "{failure:?}");
        }
        assert!(holds(StateName::Successful, None, None));
    }

    #[test]
    fn seven_days_after_the_end_the_key_is_free() {
        let blocked = refused(RefusalReason::Blocked);
        for (state, failure) in [(StateName::Successful, None), (StateName::Failed, Some(&blocked))] {
            let just_short = TimeDelta::days(7) - TimeDelta::seconds(1);
            assert!(holds(state, failure, Some(just_short)), "{state:?}");
            assert!(!holds(state, failure, Some(TimeDelta::days(7))), "{state:?}");
        }
    }
}
