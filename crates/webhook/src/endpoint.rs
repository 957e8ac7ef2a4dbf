//! The endpoints of an organisation.

use chrono::{DateTime, Utc};

/// The number of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub i64);

/// How many endpoints an organisation may have.
pub const ENDPOINTS_MAX: u16 = 10;

/// What the owner of an endpoint chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSettings {
    /// Where events are sent: the text of a [`Destination`](crate::Destination).
    pub url: String,
    /// A note for people.
    pub description: Option<String>,
    /// The types of events that are sent. All types if it is empty.
    pub event_types: Vec<String>,
    /// Whether an event about a purchase contains its meter token.
    pub include_tokens: bool,
}

/// A change of an endpoint. An absent part stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// Another address.
    pub url: Option<String>,
    /// Another note. An empty one removes it.
    pub description: Option<String>,
    /// Other types of events.
    pub event_types: Option<Vec<String>>,
    /// Whether tokens are included.
    pub include_tokens: Option<bool>,
    /// Whether events are sent, for every endpoint that is not deleted: `true` also switches it on again.
    pub is_active: Option<bool>,
}

/// Whether events are sent to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointStatus {
    /// Events are sent.
    Active,
    /// Its owner has paused it.
    Paused,
    /// The service has switched it off.
    SwitchedOff(SwitchedOff),
    /// Its owner has deleted it. This is final.
    Deleted,
}

/// Why the service sends nothing more to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchedOff {
    /// It accepted nothing for too long.
    Failing,
    /// It answered 410 Gone.
    Gone,
}

/// An endpoint as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number.
    pub id: EndpointId,
    /// What its owner chose.
    pub settings: EndpointSettings,
    /// Whether events are sent.
    pub status: EndpointStatus,
    /// Since when it has this status.
    pub status_since: DateTime<Utc>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The public keys that verify its messages now, the newest first. Two while keys are rotated.
    pub public_keys: Vec<String>,
}

impl EndpointStatus {
    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Paused => "PAUSED",
            Self::SwitchedOff(_) => "SWITCHED_OFF",
            Self::Deleted => "DELETED",
        }
    }

    /// The status of this name, with the reason if it has one.
    pub fn parse(name: &str, because: Option<&str>) -> Option<Self> {
        match (name, because) {
            ("ACTIVE", None) => Some(Self::Active),
            ("PAUSED", None) => Some(Self::Paused),
            ("SWITCHED_OFF", Some(because)) => SwitchedOff::parse(because).map(Self::SwitchedOff),
            ("DELETED", None) => Some(Self::Deleted),
            _other => None,
        }
    }

    /// Why the service has switched it off, if it has.
    pub const fn switched_off_because(self) -> Option<SwitchedOff> {
        match self {
            Self::SwitchedOff(because) => Some(because),
            Self::Active | Self::Paused | Self::Deleted => None,
        }
    }
}

impl SwitchedOff {
    /// Every reason.
    pub const ALL: [Self; 2] = [Self::Failing, Self::Gone];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "FAILING",
            Self::Gone => "GONE",
        }
    }

    /// The reason of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}
