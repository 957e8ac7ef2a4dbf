//! Messages that an integrator or an operator has sent again. They are claimed, sent and recorded together with those of the
//! outbox.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Integer, Nullable, SmallInt, Text, Timestamptz},
};
use directory::AuditContext;
use purchase::{Channel, Notice, NoticeKind, OrganisationId, PurchaseId, Recipient, UserId};

use super::{ClaimedMessage, Contents, Delivery, GivenUp, MessageId, milliseconds};
use crate::Store;

/// A request to send the message with the token of a sold purchase once more.
#[derive(Clone)]
pub struct RepeatRequest {
    /// The organisation that sold it.
    pub organisation: OrganisationId,
    /// The purchase.
    pub purchase: PurchaseId,
    /// The corrected number, in E.164 digits. `None` is the number of the purchase.
    pub phone_number: Option<String>,
    /// The user who asks.
    pub user: UserId,
    /// How many may be asked for within a day.
    pub per_day: u8,
}

/// The same request of an operator.
#[derive(Clone)]
pub struct ResendRequest {
    /// The purchase.
    pub purchase: PurchaseId,
    /// The corrected number, in E.164 digits. `None` is the number of the purchase.
    pub phone_number: Option<String>,
    /// How many may be asked for within a day, by integrators and operators together.
    pub per_day: u8,
}

/// How often the message of one purchase may be sent again within a day, unless the settings say otherwise.
pub const MESSAGES_PER_DAY: u8 = 3;

/// How often the database lets the message of one purchase be sent again within a day, whatever the settings say.
pub const MESSAGES_PER_DAY_MAX: u8 = 10;

/// A message that will be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedMessage {
    /// When it was asked for, by the database's clock.
    pub at: DateTime<Utc>,
    /// How many more may be asked for within the day.
    pub remaining: u8,
}

struct RepeatMessage;

impl Statement for RepeatMessage {
    const SQL: &str = "-- repeat_message\nSELECT at, remaining FROM repeat_message($1, $2, $3, $4, $5)";
}

struct ResendMessage;

impl Statement for ResendMessage {
    const SQL: &str = "-- resend_message\nSELECT at, remaining FROM resend_message($1, $2, $3, $4, $5)";
}

struct CountRepeats;

impl Statement for CountRepeats {
    const SQL: &str = "-- count_repeats
SELECT count(*) AS asked FROM repeated_messages WHERE purchase_id = $1 AND written_at > clock_timestamp() - interval '1 day'";
}

#[derive(QueryableByName)]
struct AskedRow {
    #[diesel(sql_type = BigInt)]
    asked: i64,
}

/// Those that `requeue_messages` would let wait again.
struct CountGivenUp;

impl Statement for CountGivenUp {
    const SQL: &str = "-- count_given_up
SELECT (SELECT count(*) FROM outbox o WHERE o.purchase_id = p.id AND o.given_up_at IS NOT NULL)
    + (SELECT count(*) FROM repeated_messages m WHERE m.purchase_id = p.id AND m.given_up_at IS NOT NULL) AS asked
FROM purchases p WHERE p.id = $1 AND p.personal_data_erased_at IS NULL AND p.sealed_values_erased_at IS NULL";
}

struct RequeueMessages;

impl Statement for RequeueMessages {
    const SQL: &str = "-- requeue_messages\nSELECT requeued FROM requeue_messages($1, $2, $3)";
}

struct ClaimRepeatedMessages;

impl Statement for ClaimRepeatedMessages {
    const SQL: &str = include_str!("../sql/claim_repeated_messages.sql");
}

struct RecordRepeatedDeliveries;

impl Statement for RecordRepeatedDeliveries {
    const SQL: &str = include_str!("../sql/record_repeated_deliveries.sql");
}

#[derive(QueryableByName)]
struct RepeatedRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<BigInt>)]
    remaining: Option<i64>,
}

#[derive(QueryableByName)]
struct RequeuedRow {
    #[diesel(sql_type = BigInt)]
    requeued: i64,
}

#[derive(QueryableByName)]
pub(super) struct ClaimRow {
    #[diesel(sql_type = BigInt)]
    pub(super) purchase_id: i64,
    #[diesel(sql_type = SmallInt)]
    number: i16,
    #[diesel(sql_type = Nullable<Text>)]
    phone_number: Option<String>,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
    #[diesel(sql_type = Timestamptz)]
    written_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

/// The only message that is repeated: the token, to its beneficiary.
const TOKEN: Notice =
    Notice { kind: NoticeKind::Issued, recipient: Recipient::Beneficiary, channel: Channel::Sms };

impl Store {
    /// Writes a message that is to be sent again. `None` if as many as the request allows were asked for within a day.
    ///
    /// # Errors
    /// The database refuses it if the purchase is not sold.
    pub async fn repeat_message(
        &self,
        request: RepeatRequest,
    ) -> Result<Option<RepeatedMessage>, DatabaseError> {
        let written = self.database.operate(move |transaction| {
            Box::pin(async move {
                let repeat = prepared::<RepeatMessage>()
                    .bind::<BigInt, _>(request.purchase.0)
                    .bind::<BigInt, _>(request.organisation.0)
                    .bind::<Nullable<Text>, _>(request.phone_number.as_deref())
                    .bind::<BigInt, _>(request.user.0)
                    .bind::<Integer, _>(i32::from(request.per_day));
                repeat.optional::<RepeatedRow>(transaction).await
            })
        });
        Ok(written.await?.and_then(RepeatedRow::written))
    }

