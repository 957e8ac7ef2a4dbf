//! What organisations bought: count and amounts of the purchases that were paid.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Date, Nullable, Timestamptz},
};
use purchase::{DaySales, OrganisationId, ReportedDay};
use store::{SalesRow, Store};

use super::intervals::{Interval, intervals};

struct ReadSales;

impl Statement for ReadSales {
    const SQL: &str = include_str!("read_sales.sql");
}

#[derive(QueryableByName)]
struct OrganisationRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(embed)]
    sales: SalesRow,
}

/// The sales of some days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrganisationSales {
    /// By day, organisation, product, provider and currency. A day that has several trial balances has several of each.
    pub rows: Vec<(OrganisationId, DaySales)>,
    /// Whether all days have ended. Then the report never changes.
    pub is_complete: bool,
}

/// Reads what all organisations, or one, bought on these days, which follow each other. It is what each reads in its own report
/// ([`Store::sales`]). Makes the trial balances between the days, which have the sums.
///
/// # Errors
/// [`DatabaseError::Busy`] if a long history is not added up yet and the caller should come back.
pub async fn report_sales(
    store: &Store,
    organisation: Option<OrganisationId>,
    days: &[ReportedDay],
) -> Result<OrganisationSales, DatabaseError> {
    let intervals = intervals(store, days).await?;
    let is_complete = intervals.last().is_some_and(|last| last.until.is_some());
    let mut rows = Vec::new();
    for Interval { date, since, until } in intervals {
        let read = store.database().read(move |connection| {
            let sales = prepared::<ReadSales>()
                .bind::<Timestamptz, _>(since)
                .bind::<Nullable<Timestamptz>, _>(until)
                .bind::<Nullable<BigInt>, _>(organisation.map(|organisation| organisation.0))
                .bind::<Date, _>(date);
            Box::pin(async move { sales.load::<OrganisationRow>(connection).await })
        });
        for row in read.await? {
            rows.push((OrganisationId(row.organisation_id), row.sales.try_into()?));
        }
    }
    Ok(OrganisationSales { rows, is_complete })
}
