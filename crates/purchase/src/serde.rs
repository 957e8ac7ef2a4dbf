//! A purchase's life in the formats of serde, to be kept and read back. The implementations say how, because this module is private.

use std::borrow::Cow;

use ::serde::de::Error;
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};
use chrono::{DateTime, Utc};

use crate::{EventKind, Fence, Handling, Lifecycle, Sending, State, StateName};

macro_rules! as_text {
    ($($type:ty: $parse:path, $expected:literal;)*) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let text = Cow::<str>::deserialize(deserializer)?;
                    $parse(&text).ok_or_else(|| D::Error::custom(format_args!("{text:?} is not {}", $expected)))
                }
            }
        )*
    };
}

as_text! {
    Handling: Handling::parse, "a handling";
    StateName: StateName::parse, "the state of a purchase";
    EventKind: EventKind::parse, "the kind of an event";
}

impl Serialize for Fence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Fence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LifecycleForm {
    handling: Handling,
    state: StateName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sending: Option<Sending>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_transaction: Option<String>,
    fence: Fence,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lease_until: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claimed_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_at: Option<DateTime<Utc>>,
    attempt: u16,
    requests: u8,
    window_closes_at: DateTime<Utc>,
}

impl From<&Lifecycle> for LifecycleForm {
    fn from(lifecycle: &Lifecycle) -> Self {
        let Lifecycle {
            handling,
            state,
            fence,
            lease_until,
            claimed_at,
            asked_at,
            attempt,
            requests,
            window_closes_at,
        } = lifecycle.clone();
        Self {
            handling,
            state: state.name(),
            sending: state.sending().copied(),
            provider_transaction: match state {
                State::Successful { provider_transaction } => Some(provider_transaction),
                State::InFlight(_)
                | State::InDoubt(_)
                | State::RetryDue
                | State::Review(_)
                | State::Failed => None,
            },
            fence,
            lease_until,
            claimed_at,
            asked_at,
            attempt,
            requests,
            window_closes_at,
        }
    }
}

impl LifecycleForm {
    /// `None` if the state has not exactly the data that is true in it.
    fn state(&self) -> Option<State> {
        match (self.state, self.sending, &self.provider_transaction) {
            (StateName::InFlight, Some(sending), None) => Some(State::InFlight(sending)),
            (StateName::InDoubt, Some(sending), None) => Some(State::InDoubt(sending)),
            (StateName::Review, Some(sending), None) => Some(State::Review(sending)),
            (StateName::RetryDue, None, None) => Some(State::RetryDue),
            (StateName::Failed, None, None) => Some(State::Failed),
            (StateName::Successful, None, Some(provider_transaction)) => {
                Some(State::Successful { provider_transaction: provider_transaction.clone() })
            }
            (
                StateName::InFlight
                | StateName::InDoubt
                | StateName::Review
                | StateName::RetryDue
                | StateName::Failed
                | StateName::Successful,
                _,
                _,
            ) => None,
        }
    }
}

/// As stable fields and texts, to be stored and read back. The names and texts will not change. What is `None` is left out.
///
/// ```
/// use purchase::{Handling, Lifecycle, Timing};
///
/// let opened = chrono::DateTime::UNIX_EPOCH;
/// let reserved = Lifecycle::reserved(Handling::SelfManaged, opened, &Timing::default());
/// let stored = serde_json::to_string(&reserved)?;
/// assert_eq!(
///     stored,
///     concat!(
///         r#"{"handling":"SELF_MANAGED","state":"IN_FLIGHT","sending":{"copies":1,"last_sent_at":"1970-01-01T00:00:00Z"},"#,
///         r#""fence":1,"lease_until":"1970-01-01T00:00:02Z","attempt":1,"requests":0,"#,
///         r#""window_closes_at":"1970-01-01T00:30:00Z"}"#,
///     ),
/// );
/// assert_eq!(serde_json::from_str::<Lifecycle>(&stored)?, reserved);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for Lifecycle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LifecycleForm::from(self).serialize(serializer)
    }
}

