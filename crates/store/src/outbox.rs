//! The outbox. Messages are written when a purchase ends, claimed by a sender, and marked as sent. Delivery is at least
//! once: a sender that fails between sending and marking causes a repeat under the same id.

use std::{fmt, time::Duration};

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Writes, column, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text, Timestamptz};
use purchase::{Channel, Notice, PurchaseId, Record};

use crate::Store;

#[cfg(test)]
mod plans;
mod repeats;
mod row;

pub use repeats::{MESSAGES_PER_DAY, MESSAGES_PER_DAY_MAX, RepeatRequest, RepeatedMessage, ResendRequest};

use row::ClaimRow;

/// The id of one message. It is the same however often the message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    /// The purchase that it is about.
    pub purchase: PurchaseId,
    /// Its kind, recipient and channel.
    pub notice: Notice,
    /// 0 the first time. Each time that an integrator or an operator has it sent again, it is another message.
    pub repeat: u16,
}

/// A message that belongs to the caller until its lease ends.
#[derive(Clone)]
pub struct ClaimedMessage {
    /// Its id.
    pub id: MessageId,
    /// How often it has been claimed, including this claim. The count ends at [`ClaimedMessage::ATTEMPTS_COUNTED`].
    pub attempt: u16,
    /// When it was written.
    pub written_at: DateTime<Utc>,
    /// When it was claimed, by the database's clock.
    pub at: DateTime<Utc>,
    /// Its contents. `None` if they cannot be read now, for example because a sealing key is missing. That has been
    /// logged.
    pub contents: Option<Contents>,
}

/// The contents of a message.
#[derive(Clone)]
pub struct Contents {
    /// The purchase, with its token.
    pub record: Record,
    /// The names of the product where they differ from the default name: language and name.
    pub product_names: Vec<(String, String)>,
    /// The phone number of the user in whose name it was bought, in E.164 digits.
    pub requester_phone_number: Option<String>,
    /// The e-mail address of that user.
    pub requester_email: Option<String>,
}

/// The outcome of a claimed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub id: MessageId,
    /// The number of the claim.
    pub attempt: u16,
    /// The outcome.
    pub outcome: DeliveryOutcome,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The gateway has accepted it.
    Sent,
    /// It is tried again after this duration.
    RetryAfter(Duration),
    /// It is not tried again.
    GivenUp(GivenUp),
}

/// Why a message is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GivenUp {
    /// No sender is configured for its channel.
    NoChannel,
    /// The recipient no longer has a number or an address.
    NoRecipient,
    /// The gateway will never accept it.
    Refused,
    /// It is too late to be useful.
    TooOld,
    /// It has been tried too often.
    TooOften,
}

impl GivenUp {
    /// Every reason.
    pub const ALL: [Self; 5] =
        [Self::NoChannel, Self::NoRecipient, Self::Refused, Self::TooOld, Self::TooOften];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoChannel => "NO_CHANNEL",
            Self::NoRecipient => "NOBODY",
            Self::Refused => "REFUSED",
            Self::TooOld => "TOO_OLD",
            Self::TooOften => "TOO_OFTEN",
        }
    }

    /// The reason of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

impl ClaimedMessage {
    /// The highest number of claims that is counted.
    pub const ATTEMPTS_COUNTED: u16 = i16::MAX.unsigned_abs();
}

impl fmt::Display for MessageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Notice { kind, recipient, channel } = self.notice;
        let words = [kind.as_str(), recipient.as_str(), channel.as_str()].map(str::to_ascii_lowercase);
        write!(out, "{}.{}", self.purchase.0, words.join("."))?;
        if self.repeat > 0 { write!(out, ".{}", self.repeat) } else { Ok(()) }
    }
}

impl fmt::Debug for ClaimedMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ClaimedMessage({}, attempt {})", self.id, self.attempt)
    }
}

/// A message to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    pub(crate) id: MessageId,
    pub(crate) at: DateTime<Utc>,
}

struct InsertNotices;

impl Statement for InsertNotices {
    const SQL: &str = include_str!("sql/insert_notices.sql");
}

struct ClaimMessages;

impl Statement for ClaimMessages {
    const SQL: &str = include_str!("sql/claim_messages.sql");
}

struct RecordDeliveries;

impl Statement for RecordDeliveries {
    const SQL: &str = include_str!("sql/record_deliveries.sql");
}

