//! Purchases of all organisations, as an operator looks for them: open ones with the oldest first, all others with the
//! newest first.
//!
//! As in the listing for integrators, this module chooses the index. Open purchases have an index of their own. All
//! others are searched organisation by organisation, because organisations are few.

use std::time::Duration;

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, SmallInt, Text, Timestamptz},
};
use money::Money;
use purchase::{Handling, OrganisationId, Position, PurchaseId, StateName};
use vend::{Product, SubscriberIdentifier};

#[cfg(test)]
mod plans;

/// Which purchases are requested. An absent field does not filter.
#[derive(Clone, Debug)]
pub struct OversightQuery {
    /// In these states.
    pub states: OverseenStates,
    /// The organisation.
    pub organisation: Option<OrganisationId>,
    /// The purchase with this number, if it also matches the rest.
    pub id: Option<PurchaseId>,
    /// The subscriber.
    pub subscriber: Option<SubscriberIdentifier>,
    /// The integrator's own reference for it.
    pub external_reference: Option<String>,
    /// The `X-Request-Id` of its confirm.
    pub request_id: Option<String>,
    /// Reserved at least this long ago, by the database's clock.
    pub older_than: Duration,
    /// Only purchases that come after this one in the list.
    pub after: Option<PurchaseId>,
    /// The maximum number of purchases.
    pub limit: u16,
}

/// The states that an operator can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverseenStates {
    /// Any, the newest first.
    All,
    /// Open, so that money is held for it, the oldest first.
    Open,
    /// In doubt, the oldest first.
    InDoubt,
    /// In review, waiting for an operator, the oldest first.
    Review,
}

/// A purchase in an operator's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overseen {
    /// Its number.
    pub id: PurchaseId,
    /// Its reference for people.
    pub reference: String,
    /// The code of its organisation.
    pub organisation: String,
    /// The product.
    pub product: Product,
    /// The code of the provider.
    pub provider_code: String,
    /// The subscriber identifier.
    pub subscriber: String,
    /// What it costs.
    pub total: Money,
    /// Its state.
    pub state: StateName,
    /// Which side settles doubt about it.
    pub handling: Handling,
    /// The number of its current attempt.
    pub attempt: u16,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// When the worker looks at it next. `None` once it has ended.
    pub due_at: Option<DateTime<Utc>>,
    /// The integrator's own reference for it.
    pub external_reference: Option<String>,
    /// The `X-Request-Id` of its confirm.
    pub request_id: Option<String>,
    /// The database's time of this read.
    pub seen_at: DateTime<Utc>,
}

/// A page of what `$page` finds, in the order `$order`.
macro_rules! oversee {
    ($name:literal, $page:expr, $order:literal) => {
        concat!(
            "-- ",
            $name,
            "\nWITH page AS MATERIALIZED (",
            $page,
            ")
SELECT p.id, p.reference, o.code AS organisation, p.product, p.provider_code, p.subscriber_identifier, p.currency, p.total,
    p.state, p.handling, p.attempt, p.created_at, p.due_at, p.external_reference, p.request_id, clock_timestamp() AS seen_at
FROM page JOIN purchases p ON p.id = page.id JOIN organisations o ON o.id = p.organisation_id
ORDER BY ",
            $order
        )
    };
}

/// The conditions that every list has.
macro_rules! fits {
    () => {
        "p.state = ANY ($2) AND ($3 IS NULL OR p.subscriber_identifier = $3)
    AND ($4 IS NULL OR p.external_reference = $4) AND ($5 IS NULL OR p.request_id = $5)
    AND p.created_at <= now() - $6 * interval '1 microsecond'"
    };
}

