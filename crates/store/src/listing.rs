//! Reads purchases for the integrator that owns them: one by its number, or a page of a selection.
//!
//! The rows of a page are first found by an index, in order, and only then read in full. This module chooses the index,
//! and does not rely on the planner's guess about how rare a value is. So a page costs a page, or what one subscriber
//! ever bought. Two selections read other rows until the page is full: successes, and one status of one reference.

use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz},
};
use purchase::{
    Buyer, LookUp, OrganisationId, Page, Position, PurchaseId, PurchaseStatus, PurchaseWithBuyer, Selection,
    StateName, UserId,
};
use vend::SubscriberIdentifier;

use crate::{
    Store,
    records::{ForRetry, Row},
};

#[cfg(test)]
pub(crate) mod plans;

/// Purchases by number, each with its buyer.
macro_rules! select_with_buyer {
    ($which:literal) => {
        concat!(
            "SELECT r.*, u.username, u.full_name, u.phone_number, u.status = 'ACTIVE' AS user_is_active FROM (",
            include_str!("sql/select_record.sql"),
            "WHERE ",
            $which,
            ") r JOIN users u ON u.id = r.user_id ORDER BY r.created_at DESC, r.id DESC"
        )
    };
}

/// A page of the purchases that also fit `$fitting`: `$first` says which of them are found first. They may be more than a page.
macro_rules! list_with_buyers {
    ($name:literal, $fitting:literal, $first:literal) => {
        concat!(
            "-- ",
            $name,
            "\nWITH page AS MATERIALIZED (SELECT q.id FROM (
    SELECT p.id, p.created_at FROM purchases p WHERE p.organisation_id = $1
        AND p.created_at >= $2 AND (p.created_at, p.id) < ($3, $4) AND p.state = ANY ($6) ",
            $fitting,
            " ORDER BY ",
            $first,
            ") q ORDER BY q.created_at DESC, q.id DESC LIMIT $5)\n",
            select_with_buyer!("p.id = ANY (ARRAY (SELECT id FROM page))")
        )
    };
}

struct FindWithBuyer;

impl Statement for FindWithBuyer {
    const SQL: &str = concat!("-- find_filed\n", select_with_buyer!("p.id = $2 AND p.organisation_id = $1"));
}

struct LookUpPurchases;

impl Statement for LookUpPurchases {
    const SQL: &str = "-- look_up_purchases
SELECT look_up_purchases($1, $2, $3, $4, $5, $6, $7) AS ids";
}

struct ListShown;

impl Statement for ListShown {
    const SQL: &str = concat!("-- list_shown\n", select_with_buyer!("p.id = ANY ($1)"));
}

#[derive(QueryableByName)]
struct ShownRow {
    #[diesel(sql_type = Nullable<Array<BigInt>>)]
    ids: Option<Vec<i64>>,
}

/// Uses `purchases_by_created_at`, in its order. That index does not have the number, so all purchases of the last moment are found. It
/// also serves successes, because most purchases are successful.
struct ListByTime;

impl Statement for ListByTime {
    const SQL: &str =
        list_with_buyers!("list_filed_by_time", "", "p.created_at DESC FETCH FIRST $5 ROWS WITH TIES");
}

/// Uses `purchases_failed`, in its order.
struct ListFailed;

impl Statement for ListFailed {
    const SQL: &str = list_with_buyers!(
        "list_filed_failed",
        "AND p.state = 'FAILED'",
        "p.created_at DESC, p.id DESC LIMIT $5"
    );
}

/// Uses `purchases_one_open_per_subscriber`, because open purchases are few. No index has the order of an expression,
/// so no index is scanned only for its order.
struct ListPending;

impl Statement for ListPending {
    const SQL: &str = list_with_buyers!(
        "list_filed_pending",
        "AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')",
        "p.created_at + interval '0' DESC, p.id DESC LIMIT $5"
    );
}

/// Uses `purchases_by_subscriber`.
struct ListBySubscriber;

