//! What an organisation bought by day. Each day of a wallet lies between the cut-offs of its statement, so the report and
//! the statements agree.

use std::collections::BTreeMap;

use catalogue::read_currency;
use chrono::{DateTime, NaiveDate};
use database::{Connection, DatabaseError, Run, Statement as Sql, prepared};
use diesel::sql_types::{Array, BigInt, Date, Text};
use ledger::AccountId;
use money::Money;
use purchase::{DaySales, OrganisationId, ReportedDay, SalesReport};
use vend::Product;

use crate::{Store, cutoffs::not_yet};

struct ListWallets;

impl Sql for ListWallets {
    const SQL: &str = "-- list_wallets
SELECT id FROM accounts WHERE organisation_id = $1 AND category <> 'COMMISSION' ORDER BY id";
}

struct SumSales;

impl Sql for SumSales {
    const SQL: &str = include_str!("sql/sum_sales.sql");
}

#[derive(diesel::QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// A row of sales, as a statement adds them up: a day, product, provider and currency.
#[derive(Debug, diesel::QueryableByName)]
pub struct SalesRow {
    #[diesel(sql_type = Date)]
    date: NaiveDate,
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

/// The entries of one wallet on one day.
#[derive(Clone, Copy, Debug)]
struct DayRange {
    date: NaiveDate,
    wallet: i64,
    after: i64,
    until: i64,
}

impl Store {
    /// What an organisation bought on these days. At least one day must be given.
    ///
    /// # Errors
    /// Like [`Store::open_statement`].
    pub async fn sales(
        &self,
        organisation: OrganisationId,
        days: Vec<ReportedDay>,
    ) -> Result<SalesReport, DatabaseError> {
        let wallets = self.database.read(move |connection| {
            let wallets = prepared::<ListWallets>().bind::<BigInt, _>(organisation.0);
            Box::pin(async move { wallets.load::<IdRow>(connection).await })
        });
        let mut report = SalesReport { as_of: DateTime::UNIX_EPOCH, is_complete: true, rows: Vec::new() };
        let mut ranges = BTreeMap::new();
        for wallet in wallets.await? {
            for (day, range) in self.ranges(AccountId(wallet.id), &days, &mut report).await? {
                ranges.entry(day).or_insert_with(Vec::new).push(range);
            }
        }
        for ranges in ranges.into_values() {
            report.rows.extend(self.sum_sales(ranges).await?);
        }
        if report.is_complete {
            report.as_of = days.last().map_or(report.as_of, |day| day.period.to);
        }
        Ok(report)
    }

    /// The entries of a wallet on each day.
    async fn ranges(
        &self,
        wallet: AccountId,
        days: &[ReportedDay],
        report: &mut SalesReport,
    ) -> Result<Vec<(NaiveDate, DayRange)>, DatabaseError> {
        let mut ranges = Vec::new();
        let Some(first) = days.first() else { return Ok(ranges) };
        let [from] = self.divide(wallet, [first.period.from]).await?;
        let mut from = from.ok_or_else(not_yet)?;
        for day in days {
            let [to] = self.divide(wallet, [day.period.to]).await?;
            let (to, is_last) = if let Some(to) = to {
                (to, false)
            } else {
                let (now, at) = self.end_of(wallet).await?;
                report.is_complete = false;
                report.as_of = report.as_of.max(at);
                (now, true)
            };
            let range = DayRange { date: day.date, wallet: wallet.0, after: from.entry, until: to.entry };
            ranges.push((day.date, range));
            if is_last {
                break;
            }
            from = to;
        }
        Ok(ranges)
    }

    async fn sum_sales(&self, ranges: Vec<DayRange>) -> Result<Vec<DaySales>, DatabaseError> {
        let summed = self
            .database
            .read(move |connection| Box::pin(async move { sum_sales(connection, &ranges).await }));
        summed.await?.into_iter().map(DaySales::try_from).collect()
    }
}

async fn sum_sales(connection: &Connection, ranges: &[DayRange]) -> Result<Vec<SalesRow>, DatabaseError> {
    let column = |of: fn(&DayRange) -> i64| ranges.iter().map(of).collect::<Vec<i64>>();
    let dates: Vec<_> = ranges.iter().map(|range| range.date).collect();
    prepared::<SumSales>()
        .bind::<Array<Date>, _>(dates)
        .bind::<Array<BigInt>, _>(column(|range| range.wallet))
        .bind::<Array<BigInt>, _>(column(|range| range.after))
        .bind::<Array<BigInt>, _>(column(|range| range.until))
        .load(connection)
        .await
}

impl TryFrom<SalesRow> for DaySales {
    type Error = DatabaseError;

    fn try_from(row: SalesRow) -> Result<Self, DatabaseError> {
        let currency = read_currency("purchases", 0, &row.currency)?;
        let money = |minor| Money::from_minor(minor, currency);
        Ok(Self {
            date: row.date,
            product: Product::parse(&row.product)
                .ok_or_else(|| DatabaseError::corrupt("purchases", "product", &row.product))?,
            provider_code: row.provider_code,
            count: row.count,
            total: money(row.total),
            net: money(row.net),
            charge: money(row.charge),
            commission: money(row.commission),
        })
    }
}