/// From what [`Serialize`] writes. A field that is unknown is refused: a program that ignored it would decide about money without it.
/// So is a state without its data, or with data of another state.
impl<'de> Deserialize<'de> for Lifecycle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = LifecycleForm::deserialize(deserializer)?;
        let state = form.state().ok_or_else(|| {
            let state = form.state.as_str();
            D::Error::custom(format_args!("the state {state} has not the data that belongs to it"))
        })?;
        let LifecycleForm {
            handling,
            fence,
            lease_until,
            claimed_at,
            asked_at,
            attempt,
            requests,
            window_closes_at,
            ..
        } = form;
        Ok(Self {
            handling,
            state,
            fence,
            lease_until,
            claimed_at,
            asked_at,
            attempt,
            requests,
            window_closes_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::Timing;

    /// A time of the life.
    fn second(number: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::microseconds(number)
    }

    fn lives() -> impl Strategy<Value = Lifecycle> {
        let time = || (0_i64..4_000_000_000_000).prop_map(second);
        let times = || prop::option::of(time());
        let sending = (1_u16..9, time(), times(), times(), times()).prop_map(
            |(copies, last_sent_at, ended_at, earlier_ended_by, no_record_since)| Sending {
                copies,
                last_sent_at,
                ended_at,
                earlier_ended_by,
                no_record_since,
            },
        );
        let state = prop_oneof![
            sending.clone().prop_map(State::InFlight),
            sending.clone().prop_map(State::InDoubt),
            sending.prop_map(State::Review),
            Just(State::RetryDue),
            Just(State::Failed),
            ".{1,20}".prop_map(|provider_transaction| State::Successful { provider_transaction }),
        ];
        let life = (state, any::<bool>(), 1_i64..99, (times(), times(), times()), 1_u16..9, 0_u8..6, time());
        life.prop_map(
            |(state, managed, fence, (lease_until, claimed_at, asked_at), attempt, requests, closes)| {
                Lifecycle {
                    handling: if managed { Handling::Managed } else { Handling::SelfManaged },
                    state,
                    fence: Fence(fence),
                    lease_until,
                    claimed_at,
                    asked_at,
                    attempt,
                    requests,
                    window_closes_at: closes,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn every_life_is_read_back_as_it_was(life in lives()) {
            let text = serde_json::to_string(&life).unwrap();
            prop_assert_eq!(serde_json::from_str::<Lifecycle>(&text).unwrap(), life.clone());
            let value = serde_json::to_value(&life).unwrap();
            prop_assert_eq!(serde_json::from_value::<Lifecycle>(value).unwrap(), life);
        }
    }

    #[test]
    fn lives_are_written_as_they_were_last_year() {
        let reserved = Lifecycle::reserved(Handling::SelfManaged, second(0), &Timing::default());
        let text = r#"{"handling":"SELF_MANAGED","state":"IN_FLIGHT","sending":{"copies":1,"last_sent_at":"1970-01-01T00:00:00Z"},"fence":1,"lease_until":"1970-01-01T00:00:02Z","attempt":1,"requests":0,"window_closes_at":"1970-01-01T00:30:00Z"}"#;
        assert_eq!(serde_json::to_string(&reserved).unwrap(), text);
        let state = State::Successful { provider_transaction: "T1".to_owned() };
        let bought = Lifecycle { state, lease_until: None, claimed_at: Some(second(1)), ..reserved };
        let text = r#"{"handling":"SELF_MANAGED","state":"SUCCESSFUL","provider_transaction":"T1","fence":1,"claimed_at":"1970-01-01T00:00:00.000001Z","attempt":1,"requests":0,"window_closes_at":"1970-01-01T00:30:00Z"}"#;
        assert_eq!(serde_json::to_string(&bought).unwrap(), text);
    }

    #[test]
    fn a_life_that_contradicts_itself_or_says_more_is_not_read() {
        let reserved = Lifecycle::reserved(Handling::SelfManaged, second(0), &Timing::default());
        let text = serde_json::to_string(&reserved).unwrap();
        for (was, is) in [
            ("IN_FLIGHT", "SUCCESSFUL"),
            ("IN_FLIGHT", "FAILED"),
            ("IN_FLIGHT", "in_flight"),
            ("SELF_MANAGED", "MINE"),
            (r#""fence":1"#, r#""fence":1,"provider_transaction":"T1""#),
            (r#""fence":1"#, r#""fence":1,"colour":"blue""#),
            (r#""copies":1"#, r#""copies":1,"colour":"blue""#),
            (r#""attempt":1,"#, ""),
        ] {
            let changed = text.replacen(was, is, 1);
            assert_ne!(changed, text, "{was}");
            assert!(serde_json::from_str::<Lifecycle>(&changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn the_front_page_shows_a_life_that_can_be_read() {
        let page = include_str!("../README.md");
        let shown = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let lifecycle: Lifecycle = serde_json::from_str(shown).unwrap();
        assert_eq!(lifecycle.state.name(), StateName::InDoubt);
    }
}
