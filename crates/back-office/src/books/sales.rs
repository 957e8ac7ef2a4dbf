//! What organisations bought: count and amounts of the purchases that were paid.

use catalogue::read_currency;
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{DaySales, OrganisationId, ReportedDay};
use store::Store;
use vend::Product;

use super::intervals::{Interval, intervals};

struct ReadSales;

impl Statement for ReadSales {
    const SQL: &str = include_str!("read_sales.sql");
}

#[derive(QueryableByName)]
struct SalesRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    charge: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
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
                .bind::<Nullable<BigInt>, _>(organisation.map(|organisation| organisation.0));
            Box::pin(async move { sales.load::<SalesRow>(connection).await })
        });
        for row in read.await? {
            rows.push((OrganisationId(row.organisation_id), row.on(date)?));
        }
    }
    Ok(OrganisationSales { rows, is_complete })
}

impl SalesRow {
    fn on(self, date: chrono::NaiveDate) -> Result<DaySales, DatabaseError> {
        let currency = read_currency("accounts", 0, &self.currency)?;
        let money = |minor| Money::from_minor(minor, currency);
        Ok(DaySales {
            date,
            product: Product::parse(&self.product)
                .ok_or_else(|| DatabaseError::corrupt("purchases", "product", &self.product))?,
            provider_code: self.provider_code,
            count: self.count,
            total: money(self.total),
            net: money(self.net),
            charge: money(self.charge),
            commission: money(self.commission),
        })
    }
}
