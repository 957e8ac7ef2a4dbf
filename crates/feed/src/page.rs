//! Pages of the feed.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};
use purchase::OrganisationId;

use crate::{EventType, Feed, FeedEvent, Position, event::Row};

/// The maximum number of events of which one statement chooses those of the wanted types.
const EXAMINED_MAX: u16 = 2_000;

/// Some events, in the order of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPage {
    /// The events.
    pub events: Vec<FeedEvent>,
    /// The position after which the next page begins: it is after events that were not wanted, too.
    pub next: Position,
    /// Whether the next page can be read at once. It may turn out empty.
    pub has_more: bool,
}

struct GetEvents;

impl Statement for GetEvents {
    const SQL: &str = "-- get_events
SELECT e.transaction_no, e.id, e.kind, e.at, e.details, e.purchase_id, p.reference, p.external_reference, p.account_id, p.product,
    p.provider_code, p.subscriber_identifier, p.currency, p.entry, p.total
FROM unnest($2, $3) AS w (transaction_no, id)
JOIN feed_events e ON e.organisation_id = $1 AND e.transaction_no = w.transaction_no AND e.id = w.id
LEFT JOIN purchases p ON p.id = e.purchase_id";
}

struct ListEvents;

impl Statement for ListEvents {
    const SQL: &str = include_str!("sql/list_events.sql");
}

#[derive(QueryableByName)]
struct PageRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    reached_transaction_no: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    reached_id: Option<i64>,
    #[diesel(sql_type = BigInt)]
    examined: i64,
    #[diesel(sql_type = Bool)]
    is_behind: bool,
    #[diesel(embed)]
    event: Row,
}

impl Feed {
    /// At most `limit` events of an organisation after a position, or the oldest ones that are kept. Without types, events
    /// of all types are wanted. What is returned is never preceded by something new.
    ///
    /// `None` if events after this position were deleted: the reader has missed them.
    ///
    /// # Errors
    /// [`DatabaseError`] if the database does not answer, or has what this program cannot read.
    pub async fn events_after(
        &self,
        organisation: OrganisationId,
        after: Option<Position>,
        types: &[EventType],
        limit: u16,
    ) -> Result<Option<FeedPage>, DatabaseError> {
        let limit = limit.min(EXAMINED_MAX);
        let kinds: Vec<&'static str> = types.iter().map(|one| one.as_str()).collect();
        let from = after.unwrap_or_default();
        // One more than the limit, to know whether there is another one.
        let read_max = limit.saturating_add(1);
        let examined_max = if types.is_empty() { read_max } else { EXAMINED_MAX };
        let rows = self.database.read(move |connection| {
            let page = prepared::<ListEvents>()
                .bind::<BigInt, _>(organisation.0)
                .bind::<BigInt, _>(from.transaction)
                .bind::<BigInt, _>(from.number)
                .bind::<Array<Text>, _>(kinds)
                .bind::<BigInt, _>(i64::from(read_max))
                .bind::<BigInt, _>(i64::from(examined_max));
            Box::pin(async move { page.load::<PageRow>(connection).await })
        });
        let rows = rows.await?;
        if after.is_some() && rows.iter().any(|row| row.is_behind) {
            return Ok(None);
        }
        page(organisation, from, rows, limit, examined_max).map(Some)
    }

    /// The events with these positions, of those that are the organisation's and are still kept. In no order.
    ///
    /// # Errors
    /// Like [`Feed::events_after`].
    pub async fn events_at(
        &self,
        organisation: OrganisationId,
        positions: &[Position],
    ) -> Result<Vec<FeedEvent>, DatabaseError> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let transactions: Vec<i64> = positions.iter().map(|position| position.transaction).collect();
        let numbers: Vec<i64> = positions.iter().map(|position| position.number).collect();
        let rows = self.database.read(move |connection| {
            let events = prepared::<GetEvents>()
                .bind::<BigInt, _>(organisation.0)
                .bind::<Array<BigInt>, _>(transactions)
                .bind::<Array<BigInt>, _>(numbers);
            Box::pin(async move { events.load::<Row>(connection).await })
        });
        rows.await?.into_iter().filter_map(|row| row.read(organisation).transpose()).collect()
    }
}

fn page(
    organisation: OrganisationId,
    from: Position,
    rows: Vec<PageRow>,
    limit: u16,
    examined_max: u16,
) -> Result<FeedPage, DatabaseError> {
    let first = rows.first();
    let is_full = first.is_some_and(|row| row.examined >= i64::from(examined_max));
    let reached = first.and_then(|row| row.reached_transaction_no.zip(row.reached_id));
    let reached = reached.map_or(from, |(transaction, number)| Position { transaction, number });
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        events.extend(row.event.read(organisation)?);
    }
    let is_cut = events.len() > usize::from(limit);
    events.truncate(usize::from(limit));
    let next = events.last().filter(|_| is_cut).map_or(reached, |last| last.position);
    Ok(FeedPage { events, next, has_more: is_cut || is_full })
}
