//! Messages in the outbox, as an operator looks for them: waiting, stuck, and given up.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, SmallInt, Text, Timestamptz},
};
use purchase::{Channel, NoticeKind, PurchaseId, Recipient};
use store::GivenUp;

/// Which messages are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverseenMessages {
    /// Neither sent nor given up; the oldest first.
    Waiting,
    /// Waiting messages that were claimed three times or more, or are overdue by five minutes.
    Stuck,
    /// Given up; the newest first.
    GivenUp,
}

/// A message, without its text and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// The purchase that it is about.
    pub purchase: PurchaseId,
    /// What it says.
    pub kind: NoticeKind,
    /// The recipient.
    pub recipient: Recipient,
    /// How it is sent.
    pub channel: Channel,
    /// When it was written: in the transaction that ended the purchase, or when it was last made to wait again.
    pub written_at: DateTime<Utc>,
    /// When it is claimed next, while it waits.
    pub due_at: DateTime<Utc>,
    /// How often it was claimed.
    pub attempts: u16,
    /// When the gateway accepted it.
    pub sent_at: Option<DateTime<Utc>>,
    /// When it was given up, and why.
    pub given_up: Option<(DateTime<Utc>, GivenUp)>,
    /// What it was before an operator made it wait again.
    pub earlier: Option<EarlierMessage>,
}

/// A message that was given up, before an operator made it wait again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierMessage {
    /// When it was written first.
    pub written_at: DateTime<Utc>,
    /// When it was last given up.
    pub given_up_at: DateTime<Utc>,
    /// Why it was last given up.
    pub because: GivenUp,
}

macro_rules! messages {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- ",
            $name,
            "\nSELECT purchase_id, kind, recipient, channel, written_at, due_at, attempts, sent_at, given_up_at, given_up_because,
    first_written_at, earlier_given_up_at, earlier_given_up_because
FROM (
    SELECT purchase_id, kind, recipient, channel, written_at, due_at, attempts, sent_at, given_up_at, given_up_because,
        first_written_at, earlier_given_up_at, earlier_given_up_because
    FROM outbox
    UNION ALL
    SELECT purchase_id, 'ISSUED', 'BENEFICIARY', 'SMS', written_at, due_at, attempts, sent_at, given_up_at, given_up_because,
        first_written_at, earlier_given_up_at, earlier_given_up_because
    FROM repeated_messages
) AS messages ",
            $rest
        )
    };
}

struct ListWaiting;

impl Statement for ListWaiting {
    const SQL: &str = messages!(
        "list_waiting_messages",
        "WHERE sent_at IS NULL AND given_up_at IS NULL ORDER BY written_at, purchase_id LIMIT $1"
    );
}

struct ListStuck;

impl Statement for ListStuck {
    const SQL: &str = messages!(
        "list_stuck_messages",
        "WHERE sent_at IS NULL AND given_up_at IS NULL
    AND (attempts >= 3 OR due_at < now() - interval '5 minutes')
ORDER BY written_at, purchase_id LIMIT $1"
    );
}

struct ListGivenUp;

impl Statement for ListGivenUp {
    const SQL: &str = messages!(
        "list_messages_given_up",
        "WHERE given_up_at IS NOT NULL ORDER BY given_up_at DESC, purchase_id DESC LIMIT $1"
    );
}

struct ListOfPurchase;

impl Statement for ListOfPurchase {
    const SQL: &str = messages!(
        "list_messages_of_purchase",
        "WHERE purchase_id = $1 ORDER BY recipient, channel, written_at"
    );
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    purchase_id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    recipient: String,
    #[diesel(sql_type = Text)]
    channel: String,
    #[diesel(sql_type = Timestamptz)]
    written_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    due_at: DateTime<Utc>,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    sent_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    given_up_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    given_up_because: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    first_written_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    earlier_given_up_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    earlier_given_up_because: Option<String>,
}

/// At most `limit` of the requested messages.
pub async fn oversee_messages(
    database: &Database,
    which: OverseenMessages,
    limit: u16,
) -> Result<Vec<MessageRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let limit = i64::from(limit);
            let rows: Vec<Row> = match which {
                OverseenMessages::Waiting => {
                    prepared::<ListWaiting>().bind::<BigInt, _>(limit).load(connection).await?
                }
                OverseenMessages::Stuck => {
                    prepared::<ListStuck>().bind::<BigInt, _>(limit).load(connection).await?
                }
                OverseenMessages::GivenUp => {
                    prepared::<ListGivenUp>().bind::<BigInt, _>(limit).load(connection).await?
                }
            };
            Ok(rows)
        })
    });
    listed.await?.into_iter().map(MessageRecord::try_from).collect()
}

/// The messages about one purchase, in the caller's transaction.
pub(crate) async fn of_purchase(
    transaction: &Transaction,
    purchase: PurchaseId,
) -> Result<Vec<MessageRecord>, DatabaseError> {
    let rows: Vec<Row> = prepared::<ListOfPurchase>().bind::<BigInt, _>(purchase.0).load(transaction).await?;
    rows.into_iter().map(MessageRecord::try_from).collect()
}

impl TryFrom<Row> for MessageRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("outbox", column, row.purchase_id);
        let cause = |name: Option<&String>, column| {
            name.map(|name| GivenUp::parse(name).ok_or_else(|| corrupt(column))).transpose()
        };
        let given_up_because = cause(row.given_up_because.as_ref(), "given_up_because")?;
        let earlier_because = cause(row.earlier_given_up_because.as_ref(), "earlier_given_up_because")?;
        let earlier = row.first_written_at.zip(row.earlier_given_up_at).zip(earlier_because);
        Ok(Self {
            purchase: PurchaseId(row.purchase_id),
            attempts: u16::try_from(row.attempts).map_err(|_negative| corrupt("attempts"))?,
            kind: NoticeKind::parse(&row.kind).ok_or_else(|| corrupt("kind"))?,
            recipient: Recipient::parse(&row.recipient).ok_or_else(|| corrupt("recipient"))?,
            channel: Channel::parse(&row.channel).ok_or_else(|| corrupt("channel"))?,
            written_at: row.written_at,
            due_at: row.due_at,
            sent_at: row.sent_at,
            given_up: row.given_up_at.zip(given_up_because),
            earlier: earlier.map(|((written_at, given_up_at), because)| EarlierMessage {
                written_at,
                given_up_at,
                because,
            }),
        })
    }
}
