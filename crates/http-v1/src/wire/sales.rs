//! What an organisation bought, by day.

use serde::Serialize;
use utoipa::ToSchema;

use purchase::{DaySales, SalesReport};
use web::SharedState;

use super::moment::rfc_3339;
use crate::{
    requests::Days,
    schema::values::{Money, ProductType},
};

/// The successful purchases of some days.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SalesReport)]
pub struct Sales {
    /// The first day.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}$")]
    from: String,
    /// The last day.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}$")]
    to: String,
    /// Up to when the report reaches: the end of the last day, or now if that is earlier (RFC 3339).
    #[schema(format = "date-time")]
    as_of: String,
    /// Whether the last day has ended. Then the report never changes.
    complete: bool,
    /// Only what was sold: a day without sales has no row.
    pub(crate) data: Vec<SalesRow>,
}

/// The purchases of one day, product, provider and currency.
#[derive(Debug, Serialize, ToSchema)]
pub struct SalesRow {
    /// The day on which they were paid.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}$")]
    pub(crate) date: String,
    #[schema(value_type = ProductType)]
    pub(crate) product_type: &'static str,
    pub(crate) provider_code: String,
    /// ISO 4217 code.
    #[schema(pattern = "^[A-Z]{3}$", example = "BWP")]
    pub(crate) currency: String,
    /// How many.
    pub(crate) count: i64,
    /// What the accounts paid.
    #[schema(value_type = Money)]
    pub(crate) total: String,
    /// The same in minor units.
    pub(crate) total_minor: i64,
    /// What was vended.
    #[schema(value_type = Money)]
    pub(crate) net: String,
    /// The same in minor units.
    pub(crate) net_minor: i64,
    /// The charges.
    #[schema(value_type = Money)]
    pub(crate) charge: String,
    /// The same in minor units.
    pub(crate) charge_minor: i64,
    /// What the organisation earned.
    #[schema(value_type = Money)]
    pub(crate) commission: String,
    /// The same in minor units.
    pub(crate) commission_minor: i64,
}

impl Sales {
    /// The report of these days. An organisation without accounts has sold nothing, in days to come either.
    pub fn new(report: SalesReport, days: &Days, shared: &SharedState) -> Self {
        let now = shared.clock().now();
        Self {
            from: days.first.to_string(),
            to: days.last.to_string(),
            as_of: rfc_3339(report.as_of.min(now), &shared.zone()),
            complete: report.is_complete && report.as_of <= now,
            data: report.rows.into_iter().map(SalesRow::from).collect(),
        }
    }
}

impl From<DaySales> for SalesRow {
    fn from(sales: DaySales) -> Self {
        Self {
            date: sales.date.to_string(),
            product_type: sales.product.as_str(),
            provider_code: sales.provider_code,
            currency: sales.total.currency().to_string(),
            count: sales.count,
            total: sales.total.to_string(),
            total_minor: sales.total.minor(),
            net: sales.net.to_string(),
            net_minor: sales.net.minor(),
            charge: sales.charge.to_string(),
            charge_minor: sales.charge.minor(),
            commission: sales.commission.to_string(),
            commission_minor: sales.commission.minor(),
        }
    }
}
