//! What an organisation bought, by day, product and provider. A day ends for each wallet where its statement ends, so
//! the report and the statements of the same days agree for ever.

use chrono::{DateTime, NaiveDate, Utc};
use money::Money;
use vend::Product;

use crate::Period;

/// A day of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedDay {
    /// The day in the seller's time zone.
    pub date: NaiveDate,
    /// Its first moment, and the first one after it.
    pub period: Period,
}

/// The sales of some days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalesReport {
    /// Up to which moment the report reaches.
    pub as_of: DateTime<Utc>,
    /// Whether all days had ended. Then the report never changes.
    pub is_complete: bool,
    /// By day, product, provider and currency.
    pub rows: Vec<DaySales>,
}

/// The successful purchases of one day, product, provider and currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySales {
    /// The day on which they were paid.
    pub date: NaiveDate,
    /// What was bought.
    pub product: Product,
    /// From whom.
    pub provider_code: String,
    /// How many.
    pub count: i64,
    /// What left the wallets.
    pub total: Money,
    /// What was vended.
    pub net: Money,
    /// The seller's charges.
    pub charge: Money,
    /// The commission that was earned.
    pub commission: Money,
}