impl Statement for ListBySubscriber {
    const SQL: &str = list_with_buyers!(
        "list_filed_by_subscriber",
        "AND p.subscriber_identifier = $7
    AND ($8 IS NULL OR hashtext(p.external_reference) = hashtext($8) AND p.external_reference = $8)",
        "p.created_at + interval '0' DESC, p.id DESC LIMIT $5"
    );
}

/// Uses `purchases_by_reference`, in its order, because some integrators give all their purchases the same reference.
struct ListByReference;

impl Statement for ListByReference {
    const SQL: &str = list_with_buyers!(
        "list_filed_by_reference",
        "AND hashtextextended(p.external_reference, 0) = hashtextextended($8, 0) AND p.external_reference = $8",
        "p.created_at DESC, p.id DESC LIMIT $5"
    );
}

#[derive(QueryableByName)]
struct PurchaseWithBuyerRow {
    #[diesel(embed)]
    purchase: Row,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = Text)]
    username: String,
    #[diesel(sql_type = Text)]
    full_name: String,
    #[diesel(sql_type = Nullable<Text>)]
    phone_number: Option<String>,
    #[diesel(sql_type = Bool)]
    user_is_active: bool,
}

/// How many subscribers an organisation may look up in an hour. The audit log is kept for ever.
const LOOKS_PER_HOUR_MAX: i32 = 1_000;

/// A query for one page, as the statements take it.
struct Question {
    organisation: OrganisationId,
    selection: Selection,
    before: Position,
    rows_max: i64,
}

impl Store {
    /// The purchase with this number in its current state, if it belongs to the organisation.
    pub async fn find_with_buyer(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<PurchaseWithBuyer>, DatabaseError> {
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        self.database
            .read(move |connection| {
                Box::pin(async move {
                    let find = prepared::<FindWithBuyer>().bind::<BigInt, _>(organisation.0);
                    let rows: Vec<PurchaseWithBuyerRow> =
                        find.bind::<BigInt, _>(id.0).load(connection).await?;
                    rows.into_iter().next().map(|row| row.read(|row| row.read(&sealing, &timing))).transpose()
                })
            })
            .await
    }

    /// The last purchases of a subscriber that have tokens, the newest first. The audit log has a line about it before they
    /// are read. `None` if the reader's organisation has looked up too many subscribers within the hour.
    pub async fn look_up_purchases(
        &self,
        look: LookUp,
    ) -> Result<Option<Vec<PurchaseWithBuyer>>, DatabaseError> {
        let shown = self.database.operate(move |transaction| {
            Box::pin(async move {
                let shown = prepared::<LookUpPurchases>()
                    .bind::<BigInt, _>(look.organisation.0)
                    .bind::<BigInt, _>(look.client.0)
                    .bind::<BigInt, _>(look.user.0)
                    .bind::<Text, _>(look.subscriber.as_str())
                    .bind::<Integer, _>(i32::from(look.days))
                    .bind::<Integer, _>(i32::from(look.limit))
                    .bind::<Integer, _>(LOOKS_PER_HOUR_MAX);
                shown.get_result::<ShownRow>(transaction).await
            })
        });
        let Some(ids) = shown.await?.ids else { return Ok(None) };
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        let listed = self.database.read(move |connection| {
            Box::pin(async move {
                let list = prepared::<ListShown>().bind::<Array<BigInt>, _>(ids);
                let rows: Vec<PurchaseWithBuyerRow> = list.load(connection).await?;
                let rows = rows.into_iter().map(|row| row.read(|row| row.read_in_list(&sealing, &timing)));
                rows.collect::<Result<Vec<_>, _>>()
            })
        });
        listed.await.map(Some)
    }

    /// At most `limit` of an organisation's purchases, the newest first, after a position. A purchase whose token
    /// cannot be opened is returned without it, and that is logged.
    pub async fn list_with_buyers(
        &self,
        organisation: OrganisationId,
        selection: Selection,
        after: Option<Position>,
        limit: u16,
    ) -> Result<Page, DatabaseError> {
        let (sealing, timing) = (self.sealing.clone(), self.timing);
        self.database
            .read(move |connection| {
                Box::pin(async move {
                    let question = Question::new(organisation, selection, after, limit);
                    let rows = question.ask(connection).await?;
                    let with_buyer =
                        rows.into_iter().map(|row| row.read(|row| row.read_in_list(&sealing, &timing)));
                    Ok(page(with_buyer.collect::<Result<_, _>>()?, limit))
                })
            })
            .await
    }
}

/// One more row than the limit was requested, to know whether there is another page.
fn page(mut purchases: Vec<PurchaseWithBuyer>, limit: u16) -> Page {
    let is_last = purchases.len() <= usize::from(limit);
    purchases.truncate(usize::from(limit));
    let last = purchases.last().filter(|_| !is_last);
    Page { next: last.map(|last| Position { at: last.record.created_at, id: last.record.id }), purchases }
}

impl Question {
    /// The end of the selection is a position too: directly after everything that is not before it.
    fn new(organisation: OrganisationId, selection: Selection, after: Option<Position>, limit: u16) -> Self {
        let end = Position { at: selection.to.unwrap_or(NEVER), id: PurchaseId(i64::MIN) };
        let before = after.map_or(end, |after| after.min(end));
        Self { organisation, selection, before, rows_max: i64::from(limit).saturating_add(1) }
    }

