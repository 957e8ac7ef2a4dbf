//! The sender, the message id and the time of a message.

use std::fmt;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::{element::Element, namespace::Namespace};

/// A device in XMLVend.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviceId {
    Ean(String),
    Generic(String),
}

/// A message id: unique together with the client's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MsgId {
    /// `yyyymmddHHMMSS`.
    pub(crate) date_time: String,
    /// 1 to 999,999.
    pub(crate) unique_number: u32,
}

/// The sender of a request, and its message id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sender {
    pub(crate) client: DeviceId,
    pub(crate) terminal: DeviceId,
    pub(crate) msg_id: MsgId,
}

/// The header of every answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) to: Sender,
    pub(crate) at: DateTime<FixedOffset>,
}

impl DeviceId {
    pub(crate) fn read(element: &Element) -> Option<Self> {
        match element.type_name.as_str() {
            "EANDeviceID" => element.attribute("ean").map(|ean| Self::Ean(ean.to_owned())),
            "GenericDeviceID" => element.attribute("id").map(|id| Self::Generic(id.to_owned())),
            _ => None,
        }
    }
}

impl MsgId {
    pub(crate) fn read(element: &Element) -> Option<Self> {
        Self::of(element.attribute("dateTime")?, element.attribute("uniqueNumber")?)
    }

    /// Reads the format of `Display`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date_time, number) = text.split_once('-')?;
        Self::of(date_time, number)
    }

    fn of(date_time: &str, number: &str) -> Option<Self> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if date_time.len() != 14 || !digits(date_time) || number.len() > 6 || !digits(number) {
            return None;
        }
        let unique_number = number.parse().ok().filter(|number| *number > 0)?;
        Some(Self { date_time: date_time.to_owned(), unique_number })
    }
}

/// The name under which a vend is remembered.
pub(crate) type MessageName = (DeviceId, MsgId);

impl Sender {
    /// The client's name for the request, which is used once.
    pub(crate) fn message_name(&self) -> MessageName {
        (self.client.clone(), self.msg_id.clone())
    }

    pub(crate) fn read(request: &Element) -> Option<Self> {
        Some(Self {
            client: DeviceId::read(request.child(Namespace::Base, "clientID")?)?,
            terminal: DeviceId::read(request.child(Namespace::Base, "terminalID")?)?,
            msg_id: MsgId::read(request.child(Namespace::Base, "msgID")?)?,
        })
    }
}

/// The format of the vend log: `20261120093000-000042`.
impl fmt::Display for MsgId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{:06}", self.date_time, self.unique_number)
    }
}