/// A page of history, organisation by organisation, along the index that fits `$by`: `$first` says which of them are found first.
macro_rules! history {
    ($name:literal, $by:literal, $first:literal) => {
        oversee!(
            $name,
            concat!(
                "SELECT q.id FROM organisations o CROSS JOIN LATERAL (
    SELECT p.id, p.created_at FROM purchases p WHERE p.organisation_id = o.id AND (p.created_at, p.id) < ($7, $8) AND ",
                $by,
                fits!(),
                " ORDER BY ",
                $first,
                "
) q WHERE ($1 IS NULL OR o.id = $1) ORDER BY q.created_at DESC, q.id DESC LIMIT $9"
            ),
            "p.created_at DESC, p.id DESC"
        )
    };
}

struct OverseeOpen;

impl Statement for OverseeOpen {
    const SQL: &str = oversee!(
        "oversee_open",
        concat!(
            "SELECT p.id FROM purchases p WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    AND ($1 IS NULL OR p.organisation_id = $1) AND (p.created_at, p.id) > ($7, $8) AND ",
            fits!(),
            " ORDER BY p.created_at + interval '0', p.id LIMIT $9"
        ),
        "p.created_at, p.id"
    );
}

/// Uses `purchases_by_created_at`. That index does not have the number, so all purchases of the last moment are found.
struct OverseeByTime;

impl Statement for OverseeByTime {
    const SQL: &str = history!("oversee_by_time", "", "p.created_at DESC FETCH FIRST $9 ROWS WITH TIES");
}

/// Uses `purchases_by_subscriber`. No index has the order of an expression, so no other index is scanned only for its
/// order.
struct OverseeBySubscriber;

impl Statement for OverseeBySubscriber {
    const SQL: &str = history!(
        "oversee_by_subscriber",
        "p.subscriber_identifier = $3 AND ",
        "p.created_at + interval '0' DESC, p.id DESC LIMIT $9"
    );
}

/// Uses `purchases_by_reference`.
struct OverseeByReference;

impl Statement for OverseeByReference {
    const SQL: &str = history!(
        "oversee_by_reference",
        "hashtextextended(p.external_reference, 0) = hashtextextended($4, 0) AND p.external_reference = $4 AND ",
        "p.created_at DESC, p.id DESC LIMIT $9"
    );
}

/// Finds one purchase by its number.
struct OverseeById;

impl Statement for OverseeById {
    const SQL: &str = oversee!(
        "oversee_by_id",
        concat!(
            "SELECT p.id FROM purchases p WHERE p.id = $10 AND ($1 IS NULL OR p.organisation_id = $1) AND ",
            fits!()
        ),
        "p.id"
    );
}

struct FindPosition;

impl Statement for FindPosition {
    const SQL: &str = "-- find_place\nSELECT created_at FROM purchases WHERE id = $1";
}

#[derive(QueryableByName)]
struct PositionRow {
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    reference: String,
    #[diesel(sql_type = Text)]
    organisation: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    handling: String,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    due_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    request_id: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    seen_at: DateTime<Utc>,
}

/// The requested purchases, of any organisation.
///
/// # Errors
/// [`DatabaseError::Absent`] if the purchase after which the page begins does not exist.
pub async fn oversee_purchases(
    database: &Database,
    query: OversightQuery,
) -> Result<Vec<Overseen>, DatabaseError> {
    let read = database.read(move |connection| Box::pin(async move { query.ask(connection).await }));
    read.await?.into_iter().map(Overseen::try_from).collect()
}

impl OverseenStates {
    /// The states that are included.
    pub fn states(self) -> impl Iterator<Item = StateName> {
        StateName::ALL.into_iter().filter(move |state| match self {
            Self::All => true,
            Self::Open => state.is_open(),
            Self::InDoubt => *state == StateName::InDoubt,
            Self::Review => *state == StateName::Review,
        })
    }
}

impl OversightQuery {
    /// All purchases, the newest first, at most `limit`.
    pub const fn newest(limit: u16) -> Self {
        Self {
            states: OverseenStates::All,
            organisation: None,
            id: None,
            subscriber: None,
            external_reference: None,
            request_id: None,
            older_than: Duration::ZERO,
            after: None,
            limit,
        }
    }