    async fn ask(&self, connection: &Connection) -> Result<Vec<PurchaseWithBuyerRow>, DatabaseError> {
        let Selection { subscriber, external_reference, status, .. } = &self.selection;
        match (subscriber, external_reference, status) {
            (Some(_), _, _) => self.run::<ListBySubscriber>(connection).await,
            (None, Some(_), _) => self.run::<ListByReference>(connection).await,
            (None, None, Some(PurchaseStatus::Pending)) => self.run::<ListPending>(connection).await,
            (None, None, Some(PurchaseStatus::Failed)) => self.run::<ListFailed>(connection).await,
            (None, None, Some(PurchaseStatus::Successful) | None) => self.run::<ListByTime>(connection).await,
        }
    }

    async fn run<S: Statement>(
        &self,
        connection: &Connection,
    ) -> Result<Vec<PurchaseWithBuyerRow>, DatabaseError> {
        let Selection { subscriber, external_reference, status, from, to: _ } = &self.selection;
        let states: Vec<&str> = match status {
            Some(status) => status.states().map(StateName::as_str).collect(),
            None => StateName::ALL.map(StateName::as_str).to_vec(),
        };
        let rows = prepared::<S>()
            .bind::<BigInt, _>(self.organisation.0)
            .bind::<Timestamptz, _>(from.unwrap_or(DateTime::UNIX_EPOCH))
            .bind::<Timestamptz, _>(self.before.at)
            .bind::<BigInt, _>(self.before.id.0)
            .bind::<BigInt, _>(self.rows_max)
            .bind::<Array<Text>, _>(states)
            .bind::<Nullable<Text>, _>(subscriber.as_ref().map(SubscriberIdentifier::as_str))
            .bind::<Nullable<Text>, _>(external_reference.as_deref())
            .load(connection)
            .await?;
        Ok(rows)
    }
}

/// Later than every purchase.
const NEVER: DateTime<Utc> = match DateTime::from_timestamp(253_402_300_799, 0) {
    Some(end_of_9999) => end_of_9999,
    None => DateTime::UNIX_EPOCH,
};

impl PurchaseWithBuyerRow {
    fn read(
        self,
        read: impl FnOnce(Row) -> Result<ForRetry, DatabaseError>,
    ) -> Result<PurchaseWithBuyer, DatabaseError> {
        let buyer = Buyer {
            id: UserId(self.user_id),
            username: self.username,
            full_name: self.full_name,
            phone_number: self.phone_number,
            is_active: self.user_is_active,
        };
        Ok(PurchaseWithBuyer { record: read(self.purchase)?.record, buyer })
    }
}