/// Writes the messages that a group of events owes, in the transaction of the group.
pub(crate) async fn insert(writes: &mut Writes, owed: &[Owed]) -> Result<(), DatabaseError> {
    if owed.is_empty() {
        return Ok(());
    }
    let insert = prepared::<InsertNotices>()
        .bind::<Array<BigInt>, _>(column(owed, |owed| owed.id.purchase.0))
        .bind::<Array<Text>, _>(column(owed, |owed| owed.id.notice.kind.as_str()))
        .bind::<Array<Text>, _>(column(owed, |owed| owed.id.notice.recipient.as_str()))
        .bind::<Array<Text>, _>(column(owed, |owed| owed.id.notice.channel.as_str()))
        .bind::<Array<Timestamptz>, _>(column(owed, |owed| owed.at));
    writes.send(insert).await
}

impl Store {
    /// Claims up to `limit` messages of a channel that have been due for at least `due_for`. Until `lease` ends, no
    /// other process claims them.
    pub async fn claim_messages(
        &self,
        channel: Channel,
        due_for: Duration,
        limit: u16,
        lease: Duration,
    ) -> Result<Vec<ClaimedMessage>, DatabaseError> {
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        let (claimed, repeats, contents) = self
            .database
            .operate(move |transaction| {
                Box::pin(async move {
                    let claimed: Vec<ClaimRow> = prepared::<ClaimMessages>()
                        .bind::<Text, _>(channel.as_str())
                        .bind::<BigInt, _>(i64::from(limit))
                        .bind::<BigInt, _>(milliseconds(lease))
                        .bind::<BigInt, _>(milliseconds(due_for))
                        .load(transaction)
                        .await?;
                    let rest = limit.saturating_sub(u16::try_from(claimed.len()).unwrap_or(u16::MAX));
                    let repeats = match channel {
                        Channel::Sms if rest > 0 => repeats::claim(transaction, due_for, rest, lease).await?,
                        Channel::Sms | Channel::Email => Vec::new(),
                    };
                    let purchases = claimed.iter().map(ClaimRow::purchase);
                    let purchases =
                        purchases.chain(repeats.iter().map(|row| row.purchase_id)).collect::<Vec<_>>();
                    let contents = row::contents(transaction, &purchases, &sealing, &timing).await?;
                    Ok((claimed, repeats, contents))
                })
            })
            .await?;
        let first = claimed.iter().map(|row| row.claimed(&contents));
        first.chain(repeats.iter().map(|row| row.claimed(&contents))).collect()
    }

    /// Records the outcome of claimed messages. A message that was sent is not sent again. A failure is ignored if
    /// another process has claimed the message since.
    pub async fn record_deliveries(&self, deliveries: Vec<Delivery>) -> Result<(), DatabaseError> {
        if deliveries.is_empty() {
            return Ok(());
        }
        self.database
            .operate(move |transaction| {
                Box::pin(async move {
                    let (again, first): (Vec<_>, Vec<_>) =
                        deliveries.into_iter().partition(|delivery| delivery.id.repeat > 0);
                    repeats::record(transaction, &again).await?;
                    if first.is_empty() {
                        return Ok(());
                    }
                    let d = first.as_slice();
                    prepared::<RecordDeliveries>()
                        .bind::<Array<BigInt>, _>(column(d, |d| d.id.purchase.0))
                        .bind::<Array<Text>, _>(column(d, |d| d.id.notice.recipient.as_str()))
                        .bind::<Array<Text>, _>(column(d, |d| d.id.notice.channel.as_str()))
                        .bind::<Array<SmallInt>, _>(column(d, |d| {
                            i16::try_from(d.attempt).unwrap_or(i16::MAX)
                        }))
                        .bind::<Array<Bool>, _>(column(d, |d| d.outcome.is_sent()))
                        .bind::<Array<Nullable<BigInt>>, _>(column(d, |d| {
                            d.outcome.pause().map(milliseconds)
                        }))
                        .bind::<Array<Nullable<Text>>, _>(column(d, |d| {
                            d.outcome.given_up().map(GivenUp::as_str)
                        }))
                        .execute(transaction)
                        .await?;
                    Ok(())
                })
            })
            .await
    }
}

impl DeliveryOutcome {
    fn is_sent(self) -> bool {
        self == Self::Sent
    }

    const fn pause(self) -> Option<Duration> {
        match self {
            Self::RetryAfter(pause) => Some(pause),
            Self::Sent | Self::GivenUp(_) => None,
        }
    }

    const fn given_up(self) -> Option<GivenUp> {
        match self {
            Self::GivenUp(why) => Some(why),
            Self::Sent | Self::RetryAfter(_) => None,
        }
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
