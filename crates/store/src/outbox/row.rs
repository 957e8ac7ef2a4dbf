//! The rows that are read to send a message: the claimed row, its purchase, and the recipient's addresses.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, SmallInt, Text, Timestamptz},
};
use purchase::{Channel, Notice, NoticeKind, PurchaseId, Recipient, Record, Timing};

use super::{ClaimedMessage, Contents, MessageId};
use crate::{SealingKeys, records::Row as RecordRow};

struct GetRecords;

impl Statement for GetRecords {
    const SQL: &str =
        concat!("-- get_records\n", include_str!("../sql/select_record.sql"), "WHERE p.id = ANY ($1)");
}

struct FindMessages;

impl Statement for FindMessages {
    const SQL: &str = include_str!("../sql/find_messages.sql");
}

#[derive(QueryableByName)]
pub(super) struct ClaimRow {
    #[diesel(sql_type = BigInt)]
    purchase_id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    recipient: String,
    #[diesel(sql_type = Text)]
    channel: String,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
    #[diesel(sql_type = Timestamptz)]
    written_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

#[derive(QueryableByName)]
struct MessageRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Text>)]
    phone_number: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    email: Option<String>,
    #[diesel(sql_type = Array<Text>)]
    languages: Vec<String>,
    #[diesel(sql_type = Array<Text>)]
    display_names: Vec<String>,
}

/// The contents of the messages about these purchases. A purchase that cannot be read is left out.
pub(super) async fn contents(
    connection: &Connection,
    purchases: &[i64],
    sealing: &SealingKeys,
    timing: &Timing,
) -> Result<HashMap<i64, Contents>, DatabaseError> {
    if purchases.is_empty() {
        return Ok(HashMap::new());
    }
    let records: Vec<RecordRow> =
        prepared::<GetRecords>().bind::<Array<BigInt>, _>(purchases).load(connection).await?;
    let details: Vec<MessageRow> =
        prepared::<FindMessages>().bind::<Array<BigInt>, _>(purchases).load(connection).await?;
    let mut details: HashMap<i64, MessageRow> = details.into_iter().map(|row| (row.id, row)).collect();
    let contents = records.into_iter().filter_map(|row| {
        let id = row.id;
        let record = row.read(sealing, timing).map_err(|error| unreadable(id, &error)).ok()?.record;
        let details = details.remove(&id)?;
        Some((id, details.contents(record)))
    });
    Ok(contents.collect())
}

impl MessageRow {
    fn contents(self, record: Record) -> Contents {
        Contents {
            record,
            product_names: self.languages.into_iter().zip(self.display_names).collect(),
            requester_phone_number: self.phone_number,
            requester_email: self.email,
        }
    }
}

impl ClaimRow {
    pub(super) const fn purchase(&self) -> i64 {
        self.purchase_id
    }

    pub(super) fn claimed(&self, contents: &HashMap<i64, Contents>) -> Result<ClaimedMessage, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("outbox", column, self.purchase_id);
        let notice = Notice {
            kind: NoticeKind::parse(&self.kind).ok_or_else(|| corrupt("kind"))?,
            recipient: Recipient::parse(&self.recipient).ok_or_else(|| corrupt("recipient"))?,
            channel: Channel::parse(&self.channel).ok_or_else(|| corrupt("channel"))?,
        };
        Ok(ClaimedMessage {
            id: MessageId { purchase: PurchaseId(self.purchase_id), notice, repeat: 0 },
            attempt: u16::try_from(self.attempts).map_err(|_negative| corrupt("attempts"))?,
            written_at: self.written_at,
            at: self.at,
            contents: contents.get(&self.purchase_id).cloned(),
        })
    }
}

/// Logs a purchase that cannot be read. The other messages of its batch must not wait for one whose token cannot be
/// opened.
fn unreadable(purchase: i64, error: &DatabaseError) {
    let cause: &dyn std::error::Error = error;
    tracing::error!(cause, purchase, "a message cannot be made: its purchase cannot be read");
}