    async fn ask(&self, connection: &Connection) -> Result<Vec<Row>, DatabaseError> {
        match (self.id, self.states, &self.subscriber, &self.external_reference) {
            (Some(_), _, _, _) => self.run::<OverseeById>(connection, LAST).await,
            (None, OverseenStates::Open | OverseenStates::InDoubt | OverseenStates::Review, _, _) => {
                self.run::<OverseeOpen>(connection, FIRST).await
            }
            (None, OverseenStates::All, Some(_), _) => {
                self.run::<OverseeBySubscriber>(connection, LAST).await
            }
            (None, OverseenStates::All, None, Some(_)) => {
                self.run::<OverseeByReference>(connection, LAST).await
            }
            (None, OverseenStates::All, None, None) => self.run::<OverseeByTime>(connection, LAST).await,
        }
    }

    async fn run<S: Statement>(
        &self,
        connection: &Connection,
        otherwise: Position,
    ) -> Result<Vec<Row>, DatabaseError> {
        let after = match self.after {
            Some(id) => position_of(connection, id).await?,
            None => otherwise,
        };
        let older_than = i64::try_from(self.older_than.as_micros()).unwrap_or(i64::MAX);
        let states: Vec<&str> = self.states.states().map(StateName::as_str).collect();
        let rows = prepared::<S>()
            .bind::<Nullable<BigInt>, _>(self.organisation.map(|organisation| organisation.0))
            .bind::<Array<Text>, _>(states)
            .bind::<Nullable<Text>, _>(self.subscriber.as_ref().map(SubscriberIdentifier::as_str))
            .bind::<Nullable<Text>, _>(self.external_reference.as_deref())
            .bind::<Nullable<Text>, _>(self.request_id.as_deref())
            .bind::<BigInt, _>(older_than)
            .bind::<Timestamptz, _>(after.at)
            .bind::<BigInt, _>(after.id.0)
            .bind::<BigInt, _>(i64::from(self.limit))
            .bind::<Nullable<BigInt>, _>(self.id.map(|id| id.0))
            .load(connection);
        rows.await
    }
}

/// Before every purchase.
const FIRST: Position = Position { at: DateTime::UNIX_EPOCH, id: PurchaseId(i64::MIN) };

/// After every purchase.
pub(crate) const LAST: Position = Position {
    at: match DateTime::from_timestamp(253_402_300_799, 0) {
        Some(end_of_9999) => end_of_9999,
        None => DateTime::UNIX_EPOCH,
    },
    id: PurchaseId(i64::MAX),
};

async fn position_of(connection: &Connection, id: PurchaseId) -> Result<Position, DatabaseError> {
    let rows: Vec<PositionRow> = prepared::<FindPosition>().bind::<BigInt, _>(id.0).load(connection).await?;
    let absent = || DatabaseError::Absent { what: "purchase", key: id.0.to_string() };
    Ok(Position { at: rows.into_iter().next().ok_or_else(absent)?.created_at, id })
}

impl TryFrom<Row> for Overseen {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("purchases", column, row.id);
        let currency = read_currency("purchases", row.id, &row.currency)?;
        Ok(Self {
            id: PurchaseId(row.id),
            product: Product::parse(&row.product).ok_or_else(|| corrupt("product"))?,
            total: Money::from_minor(row.total, currency),
            state: StateName::parse(&row.state).ok_or_else(|| corrupt("state"))?,
            handling: Handling::parse(&row.handling).ok_or_else(|| corrupt("handling"))?,
            attempt: u16::try_from(row.attempt).map_err(|_negative| corrupt("attempt"))?,
            reference: row.reference,
            organisation: row.organisation,
            provider_code: row.provider_code,
            subscriber: row.subscriber_identifier,
            created_at: row.created_at,
            due_at: row.due_at,
            external_reference: row.external_reference,
            request_id: row.request_id,
            seen_at: row.seen_at,
        })
    }
}