    /// The same for an operator, with a line in the audit log that does not have the number.
    ///
    /// # Errors
    /// The database refuses it if the purchase is not sold, or if the login may not do it.
    pub async fn resend_message(
        &self,
        request: ResendRequest,
        act: AuditContext,
    ) -> Result<Option<RepeatedMessage>, DatabaseError> {
        let written = self.database.operate(move |transaction| {
            Box::pin(async move {
                let resend = prepared::<ResendMessage>()
                    .bind::<BigInt, _>(request.purchase.0)
                    .bind::<Nullable<Text>, _>(request.phone_number.as_deref())
                    .bind::<Integer, _>(i32::from(request.per_day))
                    .bind::<Text, _>(act.actor.as_str())
                    .bind::<Text, _>(act.reason.as_str());
                resend.optional::<RepeatedRow>(transaction).await
            })
        });
        Ok(written.await?.and_then(RepeatedRow::written))
    }

    /// How often the message of a purchase was asked for again within a day, for a rehearsal.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn repeats_within_a_day(&self, purchase: PurchaseId) -> Result<u8, DatabaseError> {
        let counted = self.database.read(move |connection| {
            Box::pin(async move {
                let counted = prepared::<CountRepeats>().bind::<BigInt, _>(purchase.0);
                counted.get_result::<AskedRow>(connection).await
            })
        });
        Ok(u8::try_from(counted.await?.asked).unwrap_or(u8::MAX))
    }

    /// How many messages about a purchase [`Store::requeue_messages`] would let wait again.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn count_given_up(&self, purchase: PurchaseId) -> Result<u64, DatabaseError> {
        let counted = self.database.read(move |connection| {
            Box::pin(async move {
                let counted = prepared::<CountGivenUp>().bind::<BigInt, _>(purchase.0);
                counted.optional::<AskedRow>(connection).await
            })
        });
        Ok(counted.await?.and_then(|row| u64::try_from(row.asked).ok()).unwrap_or_default())
    }

    /// Lets the messages about a purchase that were given up wait again, with a line in the audit log. Returns how many there
    /// were.
    pub async fn requeue_messages(
        &self,
        purchase: PurchaseId,
        act: AuditContext,
    ) -> Result<u64, DatabaseError> {
        let requeued = self.database.operate(move |transaction| {
            Box::pin(async move {
                let requeue = prepared::<RequeueMessages>()
                    .bind::<BigInt, _>(purchase.0)
                    .bind::<Text, _>(act.actor.as_str())
                    .bind::<Text, _>(act.reason.as_str());
                requeue.optional::<RequeuedRow>(transaction).await
            })
        });
        Ok(requeued.await?.and_then(|row| u64::try_from(row.requeued).ok()).unwrap_or_default())
    }
}

impl RepeatedRow {
    fn written(self) -> Option<RepeatedMessage> {
        let remaining = self.remaining.and_then(|left| u8::try_from(left).ok()).unwrap_or_default();
        self.at.map(|at| RepeatedMessage { at, remaining })
    }
}

/// Claims up to `limit` repeats.
pub(super) async fn claim(
    connection: &Connection,
    due_for: Duration,
    limit: u16,
    lease: Duration,
) -> Result<Vec<ClaimRow>, DatabaseError> {
    prepared::<ClaimRepeatedMessages>()
        .bind::<BigInt, _>(i64::from(limit))
        .bind::<BigInt, _>(milliseconds(lease))
        .bind::<BigInt, _>(milliseconds(due_for))
        .load(connection)
        .await
}

/// Records the outcomes of claimed repeats.
pub(super) async fn record(connection: &Connection, d: &[Delivery]) -> Result<(), DatabaseError> {
    if d.is_empty() {
        return Ok(());
    }
    let small = |number: u16| i16::try_from(number).unwrap_or(i16::MAX);
    prepared::<RecordRepeatedDeliveries>()
        .bind::<Array<BigInt>, _>(column(d, |d| d.id.purchase.0))
        .bind::<Array<SmallInt>, _>(column(d, |d| small(d.id.repeat)))
        .bind::<Array<SmallInt>, _>(column(d, |d| small(d.attempt)))
        .bind::<Array<Bool>, _>(column(d, |d| d.outcome.is_sent()))
        .bind::<Array<Nullable<BigInt>>, _>(column(d, |d| d.outcome.pause().map(milliseconds)))
        .bind::<Array<Nullable<Text>>, _>(column(d, |d| d.outcome.given_up().map(GivenUp::as_str)))
        .execute(connection)
        .await?;
    Ok(())
}

impl ClaimRow {
    /// The message as the senders take it. The corrected number takes the place of the one in the purchase.
    pub(super) fn claimed(&self, contents: &HashMap<i64, Contents>) -> Result<ClaimedMessage, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("repeated_messages", column, self.purchase_id);
        let mut contents = contents.get(&self.purchase_id).cloned();
        if let (Some(contents), Some(corrected)) = (&mut contents, &self.phone_number) {
            contents.record.beneficiary_phone_number.clone_from(corrected);
        }
        Ok(ClaimedMessage {
            id: MessageId {
                purchase: PurchaseId(self.purchase_id),
                notice: TOKEN,
                repeat: u16::try_from(self.number).map_err(|_negative| corrupt("number"))?,
            },
            attempt: u16::try_from(self.attempts).map_err(|_negative| corrupt("attempts"))?,
            written_at: self.written_at,
            at: self.at,
            contents,
        })
    }
}
