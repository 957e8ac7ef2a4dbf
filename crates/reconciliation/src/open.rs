//! Our purchases of a period that have not ended. They are neither matched nor missing yet, whatever the statement says.

use std::collections::BTreeMap;

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Text, Timestamptz},
};
use purchase::PurchaseId;

use crate::{
    list::{InTheBooks, InTheStatement},
    ours::OurRow,
    purchase_set::PurchaseSet,
    run::StatementPlan,
};

/// By the index of open purchases, which are few.
struct ListOpen;

impl Statement for ListOpen {
    const SQL: &str = "-- list_open_of_period
SELECT p.id, p.state, p.provider_reference, p.product, p.currency, p.net, p.created_at,
    CASE WHEN p.product <> 'AIRTIME' THEN p.subscriber_identifier END AS meter
FROM purchases p
WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW') AND p.provider_code = $1 AND p.created_at >= $2
    AND p.created_at < $3
ORDER BY p.created_at, p.id";
}

struct FindListing;

impl Statement for FindListing {
    const SQL: &str = "-- find_listing
SELECT r.id, r.file_name FROM reconciliation_sightings s JOIN reconciliations r ON r.id = s.reconciliation_id WHERE s.purchase_id = $1";
}

/// A run whose statement has a line about a purchase.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Listing {
    #[diesel(sql_type = BigInt, column_name = id)]
    pub run: i64,
    #[diesel(sql_type = Text)]
    pub file_name: String,
}

/// The run whose statement has a line about this purchase, if the purchase was open then.
pub async fn find_listing(
    database: &Database,
    purchase: PurchaseId,
) -> Result<Option<Listing>, DatabaseError> {
    let found = database.read(move |connection| {
        let listing = prepared::<FindListing>().bind::<BigInt, _>(purchase.0);
        Box::pin(async move { listing.optional(connection).await })
    });
    found.await
}

/// A purchase of the period that is still open.
#[derive(Clone, Debug, PartialEq)]
pub struct StillOpen {
    pub provider_reference: String,
    pub ours: InTheBooks,
    /// Whether the statement has a line about it.
    pub is_listed: bool,
    /// The first line about it, if the purchase was open when the line was read.
    pub line: Option<OpenLine>,
}

/// A line of the statement about an open purchase.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLine {
    /// Its number in the file.
    pub number: i64,
    pub theirs: InTheStatement,
    /// The aspects in which it differs from what was ordered, separated by commas.
    pub differs: String,
}

/// The purchases that were made in the period, widened by its tolerance, and are open now. The oldest first. `listed` has those that
/// the statement has.
pub(crate) async fn list_open(
    database: &Database,
    plan: &StatementPlan,
    lines: &BTreeMap<i64, OpenLine>,
    listed: &PurchaseSet,
) -> Result<Vec<StillOpen>, DatabaseError> {
    let (provider_code, period) = (plan.provider_code.clone(), plan.period);
    let read = database.read(move |connection| {
        Box::pin(async move {
            let open = prepared::<ListOpen>()
                .bind::<Text, _>(provider_code)
                .bind::<Timestamptz, _>(period.earliest())
                .bind::<Timestamptz, _>(period.latest());
            open.load::<OurRow>(connection).await
        })
    });
    let still_open = |row: OurRow| {
        let ours = row.read(None)?;
        let is_listed = listed.contains(ours.purchase.0);
        let line = lines.get(&ours.purchase.0).cloned();
        Ok(StillOpen { provider_reference: row.provider_reference, ours, is_listed, line })
    };
    read.await?.into_iter().map(still_open).collect()
}
