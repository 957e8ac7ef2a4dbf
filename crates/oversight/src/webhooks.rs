//! The webhook endpoints of an organisation, as an operator looks for one that receives nothing.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, SmallInt, Text, Timestamptz},
};
use purchase::OrganisationId;

/// A webhook endpoint, without the path of its address, which may contain a secret of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRecord {
    /// Its number.
    pub id: i64,
    /// The first part of its address: `https://till.example`.
    pub server: String,
    /// Its owner's words for it.
    pub description: Option<String>,
    /// `ACTIVE`, `PAUSED` or `SWITCHED_OFF`.
    pub status: String,
    /// Since when it has this status.
    pub status_since: DateTime<Utc>,
    /// `FAILING` or `GONE`, if the service has switched it off.
    pub switched_off_because: Option<String>,
    /// The first failure since it last accepted an event. `None` if it accepts them.
    pub failing_since: Option<DateTime<Utc>>,
    /// The last attempt that it did not accept, of those that are kept.
    pub last_failure: Option<(DateTime<Utc>, WebhookFailure)>,
}

/// What came of an attempt that was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookFailure {
    /// An HTTP status other than 2xx.
    Status(u16),
    /// Why there was no answer.
    NoAnswer(String),
}

struct OverseeWebhooks;

impl Statement for OverseeWebhooks {
    const SQL: &str = "-- oversee_webhook_endpoints
SELECT e.id, coalesce(substring(e.url FROM '^[a-z]+://[^/?#]+'), '') AS server, e.description, e.status, e.status_since,
    e.switched_off_because, p.failing_since, f.at, f.http_status, f.no_answer
FROM webhook_endpoints e
LEFT JOIN webhook_progress p ON p.endpoint_id = e.id
LEFT JOIN LATERAL (
    SELECT a.at, a.http_status, a.no_answer FROM webhook_attempts a
    WHERE a.endpoint_id = e.id AND (a.http_status BETWEEN 200 AND 299) IS NOT TRUE
    ORDER BY a.id DESC LIMIT 1
) AS f ON true
WHERE e.organisation_id = $1 AND e.status <> 'DELETED'
ORDER BY e.id";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    server: String,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Timestamptz)]
    status_since: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    switched_off_because: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    failing_since: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<SmallInt>)]
    http_status: Option<i16>,
    #[diesel(sql_type = Nullable<Text>)]
    no_answer: Option<String>,
}

/// The webhook endpoints of an organisation that are not deleted, the oldest first.
///
/// # Errors
/// [`DatabaseError`] if the database does not answer.
pub async fn oversee_webhooks(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Vec<WebhookRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        let webhooks = prepared::<OverseeWebhooks>().bind::<BigInt, _>(organisation.0);
        Box::pin(async move { webhooks.load::<Row>(connection).await })
    });
    Ok(listed.await?.into_iter().map(WebhookRecord::from).collect())
}

impl From<Row> for WebhookRecord {
    fn from(row: Row) -> Self {
        let status = row.http_status.and_then(|status| u16::try_from(status).ok());
        let failure = status.map(WebhookFailure::Status).or(row.no_answer.map(WebhookFailure::NoAnswer));
        Self {
            id: row.id,
            server: row.server,
            description: row.description,
            status: row.status,
            status_since: row.status_since,
            switched_off_because: row.switched_off_because,
            failing_since: row.failing_since,
            last_failure: row.at.zip(failure),
        }
    }
}
